"""How long models take to fit, and SPAM to be as good as an EBM with pairs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

from spam_core.benchmark.fits import (
    Fit,
    Plan,
    Store,
    by_variant,
    command_of,
    first_note,
    main_metric,
    measure_fits,
    measured,
    same_fit,
    settings_of,
    wanted,
)
from spam_core.benchmark.report import Column, Report
from spam_core.benchmark.variants import REFERENCE, find_tables, find_variants
from spam_core.estimators.fitting import LOWER_IS_BETTER

SPEED_TABLES = ("california", "bike_sharing")
SPEED_MODELS = ("spam", "spam-3", "ebm-2", "ebm", "xgboost", "dnn-1")
_REFERENCE_KEY = "ebm-2"
_NEVER: Fit = {"seconds": math.inf, "epochs": math.inf}  # as good as the reference
_STOPPED = "spam"  # the registry's name of the models that are stopped early

COLUMNS = (
    Column("table", "table"),
    Column("label", "model"),
    Column("metric", "metric"),
    Column("n_seeds", "seeds"),
    Column("score", "on test rows", 4),
    Column("seconds", "seconds to fit", 2),
    Column("times_as_fast", f"times as fast as {REFERENCE}", 2),
    Column("seconds_to_match", f"seconds to {REFERENCE}'s error", 2),
    Column("times_as_fast_to_match", "times as fast to it", 2),
    Column("n_matched", "seeds that get there"),
    Column("memory_gb", "GB", 2),
    Column("note", "note"),
)

_TEXT = (
    "Wall time of `fit` on training and validation rows: encoding the table, choosing "
    "the regularization, training all members, and what explanations need; not "
    "loading the table, nor scoring. Each fit runs in a process of its own, one after "
    "the other, all with the same number of threads (an EBM: processes). Medians over "
    "seeds, of seconds and of ratios within a seed; a seed draws the split as in the "
    "accuracy benchmark.\n\n"
    f"*Seconds to {REFERENCE}'s error*: a SPAM whose training is stopped after an "
    "epoch is a model like any other, fitted in less time. The first epoch after which "
    "its error on the test rows is at most that of the same seed's "
    f"{REFERENCE} is looked for by halving, each time with a fit of its own that is "
    "stopped there by a callback; given is that fit's wall time, choosing the "
    "regularization included. A seed that doesn't get there counts as longer than any, "
    "so a dash says that half of them or more don't.\n\n"
    "Memory: peak of a fit's largest process, interpreter and table included. "
    "Explanations a second have a command of their own, `benchmark explanations`."
)


def speed(
    folder: Path,
    tables: Sequence[str] | None = None,
    models: Sequence[str] | None = None,
    seeds: Sequence[int] = (0, 1, 2),
    plan: Plan | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Report:
    """Time fits that aren't timed yet, and write them down one by one.

    Parameters
    ----------
    folder : Path
        Of ``speed.json`` and ``speed.md``; what they hold is kept.
    tables, models : sequence of str, optional
        Data sets and keys of `VARIANTS`; by default `SPEED_TABLES` and
        `SPEED_MODELS`.
    seeds : sequence of int
    plan : Plan, optional
        One job at a time: fits side by side would slow each other down.
    tell : see `explanation_speed`

    Returns
    -------
    Report

    Raises
    ------
    ValueError
        If a table or model is unknown or its file isn't here, the reference isn't
        among the models, or there are several jobs; before any work.
    """
    variants = find_variants(models or SPEED_MODELS)
    names = find_tables(tables or SPEED_TABLES)
    plan = plan or Plan()
    if plan.jobs != 1:
        raise ValueError(f"Times are taken with 1 job at a time, got {plan.jobs}")
    if _REFERENCE_KEY not in [variant.key for variant in variants]:
        raise ValueError(
            f"{_REFERENCE_KEY} must be among the models: the others are compared "
            f"with it; got {[variant.key for variant in variants]}"
        )
    store = Store(folder, make_report)
    fits = wanted(names, variants, seeds)
    measure_fits(fits, plan, store, tell)
    for fit in fits:
        if fit["model"] == _STOPPED:
            _match(fit, plan, store, tell)
    return store.report()


def _match(fit: Fit, plan: Plan, store: Store, tell: Callable[[str], None]) -> None:
    """Look for the first epoch after which a model is as good as the reference."""
    whole, reference = _find(store.fits(), fit), _reference(store.fits(), fit)
    if whole is None or reference is None:
        return
    aim = _error(reference)
    if _error(whole) > aim:
        return
    # after `first` epochs it isn't there yet, after `last` it is
    first, last = 0, int(whole["epochs"])
    while last - first > 1:
        middle = (first + last) // 2
        stopped = {**fit, "stop_after": middle}
        measure_fits([stopped], plan, store, tell)
        found = _find(store.fits(), stopped)
        if found is None:  # over the limit: it says so
            return
        if _error(found) <= aim:
            last = middle
        else:
            first = middle


def _find(fits: Sequence[Fit], wanted: Fit) -> Fit | None:
    """Return the fit of these settings and seed, if it was measured."""
    return next((f for f in fits if f["note"] is None and same_fit(f, wanted)), None)


def _reference(fits: Sequence[Fit], fit: Fit) -> Fit | None:
    """Return the reference's fit of the same table and seed, if it was measured."""
    return next(
        (
            f
            for f in reversed(fits)
            if f["label"] == REFERENCE
            and f["note"] is None
            and (f["table"], f["seed"]) == (fit["table"], fit["seed"])
        ),
        None,
    )


def _error(fit: Fit) -> float:
    metric = main_metric(fit)
    value = float(fit["scores"][metric])
    return value if metric in LOWER_IS_BETTER else 1 - value


def make_report(fits: Sequence[Fit]) -> Report:
    """Sum fits up; see `spam_core.benchmark.accuracy.make_report`."""
    return Report(
        name="speed",
        title="Time to fit",
        text=_TEXT,
        command=command_of("speed", fits),
        columns=COLUMNS,
        results=summarise(fits),
        settings=settings_of(fits),
        fits=fits,
    )


def summarise(fits: Sequence[Fit]) -> list[dict[str, Any]]:
    """Sum up the fits of each table and variant; see `by_variant`.

    Returns
    -------
    list of dict
        One for each table and variant: ``table``, ``model``, ``label``, ``metric``,
        ``score`` (mean), ``seeds``, ``n_seeds``, ``seconds`` (median),
        ``times_as_fast``, ``seconds_to_match``, ``epochs_to_match``,
        ``times_as_fast_to_match``, ``n_matched`` (None where nothing is stopped),
        ``memory_gb`` (largest), ``parameters``, ``note``.
    """
    whole = [fit for fit in fits if fit["stop_after"] is None]
    return [_result(same, fits) for same in by_variant(whole)]


def _result(same: Sequence[Fit], fits: Sequence[Fit]) -> dict[str, Any]:
    done = measured(same)
    metric = main_metric(same[0])
    ratios, matches = [], []
    for fit in done:
        reference = _reference(fits, fit)
        if reference is None:
            continue
        ratios.append(reference["seconds"] / fit["seconds"])
        if fit["model"] == _STOPPED:
            match = _first_match(fits, fit, reference) or _NEVER
            ratio = reference["seconds"] / match["seconds"]
            matches.append((match["seconds"], match["epochs"], ratio))
    n_matched = sum(math.isfinite(seconds) for seconds, *_ in matches)
    usual = [median(column) for column in zip(*matches, strict=True)]
    if not usual or not math.isfinite(usual[0]):
        usual = [None, None, None]
    return {
        "table": same[0]["table"],
        "model": same[0]["model"],
        "label": same[0]["label"],
        "metric": metric,
        "score": fmean(fit["scores"][metric] for fit in done) if done else None,
        "seeds": [fit["seed"] for fit in done],
        "n_seeds": len(done),
        "seconds": _median(fit["seconds"] for fit in done),
        "times_as_fast": _median(ratios),
        "seconds_to_match": usual[0],
        "epochs_to_match": usual[1],
        "times_as_fast_to_match": usual[2],
        "n_matched": n_matched if matches else None,
        "memory_gb": max((fit["memory_gb"] for fit in done), default=None),
        "parameters": same[0]["parameters"],
        "note": first_note(same),
    }


def _first_match(fits: Sequence[Fit], fit: Fit, reference: Fit) -> Fit | None:
    """Return the shortest fit of these settings that is as good as the reference."""
    good = [
        f
        for f in fits
        if f["note"] is None
        and same_fit({**f, "stop_after": None}, fit)
        and _error(f) <= _error(reference)
    ]
    return min(good, key=lambda f: f["epochs"], default=None)


def _median(values: Any) -> float | None:
    found = list(values)
    return median(found) if found else None
