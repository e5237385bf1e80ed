"""What the two kinds of shape plot have in common: one line per class, and words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spam_core.plots import theme
from spam_core.plots.values import Floats, pick_class

MAX_LINES = 8  # classes drawn together; more need a choice


@dataclass(frozen=True)
class Line:
    """The numbers of one class.

    Attributes
    ----------
    class_name : str or None
        None where the model has one output.
    y, lower, upper : ndarray of shape (n,)
        Contribution at each x, and the members' least and greatest.
    beside : dict
        For each value that isn't on the axis: contribution, least, greatest.
    colour : str
    """

    class_name: str | None
    y: Floats
    lower: Floats
    upper: Floats
    beside: dict[str, Floats]
    colour: str


@dataclass(frozen=True)
class Shape:
    """All that a shape plot draws.

    Attributes
    ----------
    curve : Curve
    name : str
        Feature, in full.
    label : str
        Scale of the contributions, with the class if one was chosen.
    lines : tuple of Line
    banded : bool
        Whether the members' spread is known.
    """

    curve: Any
    name: str
    label: str
    lines: tuple[Line, ...]
    banded: bool

    @property
    def shown(self) -> str:
        """Name of the feature, short and escaped."""
        return theme.literal(theme.shorten([self.name], 40)[0])

    def columns(self, line: Line, first: int = 0) -> dict[str, str]:
        """Columns of the table: x, y, members' spread from custom data `first`."""
        columns = {self.name: "x", f"adds to {self.label}": "y"}
        if self.banded:
            columns["lowest member"] = f"customdata[{first}]"
            columns["highest member"] = f"customdata[{first + 1}]"
        if len(self.lines) > 1:
            columns = {"class": f"={line.class_name}"} | columns
        return columns

    def extra(self, line: Line) -> str:
        """Second box of a hover label: the class where several are drawn."""
        if len(self.lines) == 1 or line.class_name is None:
            return "<extra></extra>"
        return f"<extra>{theme.literal(line.class_name)}</extra>"


def make_lines(
    curve: Any, classes: Sequence[Any] | None, class_: object
) -> tuple[Line, ...]:
    """Split a curve by class: the one asked for, or all of them.

    Raises
    ------
    ValueError
        If `class_` is unknown, or None with more than ``MAX_LINES`` classes.
    """
    y = np.asarray(curve.y, dtype=np.float64)
    chosen: list[object] = [class_]
    if y.ndim == 2 and class_ is None:
        chosen = list(classes) if classes is not None else list(range(y.shape[1]))
        if len(chosen) > MAX_LINES:
            raise ValueError(
                f"class_ must be one of {chosen!r} to draw one of {len(chosen)} "
                "classes, got None"
            )
    lines = []
    for k, choice in enumerate(chosen):
        values, name = pick_class(y, 1, classes, choice)
        lower, upper = (
            values if edge is None else pick_class(edge, 1, classes, choice)[0]
            for edge in (curve.lower, curve.upper)
        )
        beside = {}
        for level, parts in (curve.missing or {}).items():
            edges = [parts[0] if part is None else part for part in parts]
            beside[str(level)] = np.array(
                [float(pick_class(part, 0, classes, choice)[0]) for part in edges]
            )
        lines.append(Line(name, values, lower, upper, beside, theme.QUALITATIVE[k]))
    return tuple(lines)


def describe(shape: Shape, note: str = "") -> str:
    """Say what the plot shows: range of the contributions and where its ends lie."""
    x = np.asarray(shape.curve.x)
    if len(x) == 0:
        return f"{shape.name} did not vary in training: it adds 0 to {shape.label}."
    if len(shape.lines) > 1:
        who = ", ".join(str(line.class_name) for line in shape.lines)
        text = f"What {shape.name} adds to {shape.label}, by class: {who}."
    else:
        (line,) = shape.lines
        low, high = int(np.argmin(line.y)), int(np.argmax(line.y))
        text = (
            f"What {shape.name} adds to {shape.label}:"
            f" from {theme.number(line.y[low], True)} at {_value(x[low])}"
            f" to {theme.number(line.y[high], True)} at {_value(x[high])}."
        )
        for level, parts in line.beside.items():
            text += f" At {level}: {theme.number(parts[0], True)}."
    return f"{text} {note}." if note else text


def _value(x: Any) -> str:
    if isinstance(x, int | float | np.integer | np.floating):
        return theme.number(float(x))
    if isinstance(x, np.datetime64):
        return str(x.astype("datetime64[D]"))
    return str(x)
