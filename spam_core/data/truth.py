"""The true terms of a table that was made up, as functions of its columns."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

FloatArray = npt.NDArray[np.float64]
# From a column's cells, in user units, to one number a row.
Factor = Callable[[npt.NDArray[np.generic]], FloatArray]


@dataclass(frozen=True)
class KnownTerm:
    """A product of one function per feature, weighted per output.

    Attributes
    ----------
    features : tuple of str
        In the order of the table's columns.
    factors : tuple of callable
        One per feature. Each has mean 0 under the distribution the feature was
        drawn from, so the product is a pure term.
    weights : tuple of float
        One per output.
    """

    features: tuple[str, ...]
    factors: tuple[Factor, ...]
    weights: tuple[float, ...] = (1.0,)


@dataclass(frozen=True)
class Truth:
    """Noise-free score of a generated table and its pure terms.

    The features were drawn independently, so the functional ANOVA of the score is
    known. Terms may be asked for under the distribution the rows were drawn from
    (`reference` None), or exactly under the marginals of given rows: that is what an
    exact explanation of a perfect model fitted on those rows would say.

    Attributes
    ----------
    constant : tuple of float
        Mean score, one per output.
    parts : tuple of KnownTerm
        No two of them are about the same features.
    scale : str
        "logit", "centred logit" or the target's name.

    Examples
    --------
    >>> part = KnownTerm(("a",), (lambda a: 2 * a,))
    >>> truth = Truth((1.0,), (part,), "y")
    >>> truth.score(pd.DataFrame({"a": [-1.0, 1.0]}))
    array([-1.,  3.])
    """

    constant: tuple[float, ...]
    parts: tuple[KnownTerm, ...]
    scale: str

    @property
    def term_features(self) -> tuple[tuple[str, ...], ...]:
        """Feature sets of the terms that are not 0."""
        return tuple(part.features for part in self.parts)

    def score(self, X: pd.DataFrame) -> FloatArray:
        """Return the score without noise.

        Parameters
        ----------
        X : DataFrame (n, d)

        Returns
        -------
        ndarray (n,), or (n, C) with C > 1 outputs
        """
        total = np.tile(np.array(self.constant), (len(X), 1))
        for part in self.parts:
            product = np.prod(_factor_values(part, X), axis=0)
            total += product[:, None] * np.array(part.weights)
        return self._squeeze(total)

    def base(self, reference: pd.DataFrame | None = None) -> FloatArray:
        """Return the mean score under the product of the marginals, (C,).

        Parameters
        ----------
        reference : DataFrame (m, d), optional
            Rows whose marginals count; None: the distribution drawn from.
        """
        total = np.array(self.constant)
        if reference is None:
            return total
        for part in self.parts:
            means = np.mean(_factor_values(part, reference), axis=1)
            total = total + np.prod(means) * np.array(part.weights)
        return total

    def terms(
        self, X: pd.DataFrame, reference: pd.DataFrame | None = None
    ) -> dict[tuple[str, ...], FloatArray]:
        """Return the pure terms of some rows; with the base they sum to the score.

        Parameters
        ----------
        X : DataFrame (n, d)
        reference : DataFrame (m, d), optional
            Rows whose marginals count; None: the distribution drawn from.

        Returns
        -------
        dict of tuple of str to ndarray (n,), or (n, C) with C > 1 outputs
            Under given rows a pair leaves a little to its features alone, so these
            have terms of their own; what is not named is 0.
        """
        sums: dict[tuple[str, ...], FloatArray] = {}
        for part in self.parts:
            values = _factor_values(part, X)
            means = np.zeros(len(values))
            if reference is not None:
                means = np.mean(_factor_values(part, reference), axis=1)
            for features, product in _purify(part.features, values, means):
                term = product[:, None] * np.array(part.weights)
                sums[features] = sums.get(features, 0.0) + term
        return {features: self._squeeze(term) for features, term in sums.items()}

    def _squeeze(self, values: FloatArray) -> FloatArray:
        return values[:, 0] if len(self.constant) == 1 else values


def _factor_values(part: KnownTerm, X: pd.DataFrame) -> FloatArray:
    """Return (number of features, n)."""
    pairs = zip(part.features, part.factors, strict=True)
    return np.stack([factor(X[name].to_numpy()) for name, factor in pairs])


def _purify(
    features: tuple[str, ...], values: FloatArray, means: FloatArray
) -> list[tuple[tuple[str, ...], FloatArray]]:
    """Multiply out prod_i (centred_i + mean_i) into its pure parts, constant aside."""
    centred = values - means[:, None]
    parts = []
    for size in range(1, len(features) + 1):
        for chosen in itertools.combinations(range(len(features)), size):
            others = [i for i in range(len(features)) if i not in chosen]
            rest = float(np.prod(means[others]))
            if size < len(features) and rest == 0.0:
                continue
            product = np.prod(centred[list(chosen)], axis=0) * rest
            parts.append((tuple(features[i] for i in chosen), product))
    return parts
