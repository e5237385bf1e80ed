"""Which settings mattered in a search."""

from __future__ import annotations

import pytest

from spam_core import plots


def test_bars_are_the_shares_the_largest_on_top() -> None:
    shares = {"learning rate": 0.7, "rank": 0.3}
    (bars,) = plots.settings_importance(shares, "RMSE").data
    assert (bars.y, bars.x) == (("learning rate", "rank"), (0.7, 0.3))
    figure = plots.settings_importance(shares, "RMSE", title="Mattered")
    assert figure.layout.yaxis.categoryarray == ("rank", "learning rate")
    assert figure.layout.title.text == "Mattered"
    frame = plots.table(figure)
    assert list(frame) == ["setting", "share of the variance of RMSE"]
    assert "learning rate 70%, rank 30%" in plots.alt_text(figure)


def test_nothing_is_no_figure() -> None:
    with pytest.raises(ValueError, match="There is no setting to draw"):
        plots.settings_importance({}, "RMSE")
