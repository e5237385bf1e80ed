"""Parts that pages are made of: pickers, charts with their tables, training status."""

from __future__ import annotations

import html
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from spam_core import plots
from spam_core.data import Table
from spam_core.explain.ledger import show_cell
from ui import compute, session
from ui.text import RAW_TABLES, VIEW_HELP, amount, literal, number, percent

_CHART_CONFIG = {
    "displaylogo": False,
    "toImageButtonOptions": {"format": "svg"},
    "modeBarButtonsToRemove": ["lasso2d", "select2d"],
}
NOTHING = "–"  # a cell without a value; Streamlit would write None
_USUAL = 7  # lines of an explanation, as in the paper's study
_BIG_TABLE = 2000  # rows beyond which a table is sent only when it is opened


def pick_dataset() -> str:
    """Let the visitor choose a data set; return its key."""
    names = compute.choices()
    session.keep_valid(session.DATASET, list(names))
    return st.selectbox(
        "Data set",
        list(names),
        format_func=names.__getitem__,
        key=session.DATASET,
        bind="query-params",
        persist_state="session",
    )


def pick_view(polynomial: bool = True) -> str:
    """Let the visitor choose pure or raw terms; return "pure" or "raw"."""
    view = st.segmented_control(
        "Terms",
        ["pure", "raw"],
        default="pure",
        required=True,
        format_func=str.capitalize,
        key=session.VIEW,
        bind="query-params",
        persist_state="session",
    )
    view = view or "pure"
    st.caption(VIEW_HELP[view] if polynomial or view == "pure" else RAW_TABLES)
    return view


def pick_class(dataset: str) -> str | None:
    """Let the visitor choose a class of several; None where there is one output."""
    table = compute.table(dataset)
    names = list(table.class_names) if table.task == "multiclass" else []
    session.keep_valid(session.CLASS, names)
    if not names:
        return None
    return st.selectbox(
        "Class to explain",
        names,
        key=session.CLASS,
        bind="query-params",
        persist_state="session",
    )


def pick_one(
    label: str, options: dict[str, str], key: str, help: str | None = None
) -> str:
    """Let the visitor choose one of a few; the link to the page remembers it."""
    first = next(iter(options))
    chosen = st.segmented_control(
        label,
        list(options),
        default=first,
        required=True,
        format_func=options.__getitem__,
        key=key,
        bind="query-params",
        persist_state="session",
        help=help,
    )
    return chosen or first


def pick_length(most: int, label: str = "Terms to show") -> int:
    """Let the visitor choose how many lines an explanation has."""
    # pages share the length; where there is less to show, all of it is shown
    longest = max(_USUAL, min(30, most))
    session.keep_between(session.LENGTH, 1, longest)
    return int(
        st.slider(
            label,
            1,
            longest,
            _USUAL,
            key=session.LENGTH,
            bind="query-params",
            persist_state="session",
            help="The rest is added up in one last line, so nothing is lost.",
        )
    )


def grid(n: int, most: int) -> list[Any]:
    """Return n places or a few more: two or more, at most `most`, beside each other."""
    width = min(most, max(2, n))
    return [place for _ in range(0, n, width) for place in st.columns(width)]


def chart(figure: go.Figure, key: str, **settings: Any) -> Any:
    """Show a figure with its alt text, and the same numbers as a table.

    Parameters
    ----------
    figure : plotly.graph_objects.Figure
        Made by ``spam_core.plots``.
    key : str
        Unique on the page: two figures may be equal.
    **settings : object
        Further arguments of ``st.plotly_chart``, such as ``on_select``.

    Returns
    -------
    object
        What ``st.plotly_chart`` returns.
    """
    alt = plots.alt_text(figure)
    shown = st.plotly_chart(figure, key=key, alt=alt, config=_CHART_CONFIG, **settings)
    frame = plots.table(figure)
    with st.expander("The same numbers as a table"):
        if len(frame) <= _BIG_TABLE:
            part, alt = frame, f"Table: {alt}"
        else:
            st.write(f"{len(frame):,} rows")
            part = frame.head(_BIG_TABLE)
        st.dataframe(readable(part), hide_index=True, placeholder=NOTHING, alt=alt)
    return shown


def pick_pair(pairs: list[tuple[str, str]], event: Any) -> tuple[str, str]:
    """Let the visitor choose a pair by name, or by a click on the matrix.

    Parameters
    ----------
    pairs : list of (str, str)
        The most important first.
    event : object
        What the matrix's chart returned.
    """
    named = {" × ".join(pair): pair for pair in pairs}
    points = event.selection.points if event is not None else []
    if points:
        clicked = {html.unescape(name) for name in points[0]["customdata"][:2]}
        for name, pair in named.items():
            if set(pair) == clicked:
                session.choose(session.PAIR, name, because=name)
    session.keep_valid(session.PAIR, list(named))
    chosen = st.selectbox(
        "Pair, most important first",
        list(named),
        key=session.PAIR,
        persist_state="session",
    )
    return named[chosen]


def pick_row(table: Table) -> int:
    """Let the visitor choose a test row; return its position in the table."""
    rows = table.splits["test"]
    session.keep_between(session.ROW, 1, len(rows))
    place = st.number_input(
        f"Test row, 1 to {len(rows):,}",
        min_value=1,
        max_value=len(rows),
        key=session.ROW,
        bind="query-params",
        persist_state="session",
    )
    return int(rows[int(place) - 1])


def column_note(table: Table, column: str) -> None:
    """Say what a column means, where that is known."""
    if table.columns.get(column, column) != column:
        st.caption(f"{literal(column)}: {literal(table.columns[column])}")


def outcome(
    table: Table, position: int, score: float | None, shares: dict[str, float] | None
) -> None:
    """Show the prediction of a row beside what really was."""
    truth = table.y.iloc[position]
    if shares is None:
        st.metric(
            f"Predicted {literal(table.target)}",
            amount(score, table.target_unit),
            delta=f"in fact {number(float(truth))}",
            delta_color="off",
            delta_arrow="off",
        )
        return
    likeliest = max(shares, key=shares.__getitem__)
    real = table.class_names[table.classes.index(truth)]
    st.metric(
        f"Predicted {literal(table.target)}",
        literal(likeliest),
        delta=f"{percent(shares[likeliest])} sure; in fact {literal(real)}",
        delta_color="off",
        delta_arrow="off",
    )
    st.dataframe(
        pd.DataFrame({"class": list(shares), "probability": list(shares.values())}),
        hide_index=True,
        column_config={"probability": st.column_config.NumberColumn(format="percent")},
        alt="Probability of each class",
    )


def row_values(table: Table, position: int) -> None:
    """Show the columns of a row as a table."""
    row = table.X.iloc[position]
    values = [show_cell(None if pd.isna(value) else value) for value in row]
    st.dataframe(
        pd.DataFrame({"column": list(table.feature_names), "value": values}),
        hide_index=True,
        alt="Values of the row, column by column",
    )


def preview(table: Table, rows: int = 20) -> None:
    """Show the first rows of a table, the target first."""
    frame = pd.concat([table.y.head(rows), table.X.head(rows)], axis=1)
    st.dataframe(
        readable(frame),
        hide_index=True,
        placeholder="missing",
        alt=f"The first rows of {table.name}",
    )


def readable(frame: pd.DataFrame) -> pd.DataFrame:
    """Make columns of one type, as Arrow wants, and days of dates without a time."""
    frame = frame.copy()
    for name in frame.columns:
        if pd.api.types.is_datetime64_dtype(frame[name]):
            days = frame[name].dt.normalize()
            if days.equals(frame[name]):
                frame[name] = frame[name].dt.strftime("%Y-%m-%d")
        if frame[name].dtype == object:
            frame[name] = [
                value
                if isinstance(value, str)
                else f"{value:.6g}"
                if isinstance(value, float)
                else str(value)
                for value in frame[name]
            ]
    return frame
