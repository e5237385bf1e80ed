"""ROC and precision-recall curves of one class against the rest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn import metrics

from spam_core.evaluation.predictions import Floats, Integers, OneAgainstRest

MOST_POINTS = 400
"""Points of a curve that are kept: more can't be told apart on a screen."""


@dataclass(frozen=True, eq=False)
class RocCurve:
    """Share of the class that is found against share of the rest that is taken for it.

    Attributes
    ----------
    false_positive, true_positive, threshold : ndarray of shape (k,)
        From the highest threshold, infinity, to the lowest.
    auc : float
        Area under it, over all points.
    """

    false_positive: Floats
    true_positive: Floats
    threshold: Floats
    auc: float


@dataclass(frozen=True, eq=False)
class PrecisionRecallCurve:
    """How many of those taken for the class are of it, against how many are found.

    Attributes
    ----------
    recall, precision, threshold : ndarray of shape (k,)
        From the lowest threshold to the highest; the last point has none, infinity.
    average_precision : float
        Precision averaged over recall, over all points.
    prevalence : float
        The precision of guessing.
    """

    recall: Floats
    precision: Floats
    threshold: Floats
    average_precision: float
    prevalence: float


def roc_curve(case: OneAgainstRest) -> RocCurve:
    """Return the ROC curve.

    Raises
    ------
    ValueError
        If all rows are of one kind; see `OneAgainstRest.lacking`.

    Examples
    --------
    >>> truth = np.array([False, True, True])
    >>> curve = roc_curve(OneAgainstRest("a", "b", truth, np.array([0.1, 0.4, 0.9])))
    >>> curve.auc
    1.0
    """
    case.check()
    false_positive, true_positive, threshold = metrics.roc_curve(case.truth, case.share)
    kept = _spaced(true_positive - false_positive, len(threshold))
    return RocCurve(
        false_positive[kept],
        true_positive[kept],
        threshold[kept].astype(np.float64),
        float(metrics.roc_auc_score(case.truth, case.share)),
    )


def precision_recall_curve(case: OneAgainstRest) -> PrecisionRecallCurve:
    """Return the precision-recall curve.

    Raises
    ------
    ValueError
        If all rows are of one kind; see `OneAgainstRest.lacking`.

    Examples
    --------
    >>> truth = np.array([False, True, True])
    >>> case = OneAgainstRest("a", "b", truth, np.array([0.1, 0.4, 0.9]))
    >>> precision_recall_curve(case).average_precision
    1.0
    """
    case.check()
    precision, recall, threshold = metrics.precision_recall_curve(
        case.truth, case.share, drop_intermediate=True
    )
    threshold = np.append(threshold.astype(np.float64), np.inf)
    kept = _spaced(precision, len(threshold))
    return PrecisionRecallCurve(
        recall[kept],
        precision[kept],
        threshold[kept],
        float(metrics.average_precision_score(case.truth, case.share)),
        case.prevalence,
    )


def _spaced(height: Floats, size: int) -> Integers:
    """Choose points of a curve that is too long: evenly, and the highest one."""
    even = np.linspace(0, size - 1, min(size, MOST_POINTS)).round().astype(np.int64)
    return np.unique(np.append(even, int(np.argmax(height))))
