"""Train a SPAM-Linear on a sparse table: words are dropped at random, Adam is lazy.

A corpus has more words than documents, so that any penalty-free model knows every
training document by heart. Dropping words at random is what keeps it from that (it acts
as a penalty that is milder on rare words that tell much: Wager et al., *Dropout
training as adaptive regularization*, 2013). Held-out rows choose how many.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.optim.adamw import adamw

from spam_core.data.sparse import SparseRows
from spam_core.models.feature_maps import LinearMap
from spam_core.models.spam import SPAM
from spam_core.models.sparse_ensemble import Batch, SparseEnsemble
from spam_core.training.config import Callbacks, Progress, TrainingConfig
from spam_core.training.fit import Problem, initial_bias
from spam_core.training.loop import TrainingData
from spam_core.training.losses import row_losses

DROPOUTS = (0.0, 0.25, 0.5)
"""Shares of cells left out of a step that ``input_dropout="auto"`` compares."""

_UNCOMPARED = 0.5  # taken where no row can be held out
_BASIS_SPEED = 0.2  # step length of bases and lambda relative to that of order 1
_LARGEST_BATCH = 128
_LEAST_EPOCHS, _MOST_EPOCHS, _STEPS = 8, 100, 700
_BETAS, _EPSILON = (0.9, 0.999), 1e-8
_EVALUATION_ROWS = 1024


@dataclass(frozen=True)
class SparseSettings:
    """What is trained.

    Attributes
    ----------
    ranks : dict of order >= 2 to int
        Empty for a linear model.
    n_members : int
    input_dropout : float or None
        Share of cells left out of a step; None compares `DROPOUTS`.
    validation_fraction : float
        Share of the rows held out while dropouts are compared.
    l2 : float
        Quadratic penalty on all weights, divided by the number of rows.
    shared_bases, basis_dropout
        As in `SPAMSettings`.
    rescale : bool
        See `LinearMap`.
    """

    ranks: Mapping[int, int]
    n_members: int = 8
    input_dropout: float | None = None
    validation_fraction: float = 0.125
    l2: float = 0.0
    shared_bases: bool = True
    basis_dropout: float = 0.0
    rescale: bool = True


class FittedSparse(NamedTuple):
    """A trained model, and how it was trained."""

    model: SPAM
    history: list[dict[str, float]]
    validation_loss: float
    input_dropout: float


def sparse_config(n_rows: int, **overrides: object) -> TrainingConfig:
    """Batch size and epochs by the number of rows, unless given.

    Examples
    --------
    >>> config = sparse_config(11_314)
    >>> config.learning_rate, config.batch_size, config.max_epochs
    (0.01, 128, 8)
    """
    values: dict[str, Any] = {
        k: v for k, v in overrides.items() if v not in ("auto", None)
    }
    smallest = max(8, 2 ** int(math.log2(max(n_rows, 1) / 8 + 1)))
    batch = values.setdefault("batch_size", min(_LARGEST_BATCH, smallest))
    epochs = math.ceil(_STEPS * batch / max(n_rows, 1))
    values.setdefault("max_epochs", min(_MOST_EPOCHS, max(_LEAST_EPOCHS, epochs)))
    return TrainingConfig(**values)


def fit_sparse(
    problem: Problem,
    settings: SparseSettings,
    config: TrainingConfig,
    seed: int,
    callbacks: Callbacks = None,
    offset: float = 0.0,
    factor: float = 1.0,
) -> FittedSparse:
    """Train all members on the CPU, choosing the dropout by held-out rows.

    First the dropouts are compared side by side, one member each, on rows held out: the
    largest that isn't clearly worse than any other is taken. Then all members are
    trained with it on all rows; they differ in what is drawn at random.

    Parameters
    ----------
    problem : Problem
        With sparse rows.
    settings, config
        Model, and loop; the learning rate is that of order 1.
    seed : int
        Determines everything random.
    callbacks : sequence of callable, optional
        Called after every epoch; epochs are counted through both phases.
    offset, factor : float
        Undo the target's standardisation.
    """
    chosen = settings.input_dropout
    dropouts: Sequence[float] = DROPOUTS if chosen is None else (chosen,)
    held = problem.held_out(settings.n_members, settings.validation_fraction, seed)
    compared = bool(held.any())
    tell = _Tell(callbacks, (1 + compared) * config.max_epochs)
    loss = math.nan
    if compared:
        trainer = _Trainer(problem, settings, held[:, :1], dropouts, config, seed)
        losses = trainer.run(tell)
        best = _strongest(losses, standard_errors(trainer.ensemble, trainer.data))
        chosen, loss = dropouts[best], losses[best]
        if tell.stopped:
            model = trainer.ensemble.freeze(offset, factor).member(best)
            return FittedSparse(model, trainer.history, loss, chosen)
        tell.next_phase(len(trainer.history), trainer.seconds, config.max_epochs)
    chosen = _UNCOMPARED if chosen is None else chosen
    nothing = np.zeros((len(held), 1), dtype=bool)
    each = [chosen] * settings.n_members
    trainer = _Trainer(problem, settings, nothing, each, config, seed + 1)
    trainer.run(tell)
    model = trainer.ensemble.freeze(offset, factor)
    return FittedSparse(model, trainer.history, loss, chosen)


class _Trainer:
    """One training of members side by side, each with a dropout of its own.

    All hold out the same rows, `held` of shape (n, 1).
    """

    def __init__(
        self,
        problem: Problem,
        settings: SparseSettings,
        held: NDArray[np.bool_],
        dropouts: Sequence[float],
        config: TrainingConfig,
        seed: int,
    ) -> None:
        assert isinstance(problem.rows, SparseRows)
        self.generator = torch.Generator().manual_seed(seed)
        self.config, self.settings = config, settings
        members = len(dropouts)
        same = np.repeat(held, members, axis=1)
        self.data = problem.training_data(same, torch.device("cpu"))
        self.ensemble = SparseEnsemble(
            LinearMap(problem.layout, settings.rescale),
            settings.ranks,
            members,
            problem.n_outputs,
            self.generator,
            shared_bases=settings.shared_bases,
            basis_dropout=settings.basis_dropout,
        )
        with torch.no_grad():
            self.ensemble.bias.add_(torch.from_numpy(initial_bias(problem)).float())
        self.keep = 1 - torch.tensor(dropouts)[:, None]  # (M, 1)
        self.used = torch.nonzero((self.data.train > 0).any(1))[:, 0]
        self.batch_size = min(config.batch_size, len(self.used))
        self.optimizer = _LazyAdam(self.ensemble, config, self._penalty(problem.rows))
        self.history: list[dict[str, float]] = []
        self.seconds = 0.0

    def run(self, tell: _Tell) -> list[float]:
        """Train, keep the epoch of least mean validation loss, return each member's."""
        best, patience = math.inf, 0
        losses = [math.nan] * self.ensemble.n_members
        state: list[Tensor] = []
        started = time.perf_counter()
        n_batches = math.ceil(len(self.used) / self.batch_size)
        for epoch in range(1, self.config.max_epochs + 1):
            shuffled = torch.randperm(len(self.used), generator=self.generator)
            total = torch.zeros(self.ensemble.n_members)
            for k, index in enumerate(self.used[shuffled].split(self.batch_size)):
                done = (epoch - 1 + k / n_batches) / self.config.max_epochs
                total += self._step(index, 0.5 * (1 + math.cos(math.pi * done)))
            train_loss = _mean((total / self.data.train.sum(0)).tolist())
            if not math.isfinite(train_loss):
                raise FloatingPointError(
                    f"The training loss became {train_loss} in epoch {epoch}; a "
                    "smaller learning_rate may help."
                )
            found = evaluate_sparse(self.ensemble, self.data).tolist()
            loss = _mean(found)
            patience += 1
            if math.isnan(loss) or loss < best:  # NaN: nothing is held out
                best, patience, losses = loss, 0, found
                state = [] if epoch == self.config.max_epochs else self._copied(loss)
            self.seconds = time.perf_counter() - started
            entry = {"epoch": epoch, "train_loss": train_loss, "validation_loss": loss}
            self.history.append(entry | {"seconds": self.seconds})
            told = Progress(
                epoch, self.config.max_epochs, train_loss, loss, self.seconds
            )
            if tell(told) or patience >= self.config.patience:
                break
        if state and patience:
            self.ensemble.restore(state)
        return losses

    def _copied(self, loss: float) -> list[Tensor]:
        return [] if math.isnan(loss) else self.ensemble.copy_state()

    def _step(self, index: Tensor, pace: float) -> Tensor:
        """Take one step; returns each member's summed weighted loss."""
        rows, weight = self.data.rows[index], self.data.train[index]
        assert isinstance(rows, SparseRows)
        batch = Batch.of(rows, self.ensemble.feature_map.column_of)
        drawn = torch.rand(len(self.keep), len(batch.row), generator=self.generator)
        keep = (drawn < self.keep) / self.keep
        tables = {
            order: table.index_select(0, batch.columns)
            for order, table in self.ensemble.tables.items()
        }
        sums = self.ensemble.sums(batch, tables, keep)
        scores = self.ensemble.scores(sums, training=True)
        losses = row_losses(scores, self.data.target[index], self.data.task)
        summed = (losses * weight).sum(0)
        # members are summed, so that none's step depends on how many there are
        (summed / weight.sum(0).clamp_min(1e-12)).sum().backward()
        gradients = self.ensemble.gradients(batch, sums, keep)
        self.optimizer.step(batch.columns, tables, gradients, pace)
        return summed.detach()

    def _penalty(self, rows: SparseRows) -> Tensor | None:
        """Return what the penalty multiplies a weight by in its gradient, (P, 1, 1).

        A weight is changed only by batches that use its column, so the penalty of a
        whole epoch falls on those.
        """
        if not self.settings.l2:
            return None
        feature_map = self.ensemble.feature_map
        uses = torch.bincount(rows.columns, minlength=rows.n_features)
        share = uses[feature_map.numbered] / len(rows)
        touched = 1 - (1 - share.double()).pow(self.batch_size)
        factor = 2 * self.settings.l2 / (len(self.used) * touched)
        return factor.float()[:, None, None]


class _LazyAdam:
    """Adam that changes the rows of a table that a batch uses, and no others."""

    def __init__(
        self, ensemble: SparseEnsemble, config: TrainingConfig, penalty: Tensor | None
    ) -> None:
        self.ensemble, self.config, self.penalty = ensemble, config, penalty
        self.moments = {
            order: (torch.zeros_like(table), torch.zeros_like(table))
            for order, table in ensemble.tables.items()
        }
        self.dense = torch.optim.AdamW(
            ensemble.dense, weight_decay=config.weight_decay, betas=_BETAS
        )
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
            if self.penalty is not None:
                gradient = gradient + value * self.penalty[columns]
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
                beta1=_BETAS[0],
                beta2=_BETAS[1],
                lr=rate,
                weight_decay=config.weight_decay,
                eps=_EPSILON,
                maximize=False,
            )
            if config.l1:
                small = (value.abs() - rate * config.l1).clamp_(min=0)
                value = value.sign() * small
            self.ensemble.tables[order].index_copy_(0, columns, value)
            for moment, now in zip(self.moments[order], moments, strict=True):
                moment.index_copy_(0, columns, now)
        self.dense.param_groups[0]["lr"] = config.learning_rate * pace * _BASIS_SPEED
        self.dense.step()
        self.dense.zero_grad()


@torch.no_grad()
def evaluate_sparse(ensemble: SparseEnsemble, data: TrainingData) -> Tensor:
    """Mean loss of each member over its held-out rows, (M,); NaN without any."""
    total = torch.zeros(ensemble.n_members)
    for member, losses, weight in _held_out_losses(ensemble, data):
        total[member] += losses @ weight
    return total / data.validation.sum(0)


@torch.no_grad()
def standard_errors(ensemble: SparseEnsemble, data: TrainingData) -> list[float]:
    """Return how well each member's mean loss over its held-out rows is known."""
    mean = evaluate_sparse(ensemble, data)
    total = torch.zeros(ensemble.n_members)
    for member, losses, weight in _held_out_losses(ensemble, data):
        total[member] += ((losses - mean[member]) * weight).square().sum()
    return (total.sqrt() / data.validation.sum(0)).tolist()


def _held_out_losses(
    ensemble: SparseEnsemble, data: TrainingData
) -> Iterator[tuple[int, Tensor, Tensor]]:
    """Yield a member, losses of some rows that it holds out, and their weights."""
    for member, weight in enumerate(data.validation.unbind(1)):
        for index in torch.nonzero(weight > 0)[:, 0].split(_EVALUATION_ROWS):
            rows = data.rows[index]
            assert isinstance(rows, SparseRows)
            sums = ensemble.member_sums(rows, member)
            scores = ensemble.scores(sums, members=slice(member, member + 1))
            losses = row_losses(scores, data.target[index], data.task)
            yield member, losses[:, 0], weight[index]


def _strongest(losses: Sequence[float], errors: Sequence[float]) -> int:
    """Return the last candidate that isn't clearly worse than the best.

    That is the rule of one standard error (Breiman et al., 1984): rows to come differ
    more from the training rows than held-out ones do, so of candidates that can't be
    told apart the most cautious is taken.

    Examples
    --------
    >>> _strongest([0.30, 0.31, 0.40], [0.02, 0.02, 0.02])
    1
    """
    best = int(np.nanargmin(losses))
    most = losses[best] + errors[best]
    return max(k for k, loss in enumerate(losses) if loss <= most)


class _Tell:
    """Passes progress on, counting epochs through two phases."""

    def __init__(self, callbacks: Callbacks, total: int) -> None:
        self.callbacks, self.total = list(callbacks or ()), total
        self.epochs, self.seconds, self.stopped = 0, 0.0, False

    def next_phase(self, epochs: int, seconds: float, more: int) -> None:
        """Count on from a phase that may have needed fewer epochs than it had."""
        self.epochs, self.seconds, self.total = epochs, seconds, epochs + more

    def __call__(self, progress: Progress) -> bool:
        told = replace(
            progress,
            epoch=progress.epoch + self.epochs,
            max_epochs=self.total,
            seconds=progress.seconds + self.seconds,
        )
        # every callback hears of the epoch, also when an earlier one says stop
        answers = [callback(told) for callback in self.callbacks]
        self.stopped = any(answer is True for answer in answers)
        return self.stopped


def _mean(losses: Sequence[float]) -> float:
    """Mean of the members that hold rows out; NaN if none does."""
    known = [loss for loss in losses if not math.isnan(loss)]
    return sum(known) / len(known) if known else math.nan
