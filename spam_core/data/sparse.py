"""Sparse tables, such as word counts: encoded without ever being dense."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from spam_core.data.columns import check_not_empty, check_width
from spam_core.data.encoded import NUMBER, Encoded
from spam_core.data.feature import Feature

SparseScaling = Literal["maxabs", "none"]
SPARSE_SCALINGS: tuple[SparseScaling, ...] = ("maxabs", "none")
"""Scalings that keep 0 at 0."""

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


class SparseEncoder:
    """Scale the columns of a sparse table, keeping zeros.

    Parameters
    ----------
    scaling : {"maxabs", "none"}
        Divide each column by its largest absolute value, or by nothing.

    Examples
    --------
    >>> X = sp.csr_matrix([[0.0, 4.0], [0.0, 2.0]])
    >>> rows = SparseEncoder("maxabs").fit_transform(X)
    >>> rows.values, rows.columns
    (tensor([1.0000, 0.5000], dtype=torch.float64), tensor([1, 1]))
    """

    marginals = None
    named = False

    def __init__(self, scaling: SparseScaling = "none") -> None:
        self.scaling = scaling

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
        self.set_largest(np.asarray(abs(table).max(axis=0).todense()).ravel())
        return self.transform(table)

    def set_largest(self, largest: NDArray[np.float64]) -> None:
        """Set the columns from their largest absolute values, (d,)."""
        self.largest = largest
        self.features = tuple(
            Feature(f"x{i}", "numeric", knots=np.array([0.0, size]), scale=float(size))
            if size > 0
            else Feature(f"x{i}", "constant")
            for i, size in enumerate(largest)
        )

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Made-up names ``x0, x1, ...``: a sparse matrix has none."""
        return tuple(feature.name for feature in self.features)

    def transform(self, X: Any) -> SparseRows:
        """Encode rows, sparse or dense, of as many columns as in training."""
        table = _as_csr(X)
        width = len(self.features)
        check_width(table.shape[1], width)
        values = table.data
        if self.scaling == "maxabs":
            scale = np.where(self.largest > 0, self.largest, 1.0)
            values = values / scale[table.indices]
        return SparseRows(
            torch.from_numpy(table.indptr.astype(np.int64)),
            torch.from_numpy(table.indices.astype(np.int64)),
            torch.from_numpy(values),
            width,
        )

    def align(self, X: Any) -> pd.DataFrame:
        """Return rows as a labelled frame, for a table that isn't wide."""
        frame: pd.DataFrame = pd.DataFrame(
            self.transform(X).dense().values.numpy(), columns=list(self.feature_names)
        )
        if self.scaling == "maxabs":
            frame = frame * np.where(self.largest > 0, self.largest, 1.0)
        return frame


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
