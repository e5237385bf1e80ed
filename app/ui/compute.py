"""What pages work out once and keep. The only file that touches ``st.cache_*``.

Cached objects are shared by all visitors and never changed. Keys are the name of a
built-in data set or the path of a saved model, which is unique to one training run and
never written again, so that a key always means the same content.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from spam_core import load_dataset, load_model
from spam_core.cli import fitting
from spam_core.data import Table, dataset_info, dataset_names
from spam_core.explain import (
    CostEstimate,
    estimate_cost,
    explain_kernel_shap,
    explain_lime,
    sample_background,
)
from spam_core.explain.spectrum import BoundTerms, bound_terms
from ui import jobs

BUILT_IN = ("gapminder", "breast_cancer", "wine", "california")
"""Data sets that the dashboard offers where they can be had without a download."""

# Small settings for tests and for a look at the pages: worse models, at once.
_FAST: dict[str, dict[str, Any]] = {
    "spam": {"n_members": 2, "rank": 4, "n_knots": 8, "max_epochs": 4},
    "dnn": {"max_epochs": 2},
}


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


@st.cache_resource(show_spinner=False)
def _folder() -> Path:
    return jobs.new_folder()


@st.cache_data(show_spinner=False)
def choices() -> dict[str, str]:
    """Return the data sets to offer: key -> what to call it."""
    here = dataset_names(available=True)
    return {name: dataset_info(name).title for name in BUILT_IN if name in here}


@st.cache_resource(max_entries=8, show_spinner=False)
def table(dataset: str) -> Table:
    """Return a built-in table."""
    return load_dataset(dataset)


@st.cache_resource(max_entries=16, show_spinner=False)
def _built_in_run(dataset: str) -> jobs.Run:
    """Train SPAM, then the neural network, on a built-in table; once per server."""
    models = []
    for name in ("spam", "dnn"):
        params: dict[str, Any] = {"random_state": 0}
        if os.environ.get("SPAM_FAST") == "1":
            params |= _FAST[name]
        models.append({"name": name, "params": params})
    return jobs.start({"dataset": dataset}, models, _folder())


def run(dataset: str) -> jobs.Run:
    """Return the training of a data set; it starts with the first call."""
    return _built_in_run(dataset)


def retry(dataset: str) -> None:
    """Train again after a failure or a cancelled training."""
    _built_in_run.clear(dataset)


def model(dataset: str, name: str = "spam") -> Model | None:
    """Return a model of a data set, or None while it isn't trained."""
    done = run(dataset).fitted.get(name)
    if done is None:
        return None
    return Model(dataset, done.path, done.scores, done.seconds)


def report(dataset: str) -> dict[str, Any]:
    """Return what the training wrote about table, models and the constant guess."""
    return run(dataset).report


@st.cache_resource(max_entries=16, show_spinner="Loading the model…")
def estimator(path: str) -> Any:
    """Return a saved model; read only."""
    return load_model(path)


@st.cache_resource(max_entries=32, show_spinner="Working out the terms…")
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


@st.cache_resource(max_entries=32, show_spinner=False)
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
    if known.task == "regression" and known.target_unit:
        return f"{name} ({known.target_unit})"
    return name


def _sizes(shown: Terms, class_: str | None) -> Any:
    if shown.classes is None:
        return shown.importance
    if class_ is None:
        return shown.importance.mean(axis=1)
    return shown.importance[:, shown.classes.index(class_)]


@st.cache_data(max_entries=128, show_spinner=False)
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


@st.cache_resource(max_entries=512, show_spinner=False)
def curve(path: str, view: str, feature: str) -> Any:
    """Return the shape of one feature."""
    return _explanation(path, view).curve(feature)


@st.cache_resource(max_entries=256, show_spinner=False)
def surface(path: str, view: str, first: str, second: str) -> Any:
    """Return the surface of a pair."""
    return _explanation(path, view).surface(first, second)


@st.cache_resource(max_entries=256, show_spinner=False)
def local(path: str, dataset: str, view: str, position: int) -> Any:
    """Return the LocalExplanation of one row of a table, by position."""
    rows = table(dataset).X.iloc[[position]]
    return estimator(path).explain_local(rows, view=view)


@st.cache_data(max_entries=256, show_spinner=False)
def shares(path: str, dataset: str, position: int) -> dict[str, float] | None:
    """Return the probability of each class, by name; None for a regression."""
    known = table(dataset)
    if known.task == "regression":
        return None
    row = estimator(path).predict_proba(known.X.iloc[[position]])[0]
    return dict(zip(known.class_names, row.tolist(), strict=True))


def orders(path: str) -> tuple[int, ...]:
    """Return the orders above 1 that a model has."""
    return tuple(sorted(order for order in estimator(path).model_.lam if order > 1))


@st.cache_resource(max_entries=64, show_spinner="Working out the spectrum…")
def spectrum(path: str, order: int, metric: str) -> Any:
    """Return the Spectrum of one order."""
    return estimator(path).spectrum(order, metric)


def most_components(path: str, order: int, metric: str) -> int:
    """Return the rank from which on cutting a model changes nothing."""
    lam = estimator(path).model_.lam[order]
    if order == 2 and len(lam) == 1:
        return int(spectrum(path, order, metric).values.shape[1])
    return int(lam.shape[1])


@st.cache_data(max_entries=4096, show_spinner=False)
def cut_score(path: str, dataset: str, order: int, metric: str, rank: int) -> float:
    """Score a model cut to a rank on the test rows, by its table's main metric."""
    known = table(dataset)
    smaller = estimator(path).truncate({order: rank}, metric)
    return float(fitting.score(smaller, known)[fitting.METRICS[known.task][0]])


@st.cache_data(max_entries=256, show_spinner="Trying smaller models…")
def cut_scores(
    path: str, dataset: str, order: int, metric: str
) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Return ranks 1, 2, 4, … and all, and what a model cut to each scores."""
    most = most_components(path, order, metric)
    ranks = [2**k for k in range(most.bit_length()) if 2**k < most] + [most]
    scores = [cut_score(path, dataset, order, metric, rank) for rank in ranks]
    return tuple(ranks), tuple(scores)


def enough(
    ranks: tuple[int, ...],
    scores: tuple[float, ...],
    whole: float,
    metric: str,
    loss: float,
) -> int:
    """Return the smallest rank with which a model loses at most a share of a metric.

    Examples
    --------
    >>> enough((1, 2, 4), (7.0, 6.05, 6.0), 6.0, "rmse", 0.01)
    2
    """
    sign = 1.0 if metric in ("rmse", "mae", "log_loss") else -1.0
    worst = sign * whole + loss * abs(whole)
    good = [r for r, s in zip(ranks, scores, strict=True) if sign * s <= worst]
    return good[0] if good else ranks[-1]


@st.cache_data(max_entries=256, show_spinner=False)
def bound(path: str, dataset: str, order: int, output: int) -> BoundTerms | None:
    """Return Theorem 1's terms; None where no exponential law can be fitted."""
    try:
        laws = spectrum(path, order, "coefficient").fits(output)
    except ValueError:  # fewer than three values
        return None
    law = next(law for law in laws if law.law == "exponential")
    if not law.c2 > 0:
        return None
    parts = table(dataset).splits
    n_rows = len(parts["train"]) + len(parts["validation"])
    return bound_terms(estimator(path).model_, n_rows, law)


BACKGROUND = 100
"""Training rows that LIME and KernelSHAP share."""

_POSTHOC: dict[str, Any] = {"lime": explain_lime, "kernel_shap": explain_kernel_shap}


@st.cache_resource(max_entries=16, show_spinner=False)
def background(dataset: str) -> Any:
    """Return the training rows that LIME and KernelSHAP compare with."""
    X, _ = fitting.rows_of(table(dataset), "train", "validation")
    return sample_background(X, BACKGROUND, 0)


@st.cache_data(max_entries=64, show_spinner="Estimating what it will take…")
def cost(path: str, dataset: str, method: str) -> CostEstimate:
    """Estimate what explaining one row by "lime" or "kernel_shap" will take."""
    model = estimator(path)
    return estimate_cost(model, background(dataset), method=method)  # type: ignore[arg-type]


@st.cache_resource(max_entries=256, show_spinner=False)
def posthoc(path: str, dataset: str, position: int, method: str, seed: int) -> Any:
    """Return what "lime" or "kernel_shap" says of a row, by position."""
    rows = table(dataset).X.iloc[[position]]
    return _POSTHOC[method](estimator(path), rows, background(dataset), seed=seed)
