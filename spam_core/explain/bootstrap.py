"""How far a mean over rows could be off, had other rows been drawn."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike


class Interval(NamedTuple):
    """A mean, the ends of its interval, and how many values it is of."""

    mean: float
    low: float
    high: float
    n: int


def mean_interval(
    values: ArrayLike, *, level: float = 0.95, n_resamples: int = 1000, seed: int = 0
) -> Interval:
    """Return the mean of some values with a percentile bootstrap interval.

    Parameters
    ----------
    values : array-like of shape (n,)
        One a row; NaN, "not known", is left out.
    level : float, default=0.95
        Share of the resampled means that lie in the interval.
    n_resamples : int, default=1000
    seed : int, default=0

    Returns
    -------
    Interval
        The mean is NaN without any value, the ends are with fewer than two.

    References
    ----------
    Efron and Tibshirani: *An Introduction to the Bootstrap*, 1993.

    Examples
    --------
    >>> mean_interval([2.0, 2.0, float("nan")])
    Interval(mean=2.0, low=2.0, high=2.0, n=2)
    >>> mean_interval([1.0])
    Interval(mean=1.0, low=nan, high=nan, n=1)
    """
    array = np.asarray(values, dtype=np.float64)
    known = array[~np.isnan(array)]
    n = len(known)
    mean = float(known.mean()) if n else float("nan")
    if n < 2:
        return Interval(mean, float("nan"), float("nan"), n)
    # how often each row is in a resample, which spares the resampled rows themselves
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(n, np.full(n, 1.0 / n), size=n_resamples)
    outside = (1.0 - level) / 2.0
    low, high = np.quantile(counts @ known / n, [outside, 1.0 - outside])
    return Interval(mean, float(low), float(high), n)
