"""Sections of the page Performance, one for each task."""

from __future__ import annotations

from typing import Any

import streamlit as st

from spam_core import evaluation, plots
from spam_core.data import Table
from spam_core.evaluation import OneAgainstRest, Predictions
from spam_core.plots.performance_classes import MOST_CLASSES
from ui import evaluating, kinds, session, verdicts, widgets
from ui.text import METRICS, literal, number, percent
from ui.workspace import is_own

_WORST = 10  # rows in the table of mistakes

Models = dict[str, str]
"""Name in the registry -> path of each model that is ready."""


def reruns(dataset: str, unit: str) -> None:
    """Show what the accuracy benchmark found over seeds, or how to have it found."""
    results = evaluating.reruns(dataset)
    known = [r for r in results if r["mean"] is not None or r.get("paper") is not None]
    if not known:
        st.markdown("**Rerun with several seeds**")
        st.info(
            "Another training of the same model gives a slightly other score. How "
            "much, and what the paper reports, is measured by a command. No "
            "measurement is stored for this table."
            + (
                " It measures named data sets only."
                if is_own(dataset)
                else f"\n\n`{evaluating.COMMAND} --tables {dataset}`"
            )
        )
        return
    metric = str(known[0]["metric"])
    n_seeds = max(len(r.get("seeds") or ()) for r in known)
    name = METRICS[metric][0] if metric in METRICS else metric
    widgets.chart(
        plots.reruns(
            known,
            name,
            unit=unit if metric in ("rmse", "mae") else "",
            title=f"Rerun with {n_seeds} seed{'' if n_seeds == 1 else 's'}",
        ),
        key="reruns",
    )
    for result in results:
        if result["mean"] is None and result.get("note"):
            st.caption(
                f"{literal(result['label'])}, not measured: {literal(result['note'])}"
            )


def regression(table: Table, found: Predictions) -> None:
    """Show where predicted numbers are off."""
    try:
        off = evaluation.errors(found)
    except ValueError as error:
        st.info(literal(error))
        return
    _left_out(off.n_left_out)
    target, unit = table.target, table.target_unit
    left, right = st.columns(2)
    with left:
        widgets.chart(plots.predicted_actual(off, target, unit=unit), key="actual")
        widgets.chart(
            plots.distribution(
                off.histogram(), "residual: actual less predicted", unit=unit
            ),
            key="residual_counts",
        )
    with right:
        bins = off.by_quantile("predicted")
        widgets.chart(plots.residuals(off, bins, target, unit=unit), key="residuals")
        widgets.chart(
            plots.error_bins(off.by_quantile("actual"), target, unit=unit),
            key="error_bins",
        )


def binary(table: Table, models: Models, chosen: str, dataset: str) -> None:
    """Show how well two classes are told apart."""
    names = list(table.class_names)
    positive = names[table.classes.index(table.positive)]
    session.keep_valid("performance_class", names)
    session.begin("performance_class", positive)
    class_ = st.segmented_control(
        "Class of interest",
        names,
        required=True,
        key="performance_class",
        persist_state="session",
    )
    cases = _cases(models, dataset, class_ or positive)
    if _curves(cases, chosen):
        left, right = st.columns(2)
        with left:
            _calibration(cases[chosen], chosen)
        with right:
            _probabilities(cases, chosen)
    _threshold(cases[chosen])


def multiclass(models: Models, chosen: str, dataset: str, class_: str) -> None:
    """Show which classes are taken for which, then one of them against the rest."""
    found = evaluation.confusion(evaluating.predictions(models[chosen], dataset))
    _left_out(found.n_left_out)
    left, right = st.columns(2)
    with left:
        pairs = found.most_confused()
        if len(found.classes) <= MOST_CLASSES:
            widgets.chart(plots.confusion(found), key="confusion")
        elif len(pairs):
            widgets.chart(plots.most_confused(pairs), key="confused")
        else:
            st.info("No test row is given a wrong class.")
    with right:
        widgets.chart(plots.per_class(found.per_class()), key="per_class")
    st.subheader(f"{literal(class_)} against the rest")
    st.caption("Another class: under Class to explain in the sidebar.")
    cases = _cases(models, dataset, class_)
    if _curves(cases, chosen):
        left, right = st.columns(2)
        with left:
            _calibration(cases[chosen], chosen)
        with right:
            histogram = evaluation.score_histogram(cases[chosen])
            widgets.chart(plots.score_distribution(histogram), key="scores")
        _probabilities(cases, chosen)


def _left_out(n: int) -> None:
    if n:
        st.caption(verdicts.left_out(n))


def _cases(models: Models, dataset: str, class_: str) -> dict[str, OneAgainstRest]:
    return {
        name: evaluation.one_against_rest(evaluating.predictions(path, dataset), class_)
        for name, path in models.items()
    }


def _curves(cases: dict[str, OneAgainstRest], chosen: str) -> bool:
    """Draw ROC and precision-recall of all models; False where rows can't tell."""
    case = cases[chosen]
    _left_out(case.n_left_out)
    if case.lacking:
        st.info(literal(case.lacking))
        return False
    able = {kinds.heading(n): c for n, c in cases.items() if not c.lacking}
    names = [kinds.heading(name) for name in cases]
    left, right = st.columns(2)
    with left:
        roc = {name: evaluation.roc_curve(c) for name, c in able.items()}
        widgets.chart(plots.roc(roc, case.name, names=names), key="roc")
    with right:
        both = {n: evaluation.precision_recall_curve(c) for n, c in able.items()}
        figure = plots.precision_recall(both, case.name, names=names)
        widgets.chart(figure, key="precision_recall")
    return True


def _calibration(case: OneAgainstRest, chosen: str) -> None:
    title = f"Calibration of {kinds.prose(chosen)}: {case.name}"
    figure = plots.calibration(evaluation.calibration(case), case.name, title=title)
    widgets.chart(figure, key="calibration")


def _probabilities(cases: dict[str, OneAgainstRest], chosen: str) -> None:
    """Say how far the probabilities of each model are off."""
    found = {
        name: evaluation.calibration(case)
        for name, case in cases.items()
        if len(case.truth)
    }
    st.markdown("**Are the probabilities right?**")
    st.markdown(verdicts.calibrated(found[chosen], kinds.prose(chosen)))
    st.dataframe(
        {
            "model": [kinds.heading(name) for name in found],
            "off by": [percent(c.error) for c in found.values()],
            "Brier score": [number(c.brier) for c in found.values()],
            "log loss": [number(c.log_loss) for c in found.values()],
        },
        hide_index=True,
        alt="Errors of the probabilities of each model; lower is better",
    )
    st.caption(
        "Brier score: mean squared error of the probabilities. Log loss punishes "
        "those that were sure and wrong. Lower is better."
    )


def _threshold(case: OneAgainstRest) -> None:
    st.subheader("What a threshold does")
    cut = st.slider(
        f"Call a row {literal(case.name)} from this probability on",
        0.0,
        1.0,
        0.5,
        0.01,
        key="performance_threshold",
        persist_state="session",
    )
    found = evaluation.at_threshold(case, cut)
    st.markdown(verdicts.threshold(found))
    for place, (label, value, meaning) in zip(
        st.columns(4),
        [
            ("Precision", found.precision[1], "of those called it, the share that is"),
            ("Recall", found.recall[1], "of those that are it, the share found"),
            ("F1", found.f1[1], "harmonic mean of precision and recall"),
            ("Accuracy", found.accuracy, "share of all rows that are called right"),
        ],
        strict=True,
    ):
        place.metric(label, number(float(value)), help=meaning, border=True)
    left, right = st.columns(2)
    with left:
        title = f"Confusion matrix at threshold {cut:g}"
        widgets.chart(plots.confusion(found, title=title), key="confusion")
    with right:
        histogram = evaluation.score_histogram(case)
        figure = plots.score_distribution(histogram, threshold=cut)
        widgets.chart(figure, key="scores")


def mistakes(table: Table, found: Predictions) -> None:
    """List the rows that the model is most wrong about, each a click from its case."""
    frame = evaluation.largest_errors(found, _WORST)
    several = table.task != "regression"
    st.subheader("Most confident mistakes" if several else "Largest errors")
    if frame.empty:
        st.info("No test row is given a wrong class.")
        return
    shown = {"test row": (frame["row"] + 1).tolist()}
    if several:
        shown["actual"] = frame["actual"].tolist()
        shown["predicted"] = frame["predicted"].tolist()
        shown["probability of actual"] = list(map(percent, frame["probability"]))
    else:
        shown["actual"] = list(map(number, frame["actual"]))
        shown["predicted"] = list(map(number, frame["predicted"]))
        shown["actual less predicted"] = [number(v, True) for v in frame["error"]]
    event: Any = st.dataframe(
        shown,
        hide_index=True,
        key="mistakes",
        on_select="rerun",
        selection_mode="single-row",
        alt="Test rows that the model is most wrong about, the worst first",
    )
    picked = event.selection.rows
    row = shown["test row"][picked[0] if picked else 0]
    if st.button(
        f"Explain test row {row:,}",
        key="explain_mistake",
        icon=":material/receipt_long:",
        help="Another one: select its line above.",
    ):
        session.put(session.ROW, row)
        st.switch_page("views/explain.py")
