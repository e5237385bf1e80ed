"""Spectra, smaller models and the post-hoc methods, worked out once and kept."""

from __future__ import annotations

from typing import Any

from spam_core.estimators import fitting
from spam_core.explain import (
    Comparison,
    CostEstimate,
    compare_explanations,
    error_by_budget,
    estimate_cost,
    sample_background,
)
from spam_core.explain.budget import BUDGETS
from spam_core.explain.spectrum import BoundTerms, bound_terms
from ui.caches import kept
from ui.compute import estimator, fast, table


def orders(path: str) -> tuple[int, ...]:
    """Return the orders above 1 that a model has."""
    return tuple(sorted(order for order in estimator(path).model_.lam if order > 1))


@kept(max_entries=64, show_spinner="Working out the spectrum…")
def spectrum(path: str, order: int, metric: str) -> Any:
    """Return the Spectrum of one order."""
    return estimator(path).spectrum(order, metric)


def most_components(path: str, order: int, metric: str) -> int:
    """Return the rank from which on cutting a model changes nothing."""
    lam = estimator(path).model_.lam[order]
    if order == 2 and len(lam) == 1:
        return int(spectrum(path, order, metric).values.shape[1])
    return int(lam.shape[1])


@kept(copies=True, max_entries=4096, show_spinner=False)
def cut_score(path: str, dataset: str, order: int, metric: str, rank: int) -> float:
    """Score a model cut to a rank on the test rows, by its table's main metric."""
    known = table(dataset)
    smaller = estimator(path).truncate({order: rank}, metric)
    return float(fitting.score(smaller, known)[fitting.METRICS[known.task][0]])


@kept(copies=True, max_entries=256, show_spinner="Trying smaller models…")
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


@kept(copies=True, max_entries=256, show_spinner=False)
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
"""Training rows that all explanations of a comparison share."""

# What tests and a first look at the pages make do with.
_FAST_BACKGROUND, _FAST_BUDGETS = 20, (64, 256)

SEEDS = (0, 1, 2)
"""Each method runs with each, which shows how much it depends on luck."""


@kept(max_entries=16, show_spinner=False)
def background(dataset: str) -> Any:
    """Return the training rows that explanations compare with."""
    X, _ = fitting.rows_of(table(dataset), "train", "validation")
    return sample_background(X, _FAST_BACKGROUND if fast() else BACKGROUND, 0)


@kept(max_entries=256, show_spinner=False)
def exact(path: str, dataset: str, position: int) -> Any:
    """Return a glass box's exact Shapley values of a row, by position.

    The background is the one that LIME and KernelSHAP have as well.
    """
    rows = table(dataset).X.iloc[[position]]
    return estimator(path).explain_local(
        rows, view="shapley", background=background(dataset)
    )


@kept(copies=True, max_entries=64, show_spinner="Estimating what it will take…")
def cost(path: str, dataset: str, method: str) -> CostEstimate:
    """Estimate what explaining one row by "lime" or "kernel_shap" will take."""
    model = estimator(path)
    return estimate_cost(model, background(dataset), method=method)  # type: ignore[arg-type]


@kept(max_entries=64, show_spinner=False)
def _place(*_: object) -> dict[str, Comparison]:
    """Return where a comparison is kept once it is made.

    A cached function may not draw, and making it shows how far it has come.
    """
    return {}


def comparison(
    models: tuple[tuple[str, str], ...],
    dataset: str,
    position: int,
    label: object,
    tell: Any = None,
) -> Comparison:
    """Explain a row by all methods and measure them; kept.

    Parameters
    ----------
    models : tuple of (name in the comparison, path of the saved model)
    dataset : str
    position : int
        Of the row in its table.
    label : object
        Class to explain, of several; else None.
    tell : callable, optional
        Called with each step.
    """
    place = _place(models, dataset, position, label)
    if "found" not in place:
        place["found"] = compare_explanations(
            {name: estimator(path) for name, path in models},
            table(dataset).X.iloc[[position]],
            background(dataset),
            seeds=SEEDS,
            class_=label,
            callback=tell,
        )
    return place["found"]


@kept(copies=True, max_entries=64, show_spinner="Asking with more and more samples…")
def budget(path: str, dataset: str, position: int, label: object) -> Any:
    """Measure how wrong LIME and KernelSHAP are as they ask more often."""
    return error_by_budget(
        estimator(path),
        table(dataset).X.iloc[[position]],
        background(dataset),
        budgets=_FAST_BUDGETS if fast() else BUDGETS,
        seeds=SEEDS,
        class_=label,
    )
