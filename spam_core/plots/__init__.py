"""Figures of what the library works out: values in, plotly figures out.

Nothing here computes. Each function takes a value object by its attributes and returns
a plain ``plotly.graph_objects.Figure``, which works in a notebook, in the dashboard and
in a report alike. :func:`alt_text` says in words what a figure shows and :func:`table`
gives the same numbers as a frame.
"""

from __future__ import annotations

from spam_core.plots.budget import budget
from spam_core.plots.comparison import comparison
from spam_core.plots.decay import decay
from spam_core.plots.distribution import distribution
from spam_core.plots.history import history
from spam_core.plots.importance import importance
from spam_core.plots.ledger import ledger
from spam_core.plots.matrix import matrix
from spam_core.plots.methods import agreement, faithfulness, fidelity
from spam_core.plots.performance import leaderboard, reruns
from spam_core.plots.performance_calibration import calibration, score_distribution
from spam_core.plots.performance_classes import confusion, most_confused, per_class
from spam_core.plots.performance_curves import precision_recall, roc
from spam_core.plots.performance_errors import (
    error_bins,
    predicted_actual,
    residuals,
)
from spam_core.plots.reading import alt_text, table
from spam_core.plots.settings import settings_importance
from spam_core.plots.shape import shape
from spam_core.plots.simulation import simulation
from spam_core.plots.spectrum import spectrum
from spam_core.plots.surface import surface
from spam_core.plots.sweep import sweep
from spam_core.plots.truncation import truncation

__all__ = [
    "agreement",
    "alt_text",
    "budget",
    "calibration",
    "comparison",
    "confusion",
    "decay",
    "distribution",
    "error_bins",
    "faithfulness",
    "fidelity",
    "history",
    "importance",
    "leaderboard",
    "ledger",
    "matrix",
    "most_confused",
    "per_class",
    "precision_recall",
    "predicted_actual",
    "reruns",
    "residuals",
    "roc",
    "score_distribution",
    "settings_importance",
    "shape",
    "simulation",
    "spectrum",
    "surface",
    "sweep",
    "table",
    "truncation",
]
