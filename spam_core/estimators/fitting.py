"""Fit models on a table and score them on its test part, beside a constant guess.

The terminal, the child process of the dashboard and the benchmarks share this: it
reports through callbacks and prints nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn import metrics

from spam_core.estimators.registry import make_model

if TYPE_CHECKING:
    from spam_core.data import Table
    from spam_core.training.config import Progress

Scores = dict[str, float]

METRICS: dict[str, tuple[str, ...]] = {
    "regression": ("rmse", "mae", "r2"),
    "binary": ("auc", "log_loss", "accuracy"),
    "multiclass": ("accuracy", "log_loss", "auc"),
}
"""Metrics of each task; the first is the one that is quoted alone."""

METRIC_NAMES = {
    "rmse": "RMSE",
    "mae": "mean absolute error",
    "r2": "R2",
    "auc": "AUC",
    "log_loss": "log loss",
    "accuracy": "accuracy",
}
LOWER_IS_BETTER = frozenset({"rmse", "mae", "log_loss"})


@dataclass(frozen=True)
class ModelSpec:
    """One model to fit.

    Attributes
    ----------
    name : str
        Name in the registry: "spam", "dnn", ...
    params : dict
        Settings that differ from the model's defaults.
    """

    name: str
    params: Mapping[str, Any] = field(default_factory=dict)


def rows_of(table: Table, *parts: str) -> tuple[Any, pd.Series[Any]]:
    """Return the rows of the named parts of a table's split.

    Parameters
    ----------
    table : Table
    *parts : {"train", "validation", "test"}

    Returns
    -------
    X : DataFrame or CSR matrix
    y : Series
    """
    rows = np.concatenate([table.splits[part] for part in parts])
    # the words of a text are a sparse matrix, which has no iloc
    X = table.X.iloc[rows] if hasattr(table.X, "iloc") else table.X[rows]
    return X, table.y.iloc[rows]


def build(spec: ModelSpec, table: Table, callbacks: list[Any] | None = None) -> Any:
    """Make an unfitted model for a table.

    Raises
    ------
    ValueError
        If the registry has no such model, or the model no such setting.
    """
    model = make_model(spec.name, table.task)
    known = model.get_params(deep=False)
    refuse_unknown_settings(spec.name, spec.params, known)
    params = dict(spec.params)
    if table.special_values and "special_values" in known:
        params.setdefault("special_values", dict(table.special_values))
    if callbacks is not None and "callbacks" in known:
        params["callbacks"] = callbacks
    return model.set_params(**params)


def refuse_unknown_settings(
    model: str, given: Iterable[str], known: Iterable[str]
) -> None:
    """Refuse settings that a model doesn't have.

    Raises
    ------
    ValueError
        If there are any; the model's are named.
    """
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise ValueError(
            f"{model} has no setting {', '.join(map(repr, unknown))}; it has "
            f"{', '.join(sorted(known))}"
        )


def refuse_settings(model: str, settings: Mapping[str, Any]) -> None:
    """Refuse settings that no table could be fitted with.

    Parameters
    ----------
    model : str
        Name in the registry.
    settings : mapping

    Raises
    ------
    ValueError
        If the model doesn't have one, or not with such a value.

    Examples
    --------
    >>> refuse_settings("spam", {"order": 7})
    Traceback (most recent call last):
    ValueError: order must be an integer in 1..4, got 7
    """
    known = make_model(model, "regression").get_params(deep=False)
    refuse_unknown_settings(model, settings, known)
    make_model(model, "regression", **settings)._check_parameters()


def fit(
    spec: ModelSpec,
    table: Table,
    progress: Callable[[Progress], bool | None] | None = None,
    parts: Sequence[str] = ("train", "validation"),
) -> Any:
    """Fit a model on everything but the test rows; it holds out its own validation.

    Parameters
    ----------
    spec : ModelSpec
    table : Table
    progress : callable, optional
        Called after each epoch; True stops training.
    parts : sequence of {"train", "validation"}
        Parts of the table's split to fit on.

    Returns
    -------
    estimator
        Fitted.
    """
    model = build(spec, table, None if progress is None else [progress])
    X, y = rows_of(table, *parts)
    if table.groups is None:
        model.fit(X, y)
    else:  # what is held out must be new in the same way as the test rows are
        model.fit(X, y, groups=table.groups.loc[y.index])
    if progress is not None and "callbacks" in model.get_params(deep=False):
        model.set_params(callbacks=None)  # a saved model must not drag them along
    return model


def score(model: Any, table: Table, part: str = "test") -> Scores:
    """Score a fitted model on one part of a table.

    Returns
    -------
    dict of str to float
        The metrics of ``METRICS[table.task]``; NaN where a part can't tell, such as
        AUC with one class.
    """
    X, y = rows_of(table, part)
    if table.task == "regression":
        return _regression(y.to_numpy(dtype=np.float64), model.predict(X))
    return _classification(y, model.predict_proba(X), model.classes_)


def baseline(table: Table, part: str = "test") -> Scores:
    """Score the constant guess: the training mean, or the training class shares."""
    _, known = rows_of(table, "train", "validation")
    _, y = rows_of(table, part)
    if table.task == "regression":
        truth = y.to_numpy(dtype=np.float64)
        mean = float(known.to_numpy(dtype=np.float64).mean())
        return _regression(truth, np.full(len(truth), mean))
    shares = known.value_counts(normalize=True, sort=False)
    classes = np.array(sorted(shares.index), dtype=object)
    row = np.array([shares[label] for label in classes], dtype=np.float64)
    return _classification(y, np.tile(row, (len(y), 1)), classes)


def baseline_name(task: str) -> str:
    """Say in words what the constant guess is."""
    return "mean of the target" if task == "regression" else "class shares"


def _regression(truth: NDArray[np.float64], guess: NDArray[np.float64]) -> Scores:
    error = truth - guess
    spread = float(((truth - truth.mean()) ** 2).sum())
    return {
        "rmse": float(np.sqrt((error**2).mean())),
        "mae": float(np.abs(error).mean()),
        "r2": 1.0 - float((error**2).sum()) / spread if spread > 0 else float("nan"),
    }


def _classification(
    y: pd.Series[Any], shares: NDArray[np.float64], classes: NDArray[Any]
) -> Scores:
    place = {label: k for k, label in enumerate(classes.tolist())}
    truth = np.array([place.get(label, -1) for label in y.tolist()])
    seen = truth >= 0  # a class that training never saw has no probability to score
    shares = np.clip(np.asarray(shares, dtype=np.float64), 1e-15, 1.0)
    chosen = shares.argmax(axis=1)
    loss = -np.log(shares[seen, truth[seen]]).mean() if seen.any() else float("nan")
    return {
        "auc": _auc(truth[seen], shares[seen]),
        "log_loss": float(loss),
        "accuracy": float((chosen == truth).mean()),
    }


def _auc(truth: NDArray[np.int64], shares: NDArray[np.float64]) -> float:
    """AUC of the second class of two, or the mean over one-against-rest problems."""
    if shares.shape[1] == 2:
        columns = [1]
    else:
        columns = list(range(shares.shape[1]))
    areas = [
        float(metrics.roc_auc_score(truth == k, shares[:, k]))
        for k in columns
        if 0 < (truth == k).sum() < len(truth)
    ]
    return float(np.mean(areas)) if areas else float("nan")
