"""Training in a child process: what it tells of its models. No Streamlit in here."""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
import threading
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from ui import kinds
from ui.process import Process


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
class Run(Process):
    """One training.

    Attributes
    ----------
    models : tuple of str
        What will be fitted, in this order.
    fitted : dict of str to Fitted
    epochs : dict of str to list of dict
        Loss after each epoch, by model.
    since : float
        When the model that is being fitted was begun; of ``time.monotonic``.
    """

    command: ClassVar[str] = "fit"
    noun: ClassVar[str] = "Training"
    turn: ClassVar[threading.Lock] = threading.Lock()

    models: tuple[str, ...]
    fitted: dict[str, Fitted] = field(default_factory=dict)
    epochs: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    since: float = field(default_factory=time.monotonic)

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

    def hear(self, event: dict[str, Any]) -> None:
        """Note what the child says."""
        kind = event.get("event")
        if kind in ("start", "fitted"):
            self.since = time.monotonic()
        if kind == "epoch":
            steps = self.epochs.setdefault(event["model"], [])
            steps.append(event)
        elif kind == "fitted":
            self.fitted[event["model"]] = Fitted(
                event["model"], event["path"], event["scores"], event["seconds"]
            )


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
    run = Run(folder / uuid.uuid4().hex, tuple(str(model["name"]) for model in models))
    run.start({**table, "models": models})
    return run


def new_folder() -> Path:
    """Make a private folder that goes when the server does."""
    folder = Path(tempfile.mkdtemp(prefix="spam-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
