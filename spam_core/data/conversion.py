"""Columns of strings to numbers, truth values, dates and missing cells.

Every cell of a column has to be a number (or missing) for the column to be one. What
stays text although most of it is numbers is said.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from spam_core.data.conventions import NARROW_SPACES, Convention

DEFAULT_MISSING_VALUES = (
    "",
    "?",
    "#N/A",
    "#N/A N/A",
    "#NA",
    "-1.#IND",
    "-1.#QNAN",
    "-NaN",
    "-nan",
    "1.#IND",
    "1.#QNAN",
    "<NA>",
    "N/A",
    "NA",
    "NULL",
    "NaN",
    "None",
    "n/a",
    "nan",
    "null",
)

_MOSTLY = 0.9  # share of numbers from which a text column is worth a remark
_DATE = r"^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?)?$"
_EITHER_MARK = r"^[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?$"


@dataclass(frozen=True)
class Converted:
    """One column after conversion.

    Attributes
    ----------
    values : Series
        float64, int64, bool, boolean, datetime64 or str; no cell that is read as
        missing.
    missing : dict of str to int
        How often each spelling was read as missing.
    notes : tuple of str
    """

    values: pd.Series[Any]
    missing: dict[str, int]
    notes: tuple[str, ...] = ()


def convert_column(
    name: str,
    column: Any,
    conventions: Sequence[Convention],
    missing_values: Collection[str],
    as_text: bool = False,
    dates: bool = True,
) -> Converted:
    """Convert one column.

    Parameters
    ----------
    name : str
        For the remarks.
    column : pyarrow.ChunkedArray of strings, length n
    conventions : sequence of Convention
        That of the file first; the others are tried if it does not fit.
    missing_values : collection of str
        Spellings read as missing, compared after spaces around them are removed.
    as_text : bool
        Keep the cells as they are written.
    dates : bool
        Whether text such as 2026-11-27 or 2026-11-27 18:30 is read as dates.

    Returns
    -------
    Converted
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    trimmed = pc.utf8_trim_whitespace(column)
    tokens = pa.array(sorted(missing_values), pa.string())
    absent = pc.is_in(trimmed, value_set=tokens)
    counts = pc.value_counts(trimmed.filter(absent)).to_pylist()
    missing = {entry["values"]: int(entry["counts"]) for entry in counts}
    cells = pc.if_else(absent, pa.scalar(None, pa.string()), trimmed)
    if cells.null_count == len(cells):
        return Converted(pd.Series(np.full(len(cells), np.nan), name=name), missing)
    if not as_text:
        for attempt in conventions:
            numbers = _as_numbers(cells, attempt)
            if numbers is not None:
                notes = _remarks_on_numbers(name, cells, attempt, conventions[0])
                return Converted(_to_series(name, numbers), missing, notes)
        truths = _as_truths(cells)
        if truths is not None:
            return Converted(_to_series(name, truths), missing)
        moments = _as_dates(cells) if dates else None
        if moments is not None:
            return Converted(moments.rename(name), missing)
    notes = () if as_text else _remarks_on_text(name, cells, conventions[0])
    return Converted(_to_series(name, cells), missing, notes)


def _to_series(name: str, values: Any) -> pd.Series[Any]:
    import pyarrow as pa

    series: pd.Series[Any] = values.to_pandas()
    if pa.types.is_boolean(values.type) and values.null_count:
        series = series.astype("boolean")
    return series.rename(name)


def _as_numbers(cells: Any, convention: Convention) -> Any | None:
    """Return int64 or float64 cells, or None if one of them is no number."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not convention.plain:
        for space in NARROW_SPACES if convention.thousands == " " else "":
            cells = pc.replace_substring(cells, space, " ")
        fits = pc.match_substring_regex(cells, convention.pattern)
        if not pc.all(fits).as_py():  # nulls are left aside
            return None
        if convention.thousands is not None:
            cells = pc.replace_substring(cells, convention.thousands, "")
        if convention.decimal != ".":
            cells = pc.replace_substring(cells, convention.decimal, ".")
    if _has_too_many_digits(cells):
        return None
    if cells.null_count == 0:
        try:
            return pc.cast(cells, pa.int64())
        except pa.ArrowInvalid:
            pass
    try:
        return pc.cast(cells, pa.float64())
    except pa.ArrowInvalid:
        return None


def _has_too_many_digits(cells: Any) -> bool:
    """Whether whole numbers are too long to be kept exactly, as identifiers are."""
    import pyarrow.compute as pc

    return bool(pc.any(pc.match_substring_regex(cells, r"^[+-]?\d{19,}$")).as_py())


def _as_truths(cells: Any) -> Any | None:
    import pyarrow as pa
    import pyarrow.compute as pc

    words = pc.utf8_lower(cells)
    known = pc.is_in(words, value_set=pa.array(["true", "false"]))
    if not pc.all(pc.or_(known, pc.is_null(cells))).as_py():
        return None
    return pc.equal(words, "true")


def _as_dates(cells: Any) -> pd.Series[Any] | None:
    """Return dates, or None if one cell isn't one in the order year, month, day.

    03/04/2026 is two dates, one in Europe and one in America, so it stays text.
    """
    import pyarrow.compute as pc

    if not pc.all(pc.match_substring_regex(cells, _DATE)).as_py():
        return None
    try:
        moments: pd.Series[Any] = pd.to_datetime(cells.to_pandas(), format="ISO8601")
        return moments
    except ValueError:  # a 30th of February, or a year that no clock has
        return None


def _remarks_on_numbers(
    name: str, cells: Any, used: Convention, wanted: Convention
) -> tuple[str, ...]:
    import pyarrow.compute as pc

    notes = []
    if used != wanted:
        notes.append(
            f"Column {name!r} is written with a {used.describe()}, unlike the others."
        )
    if pc.any(pc.match_substring_regex(cells, r"^0\d")).as_py():
        notes.append(
            f"Column {name!r} has numbers with leading zeros, which were dropped. "
            "If they are codes, keep the column as text."
        )
    mark = used.thousands or used.decimal
    grouped = rf"^[+-]?[1-9]\d{{0,2}}{re.escape(mark)}\d{{3}}$"
    if mark in ",." and not used.plain:
        marked = pc.match_substring(cells, mark)
        alike = pc.all(
            pc.or_(pc.invert(marked), pc.match_substring_regex(cells, grouped))
        )
        if pc.any(marked).as_py() and alike.as_py():
            first = pc.filter(cells, marked)[0].as_py()
            kind = "a thousands" if used.thousands else "the decimal"
            notes.append(
                f"Column {name!r}: {first!r} could be read in two ways; {mark!r} was "
                f"taken for {kind} mark."
            )
    return tuple(notes)


def _remarks_on_text(name: str, cells: Any, convention: Convention) -> tuple[str, ...]:
    import pyarrow.compute as pc

    notes = []
    broken = pc.sum(pc.match_substring(cells, "\n")).as_py()
    if broken:
        notes.append(f"Column {name!r} has {broken} cell(s) with line breaks inside.")
    if _has_too_many_digits(cells):
        notes.append(f"Column {name!r} has numbers of 19 digits or more; kept as text.")
        return tuple(notes)
    fits = pc.match_substring_regex(cells, convention.pattern)
    share = pc.mean(fits).as_py()
    either = pc.match_substring_regex(cells, _EITHER_MARK)
    if share < 1 and pc.all(either).as_py():
        notes.append(
            f"Column {name!r} is text because it mixes decimal commas and points."
        )
    elif _MOSTLY <= share < 1:
        odd = pc.filter(cells, pc.invert(fits)).drop_null()
        shown = ", ".join(repr(value) for value in pc.unique(odd).to_pylist()[:3])
        notes.append(
            f"Column {name!r} is text because of {len(odd)} cell(s) that are no "
            f"number: {shown}. If they mean missing, add them to the missing values."
        )
    return tuple(notes)
