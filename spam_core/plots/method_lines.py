"""Lines of methods: what they are called and how they are drawn, in every chart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go

from spam_core.plots import theme

if TYPE_CHECKING:
    import pandas as pd

LEGEND = {
    "orientation": "h",
    "x": 0.0,
    "xanchor": "left",
    "y": -0.26,
    "yanchor": "top",
}


Key = tuple[str, str]


def keys_of(frame: pd.DataFrame) -> list[Key]:
    """Return each model and method once, as they come."""
    return list(dict.fromkeys(zip(frame["model"], frame["method"], strict=True)))


def names_of(keys: Sequence[Key]) -> list[str]:
    """Label models and methods; a model that is the only one needs no naming."""
    several = len({model for model, _ in keys}) > 1
    return theme.labels(
        (f"{model}: {method}" if several else method for model, method in keys), 36
    )


def lines_of(frame: pd.DataFrame, key: Key) -> pd.DataFrame:
    """Return what a frame holds of one model and method."""
    return frame[(frame["model"] == key[0]) & (frame["method"] == key[1])]


def line_style(k: int | None) -> dict[str, Any]:
    """Colour and symbol of the k-th line; None is what others are compared with."""
    if k is None:
        line = {"color": theme.NEUTRAL, "dash": "dash"}
        return {"line": line, "marker": {"color": theme.NEUTRAL, "size": 4}}
    colour = theme.COLOURS[k % len(theme.COLOURS)]
    dash = theme.DASHES[k // len(theme.COLOURS) % len(theme.DASHES)]
    marker = {
        "color": colour,
        "symbol": theme.SYMBOLS[k % len(theme.SYMBOLS)],
        "size": 7,
    }
    return {"line": {"color": colour, "dash": dash}, "marker": marker}


def add_line(
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
    style = line_style(k)
    place = {"row": 1, "col": col} if group is not None else {}
    at = lines[x[1]].tolist()
    low, high = ([finite(v) for v in lines[end].tolist()] for end in ("low", "high"))
    group = group or f"line {k}"
    figure.add_scatter(
        x=at,
        y=[finite(v) for v in lines["mean"]],
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


def finite(value: Any) -> float | None:
    """Return a float; None, which is a gap, if there is no number."""
    if value is None or not math.isfinite(float(value)):
        return None
    return float(value)
