"""Truncated power series whose coefficients are tensors.

A series is a list: entry k is the coefficient of t**k, or None where it is zero. The
coefficients of two series that meet must broadcast against each other.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

Series = list[Tensor | None]


def constant(value: Tensor, degree: int) -> Series:
    """Return the series that is `value` and nothing else, up to t**degree."""
    return [value, *[None] * degree]


def add(a: Sequence[Tensor | None], b: Sequence[Tensor | None]) -> Series:
    """Add two series of the same length."""
    return [_plus(x, y) for x, y in zip(a, b, strict=True)]


def multiply(
    a: Sequence[Tensor | None], b: Sequence[Tensor | None], degree: int
) -> Series:
    """Multiply two series, dropping what lies above t**degree.

    Examples
    --------
    >>> one_plus_t = [torch.ones(()), torch.ones(())]
    >>> [float(c) for c in multiply(one_plus_t, one_plus_t, 2)]
    [1.0, 2.0, 1.0]
    """
    product: Series = [None] * (degree + 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            if x is not None and y is not None and i + j <= degree:
                product[i + j] = _plus(product[i + j], x * y)
    return product


def inverse(a: Sequence[Tensor | None]) -> Series:
    """Return 1 / a for a series that starts with 1.

    Examples
    --------
    >>> [float(c) for c in inverse([torch.ones(()), torch.ones(()), torch.zeros(())])]
    [1.0, -1.0, 1.0]
    """
    result: Series = [a[0]]
    for k in range(1, len(a)):
        total: Tensor | None = None
        for j in range(1, k + 1):
            total = _plus(total, _times(a[j], result[k - j]))
        result.append(None if total is None else -total)
    return result


def logarithm(a: Sequence[Tensor | None]) -> Series:
    """Return log(a) for a series that starts with 1.

    Examples
    --------
    >>> [float(c or 0) for c in logarithm([torch.ones(()), torch.ones(()), None])]
    [0.0, 1.0, -0.5]
    """
    result: Series = [None]
    for k in range(1, len(a)):
        total = a[k]
        for j in range(1, k):
            part = _times(result[j], a[k - j])
            total = _plus(total, None if part is None else part * (-j / k))
        result.append(total)
    return result


def exponential(a: Sequence[Tensor | None]) -> Series:
    """Return exp(a) for a series that starts with 0.

    Examples
    --------
    >>> [float(c) for c in exponential([None, torch.ones(()), None])]
    [1.0, 1.0, 0.5]
    """
    # the 1 takes dtype and device from whatever coefficient there is
    like = next((c for c in a if c is not None), None)
    one = torch.ones((), dtype=torch.float64) if like is None else like.new_ones(())
    result: Series = [one]
    for k in range(1, len(a)):
        total: Tensor | None = None
        for j in range(1, k + 1):
            part = _times(a[j], result[k - j])
            total = _plus(total, None if part is None else part * (j / k))
        result.append(total)
    return result


def _plus(x: Tensor | None, y: Tensor | None) -> Tensor | None:
    if x is None:
        return y
    return x if y is None else x + y


def _times(x: Tensor | None, y: Tensor | None) -> Tensor | None:
    return None if x is None or y is None else x * y
