"""Pair plots with a coloured cell for every combination."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from spam_core.plots import theme
from spam_core.plots.surface_parts import Pair, category_axis
from spam_core.plots.values import axis_range

_MANY_CELLS = 150  # a grid with more cells prints no numbers in them
_STRIP = 0.09  # share of the width that one missing or special level takes


def draw_map(pair: Pair) -> go.Figure:
    """Draw two numeric features, with strips for missing and special levels."""
    right, below = (
        min(0.4, _STRIP * len(levels)) for levels in (pair.missing_x, pair.missing_y)
    )
    figure = make_subplots(
        rows=2 if below else 1,
        cols=2 if right else 1,
        column_widths=[1 - right, right] if right else None,
        row_heights=[1 - below, below] if below else None,
        shared_xaxes=True,
        shared_yaxes=True,
        horizontal_spacing=0.015,
        vertical_spacing=0.02,
        specs=[[{}, {}], [{}, None]] if right and below else None,
    )
    scale = theme.signed_scale(pair.extremes)
    x, y = pair.shown
    figure.add_heatmap(
        x=np.asarray(pair.x),
        y=np.asarray(pair.y),
        z=pair.z.T,
        hoverongaps=False,
        colorbar=pair.colour_bar(),
        hovertemplate=pair.hover(),
        meta={"columns": pair.columns()},
        **scale,
        row=1,
        col=1,
    )
    if right:
        labels = theme.labels(pair.missing_x, 14)
        _strip(figure, pair, scale, labels, np.asarray(pair.y), pair.missing_x, True)
        figure.update_xaxes(**category_axis(labels), row=1, col=2)
    if below:
        labels = theme.labels(pair.missing_y, 14)
        _strip(figure, pair, scale, np.asarray(pair.x), labels, pair.missing_y, False)
        figure.update_yaxes(**category_axis(labels), row=2, col=1)
    figure.update_xaxes(showgrid=False, zeroline=False)
    figure.update_yaxes(showgrid=False, zeroline=False)
    figure.update_xaxes(title=x, row=2 if below else 1, col=1)
    figure.update_yaxes(title=y, row=1, col=1)
    if pair.window_x is not None or pair.window_y is not None:
        # both are set: plotly doesn't work out the one if only the other is given
        for axis, window, update in (
            (pair.x, pair.window_x, figure.update_xaxes),
            (pair.y, pair.window_y, figure.update_yaxes),
        ):
            ends = (np.min(axis), np.max(axis)) if window is None else window
            update(range=axis_range(ends), row=1, col=1)
    return figure


def _strip(
    figure: go.Figure,
    pair: Pair,
    scale: dict[str, Any],
    x: Any,
    y: Any,
    levels: Any,
    right: bool,
) -> None:
    values = np.array(list(levels.values()), dtype=float)
    names = [theme.literal(level) for level in levels]
    z = values.T if right else values
    full = [[[names[b if right else a]] for b in range(len(x))] for a in range(len(y))]
    first, second = ("customdata[0]", "y") if right else ("x", "customdata[0]")
    figure.add_heatmap(
        x=x,
        y=y,
        z=z,
        customdata=full,
        showscale=False,
        ygap=0 if right else 1,
        xgap=1 if right else 0,
        hovertemplate=pair.hover(first, second),
        meta={"columns": pair.columns(first, second)},
        **scale,
        row=1 if right else 2,
        col=2 if right else 1,
    )


def draw_grid(pair: Pair) -> go.Figure:
    """Draw two categorical features, one cell for every pair of levels."""
    x_levels, y_levels = ([str(v) for v in axis] for axis in (pair.x, pair.y))
    x, y = theme.labels(x_levels, 18), theme.labels(y_levels, 18)
    cells = ("customdata[0]", "customdata[1]")
    figure = go.Figure()
    figure.add_heatmap(
        x=x,
        y=y,
        z=pair.z.T,
        customdata=[
            [[theme.literal(a), theme.literal(b)] for a in x_levels] for b in y_levels
        ],
        hoverongaps=False,
        xgap=1,
        ygap=1,
        texttemplate="%{z:+.2g}" if pair.z.size <= _MANY_CELLS else None,
        colorbar=pair.colour_bar(),
        hovertemplate=pair.hover(*cells),
        meta={"columns": pair.columns(*cells)},
        **theme.signed_scale(pair.extremes),
    )
    first, second = pair.shown
    figure.update_xaxes(**category_axis(x), title=first, showgrid=False)
    figure.update_yaxes(**category_axis(y), title=second, showgrid=False)
    return figure
