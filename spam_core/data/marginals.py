"""Knots of a numeric column, and its training distribution as a few weighted nodes.

Every pure term is an expectation under the product of the training marginals. A
marginal is kept as nodes and weights, not as training rows: three Gauss nodes in each
cell between knots give the mean of any polynomial of degree five or less within the
cell exactly, which is all that a piecewise-linear map needs up to order 4.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spam_core.data.encoded import NUMBER, Codes

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_FINE_CELLS = 1024  # resolution where the map isn't piecewise linear


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
    mass: Floats = np.bincount(inverse, weights=weight).astype(np.float64)
    cell = np.minimum(distinct.astype(np.int64), n_cells)
    few = np.bincount(cell, minlength=n_cells + 1)[cell] <= 3
    nodes, masses = [distinct[few]], [mass[few]]
    if not few.all():
        own_nodes, own_masses = _three_nodes(distinct[~few], mass[~few], cell[~few])
        nodes.append(own_nodes)
        masses.append(own_masses)
    all_nodes = np.concatenate(nodes)
    order = np.argsort(all_nodes, kind="stable")
    return all_nodes[order], np.concatenate(masses)[order]


def _three_nodes(position: Floats, mass: Floats, cell: Ints) -> tuple[Floats, Floats]:
    """Nodes and weights of cells with more than three positions each.

    Parameters
    ----------
    position, mass, cell : ndarray of shape (n,)
        Ordered by cell.
    """
    starts = np.flatnonzero(np.diff(cell, prepend=-1))
    owner = np.cumsum(np.diff(cell, prepend=cell[0]) != 0)
    ends = np.append(starts[1:], len(cell)) - 1
    low, width = position[starts], position[ends] - position[starts]
    # in units of what the cell's sample spans, and of its mass: however close together
    # or light its rows are, nothing underflows
    x = (position - low[owner]) / width[owner]
    total = np.add.reduceat(mass, starts)
    w = mass / total[owner]

    def mean(terms: Floats) -> Floats:
        return np.add.reduceat(w * terms, starts)

    a0 = mean(x)
    p1 = x - a0[owner]
    b1 = mean(p1**2)
    a1 = mean(x * p1**2) / b1
    p2 = (x - a1[owner]) * p1 - b1[owner]
    norm2 = mean(p2**2)
    some = norm2 > 0  # else two nodes say all
    a2 = np.divide(mean(x * p2**2), norm2, out=np.zeros_like(norm2), where=some)
    jacobi = np.zeros((len(starts), 3, 3))
    for k, diagonal in enumerate((a0, a1, a2)):
        jacobi[:, k, k] = diagonal
    for k, beside in enumerate((b1, norm2 / b1)):
        jacobi[:, k, k + 1] = jacobi[:, k + 1, k] = np.sqrt(beside)
    eigenvalues, vectors = np.linalg.eigh(jacobi)
    nodes = low[:, None] + width[:, None] * eigenvalues.clip(0, 1)
    masses = total[:, None] * vectors[:, 0, :] ** 2
    return nodes.ravel(), masses.ravel()


def marginal_of(
    values: Floats,
    codes: Codes,
    weight: Floats,
    *,
    n_levels: int,
    n_cells: int,
    evenly: bool,
    fine: bool = False,
) -> tuple[Floats, Codes, Floats]:
    """Make the nodes of one feature's training distribution.

    Parameters
    ----------
    values, codes : ndarray of shape (n,)
        As of `Encoded`.
    weight : ndarray of shape (n,)
        Sums to 1.
    n_levels, n_cells : int
        Of the feature.
    evenly : bool
        Whether the cells divide [0, 1] evenly.
    fine : bool
        Keep up to 1,024 cells.

    Returns
    -------
    tuple of ndarray of shape (K,)
        Values, codes and weights of the nodes: of numbers, then one for each level.
    """
    number = codes == NUMBER
    level_mass = np.bincount(
        codes[~number], weights=weight[~number], minlength=n_levels
    )
    nodes, mass = np.empty(0), np.empty(0)
    if number.any():
        z, w = values[number], weight[number]
        if fine or not evenly:
            grid = choose_knots(z, max(_FINE_CELLS if fine else n_cells, 1))
            position = np.interp(z, grid, np.arange(len(grid)))
            nodes, mass = gauss_nodes(position, w, len(grid) - 1)
            nodes = np.interp(nodes, np.arange(len(grid)), grid)
        else:
            cells = max(n_cells, 1)
            nodes, mass = gauss_nodes(z * cells, w, cells)
            nodes = nodes / cells
    all_codes = [np.full(len(nodes), NUMBER), np.arange(n_levels)]
    return (
        np.concatenate([nodes, np.zeros(n_levels)]),
        np.concatenate(all_codes).astype(np.int32),
        np.concatenate([mass, level_mass]),
    )
