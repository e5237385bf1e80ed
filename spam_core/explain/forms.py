"""Two ways to work out the second moments of very many terms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, product

import torch
from torch import Tensor

from spam_core.explain.grams import Powers, Tile, batches, grams, last_powers, tiles
from spam_core.explain.quadrature import Quadrature
from spam_core.explain.span import FEW
from spam_core.explain.terms import TermAlgebra

_LARGE_TILE, _SMALL_TILE = 4_000_000, 500_000  # numbers in a tile's moments


@dataclass(frozen=True, eq=False)
class Panel:
    """Terms of some fixed features, one of `rows` and one of the columns.

    Features are counted by rank. Where a term has no more than two, none is fixed.
    """

    fixed: tuple[int, ...]
    rows: slice

    def __len__(self) -> int:
        return len(range(self.rows.start, self.rows.stop))


@dataclass(frozen=True, eq=False)
class Part:
    """A sum over W products of components, at k points of a feature.

    Attributes
    ----------
    factor : Powers, entries of shape (d, k, W)
        What each feature puts in.
    last : Powers, entries of shape (columns, k, W)
        What a term's last feature makes of the product of the others.
    """

    factor: Powers
    last: Powers

    def at(self, features: Sequence[int], points: Sequence[int]) -> Powers:
        """Return `last` for terms with these features, each at one of its points."""
        last = self.last
        for feature, point in zip(features, points, strict=True):
            reduced: Powers = {}
            for key, value in last.items():
                for powers, of_all in self.factor.items():
                    left = tuple(a - b for a, b in zip(key, powers, strict=True))
                    if min(left) >= 1:
                        part = value * of_all[feature, point]
                        reduced[left] = (
                            reduced[left] + part if left in reduced else part
                        )
            last = reduced
        return last


@dataclass(frozen=True, eq=False)
class Form:
    """A way to work out E t**2 of terms of one size, summed over outputs.

    Attributes
    ----------
    parts : callable
        Maps the columns, a slice of ranks, to lists of parts that are added up.
    squares : bool
        Whether lists give a function's values, whose squares are added up, or numbers
        to be added up themselves.
    cost : int
        Multiply-adds a term.
    """

    parts: Callable[[slice], Iterator[list[Part]]]
    squares: bool
    cost: int

    def evaluate(self, panels: Sequence[Panel], columns: slice) -> list[Tensor]:
        """Return E t**2 of each panel's terms, of shape (rows, columns)."""
        width = columns.stop - columns.start
        totals = [torch.zeros(len(p), width, dtype=torch.float64) for p in panels]
        for parts in self.parts(columns):
            n_points = next(iter(parts[0].factor.values())).shape[1]
            for panel, total in zip(panels, totals, strict=True):
                for at in product(range(n_points), repeat=len(panel.fixed)):
                    values = _values(parts, panel, at)
                    if self.squares:
                        shape = len(panel), n_points, width, n_points
                        values = values.view(shape).square().sum((1, 3))
                    total += values
        return totals


def _values(parts: Sequence[Part], panel: Panel, at: tuple[int, ...]) -> Tensor:
    """Sum over components, (rows times points, columns times points)."""
    total: Tensor | None = None
    for part in parts:
        for key, last in part.at(panel.fixed, at).items():
            if key in part.factor:
                left = part.factor[key][panel.rows].flatten(0, 1)
                values = left @ last.flatten(0, 1).T
                total = values if total is None else total.add_(values)
    assert total is not None, "each order has its lowest powers"
    return total


def cheapest(algebra: TermAlgebra, points: Quadrature, size: int) -> Form:
    """Return the form that takes fewer multiplications.

    Parameters
    ----------
    algebra : TermAlgebra
    points : Quadrature
        Of terms of this size; features are counted in their sequence here.
    size : int
        Features of a term.
    """
    few = points.n_points <= FEW
    if few and _points_cost(algebra, points, size) < _pairs_cost(points):
        return by_points(algebra, points, size)
    return by_pairs(algebra, points, size)


def _pairs_cost(points: Quadrature) -> int:
    n_pairs: int = points.width * (points.width + 1) // 2
    return n_pairs


def _points_cost(algebra: TermAlgebra, points: Quadrature, size: int) -> int:
    n_values: int = algebra.n_outputs * points.n_points**size
    return points.width * n_values


def by_pairs(algebra: TermAlgebra, points: Quadrature, size: int) -> Form:
    """Return the form over pairs of components, from second moments of features."""
    # a tile that meets each term's first features again had better stay in a cache
    most = (_LARGE_TILE if size == 2 else _SMALL_TILE) // points.n_features
    cut = tiles(points.orders, size, max(1, most))
    outside = [tile.outside(algebra) for tile in cut]
    weights = [tile.weights(pooled=True) for tile in cut]
    source = _gram_source(points, cut)

    def parts(columns: slice) -> Iterator[list[Part]]:
        for k, gram in enumerate(source(columns.stop)):
            factor = {key: v[: columns.stop, None] for key, v in gram.items()}
            ends = {key: v[columns] * weights[k] for key, v in factor.items()}
            last = last_powers(ends, outside[k], cut[k].degrees, size)
            yield [Part(factor, last)]

    return Form(parts, False, _pairs_cost(points))


def _gram_source(
    points: Quadrature, cut: Sequence[Tile]
) -> Callable[[int], Iterable[Powers]]:
    """Map a number of features to the moments of at least so many, in each tile."""
    together = list(batches(cut, points))
    if len(together) == 1:
        known = grams(points, cut)
        return lambda _: known
    return lambda stop: chain.from_iterable(
        grams(points.take(slice(stop)), batch) for batch in together
    )


def by_points(algebra: TermAlgebra, points: Quadrature, size: int) -> Form:
    """Return the form over components, from features' values at points all kept."""
    (values,) = points.blocks()
    outside: dict[int, Powers] = {
        order.degree: {
            (a,): u.reshape(-1)
            for a, u in enumerate(algebra.outside_series(order))
            if u is not None
        }
        for order in points.orders
    }

    def parts(columns: slice) -> Iterator[list[Part]]:
        for output in range(algebra.n_outputs):
            found = []
            for order in points.orders:
                l, lam = order.degree, order.lam[output]
                factor: Powers = {
                    (a,): c[: columns.stop] for (k, a), c in values.items() if k == l
                }
                ends = {key: c[columns] * lam for key, c in factor.items()}
                found.append(Part(factor, last_powers(ends, outside[l], (l,), size)))
            yield found

    return Form(parts, True, _points_cost(algebra, points, size))
