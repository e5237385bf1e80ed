"""Additive models while they are trained: a NAM, and one with networks of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import Any

import torch
from torch import Tensor, nn

from spam_core.data.encoding import NUMBER, Encoded, Marginals
from spam_core.models.ensemble import SPAMEnsemble
from spam_core.models.feature_maps import FeatureMap, Layout
from spam_core.models.networks import BatchedLinear
from spam_core.models.tables import Pair

_BLOCK = 1 << 26  # floats in a layer while rows are scored


class PairNetworks(nn.Module):
    """A network for each feature that varies and one for each pair of them.

    Parameters
    ----------
    layout : Layout
        Sizes of the d features.
    hidden : sequence of int
        Hidden layers of each network.
    n_members, n_outputs : int
        M and C.
    generator : torch.Generator
        Draws weights and dropout masks.
    output_penalty : float
        Weight of the mean square of a network's outputs in the loss.
    feature_dropout : float
        Probability that a network is left out for a row of a step.

    Notes
    -----
    Shape: Encoded of n rows, numbers in [0, 1], to (n, M, C). A number enters a network
    as itself, a level as a one-hot code; all networks have room for the most levels.
    """

    features: Tensor
    first: Tensor
    second: Tensor

    def __init__(
        self,
        layout: Layout,
        hidden: Sequence[int],
        n_members: int,
        n_outputs: int,
        generator: torch.Generator,
        *,
        output_penalty: float = 0.0,
        feature_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        sizes = list(zip(layout.n_cells, layout.n_levels, strict=True))
        varying = [i for i, (cells, levels) in enumerate(sizes) if cells or levels]
        self.n_levels = max(layout.n_levels, default=0)
        self.n_members, self.n_outputs = n_members, n_outputs
        self.generator, self.widest = generator, max(hidden)
        self.output_penalty, self.feature_dropout = output_penalty, feature_dropout
        self.pairs: list[Pair] = list(combinations(varying, 2))
        place = {i: k for k, i in enumerate(varying)}
        index = torch.tensor([[place[i], place[j]] for i, j in self.pairs]).view(-1, 2)
        self.register_buffer("features", torch.tensor(varying, dtype=torch.long))
        self.register_buffer("first", index[:, 0].long())
        self.register_buffer("second", index[:, 1].long())
        self.bias = nn.Parameter(torch.zeros(n_members, n_outputs))
        width = 1 + self.n_levels
        self.singles = _networks(
            (n_members, len(varying)), [width, *hidden, n_outputs], generator
        )
        self.doubles = _networks(
            (n_members, len(self.pairs)), [2 * width, *hidden, n_outputs], generator
        )

    def inputs(self, rows: Encoded) -> Tensor:
        """Return what networks see of each feature: (K, n, 1 + most levels)."""
        values = rows.values[:, self.features].T
        codes = rows.codes[:, self.features].T.long()
        number = (codes == NUMBER)[:, :, None]
        centred = (2 * values - 1)[:, :, None] * number
        # one place more for what is no level, which is then cut off
        level = torch.where(codes < 0, self.n_levels, codes)
        one_hot = nn.functional.one_hot(level, self.n_levels + 1)
        return torch.cat([centred, one_hot[:, :, :-1].to(values.dtype)], dim=2)

    def one(self, index: int, inputs: Tensor) -> Tensor:
        """Ask one feature's network: (n, w) to (M, n, C)."""
        return _apply(self.singles, inputs[None], slice(index, index + 1))[:, 0]

    def two(self, index: int, first: Tensor, second: Tensor) -> Tensor:
        """Ask one pair's network: (n, w) of each side to (M, n, C)."""
        inputs = torch.cat([first, second], dim=1)[None]
        return _apply(self.doubles, inputs, slice(index, index + 1))[:, 0]

    def forward(self, rows: Encoded) -> Tensor:
        """Scores of shape (n, M, C)."""
        if self.training:
            return self._scores(rows)
        networks = self.n_members * max(len(self.pairs), len(self.features), 1)
        step = max(1, _BLOCK // (networks * self.widest))
        starts = range(0, max(len(rows), 1), step)
        return torch.cat([self._scores(rows[s : s + step]) for s in starts])

    def _scores(self, rows: Encoded) -> Tensor:
        inputs = self.inputs(rows)
        outputs = _apply(self.singles, inputs)
        if self.pairs:
            both = torch.cat([inputs[self.first], inputs[self.second]], dim=2)
            outputs = torch.cat([outputs, _apply(self.doubles, both)], dim=1)
        if not self.training:
            return outputs.sum(1).transpose(0, 1) + self.bias
        kept = drop_terms(outputs, self.feature_dropout, self.generator)
        scores = kept.sum(1).transpose(0, 1) + self.bias
        return penalize_outputs(scores, outputs, self.output_penalty)

    def project(self) -> None:
        """Nothing: all weights are feasible."""

    def shrink(self, amount: float) -> None:
        """Nothing: there are no bases."""

    def penalize(self, factor: Tensor) -> None:
        """Nothing: the outputs are penalised, and decay is the optimiser's."""


class AdditiveEnsemble(SPAMEnsemble):
    """A SPAM of order 1 while it is trained, its terms kept small or left out.

    Parameters
    ----------
    feature_map, n_members, n_outputs, marginals, generator : see `SPAMEnsemble`
    output_penalty, feature_dropout : see `PairNetworks`
    """

    def __init__(
        self,
        feature_map: FeatureMap,
        n_members: int,
        n_outputs: int,
        marginals: Marginals | None,
        generator: torch.Generator,
        *,
        output_penalty: float = 0.0,
        feature_dropout: float = 0.0,
    ) -> None:
        super().__init__(feature_map, {}, n_members, n_outputs, marginals, generator)
        self.output_penalty, self.feature_dropout = output_penalty, feature_dropout

    def forward(self, rows: Encoded) -> Tensor:
        """Scores of shape (n, M, C)."""
        if not (self.training and (self.output_penalty or self.feature_dropout)):
            return super().forward(rows)
        weights = self.weights * self.scale.full(self.n_outputs)
        outputs = self.feature_map.scores(rows, 1, weights).permute(2, 1, 0, 3)
        kept = drop_terms(outputs, self.feature_dropout, self.generator)
        scores = kept.sum(1).transpose(0, 1) + self.bias
        return penalize_outputs(scores, outputs, self.output_penalty)


def _networks(
    batch: tuple[int, ...], sizes: Sequence[int], generator: torch.Generator
) -> nn.ModuleList:
    return nn.ModuleList(
        BatchedLinear(batch, a, b, generator) for a, b in pairwise(sizes)
    )


def _apply(layers: nn.ModuleList, inputs: Tensor, which: slice = slice(None)) -> Tensor:
    """Ask networks, each with rows of its own: (K, n, w) to (M, K, n, C)."""
    hidden = inputs[None]
    for k, layer in enumerate(layers):
        assert isinstance(layer, BatchedLinear)
        hidden = hidden @ layer.weight[:, which] + layer.bias[:, which]
        if k + 1 < len(layers):
            hidden = hidden.relu()
    return hidden


def drop_terms(outputs: Tensor, share: float, generator: torch.Generator) -> Tensor:
    """Leave out terms of rows at random, scaling up what stays.

    Parameters
    ----------
    outputs : Tensor of shape (M, T, n, C)
    share : float
    generator : torch.Generator
    """
    if share == 0:
        return outputs
    shape = (*outputs.shape[:-1], 1)
    draws = torch.rand(shape, generator=generator, device=outputs.device)
    return outputs * (draws < 1 - share) / (1 - share)


def penalize_outputs(scores: Tensor, outputs: Tensor, weight: float) -> Tensor:
    """Return the scores; when gradients are taken, the penalty's are added to them.

    Parameters
    ----------
    scores : Tensor of shape (n, M, C)
    outputs : Tensor of shape (M, T, n, C)
        Whose squares cost `weight` times their mean over terms and rows, each member
        for itself.
    weight : float

    Notes
    -----
    The loop takes its loss from scores alone, which don't tell the terms apart.

    Examples
    --------
    >>> outputs = torch.tensor([[[[3.0]], [[-1.0]]]], requires_grad=True)
    >>> scores = penalize_outputs(outputs.sum(1).transpose(0, 1), outputs, 0.5)
    >>> scores.sum().backward()
    >>> scores.item(), outputs.grad.flatten().tolist()
    (2.0, [2.5, 0.5])
    """
    if weight == 0:
        return scores
    terms, rows = outputs.shape[1:3]
    penalty = weight * outputs.square().sum() / max(terms * rows, 1)
    result: Tensor = _WithPenalty.apply(scores, penalty)  # type: ignore[no-untyped-call]
    return result


class _WithPenalty(torch.autograd.Function):
    """Identity in the first argument that costs the second."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, penalty: Tensor) -> Tensor:  # noqa: ARG004
        return scores.view_as(scores)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor]:  # noqa: ARG004
        return gradients[0], torch.ones((), device=gradients[0].device)
