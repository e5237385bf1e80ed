"""Measures of explanations that need their values only, not the model.

Values are those of one row and one output, an array of shape (T,): one for each column
or term. Sizes are absolute values. What is below a billionth of the largest counts as
0, as exact methods leave rounding errors where others have 0.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from spam_core.explain.frozen import Floats

_NEGLIGIBLE = 1e-9

NAN = float("nan")


def clean(values: ArrayLike) -> Floats:
    """Return values of shape (..., T) with what is negligible set to 0.

    Examples
    --------
    >>> clean([2.0, -1e-17]).tolist()
    [2.0, 0.0]
    """
    array = np.asarray(values, dtype=np.float64)
    size = np.abs(array)
    return np.where(size > _NEGLIGIBLE * size.max(axis=-1, keepdims=True), array, 0.0)


def by_size(values: ArrayLike) -> NDArray[np.intp]:
    """Return positions from the largest absolute value down, ties in their order.

    Examples
    --------
    >>> by_size([1.0, -3.0, 2.0]).tolist()
    [1, 2, 0]
    """
    order: NDArray[np.intp] = np.argsort(-np.abs(clean(values)), kind="stable")
    return order


def largest(values: ArrayLike, E: int) -> set[int]:
    """Return the positions of the E largest; what is 0 isn't among them.

    Examples
    --------
    >>> largest([1.0, -3.0, 2.0], 2), largest([0.0, 1.0], 2)
    ({1, 2}, {1})
    """
    kept = clean(values)
    return {int(k) for k in by_size(kept)[:E] if kept[k] != 0}


def captured_mass(values: ArrayLike, E: int) -> float:
    """Share of the total size that the E largest hold, in 0..1, higher is shorter.

    Examples
    --------
    >>> captured_mass([3.0, -1.0, 0.0], 1)
    0.75
    """
    sizes = -np.sort(-np.abs(np.asarray(values, dtype=np.float64)))
    total = float(sizes.sum())
    return float(sizes[:E].sum()) / total if total > 0 else NAN


def jaccard(values: ArrayLike, others: ArrayLike, E: int) -> float:
    """Overlap of the E largest of two explanations, in 0..1, higher is closer.

    Returns
    -------
    float
        How many both have over how many either has; 1 if neither has any.

    Examples
    --------
    >>> jaccard([3.0, 2.0, 1.0], [3.0, 1.0, 2.0], 2)
    0.3333333333333333
    """
    ours, theirs = largest(values, E), largest(others, E)
    return len(ours & theirs) / len(ours | theirs) if ours | theirs else 1.0


def rank_correlation(values: ArrayLike, others: ArrayLike) -> float:
    """Spearman correlation of sizes, in -1..1, higher is closer.

    Returns
    -------
    float
        NaN where all sizes of one are equal.

    Examples
    --------
    >>> rank_correlation([3.0, -2.0, 1.0], [30.0, 20.0, -10.0])
    1.0
    """
    ranks = [rankdata(np.abs(clean(one))) for one in (values, others)]
    centred = [rank - rank.mean() for rank in ranks]
    spread = float(np.sqrt((centred[0] ** 2).sum() * (centred[1] ** 2).sum()))
    return float(centred[0] @ centred[1]) / spread if spread > 0 else NAN


def sign_agreement(values: ArrayLike, reference: ArrayLike, E: int) -> float:
    """Share of the reference's E largest that have the same sign, in 0..1.

    Returns
    -------
    float
        NaN if all of the reference is 0.

    Examples
    --------
    >>> sign_agreement([1.0, 1.0, -9.0], [5.0, -4.0, 1.0], 2)
    0.5
    """
    chosen = sorted(largest(reference, E))
    same = np.sign(clean(values)) == np.sign(clean(reference))
    return float(same[chosen].mean()) if chosen else NAN


def relative_error(values: ArrayLike, reference: ArrayLike) -> float:
    """Sum of absolute differences over the reference's size, from 0, lower is closer.

    Returns
    -------
    float
        NaN if all of the reference is 0.

    Examples
    --------
    >>> relative_error([1.5, -2.0], [1.0, -1.0])
    0.75
    """
    ours, theirs = np.asarray(values, np.float64), np.asarray(reference, np.float64)
    size = float(np.abs(theirs).sum())
    return float(np.abs(ours - theirs).sum()) / size if size > 0 else NAN


def seed_jaccard(runs: ArrayLike, E: int) -> float:
    """Overlap of the E largest between seeds, in 0..1, higher is more stable.

    Parameters
    ----------
    runs : array-like of shape (S, T)
        One explanation a seed.
    E : int

    Returns
    -------
    float
        Mean over all pairs of seeds; NaN with one.

    Examples
    --------
    >>> seed_jaccard([[2.0, 1.0], [2.0, 1.0], [1.0, 2.0]], 1)
    0.3333333333333333
    """
    pairs = [jaccard(a, b, E) for a, b in combinations(np.asarray(runs), 2)]
    return float(np.mean(pairs)) if pairs else NAN


def seed_sign(runs: ArrayLike, E: int) -> float:
    """Share of lines with one sign under all seeds, in 0..1, higher is more stable.

    Lines are those that any seed has among its E largest.

    Parameters
    ----------
    runs, E : see `seed_jaccard`

    Returns
    -------
    float
        NaN with one seed, or if all is 0.

    Examples
    --------
    >>> seed_sign([[2.0, 1.0, 0.1], [2.0, -1.0, -0.1]], 2)
    0.5
    """
    kept = clean(runs)
    chosen = sorted(set().union(*(largest(run, E) for run in kept)))
    if len(kept) < 2 or not chosen:
        return NAN
    signs = np.sign(kept[:, chosen])
    return float((signs == signs[0]).all(axis=0).mean())


def seed_spread(runs: ArrayLike) -> float:
    """Relate the spread over seeds to the mean size, from 0, lower is more stable.

    Parameters
    ----------
    runs : array-like of shape (S, T)

    Returns
    -------
    float
        Mean standard deviation of the lines over their mean size; NaN with one
        seed, or if all is 0.

    Examples
    --------
    >>> round(seed_spread([[1.0, 2.0], [1.0, 4.0]]), 4)
    0.3536
    """
    array = np.asarray(runs, dtype=np.float64)
    size = float(np.abs(array).mean())
    if len(array) < 2 or size == 0:
        return NAN
    # from the first run on, since the mean of equal numbers may be off by a rounding
    return float((array - array[0]).std(axis=0, ddof=1).mean()) / size


def decision_kept(
    values: Floats,
    base: Floats,
    score: Floats,
    output: int,
    E: int,
    middle: float | None = None,
) -> float:
    """Whether base + the E largest decide as the model does: 1 or 0.

    Parameters
    ----------
    values : ndarray of shape (T, C)
        Of all outputs: C classes, or 1.
    base, score : ndarray of shape (C,)
    output : int
        The E largest are those of this output, and the same for all.
    E : int
    middle : float, optional
        Of a regression: what a score is above or below. None: the largest of several
        scores decides, or the sign of one.

    Examples
    --------
    >>> values, base = np.array([[2.0], [-1.5]]), np.array([-1.0])
    >>> decision_kept(values, base, np.array([-0.5]), 0, 1)
    0.0
    >>> decision_kept(values, base, np.array([-0.5]), 0, 2)
    1.0
    """
    cut = base + values[by_size(values[:, output])[:E]].sum(axis=0)
    if len(base) > 1:
        return float(cut.argmax() == score.argmax())
    at = 0.0 if middle is None else middle
    return float((cut[0] > at) == (score[0] > at))


def truncation_error(
    values: Floats, base: float, score: float, E: int, spread: float
) -> float:
    """Distance of base + the E largest from the score, from 0, lower is better.

    Parameters
    ----------
    values : ndarray of shape (T,)
    base, score : float
    E : int
    spread : float
        Standard deviation of scores, which is the unit.

    Returns
    -------
    float
        NaN where scores have no spread.

    Examples
    --------
    >>> truncation_error(np.array([2.0, 0.5]), 1.0, 3.5, 1, spread=2.0)
    0.25
    """
    cut = base + float(values[by_size(values)[:E]].sum())
    return abs(score - cut) / spread if spread > 0 else NAN


def unexplained(values: Floats, base: float, score: float) -> float:
    """Gap of base + values to the score, over their size, from 0, lower is better.

    Returns
    -------
    float
        NaN if all values are 0.

    Examples
    --------
    >>> unexplained(np.array([1.0, -1.0]), 2.0, 2.5)
    0.25
    """
    size = float(np.abs(values).sum())
    return abs(score - base - float(values.sum())) / size if size > 0 else NAN
