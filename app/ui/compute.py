"""What pages work out once and keep (`ui.caches`).

Cached objects are never changed. Keys are the name of a built-in data set, the key of a
visitor's own table, or the path of a saved model, which is unique to one training run
and never written again, so that a key always means the same content.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from spam_core import load_dataset, load_model
from spam_core.data import (
    ReadResult,
    Table,
    check_target,
    dataset_info,
    dataset_names,
    describe_columns,
    read_table,
    target_counts,
    telling_columns,
)
from ui import jobs, trained
from ui.caches import kept, workspace
from ui.trained import Model as Model
from ui.workspace import Choices, OwnTable, Training, is_own

BUILT_IN = ("gapminder", "breast_cancer", "wine", "california")
"""Data sets that the dashboard offers where they can be had without a download."""

# Small settings for tests and for a look at the pages: worse models, at once.
_FAST: dict[str, dict[str, Any]] = {
    "spam": {"n_members": 2, "rank": 4, "n_knots": 8, "max_epochs": 4},
    "dnn": {"max_epochs": 2},
}


def fast() -> bool:
    """Whether small settings are asked for."""
    return os.environ.get("SPAM_FAST") == "1"


@kept(max_entries=1)
def _folder() -> Path:
    return jobs.new_folder()


@kept(max_entries=1, copies=True)
def _built_in() -> dict[str, str]:
    here = dataset_names(available=True)
    return {name: dataset_info(name).title for name in BUILT_IN if name in here}


def choices() -> dict[str, str]:
    """Return the data sets to offer, the visitor's own last: key -> what to call it."""
    mine = workspace()
    own = {} if mine is None else mine.tables
    return _built_in() | {key: f"{own[key].title} (yours)" for key in own}


def add(frame: Any, name: str, choices: Choices) -> OwnTable:
    """Make a frame a table of the visitor's own.

    Raises
    ------
    ValueError
        If there is nothing to learn from it.
    OSError
        If it can't be written.
    """
    mine = workspace()
    assert mine is not None
    return mine.add(frame, name, choices)


def remove(dataset: str) -> None:
    """Forget a table of the visitor's own, and its models."""
    mine = workspace()
    assert mine is not None
    mine.remove(dataset)


@kept(max_entries=8)
def table(dataset: str) -> Table:
    """Return a built-in table, or one of the visitor's own."""
    if not is_own(dataset):
        return load_dataset(dataset)
    mine = workspace()
    assert mine is not None
    return mine.tables[dataset].open()


@kept(max_entries=16)
def _built_in_run(dataset: str) -> jobs.Run:
    """Train SPAM, then the neural network, on a built-in table; once per server."""
    models = []
    for name in ("spam", "dnn"):
        params: dict[str, Any] = {"random_state": 0}
        if fast():
            params |= _FAST[name]
        models.append({"name": name, "params": params})
    return jobs.start({"dataset": dataset}, models, _folder())


def run(dataset: str) -> jobs.Run | None:
    """Return the training of a data set; None if an own table had none yet."""
    return trained.run(dataset, workspace(), _built_in_run)


def train(dataset: str, models: list[dict[str, Any]]) -> jobs.Run:
    """Train for this visitor alone; it waits while another training is under way."""
    mine = workspace()
    assert mine is not None
    return mine.train(dataset, mine.source(dataset), models)


def under_way() -> Training | None:
    """Return the visitor's own training that isn't finished."""
    mine = workspace()
    return None if mine is None else mine.training


def last_training(dataset: str) -> Training | None:
    """Return the visitor's own last training of a data set."""
    mine = workspace()
    return (
        None if mine is None else next(iter(mine.trainings.get(dataset, [])[-1:]), None)
    )


def retry(dataset: str) -> None:
    """Train again after a failure or a cancelled training."""
    mine = workspace()
    for training in [] if mine is None else mine.trainings.get(dataset, []):
        if training.run is run(dataset):
            train(dataset, training.models)
            return
    _built_in_run.clear(dataset)


def models(dataset: str, name: str = "spam") -> list[Model]:
    """Return the models of a data set that are ready, the newest last."""
    return trained.models(dataset, name, workspace(), _built_in_run)


def model(dataset: str, name: str = "spam") -> Model | None:
    """Return the newest model of a data set, or None while it isn't trained."""
    return next(reversed(models(dataset, name)), None)


def names(dataset: str) -> tuple[str, ...]:
    """Return which models of a data set are ready or on their way."""
    return trained.names(dataset, workspace(), _built_in_run)


def report(dataset: str) -> dict[str, Any]:
    """Return what the training wrote about table, models and the constant guess."""
    return trained.report(dataset, workspace(), _built_in_run)


@kept(max_entries=16, show_spinner="Loading the model…")
def estimator(path: str) -> Any:
    """Return a saved model; read only."""
    return load_model(path)


@kept(max_entries=32, show_spinner="Working out the terms…")
def _explanation(path: str, view: str) -> Any:
    return estimator(path).explain_global(view=view)


@dataclass(frozen=True)
class Terms:
    """The terms of a model under the names that people use.

    Attributes
    ----------
    terms : tuple of tuple of str
    importance, sd : ndarray of shape (T,) or (T, C)
    scale : str
        Names the class in words where its label is a code.
    classes : tuple of str or None
        Names of several classes; None where there is one output.
    feature_names : tuple of str
    """

    terms: Any
    importance: Any
    sd: Any
    scale: str
    classes: tuple[str, ...] | None
    feature_names: tuple[str, ...]

    def scale_of(self, class_: str | None) -> str:
        """Name the scale of one class of several."""
        return self.scale if class_ is None else f"{self.scale} of {class_}"


@kept(max_entries=32, show_spinner=False)
def terms(path: str, dataset: str, view: str) -> Terms:
    """Return the terms of a model, their sizes and what they are called."""
    found, fitted, known = _explanation(path, view), estimator(path), table(dataset)
    several = known.task == "multiclass"
    return Terms(
        found.terms,
        found.importance,
        found.sd,
        scale(dataset, found.scale),
        tuple(known.class_names) if several else None,
        tuple(fitted.feature_names_),
    )


def scale(dataset: str, name: str) -> str:
    """Name a scale in words: the class of a logit, the unit of a target."""
    known = table(dataset)
    if known.task == "binary":
        return f"logit of {known.class_names[1]}"
    if known.target_unit:
        return f"{name} ({known.target_unit})"
    return name


def _sizes(shown: Terms, class_: str | None) -> Any:
    if shown.classes is None:
        return shown.importance
    if class_ is None:
        return shown.importance.mean(axis=1)
    return shown.importance[:, shown.classes.index(class_)]


@kept(copies=True, max_entries=128, show_spinner=False)
def ranked(path: str, dataset: str, view: str, class_: str | None, size: int) -> Any:
    """Return the terms of `size` columns, the most important first."""
    shown = terms(path, dataset, view)
    order = (-_sizes(shown, class_)).argsort(kind="stable")
    return [
        tuple(shown.terms[k])
        for k in order
        if len(shown.terms[k]) == size and shown.terms[k] != ("…",)
    ]


def share_of_largest(
    path: str, dataset: str, view: str, class_: str | None, length: int
) -> float:
    """Share of the total size that the `length` largest terms have."""
    sizes = _sizes(terms(path, dataset, view), class_)
    total = float(sizes.sum())
    largest = sorted(sizes.tolist(), reverse=True)[:length]
    return sum(largest) / total if total > 0 else 1.0


def size(
    path: str, dataset: str, view: str, class_: str | None, term: tuple[str, ...]
) -> float:
    """Mean absolute contribution of one term; 0 if it isn't listed."""
    shown = terms(path, dataset, view)
    sizes = dict(zip(shown.terms, _sizes(shown, class_).tolist(), strict=True))
    return float(sizes.get(term, 0.0))


@kept(max_entries=512, show_spinner=False)
def curve(path: str, view: str, feature: str) -> Any:
    """Return the shape of one feature."""
    return _explanation(path, view).curve(feature)


@kept(max_entries=256, show_spinner=False)
def surface(path: str, view: str, first: str, second: str) -> Any:
    """Return the surface of a pair."""
    return _explanation(path, view).surface(first, second)


@kept(max_entries=256, show_spinner=False)
def local(path: str, dataset: str, view: str, position: int) -> Any:
    """Return the LocalExplanation of one row of a table, by position."""
    rows = table(dataset).X.iloc[[position]]
    return estimator(path).explain_local(rows, view=view)


@kept(copies=True, max_entries=256, show_spinner=False)
def shares(path: str, dataset: str, position: int) -> dict[str, float] | None:
    """Return the probability of each class, by name; None for a regression."""
    known = table(dataset)
    if known.task == "regression":
        return None
    row = estimator(path).predict_proba(known.X.iloc[[position]])[0]
    return dict(zip(known.class_names, row.tolist(), strict=True))


@kept(max_entries=16)
def columns(dataset: str) -> Any:
    """Return what each column of a table holds."""
    return describe_columns(table(dataset))


@kept(max_entries=16)
def target(dataset: str) -> Any:
    """Return how many rows have which value of the target."""
    return target_counts(table(dataset))


@kept(max_entries=3, show_spinner="Reading the file…", private=True)
def _read(
    digest: str,  # noqa: ARG001, it stands for the bytes, which are not hashed again
    options: tuple[tuple[str, Any], ...],
    _data: bytes,
) -> ReadResult | ValueError | LookupError:
    try:
        return read_table(_data, **dict(options))
    except (ValueError, LookupError) as error:
        return error


@kept(
    max_entries=16,
    show_spinner="Looking for columns that tell too much…",
    private=True,
)
def telling(
    key: tuple[Any, ...],  # noqa: ARG001, it stands for the table
    target: str,
    task: str,
    _frame: pd.DataFrame,
) -> dict[str, str]:
    """Name the columns of an upload that give its target away, with their scores.

    Parameters
    ----------
    key : tuple
        The file and how it was read.
    target : str
    task : {"classification", "regression"}
    """
    y = _frame[target]
    return telling_columns(_frame.drop(columns=[target]), y, check_target(y, task))


def read(data: bytes, **options: Any) -> ReadResult | ValueError | LookupError:
    """Read an upload; return it, or what is wrong with it.

    Parameters
    ----------
    data : bytes
    **options : object
        Arguments of `read_table`.
    """
    digest = hashlib.sha256(data).hexdigest()
    return _read(digest, tuple(sorted(options.items())), data)
