"""Training in a child process: start, follow, cancel; one at a time per server.

A fit runs as ``python -m spam_core fit job.json`` and reports in JSON lines, so that a
page stays usable meanwhile and a cancelled fit really stops. No Streamlit in here.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import spam_core
from ui import kinds

State = Literal["waiting", "running", "done", "failed", "cancelled"]

_GRACE = 1.0  # seconds between asking a child to stop and ending it
# Whoever holds it trains; the others wait. Two fits at once would both be slower.
_TURN = threading.Lock()


@dataclass(frozen=True)
class Fitted:
    """One model that a run has finished.

    Attributes
    ----------
    name : str
        Name in the registry.
    path : str
        The saved model. Unique to the run, never written again.
    scores : dict
        Metrics on the test rows.
    seconds : float
        Training time.
    """

    name: str
    path: str
    scores: dict[str, float | None]
    seconds: float


@dataclass
class Run:
    """One job and what is known about it; safe to read from any thread.

    Attributes
    ----------
    folder : Path
        Holds the job file, the models and the report.
    models : tuple of str
        What will be fitted, in this order.
    state : str
    message : str
        What went wrong, for the user.
    fitted : dict of str to Fitted
    epochs : dict of str to list of dict
        Loss after each epoch, by model.
    since : float
        When the model that is being fitted was begun; of ``time.monotonic``.
    """

    folder: Path
    models: tuple[str, ...]
    state: State = "waiting"
    message: str = ""
    fitted: dict[str, Fitted] = field(default_factory=dict)
    epochs: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    since: float = field(default_factory=time.monotonic)
    _process: subprocess.Popen[str] | None = None
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    @property
    def finished(self) -> bool:
        """Whether nothing more will happen."""
        return self.state in ("done", "failed", "cancelled")

    @property
    def report(self) -> dict[str, Any]:
        """What the job wrote about the table, the models and the constant guess."""
        path = self.folder / "report.json"
        if not path.is_file():
            return {}
        return dict(json.loads(path.read_text(encoding="utf-8")))

    def progress(self) -> tuple[float | None, str]:
        """Share of the work done, None where nobody knows, and one line about it."""
        if self.state == "waiting":
            return 0.0, "Waiting for another training to end"
        for place, name in enumerate(self.models):
            if name in self.fitted:
                continue
            steps, title = self.epochs.get(name), kinds.prose(name)
            if not steps and kinds.tells_progress(name):
                return place / len(self.models), f"Preparing {title}"
            if not steps:
                passed = time.monotonic() - self.since
                return None, (
                    f"Training {title}, model {place + 1} of {len(self.models)}: "
                    f"{passed:.0f} s so far. It does not tell how far it is."
                )
            last = steps[-1]
            share = last["epoch"] / max(1, last["max_epochs"])
            left = last["seconds"] * (1 / max(share, 1e-9) - 1)
            text = (
                f"Training {title}: epoch {last['epoch']} of at most "
                f"{last['max_epochs']}, {left:.0f} s left at most"
            )
            return (place + share) / len(self.models), text
        return 1.0, "Done"

    def cancel(self) -> None:
        """Ask the child to stop, and end it if it hasn't after a second."""
        self._stop.set()
        process = self._process
        if process is not None and process.poll() is None:
            process.terminate()
            threading.Thread(target=_kill_later, args=(process,), daemon=True).start()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the run has ended; False if it hasn't in `timeout` seconds."""
        if self._thread is not None:
            self._thread.join(timeout)
        return self.finished


def start(table: dict[str, Any], models: list[dict[str, Any]], folder: Path) -> Run:
    """Start a job, or queue it while another one trains.

    Parameters
    ----------
    table : dict
        The part of the job file that names the table: ``{"dataset": ...}`` or
        ``{"data": ..., "target": ...}``.
    models : list of dict
        ``{"name": ..., "params": {...}}``, fitted in this order.
    folder : Path
        Where this run gets a folder of its own.

    Returns
    -------
    Run
    """
    own = folder / uuid.uuid4().hex
    own.mkdir(parents=True)
    job = {**table, "models": models, "output": str(own), "parent": os.getpid()}
    (own / "job.json").write_text(json.dumps(job), encoding="utf-8")
    run = Run(own, tuple(str(model["name"]) for model in models))
    run._thread = threading.Thread(
        target=_work, args=(run,), daemon=True, name=f"job {own.name[:8]}"
    )
    run._thread.start()
    return run


def new_folder() -> Path:
    """Make a private folder that goes when the server does."""
    folder = Path(tempfile.mkdtemp(prefix="spam-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _work(run: Run) -> None:
    while not _TURN.acquire(timeout=0.1):
        if run._stop.is_set():
            run.state = "cancelled"
            return
    try:
        _train(run)
    except OSError as error:
        run.message, run.state = f"Training could not be started: {error}", "failed"
    finally:
        _TURN.release()


def _train(run: Run) -> None:
    if run._stop.is_set():
        run.state = "cancelled"
        return
    # The child finds the library where this process has it, installed or not.
    library = str(Path(spam_core.__file__).parents[1])
    paths = [library, os.environ.get("PYTHONPATH", "")]
    environment = {
        # Threads that spin while they wait take the processor from those that work:
        # on a busy machine a fit of seconds takes minutes. The visitor's own setting,
        # if there is one, wins.
        "OMP_WAIT_POLICY": "PASSIVE",
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
    }
    with (run.folder / "log.txt").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "spam_core", "fit", str(run.folder / "job.json")],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            env=environment,
            text=True,
            encoding="utf-8",
        )
        run._process = process
        run.state = "running"
        if run._stop.is_set():  # cancelled while it was being started
            run.cancel()
        assert process.stdout is not None
        with process.stdout as lines:
            for line in lines:
                _read(run, line)
        code = process.wait()
    if run._stop.is_set():
        run.state = "cancelled"
    elif code == 0:
        run.state = "done"
    else:
        if not run.message:
            run.message = _last_words(run.folder / "log.txt", code)
        run.state = "failed"


def _read(run: Run, line: str) -> None:
    try:
        event = json.loads(line)
    except json.JSONDecodeError:
        return  # a library that writes to the descriptor itself
    kind = event.get("event") if isinstance(event, dict) else None
    if kind in ("start", "fitted"):
        run.since = time.monotonic()
    if kind == "epoch":
        steps = run.epochs.setdefault(event["model"], [])
        steps.append(event)
    elif kind == "fitted":
        run.fitted[event["model"]] = Fitted(
            event["model"], event["path"], event["scores"], event["seconds"]
        )
    elif kind == "error":
        run.message = str(event["message"])


def _last_words(log: Path, code: int) -> str:
    with log.open(encoding="utf-8", errors="replace") as lines:
        last = "".join(deque(lines, maxlen=1)).strip()
    return last or f"Training ended unexpectedly (status {code})"


def _kill_later(process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + _GRACE
    while process.poll() is None:
        if time.monotonic() > deadline:
            process.kill()
            return
        time.sleep(0.05)
