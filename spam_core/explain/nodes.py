"""Component scores at the nodes of the training marginals, a block at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import torch
from torch import Tensor

Scores = Mapping[int, Tensor]
"""Order -> component scores g of shape (n, d, R_l), float64."""

BLOCK = 8_000_000
"""Numbers in the largest temporary: 64 MB in float64."""

CACHE = 250_000
"""Numbers in a temporary that stays in a processor's cache. Work that touches each
number a few times is about five times faster in pieces of this size."""


class NodeScores:
    """Component scores at each feature's marginal nodes, with their weights.

    Parameters
    ----------
    score : callable
        Maps a slice of nodes to their component scores.
    weights : Tensor of shape (N, d)
        Weights of the nodes, float64; each column sums to 1.
    width : int
        Numbers a node takes: d times the number of components of all orders.

    Notes
    -----
    What fits in one block is kept; larger tables are scored again in each pass.
    """

    def __init__(
        self, score: Callable[[slice], Scores], weights: Tensor, width: int
    ) -> None:
        self._score = score
        self.weights = weights
        self._width = max(width, 1)
        self._kept: Scores | None = None

    @classmethod
    def of(cls, scores: Scores, weights: Tensor) -> NodeScores:
        """Wrap scores that are at hand already.

        Examples
        --------
        >>> scores = {2: torch.zeros(4, 3, 5, dtype=torch.float64)}
        >>> nodes = NodeScores.of(scores, torch.full((4, 3), 0.25))
        >>> [weights.shape[0] for _, weights in nodes.blocks()]
        [4]
        """
        width = sum(g.shape[1] * g.shape[2] for g in scores.values())
        return cls(lambda rows: {l: g[rows] for l, g in scores.items()}, weights, width)

    def __len__(self) -> int:
        return len(self.weights)

    def blocks(self, size: int | None = None) -> Iterator[tuple[Scores, Tensor]]:
        """Yield scores (n, d, R_l) and weights (n, d) of a few nodes at a time.

        Parameters
        ----------
        size : int, optional
            Numbers in a block's scores; `CACHE` if None.
        """
        n = len(self)
        if n * self._width <= BLOCK and self._kept is None:
            self._kept = self._score(slice(0, n))
        step = max(1, (CACHE if size is None else size) // self._width)
        for start in range(0, n, step):
            rows = slice(start, min(start + step, n))
            if self._kept is None:
                yield self._score(rows), self.weights[rows]
            else:
                part = {l: g[rows] for l, g in self._kept.items()}
                yield part, self.weights[rows]

    def mean(self, function: Callable[[Scores], Mapping[int, Tensor]]) -> Scores:
        """Return E function(g) for each feature, a mapping to (d, R_l)."""
        total: dict[int, Tensor] = {}
        for scores, weights in self.blocks():
            for key, value in function(scores).items():
                part = torch.einsum("nd,ndr->dr", weights, value)
                total[key] = total[key] + part if key in total else part
        return total
