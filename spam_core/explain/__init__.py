"""Explanations: what a model says about a row, and overall, as values.

A SPAM explains itself exactly (`explain_local`, `explain_global`); LIME and KernelSHAP
explain any model from outside. Every method returns the same `LocalExplanation`, and
`compare_explanations` measures them side by side. The packages lime and shap are loaded
when they are first used.
"""

from spam_core.explain.agreement import relative_difference
from spam_core.explain.budget import error_by_budget
from spam_core.explain.comparison import (
    Comparison,
    ComparisonProgress,
    compare_explanations,
)
from spam_core.explain.enumeration import explain_by_enumeration
from spam_core.explain.explanation import (
    Curve,
    GlobalExplanation,
    LocalExplanation,
    Surface,
)
from spam_core.explain.glassbox import explain_global, explain_local
from spam_core.explain.measures import MAIN_MEASURES, MEASURES, Measure
from spam_core.explain.posthoc import (
    CostEstimate,
    estimate_cost,
    estimate_evaluations,
    explain_kernel_shap,
    explain_lime,
    sample_background,
)
from spam_core.explain.record import TrainingRecord, record_training

__all__ = [
    "MAIN_MEASURES",
    "MEASURES",
    "Comparison",
    "ComparisonProgress",
    "CostEstimate",
    "Curve",
    "GlobalExplanation",
    "LocalExplanation",
    "Measure",
    "Surface",
    "TrainingRecord",
    "compare_explanations",
    "error_by_budget",
    "estimate_cost",
    "estimate_evaluations",
    "explain_by_enumeration",
    "explain_global",
    "explain_kernel_shap",
    "explain_lime",
    "explain_local",
    "record_training",
    "relative_difference",
    "sample_background",
]
