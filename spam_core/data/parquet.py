"""Read a Parquet table into plain columns; never anything that runs code."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

import pandas as pd

from spam_core.data.decoding import ReadError
from spam_core.data.delimited import check_columns, unique_names

_EXACT_IN_FLOAT = 2**53  # whole numbers beyond are not exact as float64


def read_parquet(
    data: bytes,
    skip_columns: Collection[str] = (),
    duplicate_names: str = "error",
    keep_index: bool = False,
) -> tuple[pd.DataFrame, list[str]]:
    """Read the bytes of a Parquet file.

    Decimals become float64, dates become timestamps, whole numbers with missing
    cells become float64 (Int64 where float64 would not be exact). A stored index
    with a name is a column; one without is left out unless `keep_index`.

    Parameters
    ----------
    data : bytes
    skip_columns : collection of str
        Columns to leave out.
    duplicate_names : {"error", "number"}
    keep_index : bool

    Returns
    -------
    frame : DataFrame
        With a fresh 0..n-1 index and string column names.
    notes : list of str

    Raises
    ------
    ReadError
        If the file is damaged, has no rows or no columns, or columns that hold
        lists, structures or bytes.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise ReadError(
            "Reading Parquet needs the package pyarrow: pip install pyarrow."
        ) from None
    try:
        # Not pq.read_table, which opens a data set and may look at other files.
        table = pq.ParquetFile(pa.BufferReader(data)).read()
        table.validate(full=True)
        found = [str(name).strip() for name in table.column_names]
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise ReadError(
            f"The Parquet file is damaged or cut short: {reason}."
        ) from None
    table = _add_counted_index(table)
    found += table.column_names[len(found) :]
    names, notes = unique_names(found, duplicate_names)
    stored, unnamed = _index_columns(table, names)
    table = table.rename_columns(list(names))
    check_columns("skip_columns", skip_columns, names)
    dropped = set(skip_columns)
    if unnamed and not keep_index:
        dropped.update(unnamed)
        notes.append("The stored row labels, without a name, were left out.")
    named = [name for name in stored if name not in unnamed and name not in dropped]
    if named:
        shown = ", ".join(map(repr, named))
        notes.append(f"The stored index {shown} was read as a column.")
    table = table.select([name for name in names if name not in dropped])
    if table.num_columns == 0:
        raise ReadError("The Parquet file has no columns.")
    if table.num_rows == 0:
        raise ReadError("The Parquet file has columns but no rows.")
    _refuse_nested(table)
    series = {
        name: _to_series(table.column(name)).rename(name) for name in table.column_names
    }
    return pd.DataFrame(series), notes


def _index_entries(table: Any) -> list[Any]:
    """Return what pandas noted about the index of the frame that was saved."""
    try:
        metadata = json.loads((table.schema.metadata or {}).get(b"pandas", b"{}"))
        return list(metadata.get("index_columns", []))
    except (ValueError, AttributeError, TypeError):
        return []  # not written by pandas; then no column is an index


def _add_counted_index(table: Any) -> Any:
    """Add an index that has a name but is stored as start, stop and step only."""
    import pyarrow as pa

    for entry in _index_entries(table):
        if isinstance(entry, dict) and entry.get("name") is not None:
            try:
                numbers = range(entry["start"], entry["stop"], entry["step"])
            except (KeyError, TypeError, ValueError):
                continue  # not as pandas writes it
            if len(numbers) == table.num_rows:
                table = table.append_column(str(entry["name"]), pa.array(numbers))
    return table


def _index_columns(table: Any, names: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Columns that hold the index of the frame that was saved, and the nameless."""
    entries = [
        entry.get("name") if isinstance(entry, dict) else entry
        for entry in _index_entries(table)
    ]
    wanted = {str(entry) for entry in entries if entry is not None}
    stored = [
        name
        for name, given in zip(names, table.column_names, strict=True)
        if given in wanted
    ]
    return stored, [name for name in stored if name.startswith("__index_level_")]


def _refuse_nested(table: Any) -> None:
    import pyarrow.types as types

    bytes_types = (types.is_binary, types.is_large_binary, types.is_fixed_size_binary)
    refused = []
    for column in table.schema:
        kind = column.type
        if types.is_dictionary(kind):
            kind = kind.value_type
        if types.is_nested(kind):
            refused.append(f"{column.name!r} (lists or structures)")
        elif any(test(kind) for test in bytes_types):
            refused.append(f"{column.name!r} (bytes)")
    if refused:
        raise ReadError(
            "Every cell must be one number, text or date, but these columns hold "
            f"more: {', '.join(refused)}. Leave them out with skip_columns, or save "
            "each part as a column of its own."
        )


def _to_series(column: Any) -> pd.Series[Any]:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as types

    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        return _to_series(pc.cast(column, kind.storage_type))
    if types.is_decimal(kind) or types.is_null(kind) or types.is_float16(kind):
        column = pc.cast(column, pa.float64())
    elif types.is_date(kind):
        column = pc.cast(column, pa.timestamp("ms"))
    elif types.is_time(kind):
        column = pc.cast(column, pa.string())
    if column.null_count and types.is_boolean(kind):
        nullable: pd.Series[Any] = column.to_pandas().astype("boolean")
        return nullable
    if column.null_count and types.is_integer(kind):
        extremes = pc.min_max(column).as_py()
        if max(abs(v) for v in extremes.values() if v is not None) > _EXACT_IN_FLOAT:
            exact: pd.Series[Any] = column.to_pandas(
                types_mapper={kind: pd.Int64Dtype()}.get
            )
            return exact
    series: pd.Series[Any] = column.to_pandas()
    return series
