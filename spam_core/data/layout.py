"""How a delimited text is laid out: its separator, its header, its first row.

Everything here looks at the beginning of the text only (`Sample`), by Python's own
csv parser, and decides. Reading the whole body with those decisions is the job of
`spam_core.data.delimited`.
"""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import itertools
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from spam_core.data.decoding import ReadError

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}

_SAMPLE_CHARACTERS = 120_000  # under csv's limit for one field, so none is too long
_SAMPLE_ROWS = 200
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)*|[.,]\d+)([eE][+-]?\d+)?")


@dataclass(frozen=True)
class Layout:
    """Where the columns and rows of a delimited text are.

    Attributes
    ----------
    separator : str
    names : tuple of str
        One per column, not checked for duplicates yet.
    body : str
        The text from the first row of data on.
    space_before_quote : bool
        Whether quoted cells are preceded by spaces (``a, "b, c"``).
    row_labels : bool
        The first column has no name in the header and labels the rows.
    trailing : bool
        Every row ends with a separator that the header has not.
    notes : tuple of str
    """

    separator: str
    names: tuple[str, ...]
    body: str = dataclasses.field(repr=False)
    space_before_quote: bool = False
    row_labels: bool = False
    trailing: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Reading:
    """The sample cut by one candidate separator."""

    separator: str
    rows: list[list[str]]
    space_before_quote: bool
    widths: Counter[int] = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "widths", Counter(map(len, self.rows)))

    @property
    def width(self) -> int:
        """Most frequent number of cells in a row."""
        return self.widths.most_common(1)[0][0]

    @property
    def score(self) -> tuple[float, float, int]:
        """How well the cut fits: steadiness, numbers among the cells, width."""
        steady = self.widths[self.width] / len(self.rows)
        cells = [c.strip() for row in self.rows[1:] for c in row if c.strip()]
        numbers = sum(bool(_NUMBER.fullmatch(c)) for c in cells)
        return steady, numbers / max(len(cells), 1), self.width


def find_layout(
    text: str,
    separator: str = "auto",
    header: bool | str = "auto",
    names: Sequence[str] | None = None,
) -> Layout:
    r"""Find separator, names and start of the data.

    Parameters
    ----------
    text : str
        The decoded text, its lines ended by ``\n``.
    separator : str
        One character, or ``"auto"``: comma, semicolon, tab or pipe.
    header : bool or "auto"
        Whether the first line holds the names; ``"auto"`` expects it to, and
        refuses a first line that looks like data.
    names : sequence of str, optional
        Names to use; with ``header=True`` they replace those of the file.

    Raises
    ------
    ReadError
        If no separator makes a table, the header looks like data, or the number
        of `names` differs from the number of columns.

    Examples
    --------
    >>> layout = find_layout("a;b;y\n1,5;2;0\n")
    >>> layout.separator, layout.names, layout.body
    (';', ('a', 'b', 'y'), '1,5;2;0\n')
    """
    if header not in (True, False, "auto"):
        raise ReadError(f"header must be True, False or 'auto', but got {header!r}.")
    table, hinted = _take_hint(text)
    if separator == "auto" and hinted:
        separator = hinted
    n_cut = text.count("\n", 0, len(text) - len(table))
    text = table
    reading = _choose(text, separator, len(names) if names else None, n_cut)
    first = [cell.strip() for cell in reading.rows[0]]
    has_header = header is True or (header == "auto" and names is None)
    if header == "auto" and has_header:
        _refuse_data_as_header(reading)
    notes: list[str] = []
    start = 0
    row_labels = trailing = False
    if has_header:
        start = _length_of_first_record(text, reading)
        row_labels, trailing = _compare_with_rows(first, reading, notes)
    found = list(first) if has_header else _numbered(reading.width)
    if row_labels:
        found.insert(0, "")
    if names is not None:
        if len(names) != len(found):
            raise ReadError(
                f"{len(names)} names were given, but the table has "
                f"{len(found)} columns."
            )
        found = [str(name) for name in names]
    return Layout(
        separator=reading.separator,
        names=tuple(found),
        body=text[start:],
        space_before_quote=reading.space_before_quote,
        row_labels=row_labels,
        trailing=trailing,
        notes=tuple(notes),
    )


def _numbered(width: int) -> list[str]:
    return [f"column_{i + 1}" for i in range(width)]


def _take_hint(text: str) -> tuple[str, str]:
    """Cut off blank lines and Excel's ``sep=;`` line before the header."""
    found = re.match(r"\s*^sep=(.)\r?\n", text, flags=re.MULTILINE | re.IGNORECASE)
    hinted = found.group(1) if found else ""
    start = found.end() if found else 0
    blank = re.compile(r"(?:[ \t]*\r?\n)*").match(text, start)
    assert blank is not None  # it matches the empty string
    return text[blank.end() :], hinted


def _sample_lines(text: str) -> tuple[list[str], bool]:
    """First lines of the text and whether the text goes on after them."""
    lines: list[str] = []
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        lines.append(text[start:end])
        start = end
        # A very wide table needs more characters for a few rows.
        enough_rows = 20 if start > _SAMPLE_CHARACTERS else _SAMPLE_ROWS
        if len(lines) >= enough_rows:
            break
    return lines, start < len(text)


def _cut(lines: list[str], separator: str, more: bool, spaced: bool) -> _Reading | None:
    """Cut the sample by one separator; None if not even one row comes of it."""
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=spaced)
    rows: list[list[str]] = []
    # A cell longer than csv allows (a very long text, an open quote) ends the sample.
    with contextlib.suppress(csv.Error):
        rows += (row for row in itertools.islice(reader, _SAMPLE_ROWS) if row)
    if more and reader.line_num >= len(lines) and len(rows) > 1:
        rows.pop()  # the sample may have ended inside it
    return _Reading(separator, rows, spaced) if rows else None


def _read_sample(text: str, separator: str) -> _Reading | None:
    lines, more = _sample_lines(text)
    plain = _cut(lines, separator, more, spaced=False)
    if not re.search(rf'(?:^|{re.escape(separator)})[ \t]+"', "".join(lines)):
        return plain
    spaced = _cut(lines, separator, more, spaced=True)
    if spaced and (plain is None or len(spaced.widths) < len(plain.widths)):
        return spaced
    return plain


def _choose(text: str, separator: str, n_names: int | None, n_cut: int) -> _Reading:
    if separator != "auto" and (len(separator) != 1 or separator in '"\r\n'):
        raise ReadError(f"The separator must be one character, but got {separator!r}.")
    candidates = list(SEPARATORS) if separator == "auto" else [separator]
    readings = [r for s in candidates if (r := _read_sample(text, s)) is not None]
    if not readings:
        raise ReadError(
            "The columns could not be told apart: a quotation mark seems to be "
            "opened and never closed."
        )
    tables = [r for r in readings if r.width > 1 and len(r.rows[0]) > 1]
    if tables:
        return max(tables, key=lambda r: r.score)
    wide = [r for r in readings if r.width > 1]
    if wide and n_names is None:
        _refuse_preamble(text, max(wide, key=lambda r: r.score), n_cut)
    return _single_column(text, readings[0], separator, n_names)


def _refuse_preamble(text: str, reading: _Reading, n_cut: int) -> None:
    lines, _ = _sample_lines(text)
    reader = csv.reader(lines, delimiter=reading.separator)
    n_before = 0
    while len(next(reader)) <= 1:
        n_before = reader.line_num
    raise ReadError(
        f"The first line has one cell, but most rows below have {reading.width}: it "
        "seems to be a title.",
        f"Use skip_rows={n_cut + n_before} to leave it out.",
        "skip_rows",
    )


def _single_column(
    text: str, reading: _Reading, separator: str, n_names: int | None
) -> _Reading:
    """Accept a table of one column, unless it is one that was not cut."""
    header = reading.rows[0][0] if reading.rows[0] else ""
    if separator != "auto":
        others = [s for s in SEPARATORS if s != separator and s in header]
        for other in others:
            cut = _read_sample(text, other)
            if cut is not None and cut.width > 1:
                raise ReadError(
                    f"The separator {separator!r} gives a single column named "
                    f"{header!r}; {other!r} ({SEPARATORS[other]}) gives {cut.width}."
                )
        return reading
    if n_names == 1:
        return reading
    for mark in (":", " ", "\t"):
        widths = {
            len(row[0].split(mark if mark != "\t" else None))
            for row in reading.rows
            if row
        }
        if len(reading.rows) > 1 and len(widths) == 1 and widths.pop() > 1:
            shown = {" ": "a space", ":": "a colon", "\t": "spaces"}[mark]
            raise ReadError(
                f"No comma, semicolon, tab or pipe separates the columns; {shown} "
                f"might. The first line is {header[:80]!r}.",
                "Give the separator by hand.",
                "separator",
            )
    return reading


def _refuse_data_as_header(reading: _Reading) -> None:
    """Raise if the first line has numbers that can't be names.

    Whole numbers that grow (0, 1, 2 or 1952, 1957, 1962) are names that people use.
    """
    first = [cell.strip() for cell in reading.rows[0]]
    numbers = [i for i, cell in enumerate(first) if _NUMBER.fullmatch(cell)]
    if not numbers:
        return
    if all(first[i].isdigit() for i in numbers):
        whole = [int(first[i]) for i in numbers]
        if all(a < b for a, b in itertools.pairwise(whole)):
            return
    below = [
        row[i].strip() for row in reading.rows[1:] for i in numbers if i < len(row)
    ]
    if len(numbers) < len(first) and not all(
        map(_NUMBER.fullmatch, filter(None, below))
    ):
        return  # the numbers stand above text, as names do
    shown = ", ".join(first[:4])
    raise ReadError(
        f"The first line ({shown}, ...) looks like data, not like column names.",
        "Use header=False to number the columns, or header=True to take it as "
        "names all the same.",
        "header",
    )


def _length_of_first_record(text: str, reading: _Reading) -> int:
    """Characters up to the end of the header, which may span lines in quotes."""
    lines, _ = _sample_lines(text)
    reader = csv.reader(
        lines,
        delimiter=reading.separator,
        skipinitialspace=reading.space_before_quote,
    )
    next(reader)
    return sum(map(len, lines[: reader.line_num]))


def _compare_with_rows(
    first: list[str], reading: _Reading, notes: list[str]
) -> tuple[bool, bool]:
    """Tell rows with one cell more than the header: labels, or a last separator."""
    rows = reading.rows[1:]
    if not rows or any(len(row) != len(first) + 1 for row in rows):
        return False, False
    if all(not row[-1].strip() for row in rows):
        notes.append("Every row ends with one separator too many; it was ignored.")
        return False, True
    notes.append("The rows have one cell more than the header: the first labels them.")
    return True, False
