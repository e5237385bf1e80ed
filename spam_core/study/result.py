"""What a simulation found, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from spam_core.explain.frozen import Floats, plain
from spam_core.study.readers import Positions

N_RESAMPLES = 2000
"""Resamples of the draws that an interval is taken from."""

LEVEL = 0.95
"""Share of the resamples that an interval holds."""


@dataclass(frozen=True, eq=False)
class Simulation:
    """How often readers were right, by condition and explanation length.

    Attributes
    ----------
    conditions, readers : tuple of str
    E : tuple of int
        Explanation lengths.
    pairs : tuple of (A, B)
        Classes between which a reader had to choose.
    accuracy : ndarray of shape (conditions, readers, lengths, draws)
        Share of right answers of each draw. Read-only.
    n_pair_terms : ndarray of shape (conditions, lengths)
        Mean number of terms of two columns or more in the explanations asked about.
    pair_of_draw : int ndarray of shape (draws,)
        Position in `pairs`; the same in every condition.
    n_rows, n_training, n_test, seed : int
        Rows of the pool, and what a draw is made of.
    base_shown : bool
        Whether readers saw the base.

    Notes
    -----
    Intervals hold 95 % of the means over resampled draws (percentile bootstrap). They
    say how far the luck of the draws matters, not what other rows of the table or a
    model trained anew would give: with more draws they get as narrow as one likes.
    """

    conditions: tuple[str, ...]
    readers: tuple[str, ...]
    E: tuple[int, ...]
    pairs: tuple[tuple[Any, Any], ...]
    accuracy: Floats
    n_pair_terms: Floats
    pair_of_draw: Positions
    n_rows: int
    n_training: int
    n_test: int
    base_shown: bool
    seed: int

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return len(self.pair_of_draw)

    @property
    def settings(self) -> dict[str, Any]:
        """What the numbers depend on, in types that JSON knows."""
        return {
            "conditions": list(self.conditions),
            "readers": list(self.readers),
            "E": list(self.E),
            "pairs": [[plain(label) for label in pair] for pair in self.pairs],
            "rows": self.n_rows,
            "draws": self.n_draws,
            "n_training": self.n_training,
            "n_test": self.n_test,
            "base_shown": self.base_shown,
            "seed": self.seed,
        }

    @property
    def table(self) -> pd.DataFrame:
        """Mean accuracies with intervals.

        Columns ``condition``, ``reader``, ``E``, ``accuracy``, ``low``, ``high``,
        ``n_draws``, ``n_answers``.
        """
        frame = self._cells()
        frame["accuracy"], frame["low"], frame["high"] = self._summary(self.accuracy)
        frame["n_draws"] = self.n_draws
        frame["n_answers"] = self.n_draws * self.n_test
        return frame

    @property
    def by_draw(self) -> pd.DataFrame:
        """Accuracy of each draw.

        Columns ``condition``, ``reader``, ``E``, ``draw``, ``A``, ``B``, ``accuracy``.
        """
        n = self.n_draws
        frame = self._cells()
        frame = frame.loc[frame.index.repeat(n)].reset_index(drop=True)
        frame["draw"] = np.tile(np.arange(n), len(frame) // n)
        for k, side in enumerate("AB"):
            labels = pd.Series([plain(pair[k]) for pair in self.pairs])
            of_draw = labels.iloc[self.pair_of_draw[frame["draw"]]]
            frame[side] = of_draw.to_numpy()
        frame["accuracy"] = self.accuracy.ravel()
        return frame

    @property
    def pair_terms(self) -> pd.DataFrame:
        """Mean number of terms of two columns or more among the E shown.

        Columns ``condition``, ``E``, ``pair_terms``.
        """
        frame = pd.DataFrame(
            [(condition, length) for condition in self.conditions for length in self.E],
            columns=["condition", "E"],
        )
        frame["pair_terms"] = self.n_pair_terms.ravel()
        return frame

    def difference(self, a: str, b: str) -> pd.DataFrame:
        """Return by how much condition `a` is more accurate than `b`, draw by draw.

        Returns
        -------
        DataFrame
            Columns ``reader``, ``E``, ``difference``, ``low``, ``high``, ``n_draws``.
            Each draw is compared with itself, which takes the luck of pairs, rows and
            coins out of the interval.

        Raises
        ------
        ValueError
            If there is no such condition.
        """
        for name in (a, b):
            if name not in self.conditions:
                raise ValueError(
                    f"condition must be one of {list(self.conditions)}, got {name!r}"
                )
        one, other = (self.accuracy[self.conditions.index(name)] for name in (a, b))
        frame = self._cells()
        frame = frame.loc[frame["condition"] == self.conditions[0], ["reader", "E"]]
        columns = ["difference", "low", "high"]
        frame[columns] = np.transpose(self._summary(one - other))
        frame["n_draws"] = self.n_draws
        return frame

    def _cells(self) -> pd.DataFrame:
        """One line for each mean, in the order of `accuracy`."""
        return pd.DataFrame(
            [
                (condition, reader, length)
                for condition in self.conditions
                for reader in self.readers
                for length in self.E
            ],
            columns=["condition", "reader", "E"],
        )

    def _summary(self, by_draw: Floats) -> tuple[Floats, Floats, Floats]:
        """Means over the draws and the ends of their intervals, one a line."""
        lines = by_draw.reshape(-1, self.n_draws)
        rng = np.random.default_rng((self.seed, 1))
        shares = np.full(self.n_draws, 1 / self.n_draws)
        drawn = rng.multinomial(self.n_draws, shares, size=N_RESAMPLES)
        means = drawn @ lines.T / self.n_draws
        tail = (1 - LEVEL) / 2
        low, high = np.quantile(means, [tail, 1 - tail], axis=0)
        return lines.mean(axis=1), low, high
