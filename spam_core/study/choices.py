"""What models decide on the rows of a pool, and how an explanation tells two apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spam_core.explain.explanation import LocalExplanation
from spam_core.explain.frozen import Floats, class_position, plain
from spam_core.study.readers import Positions

HALVES = ("at or below the median", "above the median")
"""What a regression decides: which half of the pool its prediction is in."""

MAX_PAIRS = 10
"""Pairs of classes that are chosen, at most, unless they are given."""

Pair = tuple[int, int]


def choices_of(explanation: LocalExplanation) -> tuple[Any, ...]:
    """Return what the model can decide: its classes, or the two halves."""
    return HALVES if explanation.classes is None else explanation.classes


def decide(explanation: LocalExplanation, given: ArrayLike | None) -> Positions:
    """Return the decision on each row, as a position in `choices_of`.

    Parameters
    ----------
    explanation : LocalExplanation
    given : array of n labels, or None
        None: what the scores say. The class with the largest of several; the second
        of two if its logit is positive; above or not above the pool's median.

    Raises
    ------
    ValueError
        If there isn't one label for each row, or one is unknown.
    """
    if given is not None:
        labels = np.asarray(given, dtype=object)
        if labels.shape != explanation.base.shape[:1]:
            raise ValueError(
                f"Expected one decision for each of {len(explanation)} rows, got an "
                f"array of shape {labels.shape}"
            )
        choices = choices_of(explanation)
        return np.array([class_position(choices, label) for label in labels])
    score = explanation.score
    if score.ndim == 2:
        chosen: Positions = score.argmax(axis=1)
        return chosen
    return (score > _threshold(explanation)).astype(np.intp)


def contrast(
    explanation: LocalExplanation, pair: Pair, rows: Positions
) -> tuple[Floats, Floats]:
    """Return contributions of some rows to B against A, and their base.

    Returns
    -------
    values : ndarray of shape (n, T)
        Without the last term ``("…",)``, which is no term.
    base : ndarray of shape (n,)
        For a regression the distance to the pool's median.
    """
    a, b = pair
    listed = slice(len(explanation.terms) - explanation.has_rest)
    values, base = explanation.values, explanation.base
    if base.ndim == 2:
        # both at once: values[rows] would copy every class
        return (
            values[rows, listed, b] - values[rows, listed, a],
            base[rows, b] - base[rows, a],
        )
    sign = 1.0 if b > a else -1.0
    return (
        sign * values[rows, listed],
        sign * (base[rows] - _threshold(explanation)),
    )


def choose_pairs(
    decisions: Mapping[str, Positions],
    choices: Sequence[Any],
    n_shown: int,
    given: Sequence[tuple[Any, Any]] | None,
) -> tuple[Pair, ...]:
    """Return pairs (A, B) of positions that every condition has rows for.

    Parameters
    ----------
    decisions : mapping of condition to ndarray of shape (n,)
    choices : sequence of C labels
    n_shown : int
        Training rows of each class; one more is needed to ask about.
    given : sequence of (A, B), optional
        Pairs of labels. None: of the pairs that all conditions have the rows for, the
        `MAX_PAIRS` whose rarer class (in the condition where it is rarest) has most.

    Raises
    ------
    ValueError
        If a pair, or without pairs every pair, lacks rows; names class and counts.
    """
    counts = {
        name: np.bincount(chosen, minlength=len(choices))
        for name, chosen in decisions.items()
    }
    fewest = np.min(list(counts.values()), axis=0)
    enough = fewest > n_shown
    if given is None:
        candidates = np.flatnonzero(enough).tolist()
        pairs = list(combinations(candidates, 2))
        pairs.sort(key=lambda pair: -min(fewest[pair[0]], fewest[pair[1]]))
        if pairs:
            return tuple(pairs[:MAX_PAIRS])
        # the two commonest classes come closest: the second of them lacks rows
        pairs = [tuple(sorted(np.argsort(-fewest, kind="stable")[:2].tolist()))]
    else:
        pairs = [_positions(choices, pair) for pair in given]
        if not pairs:
            raise ValueError("pairs must name at least one pair of classes, got none")
    for pair in pairs:
        for k in sorted(pair, key=lambda k: int(fewest[k])):
            if not enough[k]:
                raise ValueError(_lacking(counts, choices, k, n_shown, given is None))
    return tuple(pairs)


def _threshold(explanation: LocalExplanation) -> float:
    """Score above which the second of two is decided."""
    return float(np.median(explanation.score)) if explanation.classes is None else 0.0


def _positions(choices: Sequence[Any], pair: tuple[Any, Any]) -> Pair:
    if isinstance(pair, str) or len(pair) != 2:
        raise ValueError(f"Expected pairs (A, B) of classes, got {pair!r}")
    a, b = (class_position(choices, label) for label in pair)
    if a == b:
        raise ValueError(f"A pair needs two classes, got {pair!r}")
    return a, b


def _lacking(
    counts: Mapping[str, NDArray[np.intp]],
    choices: Sequence[Any],
    k: int,
    n_shown: int,
    any_pair: bool,
) -> str:
    """Say which condition decides too few rows as class `k`."""
    name = min(counts, key=lambda name: int(counts[name][k]))
    n = int(counts[name].sum())
    others = ", ".join(
        f"{int(counts[name][c])} as {plain(choices[c])!r}"
        for c in np.argsort(-counts[name], kind="stable")[:3]
        if c != k
    )
    start = (
        "There is no pair of classes of which every condition decides enough rows: "
        if any_pair and len(choices) > 2
        else ""
    )
    return (
        f"{start}of {n} rows {name!r} decides {int(counts[name][k])} as "
        f"{plain(choices[k])!r} ({others}), but at least {n_shown + 1} of each class "
        f"are needed: {n_shown} to show and 1 to ask about."
    )
