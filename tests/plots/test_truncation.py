"""The curve of quality against rank."""

from __future__ import annotations

import math

import pytest

from spam_core import plots


def test_the_curve_the_whole_model_and_the_choice_are_drawn() -> None:
    figure = plots.truncation(
        [1, 2, 4], [3.0, 2.5, 2.4], metric="RMSE", whole=2.4, chosen=(3, 2.45), unit="y"
    )
    curve, whole, chosen = figure.data
    assert (curve.x, curve.y) == ((1, 2, 4), (3.0, 2.5, 2.4))
    assert (whole.x, whole.y) == ((1, 4), (2.4, 2.4))
    assert (chosen.x, chosen.y) == ((3,), (2.45,))
    assert figure.layout.yaxis.title.text == "RMSE (y)"
    assert figure.layout.xaxis.type == "log"
    assert list(plots.table(figure)) == ["components kept", "RMSE (y)"]
    assert "Chosen: 3, 2.45." in plots.alt_text(figure)


def test_noise_is_not_magnified_and_the_axis_ends_at_the_best() -> None:
    figure = plots.truncation([1, 2], [0.999, 1.0], metric="AUC", whole=1.0, best=1.0)
    low, high = figure.layout.yaxis.range
    assert high - low == pytest.approx(0.04)
    assert 1.0 < high < 1.004


def test_a_metric_that_cannot_be_told_is_drawn_as_nothing() -> None:
    nan = math.nan
    figure = plots.truncation([1], [nan], metric="AUC", whole=nan, chosen=(1, nan))
    assert "n/a" in plots.alt_text(figure)


def test_ticks_stand_apart() -> None:
    figure = plots.truncation([1, 2, 4, 5], [1.0] * 4, metric="RMSE", whole=1.0)
    assert figure.layout.xaxis.tickvals == (1, 2, 5)
    assert figure.data[0].x == (1, 2, 4, 5)


def test_ranks_and_scores_must_match() -> None:
    with pytest.raises(ValueError, match="got 2 ranks and 1 scores"):
        plots.truncation([1, 2], [1.0], metric="RMSE", whole=1.0)
