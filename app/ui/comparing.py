"""What the page Compare asks for, and what it says about it."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import streamlit as st

from spam_core.explain import MEASURES, Comparison, ComparisonProgress
from ui import analysis, session
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

_NAMES = {analysis.SPAM: "SPAM", analysis.NETWORK: "neural network"}
_KEYS = {"LIME": "lime", "KernelSHAP": "kernel_shap"}

ERROR_HELP = (
    "Off by: the sum of absolute differences from the exact values, over the sum of "
    "absolute exact values, all columns counted, mean over seeds. KernelSHAP estimates "
    "the same numbers and comes close if it asks often enough. LIME answers another "
    "question: which straight line fits the model's answers around the row."
)


def run(
    spam: str,
    network: str | None,
    dataset: str,
    position: int,
    label: object,
    automatic: float,
) -> Comparison | None:
    """Compare at once if that is quick, else when the visitor asks for it.

    Parameters
    ----------
    spam, network, dataset, position, label : see `analysis.comparison`
    automatic : float
        Seconds that it may take without being asked for.

    Returns
    -------
    Comparison or None
        None where it waits for the visitor, or couldn't be made, which is said.
    """
    this = [spam, network, position]
    try:
        costs = {
            (path, method): analysis.cost(path, dataset, key)
            for path in (spam, network)
            if path is not None
            for method, key in _KEYS.items()
        }
        n_seeds = len(analysis.SEEDS)
        seconds = n_seeds * sum(cost.seconds for cost in costs.values())
        rows = n_seeds * sum(cost.n_evaluations for cost in costs.values())
        whom = "SPAM" if network is None else "SPAM and the neural network"
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
        found = analysis.comparison(spam, network, dataset, position, label, tell)
        bar.empty()
    except (ImportError, TypeError, ValueError) as error:  # what the methods refuse
        st.error(literal(error), title="LIME and KernelSHAP could not be run")
        return None
    return found


def _means(shown: Comparison) -> dict[tuple[str, str, str], float]:
    frame = shown.summary()
    keys = zip(frame["model"], frame["method"], frame["measure"], strict=True)
    return dict(zip(keys, frame["mean"].tolist(), strict=True))


def errors(shown: Comparison, subject: str) -> str:
    """Say how wrong each method is, or that nobody knows."""
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
            f"**The truth is not known here**: a {_NAMES[subject]} is no sum of terms, "
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
        if subject == analysis.SPAM
        else "because with so few columns every combination of them can be tried"
    )
    return (
        f"**The truth is known here**, {why}: {', '.join(parts)}. "
        f"The exact values took {asked:,}."
    )


def _off(share: float) -> str:
    return "less than 0.1 %" if share < 0.001 else percent(share)


def bases(shown: Comparison, own: Any, subject: str, label: object) -> str:
    """Say where each explanation starts."""
    starts = {
        method: _base(shown.explanations[subject, method], label) for method in METHODS
    }
    spam, n_rows = _base(own, label), shown.background_size
    line = (
        f"LIME starts from {number(starts['LIME'])}, the intercept of its local line."
    )
    same = subject == analysis.SPAM
    if own.view == "shapley" and same:
        return (
            f"SPAM and KernelSHAP start from the same base, {number(spam)}: the mean "
            f"score of the same {n_rows:,} training rows. {line}"
        )
    lines = {
        "shapley": f"the mean of its own scores over {n_rows:,} training rows",
        "pure": "its mean score if columns were independent of each other",
        "raw": "its score where every column counts as zero",
    }[own.view]
    two = "" if same else " SPAM and the network are two models with two scores."
    return (
        f"Bases differ. SPAM starts from {number(spam)}, {lines}. KernelSHAP starts "
        f"from {number(starts['KernelSHAP'])}, the mean score of {n_rows:,} training "
        f"rows{'' if same else ' by the neural network'}. {line}{two}"
    )


def _base(explanation: Any, label: object) -> float:
    lines = explanation.ledger(0, E=1, class_=label)
    return float(lines["contribution"].iloc[-2])


def verdict(shown: Comparison, subject: str) -> str:
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
                f"{_NAMES[subject]} does around this row"
            )
        if said:
            parts.append(f"**{method}**: {', '.join(said)}.")
    exact = (analysis.SPAM, OWN if shown.unit == "term" else EXACT)
    fit = means[*exact, "fidelity"]
    took, again = (means[*exact, name] for name in ("seconds", "stability_jaccard"))
    if math.isfinite(fit):
        what = "terms" if shown.unit == "term" else "columns"
        parts.append(
            f"**SPAM's own {what}**: {percent(again)} stay when they are worked out "
            f"again, they tell {percent(max(fit, 0.0))}, and took {duration(took)}."
        )
    return " ".join(parts)


def readable(shown: Comparison) -> pd.DataFrame:
    """Return the page's table: a line for each model and method."""
    frame = shown.table(SHOWN).reset_index()
    frame["model"] = [_NAMES[name] for name in frame["model"]]
    return frame if len(shown.truth_known) > 1 else frame.drop(columns="model")


def alt(shown: Comparison) -> str:
    """Say the table in words."""
    means = _means(shown)
    lines = [
        f"{_NAMES[model]}, {method}: "
        + ", ".join(
            f"{MEASURES[name].label} {number(means[model, method, name])}"
            for name in SHOWN
        )
        for model, method in shown.explanations
    ]
    return f"Measures of each explanation. {'. '.join(lines)}."
