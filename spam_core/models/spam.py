"""SPAM, the glass box: a fitted polynomial in float64."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping

import torch
from torch import Tensor

from spam_core.data.encoding import Encoded, Marginals
from spam_core.data.sparse import SparseRows
from spam_core.models.factor_checks import as_rows, check_factors, check_marginals
from spam_core.models.factors import Factors, joined, make_factors, mean_of_members
from spam_core.models.feature_maps import (
    FeatureMap,
    FeatureMapName,
    Layout,
    LinearMap,
)
from spam_core.models.networks import NetworkMap
from spam_core.models.polynomial import polynomial

_BLOCK = 1 << 22  # floats in a temporary while rows are scored


class SPAM:
    """A polynomial additive model whose terms can be read off.

    Parameters
    ----------
    feature_map : FeatureMap
        phi.
    bias : Tensor of shape (M, C)
        M members, C outputs.
    weights : mapping of order l to Tensor of shape (P, M, R_l)
        Basis vectors u; at order 1, R_1 = C.
    lam : mapping of order l >= 2 to Tensor of shape (M, C, R_l)
        Singular values lambda.
    marginals : Marginals, optional
        Training distribution; needed by centred maps, unknown cells and pure terms.
    joint : bool
        A basis spans the networks of all members; the model is then one polynomial
        and no longer a mean of several. Only for maps that hold networks.

    Notes
    -----
    The mean of M polynomials is one polynomial with the components of all, each lambda
    divided by M. With several outputs, parameters are centred over outputs, which
    changes no probability: `score` gives centred logits.

    Examples
    --------
    ``3 + x0 + 2 (sqrt(x0) - sqrt(x1))^2``, since order 2 sees square roots:

    >>> t = lambda *v: torch.tensor(v, dtype=torch.float64)
    >>> model = SPAM.from_factors(
    ...     t(3.0), t([1.0, 0.0]), {2: (t([2.0]), t([1.0, -1.0]))}
    ... )
    >>> model.score(t([4.0, 1.0]))
    tensor([[9.]], dtype=torch.float64)
    """

    def __init__(
        self,
        feature_map: FeatureMap,
        bias: Tensor,
        weights: Mapping[int, Tensor],
        lam: Mapping[int, Tensor],
        marginals: Marginals | None = None,
        joint: bool = False,
    ) -> None:
        self.joint = joint
        self.feature_map = feature_map.requires_grad_(False)
        self.member_bias = bias
        self.member_weights = dict(weights)
        self.member_lam = dict(lam)
        self.marginals = marginals
        self._factors: Factors | None = None

    @classmethod
    def from_factors(
        cls,
        bias: Tensor,
        linear: Tensor,
        factors: Mapping[int, tuple[Tensor, Tensor]],
        feature_map: FeatureMapName = "linear",
        marginals: Marginals | None = None,
    ) -> SPAM:
        """Build a SPAM-Linear from its factors, in the dtype given.

        Parameters
        ----------
        bias : Tensor of shape (C,)
            One for each output.
        linear : Tensor of shape (C, p)
            Weights of order 1.
        factors : mapping of order l >= 2 to (lam, U)
            lam of shape (C, r), U of shape (r, p).
        feature_map : {"linear"}
            Only the linear map has no parameters of its own.
        marginals : Marginals, optional
            Distribution of each column, such as a fitted ``TableEncoder.marginals``;
            needed for pure terms.

        Raises
        ------
        ValueError
            If shapes disagree, an order isn't in 2..4, the map isn't linear, or there
            are marginals of levels or of factors that aren't float64.
        """
        if feature_map != "linear":
            raise ValueError(
                f'from_factors needs feature_map="linear", got {feature_map!r}'
            )
        check_factors(bias, linear, factors)
        columns = linear.shape[1]
        weights, lams = {1: linear.T[:, None, :]}, {}
        for order, (lam, basis) in sorted(factors.items()):
            weights[order] = basis.T[:, None, :]
            lams[order] = lam[None]
        if marginals is not None:
            check_marginals(marginals, columns, bias.dtype)
        layout = Layout((1,) * columns, (0,) * columns)
        model = cls(LinearMap(layout), bias[None], weights, lams, marginals)
        model._centre = False  # keep the factors exactly as given
        return model

    _centre = True

    @property
    def n_members(self) -> int:
        """M: members whose mean the model is."""
        return len(self.member_bias)

    @property
    def n_outputs(self) -> int:
        """C: 1 for regression and binary classification, else the classes."""
        return self.member_bias.shape[1]

    @property
    def orders(self) -> tuple[int, ...]:
        """Orders in the model, 1 first."""
        return tuple(self.member_weights)

    @property
    def n_parameters(self) -> int:
        """Numbers in the fitted model, all members together."""
        own = sum(p.numel() for p in self.feature_map.parameters())
        parts = [self.member_bias, *self.member_weights.values()]
        return own + sum(t.numel() for t in (*parts, *self.member_lam.values()))

    def member(self, index: int) -> SPAM:
        """Return the polynomial of one member."""
        if self.joint:
            return self
        feature_map = self.feature_map
        if isinstance(feature_map, NetworkMap):
            feature_map = feature_map.member(index)
        keep = slice(index, index + 1)
        return SPAM(
            feature_map,
            self.member_bias[keep],
            {order: w[:, keep] for order, w in self.member_weights.items()},
            {order: v[keep] for order, v in self.member_lam.items()},
            self.marginals,
        )

    def to(self, device: torch.device | str, dtype: torch.dtype) -> SPAM:
        """Return a copy elsewhere, or in another precision, such as for a GPU.

        Scores of rows in that precision, and on that device, come out likewise.
        """
        moved = self.marginals
        if moved is not None:
            weights = moved.weights.to(device, dtype)
            moved = Marginals(moved.nodes.to(device, dtype), weights)
        model = SPAM(
            copy.deepcopy(self.feature_map).to(device, dtype),
            self.member_bias.to(device, dtype),
            {order: w.to(device, dtype) for order, w in self.member_weights.items()},
            {order: v.to(device, dtype) for order, v in self.member_lam.items()},
            moved,
            self.joint,
        )
        model._centre = self._centre
        return model

    def score(
        self, rows: Encoded | SparseRows | Tensor, *, collapsed: bool = True
    ) -> Tensor:
        """Score rows.

        Parameters
        ----------
        rows : Encoded or SparseRows of n rows, or Tensor of shape (n, d)
            A tensor is taken as model inputs: scaled numbers.
        collapsed : bool
            Score with as few components as the same polynomial needs; False scores
            every member's components and averages.

        Returns
        -------
        Tensor of shape (n, C)
        """
        if isinstance(rows, Tensor):
            rows = as_rows(rows)
        factors = self.factors if collapsed else self._member_factors()
        width = sum(
            table.shape[1] * table.shape[2] for table in factors.tables.values()
        )
        block = max(1, _BLOCK // max(width, 1))
        parts = [
            self._score_block(rows[start : start + block], factors)
            for start in range(0, max(len(rows), 1), block)
        ]
        return torch.cat(parts)

    def component_scores(
        self, rows: Encoded | Tensor, orders: Iterable[int] | None = None
    ) -> dict[int, Tensor]:
        """Scores ``g_{l,rho,i}(x_i)`` of each feature, by order.

        Parameters
        ----------
        rows : Encoded of n rows, or Tensor of shape (n, d)
        orders : iterable of int, optional
            Those wanted; None: all.

        Returns
        -------
        dict of order l to Tensor of shape (n, d, R_l)
            An unknown cell has its feature's training mean.
        """
        rows = as_rows(rows)
        result = {}
        unknown = rows.unknown
        any_unknown = bool(unknown.any())
        for order in self.orders if orders is None else orders:
            table = self.factors.tables[order]
            scores = self.feature_map.scores(rows, order, table)
            if order in self.factors.means:
                means = self.factors.means[order]
                if self.feature_map.centred:
                    scores -= means
                    if any_unknown:
                        scores[unknown] = 0.0
                elif any_unknown:
                    scores = scores + means * unknown[:, :, None, None]
            result[order] = scores.sum(2) if self.joint else scores.flatten(2)
        return result

    def component_sums(self, rows: Encoded | Tensor, order: int) -> Tensor:
        """Scores of `component_scores` summed over features, never written out.

        Returns
        -------
        Tensor of shape (n, R_l)
        """
        return self._sums(as_rows(rows), order, self.factors).flatten(1)

    def weighted_scores(
        self, rows: Encoded | Tensor, order: int, vectors: Tensor
    ) -> Tensor:
        """Scores of `component_scores` summed over components, with weights a row.

        What a feature's Shapley value needs of the components, without the (n, d, R)
        scores where the feature map can avoid them.

        Parameters
        ----------
        rows : Encoded of n rows, or Tensor of shape (n, d)
        order : int
            In the model.
        vectors : Tensor of shape (n, C, R_l)
            C weights of each component, in the dtype of the model.

        Returns
        -------
        Tensor of shape (n, d, C)
            ``sum_rho g_{l,rho,i}(x_i) v_{n,c,rho}``.
        """
        rows = as_rows(rows)
        table = self.factors.tables[order]
        if self.joint:  # a component is the sum of all members' networks
            vectors = vectors.repeat(1, 1, table.shape[1])
        result = self.feature_map.weighted_scores(rows, order, table, vectors)
        unknown = rows.unknown
        if order in self.factors.means:
            means = self.factors.means[order].flatten(1)
            if self.feature_map.centred:
                result -= (vectors @ means.T).transpose(1, 2) * ~unknown[:, :, None]
            elif bool(unknown.any()):
                result += (vectors @ means.T).transpose(1, 2) * unknown[:, :, None]
        return result

    @property
    def bias(self) -> Tensor:
        """Constant of the collapsed polynomial, (C,)."""
        return self.factors.bias.sum(0)

    @property
    def lam(self) -> dict[int, Tensor]:
        """Lambda of the collapsed polynomial by order, (C, R_l).

        At order 1 components are the outputs' own additive parts, so it is 0 or 1.
        """
        factors = self.factors
        groups = 1 if self.joint else factors.tables[1].shape[1]
        eye = torch.eye(self.n_outputs, dtype=factors.bias.dtype)
        higher = {k: v.permute(1, 0, 2).flatten(1) for k, v in factors.lam.items()}
        return {1: eye.repeat(1, groups), **higher}

    def coefficient_gram(self, order: int) -> Tensor:
        """Inner products of the collapsed components' coefficients, (R, R)."""
        weights = self.factors.weights[order]
        if self.feature_map.needs_members and not self.joint:
            # members' networks are different columns: nothing in common
            gram: Tensor = torch.block_diag(*(w.T @ w for w in weights.unbind(1)))
            return gram
        flat = weights.flatten(0, 1) if self.joint else weights.flatten(1)
        return flat.T @ flat

    def recombined(
        self, combine: Mapping[int, Tensor], lam: Mapping[int, Tensor]
    ) -> SPAM:
        """One polynomial whose components are combinations of the collapsed ones.

        Parameters
        ----------
        combine : mapping of order to Tensor of shape (R, r)
            Column j makes the new component j; orders left out stay as they are.
        lam : mapping of order to Tensor of shape (C, r)
            Lambda of the new components.
        """
        factors, old = self.factors, self.lam
        networks = self.feature_map.needs_members
        weights, new = {1: factors.weights[1]}, {}
        for order in factors.lam:
            basis = factors.weights[order]
            mix = combine.get(order)
            if mix is None:
                mix = torch.eye(old[order].shape[1], dtype=basis.dtype)
            if networks and not self.joint:
                by_member = mix.unflatten(0, basis.shape[1:])
                weights[order] = torch.einsum("pmq,mqr->pmr", basis, by_member)
            else:
                weights[order] = basis @ mix
            new[order] = lam.get(order, old[order])[None]
        bias = factors.bias.sum(0, keepdim=True)
        model = SPAM(self.feature_map, bias, weights, new, self.marginals, networks)
        model._centre = self._centre
        return model

    @property
    def factors(self) -> Factors:
        """Factors with as few components as the same polynomial needs."""
        if self._factors is None:
            self._factors = self._collapse()
        return self._factors

    def _score_block(self, rows: Encoded | SparseRows, factors: Factors) -> Tensor:
        sums = {order: self._sums(rows, order, factors) for order in factors.tables}
        return polynomial(factors.bias, sums, factors.lam).sum(1)

    def _sums(self, rows: Encoded | SparseRows, order: int, factors: Factors) -> Tensor:
        """Inner sums of one order: (n, M, R_l), one group if the basis is joint."""
        table = factors.tables[order]
        # only linear maps, which take them, are fitted to sparse rows
        inner = self.feature_map.sums(rows, order, table)  # type: ignore[arg-type]
        if order in factors.means:
            means, unknown = factors.means[order], rows.unknown
            if bool(unknown.any()):
                mask = unknown.to(table.dtype)
                inner = inner + torch.einsum("nd,dmr->nmr", mask, means)
            if self.feature_map.centred:
                inner = inner - means.sum(0)
        return inner.sum(1, keepdim=True) if self.joint else inner

    def _member_factors(self) -> Factors:
        """Every member's own factors, divided by their number."""
        return make_factors(self.feature_map, self.marginals, *self._divided())

    def _divided(self) -> tuple[Tensor, dict[int, Tensor], dict[int, Tensor]]:
        centre = self.n_outputs > 1 and self._centre
        own = self.member_bias, self.member_weights, self.member_lam
        return mean_of_members(*own, centre)

    def _collapse(self) -> Factors:
        if self.feature_map.needs_members:
            return self._member_factors()
        one = joined(*self._divided())
        return make_factors(self.feature_map, self.marginals, *one)
