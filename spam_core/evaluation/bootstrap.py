"""How far a score, or a difference of two, could be off had other rows been drawn."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from spam_core.evaluation.predictions import Floats, Integers, Predictions
from spam_core.evaluation.statistic import statistic

Better = Literal["higher", "lower"]


@dataclass(frozen=True)
class Score:
    """A model's metric on some rows, alone and beside a reference.

    Attributes
    ----------
    name : str
        Of the model.
    value, low, high : float
        The metric, and the ends of its interval; NaN where they can't be told.
    difference, difference_low, difference_high : float
        The metric less that of the reference, on the same rows; NaN for the reference.
    """

    name: str
    value: float
    low: float
    high: float
    difference: float = math.nan
    difference_low: float = math.nan
    difference_high: float = math.nan

    @property
    def beyond_chance(self) -> bool:
        """Whether the interval of the difference leaves out 0.

        Examples
        --------
        >>> Score("a", 0.9, 0.8, 1.0, 0.1, 0.05, 0.2).beyond_chance
        True
        >>> Score("a", 0.9, 0.8, 1.0, 0.1, -0.1, 0.3).beyond_chance
        False
        """
        return self.difference_low > 0 or self.difference_high < 0


@dataclass(frozen=True)
class Ranking:
    """Models by a metric, the best first.

    Attributes
    ----------
    metric : str
    better : {"higher", "lower"}
    scores : tuple of Score
        Those whose metric isn't known come last.
    reference : str or None
        Name of the model that differences are to.
    n_rows : int
    n_groups : int or None
        What is drawn anew, if it is groups of rows rather than rows.
    level : float
        Of the intervals.
    """

    metric: str
    better: Better
    scores: tuple[Score, ...]
    reference: str | None
    n_rows: int
    n_groups: int | None = None
    level: float = 0.95

    def __getitem__(self, name: str) -> Score:
        for score in self.scores:
            if score.name == name:
                return score
        raise KeyError(name)


def rank(
    predictions: Mapping[str, Predictions],
    metric: str,
    better: Better,
    reference: str | None = None,
    *,
    level: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
) -> Ranking:
    """Rank models by a metric, with percentile bootstrap intervals over the rows.

    Every model is judged by the same resamples, so differences are paired: what makes a
    resample hard for all of them cancels. Rows of one group are drawn together.

    Parameters
    ----------
    predictions : mapping of name to Predictions
        Of the same rows.
    metric : str
        See `statistic`.
    better : {"higher", "lower"}
    reference : str, optional
        Name of the model that the others are compared with.
    level : float, default=0.95
    n_resamples : int, default=1000
    seed : int, default=0

    Returns
    -------
    Ranking

    Raises
    ------
    ValueError
        If there is no model, the reference isn't one of them, or rows differ.

    References
    ----------
    Efron and Tibshirani: *An Introduction to the Bootstrap*, 1993.

    Examples
    --------
    >>> truth = np.arange(20.0)
    >>> good = Predictions("regression", truth, truth + 1)
    >>> bad = Predictions("regression", truth, truth + 3)
    >>> ranking = rank({"bad": bad, "good": good}, "rmse", "lower", "good")
    >>> [score.name for score in ranking.scores]
    ['good', 'bad']
    >>> ranking["bad"].difference, ranking["bad"].beyond_chance
    (2.0, True)
    """
    _check(predictions, reference)
    first = next(iter(predictions.values()))
    measures = [statistic(found, metric) for found in predictions.values()]
    n, everything = len(first), np.ones(len(first))
    values = np.array([measure(everything) for measure in measures])
    draws = np.full((n_resamples, len(measures)), np.nan)
    if n > 1:
        for k, counts in enumerate(_resamples(n, n_resamples, seed, first.groups)):
            draws[k] = [measure(counts) for measure in measures]
    scores = []
    names = list(predictions)
    for j, name in enumerate(names):
        low, high = _ends(draws[:, j], level)
        score = Score(name, float(values[j]), low, high)
        if reference is not None and name != reference:
            r = names.index(reference)
            low, high = _ends(draws[:, j] - draws[:, r], level)
            difference = float(values[j] - values[r])
            score = Score(
                name, score.value, score.low, score.high, difference, low, high
            )
        scores.append(score)
    sign = 1.0 if better == "lower" else -1.0
    scores.sort(key=lambda s: (math.isnan(s.value), sign * s.value))
    n_groups = None if first.groups is None else len(np.unique(first.groups))
    return Ranking(metric, better, tuple(scores), reference, n, n_groups, level)


def _check(predictions: Mapping[str, Predictions], reference: str | None) -> None:
    if not predictions:
        raise ValueError("Expected the predictions of at least one model, got none")
    if reference is not None and reference not in predictions:
        raise ValueError(
            f"reference must be one of {list(predictions)}, got {reference!r}"
        )
    first, *others = predictions.values()
    for name, other in zip(list(predictions)[1:], others, strict=True):
        if len(other) != len(first):
            raise ValueError(
                f"Expected predictions of the same {len(first)} rows, got {len(other)} "
                f"of {name!r}"
            )


def _resamples(
    n: int, n_resamples: int, seed: int, groups: Integers | None
) -> Iterator[Floats]:
    """Yield how often each row is in a resample."""
    rng = np.random.default_rng(seed)
    member: NDArray[np.int64] = np.arange(n)
    if groups is not None:
        member = np.unique(groups, return_inverse=True)[1]
    size = int(member.max()) + 1
    for _ in range(n_resamples):
        counts = np.bincount(rng.integers(size, size=size), minlength=size)
        yield counts[member].astype(np.float64)


def _ends(draws: Floats, level: float) -> tuple[float, float]:
    """Return the ends of a percentile interval; NaN if half the draws can't tell."""
    known = draws[~np.isnan(draws)]
    if len(known) <= len(draws) / 2:
        return math.nan, math.nan
    outside = (1.0 - level) / 2.0
    low, high = np.quantile(known, [outside, 1.0 - outside])
    return float(low), float(high)
