"""One source feature as fitted: its levels, its knots, and the way to user units."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from spam_core.data.columns import MISSING, Kind

Scaling = Literal["quantile", "minmax", "maxabs", "none"]
SCALINGS: tuple[Scaling, ...] = ("quantile", "minmax", "maxabs", "none")

_HUGE = 2.0**1000  # beyond it the difference of two numbers may overflow
_SHRINK = 2.0**-4  # exact in binary
_REACH = 1000.0  # interquartile ranges: no log-normal sample of sd 2 has such cells


@dataclass(frozen=True, eq=False)
class Feature:
    """One source feature as fitted on the training rows.

    Attributes
    ----------
    name : str
        Column name.
    kind : {"numeric", "categorical", "boolean", "constant"}
        A constant feature has no levels and no knots, and never contributes.
    levels : tuple
        What one-hot columns stand for: categories or special codes in user units, and
        None, last, if training saw a missing value.
    knots : ndarray of shape (K + 1,)
        User units, increasing; K cells. Empty unless the feature has numbers.
    scale : float
        Divisor for ``scaling="maxabs"``.
    is_date, is_integer : bool
        How user units are shown; dates are days since 1970-01-01.
    special : tuple of float
        Declared special codes. One that training never saw is unknown, not a number.
    """

    name: str
    kind: Kind
    levels: tuple[Any, ...] = ()
    knots: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    scale: float = 1.0
    is_date: bool = False
    is_integer: bool = False
    special: tuple[float, ...] = ()

    @property
    def n_cells(self) -> int:
        """Cells between knots; 0 if numbers don't vary."""
        return max(len(self.knots) - 1, 0)

    @property
    def has_missing(self) -> bool:
        """Whether training saw a missing value."""
        return bool(self.levels) and self.levels[-1] is None

    @property
    def level_names(self) -> tuple[str, ...]:
        """Levels as shown, `missing` for None."""
        return tuple(show_level(level) for level in self.levels)

    def to_scaled(
        self, numbers: NDArray[np.float64], scaling: Scaling
    ) -> NDArray[np.float64]:
        """Scale user units; out-of-range values are clipped unless unbounded."""
        if scaling == "none":
            return numbers
        if scaling == "maxabs":
            return numbers / self.scale
        if not self.n_cells:
            return np.zeros_like(numbers)
        grid = np.linspace(0.0, 1.0, len(self.knots))
        if max(abs(self.knots[0]), abs(self.knots[-1])) < _HUGE:
            return np.interp(numbers, self.knots, grid)
        return np.interp(numbers * _SHRINK, self.knots * _SHRINK, grid)

    def to_user(
        self, scaled: NDArray[np.float64], scaling: Scaling
    ) -> NDArray[np.float64]:
        """Undo `to_scaled`; dates stay days since 1970-01-01.

        Examples
        --------
        >>> age = Feature("age", "numeric", knots=np.array([20.0, 30.0, 80.0]))
        >>> age.to_user(age.to_scaled(np.array([25.0, 90.0]), "quantile"), "quantile")
        array([25., 80.])
        """
        if scaling == "none":
            return scaled
        if scaling == "maxabs":
            return scaled * self.scale
        if not self.n_cells:
            value = self.knots[0] if len(self.knots) else np.nan
            return np.full_like(scaled, value)
        grid = np.linspace(0.0, 1.0, len(self.knots))
        if max(abs(self.knots[0]), abs(self.knots[-1])) < _HUGE:
            return np.interp(scaled, grid, self.knots)
        return np.interp(scaled, grid, self.knots * _SHRINK) / _SHRINK


def range_of(numbers: NDArray[np.float64]) -> tuple[float, float]:
    """Lowest and highest number but for those that would squeeze all others.

    These lie more than 1000 interquartile ranges beyond the quartiles: one cell of 1e8
    among ordinary numbers would leave them no room in a range from 0 to 1.

    Examples
    --------
    >>> range_of(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 1e8]))
    (1.0, 5.0)
    """
    scaled = numbers * 2.0**-12  # so that nothing overflows
    low, high = np.quantile(scaled, [0.25, 0.75])
    reach = (high - low) * _REACH
    near = (scaled >= low - reach) & (scaled <= high + reach)
    kept = numbers[near] if reach > 0 else numbers
    return float(kept.min()), float(kept.max())


def spread_knots(low: float, high: float, n_cells: int) -> NDArray[np.float64]:
    """Place knots at equal distances, without overflow for the widest range.

    Examples
    --------
    >>> spread_knots(0.0, 4.0, 2)
    array([0., 2., 4.])
    """
    if max(abs(low), abs(high)) < _HUGE:
        knots = np.linspace(low, high, n_cells + 1)
    else:
        knots = np.linspace(low * _SHRINK, high * _SHRINK, n_cells + 1) / _SHRINK
    return np.unique(knots)  # a range of few floats has fewer


def show_value(value: Any) -> str:
    """Show a cell as a short text: ``2.0`` as ``2``, None as ``missing``."""
    if value is None:
        return MISSING
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, float | np.floating):
        return MISSING if np.isnan(value) else f"{value:.6g}"
    return str(value)


def show_level(level: Any) -> str:
    """Show a level so that two levels never look alike.

    Examples
    --------
    >>> show_level(-9.0), show_level(1234567.0), show_level(0.1234567)
    ('-9', '1234567', '0.1234567')
    """
    if not isinstance(level, float):
        return show_value(level)
    if level.is_integer() and abs(level) < 1e15:
        return str(int(level))
    return repr(float(level))
