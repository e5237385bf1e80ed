"""From a user's table to tensors, and back to user units.

A row becomes two numbers a feature: a scaled `value` where the cell holds an ordinary
number, and the `code` of a level where it holds a category, a special code or nothing.
Every feature map starts from these, so missing and unknown cells follow one rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spam_core.data.columns import (
    MISSING,
    as_frame,
    check_finite,
    check_not_empty,
    check_width,
    column_kind,
    holds_dates,
    take_by_name,
)
from spam_core.data.encoded import (
    NUMBER,
    UNKNOWN,
    Codes,
    Encoded,
    Floats,
    Marginals,
    pad,
    stack,
)
from spam_core.data.feature import (
    SCALINGS,
    Feature,
    Scaling,
    range_of,
    show_value,
    spread_knots,
)
from spam_core.data.levels import (
    Column,
    UnknownLevelWarning,
    count_identifiers,
    look_up,
    sorted_levels,
    tell_unknown,
)
from spam_core.data.marginals import choose_knots, marginal_of
from spam_core.data.telling import warn_caller

__all__ = [
    "MISSING",
    "NUMBER",
    "SCALINGS",
    "UNKNOWN",
    "Encoded",
    "Feature",
    "Marginals",
    "Scaling",
    "TableEncoder",
    "UnknownLevelWarning",
    "show_value",
]

_BLOCK_ROWS = 1 << 16  # of a table that is encoded some rows at a time


class TableEncoder:
    """Fit levels, knots and marginals on training rows; encode any rows.

    Parameters
    ----------
    n_knots : int or "auto"
        Cells a numeric column is cut into. Auto: 128 from 10,000 rows on if there are
        at most 20 columns, else ``min(64, max(8, 20000 // d))``.
    scaling : {"quantile", "minmax", "maxabs", "none"}
        Quantile and min-max map the training range to [0, 1] and clip beyond it; the
        range of min-max leaves out numbers that lie absurdly far from the others, see
        `spam_core.data.feature.range_of`. The other two are unbounded.
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
        n_cells = self._cells(n, d)
        special = self._special(frame)
        series = [frame.iloc[:, i] for i in range(d)]
        read = [Column.of(column, column_kind(column)) for column in series]
        check_finite((str(c.source.name), c.numbers) for c in read)
        weight = np.ones(n) if sample_weight is None else sample_weight
        weight = weight / weight.sum()
        features, columns, marginals = [], [], []
        constant, identifiers = [], []
        for column in read:
            name = str(column.source.name)
            feature = self._fit_column(name, column, n_cells, special.get(name, ()))
            n_levels = (
                count_identifiers(column.cells) if column.kind == "categorical" else 0
            )
            if n_levels:
                feature = Feature(name, "constant")
                identifiers.append(f"{name!r} ({n_levels} texts in {n} rows)")
            elif feature.kind == "constant":
                constant.append(name)
            features.append(feature)
            values, codes = self._encode(feature, column)
            columns.append((values, codes))
            marginals.append(
                marginal_of(
                    values,
                    codes,
                    weight,
                    n_levels=len(feature.levels),
                    n_cells=feature.n_cells,
                    evenly=self.scaling in ("quantile", "minmax"),
                    fine=self.fine_marginals,
                )
            )
        self.features: tuple[Feature, ...] = tuple(features)
        self.marginals = pad(marginals)
        self.train_ = stack(columns)
        if identifiers:
            warn_caller(
                "These columns look like identifiers, having a different text in most "
                f"rows, so they are left out: {', '.join(identifiers)}",
            )
        if constant:
            warn_caller(
                "These columns are constant or all missing, so they can't contribute: "
                f"{constant}",
            )
        return self

    def fit_transform(self, X: Any, sample_weight: Floats | None = None) -> Encoded:
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
            return take_by_name(frame, names)
        check_width(frame.shape[1], len(names))
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

        Raises
        ------
        ValueError
            If columns are missing or hold infinite cells.
        TypeError
            If a column of numbers holds text or dates.
        """
        frame = self.align(X)
        read = [self._column(frame, i) for i in range(len(self.features))]
        check_finite((str(c.source.name), c.numbers) for c in read)
        encoded = list(map(self._encode, self.features, read))
        tell_unknown(
            (feature.name, column.source, codes)
            for feature, column, (_, codes) in zip(
                self.features, read, encoded, strict=True
            )
        )
        return stack(encoded)

    def blocks(self, X: Any, n_rows: int = _BLOCK_ROWS) -> Iterator[Encoded]:
        """Encode rows like `transform`, some at a time.

        The whole table is looked through before the first block, so that warnings and
        errors are those of `transform`, with the same counts.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n, d)
        n_rows : int
            Of a block; the last may have fewer.

        Yields
        ------
        Encoded
            Block after block.
        """
        frame = self.align(X)
        if len(frame) <= n_rows:
            yield self.transform(frame)
            return

        def encoded(part: pd.DataFrame) -> Iterator[tuple[Floats, Codes]]:
            for i, feature in enumerate(self.features):
                yield self._encode(feature, self._column(part, i))

        check_finite(
            (feature.name, self._column(frame, i).numbers)
            for i, feature in enumerate(self.features)
        )
        tell_unknown(
            (self.features[i].name, frame.iloc[:, i], codes)
            for i, (_, codes) in enumerate(encoded(frame))
        )
        for start in range(0, len(frame), n_rows):
            yield stack(list(encoded(frame.iloc[start : start + n_rows])))

    def _column(self, frame: pd.DataFrame, i: int) -> Column:
        feature = self.features[i]
        return Column.of(frame.iloc[:, i], feature.kind, feature.is_date)

    def _cells(self, n: int, d: int) -> int:
        if self.n_knots == "auto":
            return 128 if n >= 10_000 and d <= 20 else min(64, max(8, 20_000 // d))
        if not isinstance(self.n_knots, int | np.integer) or self.n_knots < 1:
            raise ValueError(
                f'n_knots must be "auto" or a positive integer, got {self.n_knots!r}'
            )
        return int(self.n_knots)

    def _special(self, frame: pd.DataFrame) -> dict[str, tuple[float, ...]]:
        given = {
            str(name): codes for name, codes in (self.special_values or {}).items()
        }
        strangers = [name for name in given if name not in frame.columns]
        if strangers:
            raise ValueError(
                f"special_values names columns that the table doesn't have: {strangers}"
            )
        try:
            return {
                name: tuple(sorted({float(code) for code in codes}))
                for name, codes in given.items()
            }
        except (TypeError, ValueError) as error:
            raise ValueError(
                "special_values must map each column to a list of numbers, got "
                f"{dict(given)!r}"
            ) from error

    def _fit_column(
        self, name: str, column: Column, cells: int, special: tuple[float, ...]
    ) -> Feature:
        if column.kind != "numeric":
            if special:
                raise ValueError(
                    f"special_values needs a numeric column; {name!r} is {column.kind}"
                )
            levels = sorted_levels(column.source, column.cells)
            last = (None,) if any(cell is None for cell in column.cells) else ()
            if len(levels) + len(last) < 2:
                return Feature(name, "constant")
            return Feature(name, column.kind, (*levels, *last))
        numbers = column.numbers
        missing = np.isnan(numbers)
        is_special = np.isin(numbers, np.array(special))
        ordinary = numbers[~missing & ~is_special]
        tags: tuple[Any, ...] = tuple(float(v) for v in np.unique(numbers[is_special]))
        if missing.any():
            tags = (*tags, None)
        if not len(ordinary):
            knots = np.empty(0)
        elif self.scaling == "minmax":
            knots = spread_knots(*range_of(ordinary), cells)
        else:
            knots = choose_knots(ordinary, cells)
        if len(knots) < 2 and len(tags) + bool(len(ordinary)) < 2:
            return Feature(name, "constant")
        largest = float(np.abs(ordinary).max()) if len(ordinary) else 0.0
        return Feature(
            name,
            "numeric",
            tags,
            knots,
            largest or 1.0,
            holds_dates(column.source),
            bool(len(ordinary)) and bool(np.all(ordinary == np.round(ordinary))),
            special,
        )

    def _encode(self, feature: Feature, column: Column) -> tuple[Floats, Codes]:
        n = len(column.source)
        if feature.kind == "constant":
            return np.zeros(n), np.full(n, NUMBER, dtype=np.int32)
        missing_code = len(feature.levels) - 1 if feature.has_missing else UNKNOWN
        levels = feature.levels[:-1] if feature.has_missing else feature.levels
        if feature.kind != "numeric":
            missing = np.array([cell is None for cell in column.cells], dtype=bool)
            codes = np.full(n, missing_code, dtype=np.int32)
            codes[~missing] = look_up(levels, column.cells[~missing])
            return np.zeros(n), codes
        numbers = column.numbers
        codes = np.full(n, NUMBER, dtype=np.int32)
        codes[np.isin(numbers, np.array(feature.special))] = UNKNOWN
        for k, level in enumerate(levels):
            codes[numbers == level] = k
        codes[np.isnan(numbers)] = missing_code
        ordinary = codes == NUMBER
        values = np.zeros(n)
        if len(feature.knots):
            values[ordinary] = feature.to_scaled(numbers[ordinary], self.scaling)
        else:  # training saw levels only
            codes[ordinary] = UNKNOWN
        return values, codes
