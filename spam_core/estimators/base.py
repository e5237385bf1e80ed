"""What every estimator does with a user's table and target."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_feature_names,
    check_is_fitted,
)

from spam_core.data.columns import as_frame, check_not_empty, check_width, from_foreign
from spam_core.data.encoding import Encoded, TableEncoder
from spam_core.data.sparse import NamedCSR, SparseEncoder, SparseRows
from spam_core.data.telling import warn_caller
from spam_core.training.losses import Task


class TabularEstimator(BaseEstimator):
    """Base of estimators that encode a table themselves.

    Subclasses set `encoder_` in `_fit_rows` and read rows through `_encode`.
    """

    encoder_: TableEncoder | SparseEncoder
    n_features_in_: int

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.sparse = self._takes_sparse()
        return tags

    @property
    def feature_names_(self) -> tuple[str, ...]:
        """Column names in training order; made up if the table had none."""
        check_is_fitted(self)
        return self.encoder_.feature_names

    def _check_X(self, X: Any) -> Any:
        """Training table as a labelled frame, or as the sparse matrix it is."""
        if sp.issparse(X):
            self._check_sparse()
            special = getattr(self, "special_values", None)
            if special:
                raise TypeError(
                    "A sparse matrix has numbers only, and special_values makes levels "
                    f"of some, got {special!r}. Pass a dense table (X.toarray())."
                )
            check_not_empty(X.shape)
            return X if isinstance(X, NamedCSR) else sp.csr_matrix(X)
        frame = as_frame(X)[0]
        check_not_empty(frame.shape)
        return frame

    def _takes_sparse(self) -> bool:
        """Whether a sparse table can stay sparse."""
        return False

    def _check_sparse(self) -> None:
        """Refuse a sparse table unless it can stay sparse."""
        if not self._takes_sparse():
            raise TypeError(
                f"{type(self).__name__} got a sparse matrix, which it would have to "
                "make dense. Pass a dense table (X.toarray())."
            )

    def _remember_names(self, X: Any) -> None:
        _check_feature_names(self, X, reset=True)

    def _check_rows(self, X: Any) -> pd.DataFrame:
        """Refuse rows that can't be those of a dense table that was fitted."""
        check_is_fitted(self)
        if sp.issparse(X):
            raise TypeError(
                f"{type(self).__name__} was fitted to a dense table and got a sparse "
                "matrix. Pass a dense table (X.toarray())."
            )
        assert isinstance(self.encoder_, TableEncoder), "fitted to a dense table"
        frame, named = as_frame(X)
        if not (named and self.encoder_.named):
            check_width(frame.shape[1], self.n_features_in_, type(self).__name__)
        check_not_empty(frame.shape)
        return self.encoder_.align(X)

    def _encode(self, X: Any) -> Encoded | SparseRows:
        """Encode rows to predict or explain."""
        check_is_fitted(self)
        if isinstance(self.encoder_, SparseEncoder):
            return self.encoder_.transform(X)
        return self.encoder_.transform(self._check_rows(X))

    def _blocks(self, X: Any) -> Iterator[Encoded | SparseRows]:
        """Encode rows some at a time, so that a long table needs little memory."""
        check_is_fitted(self)
        if isinstance(self.encoder_, SparseEncoder):
            yield self.encoder_.transform(X)
        else:
            yield from self.encoder_.blocks(self._check_rows(X))

    def _dense_rows(self, X: Any) -> Encoded:
        """Encode rows to explain, whatever they are stored as."""
        rows = self._encode(X)
        return rows.dense() if isinstance(rows, SparseRows) else rows

    def _classes(self) -> list[Any] | None:
        """Classes as explanations take them; None of a regression."""
        classes = getattr(self, "classes_", None)
        return None if classes is None else list(classes)

    def _background_rows(self, background: Any) -> Encoded | None:
        """Encode background rows, if there are any; errors say that it is these."""
        if background is None:
            return None
        try:
            return self._dense_rows(background)
        except (TypeError, ValueError) as error:
            raise type(error)(f"background: {error}") from error

    def _random_seed(self) -> int:
        """Draw a seed from `random_state`, leaving global state alone."""
        state = getattr(self, "random_state", None)
        if state is None:
            return int(np.random.default_rng().integers(2**31))
        if isinstance(state, np.random.RandomState | np.random.Generator):
            draw = getattr(state, "integers", None) or state.randint  # type: ignore[union-attr]
            return int(draw(2**31 - 1))
        return int(state)


def check_target(y: Any, n_rows: int) -> NDArray[Any]:
    """Return a target as a one-dimensional array without missing values.

    Parameters
    ----------
    y : array-like of shape (n,) or (n, 1)
    n_rows : int
        Rows of the table.

    Raises
    ------
    ValueError
        If lengths differ, there are several columns, or values are missing.
    """
    series, is_column = _as_series(y)
    if is_column:
        warn_caller(
            "A column-vector y was passed when a 1d array was expected. Please change "
            "the shape of y to (n_samples,), for example using ravel().",
            DataConversionWarning,
        )
    if len(series) != n_rows:
        raise ValueError(
            "Found input variables with inconsistent numbers of samples: expected one "
            f"target for each of {n_rows} rows, got {len(series)}."
        )
    missing = int(series.isna().sum())
    if missing:
        raise ValueError(
            f"Input y contains NaN: {missing} of {len(series)} target values are "
            "missing. Drop those rows or fill them in."
        )
    if isinstance(series.dtype, pd.CategoricalDtype):
        series = series.astype(series.cat.categories.dtype)
    values: NDArray[Any] = series.to_numpy()
    if values.dtype == object and len(values):
        inferred = pd.api.types.infer_dtype(values)
        if inferred in {"integer", "floating", "mixed-integer-float", "boolean"}:
            values = np.array(values.tolist())
    if values.dtype.kind == "f" and np.isinf(values).any():
        raise ValueError(
            f"Input y contains infinity: {int(np.isinf(values).sum())} target values "
            "are infinite."
        )
    return values


def _as_series(y: Any) -> tuple[pd.Series[Any], bool]:
    """Return a target as a Series, and whether it was a table of one column."""
    if y is None:
        raise ValueError(
            "requires y to be passed, but the target y is None: expected one value "
            "for each row."
        )
    y = from_foreign(y)
    if isinstance(y, pd.Series):
        return y, False
    if isinstance(y, pd.DataFrame):
        if y.shape[1] != 1:
            raise ValueError(
                f"Expected a target with one column, got {y.shape[1]}: "
                f"{list(y.columns)[:5]}"
            )
        return y.iloc[:, 0], True
    array = np.asarray(y)
    is_column = array.ndim == 2 and array.shape[1] == 1
    if array.ndim > 2 or (array.ndim == 2 and not is_column):
        raise ValueError(
            f"Expected a target of shape (n,), got {array.shape}: y should be a 1d "
            "array."
        )
    if array.ndim == 0:
        raise ValueError(f"Expected a target of shape (n,), got the scalar {y!r}")
    return pd.Series(array.ravel()), is_column


def check_weight(sample_weight: ArrayLike | None, n_rows: int) -> NDArray[np.float64]:
    """Return one weight >= 0 a row; not all 0.

    Raises
    ------
    ValueError
        If there are too few or many, negative or missing ones, or all are 0.

    Examples
    --------
    >>> check_weight(2, 3)
    array([2., 2., 2.])
    """
    if sample_weight is None:
        return np.ones(n_rows)
    try:
        weight = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"Expected numbers as sample weights: {error}") from error
    if weight.ndim == 0:
        weight = np.full(n_rows, weight)
    if weight.ndim != 1:
        raise ValueError(
            "Sample weights must be 1D array or scalar, got an array of shape "
            f"{weight.shape}."
        )
    if len(weight) != n_rows:
        raise ValueError(
            f"Expected one sample weight for each of {n_rows} rows, got {len(weight)}."
        )
    for bad, what in (
        (~np.isfinite(weight), "missing or infinite"),
        (weight < 0, "negative"),
    ):
        if bad.any():
            raise ValueError(
                f"Sample weights must be finite and >= 0; {int(bad.sum())} of {n_rows} "
                f"are {what}."
            )
    if not weight.any():
        raise ValueError("Expected positive sample weights, got zero for every row.")
    return weight


def check_groups(groups: ArrayLike | None, n_rows: int) -> NDArray[np.int64] | None:
    """Return groups as integer codes; missing ones are one group.

    Raises
    ------
    ValueError
        If there isn't one for each row, or all are the same.
    """
    if groups is None:
        return None
    codes, names = pd.factorize(np.asarray(groups, dtype=object), use_na_sentinel=False)
    if codes.shape != (n_rows,):
        raise ValueError(
            f"Expected one group for each of {n_rows} rows, got {len(codes)}"
        )
    if len(names) < 2:
        raise ValueError("Expected at least 2 groups, got 1: nothing can be held out")
    return codes.astype(np.int64)


def warn_of_rare(labels: NDArray[Any], index: NDArray[np.int64]) -> None:
    """Warn of classes that have one row, which can't be held out and trained on."""
    rare = labels[np.bincount(index) < 2].tolist()
    if rare:
        more = f" and {len(rare) - 5} more" if len(rare) > 5 else ""
        warn_caller(f"These classes have a single row each: {rare[:5]}{more}")


class RegressionTarget(RegressorMixin):
    """Reads a numeric target, and predicts it; mixed into regressors."""

    def _read_target(self, y: Any, n_rows: int) -> NDArray[np.float64]:
        values = check_target(y, n_rows)
        try:
            if values.dtype.kind in "cmM":  # complex numbers, durations, dates
                raise TypeError
            return values.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"Expected a numeric target, got {values.dtype} values such as "
                f"{values[:3].tolist()!r}. For classes use a classifier."
            ) from error

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predict the target.

        Parameters
        ----------
        X : table of n rows

        Returns
        -------
        ndarray of shape (n,), in the target's units
        """
        scores: NDArray[np.float64] = self._score(X)
        return scores[:, 0]


class ClassificationTarget(ClassifierMixin):
    """Turns labels into class indices; mixed into classifiers."""

    classes_: NDArray[Any]

    def _read_target(
        self, y: Any, n_rows: int
    ) -> tuple[NDArray[Any], NDArray[np.int64]]:
        values = check_target(y, n_rows)
        if values.dtype == object:
            kinds = {type(value) for value in values}
            if len(kinds) > 1:
                names = sorted(kind.__name__ for kind in kinds)
                raise ValueError(
                    f"Expected labels of one type, got a mixture of {names}. Convert "
                    "them, for example with y.astype(str)."
                )
        check_classification_targets(values)
        classes, index = np.unique(values, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                "A classifier needs samples of at least 2 classes in the data, but the "
                f"data contains only one class: {classes.tolist()[0]!r}"
            )
        return classes, index.astype(np.int64)

    @property
    def _task(self) -> Task:
        return "binary" if len(self.classes_) == 2 else "multiclass"

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores: the logit of ``classes_[1]``, or centred logits.

        Parameters
        ----------
        X : table of n rows

        Returns
        -------
        ndarray of shape (n,) for two classes, else (n, C)
        """
        scores = self._score(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores  # type: ignore[no-any-return]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the classes, in the order of `classes_`.

        Returns
        -------
        ndarray of shape (n, C), C >= 2
        """
        return to_probabilities(self._score(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row.

        Returns
        -------
        ndarray of shape (n,)
        """
        probabilities = self.predict_proba(X)
        labels: NDArray[Any] = self.classes_[probabilities.argmax(1)]
        return labels


def to_probabilities(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sigmoid of one logit, or softmax of several: (n, 1) or (n, C) to (n, C)."""
    logits = torch.from_numpy(scores)
    if scores.shape[1] == 1:
        positive = torch.sigmoid(logits)
        negative = torch.sigmoid(-logits)
        return torch.cat([negative, positive], 1).numpy()
    return torch.softmax(logits, 1).numpy()
