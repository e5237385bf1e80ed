"""Few coordinates for functions that span few dimensions."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor
from torch.nn.functional import pad

Block = dict[tuple[int, int], Tensor]
"""(order l, power a) -> [t**a] q_i / e_i at n points of each feature: (d, n, R_l)."""

FEW = 6
"""Dimensions that are few."""

_NOTHING = 1e-12  # relative; what rounding leaves of a function that others span
_TELLING = 16  # points that mostly show whether functions span more
_TEMPORARY = 1_000_000  # numbers


def span(
    read: Callable[[], Iterator[Block]], n_features: int, n_points: int
) -> Block | None:
    """Return coordinates in an orthonormal basis of each feature's functions.

    Parameters
    ----------
    read : callable
        Yields the functions' values, some points at a time; called twice.
    n_features, n_points : int
        Features d and points N altogether.

    Returns
    -------
    Block or None
        Entries of shape (d, k, R_l), whose sums of products over k equal those over
        the points; k is at most `FEW`. None if the functions span more.

    Notes
    -----
    A few random mixtures of a feature's functions span what all of them span, unless
    that is more; what the basis then leaves of a function shows in its norm.

    Examples
    --------
    >>> line = torch.arange(5.0).double().reshape(1, 5, 1)
    >>> block = {(2, 1): torch.cat([line, -2 * line], 2)}
    >>> few = span(lambda: iter([block]), 1, 5)[2, 1]
    >>> few.shape, (few.transpose(1, 2) @ few).round().tolist()
    (torch.Size([1, 1, 2]), [[[30.0, -60.0], [-60.0, 120.0]]])
    """
    mixtures = torch.empty(n_features, n_points, FEW + 1, dtype=torch.float64)
    generator = torch.Generator().manual_seed(0)
    weights: dict[tuple[int, int], Tensor] = {}
    for rows, block in _numbered(read()):
        for key, c in block.items():
            if key not in weights:
                size = c.shape[2], FEW + 1
                weights[key] = torch.randn(
                    size, generator=generator, dtype=torch.float64
                )
        mixtures[:, rows] = torch.stack(
            [c @ weights[key] for key, c in block.items()]
        ).sum(0)
        telling = rows.start < _TELLING <= rows.stop
        if telling and _orthonormal(mixtures[:, : rows.stop]) is None:
            return None
    parts = []
    for values in mixtures.split(max(1, _TEMPORARY // (n_points * FEW))):
        part = _orthonormal(values)
        if part is None:
            return None
        parts.append(part)
    del mixtures
    k = max(part.shape[2] for part in parts)
    return _coordinates(read(), torch.cat([pad(p, (0, k - p.shape[2])) for p in parts]))


def _numbered(blocks: Iterator[Block]) -> Iterator[tuple[slice, Block]]:
    start = 0
    for block in blocks:
        stop = start + next(iter(block.values())).shape[1]
        yield slice(start, stop), block
        start = stop


def _orthonormal(values: Tensor) -> Tensor | None:
    """Return a basis of the columns, (d, n, F) to (d, n, k), if k is at most `FEW`.

    Gram-Schmidt for all features at once, each time with the column of which most is
    left.
    """
    largest = values.square().sum(1).amax(1)
    found: list[Tensor] = []
    while True:
        left, widest = values.square().sum(1).max(1)
        more = left > _NOTHING**2 * largest
        if found and not bool(more.any()):
            return torch.cat(found, 2)
        if len(found) == FEW:
            return None
        chosen = widest[:, None, None].expand(-1, values.shape[1], 1)
        unit = values.gather(2, chosen) / left.sqrt()[:, None, None]
        unit = torch.where(more[:, None, None], unit, 0.0)
        values = values - unit @ (unit.transpose(1, 2) @ values)
        found.append(unit)


def _coordinates(blocks: Iterator[Block], basis: Tensor) -> Block | None:
    """Project functions on a basis, (d, N, k); None if that loses any of them."""
    found: Block = {}
    norms: Block = {}
    for rows, block in _numbered(blocks):
        for key, c in block.items():
            part, norm = basis[:, rows].transpose(1, 2) @ c, c.square().sum(1)
            found[key] = found[key] + part if key in found else part
            norms[key] = norms[key] + norm if key in norms else norm
    for key, norm in norms.items():
        if bool((norm - found[key].square().sum(1) > _NOTHING * norm).any()):
            return None
    return found
