r"""Exact Shapley values under the product of the training marginals.

Up to order 2 the moments of the marginals are enough; see `background`. Above, a
feature's Shapley value is the sum of :math:`t_S / |S|` over the pure terms S that hold
it. With :math:`1/|S| = \int_0^1 u^{|S|-1} du` the sum over sets becomes a product over
features (Owen's multilinear extension),

.. math::

    \phi_i = l!\,[t^l]\, P(t) \int_0^1 \frac{q_i}{e_i}(t)
    \prod_{j \ne i} \Bigl(1 + u \frac{q_j}{e_j}(t)\Bigr) du,

a polynomial in u of degree l - 1 at most, which ceil(l/2) Gauss-Legendre nodes
integrate exactly. The interaction index of a pair is the sum of :math:`t_S / (|S| - 1)`
over the sets that hold both, one degree less.

References
----------
Owen: *Multilinear extensions of games*, 1972. Grabisch and Roubens: *An axiomatic
approach to the concept of interaction among players*, 1999.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from spam_core.data.encoding import Encoded
from spam_core.explain.background import Background, Moments
from spam_core.explain.nodes import Scores
from spam_core.explain.of_model import Polynomial, algebra_of
from spam_core.explain.orders import Order
from spam_core.explain.series import Series, exponential, inverse, logarithm, multiply
from spam_core.explain.summary import known_of
from spam_core.explain.term_set import TermSet
from spam_core.explain.terms import TermAlgebra


class MarginalBackground(Background):
    """The product of the training marginals: each absent feature is drawn by itself.

    Raises
    ------
    ValueError
        If the model has no marginals.
    """

    def __init__(self, model: Polynomial, with_indices: bool) -> None:
        super().__init__(model, with_indices)
        self._algebra = algebra_of(model, "pure")
        orders = self._algebra.orders
        self._series = [order for order in orders if order.degree > 2]
        self.moments = {o.degree: _moments_of(o) for o in orders if o.degree <= 2}

    def rows_per_block(self, n_features: int) -> int:
        """Return how many rows at once; series are fastest within a cache."""
        most = super().rows_per_block(n_features)
        if not self.higher:
            return most
        return min(most, self._algebra.rows_per_block(n_features))

    def players(self, rows: Encoded) -> Tensor:
        """All but unknown cells, which are constants in their row."""
        return ~rows.unknown

    def base(self, rows: Encoded) -> Tensor:
        """Mean score, with features that a row doesn't know at their means."""
        algebra, known = self._algebra, known_of(rows)
        outside = {o.degree: algebra.outside_series(o, known) for o in algebra.orders}
        return algebra.base(outside, len(rows))

    def _higher_values(self, scores: Scores, players: Tensor) -> Tensor:
        return self._by_series(order_values, scores, players)

    def _higher_indices(self, scores: Scores, players: Tensor) -> Tensor:
        return self._by_series(order_indices, scores, players)

    def _by_series(
        self, solve: Callable[..., Tensor], scores: Scores, players: Tensor
    ) -> Tensor:
        known = None if bool(players.all()) else players
        parts = [
            solve(self._algebra, order, scores[order.degree], known)
            for order in self._series
        ]
        return torch.stack(parts).sum(0)


def _moments_of(order: Order) -> Moments:
    """Moments of independent features: H and h_i share nothing but h_i."""
    if order.degree == 1:
        return Moments(1, order.lam, order.mean)
    halves = order.moments[2]
    assert halves is not None, "the pure view has second moments, over 2!"
    return Moments(2, order.lam, order.mean, 2 * halves @ order.lam.T)


def order_values(
    algebra: TermAlgebra, order: Order, scores: Tensor, known: Tensor | None = None
) -> Tensor:
    """Return what one order adds to the Shapley values of some rows, by series.

    Parameters
    ----------
    algebra : TermAlgebra
        In the pure view: absent features are averaged over their marginals. In the raw
        view they are at g = 0.
    order : Order
        One of the algebra's, of any degree.
    scores : Tensor of shape (n, d, R)
        Its component scores.
    known : see `TermAlgebra.terms`
        An unknown feature is no player; its value is 0.

    Returns
    -------
    Tensor of shape (n, d, C)

    Examples
    --------
    >>> from spam_core.explain.nodes import NodeScores
    >>> g = torch.tensor([[[-1.0], [-1.0]], [[1.0], [1.0]]]).double()
    >>> nodes = NodeScores.of({2: g}, torch.full((2, 2), 0.5).double())
    >>> bias, lam = torch.zeros(1).double(), {2: torch.ones(1, 1).double()}
    >>> algebra = TermAlgebra(bias, lam, nodes)
    >>> order_values(algebra, algebra.orders[0], g)[0, :, 0].tolist()
    [1.0, 1.0]
    """
    singles = TermSet.all(scores.shape[1], 1)
    return _integrate(algebra, order, scores, known, singles)


def order_indices(
    algebra: TermAlgebra, order: Order, scores: Tensor, known: Tensor | None = None
) -> Tensor:
    """Return what one order adds to every pair's Shapley interaction index.

    Parameters
    ----------
    algebra, order, scores, known : see `order_values`

    Returns
    -------
    Tensor of shape (n, d, d, C)
        Symmetric, 0 on the diagonal. At order 2 the pair's pure term.
    """
    n, d = scores.shape[:2]
    pairs = torch.combinations(torch.arange(d), 2).reshape(-1, 2)
    out = algebra.bias.new_zeros(n, d, d, algebra.n_outputs)
    if len(pairs) and order.degree >= 2:
        terms = TermSet((torch.empty(0, 1, dtype=torch.int64), pairs))
        values = _integrate(algebra, order, scores, known, terms)
        out[:, pairs[:, 0], pairs[:, 1]] = values
        out[:, pairs[:, 1], pairs[:, 0]] = values
    return out


def _integrate(
    algebra: TermAlgebra,
    order: Order,
    scores: Tensor,
    known: Tensor | None,
    terms: TermSet,
) -> Tensor:
    """Integrate the terms, all of one size, over the chance u that others are there."""
    features = algebra.feature_series(order, scores, known)
    outside = algebra.outside_series(order, known)
    total = algebra.bias.new_zeros(len(scores), len(terms), algebra.n_outputs)
    for u, weight in _gauss(order.degree - len(terms.groups)):
        tilted, others = _tilt(features, outside, order, u)
        total += weight * algebra.evaluate_order(order, tilted, others, terms)
    return total


def _gauss(degree: int) -> list[tuple[float, float]]:
    """Nodes and weights on [0, 1] that integrate this degree exactly."""
    nodes, weights = np.polynomial.legendre.leggauss(degree // 2 + 1)
    pairs = zip((nodes + 1) / 2, weights / 2, strict=True)
    return [(float(u), float(w)) for u, w in pairs]


def _tilt(
    features: Series, outside: Series, order: Order, u: float
) -> tuple[Series, Series]:
    """Let each feature be there with probability u.

    Returns q_i / (e_i + u q_i) of each feature, and the outside times the product of
    1 + u q_j / e_j over *all* features: their product is what the integral is over.
    """
    degree = order.degree
    one = order.lam.new_ones(())
    mixed: Series = [one, *[None if c is None else c * u for c in features[1:]]]
    tilted = multiply(features, inverse(mixed), degree)
    logs = [
        None if c is None or not c.ndim else c.sum(1, keepdim=True)
        for c in logarithm(mixed)
    ]
    return tilted, multiply(outside, exponential(logs), degree)
