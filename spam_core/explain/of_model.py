"""Term algebra of a fitted model, worked out once for each view."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Protocol

import torch
from torch import Tensor

from spam_core.data.encoding import Encoded, Marginals
from spam_core.explain.nodes import NodeScores, Scores
from spam_core.explain.terms import VIEWS, TermAlgebra, View


class Polynomial(Protocol):
    """What explanations read of a fitted model; `spam_core.models.SPAM` has it.

    Attributes
    ----------
    bias : Tensor of shape (C,)
    lam : dict of order to Tensor of shape (C, R_l)
        At order 1 a component is an output's own part.
    marginals : Marginals or None
        Training distribution of each feature.
    n_members : int
        Models whose mean it is.
    """

    marginals: Marginals | None

    @property
    def bias(self) -> Tensor: ...  # noqa: D102

    @property
    def lam(self) -> dict[int, Tensor]: ...  # noqa: D102

    @property
    def n_members(self) -> int: ...  # noqa: D102

    def component_scores(
        self, rows: Encoded, orders: Iterable[int] | None = None
    ) -> dict[int, Tensor]:
        """Scores of each feature by order, (n, d, R_l); its mean if unknown."""

    def component_sums(self, rows: Encoded, order: int) -> Tensor:
        """Their sums over features, (n, R_l)."""

    def weighted_scores(self, rows: Encoded, order: int, vectors: Tensor) -> Tensor:
        """Their sums over components, weighted by (n, C, R_l): (n, d, C)."""

    def member(self, index: int) -> Polynomial:
        """Return one member as a model of its own."""

    def score(self, rows: Encoded) -> Tensor:
        """Scores of shape (n, C)."""


# The values must not refer to their keys, or no model would ever be released.
_known: weakref.WeakKeyDictionary[Polynomial, dict[str, TermAlgebra | NodeScores]]
_known = weakref.WeakKeyDictionary()


def algebra_of(model: Polynomial, view: View = "pure") -> TermAlgebra:
    """Return the model's term algebra; the second call for a model is free.

    Parameters
    ----------
    model : SPAM
        Never changed after it was made.
    view : {"pure", "raw"}

    Raises
    ------
    ValueError
        If the view is unknown, or is pure and the model has no marginals.
    """
    kept = _known.setdefault(model, {})
    if view not in kept:
        if "nodes" not in kept and model.marginals is not None:
            kept["nodes"] = _nodes(model, model.marginals)
        nodes = kept.get("nodes")
        assert nodes is None or isinstance(nodes, NodeScores), "stored under its name"
        lam = {l: value.double() for l, value in model.lam.items()}
        kept[view] = TermAlgebra(model.bias.double(), lam, nodes, view)
    algebra = kept[view]
    assert isinstance(algebra, TermAlgebra), f"stored under a view of {VIEWS}"
    return algebra


def double_scores(
    model: Polynomial, rows: Encoded, orders: Iterable[int] | None = None
) -> dict[int, Tensor]:
    """Return component scores in float64, whatever the model's own dtype."""
    with torch.no_grad():
        scores = model.component_scores(rows, orders)
    return {l: g.double() for l, g in scores.items()}


def double_sums(model: Polynomial, rows: Encoded, order: int) -> Tensor:
    """Return one order's sums of component scores in float64; see `double_scores`."""
    with torch.no_grad():
        return model.component_sums(rows, order).double()


def double_weighted(
    model: Polynomial, rows: Encoded, order: int, vectors: Tensor
) -> Tensor:
    """Return weighted component scores in float64; see `double_scores`."""
    with torch.no_grad():
        given = vectors.to(model.bias.dtype)
        return model.weighted_scores(rows, order, given).double()


def _nodes(model: Polynomial, marginals: Marginals) -> NodeScores:
    alive = weakref.ref(model)

    def score(rows: slice) -> Scores:
        found = alive()
        assert found is not None, "whoever holds the algebra holds the model"
        return double_scores(found, marginals.nodes[rows])

    n_components = sum(value.shape[1] for value in model.lam.values())
    width = marginals.weights.shape[1] * n_components
    return NodeScores(score, marginals.weights, width)
