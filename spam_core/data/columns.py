"""One column of a user's table: what kind it is, and its values as numbers or levels.

Everything that depends on how pandas happens to store a column lives here, so that
the encoder sees only two shapes: ``float64`` with NaN, or an object array with None.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Kind = Literal["numeric", "categorical", "boolean", "constant"]

MISSING = "missing"
"""Display name of the level that stands for a missing value."""

_EPOCH = pd.Timestamp("1970-01-01")


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
    if not isinstance(X, pd.DataFrame) and hasattr(X, "to_pandas"):
        X = X.to_pandas()
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


def column_kind(column: pd.Series) -> Kind:
    """Say whether a column holds numbers, categories or booleans.

    Numbers (also as objects) and dates are numeric; strings and pandas categories are
    categorical; booleans (also nullable or as objects) are boolean.

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
    if pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_datetime64_any_dtype(
        dtype
    ):
        return "numeric"
    inferred = pd.api.types.infer_dtype(column, skipna=True)
    if inferred == "boolean":
        return "boolean"
    if inferred in {"integer", "floating", "mixed-integer-float", "decimal"}:
        return "numeric"
    if inferred == "empty":
        return "numeric"  # all missing: becomes a constant
    if inferred in {"datetime", "datetime64", "date"}:
        return "numeric"
    if inferred == "complex":
        raise ValueError(f"Complex data not supported: column {column.name!r}.")
    return "categorical"


def to_numbers(column: pd.Series) -> NDArray[np.float64]:
    """Return a numeric column as float64 with NaN where a value is missing.

    Dates become days since 1970-01-01.

    Raises
    ------
    TypeError
        If cells hold text or other things that aren't numbers.
    ValueError
        If cells are infinite.
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    if pd.api.types.is_datetime64_any_dtype(column.dtype) or (
        column.dtype == object
        and pd.api.types.infer_dtype(column, skipna=True)
        in {"datetime", "datetime64", "date"}
    ):
        stamps = pd.to_datetime(column)
        if stamps.dt.tz is not None:
            stamps = stamps.dt.tz_convert("UTC").dt.tz_localize(None)
        days = (stamps - _EPOCH) / pd.Timedelta(days=1)
        return np.asarray(days.to_numpy(dtype=np.float64, na_value=np.nan))
    missing = column.isna().to_numpy()
    try:
        if pd.api.types.is_numeric_dtype(column.dtype) or (
            pd.api.types.is_bool_dtype(column.dtype)
        ):
            numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
        else:
            cells = column.to_numpy(dtype=object)
            numbers = np.full(len(cells), np.nan)
            present = [not isinstance(cell, str) for cell in cells[~missing]]
            if not all(present):
                raise TypeError
            numbers[~missing] = cells[~missing].astype(np.float64)
    except (TypeError, ValueError) as error:
        bad = [
            cell
            for cell in column[~missing]
            if isinstance(cell, str) or not np.isreal(cell)
        ]
        raise TypeError(
            f"Column {column.name!r} must hold numbers, as in training; got "
            f"{len(bad)} cells that don't, for example {bad[:3]!r}."
        ) from error
    infinite = int(np.isinf(numbers).sum())
    if infinite:
        raise ValueError(
            f"Column {column.name!r} has {infinite} infinite (inf) cells; expected "
            "finite numbers or missing values (NaN)."
        )
    return numbers


def to_objects(column: pd.Series) -> NDArray[np.object_]:
    """Return a column's cells as Python objects, None where a value is missing.

    A column that mixes strings with other types is read as strings throughout.

    Raises
    ------
    TypeError
        If cells can't be levels: lists, dicts, sets.
    """
    missing = column.isna().to_numpy()
    cells = column.astype(object).to_numpy(dtype=object).copy()
    cells[missing] = None
    present = cells[~missing]
    is_text = np.fromiter((isinstance(c, str) for c in present), bool, len(present))
    if not is_text.all():
        bad = [c for c in present if isinstance(c, list | dict | set | np.ndarray)]
        if bad:
            raise TypeError(
                f"Column {column.name!r} has {len(bad)} cells that are neither text "
                f"nor numbers, for example {bad[0]!r}; the argument must be a string "
                "or a number."
            )
        if is_text.any():
            cells[~missing] = [str(c) for c in present]
    return cells


def sorted_levels(column: pd.Series, cells: NDArray[np.object_]) -> list[Any]:
    """Return the levels that occur, in declared order if any, else sorted."""
    occurring = {cell: None for cell in cells if cell is not None}
    if isinstance(column.dtype, pd.CategoricalDtype):
        declared = [c for c in column.cat.categories if c in occurring]
        if len(declared) == len(occurring):
            return declared
    try:
        return sorted(occurring)
    except TypeError:
        return sorted(occurring, key=lambda level: (type(level).__name__, str(level)))
