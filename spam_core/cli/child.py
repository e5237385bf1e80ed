"""What job files share: JSON in, JSON lines out, SIGTERM to cancel.

A job file is one JSON object. Its table is

``dataset``, or ``data`` and ``target``
    The name of a data set, or the path of a CSV or Parquet file and its column to
    predict. ``task`` ("regression", "classification") if it can't be told. ``name`` to
    call the table something other than its file; ``dropped``: column to leave out ->
    reason; ``special_values``: column -> codes that stand for no value;
    ``drop_missing_target``: whether rows without a target are left out.
``parent`` (optional)
    Process id; the job stops when that process is gone.

One JSON object a line comes out, each with ``event``. Whatever the job, it ends with

``done``
    After it has done everything.
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
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

from spam_core.cli.messages import USER_ERRORS, complain, plain
from spam_core.cli.tables import open_table
from spam_core.persistence.records import json_ready

if TYPE_CHECKING:
    from spam_core.data import Table

Emit = Callable[..., None]
"""Writes one line: the event, and what there is to say about it by name."""

_SOURCE = frozenset({"dataset", "data", "target", "task", "parent"})
_CHOICES = {
    "name": str,
    "dropped": dict,
    "special_values": dict,
    "drop_missing_target": bool,
}


class _Cancelled(KeyboardInterrupt):
    """Raised by SIGTERM wherever the program is; no ``except Exception`` stops it.

    To libraries it is Ctrl-C, so that they put away what they were at.
    """


def report(work: Callable[[Emit], None]) -> int:
    """Do a job that reports in JSON lines on standard output.

    Parameters
    ----------
    work : callable
        Is given what writes a line.

    Returns
    -------
    int
        Exit status.
    """
    out = sys.stdout

    def emit(event: str, **fields: Any) -> None:
        line = json.dumps(json_ready({"event": event, **fields}), ensure_ascii=False)
        out.write(line + "\n")
        out.flush()

    previous = signal.signal(signal.SIGTERM, _cancel)
    try:
        # what libraries print must not get between the lines
        with contextlib.redirect_stdout(sys.stderr):
            work(emit)
        return 0
    except _Cancelled:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second one is no news
        emit("cancelled")
        return 128 + signal.SIGTERM
    except USER_ERRORS as error:
        complain(error)
        emit("error", message=plain(error))
        return 2
    except Exception as error:
        traceback.print_exc()
        emit("error", message=f"internal error: {type(error).__name__}: {error}")
        return 1
    finally:
        signal.signal(signal.SIGTERM, previous)


def read_job(path: Path, keys: frozenset[str]) -> dict[str, Any]:
    """Read a job file and check what all of them have.

    Parameters
    ----------
    path : Path
    keys : frozenset of str
        What it may hold beside the table.

    Raises
    ------
    ValueError
        If it isn't JSON or holds something unknown.
    OSError
        If it can't be read.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not JSON: {error}") from None
    if not isinstance(content, dict):
        raise ValueError(f"{path} must hold one JSON object")
    known = _SOURCE | keys | set(_CHOICES)
    unknown = sorted(set(content) - known)
    if unknown:
        raise ValueError(f"{path}: unknown {unknown}, expected {sorted(known)}")
    for key, kind in _CHOICES.items():
        if key in content and not isinstance(content[key], kind):
            raise ValueError(
                f"{path}: {key!r} must be of type {kind.__name__}, got {content[key]!r}"
            )
    if not isinstance(content.get("output"), str):
        raise ValueError(f"{path}: 'output' must name a folder")
    return content


def begin(content: dict[str, Any]) -> Table:
    """Follow the parent that a job names, and return the table that it is about."""
    parent = content.get("parent")
    if parent is not None:
        _follow(parent)
    return open_table(
        content.get("dataset"),
        content.get("data"),
        content.get("target"),
        task=content.get("task"),
        **{key: content[key] for key in _CHOICES if key in content},
    )


def _cancel(_: int, __: FrameType | None) -> NoReturn:
    raise _Cancelled


def _follow(parent: int) -> None:
    """Stop this process when its parent is gone, however that ended."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True, name="parent watch").start()
