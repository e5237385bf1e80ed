"""The distribution of a target: bars are the counts, names stay as they are."""

from __future__ import annotations

import pandas as pd

from spam_core import plots


def test_classes_are_bars_in_their_order_with_shares() -> None:
    counts = pd.DataFrame({"class": ["<b>no</b>", "1", "10"], "rows": [1, 2, 5]})
    figure = plots.distribution(counts, "y")
    (bars,) = figure.data
    assert list(bars.x) == [1, 2, 5]
    assert bars.text[2] == "5 (62.5%)"
    assert figure.layout.yaxis.type == "category"  # "1" and "10" are no numbers
    assert plots.table(figure)["class"].tolist() == ["<b>no</b>", "1", "10"]
    assert "<b>no</b> 1" in plots.alt_text(figure)


def test_numbers_are_a_histogram_in_user_units() -> None:
    counts = pd.DataFrame({"from": [0.0, 10.0], "to": [10.0, 20.0], "rows": [3, 4]})
    figure = plots.distribution(counts, "price", unit="EUR")
    (bars,) = figure.data
    assert list(bars.x) == [5.0, 15.0]
    assert list(bars.width) == [10.0, 10.0]
    assert figure.layout.xaxis.title.text == "price (EUR)"
    assert "7 rows from 0 to 20" in plots.alt_text(figure)
    frame = plots.table(figure)
    assert frame["from"].tolist() == [0.0, 10.0]
    assert frame["rows"].tolist() == [3, 4]
