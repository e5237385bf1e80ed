"""What a table holds, column by column, and whether a target can be learnt."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from spam_core.data.columns import column_kind, holds_dates
from spam_core.data.frames import guess_task
from spam_core.data.table import Table, Task

MAX_CLASSES = 100
"""More classes than this are taken for a mistake."""

_SHOWN = 5  # levels that are named
_WIDTH = 24  # characters of a level


def describe_columns(table: Table) -> pd.DataFrame:
    """Say of each column what it holds.

    Parameters
    ----------
    table : Table

    Returns
    -------
    DataFrame of d rows
        ``column``, ``kind``, ``missing`` (cells), ``distinct`` (values), ``special
        codes`` (cells), ``values`` (the range, or the commonest levels) and
        ``meaning``, where it is known. The words of a text have no such table: it is
        empty.

    Examples
    --------
    >>> from spam_core.data import make_table
    >>> frame = pd.DataFrame({"size": [1.0, None, 3.0, -9.0] * 5, "price": range(20)})
    >>> table = make_table(frame, "price", special_values={"size": (-9.0,)})
    >>> row = describe_columns(table).iloc[0]
    >>> int(row["missing"]), int(row["special codes"]), row["values"]
    (5, 5, '1 to 3')
    """
    if not isinstance(table.X, pd.DataFrame):
        return pd.DataFrame({"column": []})
    return pd.DataFrame(
        [
            _column(
                str(name),
                table.X.iloc[:, place],
                table.special_values.get(str(name), ()),
                table.columns.get(str(name), ""),
            )
            for place, name in enumerate(table.feature_names)
        ]
    )


def _column(
    name: str, values: pd.Series[Any], codes: tuple[float, ...], meaning: str
) -> dict[str, Any]:
    kind = column_kind(values)
    special = values.isin(list(codes)) if codes else pd.Series(False, values.index)
    real = values[~special].dropna()
    return {
        "column": name,
        "kind": "date" if holds_dates(values) else kind,
        "missing": int(values.isna().sum()),
        "distinct": int(real.nunique()),
        "special codes": int(special.sum()),
        "values": _range(real, kind),
        "meaning": "" if meaning == name else meaning,
    }


def _range(values: pd.Series[Any], kind: str) -> str:
    if values.empty:
        return "none"
    if kind == "numeric":
        low, high = values.min(), values.max()
        if isinstance(low, pd.Timestamp):
            return f"{low:%Y-%m-%d} to {high:%Y-%m-%d}"
        try:
            return f"{_number(float(low))} to {_number(float(high))}"
        except (TypeError, ValueError):  # durations
            return f"{low} to {high}"
    levels = values.value_counts()
    names = [_short(str(level)) for level in levels.index[:_SHOWN]]
    rest = len(levels) - len(names)
    return ", ".join(names) + (f" and {rest:,} more" if rest else "")


def _number(value: float) -> str:
    """Write a number in full; thousands are marked only where that helps to read."""
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:.6g}"


def _short(text: str) -> str:
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"


def target_counts(table: Table, bins: int = 30) -> pd.DataFrame:
    """Count the rows of each class, or of each interval of a number.

    Parameters
    ----------
    table : Table
    bins : int
        Intervals of a regression target, of equal width.

    Returns
    -------
    DataFrame
        ``class`` and ``rows``; or ``from``, ``to`` and ``rows``.

    Examples
    --------
    >>> from spam_core.data import load_dataset
    >>> target_counts(load_dataset("wine"))["rows"].tolist()
    [59, 71, 48]
    """
    if table.task == "regression":
        counts, edges = np.histogram(table.y.to_numpy(dtype=np.float64), bins=bins)
        return pd.DataFrame({"from": edges[:-1], "to": edges[1:], "rows": counts})
    counted = table.y.value_counts()
    return pd.DataFrame(
        {
            "class": list(table.class_names),
            "rows": [int(counted[label]) for label in table.classes],
        }
    )


def check_target(y: pd.Series[Any], task: str | None = None) -> Task:
    """Refuse a target that can't be learnt; missing cells are left aside.

    Parameters
    ----------
    y : Series (n,)
    task : {"regression", "classification"}, optional
        What it shall be; by default guessed.

    Returns
    -------
    str
        "regression", "binary" or "multiclass".

    Raises
    ------
    ValueError
        If it has fewer than two distinct values, holds dates, isn't a number though
        it shall be one, or hasn't few enough values to be classes.

    Examples
    --------
    >>> check_target(pd.Series([0.5, 1.5] * 5), "classification")
    Traceback (most recent call last):
    ...
    ValueError: Target None holds fractions, such as 0.5: these are quantities, not
    classes. Predict it as a number.
    """
    values, name = y.dropna(), repr(y.name)
    if values.empty:
        raise ValueError(f"Target {name} has no value in any of {len(y):,} rows.")
    guess = guess_task(values)
    if pd.api.types.is_datetime64_any_dtype(
        values
    ) or pd.api.types.is_timedelta64_dtype(values):
        raise ValueError(
            f"Target {name} holds dates or times, which can't be predicted."
        )
    is_number = pd.api.types.is_numeric_dtype(
        values
    ) and not pd.api.types.is_bool_dtype(values)
    if task == "regression" or (task is None and guess == "regression"):
        if not is_number:
            raise ValueError(
                f"Target {name} holds {str(values.iloc[0])!r}, which is no number. "
                "Predict it as classes."
            )
        if not np.isfinite(values.to_numpy(dtype=np.float64)).all():
            raise ValueError(f"Target {name} holds infinite numbers.")
        return "regression"
    if is_number and not bool((values % 1 == 0).all()):
        first = values[values % 1 != 0].iloc[0]
        raise ValueError(
            f"Target {name} holds fractions, such as {first}: these are quantities, "
            "not classes. Predict it as a number."
        )
    n_classes = int(values.nunique())
    if n_classes > min(MAX_CLASSES, max(2, len(values) // 2)):
        advice = "Predict it as a number." if is_number else "Choose another column."
        raise ValueError(
            f"Target {name} has {n_classes:,} distinct values in {len(values):,} rows, "
            f"too many to be classes. {advice}"
        )
    return "binary" if n_classes == 2 else "multiclass"


def suspicious_columns(frame: pd.DataFrame) -> dict[str, str]:
    """Name the columns that look like identifiers, with the reason.

    Examples
    --------
    >>> suspicious_columns(pd.DataFrame({"id": [f"c{i}" for i in range(30)]}))
    {'id': 'nearly every row has a value of its own'}
    >>> suspicious_columns(pd.DataFrame({"row": range(1, 31)}))
    {'row': 'it counts the rows'}
    """
    found = {}
    for name in frame.columns:
        column = frame[name].dropna()
        if len(column) < 20:
            continue
        if column_kind(column) != "categorical":
            if _counts_up(column):
                found[str(name)] = "it counts the rows"
        elif column.nunique() > 0.9 * len(column):
            found[str(name)] = "nearly every row has a value of its own"
    return found


def _counts_up(column: pd.Series[Any]) -> bool:
    """Whether numbers grow from 0 or 1 row by row; some rows may have been removed."""
    if not pd.api.types.is_integer_dtype(column):
        return False
    numbers = column.to_numpy(dtype=np.int64, na_value=0)
    few_removed = numbers[-1] - numbers[0] < 2 * len(numbers)
    return bool(numbers[0] in (0, 1) and few_removed and (np.diff(numbers) > 0).all())
