"""Additive models that are tables: one of values per feature, one per pair.

A boosted additive model is nothing but bins and a value for each; so it scores, is
saved and is explained without the library that made it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from spam_core.data.encoding import NUMBER, UNKNOWN, Encoded

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
Pair = tuple[int, int]

BLOCK_ROWS = 65_536
"""Rows at once."""


@dataclass(frozen=True, eq=False)
class Bins:
    """Which bin each cell falls into.

    A feature's numbers come first, cut at `cuts`, then its levels, and last, one place
    beyond them, what training never saw. Pairs may use fewer cuts.

    Attributes
    ----------
    cuts : tuple of d ndarrays
        Increasing, in the encoder's units. A number at a cut belongs above it.
    pair_cuts : tuple of d ndarrays
        Some of `cuts`.
    n_levels : tuple of d int
    weights : tuple of d ndarrays of shape (B_i,)
        Share of the training rows in each bin of feature i; 1 in total.

    Raises
    ------
    ValueError
        If sizes disagree, or a feature's cuts don't increase or lack a pair's cut.
    """

    cuts: tuple[Floats, ...]
    pair_cuts: tuple[Floats, ...]
    n_levels: tuple[int, ...]
    weights: tuple[Floats, ...]

    def __post_init__(self) -> None:
        d = len(self.cuts)
        if not d == len(self.pair_cuts) == len(self.n_levels) == len(self.weights):
            raise ValueError(f"Expected cuts, levels and weights of {d} features")
        for i, cuts in enumerate(self.cuts):
            if (np.diff(cuts) <= 0).any() or not np.isin(self.pair_cuts[i], cuts).all():
                raise ValueError(
                    f"Expected increasing cuts of feature {i}, the pairs' among them"
                )
            size = len(cuts) + 1 + self.n_levels[i]
            if self.weights[i].shape != (size,):
                raise ValueError(
                    f"Expected {size} bins of feature {i}, got weights of shape "
                    f"{self.weights[i].shape}"
                )

    def __len__(self) -> int:
        return len(self.cuts)

    @cached_property
    def coarse(self) -> tuple[Places, ...]:
        """Bin in pairs of each bin, (B_i,)."""
        found = []
        for cuts, few, n_levels in zip(
            self.cuts, self.pair_cuts, self.n_levels, strict=True
        ):
            first = np.concatenate([[0], np.searchsorted(few, cuts, side="right")])
            levels = len(few) + 1 + np.arange(n_levels)
            found.append(np.concatenate([first, levels]).astype(np.int64))
        return tuple(found)

    @cached_property
    def pair_weights(self) -> tuple[Floats, ...]:
        """Share of the training rows in each bin of the pairs, (b_i,)."""
        return tuple(
            np.bincount(coarse, weights=weight).astype(np.float64)
            for coarse, weight in zip(self.coarse, self.weights, strict=True)
        )

    def locate(self, rows: Encoded) -> Places:
        """Return each cell's bin, (n, d); B_i for what training never saw."""
        return locate(rows, self.cuts, self.n_levels)

    def locate_pairs(self, places: Places) -> list[Places]:
        """Return each feature's bins in pairs, d arrays of shape (n,)."""
        return [
            np.append(coarse, coarse[-1] + 1)[places[:, i]]
            for i, coarse in enumerate(self.coarse)
        ]


def locate(
    rows: Encoded, cuts: tuple[Floats, ...], n_levels: tuple[int, ...]
) -> Places:
    """Return which of its feature's bins each cell falls into; see `Bins`."""
    values, codes = rows.values.numpy(), rows.codes.numpy()
    places = np.empty(codes.shape, dtype=np.int64)
    for i, (edges, levels) in enumerate(zip(cuts, n_levels, strict=True)):
        code = codes[:, i]
        number = np.searchsorted(edges, values[:, i], side="right")
        beyond = np.where(code == UNKNOWN, levels, code)
        places[:, i] = np.where(code == NUMBER, number, len(edges) + 1 + beyond)
    return places


@dataclass(frozen=True, eq=False)
class AdditiveTables:
    """A sum of tables: an intercept, one table a feature and some pairs'.

    All members of an ensemble stand side by side; the model is their weighted mean. A
    cell that training never saw contributes the average of its table over the training
    rows: the feature is left out of the sum for that row.

    Attributes
    ----------
    bins : Bins
    intercept : ndarray of shape (M, C)
        M members, C outputs.
    singles : tuple of d ndarrays of shape (M, B_i, C)
    pairs : mapping of (i, j), i < j, to ndarray of shape (M, b_i, b_j, C)
        In bins of the pairs.
    shares : ndarray of shape (M,)
        Weight of each member in the mean; 1 in total.

    Raises
    ------
    ValueError
        If shapes disagree.

    Examples
    --------
    >>> bins = Bins((np.array([0.5]),), (np.array([0.5]),), (0,), (np.full(2, 0.5),))
    >>> table = np.array([[[-1.0], [1.0]]])
    >>> model = AdditiveTables(bins, np.array([[3.0]]), (table,), {}, np.ones(1))
    >>> codes = torch.full((2, 1), NUMBER, dtype=torch.int32)
    >>> rows = Encoded(torch.tensor([[0.2], [0.5]]).double(), codes)
    >>> model.score(rows).tolist()
    [[2.0], [4.0]]
    """

    bins: Bins
    intercept: Floats
    singles: tuple[Floats, ...]
    pairs: Mapping[Pair, Floats]
    shares: Floats

    def __post_init__(self) -> None:
        members, outputs = self.intercept.shape
        wanted: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
            "shares": (self.shares.shape, (members,))
        }
        if len(self.singles) != len(self.bins):
            raise ValueError(
                f"Expected a table for each of {len(self.bins)} features, got "
                f"{len(self.singles)}"
            )
        for i, table in enumerate(self.singles):
            size = len(self.bins.weights[i])
            wanted[f"table {i}"] = table.shape, (members, size, outputs)
        for (i, j), table in self.pairs.items():
            if not 0 <= i < j < len(self.bins):
                raise ValueError(f"Expected pairs of two features, got {(i, j)}")
            sizes = (len(self.bins.pair_weights[k]) for k in (i, j))
            wanted[f"table {i, j}"] = table.shape, (members, *sizes, outputs)
        for name, (got, expected) in wanted.items():
            if got != expected:
                raise ValueError(f"Expected {name} of shape {expected}, got {got}")

    @property
    def n_members(self) -> int:
        """M."""
        return len(self.intercept)

    @property
    def n_outputs(self) -> int:
        """C."""
        return int(self.intercept.shape[1])

    @property
    def n_parameters(self) -> int:
        """Numbers in the tables of one member."""
        sizes = [self.n_outputs, *(table[0].size for table in self.singles)]
        return int(sum(sizes) + sum(table[0].size for table in self.pairs.values()))

    @cached_property
    def mean(self) -> AdditiveTables:
        """The members' mean, as a model of one member."""
        if self.n_members == 1:
            return self

        def mix(table: Floats) -> Floats:
            return np.tensordot(self.shares, table, axes=1)[None]

        return AdditiveTables(
            self.bins,
            mix(self.intercept),
            tuple(map(mix, self.singles)),
            {pair: mix(table) for pair, table in self.pairs.items()},
            np.ones(1),
        )

    def member(self, index: int) -> AdditiveTables:
        """Return one member as a model of its own."""
        one = slice(index, index + 1)
        return AdditiveTables(
            self.bins,
            self.intercept[one],
            tuple(table[one] for table in self.singles),
            {pair: table[one] for pair, table in self.pairs.items()},
            np.ones(1),
        )

    @cached_property
    def pure(self) -> AdditiveTables:
        r"""The same model with terms that have mean 0 over each of their features.

        The functional ANOVA under the product of the training marginals, which is
        exact in one step: with :math:`r_i`, :math:`c_j` and :math:`m` a pair's means
        over j, over i and over both, the pair keeps :math:`t - r_i - c_j + m`, its
        features get :math:`r_i - m` and :math:`c_j - m`, and the intercept gets m.

        Examples
        --------
        >>> cuts, half = np.array([0.5]), np.full(2, 0.5)
        >>> bins = Bins((cuts, cuts), (cuts, cuts), (0, 0), (half, half))
        >>> product = np.array([[[[0.0], [0.0]], [[0.0], [4.0]]]])
        >>> flat = np.zeros((1, 2, 1))
        >>> model = AdditiveTables(
        ...     bins, np.zeros((1, 1)), (flat, flat), {(0, 1): product}, np.ones(1)
        ... )
        >>> model.pure.intercept.item(), model.pure.singles[0].ravel().tolist()
        (1.0, [-1.0, 1.0])
        >>> model.pure.pairs[0, 1].ravel().tolist()
        [1.0, -1.0, -1.0, 1.0]
        """
        bins, intercept = self.bins, self.intercept.copy()
        singles = [table.copy() for table in self.singles]
        pairs = {}
        for (i, j), table in self.pairs.items():
            p, q = bins.pair_weights[i], bins.pair_weights[j]
            over_j = np.einsum("b,mabc->mac", q, table)
            over_i = np.einsum("a,mabc->mbc", p, table)
            middle = np.einsum("a,mac->mc", p, over_j)
            pairs[i, j] = (
                table - over_j[:, :, None] - over_i[:, None] + middle[:, None, None]
            )
            singles[i] += (over_j - middle[:, None])[:, bins.coarse[i]]
            singles[j] += (over_i - middle[:, None])[:, bins.coarse[j]]
            intercept += middle
        for table, weight in zip(singles, bins.weights, strict=True):
            middle = np.einsum("b,mbc->mc", weight, table)
            table -= middle[:, None]
            intercept += middle
        return AdditiveTables(bins, intercept, tuple(singles), pairs, self.shares)

    @cached_property
    def padded(self) -> tuple[list[Floats], dict[Pair, Floats]]:
        """The mean's tables, singles (B_i + 1, C) and pairs (b_i + 1, b_j + 1, C).

        The last place is that of what training never saw, which has the average over
        the training rows.
        """
        bins, mean = self.bins, self.mean
        singles = [
            np.concatenate([table[0], (weight @ table[0])[None]])
            for table, weight in zip(mean.singles, bins.weights, strict=True)
        ]
        pairs = {}
        for (i, j), table in mean.pairs.items():
            p, q = bins.pair_weights[i], bins.pair_weights[j]
            rows = np.concatenate([table[0], np.tensordot(p, table[0], 1)[None]])
            column = np.einsum("b,abc->ac", q, rows)
            pairs[i, j] = np.concatenate([rows, column[:, None]], axis=1)
        return singles, pairs

    def single(self, i: int, places: Places) -> Floats:
        """Values of feature i's table at some bins, (n, C)."""
        return self.padded[0][i][places]

    def pair(self, pair: Pair, first: Places, second: Places) -> Floats:
        """Values of a pair's table at some bins of the pairs, (n, C)."""
        return self.padded[1][pair][first, second]

    def score(self, rows: Encoded) -> Tensor:
        """Scores of shape (n, C), float64."""
        total = np.repeat(self.mean.intercept, len(rows), axis=0)
        for start in range(0, len(rows), BLOCK_ROWS):
            block = total[start : start + BLOCK_ROWS]
            places = self.bins.locate(rows[start : start + BLOCK_ROWS])
            coarse = self.bins.locate_pairs(places)
            for i in range(len(self.bins)):
                block += self.single(i, places[:, i])
            for i, j in self.pairs:
                block += self.pair((i, j), coarse[i], coarse[j])
        return torch.from_numpy(total)
