"""Whether probabilities are what they say, and how they are spread."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats
from sklearn import metrics
from sklearn.calibration import calibration_curve

from spam_core.evaluation.predictions import Floats, Integers, OneAgainstRest


@dataclass(frozen=True, eq=False)
class Calibration:
    """How often what was called probable came true, in bins of about as many rows.

    Attributes
    ----------
    predicted, observed : ndarray of shape (b,)
        Mean probability of the rows of a bin, and the share of them that are of the
        class.
    low, high : ndarray of shape (b,)
        Ends of a 95 % Wilson interval of that share.
    rows : ndarray of shape (b,)
        Rows of each bin. Rows with one probability are in one bin, so that there may
        be fewer bins than asked for.
    brier, log_loss : float
        Mean squared error of the probabilities, and minus the mean log of the
        probability of what was true; over all rows.
    prevalence : float
        Share of all rows that are of the class.
    """

    predicted: Floats
    observed: Floats
    low: Floats
    high: Floats
    rows: Integers
    brier: float
    log_loss: float
    prevalence: float

    @property
    def error(self) -> float:
        """Mean distance of the two shares over the bins, counted by rows."""
        gap = np.abs(self.predicted - self.observed)
        return float(self.rows @ gap / self.rows.sum())


def calibration(case: OneAgainstRest, n_bins: int = 10) -> Calibration:
    """Compare probabilities with what came true.

    Parameters
    ----------
    case : OneAgainstRest
    n_bins : int, default=10
        At most; never more than there are rows.

    Raises
    ------
    ValueError
        If there are no rows.

    Examples
    --------
    >>> truth = np.array([False, True, False, True])
    >>> share = np.array([0.1, 0.1, 0.9, 0.9])
    >>> found = calibration(OneAgainstRest("a", "b", truth, share), n_bins=2)
    >>> found.predicted, found.observed, found.rows
    (array([0.1, 0.9]), array([0.5, 0.5]), array([2, 2]))
    >>> found.error
    0.4
    """
    if not len(case.truth):
        raise ValueError(case.lacking)
    truth, share = case.truth, np.clip(case.share, 0.0, 1.0)
    n_bins = min(n_bins, len(truth))
    observed, predicted = calibration_curve(
        truth, share, n_bins=n_bins, strategy="quantile", pos_label=True
    )
    # the rows of scikit-learn's bins, which it doesn't return
    edges = np.percentile(share, np.linspace(0, 100, n_bins + 1))
    rows = np.bincount(np.searchsorted(edges[1:-1], share), minlength=n_bins)
    rows = rows[rows > 0]
    low, high = np.array(
        [_wilson(round(part * n), n) for part, n in zip(observed, rows, strict=True)]
    ).T
    return Calibration(
        predicted,
        observed,
        low,
        high,
        rows,
        float(metrics.brier_score_loss(truth, share, pos_label=True)),
        float(metrics.log_loss(truth, share, labels=[False, True])),
        case.prevalence,
    )


def _wilson(successes: int, n: int) -> tuple[float, float]:
    found = stats.binomtest(successes, int(n)).proportion_ci(0.95, method="wilson")
    return float(found.low), float(found.high)


@dataclass(frozen=True, eq=False)
class ScoreHistogram:
    """How the probabilities of a class are spread, over rows of it and over the rest.

    Attributes
    ----------
    name, rest : str
    edges : ndarray of shape (b + 1,)
        From 0 to 1.
    of_class, of_rest : ndarray of shape (b,)
        Rows.
    """

    name: str
    rest: str
    edges: Floats
    of_class: Integers
    of_rest: Integers


def score_histogram(case: OneAgainstRest, n_bins: int = 25) -> ScoreHistogram:
    """Count the rows of either kind by their probability of the class.

    Examples
    --------
    >>> truth = np.array([False, True, True])
    >>> case = OneAgainstRest("a", "b", truth, np.array([0.1, 0.6, 0.9]))
    >>> score_histogram(case, 2).of_class
    array([0, 2])
    """
    edges = np.linspace(0.0, 1.0, n_bins + 1)
    share = np.clip(case.share, 0.0, 1.0)
    of_class, of_rest = (
        np.histogram(share[kind], edges)[0] for kind in (case.truth, ~case.truth)
    )
    return ScoreHistogram(case.name, case.rest, edges, of_class, of_rest)
