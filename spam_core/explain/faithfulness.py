"""Measures of explanations that need the model: fidelity, deletion and insertion.

All ask for the model's mean score when some columns are the row's and the others come
from background rows: the game that Shapley values are about. A column that the
background can't change belongs to every coalition.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spam_core.explain.frozen import Floats
from spam_core.explain.kernel_shap import Game
from spam_core.explain.quality import NAN, by_size

Masks = NDArray[np.bool_]
Orders = NDArray[np.intp]

N_RANDOM = 20
"""Random orders that deletion and insertion are measured against."""

_ROUNDING = 1e-12  # of the scores: what is smaller is no change


@dataclass(frozen=True)
class Answers:
    """What a model answered about coalitions of one row's columns.

    Attributes
    ----------
    coalitions : bool ndarray of shape (m, d)
        Drawn; True where a column is present.
    values : ndarray of shape (m, C)
        Their mean scores.
    deletion, insertion : ndarray of shape (K, d + 1, C)
        For each of K orders, how far the mean score is from the row's without the k
        first columns, and with only these; k = 0..d.
    n_varying : int
        Columns that the background can change. They come first in every order.
    """

    coalitions: Masks
    values: Floats
    deletion: Floats
    insertion: Floats
    n_varying: int


def ask(game: Game, orders: Orders, n_coalitions: int, seed: int) -> Answers:
    """Score all coalitions that the measures of one row need, each of them once.

    Parameters
    ----------
    game : Game
        The row against its background.
    orders : ndarray of shape (K, d)
        Orders in which columns are taken away and put back.
    n_coalitions : int
        To draw.
    seed : int

    Returns
    -------
    Answers
    """
    drawn = draw_coalitions(game.varying, n_coalitions, seed)
    first = np.stack([_first(order) for order in orders])
    shape = first.shape
    masks = np.concatenate([drawn, *~first, *first]) | ~game.varying
    distinct, where = np.unique(masks, axis=0, return_inverse=True)
    values = game.value(distinct)[where.reshape(-1)]
    removed = values[len(drawn) :].reshape(2, *shape[:2], -1)
    changes = np.abs(removed - removed[0, 0, 0])  # nothing is taken away there
    changes[changes < _ROUNDING * np.abs(values).max()] = 0.0
    return Answers(
        masks[: len(drawn)],
        values[: len(drawn)],
        changes[0],
        changes[1],
        int(game.varying.sum()),
    )


def draw_coalitions(varying: Masks, n: int, seed: int) -> Masks:
    """Draw coalitions that hold each varying column with probability 1/2.

    Parameters
    ----------
    varying : bool ndarray of shape (d,)
        Other columns are in every coalition.
    n : int
    seed : int

    Returns
    -------
    bool ndarray of shape (m, d)
        n rows; or all coalitions, once each, if there are no more than n.

    Examples
    --------
    >>> draw_coalitions(np.array([True, False, True]), 4, 0).astype(int).tolist()
    [[0, 1, 0], [1, 1, 0], [0, 1, 1], [1, 1, 1]]
    """
    players = np.flatnonzero(varying)
    coalitions = np.ones((n, len(varying)), dtype=bool)
    if len(players) < 63 and 2 ** len(players) <= n:
        every = np.arange(2 ** len(players))
        coalitions = coalitions[: len(every)]
        coalitions[:, players] = every[:, None] >> np.arange(len(players)) & 1
    else:
        draws = np.random.default_rng(seed).random((n, len(players)))
        coalitions[:, players] = draws < 0.5
    return coalitions


def random_orders(varying: Masks, seed: int, n: int = N_RANDOM) -> Orders:
    """Draw orders of the columns, those that can't vary last.

    Each order comes with its reverse: what one takes away the other puts back, so that
    half of the coalitions do for both.

    Parameters
    ----------
    varying : bool ndarray of shape (d,)
    seed : int
    n : int, default=20
        Even.

    Returns
    -------
    ndarray of shape (n, d)
    """
    players, others = np.flatnonzero(varying), np.flatnonzero(~varying)
    rng = np.random.default_rng(seed)
    half = [rng.permutation(players) for _ in range(n // 2)]
    both = [*half, *(order[::-1] for order in half)]
    return np.stack([np.concatenate([order, others]) for order in both])


def size_order(values: Floats, varying: Masks) -> Orders:
    """Order columns from the largest absolute value down, those that can't vary last.

    Examples
    --------
    >>> varying = np.array([True, False, True])
    >>> size_order(np.array([1.0, 9.0, -2.0]), varying).tolist()
    [2, 0, 1]
    """
    order = by_size(values)
    return np.concatenate([order[varying[order]], order[~varying[order]]])


def _first(order: Orders) -> Masks:
    """Masks of shape (d + 1, d) of the k first columns of an order, k = 0..d."""
    place = np.argsort(order)
    first: Masks = place < np.arange(len(order) + 1)[:, None]
    return first


def fidelity(
    values: Floats, members: Masks, base: float, coalitions: Masks, scores: Floats
) -> Floats:
    """R2 of base + what is present, with the E largest values alone, for every E.

    Parameters
    ----------
    values : ndarray of shape (T,)
    members : bool ndarray of shape (T, d)
        Columns of each term, which is present if all of them are.
    base : float
    coalitions : bool ndarray of shape (m, d)
    scores : ndarray of shape (m,)
        What the model says of them.

    Returns
    -------
    ndarray of shape (T,)
        For E = 1..T. Up to 1, higher is better; below 0 it is worse than a constant.
        NaN if all coalitions score the same.

    Examples
    --------
    >>> coalitions = draw_coalitions(np.ones(2, dtype=bool), 4, 0)
    >>> scores = coalitions @ np.array([3.0, -1.0]) + 10.0
    >>> one_each = np.eye(2, dtype=bool)
    >>> fidelity(np.array([3.0, -1.0]), one_each, 10.0, coalitions, scores).tolist()
    [0.8, 1.0]
    """
    order = by_size(values)
    # counts of columns: a matrix product says which terms have all of theirs
    counts = coalitions.astype(np.float64) @ members[order].T.astype(np.float64)
    present = counts == members[order].sum(axis=1)
    totals = base + np.cumsum(present * values[order], axis=1)
    spread = float(((scores - scores.mean()) ** 2).sum())
    if spread <= _ROUNDING**2 * float((scores**2).sum()):
        return np.full(len(values), NAN)
    r2: Floats = 1.0 - ((scores[:, None] - totals) ** 2).sum(axis=0) / spread
    return r2


def against_random(curve: Floats, random: Floats, n_varying: int) -> float:
    """Mean of a deletion or insertion curve over that of random orders.

    Parameters
    ----------
    curve : ndarray of shape (d + 1,)
    random : ndarray of shape (K, d + 1)
    n_varying : int
        From here on nothing changes, in any order: that part isn't counted.

    Returns
    -------
    float
        From 0. Deletion: above 1 is better than random; insertion: below 1 is. NaN if
        no column changes anything.

    Examples
    --------
    >>> against_random(np.array([0.0, 3.0, 3.0]), np.array([[0.0, 1.0, 3.0]]), 2)
    1.5
    """
    expected = float(random[:, : n_varying + 1].mean())
    mean = float(curve[: n_varying + 1].mean())
    return mean / expected if expected > 0 else NAN
