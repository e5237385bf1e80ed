"""The body of a delimited text, read whole into columns of strings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

from spam_core.data.decoding import ReadError
from spam_core.data.layout import SEPARATORS, Layout

_TRAILING = "\x00trailing"  # no header can hold this name
_END = "\x1fend\x1f"  # cells of a last row that is added, to see that it arrives
_BLOCK = 1 << 24  # bytes parsed at a time; a row has to fit


def normalise_line_ends(text: str) -> tuple[str, str]:
    r"""Return the text with line feeds, and what ended most of its lines.

    Examples
    --------
    >>> normalise_line_ends("a\r1\r")
    ('a\n1\n', '\r')
    """
    if "\r" not in text:
        return text, "\n"
    both = text.count("\r\n")
    counts = {
        "\r\n": both,
        "\n": text.count("\n") - both,
        "\r": text.count("\r") - both,
    }
    line_end = max(counts, key=lambda mark: counts[mark])
    return text.replace("\r\n", "\n").replace("\r", "\n"), line_end


def unique_names(
    names: Sequence[str], duplicates: str
) -> tuple[tuple[str, ...], list[str]]:
    """Make every column name non-empty and unique, or say which are not.

    Parameters
    ----------
    names : sequence of str
        As in the header, stripped.
    duplicates : {"error", "number"}
        ``"number"`` appends " (2)", " (3)" to the later ones.

    Raises
    ------
    ReadError
        If names repeat and `duplicates` is ``"error"``.

    Examples
    --------
    >>> unique_names(["a", "a", ""], "number")[0]
    ('a', 'a (2)', 'column_3')
    """
    if duplicates not in ("error", "number"):
        raise ReadError(
            f"duplicate_names must be 'error' or 'number', but got {duplicates!r}."
        )
    notes: list[str] = []
    filled = list(names)
    for i, name in enumerate(filled):
        if not name:
            filled[i] = f"column_{i + 1}"
            notes.append(f"Column {i + 1} has no name; it is called 'column_{i + 1}'.")
    repeated = [name for name, n in Counter(filled).items() if n > 1]
    if repeated and duplicates == "error":
        where = "; ".join(
            f"{name!r} (columns "
            + ", ".join(str(i + 1) for i, other in enumerate(filled) if other == name)
            + ")"
            for name in repeated
        )
        raise ReadError(
            f"Column names must differ, but these repeat: {where}.",
            "Rename them in the file, or use duplicate_names='number' to number the "
            "later ones.",
            "duplicate_names",
        )
    taken = set(filled)
    seen: set[str] = set()
    for i, name in enumerate(filled):
        if name not in seen:
            seen.add(name)
            continue
        number = 2
        while f"{name} ({number})" in taken:
            number += 1
        filled[i] = f"{name} ({number})"
        taken.add(filled[i])
        seen.add(filled[i])
        notes.append(f"A second column {name!r} is called {filled[i]!r}.")
    return tuple(filled), notes


def check_columns(argument: str, asked: Collection[str], names: Sequence[str]) -> None:
    """Raise if a caller's list of columns names one that is not there.

    Raises
    ------
    ReadError

    Examples
    --------
    >>> check_columns("skip_columns", ["a"], ["a", "b"])
    """
    if isinstance(asked, str):
        raise ReadError(f"{argument} must be a list of column names, not one string.")
    unknown = [name for name in asked if name not in names]
    if unknown:
        shown = ", ".join(map(repr, unknown))
        raise ReadError(f"{argument} names columns that the table has not: {shown}.")


def read_body(
    layout: Layout, names: tuple[str, ...], bad_rows: str
) -> tuple[Any, list[str]]:
    """Read the rows below the header as strings.

    Parameters
    ----------
    layout : Layout
    names : tuple of str
        Unique column names.
    bad_rows : {"error", "skip"}
        What to do with rows that have too many or too few cells. They are never
        padded or cut in silence.

    Returns
    -------
    columns : pyarrow.Table
        One string column per name; empty cells are empty strings.
    notes : list of str

    Raises
    ------
    ReadError
        If there are no rows, or rows of another width and `bad_rows` is "error".
    """
    if bad_rows not in ("error", "skip"):
        raise ReadError(f"bad_rows must be 'error' or 'skip', but got {bad_rows!r}.")
    import pyarrow as pa

    body = layout.body.rstrip()
    if not body:
        shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
        raise ReadError(f"The file has column names ({shown}) but no rows below them.")
    if layout.space_before_quote:
        separator = re.escape(layout.separator)
        body = re.sub(rf'(^|{separator})[ \t]+"', r'\1"', body, flags=re.MULTILINE)
    wanted = (*names, _TRAILING) if layout.trailing else names
    end = layout.separator.join([_END] * len(wanted))
    # Half a surrogate pair cannot be written as UTF-8: it becomes a question mark.
    data = f"{body}\n{end}\n".encode(errors="replace")
    bad: list[Any] = []
    try:
        table = _parse(data, layout.separator, wanted, bad)
    except pa.ArrowInvalid as error:
        raise ReadError(f"The rows could not be read: {error}.") from None
    table = _take_off_end(table, bad)
    notes: list[str] = []
    if bad:
        message = _describe_bad_rows(bad, len(names), layout)
        if bad_rows == "error":
            advice = "Mend them in the file, or use bad_rows='skip'."
            raise ReadError(message, advice, "bad_rows")
        notes.append(f"{message} They were left out.")
    table = table.select(list(names))
    n_rows = table.num_rows
    if n_rows == 0:
        raise ReadError("The file has no row that fits its column names.")
    table = _without_empty_rows(table)
    if table.num_rows == 0:
        raise ReadError("No row of the file has a value.")
    if table.num_rows < n_rows:
        empty = n_rows - table.num_rows
        notes.append(
            f"{empty:,} rows without a value were left out."
            if empty > 1
            else "A row without a value was left out."
        )
    return table, notes


def _take_off_end(table: Any, bad: list[Any]) -> Any:
    """Remove the row that was added; it is gone if an open quote swallowed it."""
    last = table.num_rows - 1
    if last >= 0 and all(column[last].as_py() == _END for column in table.columns):
        return table.slice(0, last)
    number = bad[-1].number if bad else last + 1
    raise ReadError(
        "A quotation mark is opened and never closed: everything after it went into "
        f"one cell, in row {number}."
    )


def _without_empty_rows(table: Any) -> Any:
    """Leave out rows like ``,,,``, which spreadsheets put at the end of a table."""
    import pyarrow.compute as pc

    if table.num_columns == 1:  # there, an empty line is a missing value
        return table
    empty = None
    for column in table.columns:
        blank = pc.equal(pc.utf8_trim_whitespace(column), "")
        empty = blank if empty is None else pc.and_(empty, blank)
        if not pc.any(empty).as_py():
            return table
    return table.filter(pc.invert(empty))


def _parse(data: bytes, separator: str, names: tuple[str, ...], bad: list[Any]) -> Any:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    def keep_bad_row(row: Any) -> str:
        bad.append(row)
        return "skip"

    def read(block: int) -> Any:
        return arrow_csv.read_csv(
            pa.BufferReader(data),
            # One thread: only then does a bad row know its number.
            read_options=arrow_csv.ReadOptions(
                column_names=list(names), block_size=block, use_threads=False
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=separator,
                newlines_in_values=b'"' in data,
                ignore_empty_lines=len(names) > 1,
                invalid_row_handler=keep_bad_row,
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                strings_can_be_null=False,
            ),
        )

    try:
        return read(_BLOCK)
    except pa.ArrowInvalid as error:
        if "straddling" not in str(error):
            raise
        bad.clear()
        return read(len(data) + 1)


def _describe_bad_rows(bad: list[Any], width: int, layout: Layout) -> str:
    row = bad[0]
    start = " ".join(row.text[:60].split())
    message = (
        f"{len(bad)} row(s) do not have the header's {width} cells; the first is "
        f"row {row.number}, with {row.actual_columns}: {start!r}."
    )
    if row.text.count('"') % 2:
        return message + " A quotation mark seems to be opened and never closed."
    if layout.separator == "," and row.actual_columns > width:
        return message + " A comma inside a cell needs quotes around the cell."
    name = SEPARATORS.get(layout.separator, repr(layout.separator))
    return f"{message} The separator used is the {name}."
