"""Sizes of a model's terms over rows, and which of them cancel each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from spam_core.data.encoding import Encoded
from spam_core.explain.frozen import Floats
from spam_core.explain.nodes import Scores
from spam_core.explain.of_model import Polynomial, double_scores
from spam_core.explain.spread import rank_terms, term_sd
from spam_core.explain.term_set import Term, TermSet, count_terms
from spam_core.explain.terms import TermAlgebra

MOST_TERMS = 5_000
"""Terms listed unless more are asked for."""

_MOST_ROWS = 20_000
_LEAST_ROWS = 500
_WORK = 6e8  # component products; a second or two
LARGE = 40  # terms among which cancellation is looked for
_CANCELS = 0.25  # of the score's variance, from the covariance of two terms
_CORRELATION = -0.5


@dataclass(frozen=True)
class Cancellation:
    """Two large terms that mostly take back what the other adds.

    Attributes
    ----------
    first, second : tuple of int
        The terms.
    output : int
        In which output's score.
    correlation : float
        Of the two over the training rows; near -1.
    """

    first: Term
    second: Term
    output: int
    correlation: float


@dataclass(frozen=True, eq=False)
class TermSummary:
    """Sizes of a model's largest terms in one view.

    Attributes
    ----------
    terms : tuple of tuple of int
        All terms, or the `MOST_TERMS` of largest sd, in their usual sequence.
    importance : ndarray of shape (T, C)
        Mean absolute contribution over the rows looked at.
    sd : ndarray of shape (T, C)
        Standard deviation under the product of the training marginals.
    score_mean, score_sd : ndarray of shape (C,)
        Of the score over the rows looked at.
    cancelling : tuple of Cancellation
        Pairs of large terms that cancel over these rows, the worst first.
    n_rows : int
        Rows looked at.
    """

    terms: tuple[Term, ...]
    importance: Floats
    sd: Floats
    score_mean: Floats
    score_sd: Floats
    cancelling: tuple[Cancellation, ...]
    n_rows: int

    def largest(self, top: int) -> TermSet:
        """Return the terms of largest sd, pooled over outputs."""
        best = _by_size(self.sd)[:top]
        n_features = 1 + max((i for term in self.terms for i in term), default=0)
        return TermSet.of((self.terms[k] for k in best), n_features)

    def to_arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return plain arrays that `from_arrays` reads."""
        position = {term: k for k, term in enumerate(self.terms)}
        found = [
            (position[c.first], position[c.second], c.output, c.correlation)
            for c in self.cancelling
        ]
        return {
            "terms": pad_terms(self.terms),
            "importance": self.importance,
            "sd": self.sd,
            "score_mean": self.score_mean,
            "score_sd": self.score_sd,
            "cancelling": np.array(found, dtype=np.float64).reshape(-1, 4),
            "n_rows": np.array([self.n_rows]),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.generic]]) -> TermSummary:
        """Rebuild what `to_arrays` gave."""
        rows = np.asarray(arrays["terms"]).tolist()
        terms = tuple(tuple(int(i) for i in row if i >= 0) for row in rows)
        numbers = {
            name: np.asarray(arrays[name], dtype=np.float64)
            for name in ("importance", "sd", "score_mean", "score_sd", "cancelling")
        }
        found = tuple(
            Cancellation(terms[int(a)], terms[int(b)], int(c), float(r))
            for a, b, c, r in numbers.pop("cancelling").reshape(-1, 4)
        )
        n_rows = int(np.asarray(arrays["n_rows"])[0])
        return cls(terms, **numbers, cancelling=found, n_rows=n_rows)


def pad_terms(terms: tuple[Term, ...]) -> NDArray[np.int32]:
    """Return terms as a matrix, a term a row, filled up with -1."""
    width = max((len(term) for term in terms), default=1)
    matrix = np.full((len(terms), width), -1, dtype=np.int32)
    for k, term in enumerate(terms):
        matrix[k, : len(term)] = term
    return matrix


def summarise(
    algebras: Sequence[TermAlgebra],
    model: Polynomial,
    rows: Encoded,
    sample_weight: NDArray[np.float64] | None = None,
) -> list[TermSummary]:
    """Work out the sizes of a model's terms, or of its largest ones.

    Parameters
    ----------
    algebras : sequence of TermAlgebra
        One or more views of the model; the rows are scored once for all.
    model : SPAM
    rows : Encoded
        At most 20,000 evenly spaced ones of these are looked at, and fewer where there
        are thousands of terms.
    sample_weight : ndarray of shape (n,), optional
        Weights of the rows.

    Returns
    -------
    list of TermSummary
        One for each view.
    """
    views = [_View(algebra) for algebra in algebras]
    algebra, n = algebras[0], len(rows)
    width = sum(order.lam.shape[1] for order in algebra.orders)
    work = width * (len(views[0].terms) + 10 * algebra.n_features)
    count = min(n, _MOST_ROWS, max(_LEAST_ROWS, int(_WORK / work)))
    chosen = torch.from_numpy(np.linspace(0, n - 1, count).round().astype(np.int64))
    share = torch.ones(n) if sample_weight is None else torch.from_numpy(sample_weight)
    share = share[chosen].double()
    share = share / share.sum()
    step = algebra.rows_per_block(algebra.n_features)
    for start in range(0, count, step):
        here = slice(start, min(start + step, count))
        block = rows[chosen[here]]
        scores, known = double_scores(model, block), known_of(block)
        score = algebra.score(scores)
        for view in views:
            view.add(scores, known, score, share[here])
    return [view.summary(share) for view in views]


class _View:
    """Sums over rows of one view's terms."""

    def __init__(self, algebra: TermAlgebra) -> None:
        self._algebra = algebra
        self.terms, sd = _largest(algebra, MOST_TERMS)
        self._sd = sd.numpy()
        self._large = torch.from_numpy(np.sort(_by_size(self._sd)[:LARGE]))
        self._size = algebra.bias.new_zeros(len(self.terms), algebra.n_outputs)
        self._kept: list[Tensor] = []  # of each row: large terms, then the score

    def add(
        self, scores: Scores, known: Tensor | None, score: Tensor, share: Tensor
    ) -> None:
        _, values = self._algebra.terms(scores, self.terms, known)
        self._size += torch.einsum("n,ntc->tc", share, values.abs())
        self._kept.append(torch.cat([values[:, self._large], score[:, None]], 1))

    def summary(self, share: Tensor) -> TermSummary:
        tuples, kept = self.terms.tuples(), torch.cat(self._kept)
        mean = torch.einsum("n,nkc->kc", share, kept)
        centred = kept - mean
        covariance = torch.einsum("n,nac,nbc->cab", share, centred, centred).numpy()
        large = [tuples[k] for k in self._large.tolist()]
        return TermSummary(
            tuple(tuples),
            self._size.numpy(),
            self._sd,
            mean[-1].numpy(),
            np.sqrt(covariance[:, -1, -1]),
            find_cancelling(large, covariance),
            len(kept),
        )


def largest_terms(algebra: TermAlgebra, top: int) -> TermSet:
    """Return all terms if there are at most `top`, else those of largest sd."""
    if count_terms(algebra.n_features, algebra.degree) <= top:
        return TermSet.all(algebra.n_features, algebra.degree)
    return rank_terms(algebra, top)[0]


def _largest(algebra: TermAlgebra, top: int) -> tuple[TermSet, Tensor]:
    """Return `largest_terms` and their sd, (T, C)."""
    if count_terms(algebra.n_features, algebra.degree) > top:
        terms, pooled = rank_terms(algebra, top)
        if algebra.n_outputs == 1:
            return terms, pooled[:, None]
    else:
        terms = TermSet.all(algebra.n_features, algebra.degree)
    return terms, term_sd(algebra, terms)


def known_of(rows: Encoded) -> Tensor | None:
    """Return the mask of known cells, None if all are."""
    unknown = rows.unknown
    return ~unknown if bool(unknown.any()) else None


def _by_size(sd: Floats) -> NDArray[np.int64]:
    return np.argsort(-(sd**2).sum(axis=1), kind="stable")


def find_cancelling(terms: list[Term], covariance: Floats) -> tuple[Cancellation, ...]:
    """Find pairs of terms whose sum varies much less than each; the score is last."""
    found = []
    for output, matrix in enumerate(covariance):
        sd = np.sqrt(np.diag(matrix))
        for a in range(len(terms)):
            for b in range(a):
                scale = sd[a] * sd[b]
                large = -matrix[a, b] > _CANCELS * sd[-1] ** 2
                if large and scale > 0 and matrix[a, b] < _CORRELATION * scale:
                    ratio = float(matrix[a, b] / scale)
                    found.append(
                        (matrix[a, b], Cancellation(terms[b], terms[a], output, ratio))
                    )
    found.sort(key=lambda item: item[0])
    return tuple(cancellation for _, cancellation in found)
