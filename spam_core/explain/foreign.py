"""Models that aren't ours: scikit-learn's, and whatever predicts from a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spam_core.data.columns import (
    check_finite,
    column_kind,
    take_by_name,
    to_numbers,
)
from spam_core.data.encoding import NUMBER, TableEncoder
from spam_core.data.levels import to_objects
from spam_core.explain.cells import Cells, Rows, read_table
from spam_core.explain.frozen import Floats, plain
from spam_core.explain.glassbox import scale_name
from spam_core.explain.scoring import EncodedScorer, Scorer

_DAY = pd.Timedelta(days=1)
_EPOCH = pd.Timestamp("1970-01-01")
_EDGE = 1e-6  # probabilities are kept this far from 0 and 1, so that logits are finite
_PROBE = 100  # rows on which a decision function is compared with the probabilities


def make_scorer(model: Any, background: Any) -> Scorer:
    """Return what scores rows of a fitted model.

    Parameters
    ----------
    model : estimator
        Of this library, or anything with ``predict``, ``decision_function`` or
        ``predict_proba`` and, for a classifier, ``classes_``.
    background : table
        Says what the columns are if the model doesn't.

    Raises
    ------
    TypeError, ValueError
        If it can't score, or the background doesn't fit.
    """
    encoder = getattr(model, "encoder_", None)
    if isinstance(encoder, TableEncoder) and hasattr(model, "_score_rows"):
        return EncodedScorer(model)
    return FrameScorer(model, background)


class FrameScorer(Scorer):
    """A model that is given frames with the columns and types of the background.

    Numbers, dates and durations may be drawn; all else is levels, of which only those
    that occur are ever given to the model, in the type that they came in.
    """

    def __init__(self, model: Any, background: Any) -> None:
        super().__init__()
        frame, named = read_table(background, "background")
        names = getattr(model, "feature_names_in_", None)
        self.names = tuple(frame.columns if names is None else map(str, names))
        self._named = named or names is not None
        # a model fitted to an array is given arrays, one fitted to a frame its labels
        self._as_array = not self._named
        self._labels: Sequence[Any] = self.names
        if names is None and named and hasattr(background, "columns"):
            self._labels = list(background.columns)
        frame = self._align(frame, named, "background")
        self._templates = [frame.iloc[:, i] for i in range(frame.shape[1])]
        self._numeric = [_is_drawable(column) for column in self._templates]
        self._levels: list[dict[Any, int]] = [{} for _ in self.names]
        self._shown: list[list[Any]] = [[] for _ in self.names]
        classes = getattr(model, "classes_", None)
        self.classes = None if classes is None else tuple(plain(c) for c in classes)
        if self.classes is not None and len(self.classes) < 2:
            raise ValueError(f"Expected two classes or more, got {self.classes}")
        probe = self._as_given(frame.iloc[:_PROBE])
        self._function, kind = score_function(model, self.classes, probe)
        target = str(getattr(model, "target_name_", "prediction"))
        self.scale = scale_name(self.classes, target).replace("logit", kind, 1)

    def read(self, X: Any, what: str) -> Rows:
        """Read a table; levels that weren't there before get a code of their own."""
        frame = self._align(*read_table(X, what), what)
        numbers = np.full(frame.shape, np.nan)
        codes = np.full(frame.shape, NUMBER, dtype=np.int32)
        for i, template in enumerate(self._templates):
            column = frame.iloc[:, i]
            try:
                if self._numeric[i]:
                    dates = pd.api.types.is_datetime64_any_dtype(template.dtype)
                    numbers[:, i] = to_numbers(column, dates)
                    gaps = np.isnan(numbers[:, i])
                    if gaps.any():
                        codes[gaps, i] = self._code(i, None, None)
                else:
                    for row, cell in enumerate(to_objects(column)):
                        codes[row, i] = self._code(i, cell, column.iloc[row])
            except TypeError as error:
                raise TypeError(f"{what}: {error}") from error
        try:
            check_finite(zip(self.names, numbers.T, strict=True))
        except ValueError as error:
            raise ValueError(f"{what}: {error}") from error
        return Rows(frame, Cells(numbers, codes))

    def varying(self, row: Cells, background: Cells) -> NDArray[np.bool_]:
        """Compare cells."""
        numbers = (row.numbers != background.numbers) & (row.codes == NUMBER)
        found: NDArray[np.bool_] = (numbers | (row.codes != background.codes)).any(0)
        return found

    def _score(self, cells: Cells) -> Floats:
        columns = {
            name: self._column(i, cells.numbers[:, i], cells.codes[:, i])
            for i, name in enumerate(self.names)
        }
        return self._function(self._as_given(pd.DataFrame(columns)))

    def _score_given(self, rows: Rows) -> Floats:
        return self._function(self._as_given(rows.frame))

    def _column(self, i: int, numbers: Floats, codes: NDArray[np.int32]) -> Any:
        dtype: Any = self._templates[i].dtype
        if self._numeric[i]:
            return _typed(numbers, dtype)
        cells = pd.Series(self._shown[i], dtype=object)
        if not isinstance(dtype, pd.CategoricalDtype) or (
            cells.dropna().isin(dtype.categories).all()
        ):
            # other types refuse a missing cell; they get objects, as pandas would give
            try:
                cells = cells.astype(dtype)
            except (TypeError, ValueError):
                cells = cells.infer_objects()
        return cells.array.take(codes)

    def _code(self, i: int, cell: Any, given: Any) -> int:
        known = self._levels[i]
        if cell not in known:
            known[cell] = len(known)
            self._shown[i].append(given)
        return known[cell]

    def _align(self, frame: pd.DataFrame, named: bool, what: str) -> pd.DataFrame:
        names = list(self.names)
        if named and self._named:
            return take_by_name(frame, names, what)
        if frame.shape[1] != len(names):
            raise ValueError(
                f"{what} has {frame.shape[1]} columns, but the model is expecting "
                f"{len(names)}."
            )
        return frame.set_axis(pd.Index(names), axis=1)

    def _as_given(self, frame: pd.DataFrame) -> Any:
        if self._as_array:
            return frame.to_numpy()
        return frame.set_axis(pd.Index(self._labels), axis=1)


def _is_drawable(column: pd.Series[Any]) -> bool:
    """Whether values between those that occur make sense, and can be given back."""
    if column_kind(column) != "numeric":
        return False
    dtype = column.dtype
    return (
        pd.api.types.is_numeric_dtype(dtype)
        or pd.api.types.is_datetime64_any_dtype(dtype)
        or pd.api.types.is_timedelta64_dtype(dtype)
    )


def _typed(numbers: Floats, dtype: Any) -> Any:
    """Give numbers back in a column's type, if it can hold them.

    Examples
    --------
    >>> _typed(np.array([1.0, 2.0]), np.dtype("int64")).dtype
    dtype('int64')
    >>> _typed(np.array([1.5, np.nan]), np.dtype("int64")).dtype
    dtype('float64')
    """
    if pd.api.types.is_datetime64_any_dtype(dtype):
        times = pd.Series(_EPOCH + pd.to_timedelta(numbers, unit="D"))
        zone = getattr(dtype, "tz", None)
        if zone is not None:
            times = times.dt.tz_localize("UTC").dt.tz_convert(zone)
        return times.astype(dtype).array
    if pd.api.types.is_timedelta64_dtype(dtype):
        return pd.Series(pd.to_timedelta(numbers, unit="D")).astype(dtype).array
    missing = np.isnan(numbers)
    if pd.api.types.is_integer_dtype(dtype) and not (
        np.all(numbers[~missing] == np.round(numbers[~missing]))
    ):
        return numbers
    if isinstance(dtype, np.dtype):
        whole = np.issubdtype(dtype, np.integer)
        return numbers if whole and missing.any() else numbers.astype(dtype)
    filled = pd.Series(np.where(missing, 0.0, numbers)).astype(dtype)
    return filled.mask(missing, pd.NA).array


def score_function(
    model: Any, classes: tuple[Any, ...] | None, probe: Any
) -> tuple[Callable[[Any], Floats], str]:
    """Choose how a model is asked for scores.

    A classifier's decision function is taken where its softmax gives the
    probabilities (so it is the logit), or where there are no probabilities; else
    the logit is worked out from these, kept 1e-6 away from 0 and 1.

    Returns
    -------
    function : callable
        Rows to scores of shape (n, C).
    kind : str
        ``"logit"``, or ``"decision function"`` if that is all that's known of it.

    Raises
    ------
    TypeError
        If the model has no method that gives numbers.
    ValueError
        If it has more outputs than one a class, or one for a regression.
    """
    predict = getattr(model, "predict", None)
    if classes is None:
        if not callable(predict):
            raise TypeError(
                "Expected a fitted model with predict (and, for a classifier, "
                f"classes_), got {type(model).__name__}"
            )

        def target(rows: Any) -> Floats:
            values = np.asarray(predict(rows), dtype=np.float64)
            if values.shape not in {(len(rows),), (len(rows), 1)}:
                raise ValueError(
                    f"Expected one prediction for each of {len(rows)} rows, got an "
                    f"array of shape {values.shape}"
                )
            return values.reshape(-1, 1)

        target(probe)
        return target, "logit"
    margin = getattr(model, "decision_function", None)
    probabilities = getattr(model, "predict_proba", None)
    n_classes = len(classes)

    def decision(rows: Any) -> Floats:
        assert margin is not None, "chosen only where there is one"
        return _columns(np.asarray(margin(rows), dtype=np.float64), n_classes)

    def log_odds(rows: Any) -> Floats:
        assert probabilities is not None, "chosen only where there are some"
        return _logits(np.asarray(probabilities(rows), dtype=np.float64), n_classes)

    if callable(margin):
        scores = np.asarray(margin(probe))
        fits = scores.ndim == 1 or scores.shape[1] == n_classes
        if not callable(probabilities):
            if fits:
                return decision, "decision function"
        elif fits and _agree(decision(probe), np.asarray(probabilities(probe))):
            return decision, "logit"
    if callable(probabilities):
        log_odds(probe)
        return log_odds, "logit"
    raise TypeError(
        "Expected a fitted classifier with decision_function or predict_proba that "
        f"gives a number for each of {n_classes} classes, got {type(model).__name__}"
    )


def _columns(scores: Floats, n_classes: int) -> Floats:
    """Bring scores to shape (n, 1) for two classes, (n, C) and centred for more."""
    if n_classes == 2:
        return scores.reshape(-1, 1) if scores.ndim == 1 else np.diff(scores, axis=1)
    centred: Floats = scores - scores.mean(axis=1, keepdims=True)
    return centred


def _logits(probabilities: Floats, n_classes: int) -> Floats:
    """Logit of the second of two classes, centred logarithms of more.

    Examples
    --------
    >>> _logits(np.array([[0.5, 0.5], [1.0, 0.0]]), 2).round(1).ravel().tolist()
    [0.0, -13.8]
    """
    if probabilities.ndim != 2 or probabilities.shape[1] != n_classes:
        raise ValueError(
            f"Expected probabilities of {n_classes} classes, got an array of shape "
            f"{probabilities.shape}"
        )
    return _columns(np.log(np.clip(probabilities, _EDGE, 1 - _EDGE)), n_classes)


def _agree(scores: Floats, probabilities: Floats) -> bool:
    """Whether the softmax of scores, as `_columns` gives them, is the probabilities."""
    if scores.shape[1] == 1:
        scores = np.concatenate([np.zeros_like(scores), scores], axis=1)
    power = np.exp(scores - scores.max(axis=1, keepdims=True))
    mine = power / power.sum(axis=1, keepdims=True)
    return mine.shape == probabilities.shape and bool(
        np.allclose(mine, probabilities, rtol=0, atol=1e-4)
    )
