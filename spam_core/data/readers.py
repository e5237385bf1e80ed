"""Read a table as people have it: CSV of any habit, or Parquet.

What was found out about the file comes back with the frame, so that it can be shown
and corrected. What cannot be read is refused in plain words (`ReadError`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pandas as pd

from spam_core.data.conventions import rank_conventions, sample_cells
from spam_core.data.conversion import DEFAULT_MISSING_VALUES, convert_column
from spam_core.data.decoding import ReadError, Source, decode, read_bytes, recognise
from spam_core.data.delimited import (
    check_columns,
    normalise_line_ends,
    read_body,
    unique_names,
)
from spam_core.data.detected import Detected, ReadResult
from spam_core.data.layout import SEPARATORS, find_layout
from spam_core.data.parquet import read_parquet

__all__ = [
    "DEFAULT_MISSING_VALUES",
    "SEPARATORS",
    "Detected",
    "ReadError",
    "ReadResult",
    "read_table",
]


def read_table(
    source: Source,
    *,
    separator: str = "auto",
    decimal: str = "auto",
    thousands: str | None = "auto",
    encoding: str = "auto",
    header: bool | str = "auto",
    names: Sequence[str] | None = None,
    skip_rows: int = 0,
    missing_values: Collection[str] = DEFAULT_MISSING_VALUES,
    text_columns: Collection[str] = (),
    skip_columns: Collection[str] = (),
    duplicate_names: str = "error",
    bad_rows: str = "error",
    keep_index: bool = False,
    dates: bool = True,
) -> ReadResult:
    r"""Read a CSV or Parquet table, whatever its name says.

    Parameters
    ----------
    source : path, bytes, or open file (binary or text)
        An uploaded file of a web page will do.
    separator : str
        One character; "auto" knows comma, semicolon, tab and pipe.
    decimal : {"auto", ".", ","}
    thousands : {"auto", None, ",", ".", " ", "'"}
        None: numbers have no thousands mark.
    encoding : str
        A codec name; "auto" knows UTF-8, UTF-16, UTF-32 (with and without byte
        order mark) and Windows-1252, which holds Latin-1.
    header : bool or "auto"
        Whether the first line holds the column names. "auto" expects so, but
        refuses a line that looks like data. Without a header the columns are
        called column_1, column_2, ...
    names : sequence of str, optional
        Column names; with ``header=True`` they replace those of the file, else
        the file is taken to have none.
    skip_rows : int
        Lines to leave out at the start.
    missing_values : collection of str
        Spellings read as missing. ``("",)`` keeps "NA" as text.
    text_columns : collection of str
        Columns kept as written: codes with leading zeros, say.
    skip_columns : collection of str
        Columns to leave out.
    duplicate_names : {"error", "number"}
        "number" calls the second column ``a`` of a file ``a (2)``.
    bad_rows : {"error", "skip"}
        Rows with too many or too few cells.
    keep_index : bool
        Keep stored row numbers (an unnamed column that counts 0, 1, 2, ... or an
        unnamed Parquet index) as a column; they are left out otherwise. A Parquet
        index with a name is a column always.
    dates : bool
        Whether columns of text such as 2026-11-27 or 2026-11-27 18:30 are dates;
        other orders of day, month and year stay text. What Parquet holds stays so.

    Returns
    -------
    ReadResult
        ``frame``, with a fresh 0..n-1 index, string column names, and columns of
        float64, int64, bool, boolean (with missing cells), datetime64 or str; and
        ``detected``. Spaces around cells are removed. Rows with no value at all are
        left out.

    Raises
    ------
    ReadError
        A ValueError: no table, another file format, an encoding that cannot be
        told, repeated names, rows of different widths, no rows, unknown columns in
        `text_columns` or `skip_columns`, Parquet columns that hold lists.
    TypeError
        If `source` is nothing that can be read.

    Examples
    --------
    >>> frame, detected = read_table("a;größe\n1,5;2\n3,25;?\n".encode("latin-1"))
    >>> frame["a"].tolist(), list(frame)
    ([1.5, 3.25], ['a', 'größe'])
    >>> detected.separator, detected.decimal, detected.encoding, detected.missing
    (';', ',', 'cp1252', {'größe': 1})
    """
    data, decoded = read_bytes(source)
    if recognise(data) == "parquet":
        frame, notes = read_parquet(data, skip_columns, duplicate_names, keep_index)
        frame = _keep_as_text(frame, text_columns)
        return _result(frame, "parquet", notes)
    text, encoding, notes = decode(data, "utf-8" if decoded else encoding)
    text, line_end = normalise_line_ends(text)
    layout = find_layout(_skip_lines(text, skip_rows), separator, header, names)
    unique, name_notes = unique_names(layout.names, duplicate_names)
    check_columns("text_columns", text_columns, unique)
    check_columns("skip_columns", skip_columns, unique)
    columns, row_notes = read_body(layout, unique, bad_rows)
    notes += [*layout.notes, *name_notes, *row_notes]

    skipped, as_written = set(skip_columns), set(text_columns)
    kept = [name for name in unique if name not in skipped]
    tokens = frozenset(missing_values)
    conventions = rank_conventions(
        (
            sample_cells(columns.column(name), tokens)
            for name in kept
            if name not in as_written
        ),
        layout.separator,
        decimal,
        thousands,
    )
    series: dict[str, pd.Series[Any]] = {}
    spellings: Counter[str] = Counter()
    for name in kept:
        converted = convert_column(
            name,
            columns.column(name),
            conventions,
            tokens,
            as_text=name in as_written,
            dates=dates,
        )
        series[name] = converted.values
        spellings.update(converted.missing)
        notes += converted.notes
    moments = [n for n, s in series.items() if pd.api.types.is_datetime64_dtype(s)]
    if moments:
        notes.append(f"Read as dates: {', '.join(moments)}.")
    nameless = [n for n, given in zip(unique, layout.names, strict=True) if not given]
    notes += _leave_out_nameless(series, nameless, unique[0], keep_index)
    return _result(
        pd.DataFrame(series),
        "csv",
        notes,
        encoding="text" if decoded else encoding,
        separator=layout.separator,
        decimal=conventions[0].decimal,
        thousands=conventions[0].thousands,
        line_end=line_end,
        missing_spellings=dict(spellings),
    )


def _result(
    frame: pd.DataFrame, kind: str, notes: list[str], **found: Any
) -> ReadResult:
    if frame.shape[1] == 0:
        raise ReadError("No column is left to read.")
    counts = frame.isna().sum()
    missing = {str(name): int(n) for name, n in counts.items() if n}
    n_rows, n_columns = frame.shape
    return ReadResult(
        frame,
        Detected(kind, n_rows, n_columns, missing=missing, notes=tuple(notes), **found),
    )


def _skip_lines(text: str, skip_rows: int) -> str:
    if skip_rows < 0:
        raise ReadError(f"skip_rows must be 0 or more, but got {skip_rows}.")
    start = 0
    for _ in range(skip_rows):
        end = text.find("\n", start)
        if end < 0:
            raise ReadError(f"The file has fewer than {skip_rows + 1} lines.")
        start = end + 1
    return text[start:]


def _leave_out_nameless(
    series: dict[str, pd.Series[Any]],
    nameless: Collection[str],
    first: str,
    keep_index: bool,
) -> list[str]:
    """Remove nameless columns without a value, and a first one of row numbers."""
    notes = []
    for name in nameless:
        if name not in series or len(series) == 1:
            continue
        if series[name].isna().all():
            notes.append(f"{name!r}, without a value, was left out.")
            del series[name]
        elif name == first and not keep_index and _counts_rows(series[name]):
            notes.append(f"{name!r} only numbers the rows; it was left out.")
            del series[name]
    return notes


def _counts_rows(values: pd.Series[Any]) -> bool:
    if not pd.api.types.is_integer_dtype(values):
        return False
    start = int(values.iloc[0])
    counted = np.arange(start, start + len(values))
    return start in (0, 1) and np.array_equal(values.to_numpy(), counted)


def _keep_as_text(frame: pd.DataFrame, columns: Collection[str]) -> pd.DataFrame:
    """Turn columns of a Parquet table into text, missing cells staying missing."""
    check_columns("text_columns", columns, tuple(frame.columns))
    texts = {c: frame[c].map(str, na_action="ignore").astype("str") for c in columns}
    return frame.assign(**texts) if texts else frame
