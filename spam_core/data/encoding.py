"""From a user's table to tensors, and back to user units.

A row becomes two numbers a feature: a scaled `value` where the cell holds an ordinary
number, and the `code` of a level where it holds a category, a special code or nothing.
Every feature map starts from these, so missing and unknown cells follow one rule.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from spam_core.data.columns import (
    MISSING,
    Kind,
    as_frame,
    check_not_empty,
    column_kind,
    sorted_levels,
    to_numbers,
    to_objects,
)
from spam_core.data.marginals import choose_knots, gauss_nodes

Scaling = Literal["quantile", "minmax", "maxabs", "none"]
SCALINGS: tuple[Scaling, ...] = ("quantile", "minmax", "maxabs", "none")

NUMBER = -1
"""Code of a cell that holds an ordinary number."""
UNKNOWN = -2
"""Code of a cell that training never saw: a new level, or a first missing value."""

_FINE_CELLS = 1024  # resolution of a marginal where the map isn't piecewise linear
_MANY_LEVELS = 100  # fewer levels than this are never taken for an identifier


class UnknownLevelWarning(UserWarning):
    """A row holds levels, or missing values, that training never saw."""


@dataclass(frozen=True)
class Feature:
    """One source feature as fitted on the training rows.

    Attributes
    ----------
    name : str
        Column name.
    kind : {"numeric", "categorical", "boolean", "constant"}
        A constant feature has no levels and no knots, and never contributes.
    levels : tuple
        What one-hot columns stand for: categories or special codes in user units, and
        None, last, if training saw a missing value.
    knots : ndarray of shape (K + 1,)
        User units, increasing; K cells. Empty unless the feature has numbers.
    scale : float
        Divisor for ``scaling="maxabs"``.
    is_date, is_integer : bool
        How user units are shown.
    """

    name: str
    kind: Kind
    levels: tuple[Any, ...] = ()
    knots: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    scale: float = 1.0
    is_date: bool = False
    is_integer: bool = False

    @property
    def n_cells(self) -> int:
        """Cells between knots; 0 if numbers don't vary."""
        return max(len(self.knots) - 1, 0)

    @property
    def level_names(self) -> tuple[str, ...]:
        """Levels as shown, `missing` for None."""
        return tuple(MISSING if v is None else show_value(v) for v in self.levels)

    def to_scaled(
        self, numbers: NDArray[np.float64], scaling: Scaling
    ) -> NDArray[np.float64]:
        """Scale user units; out-of-range values are clipped unless unbounded."""
        if scaling == "none":
            return numbers
        if scaling == "maxabs":
            return numbers / self.scale
        if not self.n_cells:
            return np.zeros_like(numbers)
        grid = np.linspace(0.0, 1.0, len(self.knots))
        return np.interp(numbers, self.knots, grid)

    def to_user(
        self, scaled: NDArray[np.float64], scaling: Scaling
    ) -> NDArray[np.float64]:
        """Undo `to_scaled`; dates stay days since 1970-01-01.

        Examples
        --------
        >>> age = Feature("age", "numeric", knots=np.array([20.0, 30.0, 80.0]))
        >>> age.to_user(age.to_scaled(np.array([25.0, 90.0]), "quantile"), "quantile")
        array([25., 80.])
        """
        if scaling == "none":
            return scaled
        if scaling == "maxabs":
            return scaled * self.scale
        if not self.n_cells:
            value = self.knots[0] if len(self.knots) else np.nan
            return np.full_like(scaled, value)
        return np.interp(scaled, np.linspace(0.0, 1.0, len(self.knots)), self.knots)


def show_value(value: Any) -> str:
    """Show a cell as a short text: ``2.0`` as ``2``, None as ``missing``."""
    if value is None:
        return MISSING
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, float | np.floating):
        return MISSING if np.isnan(value) else f"{value:.6g}"
    return str(value)


@dataclass(frozen=True)
class Encoded:
    """Rows as tensors.

    Attributes
    ----------
    values : Tensor of shape (n, d)
        Scaled numbers; 0 where a cell holds none.
    codes : Tensor of shape (n, d), int32
        -1 a number, -2 unknown, else the index of the feature's level.
    """

    values: Tensor
    codes: Tensor

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: Tensor | slice) -> Encoded:
        return Encoded(self.values[rows], self.codes[rows])

    def to(self, device: torch.device | str, dtype: torch.dtype) -> Encoded:
        """Move to a device and cast the values."""
        return Encoded(self.values.to(device, dtype), self.codes.to(device))

    @property
    def unknown(self) -> Tensor:
        """Mask of shape (n, d): cells that training never saw."""
        return self.codes == UNKNOWN


@dataclass(frozen=True)
class Marginals:
    """Each feature's training distribution as weighted nodes.

    Attributes
    ----------
    nodes : Encoded of shape (N, d)
        Row k, column i is node k of feature i; features don't belong together in a row.
    weights : Tensor of shape (N, d), float64
        Columns sum to 1; padding has weight 0.
    """

    nodes: Encoded
    weights: Tensor


class TableEncoder:
    """Fit levels, knots and marginals on training rows; encode any rows.

    Parameters
    ----------
    n_knots : int or "auto"
        Cells a numeric column is cut into. Auto: 128 from 10,000 rows on if there are
        at most 20 columns, else ``min(64, max(8, 20000 // d))``.
    scaling : {"quantile", "minmax", "maxabs", "none"}
        Quantile and min-max map the training range to [0, 1] and clip beyond it; the
        other two are unbounded.
    special_values : mapping of column name to sequence of numbers, optional
        Codes that aren't quantities (such as -9 for "no record"); each becomes a level.
    fine_marginals : bool
        Keep up to 1,024 cells a marginal. Needed where a map isn't piecewise linear
        between the knots.

    Examples
    --------
    >>> X = pd.DataFrame({"age": [20.0, 40.0, None], "sex": ["f", "m", "f"]})
    >>> encoder = TableEncoder().fit(X)
    >>> encoder.transform(X).values[:, 0]
    tensor([0., 1., 0.], dtype=torch.float64)
    >>> encoder.transform(X).codes.tolist()
    [[-1, 0], [-1, 1], [0, 0]]
    """

    def __init__(
        self,
        n_knots: int | Literal["auto"] = "auto",
        scaling: Scaling = "quantile",
        special_values: Mapping[str, Sequence[float]] | None = None,
        fine_marginals: bool = False,
    ) -> None:
        self.n_knots = n_knots
        self.scaling = scaling
        self.special_values = special_values
        self.fine_marginals = fine_marginals

    def fit(
        self, X: Any, sample_weight: NDArray[np.float64] | None = None
    ) -> TableEncoder:
        """Fit on training rows.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n, d)
            Training rows.
        sample_weight : ndarray of shape (n,), optional
            Weigh the marginals; knots and levels don't depend on it.

        Raises
        ------
        ValueError
            Empty table, duplicate labels, infinite cells, unknown special columns.
        TypeError
            Cells that are neither text nor numbers.
        """
        if self.scaling not in SCALINGS:
            raise ValueError(
                f"scaling must be one of {list(SCALINGS)}, got {self.scaling!r}"
            )
        frame, self.named = as_frame(X)
        n, d = frame.shape
        check_not_empty(frame.shape)
        special = dict(self.special_values or {})
        strangers = [str(name) for name in special if str(name) not in frame.columns]
        if strangers:
            raise ValueError(
                f"special_values names columns that the table doesn't have: {strangers}"
            )
        cells = self._cells(n, d)
        weight = np.ones(n) if sample_weight is None else sample_weight
        weight = weight / weight.sum()
        features, columns, marginals = [], [], []
        for i, name in enumerate(frame.columns):
            feature = self._fit_column(frame.iloc[:, i], cells, special.get(name, ()))
            features.append(feature)
            values, codes = self._encode(feature, frame.iloc[:, i])
            columns.append((values, codes))
            marginals.append(self._marginal(feature, values, codes, weight))
        self.features: tuple[Feature, ...] = tuple(features)
        self.marginals = _pad(marginals)
        self.train_ = _stack(columns)
        constant = [f.name for f in features if f.kind == "constant"]
        if constant:
            warnings.warn(
                f"These columns are constant, all missing or identifiers, so they "
                f"can't contribute: {constant}",
                UserWarning,
                stacklevel=2,
            )
        return self

    def fit_transform(
        self, X: Any, sample_weight: NDArray[np.float64] | None = None
    ) -> Encoded:
        """Fit, and return the training rows encoded."""
        self.fit(X, sample_weight)
        train = self.train_
        del self.train_
        return train

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Column names in training order."""
        return tuple(feature.name for feature in self.features)

    def align(self, X: Any) -> pd.DataFrame:
        """Return the training columns of `X` in training order.

        Labelled columns go by name, arrays by position.

        Raises
        ------
        ValueError
            If a column is missing or an array has another width.
        """
        frame, named = as_frame(X)
        names = list(self.feature_names)
        if named and self.named:
            missing = [name for name in names if name not in frame.columns]
            if missing:
                raise ValueError(
                    f"Expected the columns used in training; {len(missing)} are "
                    f"missing: {missing}. Got columns {frame.columns.tolist()}."
                )
            return frame[names]
        if frame.shape[1] != len(names):
            raise ValueError(
                f"X has {frame.shape[1]} features, but the model is expecting "
                f"{len(names)} features as input."
            )
        return frame.set_axis(pd.Index(names), axis=1)

    def transform(self, X: Any) -> Encoded:
        """Encode rows; cells that training never saw are marked and warned of once.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n, d)
            Rows; labelled columns may come in any order.

        Returns
        -------
        Encoded
            Of n rows and d features, float64.
        """
        frame = self.align(X)
        columns, unseen = [], []
        for i, feature in enumerate(self.features):
            values, codes = self._encode(feature, frame.iloc[:, i])
            columns.append((values, codes))
            unknown = codes == UNKNOWN
            if unknown.any():
                cells = frame.iloc[:, i][unknown]
                shown = pd.unique(cells.astype(object).where(cells.notna(), MISSING))
                levels = ", ".join(repr(str(level)) for level in shown[:5])
                unseen.append(f"{feature.name}: {levels} ({int(unknown.sum())} rows)")
        if unseen:
            warnings.warn(
                "Levels that training never saw contribute 0: " + "; ".join(unseen),
                UnknownLevelWarning,
                stacklevel=2,
            )
        return _stack(columns)

    def _cells(self, n: int, d: int) -> int:
        if self.n_knots == "auto":
            return 128 if n >= 10_000 and d <= 20 else min(64, max(8, 20_000 // d))
        if not isinstance(self.n_knots, int | np.integer) or self.n_knots < 1:
            raise ValueError(
                f'n_knots must be "auto" or a positive integer, got {self.n_knots!r}'
            )
        return int(self.n_knots)

    def _fit_column(
        self, column: pd.Series, cells: int, special: Sequence[float]
    ) -> Feature:
        name, kind = str(column.name), column_kind(column)
        has_missing = bool(column.isna().any())
        last = (None,) if has_missing else ()
        if kind != "numeric":
            if len(special):
                raise ValueError(
                    f"special_values needs a numeric column; {name!r} is {kind}"
                )
            objects = to_objects(column)
            levels = sorted_levels(column, objects)
            identifier = len(levels) >= _MANY_LEVELS and len(levels) > 0.5 * len(column)
            if identifier or len(levels) + has_missing < 2:
                return Feature(name, "constant")
            return Feature(name, kind, (*levels, *last))
        numbers = to_numbers(column)
        is_special = np.isin(numbers, np.asarray(special, dtype=np.float64))
        codes = tuple(float(v) for v in np.unique(numbers[is_special]))
        ordinary = numbers[~np.isnan(numbers) & ~is_special]
        tags: tuple[Any, ...] = (*codes, *last)
        integer = bool(len(ordinary)) and bool(np.all(ordinary == np.round(ordinary)))
        is_date = not pd.api.types.is_numeric_dtype(column.dtype) and (
            pd.api.types.is_datetime64_any_dtype(column.dtype)
            or pd.api.types.infer_dtype(column, skipna=True)
            in {"datetime", "datetime64", "date"}
        )
        if not len(ordinary):
            knots = np.empty(0)
        elif self.scaling == "minmax":
            low, high = ordinary.min(), ordinary.max()
            knots = np.linspace(low, high, cells + 1) if high > low else ordinary[:1]
        else:
            knots = choose_knots(ordinary, cells)
        largest = float(np.abs(ordinary).max()) if len(ordinary) else 0.0
        if len(knots) < 2 and len(tags) + bool(len(ordinary)) < 2:
            return Feature(name, "constant")
        return Feature(name, "numeric", tags, knots, largest or 1.0, is_date, integer)

    def _encode(
        self, feature: Feature, column: pd.Series
    ) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        n = len(column)
        if feature.kind == "constant":
            return np.zeros(n), np.full(n, NUMBER, dtype=np.int32)
        has_missing = bool(feature.levels) and feature.levels[-1] is None
        missing_code = len(feature.levels) - 1 if has_missing else UNKNOWN
        if feature.kind == "numeric":
            numbers = to_numbers(column)
            codes = np.full(n, NUMBER, dtype=np.int32)
            for k, level in enumerate(feature.levels):
                if level is not None:
                    codes[numbers == level] = k
            codes[np.isnan(numbers)] = missing_code
            ordinary = codes == NUMBER
            if not len(feature.knots):  # training saw levels only
                codes[ordinary] = UNKNOWN
                return np.zeros(n), codes
            values = np.zeros(n)
            values[ordinary] = feature.to_scaled(numbers[ordinary], self.scaling)
            return values, codes
        cells = to_objects(column)
        levels = feature.levels[:-1] if has_missing else feature.levels
        if feature.kind == "categorical" and all(isinstance(v, str) for v in levels):
            cells = np.array(
                [None if c is None else str(c) for c in cells], dtype=object
            )
        index = pd.Index(list(levels), dtype=object)
        codes = index.get_indexer(pd.Index(cells, dtype=object)).astype(np.int32)
        codes[codes < 0] = UNKNOWN
        codes[np.array([c is None for c in cells], dtype=bool)] = missing_code
        return np.zeros(n), codes

    def _marginal(
        self,
        feature: Feature,
        values: NDArray[np.float64],
        codes: NDArray[np.int32],
        weight: NDArray[np.float64],
    ) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.float64]]:
        """Nodes of one feature: positions, codes and weights."""
        number = codes == NUMBER
        level_mass = np.bincount(
            codes[~number], weights=weight[~number], minlength=len(feature.levels)
        )
        nodes, mass = np.empty(0), np.empty(0)
        if number.any():
            z, w = values[number], weight[number]
            bounded = self.scaling in ("quantile", "minmax")
            if self.fine_marginals or not bounded:
                grid = choose_knots(z, _FINE_CELLS)
                position = np.interp(z, grid, np.arange(len(grid)))
                nodes, mass = gauss_nodes(position, w, len(grid) - 1)
                nodes = np.interp(nodes, np.arange(len(grid)), grid)
            else:
                cells = max(feature.n_cells, 1)
                nodes, mass = gauss_nodes(z * cells, w, cells)
                nodes = nodes / cells
        n_levels = len(feature.levels)
        all_nodes = np.concatenate([nodes, np.zeros(n_levels)])
        all_codes = np.concatenate(
            [np.full(len(nodes), NUMBER), np.arange(n_levels)]
        ).astype(np.int32)
        return all_nodes, all_codes, np.concatenate([mass, level_mass])


def _stack(
    columns: list[tuple[NDArray[np.float64], NDArray[np.int32]]],
) -> Encoded:
    values = np.stack([values for values, _ in columns], axis=1)
    codes = np.stack([codes for _, codes in columns], axis=1)
    return Encoded(torch.from_numpy(values), torch.from_numpy(codes))


def _pad(
    marginals: list[tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.float64]]],
) -> Marginals:
    size = max(len(mass) for *_, mass in marginals)
    shape = (size, len(marginals))
    values, weights = np.zeros(shape), np.zeros(shape)
    codes = np.full(shape, NUMBER, dtype=np.int32)
    for i, (nodes, node_codes, mass) in enumerate(marginals):
        # padding repeats the feature's first node, so it never leaves the range
        values[:, i], codes[:, i] = nodes[0], node_codes[0]
        values[: len(nodes), i] = nodes
        codes[: len(nodes), i] = node_codes
        weights[: len(mass), i] = mass
    return Marginals(
        Encoded(torch.from_numpy(values), torch.from_numpy(codes)),
        torch.from_numpy(weights),
    )
