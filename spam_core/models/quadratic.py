"""Linear and full-rank quadratic models while they are trained, M members at once."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from spam_core.data.encoding import Encoded, Marginals
from spam_core.data.sparse import SparseRows
from spam_core.models.feature_maps import LinearMap
from spam_core.models.spam import SPAM

_BLOCK_ROWS = 4096


@dataclass(frozen=True)
class Standardisation:
    """Where columns are centred, and the lengths of columns and of products.

    Attributes
    ----------
    mean : Tensor of shape (P,)
        Training means of the columns.
    scale : Tensor of shape (P,)
        Multiplies centred columns: 1 / sd for numbers, 1 for levels, so that a rare
        level isn't blown up.
    pair_scale : Tensor of shape (P, P)
        Multiplies products i < j of columns of different features; 0 elsewhere. A
        product that varies more than a column does is brought down to root mean
        square 1. Empty at order 1.
    """

    mean: Tensor
    scale: Tensor
    pair_scale: Tensor

    @classmethod
    def of(
        cls,
        feature_map: LinearMap,
        rows: Encoded | SparseRows,
        weight: Tensor,
        order: int,
    ) -> Standardisation:
        """Measure training rows.

        Parameters
        ----------
        feature_map : LinearMap
        rows : Encoded or SparseRows of n rows, float64
            Columns of sparse rows stay as they are, so that 0 stays 0.
        weight : Tensor of shape (n,)
            Mean 1.
        order : {1, 2}
        """
        columns = feature_map.n_columns
        mean = torch.zeros(columns, dtype=torch.float64)
        scale, pairs = torch.ones_like(mean), mean.new_zeros(0, 0)
        if isinstance(rows, SparseRows):
            return cls(mean, scale, pairs)
        weight = weight / weight.sum()
        blocks = [
            slice(start, start + _BLOCK_ROWS)
            for start in range(0, len(rows), _BLOCK_ROWS)
        ]
        for block in blocks:
            mean += weight[block] @ feature_map.phi(rows[block])
        variance = torch.zeros_like(mean)
        for block in blocks:
            centred = feature_map.phi(rows[block]) - mean
            variance += weight[block] @ centred.square()
        numbers = slice(0, feature_map.n_numeric)
        scale[numbers] = variance[numbers].clamp_min(1e-24).rsqrt()
        if order == 1:
            return cls(mean, scale, pairs)
        squares = mean.new_zeros(columns, columns)
        for block in blocks:
            z = (feature_map.phi(rows[block]) - mean) * scale
            squares += (z.square() * weight[block, None]).T @ z.square()
        owner = feature_map.feature_of_column
        products = torch.triu(owner[:, None] != owner, diagonal=1)
        return cls(mean, scale, squares.clamp_min(1).rsqrt() * products)


class QuadraticEnsemble(nn.Module):
    """M linear models, or M quadratic ones of full rank, trained together.

    ``b + sum_i a_i z_i + sum_{i<j} w_ij z_i z_j`` over standardised columns z: numbers
    and one-hot levels. Products of two columns of one feature aren't among them. Being
    centred makes the descent well conditioned; `freeze` expands the polynomial in the
    plain columns.

    Parameters
    ----------
    feature_map : LinearMap
        Without rescaling.
    n_members, n_outputs : int
        M and C.
    standardisation : Standardisation
        With lengths of products for a quadratic model.
    penalty : Tensor of shape (M,)
        Each member's quadratic penalty, divided by the number of rows.
    """

    mean: Tensor
    scale: Tensor
    pair_scale: Tensor
    penalty: Tensor

    def __init__(
        self,
        feature_map: LinearMap,
        n_members: int,
        n_outputs: int,
        standardisation: Standardisation,
        penalty: Tensor,
    ) -> None:
        super().__init__()
        if feature_map.rescale:
            raise ValueError("Expected LinearMap(rescale=False): products are plain")
        self.feature_map = feature_map
        self.standardisation = standardisation
        for name in ("mean", "scale", "pair_scale"):
            value = getattr(standardisation, name).float()
            self.register_buffer(name, value, persistent=False)
        self.register_buffer("penalty", penalty[:, None], persistent=False)
        columns, products = feature_map.n_columns, len(self.pair_scale)
        self.bias = nn.Parameter(torch.zeros(n_members, n_outputs))
        self.linear = nn.Parameter(torch.zeros(columns, n_members, n_outputs))
        self.pairs = nn.Parameter(
            torch.zeros(products, n_members, n_outputs, products),
            requires_grad=products > 0,
        )

    def forward(self, rows: Encoded | SparseRows) -> Tensor:
        """Scores of shape (n, M, C)."""
        if isinstance(rows, SparseRows):
            return self.feature_map.sums(rows, 1, self.linear) + self.bias
        z = (self.feature_map.phi(rows) - self.mean) * self.scale
        shape = (len(z), *self.bias.shape)
        scores = self.bias + (z @ self.linear.flatten(1)).reshape(shape)
        if not self.pairs.requires_grad:
            return scores
        weights = self.pairs * self.pair_scale[:, None, None, :]
        inner = (z @ weights.flatten(1)).reshape(*shape, z.shape[1])
        return scores + (inner @ z[:, None, :, None])[..., 0]

    def project(self) -> None:
        """Nothing: all weights are feasible."""

    @torch.no_grad()
    def shrink(self, amount: float) -> None:
        """Proximal step of the L1 norm on all weights but the bias: exact zeros."""
        for weights in (self.linear, self.pairs):
            weights.copy_(weights.sign() * (weights.abs() - amount).clamp_(min=0))

    @torch.no_grad()
    def penalize(self, factor: Tensor) -> None:
        """Add the penalty's gradient, times a factor for each member, (M,)."""
        amount = 2 * factor[:, None] * self.penalty
        for weights, times in ((self.linear, amount), (self.pairs, amount[:, :, None])):
            if weights.grad is not None:
                weights.grad.addcmul_(weights, times)

    @torch.no_grad()
    def freeze(
        self,
        marginals: Marginals | None,
        offset: float = 0.0,
        factor: float = 1.0,
        members: slice = slice(None),
    ) -> SPAM:
        """Return the trained members as one glass-box polynomial in float64.

        The symmetric matrix of products of each class is eigen-decomposed, so that
        its components are a SPAM's of order 2 and of full rank.

        Parameters
        ----------
        marginals : Marginals, optional
            Training distribution; a sparse table has none.
        offset, factor : float
            Undo the target's standardisation.
        members : slice
            Which members to keep.
        """
        mean, scale = self.standardisation.mean, self.standardisation.scale
        bias = self.bias[members].double().cpu() * factor + offset
        linear = self.linear[:, members].double().cpu() * factor
        linear = linear * scale[:, None, None]
        bias = bias - torch.einsum("p,pmc->mc", mean, linear)
        weights, lam = {1: linear}, {}
        if self.pairs.requires_grad:
            length = self.standardisation.pair_scale * scale[:, None] * scale
            pairs = self.pairs[:, members].double().cpu().permute(1, 2, 0, 3)
            upper = pairs * (length * factor)
            matrix = (upper + upper.mT) / 2  # (M, C, P, P)
            shift = matrix @ mean
            bias = bias + shift @ mean
            weights[1] = linear - 2 * shift.permute(2, 0, 1)
            weights[2], lam[2] = _components(matrix)
        feature_map = LinearMap(self.feature_map.layout, rescale=False).double()
        return SPAM(feature_map, bias, weights, lam, marginals)


def _components(matrix: Tensor) -> tuple[Tensor, Tensor]:
    """Eigenvectors, (P, M, C * P), and eigenvalues, (M, C, C * P), of (M, C, P, P)."""
    members, outputs, columns, _ = matrix.shape
    values, vectors = torch.linalg.eigh(matrix)
    lam = matrix.new_zeros(members, outputs, outputs, columns)
    each = torch.arange(outputs)
    lam[:, each, each] = values
    return vectors.permute(2, 0, 1, 3).flatten(2), lam.flatten(2)
