"""Sparse tables, such as word counts: encoded without ever being dense."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from spam_core.data.columns import check_not_empty, check_width
from spam_core.data.encoded import NUMBER, Encoded
from spam_core.data.feature import Feature, Scaling

_MOST_DENSE = 5_000  # columns up to which a few rows may be written out


@dataclass(frozen=True)
class SparseRows:
    """Rows of which only the cells that aren't 0 are held (CSR).

    Attributes
    ----------
    start : Tensor of shape (n + 1,), int64
        Row i has the entries start[i] to start[i + 1].
    columns : Tensor of shape (nnz,), int64
    values : Tensor of shape (nnz,)
        Scaled numbers.
    n_features : int
    """

    start: Tensor
    columns: Tensor
    values: Tensor
    n_features: int

    def __len__(self) -> int:
        return len(self.start) - 1

    def __getitem__(self, rows: Tensor | slice) -> SparseRows:
        if isinstance(rows, slice):
            rows = torch.arange(len(self), device=self.start.device)[rows]
        first, lengths = self.start[rows], self.start[rows + 1] - self.start[rows]
        start = torch.cat([lengths.new_zeros(1), lengths.cumsum(0)])
        shift = (first - start[:-1]).repeat_interleave(lengths)
        entries = torch.arange(int(start[-1]), device=shift.device) + shift
        return SparseRows(
            start, self.columns[entries], self.values[entries], self.n_features
        )

    def to(self, device: torch.device | str, dtype: torch.dtype) -> SparseRows:
        """Move to a device and cast the values."""
        return SparseRows(
            self.start.to(device),
            self.columns.to(device),
            self.values.to(device, dtype),
            self.n_features,
        )

    @property
    def unknown(self) -> Tensor:
        """Nothing: every cell of a sparse table is a number."""
        return torch.zeros(0, self.n_features, dtype=torch.bool)

    def take(self, features: Tensor) -> Tensor:
        """Write out some columns: (n, m).

        Examples
        --------
        >>> rows = SparseEncoder().fit_transform([[0.0, 4.0, 1.0], [5.0, 2.0, 0.0]])
        >>> rows.take(torch.tensor([1, 2])).tolist()
        [[4.0, 1.0], [2.0, 0.0]]
        """
        place = torch.full((self.n_features,), -1)
        place[features] = torch.arange(len(features))
        column = place[self.columns]
        wanted = column >= 0
        row = torch.arange(len(self)).repeat_interleave(self.start.diff())
        values = self.values.new_zeros(len(self), len(features))
        values[row[wanted], column[wanted]] = self.values[wanted]
        return values

    def dense(self) -> Encoded:
        """Write the rows out.

        Raises
        ------
        ValueError
            If there are more than 5,000 columns.
        """
        if self.n_features > _MOST_DENSE:
            raise ValueError(
                f"Expected at most {_MOST_DENSE:,} columns to work on each of them, "
                f"got {self.n_features:,}."
            )
        values = self.values.new_zeros(len(self), self.n_features)
        lengths = self.start[1:] - self.start[:-1]
        row = torch.arange(len(self)).repeat_interleave(lengths)
        values[row, self.columns] = self.values
        codes = torch.full(values.shape, NUMBER, dtype=torch.int32)
        return Encoded(values, codes)


class NamedCSR(sp.csr_matrix):  # type: ignore[misc]
    """A sparse table whose columns have names, such as words.

    Rows taken from it keep the names. Estimators take the names from it, so that their
    explanations say ``("hockey",)`` instead of ``("x812",)``.

    Parameters
    ----------
    *args, **kwargs
        As for ``scipy.sparse.csr_matrix``.
    feature_names : sequence of str, optional
        One for each column, all different.

    Raises
    ------
    ValueError
        If there are more or fewer names than columns, or one comes twice.

    Examples
    --------
    >>> table = NamedCSR([[0.0, 2.0], [1.0, 0.0]], feature_names=["ice", "puck"])
    >>> table[1:].feature_names
    ('ice', 'puck')
    """

    def __init__(
        self, *args: Any, feature_names: Sequence[str] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.feature_names: tuple[str, ...] | None = None
        if feature_names is not None:
            self.feature_names = _checked_names(feature_names, self.shape[1])

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        rows_alone = not isinstance(key, tuple)
        if rows_alone and isinstance(found, NamedCSR):
            found.feature_names = self.feature_names
        return found


class SparseEncoder:
    """Scale a sparse table, keeping zeros.

    Parameters
    ----------
    scaling : {"quantile", "minmax", "maxabs", "none"}
        The first two would move 0. Instead they divide the whole table by one number,
        the root mean square of the cells that aren't 0: such cells are then about 1,
        whatever the weighting of words, and rare words stay as heavy as it made them.
        "maxabs" divides each column by its largest absolute value.

    Notes
    -----
    Words of a single document are kept: what is special about a document is learnt
    through them, and other words are spared it. On the 20 newsgroups they are worth
    half a percent of accuracy.

    Examples
    --------
    >>> X = sp.csr_matrix([[0.0, 4.0], [0.0, 2.0]])
    >>> rows = SparseEncoder("maxabs").fit_transform(X)
    >>> rows.values, rows.columns
    (tensor([1.0000, 0.5000], dtype=torch.float64), tensor([1, 1]))
    """

    marginals = None
    named = False

    def __init__(self, scaling: Scaling = "none") -> None:
        self.scaling = scaling
        self.size = 1.0

    def fit_transform(
        self,
        X: Any,
        sample_weight: NDArray[np.float64] | None = None,  # noqa: ARG002 - no moments
    ) -> SparseRows:
        """Fit on training rows and return them encoded.

        Raises
        ------
        ValueError
            If cells are missing or infinite; their number is said.
        """
        table = _as_csr(X)
        check_not_empty(table.shape)
        largest = np.asarray(abs(table).max(axis=0).todense()).ravel()
        size = 1.0
        if self.scaling in ("quantile", "minmax") and len(table.data):
            size = float(np.sqrt(np.mean(table.data**2))) or 1.0
        self.set_columns(largest, size, getattr(X, "feature_names", None))
        return self.transform(table)

    def set_columns(
        self,
        largest: NDArray[np.float64],
        size: float = 1.0,
        names: Sequence[str] | None = None,
    ) -> None:
        """Set what was fitted.

        Parameters
        ----------
        largest : ndarray of shape (d,)
            Largest absolute value of each column; 0 for one without a weight.
        size : float
            What the whole table is divided by.
        names : sequence of str, optional
            Without them columns are called ``x0, x1, ...``.
        """
        self.largest, self.size = largest, size
        self.named = names is not None
        if names is None:
            names = [f"x{i}" for i in range(len(largest))]
        self.features = tuple(
            Feature(name, "numeric", knots=np.array([0.0, most]), scale=most)
            if most > 0
            else Feature(name, "constant")
            for name, most in zip(names, largest.tolist(), strict=True)
        )

    def set_names(self, names: Sequence[str]) -> None:
        """Name the columns.

        Raises
        ------
        ValueError
            If there are more or fewer names than columns, or one comes twice.
        """
        self.set_columns(
            self.largest, self.size, _checked_names(names, len(self.largest))
        )

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The table's names, or made-up ones: ``x0, x1, ...``."""
        return tuple(feature.name for feature in self.features)

    def transform(self, X: Any) -> SparseRows:
        """Encode rows, sparse or dense, of as many columns as in training."""
        table = _as_csr(X)
        width = len(self.features)
        check_width(table.shape[1], width)
        return SparseRows(
            torch.from_numpy(table.indptr.astype(np.int64)),
            torch.from_numpy(table.indices.astype(np.int64)),
            torch.from_numpy(table.data / self._scale(table.indices)),
            width,
        )

    def align(self, X: Any) -> pd.DataFrame:
        """Return rows as a labelled frame, for a table that isn't wide."""
        values = self.transform(X).dense().values.numpy()
        scale = self._scale(np.arange(len(self.features)))
        return pd.DataFrame(values * scale, columns=list(self.feature_names))

    def to_user(
        self, values: NDArray[np.float64], columns: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Undo the scaling of some cells, given the column of each."""
        scaled: NDArray[np.float64] = values * self._scale(columns)
        return scaled

    def _scale(self, columns: NDArray[Any]) -> Any:
        if self.scaling != "maxabs":
            return self.size
        return np.where(self.largest > 0, self.largest, 1.0)[columns]


def _checked_names(names: Sequence[str], width: int) -> tuple[str, ...]:
    """Return names as text, one a column and all different."""
    checked = tuple(map(str, names))
    if len(checked) != width:
        raise ValueError(
            f"Expected a name for each of {width:,} columns, got {len(checked):,}"
        )
    twice = len(checked) - len(set(checked))
    if twice:
        raise ValueError(f"Expected different names, got {twice:,} more than once")
    return checked


def _as_csr(X: Any) -> Any:
    """Return float64 CSR with one entry a cell and no stored zeros."""
    table = sp.csr_matrix(X, dtype=np.float64, copy=True)
    table.sum_duplicates()
    bad = int((~np.isfinite(table.data)).sum())
    if bad:
        raise ValueError(
            f"The sparse table has {bad} missing (NaN) or infinite (inf) cells; "
            "expected finite numbers."
        )
    table.eliminate_zeros()
    return table
