"""How good the models are: data sets x models x seeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spam_core.benchmark.fits import (
    Fit,
    Plan,
    Store,
    by_variant,
    command_of,
    mean_and_spread,
    measure_fits,
    measured,
    settings_of,
    wanted,
)
from spam_core.benchmark.paper import paper_number
from spam_core.benchmark.report import Column, Report
from spam_core.benchmark.splits import OFFICIAL
from spam_core.benchmark.tables import accuracy_tables
from spam_core.benchmark.variants import VARIANTS, find_tables, find_variants
from spam_core.data.datasets import dataset_info
from spam_core.estimators.fitting import METRICS

COLUMNS = (
    Column("table", "table"),
    Column("label", "model"),
    Column("metric", "metric"),
    Column("mean", "mean", 4),
    Column("spread", "spread", 2),
    Column("paper", "paper", 4),
    Column("seconds", "seconds", 2),
    Column("memory_gb", "GB", 2),
    Column("note", "note"),
)

_TEXT = (
    "Errors on test rows that no model has seen. A seed draws the split, 70, 10 and "
    "20 % of the rows for training, validation and test, by class or group, and is the "
    f"model's `random_state`. {OFFICIAL} All models of a table and seed have the same "
    "rows, train and validation together, of which each holds out its own. Settings "
    "are the models' defaults but for those in the file: nothing was tuned to a table "
    "but the SPAM of rank 128, whose settings held-out training rows chose. "
    "Spread: standard deviation over seeds. *Error / EBM 3x*: RMSE, 1 - AUC or 1 - "
    "accuracy over that of the EBM with three pairs a column on the same seeds; below "
    "1 is better. Seconds: a fit, mean over seeds. Memory: peak of a fit's largest "
    "process, interpreter and table included. *Paper*: what the paper has for this "
    "model, tuned, on a split of its own. Products of columns have no bound: a linear "
    "model of order 2 is at the mercy of single rows (california, seed 0: one block of "
    "1,243 people a household turns its 0.69 into 0.91)."
)


@dataclass(frozen=True)
class AccuracyReport(Report):
    """A report with one table for each data set."""

    def table(self) -> str:
        """Return the tables as Markdown, a heading above each."""
        return accuracy_tables(self.results)


def accuracy(
    folder: Path,
    tables: Sequence[str] | None = None,
    models: Sequence[str] | None = None,
    seeds: Sequence[int] = (0, 1, 2),
    plan: Plan | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Report:
    """Measure what isn't measured yet, and write it down after every fit.

    Parameters
    ----------
    folder : Path
        Of ``accuracy.json`` and ``accuracy.md``. What they hold is kept, so a run
        that was ended goes on where it stopped, and more can be added.
    tables : sequence of str, optional
        Data sets; by default those of `TABLES` that are here.
    models : sequence of str, optional
        Keys of `VARIANTS`; by default all.
    seeds : sequence of int
    plan : Plan, optional
        Time limit, fits at a time, threads.
    tell : see `explanation_speed`

    Returns
    -------
    Report
        Of all that the file holds.

    Raises
    ------
    ValueError
        If a table or model is unknown or a file isn't here, before any work.
    """
    variants, names = find_variants(models), find_tables(tables)
    store = Store(folder, make_report)
    measure_fits(wanted(names, variants, seeds), plan or Plan(), store, tell)
    return store.report()


def make_report(fits: Sequence[Fit]) -> Report:
    """Sum fits up.

    Parameters
    ----------
    fits : sequence
        Oldest first.
    """
    return AccuracyReport(
        name="accuracy",
        title="Accuracy",
        text=_TEXT,
        command=command_of("accuracy", fits),
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
        In the order of `TABLES` and `VARIANTS`: ``table``, ``model``, ``label``,
        ``metric``, ``better``, ``mean``, ``spread``, ``seeds``, ``scores``,
        ``metrics``, ``seconds``, ``memory_gb``, ``parameters``, ``paper``, ``note``.
    """
    return [_result(same) for same in by_variant(fits)]


def _result(fits: Sequence[Fit]) -> dict[str, Any]:
    """Sum up the fits of one table and variant."""
    table, label, done = fits[0]["table"], fits[0]["label"], measured(fits)
    known = mean_and_spread(fits)
    row = next((v.paper for v in VARIANTS if v.label == label), None)
    return {
        **known,
        "label": label,
        "metrics": {
            name: [fit["scores"][name] for fit in done]
            for name in METRICS[dataset_info(table).task]
        },
        "memory_gb": max((fit["memory_gb"] for fit in done), default=None),
        "paper": paper_number(table, row),
    }
