"""From trained networks of one and of two columns to tables of their values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from spam_core.data.encoding import NUMBER, Encoded, Feature
from spam_core.models.additive import PairNetworks
from spam_core.models.tables import AdditiveTables, Bins, Pair, Places, locate

Floats = NDArray[np.float64]

_CELLS = 256  # of a column
_PAIR_CELLS = 128  # of a column in a pair, at most
_MOST_VALUES = 8_000_000  # in the pairs' tables of all members: 64 MB


def scaled_rows(rows: Encoded, features: Sequence[Feature]) -> Encoded:
    """Turn numbers in user units into quantiles in [0, 1], as networks see them."""
    values = rows.values.numpy()
    scaled = np.stack(
        [
            feature.to_scaled(values[:, i], "quantile")
            if feature.n_cells
            else np.zeros(len(values))
            for i, feature in enumerate(features)
        ],
        axis=1,
    )
    # cells without a number hold anything, which is looked at by nobody
    scaled[rows.codes.numpy() != NUMBER] = 0.0
    return Encoded(torch.from_numpy(scaled), rows.codes)


@torch.no_grad()
def tables_of(
    networks: PairNetworks,
    features: Sequence[Feature],
    rows: Encoded,
    weight: Floats,
    offset: float = 0.0,
    factor: float = 1.0,
) -> AdditiveTables:
    """Ask the networks once for each cell of a grid.

    A cell of numbers is asked for at the mean of the training rows in it, so a network
    that is straight there has the right mean. Values of several classes are centred
    over these.

    Parameters
    ----------
    networks : PairNetworks
        In float64.
    features : sequence of Feature
    rows : Encoded
        Training rows, in user units.
    weight : ndarray of shape (n,)
    offset, factor : float
        Undo the target's standardisation.
    """
    networks.eval()
    bins = _bins(networks, features, rows, weight)
    places = bins.locate(rows)
    scaled = scaled_rows(rows, features).values.numpy()
    members, outputs = networks.n_members, networks.n_outputs
    fine: list[Tensor] = []
    coarse: list[Tensor] = []
    for i, feature in enumerate(features):
        for asked, cuts, bin_of in (
            (fine, bins.cuts[i], places[:, i]),
            (coarse, bins.pair_cuts[i], bins.coarse[i][places[:, i]]),
        ):
            middles = _middles(bin_of, scaled[:, i], weight, len(cuts) + 1)
            asked.append(_asked(networks, middles, len(feature.levels)))
    at = {i: k for k, i in enumerate(networks.features.tolist())}

    def centred(table: Tensor) -> Floats:
        array = factor * table.numpy()
        if outputs > 1:
            array = array - array.mean(axis=-1, keepdims=True)
        return np.ascontiguousarray(array)

    singles = []
    for i in range(len(features)):
        if i not in at:
            singles.append(np.zeros((members, len(bins.weights[i]), outputs)))
            continue
        singles.append(centred(networks.one(at[i], fine[i])))
    pairs: dict[Pair, Floats] = {}
    for k, (i, j) in enumerate(networks.pairs):
        a, b = len(coarse[i]), len(coarse[j])
        table = networks.two(
            k, coarse[i].repeat_interleave(b, 0), coarse[j].repeat(a, 1)
        )
        pairs[i, j] = centred(table.unflatten(1, (a, b)))
    intercept = centred(networks.bias) + offset
    shares = np.full(members, 1 / members)
    return AdditiveTables(bins, intercept, tuple(singles), pairs, shares)


def _bins(
    networks: PairNetworks,
    features: Sequence[Feature],
    rows: Encoded,
    weight: Floats,
) -> Bins:
    """Cut each column of numbers between values, and at quantiles where they are many.

    Cuts of pairs are some of these.
    """
    room = _MOST_VALUES / max(
        len(networks.pairs) * networks.n_members * networks.n_outputs, 1
    )
    most = min(_PAIR_CELLS, max(2, int(room**0.5)))
    values, codes = rows.values.numpy(), rows.codes.numpy()
    cuts, pair_cuts, weights = [], [], []
    for i, feature in enumerate(features):
        numbers = values[codes[:, i] == NUMBER, i] if feature.n_cells else np.empty(0)
        own = _cuts(numbers, _CELLS)
        step = -(-(len(own) + 1) // most)  # rounded up
        cuts.append(own)
        pair_cuts.append(own[step - 1 :: step] if len(own) else own)
    n_levels = tuple(len(feature.levels) for feature in features)
    places = locate(rows, tuple(cuts), n_levels)
    for i, (edges, levels) in enumerate(zip(cuts, n_levels, strict=True)):
        mass = np.bincount(places[:, i], weight, len(edges) + 1 + levels)
        weights.append(mass / mass.sum())
    return Bins(tuple(cuts), tuple(pair_cuts), n_levels, tuple(weights))


def _cuts(numbers: Floats, cells: int) -> Floats:
    """Return at most ``cells - 1`` cuts between the numbers, each cell with some.

    Examples
    --------
    >>> _cuts(np.array([1.0, 2.0, 2.0, 5.0]), 256).tolist()
    [1.5, 3.5]
    """
    distinct, counts = np.unique(numbers, return_counts=True)
    if len(distinct) < 2:
        return np.empty(0)
    if len(distinct) > cells:
        # the value at which each cell begins; frequent ones are cells of their own
        below = np.cumsum(counts)[:-1]
        wanted = np.linspace(0, len(numbers), cells + 1)[1:-1]
        start = np.unique(1 + np.searchsorted(below, wanted).clip(0, len(below) - 1))
    else:
        start = np.arange(1, len(distinct))
    low, high = distinct[start - 1], distinct[start]
    middle = low / 2 + high / 2  # their sum, or their difference, may overflow
    # of two neighbouring floats the middle is one of them, and a cut belongs above
    return np.unique(np.where((low < middle) & (middle < high), middle, high))


def _middles(places: Places, scaled: Floats, weight: Floats, size: int) -> Floats:
    """Return the mean of the scaled numbers in each bin of numbers.

    A column of levels alone has one such bin, which nothing falls into.
    """
    mass, total = (
        np.bincount(places, by, size)[:size] for by in (weight, weight * scaled)
    )
    return total / np.where(mass > 0, mass, 1.0)


def _asked(networks: PairNetworks, middles: Floats, n_levels: int) -> Tensor:
    """Return what networks see of each bin of a column, (B, 1 + most levels)."""
    inputs = torch.zeros(
        len(middles) + n_levels, 1 + networks.n_levels, dtype=torch.float64
    )
    inputs[: len(middles), 0] = torch.from_numpy(2 * middles - 1)
    for k in range(n_levels):
        inputs[len(middles) + k, 1 + k] = 1.0
    return inputs
