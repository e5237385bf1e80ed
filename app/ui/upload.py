"""The form that turns an uploaded file into a table of the visitor's own."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from itertools import chain
from typing import Any

import pandas as pd
import streamlit as st

from spam_core.data import (
    DEFAULT_MISSING_VALUES,
    ReadError,
    ReadResult,
    check_target,
    suggest_special_values,
    suspicious_columns,
)
from ui import compute, session
from ui.text import literal
from ui.widgets import readable
from ui.workspace import Choices

_PREVIEW = 8  # rows
_LOOKED_AT = 20_000  # rows that are looked through for codes, at each run of the page
_SEPARATORS = {
    "auto": "automatic",
    ",": "comma",
    ";": "semicolon",
    "\t": "tab",
    "|": "pipe",
}
_DECIMALS = {"auto": "automatic", ".": "point", ",": "comma"}
_ENCODINGS = {
    "auto": "automatic",
    "utf-8": "UTF-8",
    "cp1252": "Windows-1252, Latin-1",
    "utf-16": "UTF-16",
    "cp1250": "Windows-1250 (Central Europe)",
    "cp1251": "Windows-1251 (Cyrillic)",
    "shift_jis": "Shift JIS (Japanese)",
    "gb18030": "GB 18030 (Chinese)",
}
_HEADERS = {
    "auto": "automatic",
    True: "holds the column names",
    False: "is data already",
}
_CORRECT = "Read it differently"
_LABELS = {  # arguments of `read_table`, as the form calls them
    "separator": "Separator",
    "header": "The first line",
    "skip_rows": "Lines to leave out at the start",
    "duplicate_names": "Number columns whose names repeat: a, a (2)",
    "bad_rows": "Leave out rows with too many or too few cells",
}
_TASKS = {"classification": "classes", "regression": "a number"}


@dataclass(frozen=True)
class Draft:
    """A file that was uploaded and isn't a table yet.

    Attributes
    ----------
    name : str
    data : bytes
    id : str
        Stands for the content, so that another file starts with fresh widgets.
    """

    name: str
    data: bytes
    id: str


def pick_file() -> Draft | None:
    """Let the visitor upload a file; return the last one."""
    st.file_uploader(
        "A CSV or Parquet file with column names in its first line",
        key=session.UPLOAD,
        on_change=_take_file,
        help="Nobody but you sees it. It is removed when you close the page.",
    )
    draft = session.get(session.DRAFT)
    if draft is not None and session.get(session.UPLOAD) is None:
        st.caption(f"File: {literal(draft.name)}")
    return draft


def _take_file() -> None:
    file = session.get(session.UPLOAD)
    if file is None:
        session.put(session.DRAFT, None)
        return
    data = file.getvalue()
    session.put(
        session.DRAFT, Draft(file.name, data, hashlib.sha256(data).hexdigest()[:12])
    )


def read(draft: Draft) -> ReadResult | None:
    """Show what was found out about a file, and let the visitor correct it."""
    place = st.container()
    with st.expander(_CORRECT):
        options = _options(draft)
    result = compute.read(draft.data, **options)
    with place:
        if not isinstance(result, ReadResult):
            problem = literal(_in_words_of_the_page(result))
            st.error(problem, title="This file can't be read")
            return None
        st.markdown(literal(result.detected.describe()))
        for note in result.detected.notes:
            st.caption(literal(note))
        st.dataframe(
            readable(result.frame.head(_PREVIEW)),
            alt=f"The first rows of {draft.name}",
        )
    return result


def _in_words_of_the_page(error: Exception) -> str:
    if isinstance(error, ReadError) and error.option in _LABELS:
        label = _LABELS[error.option]
        return f"{error.problem} Open “{_CORRECT}” and change “{label}”."
    return str(error)


def _options(draft: Draft) -> dict[str, Any]:
    left, middle, right = st.columns(3)
    with left:
        separator = _pick(_LABELS["separator"], _SEPARATORS, draft)
        header = _pick(_LABELS["header"], _HEADERS, draft)
    with middle:
        decimal = _pick("Decimal mark", _DECIMALS, draft)
        skip = st.number_input(_LABELS["skip_rows"], 0, 1000, 0, key=f"skip_{draft.id}")
    with right:
        encoding = _pick("Encoding", _ENCODINGS, draft)
        missing = st.text_input(
            "More spellings of a missing value",
            key=f"missing_{draft.id}",
            placeholder="for example: unknown, k.A.",
            help="With commas between them. Empty cells are missing anyway, and NA, "
            "NaN, null, ? and the like unless they are text.",
        )
    text = st.checkbox(
        "NA, null, ? and the like are text, not missing", key=f"text_{draft.id}"
    )
    dates = not st.checkbox(
        "Dates such as 2026-11-27 are text", key=f"dates_{draft.id}"
    )
    number = st.checkbox(_LABELS["duplicate_names"], key=f"repeat_{draft.id}")
    skip_bad = st.checkbox(_LABELS["bad_rows"], key=f"bad_{draft.id}")
    more = [word.strip() for word in missing.split(",") if word.strip()]
    return {
        "separator": separator,
        "decimal": decimal,
        "encoding": encoding,
        "header": header,
        "skip_rows": int(skip),
        "missing_values": tuple(
            sorted({*({""} if text else DEFAULT_MISSING_VALUES), *more})
        ),
        "duplicate_names": "number" if number else "error",
        "bad_rows": "skip" if skip_bad else "error",
        "dates": dates,
    }


def _pick(label: str, options: dict[Any, str], draft: Draft) -> Any:
    return st.selectbox(
        label,
        list(options),
        format_func=options.__getitem__,
        key=f"{label}_{draft.id}",
    )


def choose(draft: Draft, result: ReadResult) -> None:
    """Let the visitor say what to predict from what, and use the table."""
    frame = result.frame
    names = list(frame.columns)
    target = st.selectbox(
        "Column to predict",
        names,
        index=None,
        placeholder="Choose a column",
        key=f"target_{draft.id}",
    )
    if target is None:
        return
    task, ready = _task(draft, frame, target)
    keep_rows = _missing_target(draft, frame[target])
    suspects = suspicious_columns(frame.drop(columns=[target]))
    others = [name for name in names if name != target]
    left_out = st.multiselect(
        "Columns to leave out",
        others,
        default=list(suspects),
        key=f"drop_{draft.id}_{names.index(target)}",
        help="Names, numbers of customers, and whatever is known only afterwards.",
    )
    for name, reason in suspects.items():
        if name in left_out:
            st.caption(f"{literal(name)} looks like an identifier: {reason}.")
    if ready:
        _warn_of_leaks(draft, result, target, task, left_out)
    if len(left_out) == len(others):
        st.error("No column is left to predict from.")
        ready = False
    codes = _special_codes(draft, frame[[c for c in others if c not in left_out]])
    choices = Choices(
        target=target,
        task=task,
        dropped={name: suspects.get(name, "you left it out") for name in left_out},
        special_values=codes or {},
        drop_missing_target=bool(frame[target].isna().any()),
    )
    st.button(
        "Use this table",
        type="primary",
        disabled=not (ready and keep_rows and codes is not None),
        key=f"use_{draft.id}",
        on_click=_use,
        args=(frame, draft.name, choices),
    )
    failed = session.take(session.FAILED)
    if failed:
        st.error(literal(failed), title="This table can't be used")


def _warn_of_leaks(
    draft: Draft, result: ReadResult, target: str, task: str, left_out: list[str]
) -> None:
    """Point to columns that give the target away by themselves."""
    # read in another way, the same file has other types, rows or gaps
    types, missing = map(str, result.frame.dtypes), result.detected.missing
    key = (draft.id, result.detected.n_rows, *types, *missing.items())
    found = compute.telling(key, target, task, result.frame)
    kept = {name: score for name, score in found.items() if name not in left_out}
    if kept:
        names = ", ".join(f"{literal(name)} ({score})" for name, score in kept.items())
        st.warning(
            f"Nearly enough to tell {literal(target)}, each alone: {names}. Leave out "
            "what is known only afterwards, or the model will look better than it is."
        )


def _task(draft: Draft, frame: pd.DataFrame, target: str) -> tuple[str, bool]:
    """Let the visitor say what the target is; return it, and whether it can be."""
    try:
        is_number = check_target(frame[target]) == "regression"
    except ValueError:
        is_number = False
    options = list(_TASKS)
    chosen = st.radio(
        "It is",
        options,
        index=options.index("regression" if is_number else "classification"),
        format_func=_TASKS.__getitem__,
        key=f"task_{draft.id}_{list(frame.columns).index(target)}",
        horizontal=True,
        help="Told from its values; change it if that is wrong.",
    )
    task = chosen or options[0]
    try:
        check_target(frame[target], task)
    except ValueError as error:
        st.error(literal(error), title="This can't be learnt")
        return task, False
    return task, True


def _missing_target(draft: Draft, values: pd.Series) -> bool:
    """Offer to leave out rows without a target; return whether none is left."""
    lost = int(values.isna().sum())
    if lost == 0:
        return True
    st.warning(
        f"{literal(values.name)} is missing in {lost:,} of {len(values):,} rows. "
        "Nothing can be learnt from these."
    )
    position = f"{draft.id}_{values.name}"
    return st.checkbox(f"Leave out these {lost:,} rows", key=f"lost_{position}")


def _special_codes(draft: Draft, frame: pd.DataFrame) -> dict[str, list[float]] | None:
    """Let the visitor name numbers that stand for no value; None if they are wrong."""
    text = st.text_input(
        "Numbers that stand for no value (optional)",
        key=f"codes_{draft.id}",
        placeholder="for example: -7, -8, -9",
        help="Each gets an effect of its own, as a missing value does, instead of "
        "being taken for a quantity.",
    )
    rows = frame.sample(min(len(frame), _LOOKED_AT), random_state=0)
    likely = suggest_special_values(rows)
    if not text.strip():
        _suggest_codes(draft, likely)
        return {}
    try:
        codes = sorted({float(word) for word in text.replace(";", ",").split(",")})
    except ValueError:
        st.error("Write numbers with commas between them, such as -7, -8, -9.")
        return None
    numeric = frame.select_dtypes("number")
    counts = {str(c): int(numeric[c].isin(codes).sum()) for c in numeric}
    found = [c for c, n in counts.items() if n]
    if not found:
        st.error(f"No column of numbers holds {literal(text.strip())}.")
        return None
    chosen = st.multiselect(
        "In these columns",
        found,
        # a code in one column may be a quantity in another
        default=[c for c in found if c in likely] or found,
        format_func=lambda c: f"{c} ({counts[c]:,})",
        key=f"coded_{draft.id}_{hash((text, tuple(found)))}",
    )
    return {c: [code for code in codes if (numeric[c] == code).any()] for c in chosen}


def _suggest_codes(draft: Draft, likely: dict[str, tuple[float, ...]]) -> None:
    """Offer the numbers that look like codes; the visitor decides."""
    if not likely:
        return
    codes = ", ".join(f"{code:g}" for code in sorted(set(chain(*likely.values()))))
    names = list(likely)
    where = ", ".join(map(literal, names[:3]))
    where += f" and {len(names) - 3} more" if len(names) > 3 else ""
    st.caption(
        f"{literal(codes)} look like codes: many rows of {where} hold one, far from "
        "the other numbers."
    )
    st.button(
        f"Take {literal(codes)} for codes",
        key=f"suggested_{draft.id}",
        on_click=session.put,
        args=(f"codes_{draft.id}", codes),
    )


def _use(frame: pd.DataFrame, name: str, choices: Choices) -> None:
    try:
        table = compute.add(frame, name, choices)
    except (ValueError, OSError) as error:
        session.put(session.FAILED, str(error))
        return
    session.put(session.DATASET, table.key)
    session.put(session.DRAFT, None)
    session.put(session.ADDED, table.key)
