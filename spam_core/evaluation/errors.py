"""Where a regression is off, and the rows that any model is most wrong about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from spam_core.evaluation.predictions import Floats, Integers, Predictions


@dataclass(frozen=True, eq=False)
class Errors:
    """Actual and predicted values of a regression.

    Attributes
    ----------
    actual, predicted : ndarray of shape (n,)
    row : ndarray of shape (n,)
        Position of each among the rows that were asked about.
    n_left_out : int
        Rows without a finite prediction.
    """

    actual: Floats
    predicted: Floats
    row: Integers
    n_left_out: int = 0

    @property
    def residual(self) -> Floats:
        """Actual less predicted: above 0 where the model says too little."""
        return self.actual - self.predicted

    def sample(self, most: int, seed: int = 0) -> Errors:
        """Return at most that many rows, drawn at random, in their order."""
        if len(self.actual) <= most:
            return self
        rng = np.random.default_rng(seed)
        kept = np.sort(rng.choice(len(self.actual), most, replace=False))
        return Errors(
            self.actual[kept], self.predicted[kept], self.row[kept], self.n_left_out
        )

    def by_quantile(
        self, of: Literal["actual", "predicted"] = "actual", n_bins: int = 10
    ) -> pd.DataFrame:
        """Summarise the errors in bins of about as many rows.

        Parameters
        ----------
        of : {"actual", "predicted"}, default="actual"
            What the bins are of.
        n_bins : int, default=10
            At most: rows with one value are in one bin.

        Returns
        -------
        DataFrame
            ``from``, ``to``, ``rows``, ``center`` (mean of what the bins are of),
            ``rmse``, ``mae`` and ``mean_error`` (of actual less predicted).

        Examples
        --------
        >>> errors = Errors(np.arange(4.0), np.zeros(4), np.arange(4))
        >>> errors.by_quantile(n_bins=2)[["from", "to", "rows", "mean_error"]]
           from   to  rows  mean_error
        0   0.0  1.0     2         0.5
        1   2.0  3.0     2         2.5
        """
        values, residual = getattr(self, of), self.residual
        inner = np.quantile(values, np.linspace(0, 1, n_bins + 1)[1:-1])
        place = np.searchsorted(np.unique(inner), values)
        lines = []
        for k in np.unique(place):
            here, off = values[place == k], residual[place == k]
            lines.append(
                {
                    "from": here.min(),
                    "to": here.max(),
                    "rows": len(here),
                    "center": here.mean(),
                    "rmse": np.sqrt((off**2).mean()),
                    "mae": np.abs(off).mean(),
                    "mean_error": off.mean(),
                }
            )
        return pd.DataFrame(lines)

    def histogram(self, n_bins: int = 40) -> pd.DataFrame:
        """Count the residuals: ``from``, ``to`` and ``rows`` of bins of one width.

        Examples
        --------
        >>> Errors(np.ones(3), np.array([0, 0, 1.0]), np.arange(3)).histogram(2)
           from   to  rows
        0   0.0  0.5     1
        1   0.5  1.0     2
        """
        rows, edges = np.histogram(self.residual, n_bins)
        return pd.DataFrame({"from": edges[:-1], "to": edges[1:], "rows": rows})


def errors(predictions: Predictions) -> Errors:
    """Look at the errors of a regression.

    Raises
    ------
    ValueError
        If the predictions are of classes, or none is finite.
    """
    if predictions.task != "regression":
        raise ValueError(f"Expected a regression, got a {predictions.task} task")
    usable = predictions.usable
    if not usable.any():
        raise ValueError("There are no rows with a finite prediction to judge by.")
    return Errors(
        predictions.truth[usable],
        predictions.predicted[usable],
        np.flatnonzero(usable),
        int((~usable).sum()),
    )


def largest_errors(predictions: Predictions, top: int = 10) -> pd.DataFrame:
    """Return the rows that a model is most wrong about, the worst first.

    Returns
    -------
    DataFrame
        ``row`` (position among the rows asked about), ``actual``, ``predicted``, and
        ``error`` (actual less predicted), or for classes ``probability``: what the
        model gave to the actual class. Of classes only rows that were given another.

    Examples
    --------
    >>> found = Predictions("regression", np.zeros(3), np.array([1.0, -5.0, 2.0]))
    >>> largest_errors(found, 2)
       row  actual  predicted  error
    0    1     0.0       -5.0    5.0
    1    2     0.0        2.0   -2.0
    """
    rows = np.flatnonzero(predictions.usable)
    truth = predictions.truth[rows]
    if predictions.task == "regression":
        guess = predictions.predicted[rows]
        off = truth - guess
        worst = np.argsort(-np.abs(off), kind="stable")[:top]
        parts = {"actual": truth, "predicted": guess, "error": off}
        return pd.DataFrame({"row": rows, **parts}).iloc[worst].reset_index(drop=True)
    given = predictions.chosen[rows]
    share = predictions.predicted[rows, truth]
    worst = np.argsort(share, kind="stable")
    worst = worst[given[worst] != truth[worst]][:top]
    names = predictions.classes
    return pd.DataFrame(
        {
            "row": rows[worst],
            "actual": [names[k] for k in truth[worst]],
            "predicted": [names[k] for k in given[worst]],
            "probability": share[worst],
        }
    )
