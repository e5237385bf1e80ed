"""Horizontal bars, one for each name; what several figures are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from spam_core.plots import theme


def named_bars(
    names: Sequence[str],
    values: Sequence[float],
    *,
    texts: Sequence[str],
    hover: str,
    columns: Mapping[str, str],
    axis: str,
    title: str,
    alt: str,
    tickformat: str | None = None,
    colours: Sequence[str] | None = None,
) -> go.Figure:
    """Draw a bar for each name, the first on top.

    Parameters
    ----------
    names, values, texts : sequence
        One a bar; texts stand at their ends.
    hover : str
        Template of what is told of a bar; ``%{customdata}`` is its name.
    columns : mapping
        Of the figure's table: title -> what of the trace it holds.
    axis : str
        Title of the values' axis.
    title, alt : str
    tickformat : str, optional
        Of the values' axis.
    colours : sequence of str, optional
        One a bar; by default all are alike.
    """
    bars = theme.labels(names, 40)
    figure = go.Figure()
    figure.add_bar(
        x=values,
        y=bars,
        orientation="h",
        customdata=[theme.literal(name) for name in names],
        marker={"color": theme.NEGATIVE if colours is None else list(colours)},
        text=texts,
        textposition="auto",
        textangle=0,  # beside a short bar, not upright in it
        cliponaxis=False,
        hovertemplate=f"{hover}<extra></extra>",
        meta={"columns": dict(columns)},
    )
    figure.update_xaxes(
        title=theme.literal(axis), tickformat=tickformat, rangemode="tozero"
    )
    figure.update_yaxes(
        type="category",
        categoryorder="array",
        categoryarray=bars[::-1],
        title=None,
        showgrid=False,
    )
    return theme.finish(
        figure,
        title=theme.literal(title),
        alt=alt,
        height=110 + theme.BAR_HEIGHT * len(bars),
        showlegend=False,
    )
