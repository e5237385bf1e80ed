"""A search as a child process; `spam_core.cli.child` has what all job files share.

Beside its table, the job file has

``model``, ``trials``, ``metric`` (optional), ``seed`` (optional)
    As of `spam_core.search.search`; the ranges are those of `SPACES`.
``output``
    Folder for ``trials.db``, from which the same job goes on, and ``default.json``.
    One job at a time may use it.

and these lines come out:

``start``
    ``model``, ``trials``.
``default``
    ``scores`` on the validation rows (null if the fit failed), ``seconds``: of the
    model with its default settings, fitted on the training rows as the trials are.
``trial``
    The attributes of a `Trial`, once it is over. Trials of before come first.
``done``
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spam_core.cli.child import Emit, begin, read_job, report
from spam_core.estimators.fitting import ModelSpec, fit, score
from spam_core.persistence.records import write_json

if TYPE_CHECKING:
    from spam_core.data import Table
    from spam_core.search import Trial

STORAGE, _DEFAULT = "trials.db", "default.json"
_KEYS = frozenset({"model", "trials", "metric", "seed", "output"})


def run(path: Path) -> int:
    """Run a job file and report in JSON lines on standard output.

    Returns
    -------
    int
        Exit status.
    """
    return report(partial(_run, path))


def _run(path: Path, emit: Emit) -> None:
    from spam_core.search import search

    content = read_job(path, _KEYS)
    for key, kind in {"model": str, "trials": int}.items():
        if not isinstance(content.get(key), kind):
            raise ValueError(f"{path}: {key!r} must be of type {kind.__name__}")
    output, seed = Path(content["output"]), int(content.get("seed", 0))
    output.mkdir(parents=True, exist_ok=True)
    table = begin(content)

    def tell(trial: Trial) -> None:
        emit("trial", **asdict(trial))

    go = partial(
        search,
        table,
        content["model"],
        n_trials=content["trials"],
        metric=content.get("metric"),
        seed=seed,
        storage=output / STORAGE,
        shared=False,
    )
    before = go(stop=lambda: True)  # refuses what doesn't fit, and fits nothing
    emit("start", model=content["model"], trials=content["trials"])
    for trial in before.trials:
        tell(trial)
    emit("default", **_default(output / _DEFAULT, table, content["model"], seed))
    go(tell=tell)
    emit("done")


def _default(path: Path, table: Table, model: str, seed: int) -> dict[str, Any]:
    """Say how good the default settings are; they are fitted once."""
    if path.is_file():
        return dict(json.loads(path.read_text(encoding="utf-8")))
    scores, started = None, time.perf_counter()
    try:
        fitted = fit(ModelSpec(model, {"random_state": seed}), table, parts=("train",))
        scores = score(fitted, table, "validation")
    except Exception as error:
        # trials may do better; it is no reason not to search
        print(f"the default settings failed: {type(error).__name__}: {error}")
    found = {"scores": scores, "seconds": time.perf_counter() - started}
    write_json(path, found)
    return found
