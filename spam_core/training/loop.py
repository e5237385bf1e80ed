"""The training loop of every gradient-trained model."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from spam_core.data.encoding import Encoded
from spam_core.data.sparse import SparseRows
from spam_core.training.adamw import AdamW
from spam_core.training.config import Callbacks, Progress, TrainingConfig
from spam_core.training.losses import Task, row_losses

_EVALUATION_ROWS = 4096


class Trainable(Protocol):
    """What the loop needs of a model: an ``nn.Module`` with these."""

    def __call__(self, rows: Encoded | SparseRows) -> Tensor:
        """Scores (n, M, C)."""

    def project(self) -> None:
        """Return to the feasible set."""

    def shrink(self, amount: float) -> None:
        """Take the proximal L1 step."""

    def penalize(self, factor: Tensor) -> None:
        """Add the gradient of the quadratic penalty, times (M,), to the gradients."""


@dataclass(frozen=True)
class TrainingData:
    """Rows on the device.

    Attributes
    ----------
    rows : Encoded or SparseRows of n rows, float32
    target : Tensor of shape (n,)
    train, validation : Tensor of shape (n, M)
        Weights of each row for each member; a row of 0 doesn't count.
    task : Task
    """

    rows: Encoded | SparseRows
    target: Tensor
    train: Tensor
    validation: Tensor
    task: Task


@dataclass(frozen=True)
class TrainingResult:
    """What training found.

    Attributes
    ----------
    history : list of dict
        epoch, train_loss, validation_loss, seconds; losses of the group kept.
    group : int
        The group of members with the least validation loss.
    validation_loss : float
        That group's, at the epoch kept.
    """

    history: list[dict[str, float]]
    group: int
    validation_loss: float


def train(
    model: Any,
    data: TrainingData,
    config: TrainingConfig,
    generator: torch.Generator,
    callbacks: Callbacks = None,
    n_groups: int = 1,
) -> TrainingResult:
    """Train a model in place and leave it with the best epoch's parameters.

    Members of a group stop together, at the epoch of least mean validation loss:
    members that stop alone fit their own held-out rows' noise. With several groups
    (candidate settings) the parameters are those of the best group's best epoch.

    Parameters
    ----------
    model : nn.Module and Trainable
        With M members.
    data : TrainingData
        On the device of `model`.
    config : TrainingConfig
    generator : torch.Generator
        Draws the order of rows, on the CPU.
    callbacks : sequence of callable, optional
        Each is told the `Progress` of an epoch; True from one stops training.
    n_groups : int
        The M members are this many groups of equally many, one after another.

    Raises
    ------
    FloatingPointError
        If the loss isn't finite.
    """
    parameters = [p for p in model.parameters() if p.requires_grad]
    optimizer = AdamW(parameters, config.learning_rate, config.weight_decay)
    with torch.no_grad():
        averaged = [p.detach().clone() for p in parameters] if config.average else []
    members = data.train.shape[1]
    mass = data.train.sum(0).clamp_min(1e-12)  # (M,)
    used = torch.nonzero((data.train > 0).any(1))[:, 0]
    batch_size = min(config.batch_size, len(used))
    total_steps = config.max_epochs * len(used) / batch_size
    best = [_Best(parameters) for _ in range(n_groups)]
    losses_of: list[tuple[list[float], list[float]]] = []
    history: list[dict[str, float]] = []
    started = time.perf_counter()
    step = 0.0  # in batches; part of one if the batch had to be halved
    for epoch in range(1, config.max_epochs + 1):
        model.train()
        order = used[torch.randperm(len(used), generator=generator).to(used.device)]
        seen = torch.zeros(members, device=used.device)
        position = 0
        while position < len(order):
            index = order[position : position + batch_size]
            done = min(step / total_steps, 1.0)
            rate = config.learning_rate * 0.5 * (1 + math.cos(math.pi * done))
            optimizer.rate = rate
            try:
                losses = _step(model, data, index, optimizer, mass)
            except torch.OutOfMemoryError:
                if batch_size == 1:
                    raise
                optimizer.zero_grad()
                batch_size //= 2
                continue
            if config.l1:
                model.shrink(rate * config.l1)
            model.project()
            if config.average:
                with torch.no_grad():
                    decay = min(0.99, (1 + step) / (10 + step))
                    torch._foreach_lerp_(averaged, parameters, 1 - decay)
            seen += losses
            position += len(index)
            step += len(index) / min(config.batch_size, len(used))
        train_losses = (seen / mass).view(n_groups, -1).mean(1).tolist()
        if not all(map(math.isfinite, train_losses)):
            raise FloatingPointError(
                f"The training loss became {train_losses} in epoch {epoch}; a smaller "
                "learning_rate may help."
            )
        if config.average:
            _swap(parameters, averaged)
            if config.l1:  # a mean of zeros and others isn't zero: the last step's are
                _keep_zeros(parameters, averaged)
        by_member = evaluate(model, data, data.validation)
        # a member may hold out no row: those that do speak for their group
        validation_losses = by_member.view(n_groups, -1).nanmean(1).tolist()
        for candidate, loss in zip(best, validation_losses, strict=True):
            candidate.update(epoch, loss, parameters)
        if config.average:
            _swap(parameters, averaged)
        losses_of.append((train_losses, validation_losses))
        leader = min(range(n_groups), key=lambda g: best[g].loss)
        seconds = time.perf_counter() - started
        history.append({"epoch": epoch, "seconds": seconds})
        told = Progress(
            epoch,
            config.max_epochs,
            train_losses[leader],
            validation_losses[leader],
            seconds,
        )
        # every callback hears of the epoch, also when an earlier one says stop
        answers = [callback(told) for callback in callbacks or ()]
        if any(answer is True for answer in answers):
            break
        if epoch - best[leader].epoch >= config.patience:
            break
    with torch.no_grad():
        torch._foreach_copy_(parameters, best[leader].parameters)
    for entry, (train_loss, validation_loss) in zip(history, losses_of, strict=True):
        entry["train_loss"] = train_loss[leader]
        entry["validation_loss"] = validation_loss[leader]
    model.eval()
    return TrainingResult(history, leader, best[leader].loss)


class _Best:
    """The parameters at the epoch of least validation loss, else at the last."""

    def __init__(self, parameters: list[Tensor]) -> None:
        self.loss, self.epoch = math.inf, 0
        self.parameters = [p.detach().clone() for p in parameters]

    @torch.no_grad()
    def update(self, epoch: int, loss: float, parameters: list[Tensor]) -> None:
        if math.isnan(loss) or loss < self.loss:  # NaN: nothing is held out
            self.loss = math.inf if math.isnan(loss) else loss
            self.epoch = epoch
            torch._foreach_copy_(self.parameters, parameters)


def _step(
    model: Any,
    data: TrainingData,
    index: Tensor,
    optimizer: AdamW,
    mass: Tensor,
) -> Tensor:
    """One step; returns each member's summed weighted loss."""
    weight = data.train[index]
    losses = row_losses(model(data.rows[index]), data.target[index], data.task)
    summed = (losses * weight).sum(0)
    counted = weight.sum(0)
    # members are summed, so that none's step depends on how many there are
    (summed / counted.clamp_min(1e-12)).sum().backward()
    with torch.no_grad():
        noise = torch.ones_like(mass)
        if data.task == "regression":  # penalties are relative to the noise
            noise = 2 * summed / counted.clamp_min(1e-12)
        model.penalize(noise / mass)
    optimizer.step()
    optimizer.zero_grad()
    return summed.detach()


@torch.no_grad()
def evaluate(model: Any, data: TrainingData, weights: Tensor) -> Tensor:
    """Mean loss of each member over weighted rows, (M,); NaN without any."""
    model.eval()
    total = torch.zeros(weights.shape[1], device=weights.device)
    rows = torch.nonzero((weights > 0).any(1))[:, 0]
    at_once, position = _EVALUATION_ROWS, 0
    while position < len(rows):
        index = rows[position : position + at_once]
        try:
            scores = model(data.rows[index])
            losses = row_losses(scores, data.target[index], data.task)
        except torch.OutOfMemoryError:
            if len(index) == 1:
                raise
            at_once = len(index) // 2
            continue
        total += (losses * weights[index]).sum(0)
        position += len(index)
    return total / weights.sum(0)


@torch.no_grad()
def _swap(first: list[Tensor], second: list[Tensor]) -> None:
    """Exchange the contents of two lists of tensors."""
    kept = [tensor.detach().clone() for tensor in first]
    torch._foreach_copy_(first, second)
    torch._foreach_copy_(second, kept)


@torch.no_grad()
def _keep_zeros(parameters: list[Tensor], last: list[Tensor]) -> None:
    """Set parameters to 0 where they were 0 after the last step."""
    for parameter, value in zip(parameters, last, strict=True):
        parameter.mul_(value != 0)
