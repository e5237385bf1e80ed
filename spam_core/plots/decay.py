"""Spectra of many outputs at once, and the laws that they follow."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from spam_core.plots import theme

_BAND = "rgba(0, 114, 178, 0.18)"


def decay(
    low: Sequence[float],
    middle: Sequence[float],
    high: Sequence[float],
    laws: Mapping[str, Sequence[float]],
    *,
    title: str = "Spectral decay",
    note: str = "",
) -> go.Figure:
    """Draw the sizes of sorted values, a band over outputs, and laws beside them.

    Parameters
    ----------
    low, middle, high : sequence of float
        Of each sorted value, from the largest on: its size over the largest, for an
        output where it is small (say the 10 % quantile), the median, and where it is
        large. Equal for a single output.
    laws : mapping of str to sequence of float
        Name -> what the law says of each value.
    title, note : str

    Returns
    -------
    plotly.graph_objects.Figure
        Sizes on a log axis.

    Raises
    ------
    ValueError
        If there are no values, or sequences differ in length.

    Examples
    --------
    >>> figure = decay([1, 0.1], [1, 0.2], [1, 0.3], {"a law": [0.9, 0.2]})
    >>> [trace.name for trace in figure.data]
    [None, 'between outputs', 'median output', 'a law']
    """
    n = len(middle)
    lengths = {name: len(values) for name, values in laws.items()}
    lengths |= {"low": len(low), "high": len(high)}
    if n == 0 or any(length != n for length in lengths.values()):
        raise ValueError(f"there must be {n or 'some'} values each, got {lengths}")
    j = list(range(1, n + 1))
    figure = go.Figure()
    edge = {"x": j, "mode": "lines", "line_width": 0, "hoverinfo": "skip"}
    figure.add_scatter(y=list(map(float, low)), showlegend=False, **edge)
    figure.add_scatter(
        y=list(map(float, high)),
        fill="tonexty",
        fillcolor=_BAND,
        name="between outputs",
        **edge,
    )
    figure.add_scatter(
        x=j,
        y=list(map(float, middle)),
        mode="markers",
        name="median output",
        marker={"color": theme.NEGATIVE, "size": 6},
        hovertemplate="value %{x}: %{y:.3g} of the largest<extra></extra>",
        meta={"columns": {"j": "x", "size over the largest": "y"}},
    )
    colours = (theme.QUALITATIVE[2], theme.QUALITATIVE[3], theme.POSITIVE)
    for k, (name, values) in enumerate(laws.items()):
        figure.add_scatter(
            x=j,
            y=list(map(float, values)),
            mode="lines",
            name=theme.literal(name),
            line={
                "color": colours[k % len(colours)],
                "dash": theme.DASHES[k % len(theme.DASHES)],
            },
            hovertemplate="%{y:.3g}<extra></extra>",
        )
    least = min(value for value in (*low, *middle) if value > 0)
    figure.update_yaxes(
        title="size over the largest (log scale)",
        type="log",
        range=[max(-6.2, math.log10(least) - 0.2), 0.35],
        tickformat="~g",  # plotly itself writes 1µ
    )
    figure.update_xaxes(title="j, values by size")
    text = f"Sizes of {n} sorted values over the largest; median output: "
    places = sorted({0, min(4, n - 1), min(9, n - 1), n - 1})
    text += ", ".join(f"value {k + 1} {theme.number(middle[k])}" for k in places)
    if laws:
        text += f". Beside them: {'; '.join(laws)}"
    return theme.finish(
        figure,
        title=theme.literal(title),
        alt=f"{text}.",
        note=theme.literal(note),
        legend_orientation="v",
        legend_yanchor="top",
        legend_y=-0.2,
        legend_x=0.0,
        legend_xanchor="left",
        height=440,
    )
