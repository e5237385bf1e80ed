"""Second moments of terms from second moments of single features."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from spam_core.explain.nodes import BLOCK, Scores
from spam_core.explain.orders import Order
from spam_core.explain.series import Series
from spam_core.explain.term_set import Prefixes
from spam_core.explain.terms import TermAlgebra

Gram = dict[tuple[int, int], Tensor]
"""Bivariate series: (a, a') -> coefficient of t**a u**a' of shape (d, r, R')."""


def second_moment(algebra: TermAlgebra, group: Tensor, pooled: bool) -> Tensor:
    """E t**2 of terms of one size >= 2: (T, C) or (T, 1)."""
    size = group.shape[1]
    n_columns = 1 if pooled else algebra.n_outputs
    grouped = Prefixes.of(group, algebra.n_features)
    total = algebra.bias.new_zeros(len(group), n_columns)
    orders = [order for order in algebra.orders if order.degree >= size]
    for k, left in enumerate(orders):
        for right in orders[k:]:
            top = left.degree - 1, right.degree - 1
            for rows, columns, count in _tiles(left, right, size):
                x, y = left.components(rows), right.components(columns)
                gram = _gram(algebra, (x, rows), (y, columns), size)
                weight = _weights(x, y, pooled) * count
                last = _last(algebra, x, y, gram, size)
                total += _tile(gram, last, weight, group, grouped, top)
    return total


def _tiles(
    left: Order, right: Order, size: int
) -> Iterator[tuple[slice, slice, Tensor]]:
    """Cut the pairs of components into tiles; say how often each pair counts."""
    d = left.mean.shape[0]
    height, width = left.lam.shape[1], right.lam.shape[1]
    degrees = (left.degree - size + 1) * (right.degree - size + 1)
    step = max(1, BLOCK // (d * width * degrees))
    for start in range(0, height, step):
        stop = min(start + step, height)
        if left is not right:
            yield slice(start, stop), slice(0, width), left.lam.new_full((), 2.0)
            continue
        # (rho, rho') and (rho', rho) are equal: beyond the tile's square, count twice
        count = left.lam.new_full((stop - start, width - start), 2.0)
        count[:, : stop - start] = 1.0
        yield slice(start, stop), slice(start, width), count


def _gram(
    algebra: TermAlgebra,
    left: tuple[Order, slice],
    right: tuple[Order, slice],
    size: int,
) -> Gram:
    """Second moments of the features' series: (a, a') -> (d, r, R')."""
    assert algebra.nodes is not None, "checked by the caller"

    def series(scores: Scores, part: Order, rows: slice) -> Series:
        most = part.degree - size + 1
        mine = scores[part.degree][:, :, rows]
        return algebra.feature_series(part, mine, most=most)

    gram: Gram = {}
    for scores, weights in algebra.nodes.blocks(BLOCK):
        first, second = series(scores, *left), series(scores, *right)
        for a, x in enumerate(first):
            if x is None:
                continue
            weighted = (x * weights[:, :, None]).permute(1, 2, 0)
            for b, y in enumerate(second):
                if y is None:
                    continue
                part = torch.bmm(weighted, y.permute(1, 0, 2))
                gram[a, b] = gram[a, b] + part if (a, b) in gram else part
    return gram


def _weights(left: Order, right: Order, pooled: bool) -> Tensor:
    """lambda_rho lambda_rho' of each output, or summed over outputs."""
    if pooled:
        return (left.lam.T @ right.lam)[None]
    return left.lam[:, :, None] * right.lam[:, None, :]


def _multiply(x: Gram, y: Gram, degrees: tuple[int, int]) -> Gram:
    product: Gram = {}
    for (a, a2), u in x.items():
        for (b, b2), v in y.items():
            key = a + b, a2 + b2
            if key[0] <= degrees[0] and key[1] <= degrees[1]:
                product[key] = product[key] + u * v if key in product else u * v
    return product


def _last(
    algebra: TermAlgebra, left: Order, right: Order, gram: Gram, size: int
) -> Gram:
    """Combine the last feature with the outside, as `terms.last_series` does.

    Entry (a, a') multiplies t**a u**a' of the product over the other features.
    """
    outside: Gram = {}
    for a, u in enumerate(algebra.outside_series(left)):
        if u is None:
            continue
        # P_0 is a number; the others differ from component to component
        x = u[0, 0, :, None] if u.ndim else u
        for b, v in enumerate(algebra.outside_series(right)):
            if v is not None:
                outside[a, b] = x * (v[0] if v.ndim else v)
    combined = _multiply(gram, outside, (left.degree, right.degree))
    last = {
        (left.degree - a, right.degree - b): value for (a, b), value in combined.items()
    }
    return {key: value for key, value in last.items() if min(key) >= size - 1}


def _tile(
    gram: Gram,
    last: Gram,
    weight: Tensor,
    group: Tensor,
    grouped: Prefixes,
    top: tuple[int, int],
) -> Tensor:
    """Add up one tile's component pairs: (T, C) or (T, 1)."""
    d = next(iter(gram.values())).shape[0]
    if grouped.shared_is_cheaper(d, len(weight)):
        return _tile_product(gram, last, weight, grouped, top)
    return _tile_gather(gram, last, weight, group, top)


def _prefix(gram: Gram, columns: Tensor, degrees: tuple[int, int]) -> Gram:
    result: Gram = {}
    for k in range(columns.shape[1]):
        chosen = columns[:, k]
        factor = {key: v.index_select(0, chosen) for key, v in gram.items()}
        result = _multiply(result, factor, degrees) if result else factor
    return {
        key: value
        for key, value in result.items()
        if key[0] <= degrees[0] and key[1] <= degrees[1]
    }


def _tile_product(
    gram: Gram, last: Gram, weight: Tensor, grouped: Prefixes, top: tuple[int, int]
) -> Tensor:
    d, height, width = next(iter(gram.values())).shape
    out = weight.new_empty(len(grouped.terms), len(weight))
    step = max(1, BLOCK // (height * width))
    weighted = [
        {key: (value * w).reshape(d, -1) for key, value in last.items()} for w in weight
    ]
    for start in range(0, len(grouped), step):
        stop = min(start + step, len(grouped))
        columns = grouped.prefixes[start:stop]
        first = int(columns[:, -1].min()) + 1
        prefix = _prefix(gram, columns, top)
        terms, row, column = grouped.block(start, stop)
        for c, mine in enumerate(weighted):
            total = weight.new_zeros(stop - start, d - first)
            for key, value in prefix.items():
                if key in mine:
                    total += value.reshape(stop - start, -1) @ mine[key][first:].T
            out[terms, c] = total[row, column - first]
    return out


def _tile_gather(
    gram: Gram, last: Gram, weight: Tensor, group: Tensor, top: tuple[int, int]
) -> Tensor:
    _, height, width = next(iter(gram.values())).shape
    flat = weight.reshape(len(weight), -1)
    step = max(1, BLOCK // (height * width))
    parts = []
    for start in range(0, len(group), step):
        columns = group[start : start + step]
        prefix = _prefix(gram, columns[:, :-1], top)
        total = flat.new_zeros(len(columns), flat.shape[1])
        for key, value in prefix.items():
            if key in last:
                factor = last[key].index_select(0, columns[:, -1])
                total += (value * factor).flatten(1)
        parts.append(total @ flat.T)
    return torch.cat(parts)
