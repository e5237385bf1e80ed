"""Refuse factors and inputs of a polynomial that do not fit."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from spam_core.data.encoding import NUMBER, Encoded, Marginals
from spam_core.models.polynomial import MAX_ORDER


def check_factors(
    bias: Tensor, linear: Tensor, factors: Mapping[int, tuple[Tensor, Tensor]]
) -> None:
    """Check what `SPAM.from_factors` is given.

    Parameters
    ----------
    bias, linear : Tensor of shapes (C,), (C, p)
    factors : mapping of order to (lam, U) of shapes (C, r), (r, p)

    Raises
    ------
    ValueError
        If shapes disagree or an order isn't in 2..4.
    """
    outputs, columns = linear.shape
    if bias.shape != (outputs,):
        raise ValueError(
            f"Expected a bias of shape ({outputs},), got {tuple(bias.shape)}"
        )
    for order, (lam, basis) in sorted(factors.items()):
        if not 2 <= order <= MAX_ORDER:
            raise ValueError(f"Orders must be in 2..{MAX_ORDER}, got {order}")
        if basis.ndim != 2 or basis.shape[1] != columns:
            raise ValueError(
                f"Expected U of shape (r, {columns}) at order {order}, got "
                f"{tuple(basis.shape)}"
            )
        if lam.shape != (outputs, len(basis)):
            raise ValueError(
                f"Expected lam of shape ({outputs}, {len(basis)}) at order {order}, "
                f"got {tuple(lam.shape)}"
            )


def check_marginals(marginals: Marginals, columns: int, dtype: torch.dtype) -> None:
    """Check the marginals of a polynomial of numbers.

    Parameters
    ----------
    marginals : Marginals
    columns : int
        How many columns the factors have.
    dtype : torch.dtype
        Of the factors.

    Raises
    ------
    ValueError
        If they are of other columns, of levels, or the factors aren't float64.
    """
    if marginals.weights.shape[1] != columns:
        raise ValueError(
            f"Expected marginals of {columns} columns, got {marginals.weights.shape[1]}"
        )
    levels = int((marginals.nodes.codes != NUMBER).any(0).sum())
    if levels:
        raise ValueError(
            f"Expected marginals of numbers alone, but {levels} of {columns} columns "
            "have levels (categories, missing values or special codes)"
        )
    if dtype != torch.float64:
        raise ValueError(f"With marginals the factors must be float64, got {dtype}")


def as_rows(rows: Encoded | Tensor) -> Encoded:
    """Take bare model inputs of shape (n, d) for rows whose cells all hold numbers.

    Raises
    ------
    ValueError
        If they have another number of dimensions.
    """
    if not isinstance(rows, Tensor):
        return rows
    if rows.ndim != 2:
        raise ValueError(
            f"Expected model inputs of shape (n, d), got {tuple(rows.shape)}"
        )
    codes = torch.full(rows.shape, NUMBER, dtype=torch.int32, device=rows.device)
    return Encoded(rows, codes)
