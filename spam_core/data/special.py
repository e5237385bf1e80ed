"""Numbers that stand for no quantity: which of a table's numbers look like codes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spam_core.data.columns import as_frame, column_kind, holds_dates, to_numbers

_MOST_CODES = 5  # of a column, at either end
_LEAST_OTHERS = 6  # numbers that make a quantity of a column
_LARGEST = 1e9
_LEAST_SHARE = 0.002  # of the rows that hold a code: a spike, not a stray value


def suggest_special_values(X: Any) -> dict[str, tuple[float, ...]]:
    """Find numbers that look like codes, such as -9 for "no record" or 9999.

    A suggestion, to be looked at: whole numbers, at most five at either end, each held
    by at least two rows and two in a thousand, all of them by fewer rows than the other
    numbers. They lie below or above these by more than their range, or are the only
    negative ones and more than 1 below.

    Parameters
    ----------
    X : DataFrame, polars or pyarrow table, or array-like of shape (n, d)

    Returns
    -------
    dict of str to tuple of float
        As estimators take it for `special_values`; only columns that have some.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"months": [-9, -7, *range(40), -9, -7], "age": [*range(44)]})
    >>> suggest_special_values(X)
    {'months': (-9.0, -7.0)}
    """
    frame = as_frame(X)[0]
    found = {}
    for i, name in enumerate(frame.columns):
        column = frame.iloc[:, i]
        if column_kind(column) == "numeric" and not holds_dates(column):
            numbers = to_numbers(column)
            codes = _codes_of(numbers[np.isfinite(numbers)])
            if codes:
                found[name] = codes
    return found


def _codes_of(numbers: NDArray[np.float64]) -> tuple[float, ...]:
    values, counts = np.unique(numbers, return_counts=True)
    likely = (values == np.round(values)) & (np.abs(values) < _LARGEST)
    spike = likely & (counts >= max(2, _LEAST_SHARE * len(numbers)))
    below = _below(values, counts, spike, signed=True)
    above = _below(-values[::-1], counts[::-1], spike[::-1], signed=False)
    return (*below, *(-code for code in reversed(above)))


def _below(
    values: NDArray[np.float64],
    counts: NDArray[np.int64],
    spike: NDArray[np.bool_],
    signed: bool,
) -> list[float]:
    """Return the most of the lowest values that are codes below all others."""
    for k in range(min(_MOST_CODES, len(values) - _LEAST_OTHERS), 0, -1):
        rest, code = values[k:], values[k - 1]
        if not spike[:k].all() or counts[:k].sum() > counts[k:].sum():
            continue
        gap = rest[0] / 2 - code / 2  # halves: no difference overflows
        negative = signed and code < 0 <= rest[0] and gap > 0.5
        if negative or gap > rest[-1] / 2 - rest[0] / 2:
            return [float(value) for value in values[:k]]
    return []
