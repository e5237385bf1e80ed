"""The parts of the page that trains: settings, a training under way, what came out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import pandas as pd
import streamlit as st

from spam_core import plots
from spam_core.estimators.fitting import LOWER_IS_BETTER
from ui import compute, gate, kinds, session, widgets
from ui.text import METRICS, literal, score_text
from ui.workspace import Training

_MAPS = {
    "spline": "spline: any shape, the usual choice",
    "linear": "linear: as in the paper, one slope per column",
    "neural": "neural: a small network per column",
    "basis": "basis: shapes that the columns share",
}
_AUTO = "chosen by the library"


def settings() -> list[dict[str, Any]]:
    """Let the visitor set the models; return what a job file says about them."""
    session.begin("train_models", [kinds.USUAL, "dnn"])
    names = st.multiselect(
        "Models, trained in this order",
        kinds.NAMES,
        format_func=kinds.heading,
        key="train_models",
        persist_state="session",
        placeholder="Choose at least one",
        help="Glass boxes, whose scores are sums of terms: "
        f"{_list(filter(kinds.glass_box, kinds.NAMES))}. To compare with: "
        f"{_list(name for name in kinds.NAMES if not kinds.glass_box(name))}.",
    )
    spam: dict[str, Any] = _spam() if any(map(kinds.spam_family, names)) else {}
    epochs: dict[str, Any] = {}
    seed = st.number_input(
        "Seed",
        0,
        2**31 - 1,
        0,
        key="train_seed",
        persist_state="session",
        help="The same seed and settings give the same model.",
    )
    if any(map(kinds.tells_progress, names)):
        with st.expander("Advanced"):
            spam_only, epochs = _advanced()
        spam |= spam_only
    others = [name for name in names if not kinds.spam_family(name)]
    if others:
        st.caption(
            f"{_list(others)}: with the usual settings of the library"
            + (", and the epochs above." if epochs else ".")
        )
    return [
        {"name": name, "params": kinds.parameters(name, int(seed), spam, epochs)}
        for name in names
    ]


def _list(names: Iterable[str]) -> str:
    return literal(", ".join(map(kinds.heading, names)))


def _spam() -> dict[str, Any]:
    """Let the visitor set what only models of the SPAM family have."""
    left, right = st.columns(2)
    lower_left, lower_right = st.columns(2)
    with left:
        order = st.segmented_control(
            "Columns in a term, at most",
            [1, 2, 3],
            default=2,
            required=True,
            key="train_order",
            persist_state="session",
            help="1: each column by itself. 2: pairs too. 3: triples too.",
        )
    with lower_left:
        rank = st.slider(
            "Rank",
            1,
            128,
            32,
            key="train_rank",
            persist_state="session",
            disabled=order == 1,
            help="How many components pairs and triples are made of. More can say "
            "more, and take longer.",
        )
    with right:
        feature_map = st.selectbox(
            "Shape of a column's effect",
            list(_MAPS),
            format_func=_MAPS.__getitem__,
            key="train_map",
            persist_state="session",
        )
    with lower_right:
        members = st.slider(
            "Members of the ensemble",
            1,
            16,
            8,
            key="train_members",
            persist_state="session",
            help="Models trained together and averaged; their spread is the band "
            "around each shape.",
        )
    return {
        "order": order,
        "rank": rank,
        "feature_map": feature_map,
        "n_members": members,
    }


def _advanced() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return settings of the SPAM family, and those of all that learn in epochs."""
    left, middle, right = st.columns(3)
    with left:
        epochs = _number("Epochs, at most", "train_epochs", 1, 100_000, 10)
        patience = _number(
            "Patience",
            "train_patience",
            1,
            100_000,
            1,
            "Epochs without a better validation loss before training stops.",
        )
    with middle:
        rate = _number("Learning rate", "train_rate", 1e-6, 1.0, 0.001)
        batch = _number("Rows in a batch", "train_batch", 1, 1_000_000, 64)
    with right:
        knots = _number(
            "Knots",
            "train_knots",
            2,
            1024,
            8,
            "How fine a spline is.",
        )
        dropout = _number("Dropout of components", "train_dropout", 0.0, 0.95, 0.05)
    common = {
        "max_epochs": epochs,
        "patience": patience,
        "learning_rate": rate,
        "batch_size": batch,
    }
    spam_only = {"n_knots": knots, "basis_dropout": dropout}
    return (
        {name: value for name, value in spam_only.items() if value is not None},
        {name: value for name, value in common.items() if value is not None},
    )


def _number(
    label: str, key: str, low: float, high: float, step: float, about: str = ""
) -> float | None:
    return st.number_input(
        label,
        min_value=low,
        max_value=high,
        value=None,
        step=step,
        format="%.4g" if isinstance(step, float) else None,
        placeholder=_AUTO,
        key=key,
        persist_state="session",
        help=about or None,
    )


def of_table(worked_on: str, dataset: str) -> None:
    """Say which table work under way is about, if it isn't the one in view."""
    if worked_on != dataset:
        other = compute.choices().get(worked_on, "another table")
        st.caption(f"Of {literal(other)}")


@st.fragment(run_every=1.0)
def follow(training: Training) -> None:
    """Show a training under way; the rest of the page stays usable."""
    run = training.run
    if run.finished:
        st.rerun()
    gate.show_progress(run)
    if run.state == "waiting":
        st.caption("One training at a time runs on this server; yours is next in line.")
    for name in run.models:
        steps = list(run.epochs.get(name, []))
        if steps and name not in run.fitted:
            figure = plots.history(steps, title=f"Training of {kinds.prose(name)}")
            widgets.chart(figure, key=f"live_{name}")
    if st.button("Cancel", key="cancel", icon=":material/stop:"):
        run.cancel()
        run.wait(2)
        st.rerun()


def outcome(dataset: str, training: Training) -> None:
    """Say how the visitor's last training of a data set ended."""
    run = training.run
    ready = [name for name in run.models if name in run.fitted]
    if run.state == "failed":
        st.error(literal(run.message), title="Training failed")
    if run.state == "cancelled" and ready:
        st.warning(f"Training was cancelled after {_list(ready)}, which is in use.")
    elif run.state == "cancelled":
        kept = any(compute.model(dataset, name) for name in compute.names(dataset))
        st.warning(
            "Training was cancelled."
            + (" The model of before is kept." if kept else "")
        )
    if not ready:
        return
    st.subheader("What came out")
    report = compute.report(dataset)
    for place, name in zip(widgets.grid(len(ready), most=3), ready, strict=False):
        with place:
            _beside(dataset, name, report["metrics"])
    for name in ready:
        steps = run.epochs.get(name, [])
        if steps:
            figure = plots.history(steps, title=f"Training of {kinds.prose(name)}")
            widgets.chart(figure, key=f"history_{name}")
    shown = gate.chosen_model(dataset)
    if shown in ready:
        other = " Another model: in the sidebar." if len(ready) > 1 else ""
        st.markdown(f"All pages show {literal(kinds.prose(shown))} now.{other}")
    else:
        gate.show_instead(ready[0])
    st.page_link("views/overview.py", label="How good, what drives it")
    st.page_link("views/performance.py", label="The models beside each other")


def _beside(dataset: str, name: str, metrics: list[str]) -> None:
    """Show the newest model's test metrics beside the one before."""
    found = compute.models(dataset, name)
    if not found:
        return
    new, before = found[-1], found[-2] if len(found) > 1 else None
    metric = metrics[0]
    label, meaning = METRICS[metric]
    now = new.scores[metric]
    then = None if before is None else before.scores[metric]
    delta = "no model before"
    colour: Literal["off", "green", "red"] = "off"
    if now is not None and then is not None:
        better = (now < then) == (metric in LOWER_IS_BETTER) and now != then
        words = "as before" if now == then else "better" if better else "worse"
        delta = f"{words}, before {score_text(then)}" if now != then else words
        colour = "off" if now == then else "green" if better else "red"
    st.metric(
        f"{kinds.heading(name)}: {label} on the test rows",
        score_text(now),
        delta=delta,
        delta_color=colour,
        delta_arrow="off",
        help=meaning,
        border=True,
    )
    names = [METRICS[key][0] for key in metrics]
    frame = pd.DataFrame(
        {
            "test rows": [*names, "seconds"],
            "new": [
                *(score_text(new.scores[m]) for m in metrics),
                f"{new.seconds:.1f}",
            ],
        }
    )
    if before is not None:
        frame["before"] = [
            *(score_text(before.scores[m]) for m in metrics),
            f"{before.seconds:.1f}",
        ]
    st.dataframe(
        frame,
        hide_index=True,
        alt=f"Test metrics of {kinds.prose(name)}, new and before",
    )
