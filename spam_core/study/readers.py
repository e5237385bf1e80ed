"""Who looks at explanations and says what the model decided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from spam_core.explain.frozen import Floats

Positions = NDArray[np.intp]

_ROUNDING = 1e-12  # relative: what is closer than that is equal


@dataclass(frozen=True, eq=False)
class Shown:
    """What explanations of n rows show of the choice between classes A and B.

    Attributes
    ----------
    values : ndarray of shape (n, T)
        Contributions to B against A; 0 where a term isn't among the E shown.
    base : ndarray of shape (n,)
        Likewise the base; 0 where it isn't shown.
    """

    values: Floats
    base: Floats


class Reader(Protocol):
    """Anything with a name that answers.

    A reader must not remember anything from one call to the next.
    """

    @property
    def name(self) -> str:
        """Name for tables and figures, its own among the readers of a simulation."""

    def answer(
        self, shown: Shown, training: Positions, labels: Floats, test: Positions
    ) -> Floats:
        """Say A or B for each question of each draw.

        Parameters
        ----------
        shown : Shown
            Explanations of n rows.
        training : ndarray of shape (n_draws, n_training)
            Which rows are seen with the model's decision.
        labels : ndarray of shape (n_training,)
            Those decisions: -1 for A, 1 for B.
        test : ndarray of shape (n_draws, n_test)
            Which rows are asked about.

        Returns
        -------
        ndarray of shape (n_draws, n_test)
            Negative for A, positive for B, 0 for "can't tell", which becomes a coin.
        """


@dataclass(frozen=True)
class SumReader:
    """Adds up what is shown and says B if the sum is positive.

    It needs no training examples: it knows that contributions add up. If all terms and
    the base are shown and exact, it is always right. A sum of 0 is "can't tell".

    Examples
    --------
    >>> shown = Shown(np.array([[2.0, -1.0], [0.0, -1.0]]), np.zeros(2))
    >>> none = np.empty((1, 0), dtype=int)
    >>> SumReader().answer(shown, none, np.empty(0), np.array([[0, 1]]))
    array([[ 1., -1.]])
    """

    name: ClassVar[str] = "sum"

    def answer(
        self,
        shown: Shown,
        training: Positions,  # noqa: ARG002
        labels: Floats,  # noqa: ARG002
        test: Positions,
    ) -> Floats:
        """Return the signs of the sums; see `Reader.answer`."""
        total = shown.values.sum(axis=1) + shown.base
        size = np.abs(shown.values).sum(axis=1) + np.abs(shown.base)
        total[np.abs(total) <= _ROUNDING * size] = 0.0
        answers: Floats = np.sign(total)[test]
        return answers


@dataclass(frozen=True)
class NearestReader:
    """Says what the model decided on the most similar training explanation.

    Similarity is the cosine of the vectors of shown terms; a term that isn't shown
    counts as 0, and so does the base. Explanations that share no term have similarity
    0. Of equally similar ones the majority counts, and an even split is "can't tell":
    so it is where nothing is shared with any, since as many were decided A as B.

    Examples
    --------
    >>> values = np.array([[1.0, 0.0], [-1.0, 0.0], [0.5, 0.1], [0.0, 3.0]])
    >>> shown = Shown(values, np.zeros(4))
    >>> labels = np.array([1.0, -1.0])
    >>> NearestReader().answer(shown, np.array([[0, 1]]), labels, np.array([[2, 3]]))
    array([[1., 0.]])
    """

    name: ClassVar[str] = "nearest"

    def answer(
        self, shown: Shown, training: Positions, labels: Floats, test: Positions
    ) -> Floats:
        """Return the decisions on the nearest; see `Reader.answer`."""
        norm = np.linalg.norm(shown.values, axis=1, keepdims=True)
        unit = np.divide(
            shown.values, norm, out=np.zeros_like(shown.values), where=norm > 0
        )
        similarity = unit @ unit.T
        near = similarity[test[:, :, None], training[:, None, :]]
        nearest = near >= near.max(axis=2, keepdims=True) - _ROUNDING
        answers: Floats = np.sign(nearest @ labels)
        return answers
