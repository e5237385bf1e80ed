"""What a term does over its feature's range: curves and surfaces, in user units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from spam_core.explain.frozen import Floats

AxisKind = Literal["numeric", "categorical"]

Point = tuple[Any, Any, Any]
"""Contribution at a level, and its lowest and highest member (None without members);
each a number, or an array of shape (C,) for several classes."""


@dataclass(frozen=True, eq=False)
class Curve:
    """What one feature alone adds to the score.

    Attributes
    ----------
    name : str
        Column name.
    kind : {"numeric", "categorical"}
        Whether `x` is an axis of numbers (or dates) or a list of levels.
    x : ndarray of shape (n,)
        User units: numbers, datetime64, or names of levels. Empty for a column that
        didn't vary in training.
    y : ndarray of shape (n,) or (n, C)
        Contribution.
    lower, upper : ndarray like y, or None
        Lowest and highest of the members: their spread, not a confidence interval.
    density : (edges, rows) or None
        Numeric: bin edges of shape (b + 1,) and training rows in each bin of shape
        (b,). Categorical: the levels and their training rows.
    missing : mapping of str to (y, lower, upper)
        A numeric column's other levels: special codes and ``missing``.
    level_rows : mapping of str to float
        Training rows of each of those levels.
    unseen : float
        Contribution of what training never saw: exactly 0.
    bulk : (low, high) or None
        Where a plot should open: the range but for far outliers.
    n_outside : int
        Training rows outside the bulk.
    """

    name: str
    kind: AxisKind
    x: NDArray[Any]
    y: Floats
    lower: Floats | None = None
    upper: Floats | None = None
    density: tuple[NDArray[Any], Floats] | None = None
    missing: Mapping[str, Point] = field(default_factory=dict)
    level_rows: Mapping[str, float] = field(default_factory=dict)
    unseen: float = 0.0
    bulk: tuple[float, float] | None = None
    n_outside: int = 0

    def __post_init__(self) -> None:
        _freeze(self, ("x", "y", "lower", "upper"))


@dataclass(frozen=True, eq=False)
class Surface:
    """What the combination of two features adds beyond each of them alone.

    Attributes
    ----------
    names : (str, str)
        Column names.
    x_kind, y_kind : {"numeric", "categorical"}
        Kind of each axis.
    x, y : ndarray of shape (nx,), (ny,)
        User units, as in `Curve`.
    z : ndarray of shape (nx, ny) or (nx, ny, C)
        Contribution.
    lower, upper : ndarray like z, or None
        Lowest and highest of the members.
    support : bool ndarray of shape (nx, ny), or None
        Whether there are training rows nearby; None if that isn't known.
    missing_x : mapping of str to ndarray of shape (ny,) or (ny, C)
        A numeric x column's other levels against `y`.
    missing_y : mapping of str to ndarray of shape (nx,) or (nx, C)
        A numeric y column's other levels against `x`.
    unseen : float
        Contribution of what training never saw: exactly 0.
    """

    names: tuple[str, str]
    x_kind: AxisKind
    y_kind: AxisKind
    x: NDArray[Any]
    y: NDArray[Any]
    z: Floats
    lower: Floats | None = None
    upper: Floats | None = None
    support: NDArray[np.bool_] | None = None
    missing_x: Mapping[str, Floats] = field(default_factory=dict)
    missing_y: Mapping[str, Floats] = field(default_factory=dict)
    unseen: float = 0.0

    def __post_init__(self) -> None:
        _freeze(self, ("x", "y", "z", "lower", "upper", "support"))


def _freeze(value: object, names: tuple[str, ...]) -> None:
    for name in names:
        array = getattr(value, name)
        if array is not None and array.flags.writeable:
            array = array.copy()
            array.flags.writeable = False
            object.__setattr__(value, name, array)
