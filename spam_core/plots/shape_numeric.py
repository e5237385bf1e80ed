"""Shape of a numeric feature: a curve over its bulk, and points beside it."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from spam_core.plots import theme
from spam_core.plots.shape_lines import Line, Shape
from spam_core.plots.values import axis_range, opening

UNSEEN = "never seen"
_FEW_POINTS = 12  # with so few, the points themselves are drawn on the line


def draw(shape: Shape) -> tuple[go.Figure, str]:
    """Draw curve, band and density, and the values that have no place on the axis.

    Returns
    -------
    figure : plotly.graph_objects.Figure
        Top left the curve, below it the density, right the points beside.
    note : str
        What the opening view leaves out; empty if nothing.
    """
    beside = min(0.35, 0.07 * (1 + len(shape.lines[0].beside)))
    figure = make_subplots(
        rows=2,
        cols=2,
        column_widths=[1 - beside, beside],
        row_heights=[0.8, 0.2],
        specs=[[{}, {}], [{}, None]],
        shared_xaxes=True,
        shared_yaxes=True,
        horizontal_spacing=0.02,
        vertical_spacing=0.03,
    )
    for line in shape.lines:
        _curve(figure, shape, line)
        _points(figure, shape, line)
    _density(figure, shape)
    window = opening(shape.curve.x, getattr(shape.curve, "bulk", None))
    outside = int(getattr(shape.curve, "n_outside", 0)) if window is not None else 0
    levels = theme.labels(shape.lines[0].beside, 14)
    figure.update_xaxes(title=shape.shown, row=2, col=1)
    figure.update_xaxes(
        type="category",
        categoryorder="array",
        categoryarray=[*levels, UNSEEN],
        range=[-0.6, len(levels) + 0.6],
        row=1,
        col=2,
    )
    figure.update_yaxes(visible=False, row=2, col=1)
    if window is not None:
        figure.update_xaxes(range=axis_range(window), col=1)
    # plotly doesn't work out the range of axes that match where x has one of its own
    figure.update_yaxes(range=_height(shape, window), row=1)
    if not outside:
        return figure, ""
    return figure, (
        f"{outside:,} training row{'s lie' if outside > 1 else ' lies'} outside the"
        " range shown (double-click the chart to see all)"
    )


def _curve(figure: go.Figure, shape: Shape, line: Line) -> None:
    x = np.asarray(shape.curve.x)
    if shape.banded and len(shape.lines) == 1:
        edge = {"x": x, "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
        figure.add_scatter(
            **edge, y=line.lower, name="lowest member", showlegend=False, row=1, col=1
        )
        figure.add_scatter(
            **edge,
            y=line.upper,
            name="spread of the members",
            showlegend=False,
            fill="tonexty",
            fillcolor=_faded(line.colour),
            row=1,
            col=1,
        )
    spread = (
        "<br>members: %{customdata[0]:+.4g} to %{customdata[1]:+.4g}"
        if shape.banded
        else ""
    )
    figure.add_scatter(
        x=x,
        y=line.y,
        customdata=np.stack([line.lower, line.upper], axis=1),
        name=theme.literal(line.class_name or shape.name),
        mode="lines+markers" if len(x) <= _FEW_POINTS else "lines",
        line={"color": line.colour, "width": 2.5},
        hovertemplate=(
            f"{shape.shown} = %{{x}}<br>adds %{{y:+.4g}}{spread}{shape.extra(line)}"
        ),
        meta={"columns": shape.columns(line)},
        row=1,
        col=1,
    )


def _points(figure: go.Figure, shape: Shape, line: Line) -> None:
    """Draw missing, special codes and never-seen values on an axis of their own."""
    full = [theme.literal(level) for level in line.beside]
    known = getattr(shape.curve, "level_rows", {})
    counts = [
        f"<br>{known[level]:,.0f} training rows" if level in known else ""
        for level in line.beside
    ]
    x = theme.labels(line.beside, 14)
    parts = list(line.beside.values())
    symbols = ["diamond"] * len(x)
    unseen = getattr(shape.curve, "unseen", None)
    if unseen is not None:
        x, full, counts = [*x, UNSEEN], [*full, UNSEEN], [*counts, ""]
        parts.append(np.full(3, float(np.ravel(unseen)[0])))
        symbols.append("diamond-open")
    if not x:
        return
    y, low, high = np.array(parts, dtype=float).T
    columns = shape.columns(line, first=1)
    columns[shape.name] = "customdata[0]"
    figure.add_scatter(
        x=x,
        y=y,
        customdata=[list(row) for row in zip(full, low, high, counts, strict=True)],
        mode="markers",
        name="missing, special or never seen",
        showlegend=False,
        marker={
            "color": line.colour,
            "size": 11,
            "symbol": symbols,
            "line": {"width": 2, "color": line.colour},
        },
        error_y={
            "type": "data",
            "symmetric": False,
            "array": np.maximum(high - y, 0.0),
            "arrayminus": np.maximum(y - low, 0.0),
            "visible": bool((high > low).any()) and len(shape.lines) == 1,
        },
        hovertemplate=(
            f"{shape.shown}: %{{customdata[0]}}<br>adds %{{y:+.4g}}%{{customdata[3]}}"
            f"{shape.extra(line)}"
        ),
        meta={"columns": columns},
        row=1,
        col=2,
    )


def _density(figure: go.Figure, shape: Shape) -> None:
    if shape.curve.density is None:
        return
    edges, counts = (np.asarray(part) for part in shape.curve.density)
    width = np.diff(edges)
    figure.add_bar(
        x=edges[:-1] + width / 2,
        y=counts,
        # on a date axis, plotly measures widths in milliseconds
        width=width / np.timedelta64(1, "ms") if edges.dtype.kind == "M" else width,
        customdata=[[_text(a), _text(b)] for a, b in itertools.pairwise(edges)],
        name="training rows",
        showlegend=False,
        marker={"color": theme.NEUTRAL, "line": {"width": 0}},
        hovertemplate=(
            f"%{{y:,.0f}} training rows with {shape.shown} from %{{customdata[0]}}"
            " to %{customdata[1]}<extra></extra>"
        ),
        row=2,
        col=1,
    )


def _height(shape: Shape, window: tuple[Any, Any] | None) -> list[float]:
    """Range of y that holds all that the opening view shows, and 0."""
    x = np.asarray(shape.curve.x)
    inside = np.ones(len(x), dtype=bool)
    if window is not None:
        inside = (x >= window[0]) & (x <= window[1])
    seen = [0.0]
    for line in shape.lines:
        edges = [line.y] if len(shape.lines) > 1 else [line.y, line.lower, line.upper]
        seen += [value for edge in edges for value in edge[inside]]
        seen += [value for parts in line.beside.values() for value in parts]
    low, high = float(np.nanmin(seen)), float(np.nanmax(seen))
    pad = 0.06 * (high - low) or 1.0
    return [low - pad, high + pad]


def _text(value: Any) -> str:
    if isinstance(value, np.datetime64):
        return str(value.astype("datetime64[D]"))
    return theme.number(float(value))


def _faded(colour: str) -> str:
    r, g, b = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return f"rgba({r}, {g}, {b}, 0.22)"
