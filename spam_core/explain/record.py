"""What is kept of the training rows: sizes of terms and coarse support, no rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from spam_core.data.encoding import Encoded
from spam_core.explain.of_model import Polynomial, algebra_of
from spam_core.explain.summary import TermSummary, summarise
from spam_core.explain.support import JointSupport
from spam_core.explain.terms import VIEWS


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
        parts = {view: s.to_arrays() for view, s in self.summaries.items()}
        if self.support is not None:
            parts["support"] = self.support.to_arrays()
        for part, named in parts.items():
            arrays |= {f"{part}.{name}": array for name, array in named.items()}
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.generic]]) -> TrainingRecord:
        """Rebuild what `to_arrays` gave."""
        parts: dict[str, dict[str, NDArray[np.generic]]] = {}
        for name, array in arrays.items():
            part, dot, rest = name.partition(".")
            if dot:
                parts.setdefault(part, {})[rest] = array
        support = parts.pop("support", None)
        return cls(
            int(np.asarray(arrays["n_rows"])[0]),
            {view: TermSummary.from_arrays(part) for view, part in parts.items()},
            None if support is None else JointSupport.from_arrays(support),
        )


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

    Raises
    ------
    ValueError
        If there are no rows.
    """
    if not len(rows):
        raise ValueError("Expected at least one training row, got none")
    algebras = [algebra_of(model, view) for view in VIEWS]
    found = summarise(algebras, model, rows, sample_weight)
    summaries: dict[str, TermSummary] = dict(zip(VIEWS, found, strict=True))
    pairs = [term for term in summaries["pure"].terms if len(term) == 2]
    support = JointSupport.of(rows, n_levels, [(i, j) for i, j in pairs])
    return TrainingRecord(len(rows), summaries, support)
