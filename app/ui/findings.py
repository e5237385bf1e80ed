"""What a search has found: the best, all trials, and which settings mattered."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from spam_core import plots
from spam_core.cli.search_job import STORAGE
from spam_core.estimators.fitting import LOWER_IS_BETTER, METRIC_NAMES
from spam_core.search import SPACES, SearchResult, search
from spam_core.search.result import COMPLETE, FAILED, PRUNED
from spam_core.search.space import label
from ui import caches, compute, kinds, session, training, widgets
from ui.searches import Search
from ui.text import METRICS, amount, literal

_IN_UNITS = ("rmse", "mae")  # metrics that have the unit of the target
_OUTCOMES = {COMPLETE: "complete", PRUNED: "stopped early", FAILED: "failed"}


def outcome(search: Search) -> None:
    """Show what a search has found, whether it is done or was stopped."""
    run = search.run
    if run.state == "failed":
        st.error(literal(run.message), title="Search failed")
    if run.state == "cancelled":
        st.info(
            f"Stopped after {len(run.trials)} of {run.n_trials} trials. What was "
            "found is kept, and the search can go on."
        )
    if not run.trials:
        return
    result = _result(
        str(run.folder / STORAGE),
        search.dataset,
        run.model,
        run.metric,
        len(run.trials),
    )
    unit = compute.table(search.dataset).target_unit
    if result.ranked:
        st.markdown(f"#### {verdict(result, run.default, unit)}")
        _best(search.dataset, result)
    else:
        st.warning(literal(none_complete(result)))
    st.subheader("All trials, the best first")
    trials(result, unit, "search_trials")
    st.download_button(
        "Download as CSV",
        best_first(result).to_csv(index=False),
        f"search_{run.model}_{run.metric}.csv",
        "text/csv",
        key="search_csv",
        icon=":material/download:",
        on_click="ignore",
    )
    if result.importance:
        widgets.chart(
            plots.settings_importance(
                {words(name): share for name, share in result.importance.items()},
                f"the validation {METRIC_NAMES[run.metric]}",
                title="Settings that mattered in these trials",
            ),
            key="search_importance",
        )
    else:
        st.caption("Too few trials are complete to tell which settings matter.")


@caches.kept(max_entries=32, show_spinner="Reading the trials…")
def _result(
    storage: str,
    dataset: str,
    model: str,
    metric: str,
    n_trials: int,
) -> SearchResult:
    """Read what a search has stored; nothing is fitted."""
    return search(
        compute.table(dataset),
        model,
        n_trials=n_trials,
        metric=metric,
        storage=storage,
        stop=lambda: True,
    )


def none_complete(result: SearchResult) -> str:
    """Say that no trial can be used, and why."""
    errors = [trial.error for trial in result.trials if trial.error is not None]
    why = f" The last one failed: {_reason(errors[-1])}." if errors else ""
    return f"None of the {len(result.trials)} trials is complete.{why}"


def verdict(
    result: SearchResult, default: dict[str, float | None] | None, unit: str
) -> str:
    """Say how good the best trial is, beside the default settings if they are known."""
    metric = result.metric
    unit = unit if metric in _IN_UNITS else ""
    n, best = len(result.trials), result.best.scores[metric]
    text = (
        f"The best of {n} trials" if n > 1 else "The only trial"
    ) + f" of {literal(kinds.prose(result.model))} has a validation "
    text += f"{METRIC_NAMES[metric]} of {amount(best, unit)}"
    usual = None if default is None else default[metric]
    if usual is not None:
        text += f"; the default settings have {amount(usual, unit)}"
        if usual != best and (usual < best) == (metric in LOWER_IS_BETTER):
            text += ", which is better"
    return f"{text}."


def _best(dataset: str, result: SearchResult) -> None:
    """Show the best settings, and train with them."""
    best = result.best.settings
    st.markdown(
        ", ".join(
            f"{literal(words(name))} **{literal(value(entry))}**"
            for name, entry in best.items()
        )
    )
    st.caption(
        "The best of many looks a little better on the validation rows than it is. "
        "Trained with these settings, the model is judged on the test rows."
    )
    models = [{"name": result.model, "params": dict(result.spec().params)}]
    busy = compute.under_way()
    st.button(
        "Train with these settings",
        key="search_train",
        disabled=busy is not None,
        on_click=_train,
        args=(dataset, models),
        icon=":material/model_training:",
        help="On training and validation rows. All pages show the model then.",
    )
    last = compute.last_training(dataset)
    if busy is not None:
        training.follow(busy)
    elif last is not None and last.models == models:
        training.outcome(dataset, last)


def _train(dataset: str, models: list[dict[str, Any]]) -> None:
    compute.train(dataset, models)
    session.put(session.MODEL, models[0]["name"])


def trials(result: SearchResult, unit: str, key: str) -> None:
    """Show the trials as a table, the best first.

    Parameters
    ----------
    result : SearchResult
    unit : str
        Of the target.
    key : str
        Unique on the page.
    """
    shown = as_shown(result, unit)
    st.dataframe(
        shown,
        hide_index=True,
        key=key,
        placeholder=widgets.NOTHING,
        column_config={
            str(name): st.column_config.NumberColumn(format="%.4g")
            for name in shown.select_dtypes("float")
        },
        alt=f"Trials of {kinds.prose(result.model)}, the best first",
    )
    states = [trial.state for trial in result.trials]
    counts = ", ".join(
        f"{states.count(state)} {name}"
        for state, name in _OUTCOMES.items()
        if state in states
    )
    early = (
        " Stopped early: the loss on rows held out was above the median of the trials "
        "before, after as many epochs."
    )
    st.caption(
        f"{counts}.{early if PRUNED in states else ''} Metrics are of the "
        "validation rows."
    )


def best_first(result: SearchResult) -> pd.DataFrame:
    """Return the trials as the library writes them, counted from 1."""
    frame = result.to_frame().sort_values(
        result.metric,
        ascending=result.metric in LOWER_IS_BETTER,
        na_position="last",
        kind="stable",
        ignore_index=True,
    )
    return frame.assign(trial=frame["trial"] + 1)


def as_shown(result: SearchResult, unit: str) -> pd.DataFrame:
    """Return the trials in plain words, the best first."""
    frame = best_first(result)
    names = {name: METRICS[name][0] for name in METRICS if name in frame}
    if unit:
        names |= {m: f"{names[m]} ({unit})" for m in _IN_UNITS if m in names}
    names |= {name: words(name) for name in SPACES[result.model] if name in frame}
    outcomes = [
        f"{_OUTCOMES[state]}: {_reason(error)}" if state == FAILED else _OUTCOMES[state]
        for state, error in zip(frame["state"], frame["error"], strict=True)
    ]
    settings = [name for name in frame if name in SPACES[result.model]]
    others = [name for name in METRICS if name in frame and name != result.metric]
    columns = ["trial", "outcome", result.metric, *settings, *others, "seconds"]
    return frame.assign(outcome=outcomes)[columns].rename(columns=names)


def _reason(error: str) -> str:
    """Say why a trial failed, without the name of the exception."""
    _, colon, text = error.partition(": ")
    return " ".join((text if colon else error).split()).rstrip(".")


def words(setting: str) -> str:
    """Name a setting as people read it."""
    return setting.removeprefix("n_").replace("_", " ")


def value(value: Any) -> str:
    """Write the value of a setting."""
    if value is None:
        return "none"
    return f"{value:.3g}" if isinstance(value, float) else label(value)
