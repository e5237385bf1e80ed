"""A child process that works for a page: start, follow, cancel. No Streamlit in here.

The work runs as ``python -m spam_core COMMAND job.json`` and reports in JSON lines, so
that a page stays usable meanwhile and cancelled work really stops. Of each kind, one is
done at a time per server.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

import spam_core

State = Literal["waiting", "running", "done", "failed", "cancelled"]

_GRACE = 1.0  # seconds between asking a child to stop and ending it


@dataclass
class Process:
    """One job and what is known about it; safe to read from any thread.

    Attributes
    ----------
    folder : Path
        Holds the job file and what the job writes.
    state : str
    message : str
        What went wrong, for the user.
    """

    command: ClassVar[str]
    """Of ``python -m spam_core``."""
    noun: ClassVar[str]
    """What the work is called at the beginning of a sentence."""
    turn: ClassVar[threading.Lock]
    """Whoever holds it works; the others of the kind wait: all would be slower."""

    folder: Path
    state: State = field(default="waiting", kw_only=True)
    message: str = field(default="", kw_only=True)
    _process: subprocess.Popen[str] | None = field(default=None, kw_only=True)
    _stop: threading.Event = field(default_factory=threading.Event, kw_only=True)
    _thread: threading.Thread | None = field(default=None, kw_only=True)

    def hear(self, event: dict[str, Any]) -> None:
        """Note what the child says."""
        raise NotImplementedError

    def progress(self) -> tuple[float | None, str]:
        """Share of the work done, None where nobody knows, and one line about it."""
        raise NotImplementedError

    @property
    def finished(self) -> bool:
        """Whether nothing more will happen."""
        return self.state in ("done", "failed", "cancelled")

    def start(self, job: dict[str, Any]) -> None:
        """Start the work, or queue it while another of its kind is under way."""
        self.folder.mkdir(parents=True, exist_ok=True)
        job = {**job, "output": str(self.folder), "parent": os.getpid()}
        (self.folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
        self._thread = threading.Thread(
            target=self._work, daemon=True, name=f"{self.noun} {self.folder.name[:8]}"
        )
        self._thread.start()

    def cancel(self) -> None:
        """Ask the child to stop, and end it if it hasn't after a second."""
        self._stop.set()
        process = self._process
        if process is not None and process.poll() is None:
            process.terminate()
            threading.Thread(target=_kill_later, args=(process,), daemon=True).start()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the work has ended; False if it hasn't in `timeout` seconds."""
        if self._thread is not None:
            self._thread.join(timeout)
        return self.finished

    def read(self, line: str) -> None:
        """Take one line that the child has written."""
        try:
            event = json.loads(line)
        except json.JSONDecodeError:
            return  # a library that writes to the descriptor itself
        if not isinstance(event, dict):
            return
        if event.get("event") == "error":
            self.message = str(event["message"])
        else:
            self.hear(event)

    def _work(self) -> None:
        while not self.turn.acquire(timeout=0.1):
            if self._stop.is_set():
                self.state = "cancelled"
                return
        try:
            self._run()
        except OSError as error:
            self.message = f"{self.noun} could not be started: {error}"
            self.state = "failed"
        finally:
            self.turn.release()

    def _run(self) -> None:
        if self._stop.is_set():
            self.state = "cancelled"
            return
        # The child finds the library where this process has it, installed or not.
        library = str(Path(spam_core.__file__).parents[1])
        paths = [library, os.environ.get("PYTHONPATH", "")]
        environment = {
            # Threads that spin while they wait take the processor from those that work:
            # on a busy machine a fit of seconds takes minutes. The visitor's own
            # setting, if there is one, wins.
            "OMP_WAIT_POLICY": "PASSIVE",
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        }
        job = str(self.folder / "job.json")
        with (self.folder / "log.txt").open("w", encoding="utf-8") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "spam_core", self.command, job],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                env=environment,
                text=True,
                encoding="utf-8",
            )
            self._process = process
            self.state = "running"
            if self._stop.is_set():  # cancelled while it was being started
                self.cancel()
            assert process.stdout is not None
            with process.stdout as lines:
                for line in lines:
                    self.read(line)
            code = process.wait()
        if self._stop.is_set():
            self.state = "cancelled"
        elif code == 0:
            self.state = "done"
        else:
            if not self.message:
                self.message = self._last_words(self.folder / "log.txt", code)
            self.state = "failed"

    def _last_words(self, log: Path, code: int) -> str:
        with log.open(encoding="utf-8", errors="replace") as lines:
            last = "".join(deque(lines, maxlen=1)).strip()
        return last or f"{self.noun} ended unexpectedly (status {code})"


def _kill_later(process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + _GRACE
    while process.poll() is None:
        if time.monotonic() > deadline:
            process.kill()
            return
        time.sleep(0.05)
