"""What an explanation is measured by: one list that tables, pages and docs read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from types import MappingProxyType
from typing import Literal

Better = Literal["higher", "lower"]


@dataclass(frozen=True)
class Measure:
    """One number about the explanation of one row.

    Attributes
    ----------
    name : str
        In frames and files.
    label : str
        In tables and on pages.
    better : {"higher", "lower"}
        Which end is the good one.
    source : str
        Where it is defined.
    meaning : str
        One or two sentences: what is divided by what, and what to beware of.
    lowest, highest : float
        Its range; infinite where it has no end.
    """

    name: str
    label: str
    better: Better
    source: str
    meaning: str
    lowest: float = 0.0
    highest: float = 1.0


_BHATT = "Bhatt, Weller, Moura 2020, Evaluating and Aggregating Feature-based Model "
_BHATT += "Explanations"
_KRISHNA = "Krishna et al. 2022, The Disagreement Problem in Explainable ML"
_VISANI = "Visani et al. 2022, Statistical Stability Indices for LIME"
_LUNDBERG = "Ribeiro et al. 2016; Lundberg and Lee 2017, additive feature attribution"
_SAMEK = "Samek et al. 2017; Petsiuk et al. 2018 (RISE)"
_SPAM = "Dubey, Radenovic, Mahajan 2022, explanation length E"
_HERE = "spam_core"

_LIST = (
    Measure(
        "captured_mass",
        "captured by E",
        "higher",
        _BHATT,
        "Share of the sum of absolute values that the E largest hold: 1 if nothing is "
        "left out of a list of E lines.",
    ),
    Measure(
        "agreement_jaccard",
        "same E as truth",
        "higher",
        _KRISHNA,
        "Columns that both the explanation and the exact Shapley values of the same "
        "model have among their E largest, over those that either has. High by chance "
        "where E is close to the number of columns.",
    ),
    Measure(
        "agreement_rank",
        "rank correlation with truth",
        "higher",
        _KRISHNA,
        "Spearman correlation of absolute values with the exact Shapley values of the "
        "same model, over all columns.",
        -1.0,
    ),
    Measure(
        "agreement_sign",
        "same sign as truth",
        "higher",
        _KRISHNA,
        "Share of the E columns of largest exact Shapley value whose sign the "
        "explanation has right.",
    ),
    Measure(
        "stability_jaccard",
        "same E over seeds",
        "higher",
        _VISANI,
        "Jaccard index of the E largest, mean over all pairs of seeds.",
    ),
    Measure(
        "stability_sign",
        "same sign over seeds",
        "higher",
        _VISANI,
        "Of what is among the E largest with any seed, the share that has one sign "
        "with all of them.",
    ),
    Measure(
        "stability_spread",
        "spread over seeds",
        "lower",
        _VISANI,
        "Standard deviation over seeds, mean over columns or terms, as a share of "
        "their mean absolute value.",
        highest=inf,
    ),
    Measure(
        "fidelity",
        "fidelity R2",
        "higher",
        _LUNDBERG,
        "R2 of base + values of the columns present against the model's mean score "
        "with the other columns taken from the background, over coalitions in which "
        "each column is present with probability 1/2. What columns do together can't "
        "be had by one value a column.",
        -inf,
    ),
    Measure(
        "fidelity_top",
        "fidelity R2 of E",
        "higher",
        _LUNDBERG,
        "The same with the E largest alone.",
        -inf,
    ),
    Measure(
        "deletion",
        "deletion against random",
        "higher",
        _SAMEK,
        "Change of the score as the largest columns are taken away first, mean over "
        "how many are gone, over the same for random orders: above 1 the columns that "
        "it names matter more than any.",
        highest=inf,
    ),
    Measure(
        "insertion",
        "insertion against random",
        "lower",
        _SAMEK,
        "Distance to the score as the largest columns are put back first, mean over "
        "how many are back, over the same for random orders: below 1 it gets there "
        "sooner.",
        highest=inf,
    ),
    Measure(
        "decision_kept",
        "decision kept by E",
        "higher",
        _SPAM,
        "Whether base + the E largest decide as the model does: the same class, or "
        "the same side of the mean score of the background.",
    ),
    Measure(
        "truncation_error",
        "left out by E",
        "lower",
        _SPAM,
        "Distance of base + the E largest from the score, in standard deviations of "
        "the scores of the background.",
        highest=inf,
    ),
    Measure(
        "error",
        "error against truth",
        "lower",
        _HERE,
        "Sum of absolute differences from the exact Shapley values of the same model, "
        "over the sum of their absolute values. LIME doesn't claim to give these. Own "
        "terms have none: they answer another question, in which columns are "
        "independent.",
        highest=inf,
    ),
    Measure(
        "unexplained",
        "not explained",
        "lower",
        _HERE,
        "What base and all values lack to the score, over the sum of absolute values: "
        "0 but for a local model such as LIME's.",
        highest=inf,
    ),
    Measure(
        "seconds",
        "seconds",
        "lower",
        _HERE,
        "Time taken for one row, mean over rows and seeds.",
        highest=inf,
    ),
    Measure(
        "evaluations",
        "rows scored",
        "lower",
        _HERE,
        "Rows that the model scored to explain one, mean over rows and seeds.",
        highest=inf,
    ),
)

MEASURES: Mapping[str, Measure] = MappingProxyType({m.name: m for m in _LIST})
"""Name -> Measure, in the order in which they are shown."""

MAIN_MEASURES = (
    "agreement_jaccard",
    "stability_jaccard",
    "fidelity",
    "fidelity_top",
    "deletion",
    "error",
    "seconds",
    "evaluations",
)
"""The measures that a table for reading has."""
