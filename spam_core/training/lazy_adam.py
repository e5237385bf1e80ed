"""Adam for sparse tables: it changes the weights that a step uses, and no others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor
from torch.optim.adamw import adamw

from spam_core.models.sparse_ensemble import SparseEnsemble
from spam_core.training.adamw import BETAS, EPSILON, AdamW
from spam_core.training.config import TrainingConfig

_BASIS_PENALTY = 100.0  # of bases, relative to that of order 1
_BASIS_SPEED = 0.2  # step length of bases and lambda relative to that of order 1


class LazyAdam:
    """Adam that changes the rows of a table that a batch uses, and no others.

    Parameters
    ----------
    ensemble : SparseEnsemble of M members
    config : TrainingConfig
        The learning rate is that of order 1; its `l1` isn't used.
    l2 : Tensor of shape (P, M, 1), optional
        What a weight of order 1 is multiplied by in its gradient.
    l1 : sequence of M floats
        Each step shrinks the weights it moves by learning rate x l1.
    """

    def __init__(
        self,
        ensemble: SparseEnsemble,
        config: TrainingConfig,
        l2: Tensor | None,
        l1: Sequence[float],
    ) -> None:
        self.ensemble, self.config, self.l2 = ensemble, config, l2
        self.l1 = torch.tensor(l1)[:, None] if any(l1) else None  # (M, 1)
        self.moments = {
            order: (torch.zeros_like(table), torch.zeros_like(table))
            for order, table in ensemble.tables.items()
        }
        rate = config.learning_rate * _BASIS_SPEED
        self.dense = AdamW(ensemble.dense, rate, config.weight_decay)
        self.steps = {order: torch.zeros(()) for order in ensemble.tables}

    @torch.no_grad()
    def step(
        self,
        columns: Tensor,
        tables: Mapping[int, Tensor],
        gradients: Mapping[int, Tensor],
        pace: float,
    ) -> None:
        """Move the weights of some columns, (U, M, R_l), in place and in the model."""
        config = self.config
        for order, gradient in gradients.items():
            speed = 1.0 if order == 1 else _BASIS_SPEED
            rate = config.learning_rate * pace * speed
            value = tables[order]
            if self.l2 is not None:
                l2 = self.l2[columns] * (1.0 if order == 1 else _BASIS_PENALTY)
                gradient = gradient + value * l2
            moments = [m.index_select(0, columns) for m in self.moments[order]]
            adamw(
                [value],
                [gradient.contiguous()],
                [moments[0]],
                [moments[1]],
                [],
                [self.steps[order]],  # counted on by the call
                fused=True,
                amsgrad=False,
                beta1=BETAS[0],
                beta2=BETAS[1],
                lr=rate,
                weight_decay=config.weight_decay,
                eps=EPSILON,
                maximize=False,
            )
            if self.l1 is not None:
                small = (value.abs() - rate * self.l1).clamp_(min=0)
                value = value.sign() * small
            self.ensemble.tables[order].index_copy_(0, columns, value)
            for moment, now in zip(self.moments[order], moments, strict=True):
                moment.index_copy_(0, columns, now)
        self.dense.rate = config.learning_rate * pace * _BASIS_SPEED
        self.dense.step()
        self.dense.zero_grad()
