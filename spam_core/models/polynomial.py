"""The formula, once: a polynomial written with low-rank weight tensors.

Equation 2 of the paper (arXiv 2205.14108), for outputs c and orders l = 2..k::

    score_c = b_c + sum_i f_ci + sum_l sum_rho lambda_{l,rho,c} (sum_i g_{l,rho,i})^l

Here the inner sums over features are given; feature maps make them.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

MAX_ORDER = 4


def power(base: Tensor, exponent: int) -> Tensor:
    """Raise to a small positive integer power by multiplication.

    Unlike ``torch.pow`` this is defined, with a finite gradient, for every sign.

    Examples
    --------
    >>> power(torch.tensor([-2.0, 0.0]), 3)
    tensor([-8., 0.])
    """
    result = base
    for _ in range(exponent - 1):
        result = result * base
    return result


def polynomial(
    bias: Tensor, sums: Mapping[int, Tensor], lam: Mapping[int, Tensor]
) -> Tensor:
    """Evaluate the polynomial from its inner sums.

    Parameters
    ----------
    bias : Tensor of shape (M, C)
        One a member and output.
    sums : mapping of order l to Tensor of shape (n, M, R_l)
        ``sum_i g_{l,rho,i}(x_i)``. At order 1, R_1 = C holds ``sum_i f_{c,i}(x_i)``
        and needs no `lam`.
    lam : mapping of order l >= 2 to Tensor of shape (M, C, R_l)
        Singular values, denoted lambda in the paper.

    Returns
    -------
    Tensor of shape (n, M, C)

    Examples
    --------
    >>> sums = {1: torch.tensor([[[1.0]]]), 2: torch.tensor([[[3.0, 2.0]]])}
    >>> polynomial(torch.tensor([[0.5]]), sums, {2: torch.tensor([[[1.0, -1.0]]])})
    tensor([[[6.5000]]])
    """
    total = bias
    for order, inner in sums.items():
        if order == 1 and 1 not in lam:
            total = total + inner
            continue
        powered = power(inner, order)
        weight = lam[order]
        if weight.shape[1] == 1:
            part = (powered * weight[:, 0]).sum(-1, keepdim=True)
        elif weight.shape[0] == 1:
            part = (powered[:, 0] @ weight[0].T)[:, None]
        else:
            part = torch.einsum("nmr,mcr->nmc", powered, weight)
        total = total + part
    return total


def signed_root(values: Tensor, order: int) -> Tensor:
    """Geometric rescaling ``sign(x) abs(x)^(1/order)``, with gradient 0 at 0.

    Equation 3 of the paper; defined for negative inputs.

    Examples
    --------
    >>> signed_root(torch.tensor([-4.0, 0.0, 9.0]), 2)
    tensor([-2., 0., 3.])
    """
    if order == 1:
        return values
    if not values.requires_grad:
        size = values.abs()
        root = size.sqrt() if order == 2 else size ** (1 / order)
        return torch.copysign(root, values)
    zero = values == 0
    size = torch.where(zero, torch.ones_like(values), values.abs())
    return torch.where(zero, torch.zeros_like(values), size ** (1 / order)) * (
        values.sign()
    )
