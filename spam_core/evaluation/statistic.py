"""Metrics as functions of how often each row counts.

The values are those of scikit-learn with these weights. A bootstrap asks for the same
metric of the same rows a thousand times with other counts: what doesn't depend on the
counts, such as the order of the scores, is worked out once here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spam_core.evaluation.predictions import Floats, Predictions

Statistic = Callable[[Floats], float]
_LEAST = 1e-15  # a probability of 0 for what is true would be an infinite loss
_NAN = float("nan")


def statistic(predictions: Predictions, metric: str) -> Statistic:
    """Return the metric as a function of one weight a row.

    Parameters
    ----------
    predictions : Predictions
    metric : {"rmse", "mae", "r2"} or {"auc", "log_loss", "accuracy"}
        The AUC of the second class of two, or the mean over one class against the rest.

    Returns
    -------
    callable
        Takes weights >= 0 of shape (n,); NaN where these rows can't tell.

    Raises
    ------
    ValueError
        If the task has no such metric.

    Examples
    --------
    >>> truth = np.array([1.0, 2.0, 3.0])
    >>> of = statistic(Predictions("regression", truth, truth + [0, 0, 3]), "rmse")
    >>> of(np.array([0.0, 1.0, 0.0])), of(np.array([0.0, 0.0, 5.0]))
    (0.0, 3.0)
    """
    regression = predictions.task == "regression"
    known = _REGRESSION if regression else _CLASSES
    if metric not in known:
        raise ValueError(f"metric must be one of {list(known)}, got {metric!r}")
    of: Statistic = known[metric](predictions)
    return of


def _error(predictions: Predictions) -> Floats:
    return predictions.truth - predictions.predicted


def _mean(values: Floats) -> Statistic:
    def of(weight: Floats) -> float:
        total = weight.sum()
        return float(weight @ values / total) if total > 0 else _NAN

    return of


def _rmse(predictions: Predictions) -> Statistic:
    squared = _mean(_error(predictions) ** 2)
    return lambda weight: float(np.sqrt(squared(weight)))


def _mae(predictions: Predictions) -> Statistic:
    return _mean(np.abs(_error(predictions)))


def _r2(predictions: Predictions) -> Statistic:
    squared, truth = _error(predictions) ** 2, predictions.truth

    def of(weight: Floats) -> float:
        total = weight.sum()
        if not total > 0:
            return _NAN
        spread = float(weight @ (truth - weight @ truth / total) ** 2)
        return 1.0 - float(weight @ squared) / spread if spread > 0 else _NAN

    return of


def _accuracy(predictions: Predictions) -> Statistic:
    # a class that training never saw can't be guessed: it counts as wrong
    return _mean((predictions.chosen == predictions.truth).astype(np.float64))


def _log_loss(predictions: Predictions) -> Statistic:
    seen = predictions.truth >= 0  # one that it never saw has no probability to score
    share = predictions.predicted[seen, predictions.truth[seen]]
    loss = _mean(-np.log(np.clip(share, _LEAST, 1.0)))
    return lambda weight: loss(weight[seen])


def _auc(predictions: Predictions) -> Statistic:
    seen, n_classes = predictions.truth >= 0, len(predictions.classes)
    columns = [1] if n_classes == 2 else range(n_classes)
    truth, share = predictions.truth[seen], predictions.predicted[seen]
    areas = [_area(truth == k, share[:, k]) for k in columns if (truth == k).any()]

    def of(weight: Floats) -> float:
        found = [area(weight[seen]) for area in areas]
        known = [area for area in found if not np.isnan(area)]
        return float(np.mean(known)) if known else _NAN

    return of


def _area(truth: NDArray[np.bool_], share: Floats) -> Statistic:
    """Chance that a case of the class has the higher share; a tie counts half."""
    if not np.isfinite(share).all():
        return lambda weight: _NAN  # noqa: ARG005, no weights make it known
    order = np.argsort(share, kind="stable")
    ordered, positive = share[order], truth[order].astype(np.float64)
    starts = np.flatnonzero(np.r_[True, ordered[1:] > ordered[:-1]])

    def of(weight: Floats) -> float:
        counted = weight[order]
        ours = np.add.reduceat(counted * positive, starts)
        others = np.add.reduceat(counted * (1.0 - positive), starts)
        pairs = ours.sum() * others.sum()
        below = np.cumsum(others) - others / 2
        return float(ours @ below / pairs) if pairs > 0 else _NAN

    return of


_REGRESSION: dict[str, Callable[[Predictions], Any]] = {
    "rmse": _rmse,
    "mae": _mae,
    "r2": _r2,
}
_CLASSES: dict[str, Callable[[Predictions], Any]] = {
    "auc": _auc,
    "log_loss": _log_loss,
    "accuracy": _accuracy,
}
