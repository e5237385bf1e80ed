"""The numbers of one polynomial, and the fewest that give the same polynomial."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Factors:
    """Numbers of one polynomial, ready for `polynomial`.

    Attributes
    ----------
    bias : Tensor of shape (M, C)
    weights : dict of order to Tensor of shape (P, M, R_l)
        Basis vectors.
    tables : dict of order to Tensor of shape (P, M, R_l)
        What `FeatureMap.sums` looks up.
    lam : dict of order >= 2 to Tensor of shape (M, C, R_l)
    means : dict of order to Tensor of shape (d, M, R_l)
        Mean score of each feature under its training marginal, before centring.
    """

    bias: Tensor
    weights: dict[int, Tensor]
    tables: dict[int, Tensor]
    lam: dict[int, Tensor]
    means: dict[int, Tensor]


def fewest_components(basis: Tensor, lam: Tensor) -> tuple[Tensor, Tensor]:
    """Eigen-decompose ``W_c = U diag(lam_c) U^T`` where that leaves fewer components.

    Parameters
    ----------
    basis : Tensor of shape (P, R)
    lam : Tensor of shape (C, R)

    Returns
    -------
    basis, lam : Tensor of shapes (P, R'), (C, R'), R' = min(R, C * used columns)
    """
    used = (basis != 0).any(1)
    outputs, columns = len(lam), int(used.sum())
    if not columns:  # nothing is left of this order; one component says so
        return basis[:, :1], torch.zeros_like(lam[:, :1])
    if outputs * columns >= basis.shape[1]:
        return basis, lam
    small = basis[used]
    vectors, values = [], basis.new_zeros(outputs, outputs * columns)
    for c in range(outputs):
        eigenvalues, eigenvectors = torch.linalg.eigh(small * lam[c] @ small.T)
        vectors.append(eigenvectors)
        values[c, c * columns : (c + 1) * columns] = eigenvalues
    result = basis.new_zeros(len(basis), outputs * columns)
    result[used] = torch.cat(vectors, 1)
    return result, values
