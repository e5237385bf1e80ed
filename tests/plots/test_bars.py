"""Ranked importance and training curves, and what figures say in words."""

from __future__ import annotations

import html

import plotly.graph_objects as go
import pytest
from numpy.testing import assert_allclose

from spam_core import plots
from tests.plots.fakes import ODD_NAMES, terms_of


def test_bars_are_ranked_and_the_rest_is_added_up() -> None:
    figure = plots.importance(terms_of(("a", "b", "c")), E=2)
    (bars,) = figure.data
    assert bars.y == ("b × c", "a × c", "the other 4 terms")
    assert_allclose(bars.x, [6, 5, 1 + 2 + 3 + 4])
    # the first category of the axis is drawn at the bottom
    assert figure.layout.yaxis.categoryarray == bars.y[::-1]
    assert figure.layout.xaxis.title.text == (
        "mean absolute contribution to the logit of yes"
    )


def test_no_bar_for_others_when_there_are_none() -> None:
    (bars,) = plots.importance(terms_of(("a", "b")), E=3).data
    assert len(bars.y) == 3
    assert not any("other" in label for label in bars.y)


def test_height_grows_with_the_number_of_bars() -> None:
    names = tuple(f"f{k}" for k in range(100))
    few, many = (plots.importance(terms_of(names), E=n) for n in (5, 100))
    assert many.layout.height - few.layout.height == 95 * 28


def test_importance_of_a_class_or_the_mean_over_classes() -> None:
    terms = terms_of(("a",), classes=["no", "yes"])
    assert plots.importance(terms, class_="yes").data[0].x == (2.0,)
    figure = plots.importance(terms)
    assert figure.data[0].x == (1.5,)
    assert figure.layout.xaxis.title.text.endswith(
        "centred logit of the classes (mean)"
    )


def test_at_least_one_term_must_be_shown() -> None:
    with pytest.raises(ValueError, match="E must be at least 1, got 0"):
        plots.importance(terms_of(("a",)), E=0)


def test_o05_bars_show_names_literally() -> None:
    terms = terms_of(ODD_NAMES)
    figure = plots.importance(terms, E=200)
    shown = [html.unescape(label) for label in figure.data[0].y]
    assert set(ODD_NAMES) <= set(shown)
    assert set(ODD_NAMES) <= set(plots.table(figure)["term"])


def test_o19_long_names_are_cut_on_the_axis_and_full_on_hover() -> None:
    long = ("x" * 75 + "1" + "x" * 74, "x" * 75 + "2" + "x" * 74)
    (bars,) = plots.importance(terms_of(long), E=3).data
    assert len(set(bars.y)) == 3
    assert all(len(label) <= 44 for label in bars.y)
    assert set(long) <= set(bars.customdata)
    assert "%{customdata}" in bars.hovertemplate


def test_training_curves_hold_the_losses() -> None:
    steps = [
        {"epoch": k, "train_loss": 1 / k, "validation_loss": 2 / k} for k in (1, 2, 3)
    ]
    figure = plots.history(steps, title="SPAM <3")
    training, validation = figure.data
    assert training.x == (1, 2, 3)
    assert_allclose(training.y, [1, 1 / 2, 1 / 3])
    assert_allclose(validation.y, [2, 1, 2 / 3])
    assert figure.layout.title.text == "SPAM &lt;3"
    assert "Lowest validation loss 0.6667 at epoch 3" in plots.alt_text(figure)


def test_no_validation_curve_without_a_validation_part() -> None:
    figure = plots.history([{"epoch": 1, "train_loss": 2.0, "validation_loss": None}])
    assert [trace.name for trace in figure.data] == ["training"]


def test_training_that_has_not_begun_is_an_empty_figure() -> None:
    figure = plots.history([])
    assert len(figure.data) == 0
    assert plots.alt_text(figure) == "Loss per epoch over 0 epochs."
    assert plots.table(figure).empty


def test_figures_made_elsewhere_have_no_alt_text() -> None:
    with pytest.raises(ValueError, match="no alt text"):
        plots.alt_text(go.Figure())
