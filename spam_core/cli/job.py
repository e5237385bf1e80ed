"""A fit as a child process; `spam_core.cli.child` has what all job files share.

Beside its table, the job file has

``models``
    A list of ``{"name": ..., "params": {...}, "file": ...}``, fitted in this order.
    ``file`` is the model's file in the output folder, ``<name>.spam`` by default.
``output``
    Folder for the models and for ``report.json``; made if need be.

and these lines come out:

``start``
    ``rows``, ``columns``, ``task``, ``models``.
``epoch``
    ``model``, ``epoch``, ``max_epochs``, ``train_loss``, ``validation_loss`` (null
    without validation rows), ``seconds``.
``fitted``
    ``model``, ``path``, ``scores`` (on the test rows), ``seconds``.
``done``
    ``report``: path of the report, which holds all of the above.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spam_core.cli.child import Emit, begin, read_job, report
from spam_core.estimators.fitting import (
    METRICS,
    ModelSpec,
    baseline,
    baseline_name,
    build,
    fit,
    score,
)
from spam_core.persistence.records import write_json

if TYPE_CHECKING:
    from spam_core.training.config import Progress

REPORT = "report.json"
_KEYS = frozenset({"models", "output"})


def run(path: Path) -> int:
    """Run a job file and report in JSON lines on standard output.

    Returns
    -------
    int
        Exit status.
    """
    return report(partial(_run, path))


def _spec(entry: object, path: Path) -> tuple[ModelSpec, str]:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise ValueError(f"{path}: each model must be an object with a 'name'")
    file = str(entry.get("file", f"{entry['name']}.spam"))
    if Path(file).name != file:
        raise ValueError(f"{path}: 'file' must be a plain file name, got {file!r}")
    return ModelSpec(entry["name"], dict(entry.get("params", {}))), file


def _run(path: Path, emit: Emit) -> None:
    content = read_job(path, _KEYS)
    entries = content.get("models")
    if not isinstance(entries, list) or not entries:
        raise ValueError(f"{path}: 'models' must be a list with at least one model")
    models = [_spec(entry, path) for entry in entries]
    table = begin(content)
    for spec, _ in models:
        build(spec, table)  # a wrong setting is refused before any training
    output = Path(content["output"])
    output.mkdir(parents=True, exist_ok=True)
    n, d = table.X.shape
    told: dict[str, Any] = {
        "table": table.name,
        "target": str(table.target),
        "task": table.task,
        "rows": {part: len(rows) for part, rows in table.splits.items()},
        "columns": d,
        "metrics": list(METRICS[table.task]),
        "baseline": {
            "name": baseline_name(table.task),
            "scores": baseline(table),
        },
        "models": {},
    }
    names = [spec.name for spec, _ in models]
    emit("start", rows=n, columns=d, task=table.task, models=names)
    for spec, file in models:

        def tell(progress: Progress, name: str = spec.name) -> bool:
            emit(
                "epoch",
                model=name,
                epoch=progress.epoch,
                max_epochs=progress.max_epochs,
                train_loss=progress.train_loss,
                validation_loss=progress.validation_loss,
                seconds=progress.seconds,
            )
            return False

        model = fit(spec, table, tell)
        target = output / file
        model.save(target)
        entry = {
            "path": str(target),
            "scores": score(model, table),
            "seconds": float(model.training_seconds_),
            "params": {str(key): value for key, value in spec.params.items()},
            "history": model.history_,
        }
        told["models"][spec.name] = entry
        # the report first: who hears of the model may look into it at once
        write_json(output / REPORT, told)
        emit(
            "fitted",
            model=spec.name,
            path=entry["path"],
            scores=entry["scores"],
            seconds=entry["seconds"],
        )
    emit("done", report=str(output / REPORT))
