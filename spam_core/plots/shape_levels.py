"""Shape of a categorical feature: one bar per level, in the order given."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from spam_core.plots import theme
from spam_core.plots.shape_lines import Line, Shape

MISSING = "missing"


def draw(shape: Shape) -> tuple[go.Figure, str]:
    """Draw what each level adds, and how many training rows have it.

    Returns
    -------
    figure : plotly.graph_objects.Figure
        Top the contributions, bottom the counts where they are known.
    note : str
        Always empty: nothing is left out.
    """
    levels = [str(level) for level in shape.curve.x]
    counts = None if shape.curve.density is None else shape.curve.density[1]
    figure = make_subplots(
        rows=2,
        cols=1,
        row_heights=[0.8, 0.2],
        shared_xaxes=True,
        vertical_spacing=0.03,
    )
    x = theme.labels(levels, 18)
    for line in shape.lines:
        _bars(figure, shape, line, levels, x)
    if counts is not None and len(counts) == len(levels):
        figure.add_bar(
            x=x,
            y=np.asarray(counts),
            customdata=[theme.literal(level) for level in levels],
            name="training rows",
            showlegend=False,
            marker={"color": theme.NEUTRAL},
            hovertemplate="%{customdata}: %{y:,.0f} training rows<extra></extra>",
            row=2,
            col=1,
        )
    figure.update_xaxes(type="category", categoryorder="array", categoryarray=x)
    figure.update_xaxes(title=shape.shown, row=2, col=1)
    figure.update_yaxes(visible=False, row=2)
    figure.update_layout(barmode="group")
    return figure, ""


def _bars(
    figure: go.Figure, shape: Shape, line: Line, levels: list[str], x: list[str]
) -> None:
    single = len(shape.lines) == 1
    colour: Any = line.colour
    if single:
        colour = [theme.POSITIVE if value > 0 else theme.NEGATIVE for value in line.y]
    columns = shape.columns(line, first=1)
    columns[shape.name] = "customdata[0]"
    full = [theme.literal(level) for level in levels]
    figure.add_bar(
        x=x,
        y=line.y,
        name=theme.literal(line.class_name or shape.name),
        customdata=[
            list(row) for row in zip(full, line.lower, line.upper, strict=True)
        ],
        marker={
            "color": colour,
            # a missing value is hatched, so that it isn't taken for a level
            "pattern": {"shape": ["/" if v == MISSING else "" for v in levels]},
        },
        error_y={
            "type": "data",
            "symmetric": False,
            "array": np.maximum(line.upper - line.y, 0.0),
            "arrayminus": np.maximum(line.y - line.lower, 0.0),
            "color": theme.NEUTRAL,
            "visible": shape.banded and single,
        },
        hovertemplate=(
            f"{shape.shown}: %{{customdata[0]}}<br>adds %{{y:+.4g}}{shape.extra(line)}"
        ),
        meta={"columns": columns},
        row=1,
        col=1,
    )
