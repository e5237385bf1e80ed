"""A setting varied, and the spectra of many outputs."""

from __future__ import annotations

import math
from typing import Any

import pytest

from spam_core import plots


def test_a_setting_is_drawn_evenly_with_the_default_marked() -> None:
    figure = plots.sweep(
        [1, 4, 128],
        [0.6, 0.5, 0.4],
        setting="rank",
        metric="RMSE",
        spreads=[0.1, None, 0.0],
        pairs=[math.nan, 0.5, 1.0],  # as a data frame has it
        chosen=4,
    )
    line, bars, dash = figure.data
    assert (line.x, line.y) == (("1", "4", "128"), (0.6, 0.5, 0.4))
    assert line.error_y.array == (0.1, 0.0, 0.0)
    assert line.marker.symbol == ("circle", "diamond", "circle")
    assert bars.y == (None, 0.5, 1.0)
    assert (dash.x, dash.text) == (("1",), "–")
    assert figure.layout.xaxis.type == figure.layout.xaxis2.type == "category"
    assert figure.layout.xaxis2.title.text == "rank"
    assert "1: 0.6; 4: 0.5, 50% of pairs; 128: 0.4" in plots.alt_text(figure)
    assert figure.layout.title.subtitle.text == (
        "the diamond is the default; bars are standard deviations over seeds; "
        "–: not counted"
    )
    assert plots.table(figure)["RMSE"].tolist() == [0.6, 0.5, 0.4]


def test_what_is_not_known_is_not_spoken_of() -> None:
    unknown = [math.nan, None]
    figure = plots.sweep(
        [1, 2], [0.6, 0.5], setting="a", metric="b", spreads=unknown, pairs=unknown
    )
    assert len(figure.data) == 1
    assert plots.alt_text(figure) == "b by a. 1: 0.6; 2: 0.5."
    assert not figure.layout.title.subtitle.text


def test_without_shares_there_is_one_panel() -> None:
    figure = plots.sweep([1, 2], [3.0, 4.0], setting="order", metric="a < b")
    assert len(figure.data) == 1
    assert figure.layout.xaxis.title.text == "order"
    assert "standard deviations" not in figure.layout.title.subtitle.text


@pytest.mark.parametrize(
    ("values", "means", "more"),
    [([], [], {}), ([1], [], {}), ([1], [1.0], {"pairs": [0.5, 0.5]})],
)
def test_what_does_not_fit_is_refused(values: Any, means: Any, more: Any) -> None:
    with pytest.raises(ValueError, match=r"there (must be|are no)"):
        plots.sweep(values, means, setting="rank", metric="RMSE", **more)


def test_spectra_of_many_outputs_lie_in_a_band() -> None:
    low, middle, high = [1, 0.1, 0.001], [1, 0.2, 0.01], [1, 0.3, 0.1]
    figure = plots.decay(low, middle, high, {"C1 exp(-C2 j)": [0.9, 0.2, 0.05]})
    below, above, points, law = figure.data
    assert (below.y, above.fill, above.y) == (tuple(low), "tonexty", tuple(high))
    assert points.y == tuple(middle)
    assert law.y == (0.9, 0.2, 0.05)
    bottom, top = figure.layout.yaxis.range
    assert bottom < -3 < 0 < top
    assert "value 3 0.01" in plots.alt_text(figure)


@pytest.mark.parametrize("laws", [{}, {"law": [1.0]}])
def test_spectra_of_different_lengths_are_refused(laws: Any) -> None:
    with pytest.raises(ValueError, match="values each"):
        plots.decay([1.0], [1.0, 0.5] if laws else [], [1.0], laws)
