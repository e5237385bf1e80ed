"""Forward simulation: how well a reader of explanations guesses decisions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from spam_core.explain.cells import check_count, check_seed
from spam_core.explain.explanation import LocalExplanation
from spam_core.explain.frozen import frozen, plain
from spam_core.study.choices import choices_of, choose_pairs, decide
from spam_core.study.game import Luck, play
from spam_core.study.readers import NearestReader, Reader, SumReader
from spam_core.study.result import Simulation

READERS: tuple[Reader, ...] = (SumReader(), NearestReader())


def simulate(
    explanations: Mapping[str, LocalExplanation],
    decisions: Mapping[str, ArrayLike] | None = None,
    pairs: Sequence[tuple[Any, Any]] | None = None,
    E: int | Iterable[int] = range(1, 16),
    draws: int = 1000,
    *,
    n_training: int = 8,
    n_test: int = 5,
    base_shown: bool = True,
    readers: Sequence[Reader] = READERS,
    seed: int = 0,
) -> Simulation:
    """Let readers guess what models decided, from explanations of some lengths.

    The paper's prediction task (section 5, "Human Subject Evaluations") without the
    people. In each draw a reader sees `n_training` explanations with the decision, half
    of them decided as class A and half as B, and answers for `n_test` further ones
    whether A or B was decided.

    Parameters
    ----------
    explanations : mapping of condition to LocalExplanation
        All of the same rows, the pool. What is shown are the E contributions to "B
        against A" that are largest in size: the difference of the two logits, of two
        classes the logit. A pair of columns is one term, and the last term ``("…",)``
        is never shown.
    decisions : mapping of condition to array of n labels, optional
        What each condition's model decided. None, or a condition that isn't there: what
        its scores say. A regression decides "at or below the median" or "above the
        median" of its predictions for the pool.
    pairs : sequence of (A, B), optional
        Classes to choose between, by label. None: of the pairs that all conditions
        have rows for, the ten whose rarer class has most.
    E : int or iterable of int, default=1 to 15
        Explanation lengths; beyond the number of terms all are shown.
    draws : int, default=1000
    n_training, n_test : int, default=8 and 5
    base_shown : bool, default=True
        Whether the base is printed with the terms, of a regression as its distance
        to the median.
    readers : sequence of Reader
        The one that adds up, and the one that remembers the most similar example.
    seed : int, default=0

    Returns
    -------
    Simulation

    Raises
    ------
    ValueError
        If the explanations aren't of the same rows and classes, too few rows are
        decided as some class, or a parameter can't be used; before any work.
    TypeError
        If a value isn't an explanation, or a reader has no ``answer``.

    Notes
    -----
    Which class a question is about is a fair coin, so that always naming one class is
    right half of the time however a pool is mixed. Where a class has fewer rows left
    than are asked for, its rows come again. Questions are never training rows.

    A draw's pair, the order in which rows are taken, the classes asked for and the
    coins of who can't tell are the same in all conditions and lengths: conditions whose
    models decide alike see the same rows.

    Examples
    --------
    >>> amounts = np.random.default_rng(0).normal(size=(40, 2))
    >>> import pandas as pd
    >>> data = pd.DataFrame(amounts, columns=["a", "b"])
    >>> exact = LocalExplanation(
    ...     values=amounts,
    ...     base=np.zeros(40),
    ...     score=amounts.sum(1),
    ...     terms=[("a",), ("b",)],
    ...     data=data,
    ...     classes=("no", "yes"),
    ... )
    >>> played = simulate({"exact": exact}, E=[1, 2], draws=50)
    >>> played.table.loc[played.table["reader"] == "sum", ["E", "accuracy"]]
       E  accuracy
    0  1       1.0
    1  2       1.0
    """
    lengths = _lengths(E)
    draws = check_count("draws", draws, 1)
    n_training = check_count("n_training", n_training, 2)
    n_test = check_count("n_test", n_test, 1)
    seed = check_seed(seed)
    if n_training % 2:
        raise ValueError(
            f"n_training must be even, half of each class; got {n_training}"
        )
    names = _reader_names(readers)
    first = _check_pool(explanations)
    choices = choices_of(first)
    decisions = {} if decisions is None else decisions
    strangers = sorted(set(decisions) - set(explanations))
    if strangers:
        raise ValueError(
            f"decisions names {strangers}, conditions are {list(explanations)}"
        )
    decided = {
        name: decide(explanation, decisions.get(name))
        for name, explanation in explanations.items()
    }
    chosen = choose_pairs(decided, choices, n_training // 2, pairs)
    luck = Luck.draw(draws, len(chosen), len(first), n_test, seed)
    shape = (len(explanations), len(readers), len(lengths), draws)
    accuracy, interactions = np.empty(shape), np.zeros((shape[0], shape[2]))
    for c, (name, explanation) in enumerate(explanations.items()):
        for p, pair in enumerate(chosen):
            places = np.flatnonzero(luck.pair == p)
            if not len(places):
                continue
            correct, shown = play(
                explanation,
                decided[name],
                pair,
                luck.of_draws(places),
                lengths,
                n_training // 2,
                base_shown,
                readers,
            )
            accuracy[c][..., places] = correct
            interactions[c] += shown * len(places) / draws
    return Simulation(
        conditions=tuple(explanations),
        readers=names,
        E=lengths,
        pairs=tuple((plain(choices[a]), plain(choices[b])) for a, b in chosen),
        accuracy=frozen(accuracy),
        n_pair_terms=frozen(interactions),
        pair_of_draw=luck.pair,
        n_rows=len(first),
        n_training=n_training,
        n_test=n_test,
        base_shown=bool(base_shown),
        seed=seed,
    )


def _lengths(E: int | Iterable[int]) -> tuple[int, ...]:
    given = [E] if isinstance(E, int | np.integer) else list(E)
    if not given:
        raise ValueError("E must hold at least one explanation length, got none")
    # once each, in the order given
    return tuple(dict.fromkeys(check_count("E", length, 1) for length in given))


def _reader_names(readers: Sequence[Reader]) -> tuple[str, ...]:
    for reader in readers:
        if not callable(getattr(reader, "answer", None)) or isinstance(reader, type):
            raise TypeError(
                "readers must be objects with a name and a method answer, got "
                f"{reader!r}"
            )
    names = tuple(str(reader.name) for reader in readers)
    if not names or len(set(names)) < len(names):
        raise ValueError(f"readers must have different names, got {list(names)}")
    return names


def _check_pool(explanations: Mapping[str, LocalExplanation]) -> LocalExplanation:
    """Return the first explanation, with which all others must agree."""
    for name, explanation in explanations.items():
        if not isinstance(explanation, LocalExplanation):
            raise TypeError(
                f"explanations must map names to LocalExplanation, got "
                f"{type(explanation).__name__} for {name!r}"
            )
    if not explanations:
        raise ValueError("explanations must hold at least one condition, got none")
    (start, first), *others = explanations.items()
    if not first.term_names[: len(first.terms) - first.has_rest]:
        raise ValueError(f"{start!r} has no terms that could be shown")
    for name, other in others:
        for what, mine, theirs in (
            ("rows", len(first), len(other)),
            ("classes", first.classes, other.classes),
        ):
            if mine != theirs:
                raise ValueError(
                    f"All conditions must explain the same {what}: {start!r} has "
                    f"{mine}, {name!r} has {theirs}"
                )
        if not first.data.index.equals(other.data.index):
            raise ValueError(
                f"All conditions must explain the same rows, but the index of "
                f"{name!r} differs from that of {start!r}: give one table to both"
            )
    return first
