"""Which classes are taken for which."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn import metrics

from spam_core.evaluation.predictions import (
    Floats,
    Integers,
    OneAgainstRest,
    Predictions,
)


@dataclass(frozen=True, eq=False)
class Confusion:
    """Counts of rows by true and predicted class.

    Attributes
    ----------
    classes : tuple of C str
    counts : ndarray of shape (C, C)
        Rows of a true class (first) that were given a class (second).
    n_left_out : int
        Rows without a finite prediction, or of a class that the model never saw.
    """

    classes: tuple[str, ...]
    counts: Integers
    n_left_out: int = 0

    @property
    def shares(self) -> Floats:
        """Each row of the counts as shares of its sum; NaN where there are no rows."""
        return _ratio(self.counts, self.counts.sum(axis=1, keepdims=True))

    @property
    def recall(self) -> Floats:
        """Share of each class that was found; NaN for a class without rows."""
        return _ratio(np.diag(self.counts), self.counts.sum(axis=1))

    @property
    def precision(self) -> Floats:
        """Share of those given a class that are of it; NaN for one never given."""
        return _ratio(np.diag(self.counts), self.counts.sum(axis=0))

    @property
    def f1(self) -> Floats:
        """Harmonic mean of both; NaN for a class that is neither there nor given."""
        both = self.counts.sum(axis=1) + self.counts.sum(axis=0)
        return _ratio(2 * np.diag(self.counts), both)

    @property
    def accuracy(self) -> float:
        """Share of the rows given their class; NaN without rows."""
        total = self.counts.sum()
        return float(np.trace(self.counts) / total) if total else float("nan")

    def per_class(self) -> pd.DataFrame:
        """Return class, rows, recall, precision and F1; the least recall first.

        Classes without rows come last.
        """
        frame = pd.DataFrame(
            {
                "class": list(self.classes),
                "rows": self.counts.sum(axis=1),
                "recall": self.recall,
                "precision": self.precision,
                "F1": self.f1,
            }
        )
        return frame.sort_values("recall", kind="stable", ignore_index=True)

    def most_confused(self, top: int = 20) -> pd.DataFrame:
        """Return the pairs of classes that are confused in most rows.

        Returns
        -------
        DataFrame
            ``actual``, ``predicted``, ``rows`` and ``share`` of the actual class.

        Examples
        --------
        >>> Confusion(("a", "b"), np.array([[3, 1], [0, 2]])).most_confused()
          actual predicted  rows  share
        0      a         b     1   0.25
        """
        wrong = self.counts - np.diag(np.diag(self.counts))
        order = np.argsort(-wrong, axis=None, kind="stable")[:top]
        actual, predicted = np.unravel_index(order, wrong.shape)
        rows = wrong[actual, predicted]
        frame = pd.DataFrame(
            {
                "actual": [self.classes[k] for k in actual],
                "predicted": [self.classes[k] for k in predicted],
                "rows": rows,
                "share": self.shares[actual, predicted],
            }
        )
        return frame[frame["rows"] > 0].reset_index(drop=True)


def confusion(predictions: Predictions) -> Confusion:
    """Count true and predicted classes, each row given its most probable class.

    Examples
    --------
    >>> shares = np.array([[0.9, 0.1], [0.6, 0.4]])
    >>> found = Predictions("binary", np.array([0, 1]), shares, ("no", "yes"))
    >>> confusion(found).counts
    array([[1, 0],
           [1, 0]])
    """
    usable = predictions.usable
    return Confusion(
        predictions.classes,
        metrics.confusion_matrix(
            predictions.truth[usable],
            predictions.chosen[usable],
            labels=range(len(predictions.classes)),
        )
        if usable.any()
        else np.zeros((len(predictions.classes),) * 2, dtype=np.int64),
        int((~usable).sum()),
    )


def at_threshold(case: OneAgainstRest, threshold: float) -> Confusion:
    """Count a class and the rest if it takes a probability of `threshold` to be of it.

    Returns
    -------
    Confusion
        The rest is the first class, the class itself the second.

    Examples
    --------
    >>> truth = np.array([False, True, True])
    >>> case = OneAgainstRest("a", "b", truth, np.array([0.1, 0.4, 0.9]))
    >>> at_threshold(case, 0.5).recall
    array([1. , 0.5])
    """
    given = case.share >= threshold
    counts = np.array(
        [
            [int(((case.truth == a) & (given == b)).sum()) for b in (0, 1)]
            for a in (0, 1)
        ]
    )
    return Confusion((case.rest, case.name), counts, case.n_left_out)


def _ratio(part: Integers, whole: Integers) -> Floats:
    out = np.full(np.broadcast(part, whole).shape, np.nan)
    np.divide(part, whole, out=out, where=whole > 0)
    return out
