"""Cells of some rows as numbers and levels, which post-hoc methods can mix and draw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from spam_core.data.columns import as_frame, check_not_empty, from_foreign
from spam_core.explain.frozen import Floats

Codes = NDArray[np.int32]


@dataclass(frozen=True)
class Cells:
    """What the cells of n rows hold.

    Attributes
    ----------
    numbers : ndarray of shape (n, d)
        User units, dates as days since 1970-01-01; NaN where a cell holds no number.
    codes : ndarray of shape (n, d), int32
        -1 a number, -2 unknown to the model, else which level: a category, a special
        code, or missing.
    """

    numbers: Floats
    codes: Codes

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: slice) -> Cells:
        return Cells(self.numbers[rows], self.codes[rows])


@dataclass(frozen=True)
class Rows:
    """Rows in user units, columns in training order, and their cells."""

    frame: pd.DataFrame
    cells: Cells

    def __len__(self) -> int:
        return len(self.cells)

    def __getitem__(self, rows: slice) -> Rows:
        return Rows(self.frame.iloc[rows], self.cells[rows])


def read_table(X: Any, what: str) -> tuple[pd.DataFrame, bool]:
    """Return a dense table as a frame, and whether it brought labels.

    Parameters
    ----------
    X : table of n rows
    what : str
        Its name in errors.

    Raises
    ------
    TypeError, ValueError
        If it isn't a table, or is empty.
    """
    if isinstance(X, pd.Series):
        raise TypeError(
            f"{what} must be a table, got a Series: pass one row as frame.iloc[[3]], "
            "not as frame.iloc[3]."
        )
    if sp.issparse(X):
        raise TypeError(f"{what} must be a dense table, got a sparse matrix")
    try:
        frame, named = as_frame(X)
        check_not_empty(frame.shape)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{what}: {error}") from error
    return frame, named


def sample_background(X: Any, max_rows: int = 100, seed: int = 0) -> Any:
    """Draw real rows for a background, so that several methods can share one.

    Parameters
    ----------
    X : DataFrame or array-like of shape (n, d)
        Training rows.
    max_rows : int, default=100
        A table with no more rows is returned as it is.
    seed : int, default=0

    Returns
    -------
    DataFrame, or ndarray if `X` is no frame, of shape (min(n, max_rows), d)
        Rows of `X` without repetition, in their order; never averages.

    Raises
    ------
    ValueError
        If `max_rows` or `seed` isn't a possible number, or the table is empty.

    Examples
    --------
    >>> sample_background(np.arange(10)[:, None], 3).ravel().tolist()
    [5, 6, 9]
    """
    check_count("max_rows", max_rows, 1)
    check_seed(seed)
    n = len(read_table(X, "background")[0])
    if n <= max_rows:
        return X
    X = from_foreign(X)
    chosen = np.sort(np.random.default_rng(seed).choice(n, max_rows, replace=False))
    return X.iloc[chosen] if isinstance(X, pd.DataFrame) else np.asarray(X)[chosen]


def check_count(name: str, value: object, least: int) -> int:
    """Return a whole number that isn't below `least`.

    Raises
    ------
    ValueError
        If it isn't one; booleans aren't.
    """
    if (
        isinstance(value, bool)
        or not isinstance(value, int | np.integer)
        or value < least
    ):
        raise ValueError(f"{name} must be an integer >= {least}, got {value!r}")
    return int(value)


def check_seed(seed: object) -> int:
    """Return a seed that NumPy's legacy generator takes.

    Raises
    ------
    ValueError
        If it isn't an integer in 0..2**32 - 1.
    """
    value = check_count("seed", seed, 0)
    if value >= 2**32:
        raise ValueError(f"seed must be below 2**32, got {value}")
    return value
