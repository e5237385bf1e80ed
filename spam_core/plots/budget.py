"""The error of estimates against what they cost."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from spam_core.plots import theme
from spam_core.plots.method_lines import LEGEND, line_style

if TYPE_CHECKING:
    import pandas as pd


def budget(
    frame: pd.DataFrame,
    chosen: dict[str, float] | None = None,
    title: str | None = None,
) -> go.Figure:
    """Draw the error of estimates over the rows that the model scored for them.

    Parameters
    ----------
    frame : DataFrame
        What ``spam_core.explain.error_by_budget`` returns.
    chosen : dict of str to float, optional
        Method -> evaluations to mark, such as its default.
    title : str, optional

    Returns
    -------
    plotly.graph_objects.Figure
        A point for each seed and a line through their means; the exact values at 0.

    Examples
    --------
    >>> import pandas as pd
    >>> lines = {"method": "LIME", "evaluations": [7, 7, 101], "error": [0.5, 0.7, 0.2]}
    >>> figure = budget(pd.DataFrame(lines))
    >>> figure.data[0].x, figure.data[0].y
    ((7, 101), (0.6, 0.2))
    """
    figure = go.Figure()
    methods = list(dict.fromkeys(frame["method"]))
    said = []
    for k, method in enumerate(methods):
        mine = frame[frame["method"] == method]
        means = mine.groupby("evaluations")["error"].mean()
        x = [int(n) for n in means.index]
        y = [float(v) for v in means]
        style = line_style(k)
        figure.add_scatter(
            x=x,
            y=y,
            mode="lines+markers",
            name=theme.literal(method),
            legendgroup=method,
            hovertemplate="%{x:,} rows scored: %{y:.1%}<extra></extra>",
            meta={
                "columns": {"method": f"={method}", "rows scored": "x", "error": "y"}
            },
            **style,
        )
        figure.add_scatter(
            x=mine["evaluations"].tolist(),
            y=mine["error"].tolist(),
            mode="markers",
            legendgroup=method,
            showlegend=False,
            hoverinfo="skip",
            opacity=0.45,
            marker={**style["marker"], "size": 5},
        )
        said.append(
            f"{method}: "
            + ", ".join(f"{n:,} {v:.1%}" for n, v in zip(x, y, strict=True))
            + "."
        )
    exact = frame.attrs.get("evaluations")
    if exact is not None:
        figure.add_scatter(
            x=[int(exact)],
            y=[0.0],
            mode="markers",
            name="exact",
            marker={"color": "#000000", "symbol": "star", "size": 13},
            hovertemplate="%{x:,} rows scored: exact<extra></extra>",
            meta={"columns": {"method": "=exact", "rows scored": "x", "error": "y"}},
        )
        said.append(f"exact: {int(exact):,} 0.")
    for method, n in (chosen or {}).items():
        figure.add_vline(x=n, line={"color": theme.NEUTRAL, "dash": "dot"})
        # on a log axis an annotation stands at the exponent, unlike a line
        figure.add_annotation(
            x=math.log10(n),
            y=1.0,
            yref="y domain",
            text=f"{theme.literal(method)} by default",
            textangle=-90,
            showarrow=False,
            xanchor="right",
            yanchor="top",
        )
    top = 1.08 * theme.limit(frame["error"])
    figure.update_yaxes(title="off by", tickformat=".0%", range=[-0.04 * top, top])
    figure.update_xaxes(title="rows scored by the model (log scale)", type="log")
    return theme.finish(
        figure,
        title=theme.literal("What accuracy costs" if title is None else title),
        alt="Error against the exact values by the rows that the model scored. "
        + " ".join(said),
        height=380,
        legend=LEGEND,
    )
