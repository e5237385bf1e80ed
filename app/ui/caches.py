"""Whose results are kept, and how long. The only file that touches ``st.cache_*``.

What comes from a built-in table is shared by all visitors; what comes from a visitor's
own table or training is kept for that session only and released when it ends.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ui import session
from ui.workspace import Workspace, is_own


@st.cache_resource(
    scope="session", show_spinner=False, on_release=lambda gone: gone.leave()
)
def _presence(_mine: Workspace, name: str) -> _Visit:
    """Stay in the cache as long as the visitor's page is open."""
    _mine.enter()
    return _Visit(weakref.ref(_mine), name)


@dataclass(frozen=True)
class _Visit:
    """A visitor who is here; it doesn't keep the workspace alive."""

    workspace: weakref.ref[Workspace]
    name: str

    def leave(self) -> None:
        found = self.workspace()
        if found is not None:
            found.leave()


def workspace() -> Workspace | None:
    """Return what belongs to the visitor; None outside of a page."""
    if get_script_run_ctx(suppress_warning=True) is None:
        return None
    mine = session.workspace()
    _presence(mine, mine.folder.name)
    return mine


def kept(
    max_entries: int,
    show_spinner: bool | str = False,
    copies: bool = False,
    private: bool = False,
) -> Callable[[Callable[..., Any]], Any]:
    """Keep results, a visitor's own apart from those that all share.

    Parameters
    ----------
    max_entries : int
    show_spinner : bool or str
    copies : bool
        Whether every caller gets a copy.
    private : bool
        Whether all results are the visitor's own, whatever the arguments.
    """
    cache: Any = st.cache_data if copies else st.cache_resource
    settings = {"max_entries": max_entries, "show_spinner": show_spinner}

    def decorate(function: Callable[..., Any]) -> Any:
        mine = cache(**settings, scope="session")(function)
        if private:
            return mine
        shared = cache(**settings)(function)

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            own = any(map(is_own, (*args, *kwargs.values())))
            return (mine if own else shared)(*args, **kwargs)

        call.clear = shared.clear  # type: ignore[attr-defined]
        return call

    return decorate
