"""Rows and marginals as tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

NUMBER = -1
"""Code of a cell that holds an ordinary number."""
UNKNOWN = -2
"""Code of a cell that training never saw: a new level, or a first missing value."""

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]


@dataclass(frozen=True)
class Encoded:
    """Rows as tensors.

    Attributes
    ----------
    values : Tensor of shape (n, d)
        Scaled numbers; 0 where a cell holds none.
    codes : Tensor of shape (n, d), int32
        -1 a number, -2 unknown, else the index of the feature's level.
    """

    values: Tensor
    codes: Tensor

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: Tensor | slice) -> Encoded:
        return Encoded(self.values[rows], self.codes[rows])

    def to(self, device: torch.device | str, dtype: torch.dtype) -> Encoded:
        """Move to a device and cast the values."""
        return Encoded(self.values.to(device, dtype), self.codes.to(device))

    @cached_property
    def all_numbers(self) -> bool:
        """Whether every cell holds an ordinary number."""
        return bool((self.codes == NUMBER).all())

    def blurred_columns(self) -> list[int]:
        """Columns whose numbers have fewer than 1,000 steps in single precision."""
        found, single = [], np.finfo(np.float32)
        for i in range(self.codes.shape[1]):
            values = self.values[self.codes[:, i] == NUMBER, i].numpy()
            if len(values):
                low, high = float(values.min()), float(values.max())
                size = max(abs(low), abs(high))
                step = max(float(single.eps) * size, float(single.smallest_subnormal))
                if size > single.max:
                    step = math.inf
                if 0 < high - low < 1000 * step:
                    found.append(i)
        return found

    @property
    def unknown(self) -> Tensor:
        """Mask of shape (n, d): cells that training never saw."""
        return self.codes == UNKNOWN


@dataclass(frozen=True)
class Marginals:
    """Each feature's training distribution as weighted nodes.

    Attributes
    ----------
    nodes : Encoded of shape (N, d)
        Row k, column i is node k of feature i; features don't belong together in a row.
    weights : Tensor of shape (N, d), float64
        Columns sum to 1; padding has weight 0.
    """

    nodes: Encoded
    weights: Tensor


def stack(columns: Sequence[tuple[Floats, Codes]]) -> Encoded:
    """Put d columns of n values and codes side by side."""
    values = np.stack([values for values, _ in columns], axis=1)
    codes = np.stack([codes for _, codes in columns], axis=1)
    return Encoded(torch.from_numpy(values), torch.from_numpy(codes))


def pad(marginals: Sequence[tuple[Floats, Codes, Floats]]) -> Marginals:
    """Put the nodes, codes and weights of d features side by side."""
    size = max(len(mass) for *_, mass in marginals)
    shape = (size, len(marginals))
    values, weights = np.zeros(shape), np.zeros(shape)
    codes = np.full(shape, NUMBER, dtype=np.int32)
    for i, (nodes, node_codes, mass) in enumerate(marginals):
        # padding repeats the feature's first node, so it never leaves the range
        values[:, i], codes[:, i] = nodes[0], node_codes[0]
        values[: len(nodes), i] = nodes
        codes[: len(nodes), i] = node_codes
        weights[: len(mass), i] = mass
    return Marginals(
        Encoded(torch.from_numpy(values), torch.from_numpy(codes)),
        torch.from_numpy(weights),
    )
