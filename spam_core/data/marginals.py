"""Knots of a numeric column, and its training distribution as a few weighted nodes.

Every pure term is an expectation under the product of the training marginals. A
marginal is kept as nodes and weights, not as training rows: three Gauss nodes in each
cell between knots give the mean of any polynomial of degree five or less within the
cell exactly, which is all that a piecewise-linear map needs up to order 4.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def choose_knots(values: Floats, n_cells: int) -> Floats:
    """Choose knots so that cells hold about equally many rows, spikes apart.

    Parameters
    ----------
    values : ndarray of shape (n,)
        The column's training values without missing ones.
    n_cells : int
        At most this many cells, hence `n_cells` + 1 knots.

    Returns
    -------
    ndarray of shape (at most n_cells + 1,)
        Increasing; the smallest and the largest value are always among them.

    Notes
    -----
    With few distinct values each is a knot. Otherwise a value that alone holds its
    share of the rows (a spike, such as the zeros of capital gain) gets a knot of its
    own, and the quantiles of the remaining rows give the others.

    Examples
    --------
    >>> choose_knots(np.array([0.0, 0.0, 5.0]), 8)
    array([0., 5.])
    """
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) <= n_cells + 1:
        return distinct
    spike = np.zeros(len(distinct), dtype=bool)
    spike[[0, -1]] = True  # the range's ends are always knots
    while True:
        left = n_cells + 1 - int(spike.sum())
        if left <= 0:
            break
        share = counts[~spike].sum() / left
        more = ~spike & (counts >= share)
        if not more.any():
            break
        # the heaviest first, so that there are never more spikes than knots
        candidates = np.flatnonzero(more)
        heaviest = candidates[np.argsort(-counts[candidates], kind="stable")][:left]
        spike[heaviest] = True
    left = n_cells + 1 - int(spike.sum())
    knots = distinct[spike]
    if left > 0:
        rest, rest_counts = distinct[~spike], counts[~spike]
        cumulative = np.cumsum(rest_counts)
        targets = (np.arange(left) + 0.5) / left * cumulative[-1]
        knots = np.concatenate([knots, rest[np.searchsorted(cumulative, targets)]])
    return np.unique(knots)


def gauss_nodes(
    position: Floats, weight: Floats, n_cells: int
) -> tuple[Floats, Floats]:
    """Replace a weighted sample by at most three nodes in each unit cell.

    Parameters
    ----------
    position : ndarray of shape (n,)
        Positions in [0, n_cells]; cell k is [k, k + 1).
    weight : ndarray of shape (n,)
        Positive weights.
    n_cells : int
        Number of cells.

    Returns
    -------
    nodes, weights : ndarray of shape (m,), m <= 3 * (n_cells + 1)
        In each cell the weighted sums of position**k, k = 0..5, are those of the
        sample. Cells with at most three distinct positions keep them as they are.

    Notes
    -----
    Stieltjes' procedure gives the three-term recurrence of the polynomials that are
    orthogonal under the cell's sample; the eigenvalues of the Jacobi matrix are the
    nodes (Golub and Welsch, 1969).

    Examples
    --------
    >>> x = np.linspace(0, 1, 101)[:-1]
    >>> nodes, weights = gauss_nodes(x, np.ones(100), 1)
    >>> len(nodes), bool(np.isclose((weights * nodes**5).sum(), (x**5).sum()))
    (3, True)
    """
    distinct, inverse = np.unique(position, return_inverse=True)
    mass = np.bincount(inverse, weights=weight).astype(np.float64)
    cell = np.minimum(distinct.astype(np.int64), n_cells)
    n = n_cells + 1
    count = np.bincount(cell, minlength=n)
    few = count[cell] <= 3
    kept_nodes, kept_mass = distinct[few], mass[few]
    if few.all():
        return kept_nodes, kept_mass
    cell, x, w = cell[~few], distinct[~few] - cell[~few], mass[~few]

    def total(terms: Floats) -> Floats:
        return np.bincount(cell, weights=terms, minlength=n).astype(np.float64)

    cells = np.flatnonzero(np.bincount(cell, minlength=n))
    with np.errstate(invalid="ignore", divide="ignore"):
        norm0 = total(w)
        a0 = total(w * x) / norm0
        p1 = x - a0[cell]
        norm1 = total(w * p1**2)
        a1 = total(w * x * p1**2) / norm1
        b1 = norm1 / norm0
        p2 = (x - a1[cell]) * p1 - b1[cell]
        norm2 = total(w * p2**2)
        a2 = total(w * x * p2**2) / norm2
        b2 = norm2 / norm1
    jacobi = np.zeros((len(cells), 3, 3))
    for k, a in enumerate((a0, a1, a2)):
        jacobi[:, k, k] = a[cells]
    for k, b in enumerate((b1, b2)):
        jacobi[:, k, k + 1] = jacobi[:, k + 1, k] = np.sqrt(b[cells])
    eigenvalues, vectors = np.linalg.eigh(jacobi)
    own_nodes = (eigenvalues + cells[:, None]).ravel()
    own_mass = (norm0[cells, None] * vectors[:, 0, :] ** 2).ravel()
    nodes: Floats = np.concatenate([kept_nodes, own_nodes])
    masses: Floats = np.concatenate([kept_mass, own_mass])
    order = np.argsort(nodes, kind="stable")
    return nodes[order], masses[order]
