"""The components of one order with their features' distribution, in one view."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import factorial
from typing import Literal

from torch import Tensor

from spam_core.explain.nodes import NodeScores, Scores
from spam_core.explain.series import Series, constant, inverse, logarithm

View = Literal["pure", "raw"]
VIEWS: tuple[View, ...] = ("pure", "raw")


@dataclass(frozen=True, eq=False)
class Order:
    """The components of one order, and their features' distribution.

    Attributes
    ----------
    degree : int
        The order l.
    lam : Tensor of shape (C, R)
        Weights of the components in each output.
    mean : Tensor of shape (d, R)
        E g_i under the training marginals; d = 0 if those aren't known.
    moments : list of Tensor of shape (d, R) or None
        E h_i**a / a! for a = 0..l; [1, 0, ...] in the raw view.
    inverse, log : list of Tensor of shape (d, R) or None
        Series 1 / e_i and log e_i.
    """

    degree: int
    lam: Tensor
    mean: Tensor
    moments: Series
    inverse: Series
    log: Series

    def components(self, rows: slice) -> Order:
        """Return some of the components as an order of their own."""
        return self._cut((slice(None), rows))

    def of_features(self, positions: Tensor) -> Order:
        """Return the same components of some features alone."""
        if not len(self.mean):  # nothing is known of any feature
            return self
        return self._cut((positions, slice(None)))

    def _cut(self, part: tuple[slice | Tensor, slice]) -> Order:
        def cut(series: Series) -> Series:
            return [c[part] if c is not None and c.ndim else c for c in series]

        lam = self.lam[:, part[1]]
        series = (cut(self.moments), cut(self.inverse), cut(self.log))
        return Order(self.degree, lam, self.mean[part], *series)


def make_orders(
    lam: Mapping[int, Tensor], nodes: NodeScores | None, view: View
) -> tuple[Order, ...]:
    """Work out each order's distribution at the nodes; see `Order`."""
    degrees = sorted(lam)
    mean: Scores = {}
    if nodes is not None:
        mean = nodes.mean(lambda g: {l: g[l] for l in degrees})
    orders = []
    for l in degrees:
        one = lam[l].new_ones(())
        flat = constant(one, l)
        if nodes is None or view == "raw":
            average = mean.get(l, lam[l].new_zeros(0, 1))
            orders.append(Order(l, lam[l], average, flat, flat, constant(one * 0, l)))
            continue
        # e_i(t): E h = 0, so the series has no linear part
        moments = [one, None, *_central_moments(nodes, l, mean[l])]
        moments = moments[: l + 1]
        orders.append(
            Order(l, lam[l], mean[l], moments, inverse(moments), logarithm(moments))
        )
    return tuple(orders)


def _central_moments(nodes: NodeScores, l: int, mean: Tensor) -> list[Tensor]:
    """Return E h**a / a! for a = 2..l, each of shape (d, R)."""

    def powers(scores: Scores) -> dict[int, Tensor]:
        centred = scores[l] - mean
        power, out = centred, {}
        for a in range(2, l + 1):
            power = power * centred
            out[a] = power / factorial(a)
        return out

    return list(nodes.mean(powers).values()) if l >= 2 else []
