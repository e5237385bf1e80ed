"""Which training and which model a visitor sees of a data set. No Streamlit in here.

A visitor's own trainings come before the one that all visitors share; a model that is
ready stays in force until a newer one is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ui import jobs, kinds
from ui.workspace import Workspace, is_own

Shared = Callable[[str], jobs.Run]


@dataclass(frozen=True)
class Model:
    """A fitted model as the pages use it.

    Attributes
    ----------
    dataset : str
        Key of its table.
    path : str
        Key of everything that is worked out from it.
    scores : dict
        Metrics on the test rows.
    seconds : float
        Training time.
    """

    dataset: str
    path: str
    scores: dict[str, float | None]
    seconds: float


def run(dataset: str, mine: Workspace | None, shared: Shared) -> jobs.Run | None:
    """Return the training that the pages are about; None if there was none.

    The newest of the visitor's own that is under way or has a model, else the shared
    one, which starts with the first call.
    """
    own = _own(dataset, mine)
    for training in reversed(own):
        if not training.finished or training.fitted:
            return training
    if not is_own(dataset):
        return shared(dataset)
    return own[-1] if own else None


def models(
    dataset: str, name: str, mine: Workspace | None, shared: Shared
) -> list[Model]:
    """Return the models of that name that are ready, the newest last."""
    fitted = [training.fitted.get(name) for training in _all(dataset, mine, shared)]
    return [
        Model(dataset, done.path, done.scores, done.seconds)
        for done in fitted
        if done is not None
    ]


def names(dataset: str, mine: Workspace | None, shared: Shared) -> tuple[str, ...]:
    """Return which models are ready or on their way, in the order of the registry."""
    found: set[str] = set()
    for training in _all(dataset, mine, shared):
        found |= set(training.fitted)
        if not training.finished:
            found |= set(training.models)
    return tuple(name for name in kinds.NAMES if name in found)


def report(dataset: str, mine: Workspace | None, shared: Shared) -> dict[str, Any]:
    """Return what is known of the newest models: one report, each model the newest."""
    merged: dict[str, Any] = {}
    for training in _all(dataset, mine, shared):
        if training.fitted:
            new = training.report
            known = {**merged.get("models", {}), **new.get("models", {})}
            merged = {**new, "models": known}
    return merged


def _own(dataset: str, mine: Workspace | None) -> list[jobs.Run]:
    return [] if mine is None else [t.run for t in mine.trainings.get(dataset, [])]


def _all(dataset: str, mine: Workspace | None, shared: Shared) -> list[jobs.Run]:
    """Trainings of a data set, the oldest first."""
    own = _own(dataset, mine)
    return own if is_own(dataset) else [shared(dataset), *own]
