"""Colours, labels and layout shared by every plot.

Everything a user typed (column names, levels, class names) passes through
:func:`literal` before it reaches plotly, because plotly reads text as a small HTML
dialect and, where MathJax is loaded, as TeX between dollar signs.
"""

from __future__ import annotations

import html
import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import plotly.graph_objects as go

# Okabe and Ito's palette: distinguishable with any kind of colour blindness.
POSITIVE = "#D55E00"
NEGATIVE = "#0072B2"
NEUTRAL = "#8A8A8A"
QUALITATIVE = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#7A5C00",
    "#8A8A8A",
)
# of lines and bars that are told apart; grey is kept for what they are compared with
COLOURS = tuple(colour for colour in QUALITATIVE if colour != NEUTRAL)
SYMBOLS = ("circle", "diamond", "square", "triangle-up", "x", "star", "cross")
DASHES = ("solid", "dash", "dot", "dashdot")

# Blue to orange through near-white; the ends are NEGATIVE and POSITIVE darkened, so
# that sign and size survive a greyscale print of either half.
DIVERGING: tuple[tuple[float, str], ...] = (
    (0.0, "#08488A"),
    (0.25, "#4E94CC"),
    (0.5, "#F4F4F4"),
    (0.75, "#E88A4A"),
    (1.0, "#A63F00"),
)
# Zero is pale and large is dark: for sizes, which have no sign.
SEQUENTIAL: tuple[tuple[float, str], ...] = (
    (0.0, "#EDF3F9"),
    (0.25, "#B5D3EA"),
    (0.5, "#6CA9D6"),
    (0.75, "#2A72B0"),
    (1.0, "#08306B"),
)

GRID = "rgba(128, 128, 128, 0.22)"
ZERO_LINE = "rgba(128, 128, 128, 0.75)"
# 40,000 as it is, 3.5M and 1.3B for what is larger
NUMBERS: dict[str, Any] = {
    "exponentformat": "B",
    "minexponent": 5,
    "separatethousands": True,
}
BAR_HEIGHT = 28  # pixels per bar, so that a hundred bars stay readable
LABEL_WIDTH = 28  # characters a name may take on an axis


def literal(text: object) -> str:
    """Escape text so that plotly shows it character for character.

    Parameters
    ----------
    text : object
        A column name, level or class as the user wrote it.

    Returns
    -------
    str
        The text with HTML and TeX made harmless. ``html.unescape`` gives it back.

    Examples
    --------
    >>> literal("<b>bold</b>")
    '&lt;b&gt;bold&lt;/b&gt;'
    >>> literal("cost $ per $ unit")
    'cost &#36; per &#36; unit'
    """
    escaped = html.escape(str(text), quote=False)
    # The per cent sign starts a placeholder in a hover template ("%{x}").
    return escaped.replace("$", "&#36;").replace("%", "&#37;")


def shorten(names: Iterable[object], width: int = LABEL_WIDTH) -> list[str]:
    """Cut long names in the middle, keeping different names different.

    Parameters
    ----------
    names : iterable of object
        Names in display order.
    width : int, default=28
        Most characters a name may take.

    Returns
    -------
    list of str
        As many labels as names, all different; not yet escaped.

    Examples
    --------
    >>> shorten(["age", "income"])
    ['age', 'income']
    >>> shorten(["a" * 40 + "x" + "b" * 40, "a" * 40 + "y" + "b" * 40], width=12)
    ['…aaaaxbbbbb…', '…aaaaybbbbb…']
    """
    full = [" ".join(str(name).split()) for name in names]
    short = [_cut_middle(name, width) for name in full]
    for label in {label for label in short if short.count(label) > 1}:
        group = [k for k, other in enumerate(short) if other == label]
        start = _common_prefix([full[k] for k in group])
        for k in group:
            short[k] = _cut_around(full[k], start, width)
    return _number_repeats(short)


def labels(names: Iterable[object], width: int = LABEL_WIDTH) -> list[str]:
    """Short, distinct and escaped labels, ready for a categorical axis."""
    return [literal(label) for label in shorten(names, width)]


def _cut_middle(name: str, width: int) -> str:
    if len(name) <= width:
        return name
    tail = (width - 1) // 2
    return f"{name[: width - 1 - tail]}…{name[len(name) - tail :]}"


def _common_prefix(names: Sequence[str]) -> int:
    first, last = min(names), max(names)
    for k, (a, b) in enumerate(zip(first, last, strict=False)):
        if a != b:
            return k
    return min(len(first), len(last))


def _cut_around(name: str, position: int, width: int) -> str:
    """Keep the part of a name around the character where its twins differ."""
    if len(name) <= width:
        return name
    room = max(1, width - 2)
    start = min(max(0, position - room // 2 + 1), len(name) - room)
    end = start + room
    head = "…" if start > 0 else ""
    tail = "…" if end < len(name) else ""
    return f"{head}{name[start:end]}{tail}"


def _number_repeats(names: Sequence[str]) -> list[str]:
    """Add (2), (3), … to names that are still the same, so that no bar hides."""
    taken: set[str] = set()
    out: list[str] = []
    for name in names:
        candidate, k = name, 1
        while candidate in taken:
            k += 1
            candidate = f"{name} ({k})"
        taken.add(candidate)
        out.append(candidate)
    return out


def number(value: float, signed: bool = False) -> str:
    """Write a number with four significant digits, for labels and sentences.

    Examples
    --------
    >>> number(0.123456), number(20640), number(2.0, signed=True)
    ('0.1235', '20,640', '+2')
    >>> number(float("nan"))
    'n/a'
    """
    if not math.isfinite(value):
        return "n/a"
    sign = "+" if signed and value > 0 else ""
    size = abs(value)
    if size != 0 and (size >= 1e7 or size < 1e-4):
        return f"{sign}{value:.3g}"
    if size >= 1000:
        return f"{sign}{value:,.0f}"
    text = f"{value:.4g}"
    return f"{sign}{'0' if text == '-0' else text}"


def limit(values: Iterable[float]) -> float:
    """Return the largest finite size, the end of a symmetric scale around 0.

    Examples
    --------
    >>> limit([-3.0, 2.0, float("nan")]), limit([0.0])
    (3.0, 1.0)
    """
    finite = [abs(float(v)) for v in values if math.isfinite(float(v))]
    largest = max(finite, default=0.0)
    return largest if largest > 0 else 1.0


def signed_scale(values: Iterable[float]) -> dict[str, Any]:
    """Heatmap settings of the diverging scale, symmetric and centred on 0."""
    end = limit(values)
    return {
        "colorscale": [list(stop) for stop in DIVERGING],
        "zmin": -end,
        "zmax": end,
        "zmid": 0.0,
    }


def size_scale(values: Iterable[float]) -> dict[str, Any]:
    """Heatmap settings of the scale for sizes, which starts at 0."""
    return {
        "colorscale": [list(stop) for stop in SEQUENTIAL],
        "zmin": 0.0,
        "zmax": limit(values),
    }


def class_index(classes: Sequence[Hashable], class_: object) -> int:
    """Position of a class; an unknown one is an error that names the choices.

    Examples
    --------
    >>> class_index(["a", "b", "c"], "b")
    1
    >>> class_index(["a", "b", "c"], "z")
    Traceback (most recent call last):
    ...
    ValueError: class_ must be one of ['a', 'b', 'c'], got 'z'
    """
    known = list(classes)
    for k, label in enumerate(known):
        if label == class_:
            return k
    # Selectors and URLs hold text: "2" means the class 2 if no class is called "2".
    for k, label in enumerate(known):
        if str(label) == str(class_):
            return k
    raise ValueError(f"class_ must be one of {known!r}, got {class_!r}")


def finish(
    figure: go.Figure,
    *,
    title: str,
    alt: str,
    note: str = "",
    height: int = 420,
    **layout: Any,
) -> go.Figure:
    """Give a figure the common layout and its alt text.

    Parameters
    ----------
    figure : plotly.graph_objects.Figure
        Figure whose traces are complete.
    title : str
        Title, already escaped with :func:`literal`.
    alt : str
        Plain sentence that says what the picture shows; never escaped.
    note : str, default=""
        Small print under the title, already escaped.
    height : int, default=420
        Height in pixels; the width follows the container.
    **layout : object
        Further layout settings.

    Returns
    -------
    plotly.graph_objects.Figure
        The same figure.
    """
    figure.update_layout(
        template="plotly_white",
        title={
            "text": title,
            "subtitle": {"text": note, "font": {"size": 12}},
            "x": 0.0,
            "xanchor": "left",
            "y": 1.0,
            "yanchor": "top",
            "yref": "container",
            "pad": {"t": 10},
            "font": {"size": 16},
        },
        height=height,
        margin={"l": 10, "r": 10, "t": 64 if note else 48, "b": 10},
        hoverlabel={"align": "left"},
        legend={
            "orientation": "h",
            "yanchor": "bottom",
            "y": 1.0,
            "x": 1.0,
            "xanchor": "right",
        },
        meta={"alt": alt},
    )
    axes = {
        "automargin": True,
        "gridcolor": GRID,
        "zerolinecolor": ZERO_LINE,
        "ticklabelstandoff": 4,
        **NUMBERS,
    }
    figure.update_xaxes(**axes)
    figure.update_yaxes(**axes)
    figure.update_layout(**layout)
    return figure
