"""The numbers of one polynomial, how members' become one's, and the fewest that do."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from spam_core.data.encoding import Marginals
from spam_core.models.feature_maps import FeatureMap

_NODES = 256  # of the marginals at a time, which bounds the temporary


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


def make_factors(
    feature_map: FeatureMap,
    marginals: Marginals | None,
    bias: Tensor,
    weights: dict[int, Tensor],
    lam: dict[int, Tensor],
) -> Factors:
    """Work out what scoring looks up.

    Parameters
    ----------
    feature_map : FeatureMap
    marginals : Marginals, optional
        Without them there are no means.
    bias, weights, lam : see `Factors`
    """
    with torch.no_grad():
        tables = {k: feature_map.table(w.contiguous()) for k, w in weights.items()}
        means = {}
        if marginals is not None:
            means = {
                order: _mean_scores(feature_map, marginals, order, table)
                for order, table in tables.items()
            }
    return Factors(bias, weights, tables, lam, means)


def _mean_scores(
    feature_map: FeatureMap, marginals: Marginals, order: int, table: Tensor
) -> Tensor:
    """Mean of each feature's scores over its nodes, (d, M, R)."""
    total = torch.zeros(())
    for start in range(0, len(marginals.nodes), _NODES):
        rows = slice(start, start + _NODES)
        scores = feature_map.scores(marginals.nodes[rows], order, table)
        total = total + torch.einsum("kdmr,kd->dmr", scores, marginals.weights[rows])
    return total


def mean_of_members(
    bias: Tensor, weights: dict[int, Tensor], lam: dict[int, Tensor], centre: bool
) -> tuple[Tensor, dict[int, Tensor], dict[int, Tensor]]:
    """Divide members by their number, so that their mean is a sum.

    Parameters
    ----------
    bias, weights, lam : see `Factors`
    centre : bool
        Take away the mean over outputs, which changes no probability.
    """
    n = len(bias)
    bias, weights = bias / n, {**weights, 1: weights[1] / n}
    lam = {order: values / n for order, values in lam.items()}
    if centre:
        bias = bias - bias.mean(1, keepdim=True)
        weights[1] = weights[1] - weights[1].mean(2, keepdim=True)
        lam = {k: v - v.mean(1, keepdim=True) for k, v in lam.items()}
    return bias, weights, lam


def joined(
    bias: Tensor, weights: dict[int, Tensor], lam: dict[int, Tensor]
) -> tuple[Tensor, dict[int, Tensor], dict[int, Tensor]]:
    """Write the sum of M polynomials of the same columns as one.

    Parameters
    ----------
    bias, weights, lam : see `Factors`

    Returns
    -------
    bias, weights, lam
        With M = 1, and at each order the components of all.
    """
    one, values_of = {1: weights[1].sum(1, keepdim=True)}, {}
    for order, values in lam.items():
        basis = weights[order].flatten(1)  # (P, M * r)
        values = values.permute(1, 0, 2).flatten(1)  # (C, M * r)
        if order == 2:
            basis, values = fewest_components(basis, values)
        one[order], values_of[order] = basis[:, None, :], values[None]
    return bias.sum(0, keepdim=True), one, values_of


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
