"""Single fits: which are measured already, and measuring those that aren't."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from spam_core import __version__
from spam_core.benchmark.child import Children, Job
from spam_core.benchmark.report import Report, environment, load_report
from spam_core.benchmark.variants import TABLES, VARIANTS, Variant, in_order
from spam_core.data.datasets import dataset_info
from spam_core.estimators.fitting import LOWER_IS_BETTER, METRICS
from spam_core.persistence.records import alone

Fit = Mapping[str, Any]

_SAME = ("table", "label", "parameters", "stop_after", "spam_core")


@dataclass(frozen=True)
class Plan:
    """How fits are measured.

    Attributes
    ----------
    limit : float
        Seconds that one may take.
    jobs : int
        Fits at the same time.
    threads : int
        Threads of each.
    again : bool
        Whether to measure what is measured already.
    """

    limit: float = 3600.0
    jobs: int = 1
    threads: int = 1
    again: bool = False

    def __post_init__(self) -> None:
        """Refuse what makes no sense.

        Raises
        ------
        ValueError
            If a number isn't positive.
        """
        for name in ("limit", "jobs", "threads"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be positive, got {getattr(self, name)}")


class Store:
    """The fits in a report's file, and the report that is made of them.

    Parameters
    ----------
    folder : Path
    make : callable
        Makes the report of fits, oldest first; it may be of none.

    Raises
    ------
    ValueError
        If there is a file of that name that is no report.
    """

    def __init__(self, folder: Path, make: Callable[[Sequence[Fit]], Report]) -> None:
        self.folder, self._make = folder, make
        self._path = folder / f"{make([]).name}.json"
        self.fits()

    def fits(self) -> list[Fit]:
        """Return what is measured, oldest first; another run may have added to it."""
        return list(load_report(self._path).fits) if self._path.exists() else []

    def add(self, fit: Fit) -> None:
        """Write a fit down at once, in place of an older one."""
        with alone(self._path):
            self._make(replace_fit(self.fits(), fit)).save(self.folder)

    def report(self) -> Report:
        """Write the report anew, and return it."""
        with alone(self._path):
            report = self._make(self.fits())
            report.save(self.folder)
        return report


def wanted(
    tables: Sequence[str], variants: Sequence[Variant], seeds: Sequence[int]
) -> list[Fit]:
    """Return what identifies each fit, the first seed of everything first."""
    return [
        {
            "table": table,
            "label": variant.label,
            "model": variant.name,
            "parameters": dict(variant.parameters),
            "stop_after": None,
            "seed": seed,
            "spam_core": __version__,
        }
        for seed in seeds
        for table in tables
        for variant in variants
        if not variant.only or table in variant.only
    ]


def same_settings(one: Fit, other: Fit) -> bool:
    """Whether two fits differ in nothing but the seed."""
    return all(one[key] == other[key] for key in _SAME)


def same_fit(one: Fit, other: Fit) -> bool:
    """Whether two fits have the same settings and seed."""
    return same_settings(one, other) and bool(one["seed"] == other["seed"])


def is_known(fit: Fit, known: Sequence[Fit], limit: float) -> bool:
    """Whether a fit needn't be measured: it was, or its variant can't be.

    A variant that was refused, or ran over a limit, isn't tried with other seeds; with
    a higher limit it is. What failed is tried again, since that may pass.

    Examples
    --------
    >>> from spam_core.benchmark.variants import find_variants
    >>> fit, other = wanted(["wine"], find_variants(["nam"]), [0, 1])
    >>> slow = {**fit, "note": "over the limit", "limit": 60, "failed": False}
    >>> is_known(other, [slow], limit=60), is_known(other, [slow], limit=90)
    (True, False)
    """
    for other in known:
        if not same_settings(fit, other) or other["failed"]:
            continue
        if other["note"] is None:
            if other["seed"] == fit["seed"]:
                return True
        elif not other["note"].startswith("over the limit") or other["limit"] >= limit:
            return True
    return False


def replace_fit(known: Sequence[Fit], fit: Fit) -> list[Fit]:
    """Add a fit in place of an older one of the same table, variant and seed.

    A note stands for a variant's other seeds too, so it goes when one is measured;
    fits that were stopped go with the whole one that they were stopped to be.
    """

    def outdated(other: Fit) -> bool:
        if any(other[key] != fit[key] for key in ("table", "label")):
            return False
        if fit["stop_after"] not in (None, other["stop_after"]):
            return False
        return bool(other["seed"] == fit["seed"] or other["note"] is not None)

    return [*(other for other in known if not outdated(other)), fit]


def measure_fits(
    fits: Sequence[Fit],
    plan: Plan,
    store: Store,
    tell: Callable[[str], None],
) -> None:
    """Measure each fit in a process of its own and record it at once.

    Parameters
    ----------
    fits : sequence
        See `wanted`.
    plan : Plan
    store : Store
        Takes what identifies a fit, what was found, and how.
    tell : callable
        Is told of each.
    """
    children, lock = Children(), threading.Lock()
    remeasured: list[Fit] = []
    cpu = environment()["cpu"]

    def one(number: int, fit: Fit) -> None:
        with lock:
            seen = remeasured if plan.again else store.fits()
            if is_known(fit, seen, plan.limit):
                return
        job = Job(
            fit["table"],
            fit["model"],
            fit["parameters"],
            fit["seed"],
            plan.threads,
            fit["stop_after"],
            "spectrum" in fit,
            "pairs" in fit,
        )
        found = children.measure(job, plan.limit)
        nothing = {
            **dict.fromkeys(("scores", "seconds", "memory_gb", "note")),
            "failed": False,
        }
        how = {
            "limit": plan.limit,
            "threads": plan.threads,
            "jobs": plan.jobs,
            "cpu": cpu,
        }
        done = {**fit, **nothing, **found, **how}
        with lock:
            if not children.ended:
                remeasured.append(done)
                store.add(done)
        what = f"{fit['table']}, {fit['label']}, seed {fit['seed']}"
        if fit["stop_after"] is not None:
            what += f", stopped after epoch {fit['stop_after']}"
        tell(f"[{number} of {len(fits)}] {what}: {_in_words(done)}")

    with ThreadPoolExecutor(plan.jobs) as pool:
        futures = [pool.submit(one, k, fit) for k, fit in enumerate(fits, start=1)]
        try:
            for future in as_completed(futures):
                future.result()
        except BaseException:  # such as Ctrl-C: nothing is left running
            pool.shutdown(wait=False, cancel_futures=True)
            children.end()
            raise


def by_variant(fits: Sequence[Fit]) -> list[list[Fit]]:
    """Gather the fits of each table and variant, in the reports' order.

    Fits of older settings or versions than the last of a variant don't count.

    Parameters
    ----------
    fits : sequence
        Oldest first.
    """
    labels = [variant.label for variant in VARIANTS]
    found = []
    for table in in_order([fit["table"] for fit in fits], TABLES):
        here = [fit for fit in fits if fit["table"] == table]
        for label in in_order([fit["label"] for fit in here], labels):
            of_variant = [fit for fit in here if fit["label"] == label]
            newest = of_variant[-1]
            found.append([fit for fit in of_variant if same_settings(fit, newest)])
    return found


def measured(fits: Sequence[Fit]) -> list[Fit]:
    """Return those that there is a number of, by seed."""
    return sorted((f for f in fits if f["note"] is None), key=lambda f: f["seed"])


def mean_and_spread(fits: Sequence[Fit]) -> dict[str, Any]:
    """Sum up the fits of one table and variant, as reports hold it."""
    done, metric = measured(fits), main_metric(fits[0])
    lower = metric in LOWER_IS_BETTER
    scores = [fit["scores"][metric] for fit in done]
    return {
        "table": fits[0]["table"],
        "model": fits[0]["model"],
        "metric": metric,
        "better": "lower" if lower else "higher",
        "mean": fmean(scores) if scores else None,
        "spread": stdev(scores) if len(scores) > 1 else None,
        "seeds": [fit["seed"] for fit in done],
        "n_seeds": len(done),
        "scores": scores,
        "seconds": fmean(fit["seconds"] for fit in done) if done else None,
        "parameters": fits[0]["parameters"],
        "note": first_note(fits),
    }


def first_note(fits: Sequence[Fit]) -> str | None:
    """Return why one couldn't be measured, if any couldn't."""
    return next((fit["note"] for fit in fits if fit["note"] is not None), None)


def main_metric(fit: Fit) -> str:
    """Return the metric that is quoted alone."""
    return METRICS[dataset_info(fit["table"]).task][0]


def settings_of(fits: Sequence[Fit]) -> dict[str, str]:
    """Say for a report how its fits were measured.

    Examples
    --------
    >>> how = {"threads": 2, "jobs": 1, "cpu": "x", "spam_core": "1"}
    >>> settings_of([{**how, "seed": 1}, {**how, "seed": 0}])["seeds"]
    '0, 1'
    """
    keys = {
        "seeds": "seed",
        "threads a fit": "threads",
        "fits at a time": "jobs",
        "processor": "cpu",
        "spam_core": "spam_core",
    }
    return {
        name: ", ".join(map(str, sorted({fit[key] for fit in fits})))
        for name, key in keys.items()
    }


def command_of(kind: str, fits: Sequence[Fit]) -> str:
    """Return a command that measures all of these fits, whatever runs made them.

    Examples
    --------
    >>> known = {"table": "wine", "label": "EBM", "threads": 1}
    >>> print(command_of("speed", [{**known, "seed": 0}, {**known, "seed": 1}]))
    python -m spam_core benchmark speed --tables wine --models ebm --seeds 2 --threads 1
    """
    keys = {variant.label: variant.key for variant in VARIANTS}
    labels = in_order([fit["label"] for fit in fits], list(keys))
    return command(
        kind,
        fits,
        tables=in_order([fit["table"] for fit in fits], TABLES),
        models=[keys.get(label, label) for label in labels],
    )


def command(kind: str, fits: Sequence[Fit], **options: Sequence[Any]) -> str:
    """Write a command: its options, and the seeds and threads of some fits.

    Parameters
    ----------
    kind : str
        Of benchmark.
    fits : sequence
    **options
        Option -> its values, in the order in which they are written.

    Examples
    --------
    >>> command("speed", [{"seed": 2, "threads": 1}], tables=["wine"])
    'python -m spam_core benchmark speed --tables wine --seeds 2 --threads 1'
    """
    seeds = sorted({fit["seed"] for fit in fits})
    counted = seeds == list(range(len(seeds)))
    words = {
        **options,
        "seeds": [len(seeds)] if counted else seeds,
        "threads": [max((fit["threads"] for fit in fits), default=1)],
    }
    written = (f"--{name} {' '.join(map(str, v))}" for name, v in words.items())
    return f"python -m spam_core benchmark {kind} {' '.join(written)}"


def _in_words(fit: Fit) -> str:
    if fit["note"] is not None:
        return str(fit["note"])
    metric = main_metric(fit)
    return f"{metric} {fit['scores'][metric]:.4f} in {fit['seconds']:.1f} s"
