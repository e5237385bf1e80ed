"""Explanations: what a model says about a row, and overall, as values.

A SPAM explains itself exactly (`explain_local`, `explain_global`); every method returns
the same `LocalExplanation`.
"""

from spam_core.explain.explanation import (
    Curve,
    GlobalExplanation,
    LocalExplanation,
    Surface,
)
from spam_core.explain.glassbox import explain_global, explain_local
from spam_core.explain.record import TrainingRecord, record_training

__all__ = [
    "Curve",
    "GlobalExplanation",
    "LocalExplanation",
    "Surface",
    "TrainingRecord",
    "explain_global",
    "explain_local",
    "record_training",
]
