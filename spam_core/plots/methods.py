"""Measures of explanation methods: agreement, fidelity, faithfulness."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from spam_core.plots import theme
from spam_core.plots.method_lines import (
    LEGEND,
    Key,
    add_line,
    finite,
    keys_of,
    lines_of,
    names_of,
)

if TYPE_CHECKING:
    import pandas as pd

_RANDOM = "random order"
_LOWEST_R2 = -0.5  # a worse fit is no better to look at


def agreement(
    frame: pd.DataFrame, measure: str = "jaccard", title: str | None = None
) -> go.Figure:
    """Draw how far each two explanations agree, as a matrix.

    Parameters
    ----------
    frame : DataFrame
        ``Comparison.agreement``.
    measure : str, default="jaccard"
        One of its columns.
    title : str, optional

    Returns
    -------
    plotly.graph_objects.Figure
        Rows are compared with columns. The diagonal is left empty.

    Examples
    --------
    >>> import pandas as pd
    >>> pair = {"model_a": "SPAM", "method_a": "LIME", "model_b": "SPAM"}
    >>> frame = pd.DataFrame([pair | {"method_b": "KernelSHAP", "jaccard": 0.5}])
    >>> agreement(frame).data[0].z
    ([None, 0.5], [None, None])
    """
    rows = list(zip(frame["model_a"], frame["method_a"], strict=True))
    columns = list(zip(frame["model_b"], frame["method_b"], strict=True))
    keys = list(dict.fromkeys([*rows, *columns]))
    values = dict(zip(zip(rows, columns, strict=True), frame[measure], strict=True))
    z = [[finite(values.get((a, b))) for b in keys] for a in keys]
    names = names_of(keys)
    full = [" ".join(key) for key in keys]
    figure = go.Figure()
    figure.add_heatmap(
        z=z,
        x=names,
        y=names,
        zmin=0.0,
        zmax=1.0,
        colorscale=[list(stop) for stop in theme.SEQUENTIAL],
        text=[[theme.number(v) if v is not None else "" for v in line] for line in z],
        texttemplate="%{text}",
        hovertemplate="%{y} and %{x}: %{z:.3f}<extra></extra>",
        showscale=False,
        xgap=2,
        ygap=2,
        meta={"columns": {"explanation": "y", "and": "x", _said(measure): "z"}},
    )
    figure.update_yaxes(autorange="reversed", showgrid=False)
    figure.update_xaxes(showgrid=False, tickangle=-30)
    said = ", ".join(
        f"{full[i]} and {full[j]} {theme.number(value)}"
        for i, line in enumerate(z)
        for j, value in enumerate(line)
        if value is not None and (i < j or z[j][i] is None)
    )
    return theme.finish(
        figure,
        title=theme.literal(f"Agreement: {_said(measure)}" if title is None else title),
        alt=f"{_said(measure)} of each two explanations: {said}.",
        height=170 + 34 * len(keys),
    )


def fidelity(
    frame: pd.DataFrame, E: int | None = None, title: str | None = None
) -> go.Figure:
    """Draw how well E lines stand for the model around the row.

    Parameters
    ----------
    frame : DataFrame
        ``Comparison.fidelity``.
    E : int, optional
        A length to mark.
    title : str, optional

    Returns
    -------
    plotly.graph_objects.Figure
        R2 over E, a line for each model and method; bands where there are intervals.

    Examples
    --------
    >>> import pandas as pd
    >>> line = {"model": "SPAM", "method": "LIME", "E": [1, 2], "mean": [0.5, 0.75]}
    >>> nothing = {"low": [None] * 2, "high": [None] * 2}
    >>> fidelity(pd.DataFrame(line | nothing)).data[0].y
    (0.5, 0.75)
    """
    figure = go.Figure()
    keys = keys_of(frame)
    for k, (key, name) in enumerate(zip(keys, names_of(keys), strict=True)):
        add_line(figure, lines_of(frame, key), k, key, name, ("E", "E"), "R2")
    if E is not None and frame["E"].max() >= E:
        figure.add_vline(x=E, line={"color": theme.NEUTRAL, "dash": "dash"})
    lowest = min((v for v in frame["mean"] if math.isfinite(v)), default=0.0)
    floor = max(_LOWEST_R2, min(0.0, lowest))
    note = "1: the lines say what the model does; 0: no better than a constant"
    if lowest < floor:
        note += f"; what is below {floor} isn't drawn"
    figure.update_yaxes(title="R² around the row", range=[floor - 0.05, 1.05])
    figure.update_xaxes(title="E, lines of the explanation", zeroline=False)
    return theme.finish(
        figure,
        title=theme.literal("What E lines tell" if title is None else title),
        alt="R2 of the first E lines of each explanation against the model around the "
        f"row. {_ends(frame, keys, 'E')}",
        note=note,
        height=380,
        legend=LEGEND,
    )


def faithfulness(frame: pd.DataFrame, title: str | None = None) -> go.Figure:
    """Draw how the score changes as columns are taken away, or put back.

    Parameters
    ----------
    frame : DataFrame
        ``Comparison.faithfulness``.
    title : str, optional

    Returns
    -------
    plotly.graph_objects.Figure
        Left: the columns that an explanation names first are taken away first. Right:
        they are put back first. Dashed: columns in random order.

    Examples
    --------
    >>> import pandas as pd
    >>> line = {"model": "SPAM", "method": "LIME", "k": [0, 1], "mean": [0.0, 2.0]}
    >>> nothing = {"curve": "deletion", "low": [None] * 2, "high": [None] * 2}
    >>> faithfulness(pd.DataFrame(line | nothing)).data[0].y
    (0.0, 2.0)
    """
    panels = {"deletion": "taken away, largest first", "insertion": "put back"}
    figure = make_subplots(
        rows=1,
        cols=2,
        shared_yaxes=True,
        horizontal_spacing=0.05,
        subplot_titles=list(panels.values()),
    )
    keys = keys_of(frame)
    named = [key for key in keys if key[1] != _RANDOM]
    for k, (key, name) in enumerate(zip(keys, names_of(keys), strict=True)):
        for col, curve in enumerate(panels, start=1):
            lines = lines_of(frame[frame["curve"] == curve], key)
            place = named.index(key) if key in named else None
            words = ("columns", "k")
            add_line(figure, lines, place, key, name, words, curve, col, f"line {k}")
    figure.update_yaxes(title="distance from the score", row=1, col=1)
    figure.update_xaxes(title="columns", zeroline=False)
    figure.update_annotations(font={"size": 13}, yshift=2)
    return theme.finish(
        figure,
        title=theme.literal(
            "Are the largest lines what matters?" if title is None else title
        ),
        alt="Distance of the score from the row's own, as columns are taken away in "
        "the order of each explanation, and as they are put back. "
        + " ".join(
            f"{words}: {_on_the_way(frame[frame['curve'] == curve], keys)}"
            for curve, words in panels.items()
        ),
        height=400,
        margin={"l": 10, "r": 10, "t": 76, "b": 10},
        legend=LEGEND,
    )


def _ends(frame: pd.DataFrame, keys: Sequence[Key], x: str) -> str:
    """Say where each line begins and ends."""
    parts = []
    for key in keys:
        lines = lines_of(frame, key)
        if len(lines):
            first, last = lines.iloc[0], lines.iloc[-1]
            parts.append(
                f"{' '.join(key)} from {theme.number(first['mean'])} at {first[x]} to "
                f"{theme.number(last['mean'])} at {last[x]}"
            )
    return f"{'; '.join(parts)}."


def _on_the_way(frame: pd.DataFrame, keys: Sequence[Key]) -> str:
    """Say where each line is a third of the way: all begin and end together."""
    parts = []
    for key in keys:
        lines = lines_of(frame, key)
        if len(lines):
            at = lines.iloc[math.ceil((len(lines) - 1) / 3)]
            parts.append(f"{' '.join(key)} {theme.number(at['mean'])} at {at['k']}")
    return f"{', '.join(parts)}."


def _said(measure: str) -> str:
    return {
        "jaccard": "share of the same largest E",
        "rank_correlation": "rank correlation",
        "sign_agreement": "share of equal signs",
        "relative_difference": "relative difference",
    }.get(measure, measure)
