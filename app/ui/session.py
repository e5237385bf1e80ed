"""What one visitor has chosen. The only file that touches ``st.session_state``.

Widgets keep their own value under their key (``persist_state="session"``); what is
here are the names of those keys, and the few values that one page sets for another.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from ui.workspace import Workspace

DATASET = "dataset"
VIEW = "view"
CLASS = "class"
LENGTH = "E"
FEATURE = "feature"
PAIR = "pair"
ROW = "row"
MODEL = "model"
UPLOAD = "upload"
DRAFT = "draft"
FAILED = "failed"
ADDED = "added"
WORKSPACE = "workspace"


def get(key: str, default: Any = None) -> Any:
    """Return what is stored under a key."""
    return st.session_state.get(key, default)


def put(key: str, value: Any) -> None:
    """Store a value; before its widget is drawn, this sets the widget."""
    st.session_state[key] = value


def take(key: str) -> Any:
    """Return what is stored under a key, and forget it."""
    return st.session_state.pop(key, None)


def begin(key: str, value: Any) -> None:
    """Store a value unless there is one: the first value of a widget that is set."""
    st.session_state.setdefault(key, value)


def choose(key: str, value: Any, because: Any) -> None:
    """Set a widget's value once for each new reason, such as a click on a chart.

    A chart goes on reporting its selection with every rerun; without this, the
    visitor could not choose anything else afterwards.
    """
    seen = f"{key}_because"
    if because is not None and st.session_state.get(seen) != because:
        st.session_state[key] = value
    st.session_state[seen] = because


def keep_between(key: str, low: int, high: int) -> None:
    """Forget a number that isn't within its bounds any more."""
    if key in st.session_state and not low <= st.session_state[key] <= high:
        del st.session_state[key]


def keep_valid(key: str, options: list[Any]) -> None:
    """Forget a choice that isn't among the options any more.

    Another data set has other columns: a select box whose stored value isn't among
    its options would raise.
    """
    if key in st.session_state and st.session_state[key] not in options:
        del st.session_state[key]


def workspace() -> Workspace:
    """Return the visitor's own tables and trainings."""
    found = st.session_state.get(WORKSPACE)
    if found is None or found.closed:
        found = st.session_state[WORKSPACE] = Workspace()
    return found
