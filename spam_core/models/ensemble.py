"""SPAM while it is trained: M members at once, as a batch dimension."""

from __future__ import annotations

import copy
from collections.abc import Mapping

import torch
from torch import Tensor, nn

from spam_core.data.encoding import Encoded, Marginals
from spam_core.models.feature_maps import ColumnScale, FeatureMap
from spam_core.models.polynomial import polynomial
from spam_core.models.spam import SPAM

_ROUNDING = 1e-3  # width of the bend in place of an absolute value's corner


class SPAMEnsemble(nn.Module):
    """M polynomials over one encoder, trained together.

    Parameters
    ----------
    feature_map : FeatureMap
        phi; shared by the members unless it holds networks.
    ranks : mapping of order l >= 2 to int
        Components r_l of each order; empty for an additive model.
    n_members, n_outputs : int
        M and C.
    marginals : Marginals
        Training distribution, for centring.
    generator : torch.Generator
        Draws initial weights and dropout masks; global state isn't touched.
    shared_bases : bool
        Outputs share u and differ in lambda (paper, section 3.2); else each its own.
    basis_dropout : float
        Probability that a component is left out of a step (paper, section 3.2).
    nonnegative : bool
        Keep all of u and lambda >= 0 by projection (Proposition 1's setting).
    init_scale : float
        Standard deviation of the initial bases.

    Notes
    -----
    Parameters are `weights` of shape (P, M, C + r_2 + .. + r_k), all orders side by
    side, and `lam[l]` of shape (M, C, r_l). The effective basis is ``scale * weights``:
    a scale per column and member gives each its own step length, since Adam's steps
    don't depend on the gradient's size.
    """

    column_means: Tensor
    first_means: Tensor
    scale_first: Tensor
    scale_rest: Tensor
    penalty: Tensor
    penalty_lam: Tensor
    variation: Tensor

    def __init__(
        self,
        feature_map: FeatureMap,
        ranks: Mapping[int, int],
        n_members: int,
        n_outputs: int,
        marginals: Marginals | None,
        generator: torch.Generator,
        *,
        shared_bases: bool = True,
        basis_dropout: float = 0.0,
        nonnegative: bool = False,
        init_scale: float = 0.02,
    ) -> None:
        super().__init__()
        self.feature_map = feature_map
        self.marginals = marginals
        self.generator = generator
        self.n_members, self.n_outputs = n_members, n_outputs
        self.shared_bases, self.nonnegative = shared_bases, nonnegative
        self.basis_dropout = basis_dropout
        self.bias = nn.Parameter(torch.zeros(n_members, n_outputs))
        self.columns = {1: slice(0, n_outputs)}
        parts = [torch.zeros(feature_map.n_columns, n_members, n_outputs)]
        self.lam = nn.ParameterDict()
        for order, rank in ranks.items():
            width = rank if shared_bases else rank * n_outputs
            start = self.columns[order - 1].stop
            self.columns[order] = slice(start, start + width)
            basis = torch.empty(feature_map.n_columns, n_members, width)
            basis.normal_(0.0, init_scale, generator=generator)
            lam = torch.empty(n_members, n_outputs, rank)
            bound = rank**-0.5
            lam.uniform_(-bound, bound, generator=generator)
            if nonnegative:
                basis, lam = basis.abs(), lam.abs()
            parts.append(basis)
            self.lam[str(order)] = nn.Parameter(lam)
        padding = (feature_map.feature_of_column < 0)[:, None, None]
        self.weights = nn.Parameter(torch.cat(parts, 2).masked_fill_(padding, 0))
        means = torch.zeros(0, dtype=torch.float64)
        if feature_map.centred:
            assert marginals is not None, "only sparse tables have none"
            means = feature_map.column_means(marginals)
        self.register_buffer("column_means", means.float())
        self.register_buffer("first_means", torch.zeros(0), persistent=False)
        ones = torch.ones(feature_map.n_columns, n_members)
        self.set_scale(ones, ones)
        self.set_penalty(*torch.zeros(3, n_members))

    @property
    def orders(self) -> tuple[int, ...]:
        """Orders in the model, 1 first."""
        return tuple(self.columns)

    def set_scale(self, first: Tensor, rest: Tensor) -> None:
        """Set the length of columns, (P, M) each, at order 1 and above it."""
        self.register_buffer("scale_first", first[:, :, None], persistent=False)
        self.register_buffer("scale_rest", rest[:, :, None], persistent=False)

    def centre_first(self, means: Tensor) -> None:
        """Centre order 1's columns while they train, if the map doesn't centre.

        Otherwise every step of a slope moves all scores, and the constant follows.
        `freeze` gives the same polynomial of columns that aren't centred.

        Parameters
        ----------
        means : Tensor of shape (P,)
        """
        self.register_buffer("first_means", means.float(), persistent=False)

    def _constant(self) -> Tensor:
        """Bias of the polynomial whose columns aren't centred: (M, C)."""
        if not len(self.first_means):
            return self.bias
        slopes = self.weights[:, :, : self.n_outputs] * self.scale_first
        return self.bias - torch.einsum("p,pmc->mc", self.first_means, slopes)

    @property
    def scale(self) -> ColumnScale:
        """Length of columns."""
        return ColumnScale(self.scale_first, self.scale_rest, self.n_outputs)

    def forward(self, rows: Encoded) -> Tensor:
        """Scores of shape (n, M, C)."""
        sums = self.feature_map.ensemble_sums(
            rows, self.weights, self.scale, self.column_means, self.columns
        )
        lam = {int(order): self._dropped(value) for order, value in self.lam.items()}
        if not self.shared_bases:
            lam = {order: _block_diagonal(value) for order, value in lam.items()}
        return polynomial(self._constant(), sums, lam)

    def _dropped(self, lam: Tensor) -> Tensor:
        if not (self.training and self.basis_dropout > 0):
            return lam
        keep = 1 - self.basis_dropout
        mask = torch.rand(
            (lam.shape[0], 1, lam.shape[2]),
            generator=self.generator,
            device=lam.device,
        )
        return lam * (mask < keep) / keep

    def set_penalty(self, first: Tensor, rest: Tensor, variation: Tensor) -> None:
        """Set each member's penalties, (M,) each.

        Parameters
        ----------
        first, rest : Tensor of shape (M,)
            On squares: of order 1's weights, and of all others.
        variation : Tensor of shape (M,)
            On absolute values of order 1's weights.
        """
        width = self.weights.shape[2]
        index = torch.arange(width) < self.n_outputs
        by_column = torch.where(index, first[:, None], rest[:, None])
        self.register_buffer("penalty", by_column, persistent=False)
        self.register_buffer("penalty_lam", rest[:, None, None], persistent=False)
        self.register_buffer("variation", variation[:, None], persistent=False)

    @torch.no_grad()
    def penalize(self, factor: Tensor) -> None:
        """Add the penalties' gradient, times a factor for each member.

        Parameters
        ----------
        factor : Tensor of shape (M,)
        """
        _add_product(self.weights, self.penalty * (2 * factor[:, None]))
        if self.weights.grad is not None:
            first = self.weights[:, :, : self.n_outputs]
            # rounded at 0, where an absolute value has no gradient
            sign = first * (first.square() + _ROUNDING**2).rsqrt()
            gradient = self.weights.grad[:, :, : self.n_outputs]
            gradient.addcmul_(sign, self.variation * factor[:, None])
        for lam in self.lam.values():
            _add_product(lam, self.penalty_lam * (2 * factor[:, None, None]))

    @torch.no_grad()
    def project(self) -> None:
        """Return to the feasible set after a step, if there is one."""
        if self.nonnegative:
            for parameter in (self.weights, *self.lam.values()):
                parameter.clamp_(min=0)

    @torch.no_grad()
    def shrink(self, amount: float) -> None:
        """Proximal step of the L1 norm on the bases: exact zeros."""
        weights = self.weights
        weights.copy_(weights.sign() * (weights.abs() - amount).clamp_(min=0))

    @torch.no_grad()
    def freeze(
        self,
        offset: Tensor | None = None,
        factor: float = 1.0,
        members: slice = slice(None),
    ) -> SPAM:
        """Return the trained members as one glass-box polynomial in float64.

        Parameters
        ----------
        offset : Tensor of shape (C,), optional
            Added to the bias.
        factor : float
            Multiplies all scores (undoes the scaling of a regression's target).
        members : slice
            Which members to keep.
        """
        feature_map = copy.deepcopy(self.feature_map).double().cpu()
        bias = self._constant()[members].double().cpu() * factor
        if offset is not None:
            bias = bias + offset.double()
        effective = self.weights.detach().clone()
        self.scale.apply(effective, out=effective)
        effective = effective[:, members].double().cpu()
        weights = {order: effective[:, :, part] for order, part in self.columns.items()}
        weights[1] = weights[1] * factor
        lam = {int(order): v[members].double().cpu() for order, v in self.lam.items()}
        if not self.shared_bases:
            lam = {order: _block_diagonal(value) for order, value in lam.items()}
        lam = {order: value * factor for order, value in lam.items()}
        return SPAM(feature_map, bias, weights, lam, self.marginals)


def _add_product(parameter: Tensor, factor: Tensor) -> None:
    if parameter.grad is not None:  # else no column varies, and none was used
        parameter.grad.addcmul_(parameter, factor)


def _block_diagonal(lam: Tensor) -> Tensor:
    """Lambda of bases that aren't shared: (M, C, r) to (M, C, C * r)."""
    members, outputs, rank = lam.shape
    eye = torch.eye(outputs, dtype=lam.dtype, device=lam.device)
    full = lam[:, :, None, :] * eye[None, :, :, None]
    return full.reshape(members, outputs, outputs * rank)
