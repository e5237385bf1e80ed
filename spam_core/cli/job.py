"""A fit as a child process: a job file in, JSON lines out, SIGTERM to cancel.

The job file is one JSON object:

``dataset``, or ``data`` and ``target``
    What to fit on: the name of a data set, or the path of a CSV or Parquet file and
    its column to predict. ``task`` ("regression", "classification") if it can't be
    told. ``name`` to call the table something other than its file; ``dropped``: column
    to leave out -> reason; ``special_values``: column -> codes that stand for no
    value; ``drop_missing_target``: whether rows without a target are left out.
``models``
    A list of ``{"name": ..., "params": {...}, "file": ...}``, fitted in this order.
    ``file`` is the model's file in the output folder, ``<name>.spam`` by default.
``output``
    Folder for the models and for ``report.json``; made if need be.
``parent`` (optional)
    Process id; the job stops when that process is gone.

One JSON object a line comes out, each with ``event``:

``start``
    ``rows``, ``columns``, ``task``, ``models``.
``epoch``
    ``model``, ``epoch``, ``max_epochs``, ``train_loss``, ``validation_loss`` (null
    without validation rows), ``seconds``.
``fitted``
    ``model``, ``path``, ``scores`` (on the test rows), ``seconds``.
``done``
    ``report``: path of the report, which holds all of the above.
``error``
    ``message``: one plain sentence. Exit status 2 after a mistake of the user, else 1.
``cancelled``
    After SIGTERM. Exit status 143.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, TextIO

from spam_core.cli.messages import USER_ERRORS, complain, plain
from spam_core.cli.tables import open_table
from spam_core.estimators.fitting import (
    METRICS,
    ModelSpec,
    baseline,
    baseline_name,
    build,
    fit,
    score,
)

if TYPE_CHECKING:
    from spam_core.training.config import Progress

REPORT = "report.json"
_KEYS = frozenset({"dataset", "data", "target", "task", "models", "output", "parent"})
_CHOICES = {
    "name": str,
    "dropped": dict,
    "special_values": dict,
    "drop_missing_target": bool,
}


class _Cancelled(BaseException):
    """Raised by SIGTERM wherever the program is; no ``except Exception`` stops it."""


@dataclass(frozen=True)
class Job:
    """A job file that makes sense.

    Attributes
    ----------
    dataset, data, target, task : str or None
    models : tuple of (ModelSpec, file name)
    output : Path
    parent : int or None
    choices : dict
        How to make a table of the file: further arguments of `open_table`.
    """

    dataset: str | None
    data: str | None
    target: str | None
    task: str | None
    models: tuple[tuple[ModelSpec, str], ...]
    output: Path
    parent: int | None
    choices: dict[str, Any]

    @classmethod
    def read(cls, path: Path) -> Job:
        """Read and check a job file.

        Raises
        ------
        ValueError
            If it isn't JSON, lacks something or holds something unknown.
        OSError
            If it can't be read.
        """
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"{path} is not JSON: {error}") from None
        if not isinstance(content, dict):
            raise ValueError(f"{path} must hold one JSON object")
        known = _KEYS | set(_CHOICES)
        unknown = sorted(set(content) - known)
        if unknown:
            raise ValueError(f"{path}: unknown {unknown}, expected {sorted(known)}")
        for key, kind in _CHOICES.items():
            if key in content and not isinstance(content[key], kind):
                raise ValueError(
                    f"{path}: {key!r} must be of type {kind.__name__}, got "
                    f"{content[key]!r}"
                )
        if not isinstance(content.get("output"), str):
            raise ValueError(f"{path}: 'output' must name a folder")
        models = content.get("models")
        if not isinstance(models, list) or not models:
            raise ValueError(f"{path}: 'models' must be a list with at least one model")
        return cls(
            content.get("dataset"),
            content.get("data"),
            content.get("target"),
            content.get("task"),
            tuple(_spec(entry, path) for entry in models),
            Path(content["output"]),
            content.get("parent"),
            {key: content[key] for key in _CHOICES if key in content},
        )


def _spec(entry: object, path: Path) -> tuple[ModelSpec, str]:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise ValueError(f"{path}: each model must be an object with a 'name'")
    file = str(entry.get("file", f"{entry['name']}.spam"))
    if Path(file).name != file:
        raise ValueError(f"{path}: 'file' must be a plain file name, got {file!r}")
    return ModelSpec(entry["name"], dict(entry.get("params", {}))), file


def run(path: Path) -> int:
    """Run a job file and report in JSON lines on standard output.

    Returns
    -------
    int
        Exit status.
    """
    out = sys.stdout
    previous = signal.signal(signal.SIGTERM, _cancel)
    try:
        # what libraries print must not get between the lines
        with contextlib.redirect_stdout(sys.stderr):
            return _run(path, out)
    except _Cancelled:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second one is no news
        _emit(out, "cancelled")
        return 128 + signal.SIGTERM
    except USER_ERRORS as error:
        complain(error)
        _emit(out, "error", message=plain(error))
        return 2
    except Exception as error:
        traceback.print_exc()
        _emit(out, "error", message=f"internal error: {type(error).__name__}: {error}")
        return 1
    finally:
        signal.signal(signal.SIGTERM, previous)


def _run(path: Path, out: TextIO) -> int:
    job = Job.read(path)
    if job.parent is not None:
        _follow(job.parent)
    table = open_table(job.dataset, job.data, job.target, task=job.task, **job.choices)
    for spec, _ in job.models:
        build(spec, table)  # a wrong setting is refused before any training
    job.output.mkdir(parents=True, exist_ok=True)
    n, d = table.X.shape
    report: dict[str, Any] = {
        "table": table.name,
        "target": str(table.target),
        "task": table.task,
        "rows": {part: len(rows) for part, rows in table.splits.items()},
        "columns": d,
        "metrics": list(METRICS[table.task]),
        "baseline": {
            "name": baseline_name(table.task),
            "scores": _finite(baseline(table)),
        },
        "models": {},
    }
    names = [spec.name for spec, _ in job.models]
    _emit(out, "start", rows=n, columns=d, task=table.task, models=names)
    for spec, file in job.models:

        def tell(progress: Progress, name: str = spec.name) -> bool:
            _emit(
                out,
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
        target = job.output / file
        model.save(target)
        entry = {
            "path": str(target),
            "scores": _finite(score(model, table)),
            "seconds": float(model.training_seconds_),
            "params": _plain(spec.params),
            "history": [_finite(dict(step)) for step in model.history_],
        }
        report["models"][spec.name] = entry
        # the report first: who hears of the model may look into it at once
        _write(job.output / REPORT, report)
        _emit(
            out,
            "fitted",
            model=spec.name,
            path=entry["path"],
            scores=entry["scores"],
            seconds=entry["seconds"],
        )
    _emit(out, "done", report=str(job.output / REPORT))
    return 0


def _emit(out: TextIO, event: str, **fields: Any) -> None:
    line = json.dumps(_finite({"event": event, **fields}), ensure_ascii=False)
    out.write(line + "\n")
    out.flush()


def _write(path: Path, report: dict[str, Any]) -> None:
    partial = path.with_name(path.name + ".partial")
    text = json.dumps(_finite(report), ensure_ascii=False, indent=1)
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)


def _finite(value: Any) -> Any:
    """Replace NaN and infinity, which JSON hasn't, by null."""
    if isinstance(value, dict):
        return {str(key): _finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None
    return value


def _plain(params: Any) -> dict[str, Any]:
    return {str(key): value for key, value in dict(params).items()}


def _cancel(_: int, __: FrameType | None) -> None:
    raise _Cancelled


def _follow(parent: int) -> None:
    """Stop this process when its parent is gone, however that ended."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True, name="parent watch").start()
