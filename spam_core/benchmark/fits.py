"""Single fits: which are measured already, and measuring those that aren't."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spam_core import __version__
from spam_core.benchmark.child import Children, Job
from spam_core.benchmark.report import environment, load_report
from spam_core.benchmark.variants import Variant
from spam_core.data.datasets import dataset_info
from spam_core.estimators.fitting import METRICS

Fit = Mapping[str, Any]

_SAME = ("table", "label", "parameters", "spam_core")


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


def load_fits(path: Path) -> list[Fit]:
    """Return the fits of a report's JSON file, oldest first; none without the file."""
    return list(load_report(path).fits) if path.exists() else []


def wanted(
    tables: Sequence[str], variants: Sequence[Variant], seeds: Sequence[int]
) -> list[Fit]:
    """Return what identifies each fit, the first seed of everything first."""
    return [
        {
            "table": table,
            "label": variant.label,
            "model": variant.name,
            "parameters": variant.parameters_for(table),
            "seed": seed,
            "spam_core": __version__,
        }
        for seed in seeds
        for table in tables
        for variant in variants
    ]


def same_settings(one: Fit, other: Fit) -> bool:
    """Whether two fits differ in nothing but the seed."""
    return all(one[key] == other[key] for key in _SAME)


def is_known(fit: Fit, known: Sequence[Fit], limit: float) -> bool:
    """Whether a fit needn't be measured: it was, or its variant can't be.

    A variant that ran over a limit once isn't tried with other seeds, but is tried
    again with a higher limit.

    Examples
    --------
    >>> fit = {"table": "wine", "label": "NAM", "parameters": {}, "spam_core": "1"}
    >>> slow = {**fit, "seed": 0, "note": "over the limit", "limit": 60}
    >>> (
    ...     is_known({**fit, "seed": 1}, [slow], 60),
    ...     is_known({**fit, "seed": 1}, [slow], 90),
    ... )
    (True, False)
    """
    for other in known:
        if same_settings(fit, other):
            if other["note"] is None and other["seed"] == fit["seed"]:
                return True
            if other["note"] is not None and not (
                other["note"].startswith("over the limit") and other["limit"] < limit
            ):
                return True
    return False


def replace_fit(known: Sequence[Fit], fit: Fit) -> list[Fit]:
    """Add a fit in place of an older one of the same table, variant and seed.

    A note stands for a variant's other seeds too, so it goes when one is measured.
    """

    def outdated(other: Fit) -> bool:
        if any(other[key] != fit[key] for key in ("table", "label")):
            return False
        return bool(other["seed"] == fit["seed"] or other["note"] is not None)

    return [*(other for other in known if not outdated(other)), fit]


def measure_fits(
    fits: Sequence[Fit],
    plan: Plan,
    known: Callable[[], Sequence[Fit]],
    record: Callable[[Fit], None],
    tell: Callable[[str], None],
) -> None:
    """Measure each fit in a process of its own and record it at once.

    Parameters
    ----------
    fits : sequence
        See `wanted`.
    plan : Plan
    known : callable
        Returns what is measured, by now.
    record : callable
        Takes a finished fit: what identifies it, what was found, and how.
    tell : callable
        Is told of each.
    """
    children, lock = Children(), threading.Lock()
    remeasured: list[Fit] = []
    cpu = environment()["cpu"]

    def one(number: int, fit: Fit) -> None:
        with lock:
            seen = remeasured if plan.again else known()
            if is_known(fit, seen, plan.limit):
                return
        job = Job(
            fit["table"], fit["model"], fit["parameters"], fit["seed"], plan.threads
        )
        found = children.measure(job, plan.limit)
        nothing = {"scores": None, "seconds": None, "memory_gb": None, "note": None}
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
                record(done)
        what = f"{fit['table']}, {fit['label']}, seed {fit['seed']}"
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


def _in_words(fit: Fit) -> str:
    if fit["note"] is not None:
        return str(fit["note"])
    metric = METRICS[dataset_info(fit["table"]).task][0]
    return f"{metric} {fit['scores'][metric]:.4f} in {fit['seconds']:.1f} s"
