"""Which settings of a model mattered in a search."""

from __future__ import annotations

from collections.abc import Mapping

import plotly.graph_objects as go

from spam_core.plots import theme
from spam_core.plots.named_bars import named_bars


def settings_importance(
    shares: Mapping[str, float], metric: str, title: str | None = None
) -> go.Figure:
    """Draw the share of a metric's variance that each setting explains.

    Parameters
    ----------
    shares : mapping of setting to float
        ``SearchResult.importance``, largest first.
    metric : str
        Name of the metric, with the rows that it is of.
    title : str, optional

    Returns
    -------
    plotly.graph_objects.Figure
        A bar for each setting, the largest on top.

    Raises
    ------
    ValueError
        If there is no setting.

    Examples
    --------
    >>> figure = settings_importance({"rank": 0.75, "order": 0.25}, "RMSE")
    >>> figure.data[0].y, figure.data[0].x
    (('rank', 'order'), (0.75, 0.25))
    """
    if not shares:
        raise ValueError("There is no setting to draw")
    what = f"share of the variance of {metric}"
    leading = ", ".join(
        f"{name} {value:.0%}" for name, value in list(shares.items())[:3]
    )
    values = [float(share) for share in shares.values()]
    return named_bars(
        list(shares),
        values,
        texts=[f"{value:.0%}" for value in values],
        hover=f"%{{customdata}}: %{{x:.1%}} of {theme.literal(metric)}'s variance",
        columns={"setting": "customdata", what: "x"},
        axis=what,
        title="Settings that mattered" if title is None else title,
        alt=f"Settings by their {what}: {leading}.",
        tickformat=".0%",
    )
