"""How a file writes its numbers: decimal mark and thousands mark.

Both are decided once for the whole file, by the convention under which the most
columns are numbers.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from spam_core.data.decoding import ReadError

_SAMPLE_CELLS = 500  # of every column
_MOSTLY = 0.9  # a column with this share of numbers counts as evidence
_EXPONENT = r"([eE][+-]?\d+)?"
NARROW_SPACES = "\u00a0\u202f\u2009"  # no-break, narrow no-break and thin space
_TO_SPACE = dict.fromkeys(map(ord, NARROW_SPACES), " ")
# Whatever any convention takes for a number, and more.
_PERHAPS = re.compile(r"[+-]?[\d.,' ]*\d[\d.,' ]*([eE][+-]?\d+)?")


@dataclass(frozen=True)
class Convention:
    """How numbers are written.

    Attributes
    ----------
    decimal : str
        "." or ",".
    thousands : str or None
        None, "," or "." or " " or "'".
    """

    decimal: str = "."
    thousands: str | None = None

    @property
    def plain(self) -> bool:
        """Whether Python itself reads numbers written so."""
        return self.decimal == "." and self.thousands is None

    @property
    def pattern(self) -> str:
        """Regular expression of a whole cell (RE2 and Python)."""
        decimal = re.escape(self.decimal)
        number = rf"(\d+({decimal}\d*)?|{decimal}\d+)"
        if self.thousands is not None:
            mark = re.escape(self.thousands)
            # 0,123 is no thousand: groups start with another digit.
            number = rf"([1-9]\d{{0,2}}({mark}\d{{3}})+({decimal}\d*)?|{number})"
        return rf"^[+-]?{number}{_EXPONENT}$"

    def describe(self) -> str:
        """Return for example ``decimal comma, thousands '.'``."""
        text = "decimal comma" if self.decimal == "," else "decimal point"
        return (
            text if self.thousands is None else f"{text}, thousands {self.thousands!r}"
        )


def _possible(separator: str, decimal: str, thousands: str | None) -> list[Convention]:
    """Possible conventions, the more likely first; ties go to the first."""
    order: list[tuple[str, str | None]]
    if separator == ";":
        # Semicolons are used where the comma is the decimal mark.
        order = [(".", None), (",", None), (",", "."), (".", ",")]
    else:
        order = [(".", None), (".", ","), (",", None), (",", ".")]
    order += [(".", " "), (",", " "), (".", "'"), (",", "'")]
    if decimal != "auto":
        order = [(d, t) for d, t in order if d == decimal]
    if thousands != "auto":
        order = [(d, thousands) for d in dict(order)]
    return [Convention(d, t) for d, t in order if d != t]


def _check_marks(decimal: str, thousands: str | None) -> None:
    if decimal not in ("auto", ".", ","):
        raise ReadError(f"decimal must be 'auto', '.' or ',', but got {decimal!r}.")
    if thousands not in ("auto", None, ",", ".", " ", "'"):
        raise ReadError(
            "thousands must be 'auto', None, ',', '.', ' ' or \"'\", "
            f"but got {thousands!r}."
        )
    if decimal == thousands != "auto":
        raise ReadError(
            f"The decimal mark and the thousands mark are both {decimal!r}."
        )


def rank_conventions(
    samples: Iterable[list[str]],
    separator: str,
    decimal: str = "auto",
    thousands: str | None = "auto",
) -> tuple[Convention, ...]:
    """Put the convention first under which the most columns are numbers.

    Parameters
    ----------
    samples : iterable of list of str
        Some cells of each column, stripped, none of them missing.
    separator : str
        Separator of the file: a semicolon makes a decimal comma more likely.
    decimal, thousands : str
        Fixed by the user, or "auto".

    Returns
    -------
    tuple of Convention
        That of the file, then the others that the user's choice leaves, for columns
        that the first does not fit.

    Raises
    ------
    ReadError
        If the marks are not such marks, or are the same.

    Examples
    --------
    >>> rank_conventions([["1,5", "3,25"], ["2", "4"]], ";")[0]
    Convention(decimal=',', thousands=None)
    >>> rank_conventions([["1,234", "12,000"]], ",")[0]
    Convention(decimal='.', thousands=',')
    """
    _check_marks(decimal, thousands)
    candidates = _possible(separator, decimal, thousands)
    columns = [cells for column in samples if (cells := _number_like(column))]
    best, best_score = candidates[0], 0.0
    for candidate in candidates:
        pattern = re.compile(candidate.pattern)
        shares = [sum(map(bool, map(pattern.match, c))) / len(c) for c in columns]
        score = sum(share for share in shares if share >= _MOSTLY)
        if score > best_score + 1e-9:
            best, best_score = candidate, score
        if score == len(columns):
            break
    return (best, *(other for other in candidates if other != best))


def _number_like(column: list[str]) -> list[str]:
    """Return the cells of a column that may be numbers; nothing for a text."""
    cells = column
    if not all(map(str.isascii, column)):
        cells = [cell.translate(_TO_SPACE) for cell in column]
    numbers = sum(map(bool, map(_PERHAPS.fullmatch, cells)))
    return cells if numbers and numbers >= _MOSTLY * len(cells) else []


def sample_cells(column: Any, missing_values: Collection[str]) -> list[str]:
    """Return some stripped cells of a string column, spread over it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    step = max(len(column) // _SAMPLE_CELLS, 1)
    rows = pa.array(range(0, len(column), step), pa.int64())
    cells: list[str] = pc.utf8_trim_whitespace(column.take(rows)).to_pylist()
    return [cell for cell in cells if cell not in missing_values]
