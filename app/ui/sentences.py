"""What the pages Spectrum and Compare say about their numbers."""

from __future__ import annotations

import math

import pandas as pd

from spam_core.explain.spectrum import BoundTerms
from ui.text import amount, beside, literal, number, percent


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
    >>> spectrum(1, 8, 2, 8, 6.05, 6.0, "RMSE", "years", 0.99).split("8.")[0]
    'The largest component holds 99 % of the energy of all '
    """
    subject = (
        "The largest component holds"
        if held == 1
        else f"The {held:,} largest components hold"
    )
    first = f"{subject} {100 * share:.0f} % of the energy of all {n_values:,}."
    metric = metric if metric.isupper() else metric[0].lower() + metric[1:]
    if not math.isfinite(whole) or not math.isfinite(score):
        return f"{first} On the test rows {metric} can't be worked out."
    if enough >= most:
        return f"{first} For the same {metric} on the test rows it takes all {most:,}."
    change = (
        f"stay at {amount(whole, unit)}"
        if number(score) == number(whole)
        else f"go from {amount(whole, unit)} to {amount(score, unit)}"
    )
    return (
        f"{first} The model could be cut from {most:,} components to {enough:,}: its "
        f"{metric} on the test rows would {change}."
    )


def negligible(order: int, size: float, column: str, largest: float, unit: str) -> str:
    """Say that components of an order hardly matter.

    Examples
    --------
    >>> negligible(2, 1e-20, "age", 3.0, "years")[:50]
    'Components of order 2 hardly matter to this model:'
    """
    return (
        f"Components of order {order} hardly matter to this model: all together "
        f"add {beside(size, largest)}, where the largest column, "
        f"{literal(column)}, adds or takes away {amount(largest, unit)} on average. "
        "Training found no use for them; what is below describes the little there is."
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


def error(found: dict[str, float], asked: dict[str, int], exactly: int) -> str:
    """Say how wrong each method is where the truth is known.

    Parameters
    ----------
    found : dict of str to float
        Method -> relative difference from the exact values.
    asked : dict of str to int
        Method -> model evaluations.
    exactly : int
        Model evaluations of the exact values.

    Examples
    --------
    >>> error({"LIME": 0.25}, {"LIME": 5001}, 101).split(": ")[1]
    'LIME is off by **25.0 %** (5,001 model evaluations). The exact values took 101.'
    """
    if not all(map(math.isfinite, found.values())):
        return (
            "No column contributes anything in this row: there is nothing to compare."
        )
    parts = [
        f"{name} is off by **{_off(found[name])}** ({asked[name]:,} model evaluations)"
        for name in found
    ]
    return (
        f"**The truth is known here**, because the model is a sum: {', '.join(parts)}. "
        f"The exact values took {exactly:,}."
    )


ERROR_HELP = (
    "Off by: the sum of absolute differences from the exact values, over the sum of "
    "absolute exact values, all columns counted. KernelSHAP estimates the same numbers "
    "and comes close if it asks often enough. LIME answers another question: which "
    "straight line fits the model's answers around the row."
)


def _off(share: float) -> str:
    return "less than 0.1 %" if share < 0.001 else percent(share)


def unknown(between: float) -> str:
    """Say that nobody knows, and how much both methods differ."""
    text = (
        "**The truth is not known here**: a neural network is no sum of terms, so "
        "nobody can say how far off the two explanations of it are."
    )
    if not math.isfinite(between):
        return text
    return (
        f"{text} What can be said: LIME differs from KernelSHAP by {percent(between)} "
        "of KernelSHAP's total size."
    )


def bases(
    spam: float, kernel_shap: float, lime: float, n_rows: int, lines: str, same: bool
) -> str:
    """Say where each explanation starts.

    Parameters
    ----------
    spam, kernel_shap, lime : float
    n_rows : int
        Of the background.
    lines : {"shapley", "pure", "raw"}
        What SPAM's lines are.
    same : bool
        Whether all three explain the same model.
    """
    line = f"LIME starts from {number(lime)}, the intercept of its local line."
    if lines == "shapley" and same:
        return (
            f"SPAM and KernelSHAP start from the same base, {number(spam)}: the mean "
            f"score of the same {n_rows:,} training rows. {line}"
        )
    own = {
        "shapley": f"the mean of its own scores over {n_rows:,} training rows",
        "pure": "its mean score if columns were independent of each other",
        "raw": "its score where every column counts as zero",
    }[lines]
    two = "" if same else " SPAM and the network are two models with two scores."
    return (
        f"Bases differ. SPAM starts from {number(spam)}, {own}. KernelSHAP starts from "
        f"{number(kernel_shap)}, the mean score of {n_rows:,} training rows"
        f"{'' if same else ' by the neural network'}. {line}{two}"
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


def waiting(model: str, seconds: float, evaluations: dict[str, int]) -> str:
    """Say what is being waited for.

    Examples
    --------
    >>> waiting("SPAM", 3.2, {"LIME": 5001, "KernelSHAP": 1801})
    'Asking SPAM about 6,802 changed rows, about 3 s…'
    """
    rows = sum(evaluations.values())
    return (
        f"Asking {model} about {rows:,} changed rows, about {max(1, round(seconds))} s…"
    )
