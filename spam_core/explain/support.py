"""Where a pair of features has training rows, coarsely and without keeping rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spam_core.data.encoding import NUMBER, Encoded

_MOST_BINS = 32
_ROWS_PER_CELL = 4  # aimed at if two features are independent


@dataclass(frozen=True, eq=False)
class JointSupport:
    """For some pairs of features, which cells of a coarse grid hold training rows.

    Attributes
    ----------
    cuts : tuple of ndarray
        For each feature where its bins of numbers end, in scaled units; k cuts make
        k + 1 bins. Levels follow as bins of their own.
    cells : mapping of (i, j), i < j, to bool ndarray of shape (bins_i, bins_j)

    Examples
    --------
    >>> import torch
    >>> values = torch.tensor([[0.0, 0.0], [1.0, 1.0]]).double()
    >>> rows = Encoded(values, torch.full((2, 2), NUMBER, dtype=torch.int32))
    >>> support = JointSupport.of(rows, [0, 0], [(0, 1)])
    >>> support.mask(0, 1, rows, rows).tolist()
    [[True, False], [False, True]]
    """

    cuts: tuple[NDArray[np.float64], ...]
    cells: Mapping[tuple[int, int], NDArray[np.bool_]]

    @classmethod
    def of(
        cls, rows: Encoded, n_levels: Sequence[int], pairs: Sequence[tuple[int, int]]
    ) -> JointSupport:
        """Count training rows in the cells of each pair.

        Parameters
        ----------
        rows : Encoded
            Training rows.
        n_levels : sequence of int
            Levels of each feature.
        pairs : sequence of (i, j)
            Pairs to look at.
        """
        values, codes = rows.values.numpy(), rows.codes.numpy()
        most = int(np.clip((len(rows) / _ROWS_PER_CELL) ** 0.5, 3, _MOST_BINS))
        cuts = tuple(
            _cuts(values[codes[:, i] == NUMBER, i], most) for i in range(len(n_levels))
        )
        wanted = {i for pair in pairs for i in pair}
        bins = {i: _bins(cuts[i], values[:, i], codes[:, i]) for i in wanted}
        sizes = [len(c) + 1 + n for c, n in zip(cuts, n_levels, strict=True)]
        cells = {}
        for i, j in pairs:
            cell = bins[i] * sizes[j] + bins[j]
            seen = np.bincount(cell, minlength=sizes[i] * sizes[j]) > 0
            cells[i, j] = seen.reshape(sizes[i], sizes[j])
        return cls(cuts, cells)

    def mask(
        self, i: int, j: int, rows_i: Encoded, rows_j: Encoded
    ) -> NDArray[np.bool_] | None:
        """Say which combinations of values have training rows nearby.

        Parameters
        ----------
        i, j : int
            Features.
        rows_i, rows_j : Encoded
            Their values stand in columns i and j, of n_i and n_j rows.

        Returns
        -------
        bool ndarray of shape (n_i, n_j), or None if the pair wasn't looked at
        """
        if i > j:
            flipped = self.mask(j, i, rows_j, rows_i)
            return None if flipped is None else flipped.T
        if (i, j) not in self.cells:
            return None
        x = _bins(self.cuts[i], rows_i.values[:, i].numpy(), rows_i.codes[:, i].numpy())
        y = _bins(self.cuts[j], rows_j.values[:, j].numpy(), rows_j.codes[:, j].numpy())
        return self.cells[i, j][np.ix_(x, y)]

    def to_arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return plain arrays that `from_arrays` reads."""
        pairs = np.array(sorted(self.cells), dtype=np.int32).reshape(-1, 2)
        flat = [self.cells[i, j].ravel() for i, j in pairs.tolist()]
        shapes = [self.cells[i, j].shape for i, j in pairs.tolist()]
        everything = np.concatenate(flat) if flat else np.zeros(0, dtype=bool)
        return {
            "pairs": pairs,
            "shapes": np.array(shapes, dtype=np.int32).reshape(-1, 2),
            "cells": np.packbits(everything),
            "n_cuts": np.array([len(c) for c in self.cuts], dtype=np.int32),
            "cuts": np.concatenate([*self.cuts, np.zeros(0)]),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.generic]]) -> JointSupport:
        """Rebuild what `to_arrays` gave."""
        ends = np.cumsum(arrays["n_cuts"])
        cuts = np.split(np.asarray(arrays["cuts"], dtype=np.float64), ends[:-1])
        shapes = np.asarray(arrays["shapes"]).reshape(-1, 2)
        sizes = shapes.prod(axis=1)
        bits = np.unpackbits(np.asarray(arrays["cells"], dtype=np.uint8))
        flat = bits[: int(sizes.sum())].astype(bool)
        cells = {}
        start = 0
        pairs = np.asarray(arrays["pairs"]).reshape(-1, 2)
        for (i, j), shape, size in zip(pairs.tolist(), shapes, sizes, strict=True):
            cells[i, j] = flat[start : start + int(size)].reshape(shape)
            start += int(size)
        return cls(tuple(cuts), cells)


def _cuts(numbers: NDArray[np.float64], most: int) -> NDArray[np.float64]:
    """Cut points between at most this many bins of about equally many rows."""
    distinct = np.unique(numbers)
    if len(distinct) <= most:
        return (distinct[1:] + distinct[:-1]) / 2
    inner = np.linspace(0.0, 1.0, most + 1)[1:-1]
    return np.unique(np.quantile(numbers, inner))


def _bins(
    cuts: NDArray[np.float64], values: NDArray[np.float64], codes: NDArray[np.int32]
) -> NDArray[np.int64]:
    number = np.searchsorted(cuts, values, side="right")
    return np.where(codes == NUMBER, number, len(cuts) + 1 + codes)
