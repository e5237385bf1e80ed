"""Which model a page is about, and what stands there while it has none."""

from __future__ import annotations

import streamlit as st

from ui import compute, jobs, kinds, session
from ui.process import Process
from ui.text import literal


def pick_model(dataset: str) -> None:
    """Let the visitor choose the model that the pages are about."""
    names = list(compute.names(dataset))
    session.keep_valid(session.MODEL, names)
    if names:
        st.selectbox(
            "Model",
            names,
            format_func=kinds.heading,
            key=session.MODEL,
            bind="query-params",
            persist_state="session",
        )


def chosen_model(dataset: str) -> str:
    """Return the name of the model that the pages are about."""
    names = compute.names(dataset)
    name = session.get(session.MODEL)
    return name if name in names else next(iter(names), kinds.USUAL)


def need_model(dataset: str, name: str | None = None) -> compute.Model:
    """Return the model in view, or show its training and end the page here."""
    found = compute.model(dataset, name or chosen_model(dataset))
    if found is not None:
        return found
    run = compute.run(dataset)
    if run is None:
        st.info("This table has no model yet.", icon=":material/model_training:")
        st.page_link("views/train.py", label="Train one", icon=":material/play_arrow:")
    elif run.finished:
        _ended(dataset, run)
    else:
        st.info(
            "The model of this data set is being trained. The page opens by itself.",
            icon=":material/hourglass_top:",
        )
    st.stop()
    raise AssertionError("st.stop() does not return")


def need_glass_box(dataset: str, what: str) -> compute.Model:
    """Return the model in view, or say why it lacks `what` and end the page here."""
    model = need_model(dataset)
    if not kinds.glass_box(chosen_model(dataset)):
        black_box(dataset, what)
        st.stop()
    return model


def black_box(dataset: str, what: str) -> None:
    """Say why a model lacks `what`, and where to go instead."""
    name = chosen_model(dataset)
    st.info(
        f"{kinds.heading(name)} is no glass box: its score can't be read as a sum of "
        f"terms, so it has no {what} to show. How good it is, and what LIME and "
        "KernelSHAP make of it, can be seen.",
        icon=":material/visibility_off:",
    )
    st.page_link(
        "views/performance.py", label="Its performance", icon=":material/speed:"
    )
    st.page_link(
        "views/compare.py",
        label="What LIME and KernelSHAP say of it",
        icon=":material/compare:",
    )
    other = first_glass_box(dataset)
    if other is not None:
        show_instead(other)


def first_glass_box(dataset: str) -> str | None:
    """Return the first in the registry's order that is ready and explains itself."""
    for name in compute.names(dataset):
        if kinds.glass_box(name) and compute.model(dataset, name):
            return name
    return None


def show_instead(name: str) -> None:
    """Offer another model on all pages."""
    st.button(
        f"Show {kinds.prose(name)} on all pages",
        key=f"show_{name}",
        on_click=session.put,
        args=(session.MODEL, name),
        icon=":material/visibility:",
    )


def training_status(dataset: str) -> None:
    """Show how far training is, and reload the page when a model is ready."""
    run = compute.run(dataset)
    if run is None:
        return
    if not run.finished:
        _watch(dataset, len(run.fitted))
    elif run.state != "done" and run.fitted:
        _ended(dataset, run)  # a page without its model says so itself


@st.fragment(run_every=0.5)
def _watch(dataset: str, n_fitted: int) -> None:
    run = compute.run(dataset)
    if run is None:
        return
    if run.finished or len(run.fitted) != n_fitted:
        st.rerun()
    show_progress(run)


def show_progress(run: Process) -> None:
    """Show how far work is, or that nobody can know."""
    share, text = run.progress()
    if share is None:
        st.status(text, state="running", type="compact")
    else:
        st.progress(share, text=text)


def _ended(dataset: str, run: jobs.Run) -> None:
    if run.state == "failed":
        st.error(literal(run.message), title="Training failed")
    else:
        st.warning("Training was cancelled.")
    if st.button("Train again", key=f"retry_{dataset}_{len(run.fitted)}"):
        compute.retry(dataset)
        st.rerun()
