"""What the three kinds of pair plot have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from spam_core.plots import theme
from spam_core.plots.values import Floats, Window


@dataclass(frozen=True)
class Pair:
    """All that a pair plot draws, of one class.

    Attributes
    ----------
    names : (str, str)
        Columns, in full.
    label : str
        Scale of the contributions, with the class if there are several.
    x, y : ndarray of shape (nx,), (ny,)
        Numbers, dates or names of levels.
    z : ndarray of shape (nx, ny)
        Contribution; NaN where there is no support.
    lower, upper : ndarray of shape (nx, ny), or None
    missing_x : dict of str to ndarray of shape (ny,)
        Levels of x that aren't numbers, against y.
    missing_y : dict of str to ndarray of shape (nx,)
        Levels of y that aren't numbers, against x.
    floor : float
        Size that scales reach at least, so that a pair that doesn't matter looks flat.
    window_x, window_y : (low, high) or None
        Where the axes open; None for all.
    """

    names: tuple[str, str]
    label: str
    x: Any
    y: Any
    z: Floats
    lower: Floats | None
    upper: Floats | None
    missing_x: Mapping[str, Floats]
    missing_y: Mapping[str, Floats]
    floor: float = 0.0
    window_x: Window | None = None
    window_y: Window | None = None

    @property
    def shown(self) -> tuple[str, str]:
        """Both names, short and escaped."""
        first, second = theme.shorten(self.names, 40)
        return theme.literal(first), theme.literal(second)

    @property
    def extremes(self) -> Floats:
        """All contributions, for the colour scale."""
        beside = [*self.missing_x.values(), *self.missing_y.values()]
        return np.concatenate([self.z.ravel(), *beside, [self.floor]])

    def columns(self, x: str = "x", y: str = "y") -> dict[str, str]:
        """Columns of the table of a map."""
        return {self.names[0]: x, self.names[1]: y, f"adds to {self.label}": "z"}

    def hover(self, x: str = "x", y: str = "y") -> str:
        """Hover label of a map."""
        first, second = self.shown
        return (
            f"{first}: %{{{x}}}<br>{second}: %{{{y}}}<br>adds %{{z:+.4g}}"
            "<extra></extra>"
        )

    def colour_bar(self) -> dict[str, Any]:
        """Return the settings of the colour bar, which names the scale."""
        text = theme.literal(f"adds to {self.label}")
        return {
            "title": {"text": text, "side": "right"},
            "thickness": 14,
            **theme.NUMBERS,
        }


def is_number(axis: Any) -> bool:
    """Whether an axis holds numbers or dates, not names of levels."""
    return np.asarray(axis).dtype.kind in "fiuM"


def category_axis(labels: list[str]) -> dict[str, Any]:
    """Return the settings of an axis of levels, each once, in the order given."""
    return {"type": "category", "categoryorder": "array", "categoryarray": labels}
