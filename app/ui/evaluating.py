"""How good models are on the test rows: worked out once and kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from spam_core.benchmark.report import Report, load_report
from spam_core.estimators.fitting import LOWER_IS_BETTER, METRICS
from spam_core.evaluation import Predictions, Ranking, predict, rank
from ui import kinds
from ui.caches import kept
from ui.compute import estimator, fast, table

_ROOT = Path(__file__).resolve().parents[2]
ACCURACY = _ROOT / "assets" / "benchmarks" / "accuracy.json"
"""What the accuracy benchmark wrote, if it was run."""

COMMAND = "python -m spam_core benchmark accuracy"

_RESAMPLES, _FAST_RESAMPLES = 1000, 100


@kept(copies=True, max_entries=256, show_spinner=False)
def prediction(path: str, dataset: str, position: int) -> float | None:
    """Return what a regression predicts for a row; None where it is a class."""
    known = table(dataset)
    if known.task != "regression":
        return None
    return float(estimator(path).predict(known.X.iloc[[position]])[0])


@kept(max_entries=64, show_spinner="Predicting the test rows…")
def predictions(path: str, dataset: str) -> Predictions:
    """Return what a model says of the test rows of a table."""
    return predict(estimator(path), table(dataset))


@kept(max_entries=64, show_spinner="Drawing the test rows again and again…")
def ranking(
    models: tuple[tuple[str, str], ...], dataset: str, reference: str | None
) -> Ranking:
    """Rank models by the main metric of their table.

    Parameters
    ----------
    models : tuple of (name in the registry, path)
    dataset : str
    reference : str or None
        Name of the model that the others are compared with.
    """
    metric = METRICS[table(dataset).task][0]
    return rank(
        {kinds.heading(name): predictions(path, dataset) for name, path in models},
        metric,
        "lower" if metric in LOWER_IS_BETTER else "higher",
        None if reference is None else kinds.heading(reference),
        n_resamples=_FAST_RESAMPLES if fast() else _RESAMPLES,
    )


def reruns(dataset: str) -> list[dict[str, Any]]:
    """Return the accuracy benchmark's results for a table; none if it has none."""
    changed = ACCURACY.stat().st_mtime_ns if ACCURACY.exists() else 0
    report = _report(str(ACCURACY), changed)
    if report is None:
        return []
    return [dict(r) for r in report.results if r.get("table") == dataset]


@kept(max_entries=2, show_spinner=False)
def _report(path: str, changed: int) -> Report | None:
    """Read the file once each time it has changed."""
    try:
        return load_report(Path(path)) if changed else None
    except (OSError, ValueError):  # half written, or by another version
        return None
