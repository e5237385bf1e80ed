"""What is kept of the training rows: sizes of terms and coarse support, no rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from spam_core.data.encoding import Encoded
from spam_core.explain.frozen import Floats
from spam_core.explain.of_model import Polynomial, algebra_of, double_scores
from spam_core.explain.spread import rank_terms, term_sd
from spam_core.explain.support import JointSupport
from spam_core.explain.term_set import Term, TermSet, count_terms
from spam_core.explain.terms import VIEWS, TermAlgebra

MOST_TERMS = 5_000
"""Terms listed unless more are asked for."""

_MOST_ROWS = 20_000
_LEAST_ROWS = 500
_WORK = 6e8  # component products; a second or two


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
    n_rows : int
        Rows looked at.
    """

    terms: tuple[Term, ...]
    importance: Floats
    sd: Floats
    n_rows: int

    def largest(self, top: int) -> TermSet:
        """Return the terms of largest sd, pooled over outputs."""
        pooled = (self.sd**2).sum(axis=1)
        best = np.argsort(-pooled, kind="stable")[:top]
        n_features = 1 + max((i for term in self.terms for i in term), default=0)
        return TermSet.of((self.terms[k] for k in best), n_features)


@dataclass(frozen=True, eq=False)
class TrainingRecord:
    """What explanations need of the training rows, as plain arrays.

    Attributes
    ----------
    n_rows : int
        Training rows.
    summaries : mapping of view to TermSummary
    support : JointSupport or None
        Of the pairs among the terms.
    """

    n_rows: int
    summaries: Mapping[str, TermSummary] = field(default_factory=dict)
    support: JointSupport | None = None

    def for_changed_model(self) -> TrainingRecord:
        """Return what still holds once the model has been changed: not the sizes."""
        return TrainingRecord(self.n_rows, {}, self.support)

    def to_arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return plain arrays that `from_arrays` reads, to be saved with a model."""
        arrays: dict[str, NDArray[np.generic]] = {"n_rows": np.array([self.n_rows])}
        for view, summary in self.summaries.items():
            width = max((len(term) for term in summary.terms), default=1)
            terms = np.full((len(summary.terms), width), -1, dtype=np.int32)
            for k, term in enumerate(summary.terms):
                terms[k, : len(term)] = term
            arrays[f"{view}.terms"] = terms
            arrays[f"{view}.importance"] = summary.importance
            arrays[f"{view}.sd"] = summary.sd
            arrays[f"{view}.n_rows"] = np.array([summary.n_rows])
        if self.support is not None:
            parts = self.support.to_arrays()
            arrays |= {f"support.{name}": part for name, part in parts.items()}
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.generic]]) -> TrainingRecord:
        """Rebuild what `to_arrays` gave."""
        summaries: dict[str, TermSummary] = {}
        for view in VIEWS:
            if f"{view}.terms" in arrays:
                rows = np.asarray(arrays[f"{view}.terms"]).tolist()
                summaries[view] = TermSummary(
                    tuple(tuple(i for i in row if i >= 0) for row in rows),
                    np.asarray(arrays[f"{view}.importance"], dtype=np.float64),
                    np.asarray(arrays[f"{view}.sd"], dtype=np.float64),
                    int(np.asarray(arrays[f"{view}.n_rows"])[0]),
                )
        prefix = "support."
        parts = {
            name.removeprefix(prefix): part
            for name, part in arrays.items()
            if name.startswith(prefix)
        }
        support = JointSupport.from_arrays(parts) if parts else None
        return cls(int(np.asarray(arrays["n_rows"])[0]), summaries, support)


def record_training(
    model: Polynomial,
    rows: Encoded,
    n_levels: Sequence[int],
    sample_weight: NDArray[np.float64] | None = None,
) -> TrainingRecord:
    """Look at the training rows once, after the fit.

    Parameters
    ----------
    model : SPAM
        Fitted, with marginals.
    rows : Encoded
        Training rows.
    n_levels : sequence of int
        Levels of each feature.
    sample_weight : ndarray of shape (n,), optional
        Weights of the rows.

    Returns
    -------
    TrainingRecord
        Importance is a mean over at most 20,000 evenly spaced rows, and over fewer
        where there are thousands of terms.
    """
    if not len(rows):
        raise ValueError("Expected at least one training row, got none")
    summaries: dict[str, TermSummary] = {
        view: summarise(algebra_of(model, view), model, rows, sample_weight)
        for view in VIEWS
    }
    pairs = [term for term in summaries["pure"].terms if len(term) == 2]
    support = JointSupport.of(rows, n_levels, [(i, j) for i, j in pairs])
    return TrainingRecord(len(rows), summaries, support)


def summarise(
    algebra: TermAlgebra,
    model: Polynomial,
    rows: Encoded,
    sample_weight: NDArray[np.float64] | None = None,
    terms: TermSet | None = None,
) -> TermSummary:
    """Work out the sizes of a model's terms, or of its largest ones."""
    if terms is None:
        terms = largest_terms(algebra, MOST_TERMS)
    n = len(rows)
    weight = np.ones(n) if sample_weight is None else sample_weight
    width = sum(order.lam.shape[1] for order in algebra.orders)
    work = width * (len(terms) + 10 * algebra.n_features)
    count = min(n, _MOST_ROWS, max(_LEAST_ROWS, int(_WORK / work)))
    chosen = torch.from_numpy(np.linspace(0, n - 1, count).round().astype(np.int64))
    total = algebra.bias.new_zeros(len(terms), algebra.n_outputs)
    shares = torch.from_numpy(weight)[chosen]
    step = algebra.rows_per_block(algebra.n_features)
    for start in range(0, count, step):
        some = chosen[start : start + step]
        _, values = algebra.terms(
            double_scores(model, rows[some]), terms, known_of(rows[some])
        )
        total += torch.einsum("n,ntc->tc", shares[start : start + step], values.abs())
    importance = (total / shares.sum()).numpy()
    sd = term_sd(algebra, terms).numpy()
    return TermSummary(tuple(terms.tuples()), importance, sd, count)


def largest_terms(algebra: TermAlgebra, top: int) -> TermSet:
    """Return all terms if there are at most `top`, else those of largest sd."""
    if count_terms(algebra.n_features, algebra.degree) <= top:
        return TermSet.all(algebra.n_features, algebra.degree)
    return rank_terms(algebra, top)[0]


def known_of(rows: Encoded) -> Tensor | None:
    """Return the mask of known cells, None if all are."""
    unknown = rows.unknown
    return ~unknown if bool(unknown.any()) else None
