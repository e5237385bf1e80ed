"""JSON files: there as a whole or not at all, and changed by one process at a time."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

LOCK_SECONDS = 120.0
"""That a process waits for another before it gives up."""


def json_ready(value: Any) -> Any:
    """Replace what JSON hasn't: NaN and infinity by null, NumPy's numbers by Python's.

    Examples
    --------
    >>> json_ready({"auc": float("nan"), 2: (np.int64(1), "b")})
    {'auc': None, '2': [1, 'b']}
    """
    if isinstance(value, Mapping):
        return {str(key): json_ready(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [json_ready(entry) for entry in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write a JSON file for people and programs to read, in place of an older one.

    Raises
    ------
    OSError
        If it can't be written; an older file stays as it is.
    TypeError
        If there is something in it that JSON hasn't; likewise.
    """
    text = json.dumps(json_ready(content), ensure_ascii=False, indent=1)
    write_text(path, text + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a file that is never half there, also when this process is killed.

    Raises
    ------
    OSError
        If it can't be written; an older file stays as it is.
    """
    partial = path.with_name(path.name + ".partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Let one process at a time read and change a file; the others wait.

    SQLite locks an empty file beside it, on every system in the same way, and lets go
    of it when a process dies.

    Parameters
    ----------
    path : Path
        Needn't exist, nor its folder, which is made.

    Raises
    ------
    sqlite3.OperationalError
        If another process has been at it for two minutes.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, alone(Path(folder) / "a.json"):
    ...     write_json(Path(folder) / "a.json", {"a": 1})
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.lock")
    connection = sqlite3.connect(beside, timeout=LOCK_SECONDS, isolation_level=None)
    try:
        connection.execute("BEGIN EXCLUSIVE")
        yield
    finally:
        connection.close()
