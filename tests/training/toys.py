"""A linear model that the loop can train, and rows for it."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from spam_core.data.encoding import NUMBER, Encoded
from spam_core.training.loop import TrainingData
from spam_core.training.losses import Task


class Linear(nn.Module):
    """M linear models; counts what the loop asks of it."""

    def __init__(self, d: int = 3, members: int = 2, outputs: int = 1) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(members, d, outputs))
        self.batches: list[int] = []
        self.projected = 0
        self.shrunk: list[float] = []
        self.factors: list[Tensor] = []

    def forward(self, rows: Encoded) -> Tensor:
        if self.training:
            self.batches.append(len(rows))
        return torch.einsum("nd,mdc->nmc", rows.values, self.weight)

    def project(self) -> None:
        self.projected += 1

    def shrink(self, amount: float) -> None:
        self.shrunk.append(amount)
        with torch.no_grad():
            kept = (self.weight.abs() - amount).clamp_(min=0)
            self.weight.copy_(self.weight.sign() * kept)

    def penalize(self, factor: Tensor) -> None:
        self.factors.append(factor.clone())


class Forgetful(Linear):
    """Runs out of memory on more than `most` rows at once while it trains.

    While it is evaluated, `most_scored`; `scored` are the rows that it was asked for.
    """

    def __init__(self, most: int, most_scored: int = 10_000) -> None:
        super().__init__()
        self.most, self.most_scored = most, most_scored
        self.scored: list[int] = []

    def forward(self, rows: Encoded) -> Tensor:
        scores = super().forward(rows)
        if not self.training:
            self.scored.append(len(rows))
        if len(rows) > (self.most if self.training else self.most_scored):
            raise torch.OutOfMemoryError(f"{len(rows)} rows")
        return scores


TRUTH = torch.tensor([1.0, -2.0, 0.5])


def make_data(
    n: int = 200,
    members: int = 2,
    held: float = 0.25,
    noise: float = 0.0,
    task: Task = "regression",
) -> TrainingData:
    """Rows whose target is linear in them; the last ones are held out."""
    generator = torch.Generator().manual_seed(0)
    values = torch.randn(n, 3, generator=generator)
    target = values @ TRUTH + noise * torch.randn(n, generator=generator)
    if task == "binary":
        target = (target > 0).float()
    if task == "multiclass":
        target = (target > 0).long() + (target > 1).long()
    validation = torch.zeros(n, members)
    validation[n - round(held * n) :] = 1
    rows = Encoded(values, torch.full((n, 3), NUMBER, dtype=torch.int32))
    return TrainingData(rows, target, 1 - validation, validation, task)
