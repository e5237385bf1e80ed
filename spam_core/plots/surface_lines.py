"""Pair plot of a categorical and a numeric feature: one line per level."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from spam_core.plots import theme
from spam_core.plots.surface_parts import Pair, category_axis, is_number
from spam_core.plots.values import Window, axis_range

# Many levels need a column of their own; a row of them would cover the picture.
LEGEND: dict[str, Any] = {
    "legend_orientation": "v",
    "legend_x": 1.02,
    "legend_xanchor": "left",
    "legend_y": 1.0,
    "legend_yanchor": "top",
}
_FEW_POINTS = 12


def draw_lines(pair: Pair) -> go.Figure:
    """Draw the contribution over the numbers, a line for each level.

    Missing and special levels of the numeric feature are points on the right.
    """
    flip = is_number(pair.y)  # the numeric feature is the second
    numbers, levels = (pair.y, pair.x) if flip else (pair.x, pair.y)
    number, level = pair.names[::-1] if flip else pair.names
    number_shown, level_shown = pair.shown[::-1] if flip else pair.shown
    beside = pair.missing_y if flip else pair.missing_x
    rows = [
        None if part is None else (part if flip else part.T)
        for part in (pair.z, pair.lower, pair.upper)
    ]
    figure = make_subplots(
        rows=1,
        cols=2 if beside else 1,
        column_widths=[0.84, 0.16] if beside else None,
        shared_yaxes=True,
        horizontal_spacing=0.02,
    )
    names = [str(name) for name in levels]
    short = theme.labels(names, 24)
    points = theme.labels(beside, 14)
    amount = f"adds to {pair.label}"
    for k, (full, name) in enumerate(zip(names, short, strict=True)):
        style: dict[str, Any] = {
            "name": name,
            "legendgroup": name,
            "line": {
                "color": theme.QUALITATIVE[k % len(theme.QUALITATIVE)],
                "dash": theme.DASHES[k // len(theme.QUALITATIVE) % len(theme.DASHES)],
            },
        }
        tail = f"<br>{level_shown}: {theme.literal(full)}<br>adds %{{y:+.4g}}"
        edges = [row[k] for row in rows[1:] if row is not None]
        columns = {number: "x", level: f"={full}", amount: "y"}
        if len(edges) == 2:
            columns["lowest member"] = "customdata[0]"
            columns["highest member"] = "customdata[1]"
        assert rows[0] is not None  # there are contributions always
        figure.add_scatter(
            x=np.asarray(numbers),
            y=rows[0][k],
            customdata=np.stack(edges, axis=1) if len(edges) == 2 else None,
            mode="lines+markers" if len(numbers) <= _FEW_POINTS else "lines",
            hovertemplate=f"{number_shown} = %{{x}}{tail}<extra></extra>",
            meta={"columns": columns},
            **style,
            row=1,
            col=1,
        )
        if beside:
            figure.add_scatter(
                x=points,
                y=[float(values[k]) for values in beside.values()],
                customdata=[[theme.literal(value)] for value in beside],
                mode="markers",
                marker={"symbol": "diamond", "size": 10},
                showlegend=False,
                hovertemplate=(
                    f"{number_shown}: %{{customdata[0]}}{tail}<extra></extra>"
                ),
                meta={
                    "columns": {
                        number: "customdata[0]",
                        level: f"={full}",
                        amount: "y",
                    }
                },
                **style,
                row=1,
                col=2,
            )
    if beside:
        figure.update_xaxes(**category_axis(points), row=1, col=2)
    figure.update_xaxes(title=number_shown, row=1, col=1)
    figure.update_yaxes(title=theme.literal(amount), zeroline=True, row=1, col=1)
    window = pair.window_y if flip else pair.window_x
    if window is not None:
        figure.update_xaxes(range=axis_range(window), row=1, col=1)
    figure.update_yaxes(range=_height(pair, numbers, window, flip), row=1)
    figure.update_layout(showlegend=True, legend_title_text=level_shown)
    return figure


def _height(pair: Pair, numbers: Any, window: Window | None, flip: bool) -> list[float]:
    """Range of y that holds what the opening view shows."""
    numbers = np.asarray(numbers)
    inside = np.ones(len(numbers), dtype=bool)
    if window is not None:
        inside = (numbers >= window[0]) & (numbers <= window[1])
    beside = (pair.missing_y if flip else pair.missing_x).values()
    shown = pair.z[:, inside] if flip else pair.z[inside]
    ends = [-pair.floor, 0.0, pair.floor]
    seen = np.concatenate([ends, shown.ravel(), *beside])
    low, high = float(np.nanmin(seen)), float(np.nanmax(seen))
    pad = 0.06 * (high - low) or 1.0
    return [low - pad, high + pad]
