"""How good models are with settings that a search of equal length has chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

from spam_core import __version__
from spam_core.benchmark.fits import (
    Fit,
    Plan,
    Store,
    command,
    mean_and_spread,
    measure_fits,
    measured,
    settings_of,
)
from spam_core.benchmark.report import Column, Report
from spam_core.benchmark.splits import OFFICIAL, load_split
from spam_core.benchmark.tables import ratio_to
from spam_core.benchmark.variants import VARIANTS, find_tables, in_order, refuse_unknown
from spam_core.estimators.registry import MODELS, make_model
from spam_core.search import SPACES, SearchResult, Trial, search
from spam_core.search.result import COMPLETE

TUNED_TABLES = (
    "california",
    "bike_sharing",
    "heloc",
    "adult",
    "credit_default",
    "telco_churn",
)
TUNED_MODELS = ("spam", "xgboost")
_REFERENCE = "xgboost"

COLUMNS = (
    Column("table", "table"),
    Column("label", "model"),
    Column("metric", "metric"),
    Column("mean", "test", 4),
    Column("spread", "spread", 2),
    Column("n_seeds", "seeds"),
    Column("ratio", "error / XGBoost's", 4),
    Column("validation", "validation", 4),
    Column("trials", "trials", 3),
    Column("complete", "not pruned, defaults included", 3),
    Column("search_seconds", "seconds to search", 2),
    Column("seconds", "seconds to fit", 2),
    Column("note", "note"),
)

_TEXT = (
    "A seed draws the split as in the accuracy benchmark. On its training rows each "
    "model is fitted with settings drawn at random from its ranges (`python -m "
    "spam_core search`; the paper's, or for the spline SPAM about its defaults), as "
    "many trials for each model, and with its defaults, as each line of the accuracy "
    "benchmark has them (SPAM: orders 2 and 3). What is best on the validation "
    "rows is fitted to both parts and scored on the test rows. *Error / XGBoost's*: "
    "RMSE or 1 - AUC over that of XGBoost tuned so, on the same seeds; below 1 is "
    "better. Validation: the score of what was best, a little better than it should "
    "be. Trials that fall behind the median of the others are pruned, where a model "
    f"trains by epochs. {OFFICIAL}"
)


def tuned(
    folder: Path,
    tables: Sequence[str] | None = None,
    models: Sequence[str] | None = None,
    n_trials: int = 30,
    seeds: Sequence[int] = (0,),
    plan: Plan | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Report:
    """Search, fit and score what isn't yet, and write it down after every fit.

    Parameters
    ----------
    folder : Path
        Of ``tuned.json`` and ``tuned.md``; what they hold is kept. Trials lie in its
        folder ``trials``, so that a search goes on where it stopped, and processes
        that are given one folder share it.
    tables : sequence of str, optional
        Data sets; by default those of `TUNED_TABLES`.
    models : sequence of str, optional
        In the registry; by default `TUNED_MODELS`.
    n_trials : int
        Of each search.
    seeds, plan, tell
        See `accuracy`.

    Returns
    -------
    Report

    Raises
    ------
    ValueError
        If a table or model is unknown, or the number of trials isn't positive; before
        any work.
    """
    names, plan = find_tables(tables or TUNED_TABLES), plan or Plan()
    models = list(dict.fromkeys(models or TUNED_MODELS))
    refuse_unknown("model", models, list(MODELS))
    if n_trials < 1:
        raise ValueError(f"There must be a trial or more, got {n_trials}")
    store = Store(folder, make_report)
    for seed in seeds:
        for name in names:
            for model in models:
                what = name, model, seed, n_trials
                if _is_done(store.fits(), *what) and not plan.again:
                    continue
                found = _search(folder, *what, plan.threads, tell)
                fit = {**_identity(*what), **_facts(found, plan.threads)}
                # also where a shorter search had chosen the same settings
                measure_fits([fit], replace(plan, again=True), store, tell)
    return store.report()


def _identity(table: str, model: str, seed: int, n_trials: int) -> dict[str, Any]:
    return {
        "table": table,
        "label": f"{MODELS[model].title}, tuned",
        "model": model,
        "stop_after": None,
        "seed": seed,
        "spam_core": __version__,
        "trials": n_trials,
    }


def _is_done(
    known: Sequence[Fit], table: str, model: str, seed: int, n_trials: int
) -> bool:
    wanted = _identity(table, model, seed, n_trials)
    return any(
        all(fit[key] == value for key, value in wanted.items()) and not fit["failed"]
        for fit in known
    )


def _search(
    folder: Path,
    name: str,
    model: str,
    seed: int,
    n_trials: int,
    threads: int,
    tell: Callable[[str], None],
) -> SearchResult:
    """Search, or go on with a search; defaults are further trials, one a variant."""
    table = load_split(name, seed)
    usual = make_model(model, table.task).get_params(deep=False)
    fixed = {"n_jobs": threads} if "n_jobs" in usual else {}
    path = folder / "trials" / f"{name}-{model}-{seed}"

    def tell_of(kind: str) -> Callable[[Trial], None]:
        return lambda trial: tell(
            f"{name}, {model}, seed {seed}: {kind} {trial.draw} {trial.state} in "
            f"{trial.seconds:.1f} s"
        )

    defaults: list[Trial] = []
    for variant in VARIANTS:
        if variant.name == model and not variant.only:
            searched = {key: usual[key] for key in SPACES[model]}
            alone = search(
                table,
                model,
                n_trials=1,
                changes={**searched, **variant.parameters, **fixed},
                seed=seed,
                storage=path.with_name(f"{path.name}-default-{variant.key}.db"),
                tell=tell_of(f"default {variant.label}, trial"),
            )
            defaults += alone.trials
    found = search(
        table,
        model,
        n_trials=n_trials,
        changes=fixed,
        seed=seed,
        storage=path.with_name(f"{path.name}.db"),
        tell=tell_of("trial"),
    )
    return replace(found, trials=(*defaults, *found.trials))


def _facts(found: SearchResult, threads: int) -> dict[str, Any]:
    """Return what a fit keeps of the search that chose its settings."""
    best = found.best
    settings = {k: v for k, v in best.settings.items() if k != "n_jobs"}
    return {
        "parameters": settings,
        "validation": best.scores[found.metric],
        "complete": sum(trial.state == COMPLETE for trial in found.trials),
        "search_seconds": sum(trial.seconds for trial in found.trials),
        "search_threads": threads,
    }


def make_report(fits: Sequence[Fit]) -> Report:
    """Sum fits up.

    Parameters
    ----------
    fits : sequence
        Oldest first.
    """
    return Report(
        name="tuned",
        title="Tuned models",
        text=_TEXT,
        command=_command(fits),
        columns=COLUMNS,
        results=summarise(fits),
        settings=settings_of(fits),
        fits=fits,
    )


def summarise(fits: Sequence[Fit]) -> list[dict[str, Any]]:
    """Sum up the fits of each table and model, whatever settings each seed has."""
    lines = []
    for table in in_order([fit["table"] for fit in fits], TUNED_TABLES):
        here = [fit for fit in fits if fit["table"] == table]
        models = in_order([fit["model"] for fit in here], list(MODELS))
        results = [_result([f for f in here if f["model"] == m]) for m in models]
        reference = next((r for r in results if r["model"] == _REFERENCE), None)
        lines += [{**r, "ratio": ratio_to(reference, r)} for r in results]
    return lines


def _result(fits: Sequence[Fit]) -> dict[str, Any]:
    known, done = mean_and_spread(fits), measured(fits)
    means = {
        key: fmean(fit[key] for fit in done) if done else None
        for key in ("validation", "complete", "search_seconds")
    }
    return {
        **known,
        "label": fits[0]["label"],
        "trials": max(fit["trials"] for fit in fits),
        "parameters": {str(fit["seed"]): fit["parameters"] for fit in done},
        **means,
    }


def _command(fits: Sequence[Fit]) -> str:
    return command(
        "tuned",
        fits,
        tables=in_order([fit["table"] for fit in fits], TUNED_TABLES),
        models=in_order([fit["model"] for fit in fits], list(MODELS)),
        trials=[max((fit["trials"] for fit in fits), default=30)],
    )
