"""Laws of spectral decay, fitted to the sizes of sorted values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from spam_core.explain.frozen import Floats

_NEGLIGIBLE = 1e-12
_FITTED_ENERGY = 0.9999  # a law is fitted to the values that hold this share


@dataclass(frozen=True)
class DecayFit:
    """A law fitted to the sizes of sorted values.

    Attributes
    ----------
    law : {"exponential", "polynomial"}
        ``C1 exp(-C2 j^gamma)`` with gamma >= 1 (Assumption 1), or
        ``C1 j^(-gamma - 1)`` (the paper's appendix).
    c1, c2, gamma : float
        Constants; the polynomial law has no C2 (NaN).
    r2 : float
        Share of the variance of log sizes that the law explains.
    n_fitted : int
        Values it was fitted to, the largest: it says nothing about those after.
    """

    law: Literal["exponential", "polynomial"]
    c1: float
    c2: float
    gamma: float
    r2: float
    n_fitted: int

    def __call__(self, j: NDArray[np.float64]) -> Floats:
        """Size of the j-th value, j counted from 1."""
        if self.law == "polynomial":
            return self.c1 * j ** (-self.gamma - 1)
        return self.c1 * np.exp(-self.c2 * j**self.gamma)

    def tail(self, rank: int, n_terms: int = 100_000) -> float:
        """Sum of the sizes after the first `rank`, by adding them up."""
        return float(self(np.arange(rank + 1.0, rank + n_terms + 1)).sum())


def fit_decay(sizes: NDArray[np.float64]) -> tuple[DecayFit, DecayFit]:
    """Fit the exponential and the polynomial law by least squares on logs.

    Parameters
    ----------
    sizes : ndarray of shape (R,)
        Sorted, largest first. The last ones, with less than 0.01 % of the sum of
        squares, are left out, or logs of what is practically zero would decide; three
        stay, unless they are below 1e-12 of the first.

    Returns
    -------
    exponential, polynomial : DecayFit

    Raises
    ------
    ValueError
        With fewer than three values.

    Examples
    --------
    >>> j = np.arange(1.0, 20)
    >>> exponential, _ = fit_decay(0.5 * np.exp(-0.1 * j))
    >>> [round(v, 3) for v in (exponential.c1, exponential.c2, exponential.gamma)]
    [0.5, 0.1, 1.0]
    """
    kept = sizes[sizes > _NEGLIGIBLE * sizes.max(initial=0.0)]
    if len(kept) < 3:
        raise ValueError(f"A decay fit needs 3 values or more, got {len(kept)}")
    energy = (kept**2).cumsum() / (kept**2).sum()
    kept = kept[: max(3, int((energy < _FITTED_ENERGY).sum()) + 1)]
    j, logs = np.arange(1.0, len(kept) + 1), np.log(kept)

    def line(x: Floats) -> tuple[float, float, float]:
        """Slope <= 0, intercept and squared error."""
        slope = min(float(np.cov(x, logs, bias=True)[0, 1] / x.var()), 0.0)
        intercept = float(logs.mean() - slope * x.mean())
        return slope, intercept, float(((logs - intercept - slope * x) ** 2).sum())

    # a grid, then a finer one about its best: one dimension, and no local traps
    gammas = np.linspace(1.0, 6.0, 101)
    for _ in range(3):
        errors = [line(j**gamma)[2] for gamma in gammas]
        best = gammas[int(np.argmin(errors))]
        width = gammas[1] - gammas[0]
        gammas = np.linspace(max(1.0, best - width), best + width, 41)
    slope, intercept, error = line(j**best)
    total = float(((logs - logs.mean()) ** 2).sum()) or 1.0
    exponential = DecayFit(
        "exponential",
        math.exp(intercept),
        -slope,
        float(best),
        1 - error / total,
        len(kept),
    )
    slope, intercept, error = line(np.log(j))
    polynomial = DecayFit(
        "polynomial",
        math.exp(intercept),
        math.nan,
        -slope - 1,
        1 - error / total,
        len(kept),
    )
    return exponential, polynomial
