"""One condition's draws of one pair of classes: deal rows, show, ask, count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spam_core.explain.explanation import LocalExplanation
from spam_core.explain.frozen import Floats
from spam_core.study.choices import Pair, contrast
from spam_core.study.readers import Positions, Reader, Shown


@dataclass(frozen=True, eq=False)
class Luck:
    """All that chance decides, the same in every condition and length.

    Attributes
    ----------
    pair : ndarray of shape (D,)
        Which pair of classes a draw is about.
    priority : ndarray of shape (D, n)
        Rows of the pool are dealt in this order.
    about_b : bool ndarray of shape (D, n_test)
        Whether a question is about a row decided B.
    coin : ndarray of shape (D, n_test)
        -1 or 1: the answer of who can't tell.
    """

    pair: Positions
    priority: Floats
    about_b: NDArray[np.bool_]
    coin: Floats

    @classmethod
    def draw(cls, draws: int, n_pairs: int, n: int, n_test: int, seed: int) -> Luck:
        """Draw it for so many draws from a pool of n rows."""
        rng = np.random.default_rng(seed)
        pair = rng.integers(n_pairs, size=draws)
        pair.flags.writeable = False
        return cls(
            pair,
            rng.random((draws, n)),
            rng.random((draws, n_test)) < 0.5,
            np.where(rng.random((draws, n_test)) < 0.5, -1.0, 1.0),
        )

    def of_draws(self, places: Positions) -> Luck:
        """Return that of some draws."""
        return Luck(
            self.pair[places],
            self.priority[places],
            self.about_b[places],
            self.coin[places],
        )

    def deal(
        self, rows_a: Positions, rows_b: Positions, half: int
    ) -> tuple[Positions, Positions]:
        """Deal rows decided A and rows decided B.

        Returns
        -------
        training : ndarray of shape (D, 2 * half)
            First those decided A.
        test : ndarray of shape (D, n_test)
            Never a training row of the draw; from the start again when a class has
            no more.
        """
        training, test = [], np.empty(self.about_b.shape, dtype=np.intp)
        for rows, here in ((rows_a, ~self.about_b), (rows_b, self.about_b)):
            order = rows[np.argsort(self.priority[:, rows], axis=1)]
            training.append(order[:, :half])
            left = order[:, half:]
            turn = (here.cumsum(axis=1) - 1) % left.shape[1]
            test[here] = np.take_along_axis(left, turn, axis=1)[here]
        return np.concatenate(training, axis=1), test


def play(
    explanation: LocalExplanation,
    decided: Positions,
    pair: Pair,
    luck: Luck,
    lengths: Sequence[int],
    half: int,
    base_shown: bool,
    readers: Sequence[Reader],
) -> tuple[Floats, Floats]:
    """Play some draws, all of one pair.

    Parameters
    ----------
    explanation : LocalExplanation of n rows
    decided : ndarray of shape (n,)
        What its model decided, as positions of classes.
    pair : (int, int)
        Positions of A and B.
    luck : Luck of the D draws
    lengths : sequence of int
    half : int
        Training rows of each class.
    base_shown : bool
    readers : sequence of Reader

    Returns
    -------
    accuracy : ndarray of shape (readers, lengths, D)
        Share of right answers.
    n_pair_terms : ndarray of shape (lengths,)
        Terms of several columns, mean over the explanations asked about.
    """
    rows = np.flatnonzero(np.isin(decided, pair))
    of_a, of_b = (np.flatnonzero(decided == k) for k in pair)
    training, test = (
        np.searchsorted(rows, dealt) for dealt in luck.deal(of_a, of_b, half)
    )
    labels = np.repeat([-1.0, 1.0], half)
    truth = np.where(luck.about_b, 1.0, -1.0)
    values, base = contrast(explanation, pair, rows)
    base = base if base_shown else np.zeros_like(base)
    values, rank, terms = rank_terms(values, max(lengths))
    several = np.array([len(explanation.terms[t]) > 1 for t in terms], dtype=bool)
    accuracy = np.empty((len(readers), len(lengths), len(test)))
    n_pair_terms = np.empty(len(lengths))
    for e, length in enumerate(lengths):
        among = rank < length
        shown = Shown(np.where(among, values, 0.0), base)
        n_pair_terms[e] = (among & several).sum(axis=1)[test].mean()
        for r, reader in enumerate(readers):
            answers = np.asarray(reader.answer(shown, training, labels, test))
            if answers.shape != test.shape:
                raise ValueError(
                    f"Reader {reader.name!r} must answer each of {test.shape} "
                    f"questions, got an array of shape {answers.shape}"
                )
            said = np.where(answers == 0, luck.coin, np.sign(answers))
            accuracy[r, e] = (said == truth).mean(axis=1)
    return accuracy, n_pair_terms


def rank_terms(values: Floats, most: int) -> tuple[Floats, Positions, Positions]:
    """Rank each row's values by size, and drop terms that no row shows.

    Parameters
    ----------
    values : ndarray of shape (n, T)
    most : int
        The largest explanation length.

    Returns
    -------
    values, rank : ndarray of shape (n, t)
        Rank 0 is the largest; of equal ones the first, as in the ledger.
    terms : ndarray of shape (t,)
        Which of the T these are.

    Examples
    --------
    >>> values, rank, terms = rank_terms(np.array([[0.1, -3.0, 2.0]]), most=2)
    >>> rank, terms
    (array([[0, 1]]), array([1, 2]))
    """
    order = np.argsort(-np.abs(values), axis=1, kind="stable")
    places = np.broadcast_to(np.arange(values.shape[1]), order.shape)
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, places, axis=1)
    terms = np.unique(order[:, :most])
    return values[:, terms], rank[:, terms], terms
