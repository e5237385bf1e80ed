"""What the page Spectrum says about its numbers."""

from __future__ import annotations

import math

import pandas as pd

from spam_core.explain.spectrum import BoundTerms
from ui.text import amount, beside, literal, number


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
        f"add {beside(size, largest, unit)}, where the largest column, "
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
