"""Second moments of terms from second moments of single features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from spam_core.explain.nodes import BLOCK
from spam_core.explain.orders import Order
from spam_core.explain.quadrature import KEPT, Quadrature
from spam_core.explain.term_set import Prefixes
from spam_core.explain.terms import TermAlgebra

Powers = dict[tuple[int, ...], Tensor]
"""A series in one or two variables: exponents -> coefficient of shape (d, ...)."""


@dataclass(frozen=True, eq=False)
class Tile:
    """Some pairs of components.

    Attributes
    ----------
    left, right : Order
        The components rho and rho', of one order or of two.
    rows, columns : slice
        Which of all components of their orders these are.
    count : Tensor, broadcastable to (r, r')
        How often each pair counts.
    """

    left: Order
    right: Order
    rows: slice
    columns: slice
    count: Tensor

    @property
    def degrees(self) -> tuple[int, int]:
        """The two orders."""
        return self.left.degree, self.right.degree

    def __len__(self) -> int:
        """Return the number of pairs, r r'."""
        return self.left.lam.shape[1] * self.right.lam.shape[1]

    def weights(self, pooled: bool) -> Tensor:
        """Return lambda lambda', (C, r r'), or its sum over outputs, (1, r r')."""
        left, right = self.left.lam, self.right.lam
        if pooled:
            product = (left.T @ right)[None]
        else:
            product = left[:, :, None] * right[:, None, :]
        return (product * self.count).flatten(1)

    def outside(self, algebra: TermAlgebra) -> Powers:
        """Return what all features contribute on average, (1, r r')."""
        shape = self.left.lam.shape[1], self.right.lam.shape[1]
        outside: Powers = {}
        for a, u in enumerate(algebra.outside_series(self.left)):
            for b, v in enumerate(algebra.outside_series(self.right)):
                if u is not None and v is not None:
                    # P_0 is a number; the others differ from component to component
                    both = u.reshape(-1, 1) * v.reshape(1, -1)
                    outside[a, b] = both.expand(shape).reshape(1, -1)
        return outside


def tiles(orders: Sequence[Order], size: int, most: int) -> list[Tile]:
    """Cut all pairs of components into tiles of about `most` numbers a feature."""
    orders = [order for order in orders if order.degree >= size]
    found = []
    for k, left in enumerate(orders):
        for right in orders[k:]:
            height, width = left.lam.shape[1], right.lam.shape[1]
            degrees = (left.degree - size + 1) * (right.degree - size + 1)
            step = max(1, most // (width * degrees))
            for start in range(0, height, step):
                rows = slice(start, min(start + step, height))
                columns = slice(0, width)
                count = left.lam.new_full((), 2.0)
                if left is right:
                    # (rho, rho') equals (rho', rho): beyond the tile's square, twice
                    columns = slice(start, width)
                    count = count.repeat(rows.stop - start, width - start)
                    count[:, : rows.stop - start] = 1.0
                parts = left.components(rows), right.components(columns)
                found.append(Tile(*parts, rows, columns, count))
    return found


def grams(points: Quadrature, wanted: Sequence[Tile]) -> list[Powers]:
    """Return E (q/e)_a (q/e)_a' of each feature, for some tiles: (d, r r')."""
    found: list[Powers] = [{} for _ in wanted]
    for block in points.blocks():
        for tile, gram in zip(wanted, found, strict=True):
            l, k = tile.degrees
            for a in range(1, points.most[l] + 1):
                left = block[l, a][:, :, tile.rows].transpose(1, 2)
                for b in range(1, points.most[k] + 1):
                    part = (left @ block[k, b][:, :, tile.columns]).flatten(1)
                    if (a, b) in gram:
                        gram[a, b] += part
                    else:
                        gram[a, b] = part
    return found


def multiply_powers(x: Powers, y: Powers, degrees: tuple[int, ...]) -> Powers:
    """Multiply two series, dropping what lies above `degrees`."""
    product: Powers = {}
    for key, u in x.items():
        for other, v in y.items():
            powers = tuple(a + b for a, b in zip(key, other, strict=True))
            if all(a <= most for a, most in zip(powers, degrees, strict=True)):
                part = u * v
                product[powers] = product[powers] + part if powers in product else part
    return product


def last_powers(
    feature: Powers, outside: Powers, degrees: tuple[int, ...], size: int
) -> Powers:
    """Combine a term's last feature with the outside, as `products.last_series` does.

    Entry (a, ..) multiplies t**a .. of the product over the other features.
    """
    combined = multiply_powers(feature, outside, degrees)
    last = {
        tuple(l - a for a, l in zip(key, degrees, strict=True)): value
        for key, value in combined.items()
    }
    return {key: value for key, value in last.items() if min(key) >= size - 1}


def second_moment(algebra: TermAlgebra, group: Tensor, pooled: bool) -> Tensor:
    """E t**2 of terms of one size >= 2: (T, C) or (T, 1)."""
    size = group.shape[1]
    total = algebra.bias.new_zeros(len(group), 1 if pooled else algebra.n_outputs)
    if size > algebra.degree:
        return total
    features, positions = group.unique(return_inverse=True)
    group = positions.reshape(group.shape)
    grouped = Prefixes.of(group, len(features))
    points = Quadrature.of(algebra, size).take(features)
    cut = tiles(points.orders, size, max(1, BLOCK // len(features)))
    for batch in batches(cut, points):
        for tile, gram in zip(batch, grams(points, batch), strict=True):
            weights = tile.weights(pooled)
            last = last_powers(gram, tile.outside(algebra), tile.degrees, size)
            top = tile.left.degree - 1, tile.right.degree - 1
            if grouped.shared_is_cheaper(len(features), len(weights)):
                total += _by_product(gram, last, weights, grouped, top)
            else:
                total += _by_gathering(gram, last, weights, group, top)
    return total


def batches(cut: Sequence[Tile], points: Quadrature) -> Iterator[list[Tile]]:
    """Yield tiles that are looked at together: as many as may be kept."""
    batch: list[Tile] = []
    kept = 0
    for tile in cut:
        l, k = tile.degrees
        numbers = points.n_features * len(tile) * points.most[l] * points.most[k]
        if batch and kept + numbers > KEPT:
            yield batch
            batch, kept = [], 0
        batch.append(tile)
        kept += numbers
    if batch:
        yield batch


def _prefix(gram: Powers, columns: Tensor, degrees: tuple[int, int]) -> Powers:
    result: Powers = {}
    for k in range(columns.shape[1]):
        chosen = columns[:, k]
        factor = {
            key: v.index_select(0, chosen)
            for key, v in gram.items()
            if key[0] <= degrees[0] and key[1] <= degrees[1]
        }
        result = multiply_powers(result, factor, degrees) if result else factor
    return result


def _by_product(
    gram: Powers,
    last: Powers,
    weights: Tensor,
    grouped: Prefixes,
    top: tuple[int, int],
) -> Tensor:
    """All prefixes times all last features, as matrix products: (T, C or 1)."""
    d, width = next(iter(gram.values())).shape
    out = weights.new_empty(len(grouped.terms), len(weights))
    step = max(1, BLOCK // width)
    weighted = [{key: value * w for key, value in last.items()} for w in weights]
    for start in range(0, len(grouped), step):
        stop = min(start + step, len(grouped))
        columns = grouped.prefixes[start:stop]
        first = int(columns[:, -1].min()) + 1
        prefix = _prefix(gram, columns, top)
        terms, row, column = grouped.block(start, stop)
        for c, mine in enumerate(weighted):
            total = weights.new_zeros(stop - start, d - first)
            for key, value in prefix.items():
                if key in mine:
                    total += value @ mine[key][first:].T
            out[terms, c] = total[row, column - first]
    return out


def _by_gathering(
    gram: Powers, last: Powers, weights: Tensor, group: Tensor, top: tuple[int, int]
) -> Tensor:
    """Term by term, a block at a time: (T, C or 1)."""
    width = weights.shape[1]
    step = max(1, BLOCK // width)
    parts = []
    for start in range(0, len(group), step):
        columns = group[start : start + step]
        prefix = _prefix(gram, columns[:, :-1], top)
        total = weights.new_zeros(len(columns), width)
        for key, value in prefix.items():
            if key in last:
                total += value * last[key].index_select(0, columns[:, -1])
        parts.append(total @ weights.T)
    return torch.cat(parts)
