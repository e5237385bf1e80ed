"""A few points of each feature at which a sum stands for an expectation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from spam_core.explain.orders import Order
from spam_core.explain.span import Block, span
from spam_core.explain.terms import TermAlgebra

KEPT = 80_000_000
"""Numbers kept at once: 640 MB in float64."""

_BLOCK = 1_000_000  # larger ones are slower, for want of cache


@dataclass(frozen=True, eq=False)
class Quadrature:
    """Points at which sums of products of series are expectations.

    Attributes
    ----------
    algebra : TermAlgebra
        Whose series they are.
    orders : tuple of Order
        Those with terms of the size asked for.
    most : mapping of int to int
        Order -> largest power of t that terms of that size need.
    n_points : int
        Points of a feature.
    kept : Block or None
        All points; None: they are worked out in each pass.
    features : Tensor of shape (d,), int64, or None
        Which features, in their sequence; None: all.

    Notes
    -----
    The nodes of the marginals, with the roots of their weights, are such points. Where
    the functions of each feature span few dimensions, so few points will do: the
    coordinates in an orthonormal basis (`span`). Under the linear map all components of
    a feature are one function times a number, and a column of few levels has few
    dimensions under any map.
    """

    algebra: TermAlgebra
    orders: tuple[Order, ...]
    most: dict[int, int]
    n_points: int
    kept: Block | None = None
    features: Tensor | None = None

    @classmethod
    def of(cls, algebra: TermAlgebra, size: int) -> Quadrature:
        """Prepare what terms of `size` features need.

        Examples
        --------
        One function and twice the same, at five nodes:

        >>> from spam_core.explain.nodes import NodeScores
        >>> g = torch.arange(5.0)[:, None, None] * torch.tensor([1.0, 2.0])
        >>> nodes = NodeScores.of({2: g.double()}, torch.full((5, 1), 0.2).double())
        >>> bias, lam = torch.zeros(1).double(), {2: torch.ones(1, 2).double()}
        >>> points = Quadrature.of(TermAlgebra(bias, lam, nodes), 2)
        >>> points.n_points, points.norms()[2, 1].square().round(decimals=6).tolist()
        (1, [[2.0, 8.0]])
        """
        nodes = cls._of_nodes(algebra, size)
        spanned = span(nodes.blocks, algebra.n_features, nodes.n_points)
        if spanned is not None:
            return replace(nodes, kept=spanned, n_points=_n_points(spanned))
        # half of what may be kept: the moments worked out from them need more
        if 2 * nodes.n_points * algebra.n_features * nodes.width > KEPT:
            return nodes
        return replace(nodes, kept=nodes._all())

    @classmethod
    def average(cls, algebra: TermAlgebra, size: int) -> Quadrature:
        """Prepare a single point, E q_i / e_i, where a sum is a product of means."""
        nodes = cls._of_nodes(algebra, size)
        mean: Block = {}
        for block, weights in nodes._series():
            for key, c in block.items():
                part = (c * weights).sum(1, keepdim=True)
                mean[key] = mean[key] + part if key in mean else part
        return replace(nodes, kept=mean, n_points=1)

    @classmethod
    def _of_nodes(cls, algebra: TermAlgebra, size: int) -> Quadrature:
        assert algebra.nodes is not None, "checked by the caller"
        orders = tuple(order for order in algebra.orders if order.degree >= size)
        most = {order.degree: order.degree - size + 1 for order in orders}
        return cls(algebra, orders, most, len(algebra.nodes))

    @property
    def n_features(self) -> int:
        """Number of features d."""
        all_of_them = self.algebra.n_features
        return all_of_them if self.features is None else len(self.features)

    @property
    def width(self) -> int:
        """Functions of a feature: components of each order times their powers."""
        return sum(o.lam.shape[1] * self.most[o.degree] for o in self.orders)

    def take(self, features: Tensor | slice) -> Quadrature:
        """Return the points of some features, counted among those here."""
        before = self.features
        if before is None:
            before = torch.arange(self.n_features)
        kept = self.kept
        if kept is not None:
            kept = {key: c[features] for key, c in kept.items()}
        return replace(self, kept=kept, features=before[features])

    def blocks(self) -> Iterator[Block]:
        """Yield some of the points at a time."""
        if self.kept is not None:
            yield self.kept
            return
        for block, weights in self._series():
            root = weights.sqrt()
            yield {key: c * root for key, c in block.items()}

    def _series(self) -> Iterator[tuple[Block, Tensor]]:
        """Yield series at some nodes, (d, n, R), with their weights, (d, n, 1)."""
        assert self.algebra.nodes is not None, "checked by the caller"
        for scores, weights in self.algebra.nodes.blocks(_BLOCK):
            block = {}
            for order in self.orders:
                l = order.degree
                series = self.algebra.feature_series(
                    order, scores[l], most=self.most[l]
                )
                for a, c in enumerate(series):
                    if c is not None:
                        block[l, a] = c.transpose(0, 1)
            weights = weights.T[:, :, None]
            if self.features is not None:
                block = {key: c[self.features] for key, c in block.items()}
                weights = weights[self.features]
            yield block, weights

    def norms(self) -> Block:
        """Return the root of each function's second moment, (d, R_l)."""
        total: Block = {}
        for block in self.blocks():
            for key, c in block.items():
                part = c.square().sum(1)
                total[key] = total[key] + part if key in total else part
        return {key: value.sqrt() for key, value in total.items()}

    def _all(self) -> Block:
        """Return all points as one block, without a second copy on the way."""
        whole: Block = {}
        start = 0
        for block in self.blocks():
            n = _n_points(block)
            for key, c in block.items():
                if key not in whole:
                    whole[key] = c.new_empty(c.shape[0], self.n_points, c.shape[2])
                whole[key][:, start : start + n] = c
            start += n
        return whole


def _n_points(block: Block) -> int:
    return next(iter(block.values())).shape[1]
