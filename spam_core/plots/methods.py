"""Measures of explanation methods: agreement, fidelity, faithfulness, cost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from spam_core.plots import theme

if TYPE_CHECKING:
    import pandas as pd

_COLOURS = tuple(c for c in theme.QUALITATIVE if c != theme.NEUTRAL)
_SYMBOLS = ("circle", "diamond", "square", "triangle-up", "x", "star", "cross")
_RANDOM = "random order"
_LOWEST_R2 = -0.5  # a worse fit is no better to look at
_LEGEND = {
    "orientation": "h",
    "x": 0.0,
    "xanchor": "left",
    "y": -0.22,
    "yanchor": "top",
}


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
    z = [[_number(values.get((a, b))) for b in keys] for a in keys]
    names = _names(keys)
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
    keys = _keys(frame)
    for k, (key, name) in enumerate(zip(keys, _names(keys), strict=True)):
        _add_line(figure, _of(frame, key), k, key, name, ("E", "E"), "R2")
    if E is not None:
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
        legend=_LEGEND,
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
    keys = _keys(frame)
    named = [key for key in keys if key[1] != _RANDOM]
    for k, (key, name) in enumerate(zip(keys, _names(keys), strict=True)):
        for col, curve in enumerate(panels, start=1):
            lines = _of(frame[frame["curve"] == curve], key)
            place = named.index(key) if key in named else None
            words = ("columns", "k")
            _add_line(figure, lines, place, key, name, words, curve, col, f"line {k}")
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
        legend=_LEGEND,
    )


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
        style = _style(k)
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
        legend=_LEGEND,
    )


Key = tuple[str, str]


def _keys(frame: pd.DataFrame) -> list[Key]:
    return list(dict.fromkeys(zip(frame["model"], frame["method"], strict=True)))


def _names(keys: Sequence[Key]) -> list[str]:
    """Label models and methods; a model that is the only one needs no naming."""
    several = len({model for model, _ in keys}) > 1
    return theme.labels(
        (f"{model}: {method}" if several else method for model, method in keys), 36
    )


def _of(frame: pd.DataFrame, key: Key) -> pd.DataFrame:
    return frame[(frame["model"] == key[0]) & (frame["method"] == key[1])]


def _style(k: int | None) -> dict[str, Any]:
    """Colour and symbol of the k-th line; None is what others are compared with."""
    if k is None:
        line = {"color": theme.NEUTRAL, "dash": "dash"}
        return {"line": line, "marker": {"color": theme.NEUTRAL, "size": 4}}
    colour = _COLOURS[k % len(_COLOURS)]
    dash = theme.DASHES[k // len(_COLOURS) % len(theme.DASHES)]
    marker = {"color": colour, "symbol": _SYMBOLS[k % len(_SYMBOLS)], "size": 7}
    return {"line": {"color": colour, "dash": dash}, "marker": marker}


def _add_line(
    figure: go.Figure,
    lines: pd.DataFrame,
    k: int | None,
    key: Key,
    name: str,
    x: tuple[str, str],
    value: str,
    col: int = 1,
    group: str | None = None,
) -> None:
    """Add means over x, a column's words and name, and their band."""
    if not len(lines):
        return
    style = _style(k)
    place = {"row": 1, "col": col} if group is not None else {}
    at = lines[x[1]].tolist()
    low, high = ([_number(v) for v in lines[end].tolist()] for end in ("low", "high"))
    group = group or f"line {k}"
    figure.add_scatter(
        x=at,
        y=[_number(v) for v in lines["mean"]],
        customdata=list(zip(low, high, strict=True)),
        mode="lines+markers",
        name=name,
        legendgroup=group,
        showlegend=col == 1,
        hovertemplate=f"{x[0]} %{{x}}: %{{y:.4g}}<extra>{name}</extra>",
        meta={
            "columns": {
                "model": f"={key[0]}",
                "explanation": f"={key[1]}",
                x[0]: "x",
                value: "y",
                "low": "customdata[0]",
                "high": "customdata[1]",
            }
        },
        **style,
        **place,
    )
    if None in low or None in high:
        return
    figure.add_scatter(
        x=at + at[::-1],
        y=high + low[::-1],
        mode="lines",
        line={"width": 0},
        fill="toself",
        fillcolor=style["line"]["color"],
        opacity=0.18,
        hoverinfo="skip",
        legendgroup=group,
        showlegend=False,
        **place,
    )


def _ends(frame: pd.DataFrame, keys: Sequence[Key], x: str) -> str:
    """Say where each line begins and ends."""
    parts = []
    for key in keys:
        lines = _of(frame, key)
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
        lines = _of(frame, key)
        if len(lines):
            at = lines.iloc[math.ceil((len(lines) - 1) / 3)]
            parts.append(f"{' '.join(key)} {theme.number(at['mean'])} at {at['k']}")
    return f"{', '.join(parts)}."


def _number(value: Any) -> float | None:
    """Return a float; None, which is a gap, if there is no number."""
    if value is None or not math.isfinite(float(value)):
        return None
    return float(value)


def _said(measure: str) -> str:
    return {
        "jaccard": "share of the same largest E",
        "rank_correlation": "rank correlation",
        "sign_agreement": "share of equal signs",
        "relative_difference": "relative difference",
    }.get(measure, measure)
