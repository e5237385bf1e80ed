"""One column of a user's table: what kind it is, and its values as numbers or levels.

Everything that depends on how pandas happens to store a column lives here, so that
the encoder sees only two shapes: ``float64`` with NaN, or an object array with None.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Kind = Literal["numeric", "categorical", "boolean", "constant"]

MISSING = "missing"
"""Display name of the level that stands for a missing value."""

_EPOCH = pd.Timestamp("1970-01-01")
_DAY = pd.Timedelta(days=1)
_NUMBERS = {"integer", "floating", "mixed-integer-float", "decimal"}
_DATES = {"datetime", "datetime64", "date"}
_DURATIONS = {"timedelta", "timedelta64"}


def from_foreign(X: Any) -> Any:
    """Return a table of polars, pyarrow and the like as a frame, others as they are.

    That is whatever has `to_pandas`, or hands out Arrow data (``__arrow_c_stream__``).

    Examples
    --------
    >>> import pyarrow as pa
    >>> from_foreign(pa.table({"age": [41, None]}))
        age
    0  41.0
    1   NaN
    >>> from_foreign([[1, 2]])
    [[1, 2]]
    """
    if isinstance(X, pd.DataFrame | pd.Series):
        return X
    if hasattr(X, "to_pandas"):
        return X.to_pandas()
    if hasattr(X, "__arrow_c_stream__"):
        import pyarrow as pa

        return pa.table(X).to_pandas()
    return X


def as_frame(X: Any) -> tuple[pd.DataFrame, bool]:
    """Return `X` as a frame with string labels, and whether `X` brought labels.

    Parameters
    ----------
    X : DataFrame, array-like of shape (n, d), polars or pyarrow table
        A table as the user has it. It is not changed.

    Returns
    -------
    frame : DataFrame of shape (n, d)
        With unique string labels; arrays get ``x0, x1, ...``.
    named : bool
        False if the labels were made up here.

    Raises
    ------
    TypeError
        If labels mix strings with other types.
    ValueError
        If a label occurs twice, or `X` isn't two-dimensional.

    Examples
    --------
    >>> as_frame([[1.0, 2.0]])[0].columns.tolist()
    ['x0', 'x1']
    """
    X = from_foreign(X)
    if isinstance(X, pd.Series):
        raise ValueError(
            "Expected a table with columns, got a Series. Reshape your data: use "
            "series.to_frame() for one column."
        )
    if isinstance(X, pd.DataFrame):
        labels = list(X.columns)
        if len({isinstance(label, str) for label in labels}) > 1:
            others = [label for label in labels if not isinstance(label, str)]
            raise TypeError(
                "Column labels must be all strings or all of one other type, got a "
                f"mixture: {others[:5]!r} beside strings. Convert them with "
                "X.columns = X.columns.astype(str)."
            )
        names = pd.Index([str(label) for label in labels])
        if not names.is_unique:
            twice = names[names.duplicated()].unique().tolist()
            raise ValueError(
                f"Column labels must be unique; these occur more than once: {twice}"
            )
        frame = X.copy(deep=False)
        frame.columns = names
        return frame, True
    array = np.asarray(X)
    if array.dtype.kind in "US" and not isinstance(X, np.ndarray):
        array = np.asarray(X, dtype=object)  # rows of numbers and text keep both
    if np.iscomplexobj(array):
        raise ValueError("Complex data not supported: expected real numbers.")
    if array.ndim != 2:
        hint = (
            "Reshape your data either using array.reshape(-1, 1) if it has one "
            "column or array.reshape(1, -1) if it is one row."
        )
        shape = "scalar" if array.ndim == 0 else f"{array.ndim}D"
        raise ValueError(f"Expected 2D array, got {shape} array instead. {hint}")
    names = pd.Index([f"x{i}" for i in range(array.shape[1])])
    return pd.DataFrame(array, columns=names), False


def check_not_empty(shape: tuple[int, int]) -> None:
    """Refuse a table without rows or columns, in scikit-learn's words."""
    if 0 in shape:
        what = "feature" if shape[0] else "sample"
        raise ValueError(
            f"Found array with 0 {what}(s) (shape={shape}) while a minimum of 1 is "
            "required."
        )


def check_width(width: int, expected: int, model: str = "the model") -> None:
    """Refuse a table of another width than in training, in scikit-learn's words."""
    if width != expected:
        raise ValueError(
            f"X has {width} features, but {model} is expecting {expected} features "
            "as input."
        )


def take_by_name(
    frame: pd.DataFrame, names: Sequence[str], what: str = ""
) -> pd.DataFrame:
    """Return the training columns of a labelled frame, in training order.

    Parameters
    ----------
    frame : DataFrame
    names : sequence of str
        Training columns.
    what : str
        What the frame is called in the error, if there are several.

    Raises
    ------
    ValueError
        If columns are missing; they are named.
    """
    missing = [name for name in names if name not in frame.columns]
    if missing:
        whose = f"{what}: " if what else ""
        raise ValueError(
            f"{whose}Expected the columns used in training; {len(missing)} are "
            f"missing: {missing}. Got columns {frame.columns.tolist()}."
        )
    # as it is, if it is right already: a selection would copy all cells
    return frame if frame.columns.tolist() == list(names) else frame[list(names)]


def column_kind(column: pd.Series[Any]) -> Kind:
    """Say whether a column holds numbers, categories or booleans.

    Numbers (also as objects), dates and durations are numeric; strings and pandas
    categories are categorical; booleans (also nullable or as objects) are boolean.

    Raises
    ------
    ValueError
        If the numbers are complex.

    Examples
    --------
    >>> column_kind(pd.Series([True, None]))
    'boolean'
    >>> column_kind(pd.Series([1, 2.5]))
    'numeric'
    """
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return "categorical"
    if pd.api.types.is_bool_dtype(dtype):
        return "boolean"
    if pd.api.types.is_complex_dtype(dtype):
        raise ValueError(
            f"Complex data not supported: column {column.name!r} is {dtype}."
        )
    if pd.api.types.is_numeric_dtype(dtype) or holds_dates(column):
        return "numeric"
    inferred = _infer(column)
    if inferred == "complex":
        raise ValueError(f"Complex data not supported: column {column.name!r}.")
    if inferred == "boolean":
        return "boolean"
    if inferred in _NUMBERS | _DURATIONS or bool(column.isna().all()):
        return "numeric"  # all missing: becomes a constant
    return "categorical"


def holds_dates(column: pd.Series[Any]) -> bool:
    """Say whether a column holds points in time, not lengths of time.

    Examples
    --------
    >>> holds_dates(pd.Series(pd.to_datetime(["2026-11-27"])))
    True
    """
    dtype = column.dtype
    if isinstance(dtype, pd.PeriodDtype) or pd.api.types.is_datetime64_any_dtype(dtype):
        return True
    if isinstance(dtype, pd.CategoricalDtype) or pd.api.types.is_numeric_dtype(dtype):
        return False
    return _infer(column) in _DATES


def _infer(column: pd.Series[Any]) -> str:
    return str(pd.api.types.infer_dtype(column, skipna=True))


def to_numbers(
    column: pd.Series[Any], dates: bool | None = None
) -> NDArray[np.float64]:
    """Return a numeric column as float64 with NaN where a value is missing.

    Dates become days since 1970-01-01, durations days.

    Parameters
    ----------
    column : Series of length n
    dates : bool, optional
        Whether training saw dates here. If it did, text is read as dates, and numbers
        are days already; if it saw numbers, dates are an error.

    Raises
    ------
    TypeError
        If cells hold text or other things that aren't numbers.

    Examples
    --------
    >>> to_numbers(pd.Series([1, None], dtype="Int64"))
    array([ 1., nan])
    >>> to_numbers(pd.Series(["1970-01-11"]), dates=True)
    array([10.])
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(object)
    if column.isna().all():
        return np.full(len(column), np.nan)
    if holds_dates(column):
        if dates is False:
            raise TypeError(
                f"Column {column.name!r} must hold numbers, as in training; got dates, "
                f"for example {str(column.dropna().iloc[0])!r}."
            )
        return _days(column)
    if pd.api.types.is_numeric_dtype(column.dtype) or pd.api.types.is_bool_dtype(
        column.dtype
    ):
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    inferred = _infer(column)
    if inferred in _DURATIONS:
        days = pd.to_timedelta(column.astype(object)) / _DAY
        return np.asarray(days.to_numpy(dtype=np.float64, na_value=np.nan))
    if dates and inferred == "string":
        return _days(column)
    missing = column.isna().to_numpy()
    numbers = np.full(len(column), np.nan)
    present = column.to_numpy(dtype=object)[~missing]
    bad = [cell for cell in present if not _is_number(cell)]
    if bad:
        raise TypeError(
            f"Column {column.name!r} must hold {'dates' if dates else 'numbers'}, as "
            f"in training; got {len(bad)} cells that don't, for example {bad[:3]!r}."
        )
    numbers[~missing] = present.astype(np.float64)
    return numbers


def _is_number(cell: Any) -> bool:
    if isinstance(cell, str | bytes):
        return False
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True


def _days(column: pd.Series[Any]) -> NDArray[np.float64]:
    """Days since 1970-01-01 of dates, or of text that says dates."""
    if isinstance(column.dtype, pd.PeriodDtype):
        column = column.dt.to_timestamp()
    elif not isinstance(column.dtype, pd.DatetimeTZDtype) and (
        not isinstance(column.dtype, np.dtype) or column.dtype.kind != "M"
    ):
        # times without a zone are taken as they are, those with one as UTC
        cells = column.astype(object)
        column = pd.to_datetime(cells, format="ISO8601", utc=True, errors="coerce")
        bad = cells[column.isna() & cells.notna()]
        if len(bad):
            raise TypeError(
                f"Column {cells.name!r} must hold dates such as 2026-11-27, as in "
                f"training; got {len(bad)} cells that don't, for example "
                f"{bad.iloc[:3].tolist()!r}."
            )
    if column.dt.tz is not None:
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    days = (column - _EPOCH) / _DAY
    return np.asarray(days.to_numpy(dtype=np.float64, na_value=np.nan))


def check_finite(columns: Iterable[tuple[str, NDArray[np.float64]]]) -> None:
    """Refuse infinite cells, naming every column that has some.

    Parameters
    ----------
    columns : iterable of (name, numbers)

    Raises
    ------
    ValueError
        If any number is infinite.

    Examples
    --------
    >>> check_finite([("age", np.array([1.0, np.inf]))])
    Traceback (most recent call last):
    ValueError: Expected finite numbers or missing values (NaN), got infinite cells
    (inf): 1 in column 'age'.
    """
    counts = {name: int(np.isinf(numbers).sum()) for name, numbers in columns}
    found = [f"{count} in column {name!r}" for name, count in counts.items() if count]
    if found:
        more = f" and in {len(found) - 10} more columns" if len(found) > 10 else ""
        raise ValueError(
            "Expected finite numbers or missing values (NaN), got infinite cells "
            f"(inf): {', '.join(found[:10])}{more}."
        )
