"""Train a SPAM from encoded rows: candidates, members, the glass box."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from spam_core.data.encoding import Encoded, Feature, Marginals
from spam_core.data.sparse import SparseRows
from spam_core.models.ensemble import SPAMEnsemble
from spam_core.models.feature_maps import (
    FeatureMap,
    FeatureMapName,
    Layout,
    LinearMap,
)
from spam_core.models.networks import BasisMap, NeuralMap, Units
from spam_core.models.spam import SPAM
from spam_core.models.spline import SplineMap
from spam_core.training.config import Callbacks, TrainingConfig
from spam_core.training.loop import TrainingData, TrainingResult, train
from spam_core.training.losses import Task
from spam_core.training.phases import Phases
from spam_core.training.regularization import (
    CANDIDATES,
    FEW_ROWS,
    MANY_ROWS,
    NETWORKS,
    Regularization,
    regularize,
)
from spam_core.training.splits import held_out

# from here on, candidates are compared on a few members only
_SCREEN_ROWS = 10_000
_SCREEN_CELLS = 1_000_000  # rows x columns: a wide table's weights cost as much
_SCREEN_MEMBERS = 3
_SCREEN_SHARE = 0.4  # of the epochs; the order of candidates shows early


@dataclass(frozen=True)
class Problem:
    """Encoded training rows and what is to be learnt from them.

    Attributes
    ----------
    rows : Encoded or SparseRows of n rows, float64
    target : ndarray of shape (n,)
        Standardised numbers, 0 or 1, or class indices.
    weight : ndarray of shape (n,)
        Mean 1.
    task : {"regression", "binary", "multiclass"}
    n_outputs : int
        C.
    layout : Layout
    marginals : Marginals, optional
        A sparse table has none.
    groups : ndarray of shape (n,), optional
        Rows of one group are held out together.
    features : sequence of Feature
        What the columns are, for models that don't go by their layout.
    """

    rows: Encoded | SparseRows
    target: NDArray[np.float64] | NDArray[np.int64]
    weight: NDArray[np.float64]
    task: Task
    n_outputs: int
    layout: Layout
    marginals: Marginals | None
    groups: NDArray[np.int64] | None = None
    features: Sequence[Feature] = ()

    def held_out(self, n_members: int, fraction: float, seed: int) -> NDArray[np.bool_]:
        """Mark the rows that each member holds out, (n, M)."""
        regression = self.task == "regression"
        strata = None if regression else self.target.astype(np.int64)
        rng = np.random.default_rng(seed)
        n = len(self.target)
        return held_out(n, n_members, fraction, rng, strata, self.groups)

    def training_data(
        self, held: NDArray[np.bool_], device: torch.device
    ) -> TrainingData:
        """Rows on a device, in float32, weighted for members that hold rows out."""
        kind = torch.long if self.task == "multiclass" else torch.float32
        weight = torch.from_numpy(self.weight).float()[:, None]
        mask = torch.from_numpy(held)
        return TrainingData(
            self.rows.to(device, torch.float32),
            torch.from_numpy(self.target).to(device, kind),
            (weight * ~mask).to(device),
            (weight * mask).to(device),
            self.task,
        )


@dataclass(frozen=True)
class SPAMSettings:
    """What a SPAM is made of, as resolved from an estimator's parameters."""

    ranks: dict[int, int]
    feature_map: FeatureMapName = "spline"
    n_members: int = 8
    shared_bases: bool = True
    nonnegative: bool = False
    basis_dropout: float = 0.0
    regularization: Literal["auto"] | Regularization = "auto"
    validation_fraction: float = 0.125
    n_subnets: int = 1
    hidden: tuple[int, ...] | None = None
    units: Units = "relu"


@dataclass(frozen=True)
class FittedSPAM:
    """A trained SPAM on the scale of the standardised target."""

    model: SPAM
    history: list[dict[str, float]]
    regularization: Regularization
    validation_loss: float


def fit_spam(
    problem: Problem,
    settings: SPAMSettings,
    config: TrainingConfig,
    seed: int,
    device: torch.device,
    callbacks: Callbacks = None,
    offset: float = 0.0,
    factor: float = 1.0,
) -> FittedSPAM:
    """Train all members, choosing the regularization by their held-out rows.

    Candidates are trained side by side as groups of members. Below 10,000 rows and a
    million cells each candidate gets all members and the best group is the model. From
    there on they are compared on three members and fewer epochs, and the best is
    trained anew.

    Parameters
    ----------
    problem, settings, config
        Rows, model, and loop.
    seed : int
        Determines everything random.
    device : torch.device
        Where to train; the result is on the CPU.
    callbacks : sequence of callable, optional
        Called after every epoch; epochs are counted through both phases.
    offset, factor : float
        Undo the target's standardisation.
    """
    n, members = len(problem.target), settings.n_members
    mask = problem.held_out(members, settings.validation_fraction, seed)
    choices = candidates(settings, n)
    if not mask.any():
        choices = choices[-1:]  # nothing to compare on: the most cautious
    folds = list(range(members))
    run = _Run(problem, settings, mask, device, offset, factor)
    large = n >= _SCREEN_ROWS or n * len(problem.layout.n_cells) >= _SCREEN_CELLS
    if len(choices) == 1 or members <= _SCREEN_MEMBERS or not large:
        hooks = Phases(callbacks, config.max_epochs)
        model, result = run.train(choices, folds, config, seed, hooks)
        chosen = choices[result.group]
        return FittedSPAM(model, result.history, chosen, result.validation_loss)
    short = replace(config, max_epochs=math.ceil(_SCREEN_SHARE * config.max_epochs))
    hooks = Phases(callbacks, short.max_epochs + config.max_epochs)
    some = folds[:: members // _SCREEN_MEMBERS][:_SCREEN_MEMBERS]
    model, result = run.train(choices, some, short, seed, hooks)
    chosen = choices[result.group]
    if not hooks.stopped:
        past = result.history
        hooks.next_phase(len(past), past[-1]["seconds"], config.max_epochs)
        model, result = run.train([chosen], folds, config, seed + 1, hooks)
    return FittedSPAM(model, result.history, chosen, result.validation_loss)


def candidates(settings: SPAMSettings, n_rows: int) -> list[Regularization]:
    """Return what is compared: the one given, or those that suit map and rows."""
    if settings.regularization != "auto":
        return [settings.regularization]
    if settings.feature_map in ("neural", "basis"):
        return [NETWORKS]  # they are dear, and smooth by themselves
    left_out = set()
    if settings.feature_map == "linear":
        left_out.add("rough")  # it has no knots whose smoothness could differ
    if n_rows < MANY_ROWS:
        left_out.add("loose")
    if n_rows > FEW_ROWS:
        left_out.add("keen")
    return [choice for name, choice in CANDIDATES.items() if name not in left_out]


class _Run:
    """Trains groups of members on one problem."""

    def __init__(
        self,
        problem: Problem,
        settings: SPAMSettings,
        held: NDArray[np.bool_],
        device: torch.device,
        offset: float,
        factor: float,
    ) -> None:
        self.problem, self.settings = problem, settings
        self.held, self.device = held, device
        self.factor = factor
        self.offset = torch.tensor([offset], dtype=torch.float64)

    def train(
        self,
        choices: Sequence[Regularization],
        folds: list[int],
        config: TrainingConfig,
        seed: int,
        hooks: Phases,
    ) -> tuple[SPAM, TrainingResult]:
        problem, settings = self.problem, self.settings
        generator = torch.Generator().manual_seed(seed)
        n_members = len(choices) * len(folds)
        ensemble = SPAMEnsemble(
            self._map(n_members, generator),
            settings.ranks,
            n_members,
            problem.n_outputs,
            problem.marginals,
            generator,
            shared_bases=settings.shared_bases,
            basis_dropout=settings.basis_dropout,
            nonnegative=settings.nonnegative,
            init_scale=0.02 if settings.feature_map == "spline" else 0.1,
        )
        regularize(ensemble, [choice for choice in choices for _ in folds])
        feature_map = ensemble.feature_map
        if isinstance(feature_map, LinearMap):
            assert problem.marginals is not None, "only sparse tables have none"
            ensemble.centre_first(feature_map.column_means(problem.marginals))
        make_ready(ensemble, problem, self.device, seed)
        held = np.tile(self.held[:, folds], (1, len(choices)))
        data = problem.training_data(held, self.device)
        result = train(
            ensemble, data, config, generator, [hooks], n_groups=len(choices)
        )
        size = len(folds)
        kept = slice(result.group * size, (result.group + 1) * size)
        return ensemble.freeze(self.offset, self.factor, kept), result

    def _map(self, n_members: int, generator: torch.Generator) -> FeatureMap:
        settings, layout = self.settings, self.problem.layout
        orders = (1, *settings.ranks)
        if settings.feature_map == "spline":
            return SplineMap(layout, self.problem.marginals)
        if settings.feature_map == "linear":
            return LinearMap(layout)
        subnets, hidden = settings.n_subnets, settings.hidden
        if settings.feature_map == "neural":
            hidden = hidden or ((64, 64, 32) if settings.units == "relu" else (1024,))
            return NeuralMap(
                layout, orders, n_members, generator, subnets, hidden, settings.units
            )
        return BasisMap(
            layout, orders, n_members, generator, subnets, hidden or (128, 64)
        )


def initial_bias(problem: Problem) -> NDArray[np.float64]:
    """Bias of the constant model: mean, log odds or log shares."""
    if problem.task == "regression":
        return np.array([np.average(problem.target, weights=problem.weight)])
    counts = np.bincount(
        problem.target.astype(np.int64),
        weights=problem.weight,
        minlength=max(problem.n_outputs, 2),
    )
    logs: NDArray[np.float64] = np.log(counts / counts.sum())
    return logs[1:] - logs[:1] if problem.task == "binary" else logs - logs.mean()


def make_ready(model: Any, problem: Problem, device: torch.device, seed: int) -> None:
    """Put an untrained model on its device, where it starts from the constant model.

    Parameters
    ----------
    model : nn.Module
        With a `bias` and a `generator`, which draws its masks where it is.
    problem : Problem
    device : torch.device
    seed : int
        Of a generator that can't stay on the CPU.
    """
    with torch.no_grad():
        model.bias[:] = torch.from_numpy(initial_bias(problem)).float()
    model.to(device)
    if device.type != "cpu":
        model.generator = torch.Generator(device).manual_seed(seed)


def default_config(
    n_rows: int, least_epochs: int = 25, **overrides: object
) -> TrainingConfig:
    """Batch size and epochs by the number of rows, unless given.

    Small tables take small batches and more epochs, so that there are enough steps.

    Examples
    --------
    >>> default_config(150).batch_size, default_config(20_000).batch_size
    (16, 256)
    """
    values = {k: v for k, v in overrides.items() if v not in ("auto", None)}
    batch = values.setdefault("batch_size", _batch_size(n_rows))
    steps = max(1, math.ceil(n_rows / int(batch)))  # type: ignore[call-overload]
    values.setdefault("max_epochs", max(least_epochs, min(100, math.ceil(800 / steps))))
    return TrainingConfig(**values)  # type: ignore[arg-type]


def _batch_size(n_rows: int) -> int:
    if n_rows >= 100_000:
        return 512
    return int(min(256, max(16, 2 ** math.floor(math.log2(max(n_rows, 1) / 8 + 1)))))


def resolve_device(device: str) -> torch.device:
    """Turn "auto", "cpu" or "cuda" into a device that exists.

    Raises
    ------
    ValueError
        If it is no device, or CUDA is asked for and there is none.
    """
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        chosen = torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise ValueError(
            f'device must be "auto", "cpu" or "cuda", got {device!r}'
        ) from error
    if chosen.type == "cuda" and not torch.cuda.is_available():
        raise ValueError('device="cuda" was asked for, but PyTorch finds no GPU here.')
    return chosen
