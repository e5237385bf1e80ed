"""The part of the page Train that searches for settings: what to try, how far it is."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

from spam_core.estimators.fitting import METRICS as OF_TASK
from spam_core.search import SPACES, Range, missing_package
from spam_core.search.space import Setting
from ui import caches, compute, findings, gate, kinds, session
from ui.searches import Search
from ui.text import METRICS, literal

_TRIALS, _MOST_TRIALS = 30, 500


class Plan(NamedTuple):
    """What the visitor would like to search."""

    model: str
    metric: str
    n_trials: int


def plan(dataset: str) -> Plan:
    """Let the visitor set what a search is about."""
    metrics = list(OF_TASK[compute.table(dataset).task])
    session.keep_valid("search_metric", metrics)
    left, middle, right = st.columns(3)
    with left:
        model = st.selectbox(
            "Model whose settings to search",
            [name for name in kinds.NAMES if name in SPACES],
            format_func=kinds.heading,
            key="search_model",
            persist_state="session",
        )
    with middle:
        n_trials = st.number_input(
            "Trials",
            1,
            _MOST_TRIALS,
            _TRIALS,
            key="search_trials",
            persist_state="session",
            help="Each is one training with settings of its own. More of them find "
            "better settings, and take longer.",
        )
    with right:
        metric = st.selectbox(
            "What is to be best",
            metrics,
            format_func=lambda name: METRICS[name][0],
            key="search_metric",
            persist_state="session",
            help="\n".join(f"- {METRICS[m][0]}: {METRICS[m][1]}" for m in metrics),
        )
    space = SPACES[model]
    st.markdown(
        f"Each trial draws settings of {literal(kinds.prose(model))} at random and "
        "trains with them; the validation rows say which trial is best. No trial is "
        "trained on validation or test rows."
    )
    with st.expander(f"The {len(space)} settings and their ranges"):
        st.markdown(
            "\n".join(
                f"- **{literal(findings.words(name))}**: {literal(_range(setting))}"
                for name, setting in space.items()
            )
        )
        st.caption(
            "Ranges of the paper's appendix, where it has the model and the setting."
        )
    return Plan(model, metric, int(n_trials))


def start_button(dataset: str, wanted: Plan) -> None:
    """Start what is wanted, or go on with what was begun."""
    lacking = missing_package(wanted.model)
    if lacking:
        st.warning(literal(f"{lacking}."), icon=":material/extension_off:")
    before = _all().get((dataset, wanted.model, wanted.metric))
    done = 0 if before is None else len(before.run.trials)
    enough = done >= wanted.n_trials
    if st.button(
        "Go on" if done else "Start search",
        type="primary",
        disabled=under_way() is not None or bool(lacking) or enough,
        key="search_start",
        icon=":material/play_arrow:",
    ):
        mine = caches.workspace()
        assert mine is not None
        mine.search(dataset, *wanted)
        st.rerun()
    if enough and under_way() is None:
        st.caption(f"{done} trials are done. To go on, ask for more.")


def under_way() -> Search | None:
    """Return the visitor's search that isn't finished."""
    mine = caches.workspace()
    return None if mine is None else mine.searching


def found(dataset: str, wanted: Plan) -> Search | None:
    """Return the visitor's search of what is wanted, else the last of the table."""
    searches = _all()
    exact = searches.get((dataset, wanted.model, wanted.metric))
    others = [search for key, search in searches.items() if key[0] == dataset]
    return exact or next(reversed(others), None)


def _all() -> dict[tuple[str, str, str], Search]:
    mine = caches.workspace()
    return {} if mine is None else mine.searches


@st.fragment(run_every=1.0)
def follow(search: Search) -> None:
    """Show a search under way; the rest of the page stays usable."""
    run = search.run
    if run.finished:
        st.rerun()
    gate.show_progress(run)
    if run.state == "waiting":
        st.caption("One search at a time runs on this server; yours is next in line.")
    if st.button("Stop", key="search_stop", icon=":material/stop:"):
        run.cancel()
        run.wait(2)
        st.rerun()
    if run.trials:
        findings.trials(
            run.found(), compute.table(search.dataset).target_unit, "search_live"
        )


def _range(setting: Setting) -> str:
    """Say in words what a setting is drawn from."""
    if isinstance(setting, Range):
        how = "each power of ten as likely" if setting.log else "evenly"
        return f"{setting.low:g} to {setting.high:g}, {how}"
    return ", ".join(map(findings.value, setting.values))
