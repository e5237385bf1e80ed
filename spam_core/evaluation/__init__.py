"""How good predictions are, and where they are wrong: values for tables and figures.

Everything starts from `predict`, what a fitted model says about rows whose truth is
known. What a measure can't tell of some rows, such as a curve of one class alone, is
said in a plain sentence, never guessed.
"""

from __future__ import annotations

from spam_core.evaluation.bootstrap import Ranking, Score, rank
from spam_core.evaluation.calibration import (
    Calibration,
    ScoreHistogram,
    calibration,
    score_histogram,
)
from spam_core.evaluation.confusion import Confusion, at_threshold, confusion
from spam_core.evaluation.curves import (
    PrecisionRecallCurve,
    RocCurve,
    precision_recall_curve,
    roc_curve,
)
from spam_core.evaluation.errors import Errors, errors, largest_errors
from spam_core.evaluation.predictions import (
    OneAgainstRest,
    Predictions,
    one_against_rest,
    predict,
)
from spam_core.evaluation.statistic import statistic

__all__ = [
    "Calibration",
    "Confusion",
    "Errors",
    "OneAgainstRest",
    "PrecisionRecallCurve",
    "Predictions",
    "Ranking",
    "RocCurve",
    "Score",
    "ScoreHistogram",
    "at_threshold",
    "calibration",
    "confusion",
    "errors",
    "largest_errors",
    "one_against_rest",
    "precision_recall_curve",
    "predict",
    "rank",
    "roc_curve",
    "score_histogram",
    "statistic",
]
