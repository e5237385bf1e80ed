"""What belongs to one visitor: tables, trainings, searches, and a folder for them.

A workspace is held by the visitor's session and nothing else. Its folder goes when the
session ends, and with the server in any case. No Streamlit in here.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import shutil
import tempfile
import threading
import uuid
import weakref
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from spam_core.cli.tables import open_table
from spam_core.data import Table
from ui import jobs
from ui.process import Process
from ui.searches import Search, SearchRun

_OWN = "own-"  # begins the key of every own table
_FOLDER = "spam-own-"  # begins the name of every private folder
MAX_TABLES = 5
MAX_TRAININGS = 6  # kept for a table; the models of older ones are removed

STOP_AFTER = 0.5  # seconds from a closed page to the end of its training
# Streamlit takes a page back that reconnects within two minutes; then it is gone.
REMOVE_AFTER = 150.0


@dataclass(frozen=True)
class Choices:
    """What a visitor decided about an uploaded table.

    Attributes
    ----------
    target : str
    task : {"regression", "classification"}
    dropped : dict of str to str
        Columns left out, with the reason.
    special_values : dict of str to list of float
    drop_missing_target : bool
    """

    target: str
    task: str
    dropped: dict[str, str] = field(default_factory=dict)
    special_values: dict[str, list[float]] = field(default_factory=dict)
    drop_missing_target: bool = False


@dataclass(frozen=True)
class OwnTable:
    """A table that a visitor brought.

    Attributes
    ----------
    key : str
        Unguessable, and another one for other content or choices.
    title : str
        What to call it.
    path : str
        Its rows as Parquet; never written again.
    choices : Choices
    """

    key: str
    title: str
    path: str
    choices: Choices

    @property
    def job(self) -> dict[str, Any]:
        """The part of a job file that names this table."""
        return {"data": self.path, "name": self.title} | dataclasses.asdict(
            self.choices
        )

    def open(self) -> Table:
        """Read it as the training will.

        Raises
        ------
        ValueError
            If there is nothing to learn from it.
        """
        part = self.job
        table = open_table(None, part.pop("data"), part.pop("target"), **part)
        return dataclasses.replace(
            table,
            description="A table that you brought.",
            source=f"Your file {self.title}",
            licence="yours: nobody but you sees it here",
            split_note="at random",
        )


@dataclass(frozen=True)
class Training:
    """One training that a visitor asked for.

    Attributes
    ----------
    dataset : str
    run : Run
    models : list of dict
        What was asked for: name and settings of each model.
    """

    dataset: str
    run: jobs.Run
    models: list[dict[str, Any]]


class Workspace:
    """Tables, trainings and searches of one visitor."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix=_FOLDER))
        self.tables: dict[str, OwnTable] = {}
        self.trainings: dict[str, list[Training]] = {}
        # the newest last; one search of a table for each model and metric
        self.searches: dict[tuple[str, str, str], Search] = {}
        self._secret = self.folder.name
        self._runs: list[Process] = []
        self._timers: list[threading.Timer] = []
        # also called when the server ends
        self._close = weakref.finalize(self, _remove, self.folder, self._runs)

    @property
    def closed(self) -> bool:
        """Whether everything in it is gone."""
        return not self._close.alive

    def add(self, frame: pd.DataFrame, name: str, choices: Choices) -> OwnTable:
        """Keep a table; the same content with the same choices is the same table.

        Raises
        ------
        ValueError
            If there is nothing to learn from it. What was there before stays.
        OSError
            If it can't be written.
        """
        content = hashlib.sha256(self._secret.encode())
        content.update(json.dumps([name, dataclasses.asdict(choices)]).encode())
        content.update(json.dumps(list(frame.columns)).encode())
        content.update(
            pd.util.hash_pandas_object(frame, index=False).to_numpy().tobytes()
        )
        key = _OWN + content.hexdigest()
        if key in self.tables:
            return self.tables[key]
        path = self.folder / f"{key}.parquet"
        frame.to_parquet(path, index=False)
        table = OwnTable(key, self._title(name), str(path), choices)
        try:
            table.open()
        except ValueError:
            path.unlink()
            raise
        self.tables[key] = table
        while len(self.tables) > MAX_TABLES:
            self.remove(next(iter(self.tables)))
        return table

    def remove(self, key: str) -> None:
        """Forget a table, its trainings and their files."""
        table = self.tables.pop(key, None)
        if table is None:
            return
        for training in self.trainings.pop(key, []):
            self._discard(training.run)
        for searched in [name for name in self.searches if name[0] == key]:
            self._discard(self.searches.pop(searched).run)
        Path(table.path).unlink(missing_ok=True)

    def train(
        self, dataset: str, table: dict[str, Any], models: list[dict[str, Any]]
    ) -> jobs.Run:
        """Start a training, or queue it while another one is under way."""
        run = jobs.start(table, models, self.folder)
        self._runs.append(run)
        done = self.trainings.setdefault(dataset, [])
        done.append(Training(dataset, run, models))
        if len(done) > MAX_TRAININGS:
            # one that left no model if there is one, else the oldest
            useless = [t for t in done[:-1] if t.run.finished and not t.run.fitted]
            oldest = [*useless, *done][0]
            done.remove(oldest)
            self._discard(oldest.run)
        return run

    def source(self, dataset: str) -> dict[str, Any]:
        """Return the part of a job file that names a table."""
        own = self.tables.get(dataset)
        return {"dataset": dataset} if own is None else own.job

    def search(self, dataset: str, model: str, metric: str, n_trials: int) -> SearchRun:
        """Start a search, or go on with the one of before.

        Trial k draws the same whenever it is done, so trials are never done twice.
        """
        name = (dataset, model, metric)
        before = self.searches.pop(name, None)
        folder = self.folder / f"search-{uuid.uuid4().hex}"
        run = SearchRun(folder, model, metric, n_trials)
        if before is not None:
            _end(before.run)
            self._runs.remove(before.run)
            run = before.run.again(n_trials)
        self._runs.append(run)
        self.searches[name] = Search(dataset, run)
        job = {"model": model, "metric": metric, "trials": n_trials}
        run.start(self.source(dataset) | job)
        return run

    @property
    def searching(self) -> Search | None:
        """The search that is under way, of whatever table."""
        for search in self.searches.values():
            if not search.run.finished:
                return search
        return None

    @property
    def training(self) -> Training | None:
        """The training that is under way, of whatever table."""
        for trainings in self.trainings.values():
            for training in trainings:
                if not training.run.finished:
                    return training
        return None

    def enter(self) -> None:
        """Note that the visitor is here."""
        for timer in self._timers:
            timer.cancel()
        self._timers = []

    def leave(self) -> None:
        """Note that the page was closed: stop what it trains, then remove all."""
        self.enter()
        self._timers = [
            threading.Timer(STOP_AFTER, self._stop),
            threading.Timer(REMOVE_AFTER, self.close),
        ]
        for timer in self._timers:
            timer.daemon = True
            timer.start()

    def close(self) -> None:
        """Stop what is under way and remove all files; a second call does nothing."""
        self._close()
        self.tables.clear()
        self.trainings.clear()
        self.searches.clear()

    def _stop(self) -> None:
        for run in self._runs:
            if not run.finished:
                run.cancel()

    def _discard(self, run: Process) -> None:
        self._runs.remove(run)
        _end(run)
        shutil.rmtree(run.folder, ignore_errors=True)

    def _title(self, name: str) -> str:
        taken = {table.title for table in self.tables.values()}
        title, number = name, 1
        while title in taken:
            number += 1
            title = f"{name} ({number})"
        return title


def is_own(key: object) -> bool:
    """Whether the key of a table, or the path of a model, belongs to one visitor."""
    text = str(key)
    return text.startswith(_OWN) or _FOLDER in text


def _end(run: Process) -> None:
    if not run.finished:
        with contextlib.suppress(RuntimeError):  # no new threads while the server ends
            run.cancel()
        run.wait(3)


def _remove(folder: Path, runs: list[Process]) -> None:
    for run in runs:
        _end(run)
    shutil.rmtree(folder, ignore_errors=True)
