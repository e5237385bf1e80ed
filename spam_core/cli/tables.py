"""The table a command works on: a named data set, or a file and its target column."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pandas as pd

from spam_core.data import (
    dataset_info,
    dataset_names,
    load_dataset,
    make_table,
    read_table,
)

if TYPE_CHECKING:
    from spam_core.data import Table
    from spam_core.data.table import Task


def add_source(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that name a table; see `open_table`."""
    source = parser.add_argument_group("table")
    source.add_argument("--dataset", metavar="NAME", help="a named data set")
    source.add_argument("--data", metavar="FILE", help="a CSV or Parquet file")
    source.add_argument("--target", metavar="COLUMN", help="its column to predict")
    source.add_argument(
        "--task",
        choices=("regression", "classification"),
        help="what the target is; by default told from its values",
    )


def open_table(
    dataset: str | None,
    data: str | None,
    target: str | None,
    *,
    task: str | None = None,
    name: str | None = None,
    dropped: Mapping[str, str] | None = None,
    special_values: Mapping[str, Sequence[float]] | None = None,
    drop_missing_target: bool = False,
) -> Table:
    """Return the table that the arguments name.

    Parameters
    ----------
    dataset : str or None
        Name of a data set.
    data, target : str or None
        Or a CSV or Parquet file, and its column to predict.
    task : {"regression", "classification"}, optional
        What the target is; by default told from its values. The finer "binary" and
        "multiclass" are understood too.
    name : str, optional
        What to call the table of a file; by default after the file.
    dropped : mapping of str to str, optional
        Columns of the file to leave out, with the reason.
    special_values : mapping of str to sequence of float, optional
        Codes of the file that stand for no value, by column.
    drop_missing_target : bool, default=False
        Leave out the rows of the file that have no target.

    Raises
    ------
    ValueError
        If not exactly one of `dataset` and `data` is given, the target is missing or
        has missing values, or nothing can be learnt from it.

    Examples
    --------
    >>> open_table("wine", None, None).task
    'multiclass'
    >>> open_table(None, "table.csv", None)
    Traceback (most recent call last):
    ...
    ValueError: --data needs --target: the column to predict
    """
    if (dataset is None) == (data is None):
        raise ValueError("give either --dataset NAME or --data FILE with --target")
    if dataset is not None:
        if target is not None:
            raise ValueError("--target goes with --data; a named set has its own")
        if name or dropped or special_values or drop_missing_target:
            raise ValueError(
                "name, dropped, special_values and drop_missing_target go with a file; "
                "a named set has its own"
            )
        return load_dataset(dataset)
    assert data is not None
    if target is None:
        raise ValueError("--data needs --target: the column to predict")
    frame = read_table(data).frame
    codes = {
        column: tuple(float(code) for code in codes)
        for column, codes in (special_values or {}).items()
    }
    left = {target, *(dropped or {})}
    unknown = [c for c in codes if c not in frame.columns or c in left]
    if unknown:
        raise ValueError(
            f"special_values names {unknown}, which are no columns to predict from."
        )
    return make_table(
        frame,
        target,
        task=_task(frame, target, task),
        name=name or Path(data).stem,
        dropped=dict(dropped or {}),
        drop_missing_target=drop_missing_target,
        special_values=codes,
    )


def list_sets() -> list[tuple[str, str, str, str]]:
    """Name, task, size and title of every named data set; a note if it isn't here."""
    here = set(dataset_names(available=True))
    rows: list[tuple[str, str, str, str]] = []
    for name in dataset_names():
        info = dataset_info(name)
        note = "" if name in here else " (not here: see load_dataset)"
        size = f"{info.n_rows:,} x {info.n_features:,}"
        rows.append((name, info.task, size, info.title + note))
    return rows


def _task(frame: pd.DataFrame, target: str, task: str | None) -> Task | None:
    """Tell the two tasks of classification apart, where only that is known."""
    if task != "classification":
        return cast("Task | None", task)  # Table checks it
    if target not in frame:
        return None  # make_table names the columns there are
    return "binary" if frame[target].nunique() == 2 else "multiclass"
