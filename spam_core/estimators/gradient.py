"""Fitting: what all estimators do alike, and what gradient descent adds."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from scipy.sparse import issparse

from spam_core.data.columns import from_foreign
from spam_core.data.encoding import Encoded, TableEncoder
from spam_core.data.sparse import SparseEncoder, SparseRows
from spam_core.data.telling import warn_caller
from spam_core.estimators.base import (
    ClassificationTarget,
    RegressionTarget,
    TabularEstimator,
    check_groups,
    check_weight,
    warn_of_rare,
)
from spam_core.models.feature_maps import Layout
from spam_core.training.fit import Problem, resolve_device


class Training(NamedTuple):
    """What `_train` returns: a model on the original scale, its history, and more.

    `attributes` are set on the estimator, all at once with the model.
    """

    model: Any
    history: list[dict[str, float]]
    validation_loss: float | None
    attributes: Mapping[str, Any] = MappingProxyType({})


class EncodedEstimator(TabularEstimator):
    """Encodes a table, scales the target, trains, and keeps the result.

    Attributes
    ----------
    encoder_ : TableEncoder
        Levels, knots and marginals of the training rows.
    model_ : object
        Its ``score`` takes encoded rows; in float64, on the scale of the scores.
    history_ : list of dict
        epoch, train_loss, validation_loss and seconds of each epoch. The losses are
        log loss, or squared error in units of the target's variance.
    n_iter_ : int
        Epochs trained, or trees.
    validation_loss_ : float or None
        Lowest loss on held-out rows; None for models that look at none.
    training_seconds_ : float
        Wall time of `fit`.
    """

    _in_single_precision = False

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Any:
        """Fit to a table as it is.

        Parameters
        ----------
        X : DataFrame, polars or pyarrow table, or array-like of shape (n, d)
            Numbers, text, categories, booleans or dates; missing values are fine.
            Rows of `X`, `y`, `sample_weight` and `groups` go by position, whatever
            their indexes say.
        y : array-like of shape (n,)
            Numbers for a regressor, labels of any one type for a classifier.
        sample_weight : array-like of shape (n,), optional
            Rows of weight 0 are left out; only ratios matter.
        groups : array-like of shape (n,), optional
            What rows belong to, such as a person or a country. Rows of one group are
            held out together, so that the model is chosen for new groups.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If the table, the target or a parameter can't be used; nothing is changed.
        """
        started = time.perf_counter()
        self._check_parameters()
        X = from_foreign(X)
        frame = self._check_X(X)
        n = frame.shape[0]
        target = self._read_target(y, n)
        labels, target = target if isinstance(target, tuple) else (None, target)
        weight = check_weight(sample_weight, n)
        group_of = check_groups(groups, n)
        if n < 2:
            raise ValueError(f"Expected at least 2 rows, got n_samples={n}")
        keep = weight > 0
        if not keep.all():
            frame, target, weight = frame[keep], target[keep], weight[keep]
            group_of = None if group_of is None else group_of[keep]
            if labels is not None:
                present, target = np.unique(target, return_inverse=True)
                labels = labels[present]
                if len(labels) < 2:
                    raise ValueError(
                        "A classifier needs at least 2 classes with positive weight, "
                        f"got only one class: {labels.tolist()[0]!r}"
                    )
        if labels is not None:
            warn_of_rare(labels, target)
        weight = weight / weight.mean()
        encoder = self._make_encoder(sparse=issparse(frame))
        rows = encoder.fit_transform(frame, weight)
        if isinstance(encoder, TableEncoder):
            encoder.named = hasattr(X, "columns")
            if self._in_single_precision and isinstance(rows, Encoded):
                _warn_of_blurred(encoder, rows)
        offset, factor = 0.0, 1.0
        if labels is None:
            offset, factor = _standardisation(target, weight)
            target = (target - offset) / (factor or 1.0)
        n_outputs = len(labels) if labels is not None and len(labels) > 2 else 1
        task = "regression" if labels is None else "binary"
        problem = Problem(
            rows,
            target,
            weight,
            "multiclass" if n_outputs > 1 else task,  # type: ignore[arg-type]
            n_outputs,
            Layout.of(encoder.features),
            encoder.marginals,
            group_of,
            encoder.features,
        )
        training = self._train(problem, self._random_seed(), offset, factor)
        # only now is the estimator changed: an interrupted fit leaves it as it was
        if labels is not None:
            self.classes_ = labels
        self._remember_names(X)
        self.n_features_in_ = frame.shape[1]
        self.encoder_, self.model_ = encoder, training.model
        self.history_, self.n_iter_ = training.history, len(training.history)
        self.validation_loss_ = training.validation_loss
        self.target_name_ = _name_of(y)
        for name, value in training.attributes.items():
            setattr(self, name, value)
        self.training_seconds_ = time.perf_counter() - started
        return self

    def save(self, path: str | Path) -> None:
        """Write the fitted model to a ``.spam`` file; see `load_model`."""
        from spam_core.persistence import save_model

        save_model(self, path)

    def saved_arrays(self) -> dict[str, NDArray[Any]]:
        """Arrays beyond the model that a saved file must hold."""
        return {}

    def restore_arrays(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Take back what `saved_arrays` gave."""

    def _make_encoder(self, sparse: bool) -> TableEncoder | SparseEncoder:
        assert not sparse, "_check_sparse refuses it"
        return TableEncoder()

    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense, before any work."""

    @abstractmethod
    def _train(
        self, problem: Problem, seed: int, offset: float, factor: float
    ) -> Training:
        """Train on the standardised target; the model undoes it."""

    def _score(self, X: Any) -> NDArray[np.float64]:
        """Scores of shape (n, C)."""
        return np.concatenate([self._score_rows(rows) for rows in self._blocks(X)])

    def _score_rows(self, rows: Encoded | SparseRows) -> NDArray[np.float64]:
        with torch.no_grad():
            scores: NDArray[np.float64] = self.model_.score(rows).numpy()
        return scores


class GradientEstimator(EncodedEstimator):
    """Trains by gradient descent: its `model_` is a SPAM or a DNN."""

    _in_single_precision = True

    def _check_parameters(self) -> None:
        """Refuse settings of the loop that make no sense."""
        given: dict[str, Any] = self.get_params(deep=False)
        for name in ("batch_size", "max_epochs", "patience", "n_members", "n_subnets"):
            value = given.get(name, "auto")
            if value != "auto" and not (is_integer(value) and value >= 1):
                raise ValueError(f"{name} must be a positive integer, got {value!r}")
        for name in ("learning_rate", "weight_decay", "l1"):
            value = given.get(name, 1.0)
            if value == "auto" and name != "weight_decay":
                continue
            least = "> 0" if name == "learning_rate" else ">= 0"
            fits = is_number(value) and (value > 0 or (value == 0 and least == ">= 0"))
            if not fits:
                raise ValueError(f"{name} must be a number {least}, got {value!r}")
        for name in ("validation_fraction", "dropout", "basis_dropout"):
            value = given.get(name, 0)
            if not (is_number(value) and 0 <= value < 1):
                raise ValueError(f"{name} must be in [0, 1), got {value!r}")
        hidden = given.get("hidden_units")
        if hidden is not None and not (
            isinstance(hidden, Sequence)
            and len(hidden)
            and all(is_integer(units) and units >= 1 for units in hidden)
        ):
            raise ValueError(
                f"hidden_units must be positive integers, one a layer, got {hidden!r}"
            )
        callbacks = given.get("callbacks")
        if callbacks is not None and not (
            isinstance(callbacks, Sequence) and all(map(callable, callbacks))
        ):
            raise TypeError(
                "callbacks must be a list of functions that take a Progress, got "
                f"{callbacks!r}"
            )
        resolve_device(given["device"])


class GradientRegressor(RegressionTarget, GradientEstimator):
    """A regressor: predictions are scores, in the target's units."""


class GradientClassifier(ClassificationTarget, GradientEstimator):
    """A classifier: softmax, or the sigmoid of one logit, of the scores."""


def is_integer(value: Any) -> bool:
    """Whether a parameter is a whole number; a boolean isn't."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Whether a parameter is a finite number; a boolean isn't."""
    return is_integer(value) or (
        isinstance(value, float | np.floating) and bool(np.isfinite(value))
    )


def _name_of(y: Any) -> str:
    """Return the target's name, if it has one."""
    if isinstance(y, pd.DataFrame):
        return str(y.columns[0])
    name = getattr(y, "name", None)
    return "prediction" if name is None else str(name)


def _standardisation(
    target: NDArray[np.float64], weight: NDArray[np.float64]
) -> tuple[float, float]:
    """Weighted mean and sd; sd 0 for a constant target, which is then predicted."""
    mean = float(np.average(target, weights=weight))
    spread = float(np.sqrt(np.average((target - mean) ** 2, weights=weight)))
    return mean, spread if spread > 1e-12 * max(abs(mean), 1e-300) else 0.0


def _warn_of_blurred(encoder: TableEncoder, rows: Encoded) -> None:
    """Tell of numbers that the cast to single precision would make equal."""
    if encoder.scaling in ("quantile", "minmax"):
        return  # by ranks or by the range, in double precision
    names = [encoder.feature_names[i] for i in rows.blurred_columns()]
    if names:
        warn_caller(
            "The numbers of these columns differ by too little, beside their size, to "
            f"be told apart in single precision with scaling={encoder.scaling!r}; "
            f"'quantile' and 'minmax' keep them apart: {names}",
        )
