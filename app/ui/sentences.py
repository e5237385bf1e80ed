"""What the pages Spectrum and Compare say about their numbers."""

from __future__ import annotations

import math

import pandas as pd

from spam_core.explain.spectrum import BoundTerms
from ui.text import amount, literal, number, percent


def spectrum(
    held: int,
    n_values: int,
    enough: int,
    most: int,
    score: float,
    whole: float,
    metric: str,
    unit: str,
    share: float,
) -> str:
    """Say how few components would do.

    Examples
    --------
    >>> spectrum(1, 8, 2, 8, 6.05, 6.0, "RMSE", "years", 0.99)[:54]
    'The largest component holds 99.0 % of the energy of all'
    """
    subject = (
        "The largest component holds"
        if held == 1
        else f"The {held:,} largest components hold"
    )
    first = f"{subject} {percent(share)} of the energy of all {n_values:,}."
    if not math.isfinite(whole) or not math.isfinite(score):
        return f"{first} The {metric} can't be worked out on the test rows."
    if enough >= most:
        return f"{first} Dropping any would cost test {metric}."
    change = (
        f"stay at {amount(whole, unit)}"
        if number(score) == number(whole)
        else f"go from {amount(whole, unit)} to {amount(score, unit)}"
    )
    return (
        f"{first} The model could be cut from {most:,} components to {enough:,}: its "
        f"{metric} on the test rows would {change}."
    )


def bound(terms: BoundTerms) -> pd.DataFrame:
    """List Theorem 1's terms, the exactly summed tail last."""
    rows = [
        ("estimation", "2 B_λ (Σ B_u^l √r_l) √(d / n)", terms.estimation),
        ("confidence", "5 √(log(4 / δ) / n), δ = 0.05", terms.confidence),
        ("approximation, as printed", "C1 / C2 Σ exp(-r_l^γ)", terms.approximation),
        (
            "approximation, summed",
            "Σ over j > r_l of C1 exp(-C2 j^γ)",
            terms.exact_tail,
        ),
    ]
    frame = pd.DataFrame(rows, columns=["term", "formula", "value"])
    frame["value"] = [number(value) for value in frame["value"]]
    return frame


def error(lime: float, kernel_shap: float) -> str:
    """Say how wrong both methods are where the truth is known."""
    if not (math.isfinite(lime) and math.isfinite(kernel_shap)):
        return (
            "No column contributes anything in this row: there is nothing to compare."
        )
    return (
        f"**The truth is known here**, because the model is a sum. KernelSHAP's bars "
        f"are off by **{percent(kernel_shap)}** and LIME's by **{percent(lime)}**: the "
        "sum of absolute differences from the exact values, over the sum of absolute "
        "exact values, all columns counted."
    )


def unknown(between: float) -> str:
    """Say that nobody knows, and how much both methods differ."""
    text = (
        "**The truth is not known here**: a neural network is no sum of terms, so "
        "nobody can say how far off the two explanations of it are."
    )
    if not math.isfinite(between):
        return text
    return (
        f"{text} What can be said is that they differ from each other by "
        f"{percent(between)} of KernelSHAP's total size."
    )


def bases(spam: float, kernel_shap: float, lime: float, n_rows: int) -> str:
    """Say where each explanation starts."""
    return (
        f"Each starts from its own base. SPAM: {number(spam)}, the mean score if the "
        f"columns were independent of each other. KernelSHAP: {number(kernel_shap)}, "
        f"the mean score of {n_rows:,} training rows. LIME: {number(lime)}, the "
        "intercept of its local model. So a part of the differences comes from the "
        "question asked, not from a mistake."
    )


def cost(model: str, seconds: float, evaluations: dict[str, int]) -> str:
    """Say what asking a model will take, before it is asked.

    Examples
    --------
    >>> cost("SPAM", 12.3, {"LIME": 5001})
    'Asking SPAM will take about 12 s: LIME 5,001 model evaluations.'
    """
    parts = ", ".join(
        f"{literal(name)} {n:,} model evaluations" for name, n in evaluations.items()
    )
    return f"Asking {model} will take about {max(1, round(seconds))} s: {parts}."
