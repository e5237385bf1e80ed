"""What reading a file found out about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import pandas as pd

from spam_core.data.layout import SEPARATORS


@dataclass(frozen=True)
class Detected:
    r"""What was found out about a file.

    Attributes
    ----------
    format : {"csv", "parquet"}
    n_rows, n_columns : int
        Size of the frame.
    encoding, separator, decimal : str or None
        None for Parquet.
    thousands : str or None
        None also where numbers have no thousands mark.
    line_end : str or None
        ``"\n"``, ``"\r\n"`` or ``"\r"``; None for Parquet.
    missing : dict of str to int
        Cells read as missing, of every column that has any.
    missing_spellings : dict of str to int
        The same cells by how they are written (CSV only): ``{"": 11, "NA": 2}``.
    notes : tuple of str
        Sentences for the user: what was ambiguous, left out or named.
    """

    format: str
    n_rows: int
    n_columns: int
    encoding: str | None = None
    separator: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    line_end: str | None = None
    missing: dict[str, int] = field(default_factory=dict)
    missing_spellings: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def n_missing(self) -> int:
        """Number of cells read as missing."""
        return sum(self.missing.values())

    def describe(self) -> str:
        r"""Return one line to show beside the table.

        Examples
        --------
        >>> Detected("csv", 2, 3, "utf-8", ";", ",", None, "\n", {"a": 1}).describe()
        'CSV, utf-8, separator semicolon, decimal comma; 2 rows, 3 columns; 1 cell
        read as missing'
        """
        kind = "Parquet"
        if self.format == "csv":
            assert self.separator is not None  # every CSV has one
            mark = SEPARATORS.get(self.separator, repr(self.separator))
            point = "comma" if self.decimal == "," else "point"
            kind = f"CSV, {self.encoding}, separator {mark}, decimal {point}"
            if self.thousands:
                kind += f", thousands {self.thousands!r}"
        lost = f"{_count(self.n_missing, 'cell')} read as missing"
        if self.missing_spellings:
            top = sorted(self.missing_spellings.items(), key=lambda kv: -kv[1])
            shown = [
                f"{n:,} {spelling!r}" if spelling else f"{n:,} empty"
                for spelling, n in top
            ]
            lost += f" ({', '.join(shown)})"
        size = f"{_count(self.n_rows, 'row')}, {_count(self.n_columns, 'column')}"
        return f"{kind}; {size}; {lost}"


class ReadResult(NamedTuple):
    """A table and what was found out about its file."""

    frame: pd.DataFrame
    detected: Detected


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
