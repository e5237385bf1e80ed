"""What the page Compare asks for, and what it says about it."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import streamlit as st

from spam_core.explain import MEASURES, Comparison, ComparisonProgress
from ui import analysis, session
from ui.kinds import capital
from ui.text import duration, literal, number, percent

METHODS = ("LIME", "KernelSHAP")
EXACT, OWN = "exact Shapley", "own terms"

SHOWN = (
    "error",
    "agreement_jaccard",
    "stability_jaccard",
    "fidelity",
    "fidelity_top",
    "deletion",
    "seconds",
    "evaluations",
)
"""Measures in the page's table."""

FORMATS = {
    "error": "percent",
    "seconds": "%.3g",
    "evaluations": "localized",
}

_KEYS = {"LIME": "lime", "KernelSHAP": "kernel_shap"}

ERROR_HELP = (
    "Off by: the sum of absolute differences from the exact values, over the sum of "
    "absolute exact values, all columns counted, mean over seeds. KernelSHAP estimates "
    "the same numbers and comes close if it asks often enough. LIME answers another "
    "question: which straight line fits the model's answers around the row."
)


def run(
    models: tuple[tuple[str, str], ...],
    dataset: str,
    position: int,
    label: object,
    automatic: float,
) -> Comparison | None:
    """Compare at once if that is quick, else when the visitor asks for it.

    Parameters
    ----------
    models, dataset, position, label : see `analysis.comparison`
    automatic : float
        Seconds that it may take without being asked for.

    Returns
    -------
    Comparison or None
        None where it waits for the visitor, or couldn't be made, which is said.
    """
    this = [models, position]
    try:
        costs = {
            (path, method): analysis.cost(path, dataset, key)
            for _, path in models
            for method, key in _KEYS.items()
        }
        n_seeds = len(analysis.SEEDS)
        seconds = n_seeds * sum(cost.seconds for cost in costs.values())
        rows = n_seeds * sum(cost.n_evaluations for cost in costs.values())
        whom = " and ".join(name for name, _ in models)
        if seconds > automatic and session.get("compare_asked") != this:
            st.info(
                f"Asking {whom} about {rows:,} changed rows will take about "
                f"{max(1, round(seconds))} s."
            )
            if st.button("Run LIME and KernelSHAP", type="primary"):
                session.put("compare_asked", this)
                st.rerun()
            return None
        bar = st.empty()
        told = f"Asking {whom} about {rows:,} changed rows"

        def tell(step: ComparisonProgress) -> None:
            share = min(1.0, step.done / step.total)
            bar.progress(share, text=f"{told}: {step.what}")

        bar.progress(0.0, text=told)
        found = analysis.comparison(models, dataset, position, label, tell)
        bar.empty()
    except (ImportError, TypeError, ValueError) as error:  # what the methods refuse
        st.error(literal(error), title="LIME and KernelSHAP could not be run")
        return None
    return found


def _means(shown: Comparison) -> dict[tuple[str, str, str], float]:
    frame = shown.summary()
    keys = zip(frame["model"], frame["method"], frame["measure"], strict=True)
    return dict(zip(keys, frame["mean"].tolist(), strict=True))


def errors(shown: Comparison, subject: str, is_sum: bool) -> str:
    """Say how wrong each method is, or that nobody knows.

    Parameters
    ----------
    shown : Comparison
    subject : str
        Name of the model that is explained, in the comparison.
    is_sum : bool
        Whether it is a glass box.
    """
    means = _means(shown)
    if not shown.truth_known[subject]:
        lime, kernel = ((subject, method) for method in METHODS)
        pairs = shown.agreement
        here = (
            (pairs["model_a"] == subject)
            & (pairs["method_a"] == lime[1])
            & (pairs["model_b"] == subject)
            & (pairs["method_b"] == kernel[1])
        )
        between = float(pairs.loc[here, "relative_difference"].iloc[0])
        return (
            f"**The truth is not known here**: {literal(subject)} is no sum of terms, "
            "so nobody can say how far off the two explanations of it are. What can be "
            f"said: LIME differs from KernelSHAP by {percent(between)} of KernelSHAP's "
            "total size."
        )
    found = {method: means[subject, method, "error"] for method in METHODS}
    if not all(map(math.isfinite, found.values())):
        return (
            "No column contributes anything in this row: there is nothing to compare."
        )
    parts = [
        f"{method} is off by **{_off(error)}** "
        f"({round(means[subject, method, 'evaluations']):,} model evaluations)"
        for method, error in found.items()
    ]
    asked = round(means[subject, EXACT, "evaluations"])
    why = (
        "because the model is a sum"
        if is_sum
        else "because with so few columns every combination of them can be tried"
    )
    return (
        f"**The truth is known here**, {why}: {', '.join(parts)}. "
        f"The exact values took {asked:,}."
    )


def _off(share: float) -> str:
    return "less than 0.1 %" if share < 0.001 else percent(share)


def bases(
    shown: Comparison, own: Any, glass: str | None, subject: str, label: object
) -> str:
    """Say where each explanation starts.

    Parameters
    ----------
    shown : Comparison
    own : LocalExplanation or None
        Of the glass box.
    glass, subject : str
        Names of the glass box, None without one, and of the model that is explained.
    label : object
        Class that is explained.
    """
    starts = {
        method: _base(shown.explanations[subject, method], label) for method in METHODS
    }
    n_rows = shown.background_size
    line = (
        f"LIME starts from {number(starts['LIME'])}, the intercept of its local line."
    )
    kernel = (
        f"KernelSHAP starts from {number(starts['KernelSHAP'])}, the mean score of "
        f"{n_rows:,} training rows"
    )
    if glass is None:
        return f"{kernel}. {line}"
    begin, same = _base(own, label), subject == glass
    name = capital(literal(glass))
    if own.view == "shapley" and same:
        return (
            f"{name} and KernelSHAP start from the same base, {number(begin)}: the "
            f"mean score of the same {n_rows:,} training rows. {line}"
        )
    lines = {
        "shapley": f"the mean of its own scores over {n_rows:,} training rows",
        "pure": "its mean score if columns were independent of each other",
        "raw": (
            "its score where every column counts as zero"
            if own.method == "SPAM"  # whatever it is called: a polynomial
            else "the constant that its tables are added to"
        ),
    }[own.view]
    whose = "" if same else f" by {literal(subject)}"
    two = "" if same else f" {name} and {literal(subject)} are two models, two scores."
    return (
        f"Bases differ. {name} starts from {number(begin)}, {lines}. {kernel}{whose}. "
        f"{line}{two}"
    )


def _base(explanation: Any, label: object) -> float:
    lines = explanation.ledger(0, E=1, class_=label)
    return float(lines["contribution"].iloc[-2])


def verdict(shown: Comparison, glass: str | None, subject: str) -> str:
    """Say in one sentence a method what its measures mean."""
    means = _means(shown)
    columns = shown.explanations[subject, METHODS[0]].feature_names
    length = min(shown.E, len(columns))
    parts = []
    for method in METHODS:
        said = []
        same = means[subject, method, "agreement_jaccard"]
        if math.isfinite(same):
            said.append(
                f"{percent(same)} of the {length} largest columns are the right ones"
            )
        again = means[subject, method, "stability_jaccard"]
        if math.isfinite(again):
            said.append(f"{percent(again)} of them stay when it is run again")
        fit = means[subject, method, "fidelity"]
        if math.isfinite(fit):
            said.append(
                f"its lines tell {percent(max(fit, 0.0))} of what the "
                f"model does around this row"
            )
        if said:
            parts.append(f"**{method}**: {', '.join(said)}.")
    if glass is None:
        return " ".join(parts)
    exact = (glass, OWN if shown.unit == "term" else EXACT)
    fit = means[*exact, "fidelity"]
    took, again = (means[*exact, name] for name in ("seconds", "stability_jaccard"))
    if math.isfinite(fit):
        what = "terms" if shown.unit == "term" else "columns"
        parts.append(
            f"**{capital(literal(glass))}'s own {what}**: {percent(again)} stay when "
            f"they are worked out again, they tell {percent(max(fit, 0.0))}, and took "
            f"{duration(took)}."
        )
    return " ".join(parts)


def readable(shown: Comparison) -> pd.DataFrame:
    """Return the page's table: a line for each model and method."""
    frame = shown.table(SHOWN).reset_index()
    return frame if len(shown.truth_known) > 1 else frame.drop(columns="model")


def alt(shown: Comparison) -> str:
    """Say the table in words."""
    means = _means(shown)
    lines = [
        f"{model}, {method}: "
        + ", ".join(
            f"{MEASURES[name].label} {number(means[model, method, name])}"
            for name in SHOWN
        )
        for model, method in shown.explanations
    ]
    return f"Measures of each explanation. {'. '.join(lines)}."
