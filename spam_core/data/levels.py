"""A column as read; its levels, where it holds no numbers, and which a cell has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spam_core.data.columns import MISSING, Kind, to_numbers
from spam_core.data.encoded import UNKNOWN, Codes, Floats
from spam_core.data.telling import warn_caller

_PLAIN = (str, bool, int, float, pd.Timestamp)
_MANY_LEVELS = 100  # fewer levels than this are never taken for an identifier


@dataclass(frozen=True)
class Column:
    """A column as read: numbers with NaN, or objects with None."""

    source: pd.Series[Any]
    kind: Kind
    numbers: Floats
    cells: NDArray[np.object_]

    @classmethod
    def of(
        cls, source: pd.Series[Any], kind: Kind, dates: bool | None = None
    ) -> Column:
        """Read a column as what training took it for; see `to_numbers`."""
        numbers, cells = np.empty(0), np.empty(0, dtype=object)
        if kind == "numeric":
            numbers = to_numbers(source, dates)
        elif kind != "constant":
            cells = to_objects(source)
        return cls(source, kind, numbers, cells)


class UnknownLevelWarning(UserWarning):
    """A row holds levels, or missing values, that training never saw."""


def tell_unknown(columns: Iterable[tuple[str, pd.Series[Any], Codes]]) -> None:
    """Warn once of all cells that training never saw.

    Parameters
    ----------
    columns : iterable of (name, cells, codes)
        Codes as of `Encoded`.
    """
    unseen = []
    for name, source, codes in columns:
        unknown = codes == UNKNOWN
        if unknown.any():
            cells = source[unknown]
            shown = pd.unique(cells.astype(object).where(cells.notna(), MISSING))
            levels = ", ".join(repr(str(level)) for level in shown[:5])
            levels += f" and {len(shown) - 5} more" if len(shown) > 5 else ""
            unseen.append(f"{name}: {levels} ({int(unknown.sum())} rows)")
    if unseen:
        warn_caller(
            "Levels that training never saw contribute 0: " + "; ".join(unseen),
            UnknownLevelWarning,
        )


def to_objects(column: pd.Series[Any]) -> NDArray[np.object_]:
    """Return a column's cells as levels, None where a value is missing.

    Levels are text, numbers, booleans or timestamps. A column that mixes text with
    other types is read as text throughout, as are intervals, tuples and the like.

    Raises
    ------
    TypeError
        If cells can't be levels: lists, dicts, sets, objects without a text.

    Examples
    --------
    >>> to_objects(pd.Series(["a", None, 2]))
    array(['a', None, '2'], dtype=object)
    """
    missing = column.isna().to_numpy()
    cells = column.astype(object).to_numpy(dtype=object).copy()
    cells[missing] = None
    present = cells[~missing]
    kinds = {type(cell) for cell in present}
    if kinds <= {str}:
        return cells
    bad = [cell for cell in present if not _is_level(cell)]
    if bad:
        raise TypeError(
            f"Column {column.name!r} has {len(bad)} cells that are neither text "
            f"nor numbers, for example {bad[0]!r}; the argument must be a string "
            "or a number."
        )
    plain = [c.item() if isinstance(c, np.generic) else c for c in present]
    mixed = any(isinstance(c, str) for c in plain)
    if mixed or not all(isinstance(c, _PLAIN) for c in plain):
        plain = [str(c) for c in plain]
    cells[~missing] = plain
    return cells


def _is_level(cell: Any) -> bool:
    """Whether a cell is a value: two with equal content have one text."""
    if isinstance(cell, list | dict | set | np.ndarray):
        return False
    methods: tuple[object, object] = (type(cell).__str__, type(cell).__repr__)
    return methods != (object.__str__, object.__repr__)


def sorted_levels(column: pd.Series[Any], cells: NDArray[np.object_]) -> list[Any]:
    """Return the levels that occur, in declared order if any, else sorted.

    Examples
    --------
    >>> column = pd.Series(pd.Categorical(["low"], ["low", "high"]))
    >>> sorted_levels(column, to_objects(column))
    ['low']
    """
    occurring = {cell: None for cell in cells if cell is not None}
    if isinstance(column.dtype, pd.CategoricalDtype):
        order = to_objects(pd.Series(column.cat.categories))
        declared = [level for level in order if level in occurring]
        if len(declared) == len(occurring):
            return declared
    try:
        return sorted(occurring)
    except TypeError:
        return sorted(occurring, key=lambda level: (type(level).__name__, str(level)))


def count_identifiers(cells: NDArray[np.object_]) -> int:
    """Return how many levels there are if most rows have their own, else 0.

    Examples
    --------
    >>> count_identifiers(np.array([f"id{i}" for i in range(200)], dtype=object))
    200
    """
    n_levels = len(set(cells) - {None})
    many = n_levels >= _MANY_LEVELS and n_levels > 0.5 * len(cells)
    return n_levels if many else 0


def look_up(levels: tuple[Any, ...], cells: NDArray[np.object_]) -> Codes:
    """Return the index of each cell's level, UNKNOWN if there is none.

    Examples
    --------
    >>> look_up(("1", "x"), np.array(["x", 1.0, "y"], dtype=object))
    array([ 1,  0, -2], dtype=int32)
    """
    index = pd.Index(list(levels), dtype=object)
    codes: Codes = index.get_indexer(pd.Index(cells, dtype=object)).astype(np.int32)
    if (codes < 0).any() and all(isinstance(level, str) for level in levels):
        # text that some reader took for numbers: 1 and 1.0 both stand for "1"
        for as_text in (str, _as_whole_number):
            lost = np.flatnonzero(codes < 0)
            texts = [as_text(cells[k]) for k in lost]
            codes[lost] = index.get_indexer(pd.Index(texts, dtype=object))
    codes[codes < 0] = UNKNOWN
    return codes


def _as_whole_number(cell: Any) -> str:
    whole = isinstance(cell, float) and cell.is_integer()
    return str(int(cell)) if whole else str(cell)
