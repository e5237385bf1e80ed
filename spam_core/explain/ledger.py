"""The ledger: one prediction as a short list of lines that visibly sums."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from spam_core.data.encoding import show_value
from spam_core.explain.frozen import REST, Floats, class_position, plain, term_name

if TYPE_CHECKING:
    from spam_core.explain.explanation import LocalExplanation

Unit = Literal["term", "feature"]
UNITS: tuple[Unit, ...] = ("term", "feature")


def output_of(
    explanation: LocalExplanation, row: int, class_: object
) -> tuple[int | None, float, str]:
    """Say which output a ledger shows.

    Returns
    -------
    column : int or None
        Which of several outputs; None if there is one.
    sign : float
        -1 for the first of two classes, whose logit is the negative.
    scale : str
        Name of the scale, with the class where there are several.

    Raises
    ------
    ValueError
        If the model has no such class.
    """
    classes = explanation.classes
    if classes is None:
        if class_ is not None:
            raise ValueError(f"A regression has no classes, got class_={class_!r}")
        return None, 1.0, explanation.scale
    if explanation.base.ndim == 1:
        position = 1 if class_ is None else class_position(classes, class_)
        if position == 1:
            return None, 1.0, explanation.scale
        return None, -1.0, f"logit of {plain(classes[0])}"
    if class_ is None:
        position = int(np.argmax(explanation.score[row]))
    else:
        position = class_position(classes, class_)
    return position, 1.0, f"{explanation.scale} of {plain(classes[position])}"


def check_row(explanation: LocalExplanation, row: int) -> int:
    """Return the position of a row, counted from the end if negative."""
    n = len(explanation.base)
    if isinstance(row, bool) or not isinstance(row, int | np.integer):
        raise TypeError(f"row must be an integer position, got {row!r}")
    if not -n <= row < n:
        raise ValueError(f"row must be in 0..{n - 1}, got {row}")
    return int(row) % n


def make_ledger(
    explanation: LocalExplanation,
    row: int,
    E: int,
    unit: Unit,
    class_: object,
) -> pd.DataFrame:
    """Build the frame that `LocalExplanation.ledger` returns."""
    row = check_row(explanation, row)
    if isinstance(E, bool) or not isinstance(E, int | np.integer) or E < 0:
        raise ValueError(f"E must be an integer >= 0, got {E!r}")
    if unit not in UNITS:
        raise ValueError(f"unit must be one of {list(UNITS)}, got {unit!r}")
    column, sign, scale = output_of(explanation, row, class_)

    def pick(values: Floats) -> Floats:
        return sign * (values if column is None else values[..., column])

    if unit == "feature":
        names: list[tuple[str, ...]] = [(n,) for n in explanation.feature_names]
        shared, rest = explanation.share_by_feature(slice(row, row + 1))
        amounts, left_out = pick(shared)[0], float(pick(rest)[0])
    else:
        names = list(explanation.terms)
        amounts, left_out = pick(explanation.values[row]), 0.0
        if names and names[-1] == REST:
            names, amounts, left_out = names[:-1], amounts[:-1], float(amounts[-1])
    order = np.argsort(-np.abs(amounts), kind="stable")
    shown, hidden = order[:E], order[E:]
    lines: list[tuple[str, str, str, float]] = [
        (
            "term",
            term_name(names[k]),
            " × ".join(cell_text(explanation, row, name) for name in names[k]),
            float(amounts[k]),
        )
        for k in shown
    ]
    lines += _others(
        explanation, len(hidden), float(amounts[hidden].sum()), left_out, unit
    )
    base, score = (
        float(pick(explanation.base)[row]),
        float(pick(explanation.score)[row]),
    )
    lines += [("base", "base", "", base), ("score", "score", "", score)]
    frame = pd.DataFrame(lines, columns=["kind", "term", "value", "contribution"])
    running = frame["contribution"].cumsum()
    running.iloc[-1] = score
    frame["total"] = running
    frame.attrs = {"scale": scale, "row": row, "view": explanation.view, "unit": unit}
    return frame


def _others(
    explanation: LocalExplanation,
    n_hidden: int,
    hidden: float,
    left_out: float,
    unit: Unit,
) -> list[tuple[str, str, str, float]]:
    """Lines for what isn't shown term by term."""
    has_rest = explanation.has_rest
    n_left_out = explanation.n_left_out
    if unit == "term" and n_left_out:
        n_hidden, hidden = n_hidden + n_left_out, hidden + left_out
        has_rest = False
    lines = []
    noun = "feature" if explanation.view == "shapley" else unit
    if n_hidden:
        text = f"the other {n_hidden:,} {noun}{'' if n_hidden == 1 else 's'}"
        lines.append(("other", text, "", hidden))
    if has_rest:
        text = (
            f"{n_left_out:,} terms that aren't listed"
            if n_left_out
            else "not explained by these terms"
        )
        lines.append(("rest", text, "", left_out))
    return lines


def cell_text(explanation: LocalExplanation, row: int, name: str) -> str:
    """Show a cell in user units, and say if training never saw it."""
    column = explanation.feature_names.index(name)
    cell: Any = explanation.data.iloc[row, column]
    try:
        missing = bool(pd.isna(cell))
    except (TypeError, ValueError):  # a cell that holds a list
        missing = False
    text = show_cell(None if missing else plain(cell))
    unknown = explanation.unknown
    if unknown is not None and unknown[row, column]:
        text += " (never seen)"
    return text


def show_cell(cell: object) -> str:
    """Show a cell in user units, whole numbers and days in full.

    Examples
    --------
    >>> show_cell(1234567.0), show_cell(0.1234567), show_cell(None)
    ('1234567', '0.123457', 'missing')
    """
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    if isinstance(cell, pd.Timestamp) and cell == cell.normalize():
        return str(cell.date())
    return show_value(cell)


def share(
    terms: Sequence[tuple[str, ...]], feature_names: Sequence[str]
) -> tuple[Floats, Floats]:
    """Return how terms are shared out equally among their features.

    Returns
    -------
    shares : ndarray of shape (T, d)
        1/|S| where the feature is in the term's set S.
    rest : ndarray of shape (T,)
        1 for the term that stands for what is left out, which has no features.
    """
    position = {name: i for i, name in enumerate(feature_names)}
    shares = np.zeros((len(terms), len(feature_names)))
    rest = np.zeros(len(terms))
    for t, term in enumerate(terms):
        if term == REST:
            rest[t] = 1.0
            continue
        for name in term:
            shares[t, position[name]] = 1.0 / len(term)
    return shares, rest
