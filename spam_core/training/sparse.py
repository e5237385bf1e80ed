"""Train a SPAM-Linear on a sparse table: a step touches the columns its rows hold.

A corpus has more words than documents, so a model without a penalty knows every
training document by heart. Penalties whose strength held-out rows choose keep it from
that. They also make probabilities too even, which one factor for all scores puts right:
it changes no ranking, and a SPAM times a number is a SPAM.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from spam_core.data.encoded import Encoded
from spam_core.data.sparse import SparseRows
from spam_core.models.feature_maps import LinearMap
from spam_core.models.spam import SPAM
from spam_core.models.sparse_ensemble import Batch, SparseEnsemble
from spam_core.training.config import Callbacks, Progress, TrainingConfig
from spam_core.training.fit import Problem, initial_bias
from spam_core.training.lazy_adam import LazyAdam
from spam_core.training.loop import TrainingData
from spam_core.training.losses import row_losses
from spam_core.training.phases import Phases


class Penalty(NamedTuple):
    """What keeps weights small.

    Attributes
    ----------
    l2 : float
        Quadratic penalty on the weights of order 1, divided by the number of rows; a
        hundred times that on bases.
    l1 : float
        Proximal: each step shrinks the weights it moves by learning rate x l1. A step
        of Adam moves a weight by about the learning rate however small its gradient,
        so this holds down words whose gradients have no direction, which l2 can't.
    """

    l2: float
    l1: float


STRENGTHS = (0.03, 0.3, 3.0)
"""Of l2, that "auto" compares."""
SPARSENESS = 0.1
"""The l1 that "auto" compares with none, at the largest l2."""

_UNCOMPARED = Penalty(0.3, 0.0)  # taken where no row can be held out
_INIT_SCALE = 0.03  # small: a rare word's first weights are hardly ever moved
_FACTORS = 2.0 ** torch.arange(-1.0, 4.0, 0.125)  # of scores, that are compared
_LARGEST_BATCH = 128
_LEAST_EPOCHS, _MOST_EPOCHS, _STEPS = 8, 100, 700


@dataclass(frozen=True)
class SparseSettings:
    """What is trained.

    Attributes
    ----------
    ranks : dict of order >= 2 to int
        Empty for a linear model.
    n_members : int
    l2, l1 : float or None
        See `Penalty`. None compares.
    validation_fraction : float
        Share of the rows held out for that.
    shared_bases, basis_dropout
        As in `SPAMSettings`.
    rescale : bool
        See `LinearMap`.
    """

    ranks: Mapping[int, int]
    n_members: int = 8
    l2: float | None = None
    l1: float | None = None
    validation_fraction: float = 0.125
    shared_bases: bool = True
    basis_dropout: float = 0.0
    rescale: bool = True

    def penalties(self) -> list[Penalty]:
        """Return those to compare, weakest first.

        Examples
        --------
        >>> for penalty in SparseSettings({}).penalties():
        ...     print(penalty)
        Penalty(l2=0.03, l1=0.0)
        Penalty(l2=0.3, l1=0.0)
        Penalty(l2=3.0, l1=0.0)
        Penalty(l2=3.0, l1=0.1)
        >>> SparseSettings({}, l2=1.0, l1=0.0).penalties()
        [Penalty(l2=1.0, l1=0.0)]
        """
        strengths = STRENGTHS if self.l2 is None else (self.l2,)
        penalties = [Penalty(l2, self.l1 or 0.0) for l2 in strengths]
        if self.l1 is None:
            penalties.append(Penalty(strengths[-1], SPARSENESS))
        return penalties


class FittedSparse(NamedTuple):
    """A trained model, and how it was trained."""

    model: SPAM
    history: list[dict[str, float]]
    validation_loss: float
    penalty: Penalty


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
    """Train all members on the CPU, choosing the penalty by held-out rows.

    First the penalties are compared side by side, one member each, on rows held out:
    the largest that isn't clearly worse than any other is taken. Then the members are
    trained with it on all rows, one after the other: they differ in the order of the
    rows and in the bases that they start from. A linear model has one member.

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
    penalties = settings.penalties()
    held = problem.held_out(settings.n_members, settings.validation_fraction, seed)
    compared = bool(held.any())
    n_members = settings.n_members if settings.ranks else 1
    tell = Phases(callbacks, (n_members + compared) * config.max_epochs)
    chosen = penalties[0] if len(penalties) == 1 else _uncompared(settings)
    loss = math.nan
    if compared:
        trainer = _Trainer(problem, settings, held[:, :1], penalties, config, seed)
        trainer.run(tell)
        found = _calibrate(trainer)
        best = _strongest([f.loss for f in found], [f.error for f in found])
        chosen, loss = penalties[best], found[best].loss
        factor *= found[best].factor
        if tell.stopped:
            model = trainer.ensemble.freeze(offset, factor).member(best)
            return FittedSparse(model, trainer.history, loss, chosen)
        left = n_members * config.max_epochs
        tell.next_phase(len(trainer.history), trainer.seconds, left)
    nothing = np.zeros((len(held), 1), dtype=bool)
    members: list[SparseEnsemble] = []
    history: list[dict[str, float]] = []
    while len(members) < n_members:
        drawn = seed + 1 + len(members)
        trainer = _Trainer(problem, settings, nothing, [chosen], config, drawn)
        trainer.run(tell)
        if members and len(trainer.history) < config.max_epochs:
            break  # one that isn't done would spoil those that are
        members.append(trainer.ensemble)
        history = trainer.history
        left = (n_members - len(members)) * config.max_epochs
        tell.next_phase(len(history), trainer.seconds, left)
        if tell.stopped:
            break
    model = SparseEnsemble.joined(members).freeze(offset, factor)
    return FittedSparse(model, history, loss, chosen)


def _uncompared(settings: SparseSettings) -> Penalty:
    """Return what is given, and for the rest what does for most tables."""
    given = (settings.l2, settings.l1)
    return Penalty(
        *(b if a is None else a for a, b in zip(given, _UNCOMPARED, strict=True))
    )


class _Trainer:
    """One training of members side by side, each with a penalty of its own.

    All hold out the same rows, `held` of shape (n, 1).
    """

    def __init__(
        self,
        problem: Problem,
        settings: SparseSettings,
        held: NDArray[np.bool_],
        penalties: Sequence[Penalty],
        config: TrainingConfig,
        seed: int,
    ) -> None:
        assert isinstance(problem.rows, SparseRows)
        self.generator = torch.Generator().manual_seed(seed)
        self.config, self.settings = config, settings
        members = len(penalties)
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
            init_scale=_INIT_SCALE,
        )
        with torch.no_grad():
            self.ensemble.bias.add_(torch.from_numpy(initial_bias(problem)).float())
        self.used = torch.nonzero((self.data.train > 0).any(1))[:, 0]
        self.batch_size = min(config.batch_size, len(self.used))
        self.optimizer = LazyAdam(
            self.ensemble,
            config,
            l2=self._factors(problem.rows, [p.l2 for p in penalties]),
            l1=[p.l1 for p in penalties],
        )
        self.history: list[dict[str, float]] = []
        self.seconds = 0.0

    def run(self, tell: Phases) -> None:
        """Train for all epochs, unless told to stop.

        Early stopping would end at the epoch that suits the weakest penalty, while the
        model is trained to the end of the cosine.
        """
        started = time.perf_counter()
        n_batches = math.ceil(len(self.used) / self.batch_size)
        for epoch in range(1, self.config.max_epochs + 1):
            shuffled = torch.randperm(len(self.used), generator=self.generator)
            total = torch.zeros(self.ensemble.n_members)
            for k, index in enumerate(self.used[shuffled].split(self.batch_size)):
                done = (epoch - 1 + k / n_batches) / self.config.max_epochs
                total += self._step(index, 0.5 * (1 + math.cos(math.pi * done)))
            train_loss = float((total / self.data.train.sum(0)).mean())
            if not math.isfinite(train_loss):
                raise FloatingPointError(
                    f"The training loss became {train_loss} in epoch {epoch}; a "
                    "smaller learning_rate may help."
                )
            loss = float(evaluate_sparse(self.ensemble, self.data).mean())
            self.seconds = time.perf_counter() - started
            entry = {"epoch": epoch, "train_loss": train_loss, "validation_loss": loss}
            self.history.append(entry | {"seconds": self.seconds})
            told = Progress(
                epoch, self.config.max_epochs, train_loss, loss, self.seconds
            )
            if tell(told):
                break

    def _step(self, index: Tensor, pace: float) -> Tensor:
        """Take one step; returns each member's summed weighted loss."""
        rows, weight = _sparse(self.data.rows[index]), self.data.train[index]
        batch = Batch.of(rows, self.ensemble.feature_map.column_of)
        tables = {
            order: table.index_select(0, batch.columns)
            for order, table in self.ensemble.tables.items()
        }
        sums = self.ensemble.sums(batch, tables)
        scores = self.ensemble.scores(sums, training=True)
        losses = row_losses(scores, self.data.target[index], self.data.task)
        summed = (losses * weight).sum(0)
        # members are summed, so that none's step depends on how many there are
        (summed / weight.sum(0).clamp_min(1e-12)).sum().backward()
        gradients = self.ensemble.gradients(batch, sums)
        self.optimizer.step(batch.columns, tables, gradients, pace)
        return summed.detach()

    def _factors(self, rows: SparseRows, strengths: Sequence[float]) -> Tensor | None:
        """Return what l2 multiplies a weight by in its gradient, (P, M, 1).

        A weight is changed only by batches that use its column, so the penalty of a
        whole epoch falls on those.
        """
        if not any(strengths):
            return None
        feature_map = self.ensemble.feature_map
        uses = torch.bincount(rows.columns, minlength=rows.n_features)
        share = uses[feature_map.numbered] / len(rows)
        touched = 1 - (1 - share.double()).pow(self.batch_size)
        factor = 2 / (len(self.used) * touched)
        return (factor[:, None] * torch.tensor(strengths)).float()[:, :, None]


@torch.no_grad()
def evaluate_sparse(ensemble: SparseEnsemble, data: TrainingData) -> Tensor:
    """Mean loss of each member over the held-out rows, (M,); NaN without any."""
    scores, target, share = _held_out(ensemble, data)
    if not len(target):
        return torch.full((ensemble.n_members,), math.nan)
    return (row_losses(scores, target, data.task) * share).sum(0)


def _held_out(
    ensemble: SparseEnsemble, data: TrainingData
) -> tuple[Tensor, Tensor, Tensor]:
    """Scores (n, M, C) and targets of the held-out rows, and weights that sum to 1."""
    held = torch.nonzero((data.validation > 0).any(1))[:, 0]
    weight = data.validation[held]
    scores = ensemble.score(_sparse(data.rows[held]))
    return scores, data.target[held], weight / weight.sum(0)


class _Calibrated(NamedTuple):
    """Held-out loss of a member at its best factor, and how well it is known."""

    loss: float
    error: float
    factor: float


@torch.no_grad()
def _calibrate(trainer: _Trainer) -> list[_Calibrated]:
    """Find the factor of the scores that gives each member the least held-out loss."""
    data = trainer.data
    scores, target, share = _held_out(trainer.ensemble, data)
    # a regression's scores are numbers, not logits
    factors = _FACTORS if data.task != "regression" else torch.ones(1)
    losses = torch.stack([row_losses(f * scores, target, data.task) for f in factors])
    mean = (losses * share).sum(1)  # (factors, M)
    found = []
    for member, best in enumerate(mean.argmin(0).tolist()):
        least = mean[best, member]
        spread = ((losses[best, :, member] - least) * share[:, member]).square().sum()
        found.append(
            _Calibrated(float(least), float(spread.sqrt()), float(factors[best]))
        )
    return found


def _strongest(losses: Sequence[float], errors: Sequence[float]) -> int:
    """Return the last candidate that isn't clearly worse than the best.

    Clearly is by two standard errors of the best's loss. Rows to come differ more from
    the training rows than held-out ones do (Breiman et al., 1984, take one), so of
    candidates that can't be told apart the most cautious is taken.

    Examples
    --------
    >>> _strongest([0.30, 0.33, 0.40], [0.02, 0.02, 0.02])
    1
    """
    best = int(np.nanargmin(losses))
    most = losses[best] + 2 * errors[best]
    return max(k for k, loss in enumerate(losses) if loss <= most)


def _sparse(rows: Encoded | SparseRows) -> SparseRows:
    assert isinstance(rows, SparseRows), "only sparse problems come here"
    return rows
