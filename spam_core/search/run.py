"""Random search that several processes share and that goes on where it stopped."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spam_core.estimators import MODELS
from spam_core.estimators.fitting import (
    LOWER_IS_BETTER,
    METRICS,
    ModelSpec,
    fit,
    score,
)
from spam_core.explain.optional import missing, optional_import
from spam_core.persistence.records import LOCK_SECONDS, alone
from spam_core.search.result import SearchResult, Trial, is_lost, read_trials
from spam_core.search.space import Setting, Space, make_space

if TYPE_CHECKING:
    import optuna

    from spam_core.data import Table
    from spam_core.training.config import Progress

NEEDS = ("A search", "optuna", "search")  # of optional_import
_HEARTBEAT, _GRACE = 5, 20  # seconds; a process that is silent for longer is dead
_WAIT_SECONDS = 0.5
_STARTUP_TRIALS, _WARMUP_EPOCHS = 5, 4  # that pruning needs before it judges


class _Stopped(Exception):
    """The search was asked to stop within a fit."""


def missing_package(model: str) -> str:
    """Say how to install what a search of a model lacks; nothing if it's all there.

    Examples
    --------
    >>> missing_package("cart")
    ''
    """
    needs = filter(None, (NEEDS, MODELS[model].needs))
    return next(filter(None, (missing(*need) for need in needs)), "")


def search(
    table: Table,
    model: str = "spam",
    *,
    n_trials: int = 30,
    changes: Mapping[str, Setting | Any] | None = None,
    metric: str | None = None,
    seed: int = 0,
    storage: Path | str | None = None,
    prune: bool = True,
    shared: bool = True,
    tell: Callable[[Trial], None] = lambda _: None,
    stop: Callable[[], bool] = lambda: False,
) -> SearchResult:
    """Fit a model with settings drawn at random, and score each on validation rows.

    What trial k draws is determined by `seed` and k alone. So a search that was ended
    goes on where it stopped, processes that are given one storage share its trials, and
    both end with the same trials as one search at one go.

    Parameters
    ----------
    table : Table
        Models are fitted on its training part and scored on its validation part; the
        test part stays untouched.
    model : str
        Name in the registry.
    n_trials : int
        Settings to try, those already in the storage included.
    changes : mapping of setting to Range, Choice or value, optional
        What is drawn from other ranges than those of `SPACES`, or is the same in all.
    metric : str, optional
        What is to be best, out of ``METRICS[table.task]``; by default the first.
    seed : int
        Of the draws, and ``random_state`` of every fit.
    storage : path, optional
        SQLite file of trials; without one they are forgotten.
    prune : bool
        Whether to end a fit early whose validation loss is above the median of those of
        earlier trials after as many epochs. Only models that train by epochs are.
    shared : bool
        Whether other processes may be at the storage. If none is, what a process that
        was stopped has left undone is done again at once, not when it is surely dead.
    tell : callable
        Is called with each trial that this process has finished.
    stop : callable
        Is asked before each trial, and after each epoch, whether to stop.

    Returns
    -------
    SearchResult

    Raises
    ------
    ValueError
        If a setting, its range, the metric or the number of trials doesn't fit, or the
        storage holds a search of something else; before any fit.
    ImportError
        If Optuna isn't installed.

    Examples
    --------
    >>> from spam_core import load_dataset
    >>> result = search(load_dataset("wine"), "cart", n_trials=3)
    >>> len(result.trials), result.metric, sorted(result.best.settings)[:2]
    (3, 'accuracy', ['max_depth', 'min_samples_leaf'])
    """
    with optional_import(*NEEDS):
        import optuna  # noqa: F401 - before any work
    space = make_space(model, changes)
    metric = _checked_metric(table, metric)
    if n_trials < 1:
        raise ValueError(f"n_trials must be at least 1, got {n_trials}")
    with _quiet():
        file = None if storage is None else Path(storage)
        with _planning(file):  # two that start at once would both create the tables
            study = _open(table, model, space, metric, seed, storage, prune)
        objective = partial(_objective, table, model, space, metric, seed, stop)
        while not stop():
            with _planning(file):
                trial, others = _take(study, space, n_trials, seed, shared)
            if trial is not None:
                done = _run(study, trial, objective)
                if not is_lost(done):
                    tell(Trial.of(done, space))
            elif others:
                time.sleep(_WAIT_SECONDS)
            else:
                break
        return SearchResult(
            model, table.name, metric, read_trials(study, space), _importance(study)
        )


def _checked_metric(table: Table, metric: str | None) -> str:
    known = METRICS[table.task]
    if metric is None:
        return known[0]
    if metric not in known:
        raise ValueError(
            f"{metric!r} is no metric of a {table.task} task; choose from "
            f"{', '.join(known)}"
        )
    return metric


def _open(
    table: Table,
    model: str,
    space: Space,
    metric: str,
    seed: int,
    storage: Path | str | None,
    prune: bool,
) -> optuna.Study:
    """Create the study, or open it; it must be of the same search."""
    import optuna

    what = {
        "table": table.name,
        "rows": [len(table.splits[part]) for part in ("train", "validation")],
        "model": model,
        "metric": metric,
        "seed": seed,
        "space": {name: setting.text for name, setting in space.items()},
    }
    pruner: optuna.pruners.BasePruner = optuna.pruners.NopPruner()
    if prune:
        pruner = optuna.pruners.MedianPruner(_STARTUP_TRIALS, _WARMUP_EPOCHS)
    backend = None
    if storage is not None:
        backend = optuna.storages.RDBStorage(
            f"sqlite:///{Path(storage).resolve()}",
            {"connect_args": {"timeout": LOCK_SECONDS}},
            heartbeat_interval=_HEARTBEAT,
            grace_period=_GRACE,
        )
    study = optuna.create_study(
        storage=backend,
        pruner=pruner,
        study_name=f"{table.name} {model}",
        direction="minimize" if metric in LOWER_IS_BETTER else "maximize",
        load_if_exists=True,
    )
    held = study.user_attrs.get("search")
    if held is None:
        study.set_user_attr("search", what)
    elif held != what:
        differing = [key for key in what if held.get(key) != what[key]]
        raise ValueError(
            f"{str(storage)!r} holds a search of {model} on {table.name} with another "
            f"{', '.join(differing)}: {[held.get(key) for key in differing]}. Name "
            "another file, or the same settings."
        )
    return study


def _planning(storage: Path | None) -> AbstractContextManager[None]:
    """Let one process at a time plan."""
    return nullcontext() if storage is None else alone(storage)


def _take(
    study: optuna.Study, space: Space, n_trials: int, seed: int, shared: bool = True
) -> tuple[optuna.Trial | None, bool]:
    """Take the first draw that nobody has or does; or return whether others are at one.

    Only one process at a time may be here: of two that ask Optuna at the same time
    for a trial that waits, SQLite gives it to both.
    """
    import optuna

    optuna.storages.fail_stale_trials(study)
    state = optuna.trial.TrialState
    for trial in study.get_trials(deepcopy=False, states=(state.RUNNING,)):
        # one whose process died before its first heartbeat never gets stale
        started = trial.datetime_start
        age = 0.0 if started is None else (datetime.now() - started).total_seconds()
        if not shared or ("begun" not in trial.user_attrs and age > _GRACE):
            study.tell(trial.number, state=state.FAIL)
    held: dict[int, optuna.trial.TrialState] = {}
    for trial in study.get_trials(deepcopy=False):
        if "draw" in trial.user_attrs and not is_lost(trial):
            held[trial.user_attrs["draw"]] = trial.state
    draws = range(n_trials)
    draw = next((k for k in draws if held.get(k, state.WAITING) == state.WAITING), None)
    if draw is None:
        return None, any(held[k] == state.RUNNING for k in draws)
    if draw not in held:
        rng = np.random.default_rng([seed, draw])
        drawn = {name: s.stored(s.draw(rng)) for name, s in space.items()}
        study.enqueue_trial(drawn, user_attrs={"draw": draw})
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Heartbeat of storage")  # _alive sees to it
        return study.ask(), True


def _run(
    study: optuna.Study,
    trial: optuna.Trial,
    objective: Callable[[optuna.Trial], float],
) -> optuna.trial.FrozenTrial:
    """Try what was drawn, and keep what came of it."""
    import optuna

    value, state = None, optuna.trial.TrialState.FAIL
    try:
        with _alive(trial):
            value = objective(trial)
        state = optuna.trial.TrialState.COMPLETE
    except optuna.TrialPruned:
        state = optuna.trial.TrialState.PRUNED
    except Exception:
        pass  # the objective has kept with the trial what it was
    finally:
        # another process has ended it if this one was asleep and was taken for dead
        done = study.tell(trial, value, state, skip_if_finished=True)
    return done


@contextmanager
def _alive(trial: optuna.Trial) -> Iterator[None]:
    """Tell other processes that this one is at a trial."""
    beat = getattr(trial.storage, "record_heartbeat", None)
    if beat is None:
        yield
        return
    ended = threading.Event()

    def go_on() -> None:
        while not ended.wait(_HEARTBEAT):
            beat(trial._trial_id)

    beat(trial._trial_id)
    trial.set_user_attr("begun", True)
    thread = threading.Thread(target=go_on, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _objective(
    table: Table,
    model: str,
    space: Space,
    metric: str,
    seed: int,
    stop: Callable[[], bool],
    trial: optuna.Trial,
) -> float:
    """Fit once; what goes wrong is kept with the trial."""
    import optuna

    settings = {name: setting.suggest(trial, name) for name, setting in space.items()}
    best = float("inf")

    def progress(told: Progress) -> bool:
        nonlocal best
        if stop():
            raise _Stopped
        if np.isfinite(told.validation_loss):
            best = min(best, told.validation_loss)
            # the pruner takes numbers in the study's direction, and this is a loss
            trial.report(best if metric in LOWER_IS_BETTER else -best, told.epoch)
            if trial.should_prune():
                raise optuna.TrialPruned
        return False

    started = time.perf_counter()
    try:
        spec = ModelSpec(model, {**settings, "random_state": seed})
        fitted = fit(spec, table, progress, parts=("train",))
        scores = score(fitted, table, "validation")
        if not np.isfinite(scores[metric]):
            raise ValueError(f"{metric} is {scores[metric]} on the validation rows")
    except (optuna.TrialPruned, _Stopped):
        raise  # a trial that was stopped is done again when the search goes on
    except Exception as error:
        trial.set_user_attr("error", f"{type(error).__name__}: {error}")
        raise
    finally:
        trial.set_user_attr("seconds", time.perf_counter() - started)
    trial.set_user_attr("scores", scores)
    return scores[metric]


def _importance(study: optuna.Study) -> dict[str, float]:
    """Share of the metric's variance that each setting explains, largest first.

    Empty while too few trials are complete to tell.
    """
    import optuna

    try:
        return dict(
            optuna.importance.get_param_importances(
                study, evaluator=optuna.importance.FanovaImportanceEvaluator(seed=0)
            )
        )
    except (RuntimeError, ValueError):
        return {}


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Optuna's log and its warnings of experiments to itself."""
    import optuna

    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            yield
    finally:
        optuna.logging.set_verbosity(level)
