"""Products of feature series over the features of many terms at once."""

from __future__ import annotations

import torch
from torch import Tensor

from spam_core.explain.nodes import CACHE
from spam_core.explain.orders import Order
from spam_core.explain.series import Series, multiply
from spam_core.explain.term_set import Prefixes


def lowest(coefficient: Tensor | None) -> Tensor:
    """Return a coefficient that no view leaves out: the lowest of a q_i / e_i."""
    assert coefficient is not None, "q_i has a linear part in every view"
    return coefficient


def last_series(features: Series, outside: Series, degree: int, size: int) -> Series:
    """Combine a term's last feature with the outside.

    Entry a is what multiplies t**a of the product over the other size - 1 features:
    the sum over b of P_{l-a-b} (q/e)_b. Entries below a = size - 1 are None.
    """
    series: Series = [None] * degree
    product = multiply(features, outside, degree - size + 1)
    for a in range(size - 1, degree):
        series[a] = product[degree - a]
    return series


def prefix_series(features: Series, columns: Tensor, degree: int) -> Series:
    """Multiply the series of some features.

    Parameters
    ----------
    features : list of Tensor of shape (..., d, R) or None
        Series of each feature.
    columns : Tensor of shape (U, s)
        Features to multiply, a set a row.
    degree : int
        Keep coefficients up to here.

    Returns
    -------
    list of Tensor of shape (..., U, R) or None
    """
    result: Series = []
    for k in range(columns.shape[1]):
        factor: Series = [
            None if c is None else c.index_select(-2, columns[:, k])
            for c in features[: degree + 1]
        ]
        result = multiply(result, factor, degree) if result else factor
    return result


def evaluate_group(
    order: Order, features: Series, outside: Series, group: Tensor
) -> Tensor:
    """Evaluate terms of one size in one order: (n, T, C)."""
    size = group.shape[1]
    if size == 1:
        return _singles(order, features, outside)[:, group[:, 0]]
    last = last_series(features, outside, order.degree, size)
    shape = next(c for c in features if c is not None).shape
    grouped = Prefixes.of(group, shape[1])
    if grouped.shared_is_cheaper(shape[1], len(order.lam)):
        return _by_product(order, features, last, grouped)
    return _by_gathering(order, features, last, group)


def _singles(order: Order, features: Series, outside: Series) -> Tensor:
    """Terms of every feature alone: (n, d, C)."""
    total: Tensor | None = None
    for value, others in zip(features[1:], reversed(outside[:-1]), strict=True):
        if value is None or others is None:
            continue
        if others.ndim and len(others) > 1:  # differs from row to row
            part = (value * others) @ order.lam.T
        else:
            part = value @ (order.lam * others.reshape(-1)).T
        total = part if total is None else total + part
    return lowest(total)


def _by_product(
    order: Order, features: Series, last: Series, grouped: Prefixes
) -> Tensor:
    """All prefixes times all last features, as matrix products."""
    n, d, width = next(c for c in features if c is not None).shape
    n_outputs, top = len(order.lam), order.degree - 1
    out = order.lam.new_empty(n, len(grouped.terms), n_outputs)
    step = max(16, CACHE // max(1, n * max(d, width)))
    for start in range(0, len(grouped), step):
        stop = min(start + step, len(grouped))
        columns = grouped.prefixes[start:stop]
        first = int(columns[:, -1].min()) + 1  # prefixes are sorted by their last
        prefix = prefix_series(features, columns, top)
        pairs = [
            (a, b[:, first:])
            for a, b in zip(prefix, last, strict=True)
            if a is not None and b is not None
        ]
        terms, row, column = grouped.block(start, stop)
        for c in range(n_outputs):
            product: Tensor | None = None
            for left, right in pairs:
                part = left @ (right * order.lam[c]).transpose(1, 2)
                product = part if product is None else product.add_(part)
            out[:, terms, c] = lowest(product)[:, row, column - first]
    return out


def _by_gathering(
    order: Order, features: Series, last: Series, group: Tensor
) -> Tensor:
    """Term by term, a block at a time."""
    n, _, width = next(c for c in features if c is not None).shape
    step = max(1, CACHE // max(1, n * width))
    parts = []
    for start in range(0, len(group), step):
        columns = group[start : start + step]
        prefix = prefix_series(features, columns[:, :-1], order.degree - 1)
        total: Tensor | None = None
        for a, b in zip(prefix, last, strict=True):
            if a is not None and b is not None:
                part = a * b[:, columns[:, -1]]
                total = part if total is None else total + part
        parts.append(lowest(total) @ order.lam.T)
    return torch.cat(parts, 1)
