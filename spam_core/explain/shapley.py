r"""Exact Shapley values and pair interaction indices, without enumerating coalitions.

Under the product of the training marginals a feature's Shapley value is the sum of
:math:`t_S / |S|` over the pure terms S that hold it. With :math:`1/|S| = \int_0^1
u^{|S|-1} du` the sum over sets becomes a product over features (Owen's multilinear
extension),

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

import numpy as np
import torch
from torch import Tensor

from spam_core.explain.nodes import BLOCK, Scores
from spam_core.explain.orders import Order
from spam_core.explain.series import Series, exponential, inverse, logarithm, multiply
from spam_core.explain.term_set import TermSet
from spam_core.explain.terms import TermAlgebra


def shapley_values(
    algebra: TermAlgebra, scores: Scores, known: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Share the scores of some rows among their features.

    Parameters
    ----------
    algebra : TermAlgebra
        In the pure view: absent features are averaged over their marginals. In the raw
        view they are at g = 0.
    scores, known : see `TermAlgebra.terms`
        An unknown feature is no player; its value is 0.

    Returns
    -------
    base : Tensor of shape (n, C)
    values : Tensor of shape (n, d, C)

    Examples
    --------
    >>> from spam_core.explain.nodes import NodeScores
    >>> g = torch.tensor([[[-1.0], [-1.0]], [[1.0], [1.0]]]).double()
    >>> nodes = NodeScores.of({2: g}, torch.full((2, 2), 0.5).double())
    >>> bias, lam = torch.zeros(1).double(), {2: torch.ones(1, 1).double()}
    >>> base, values = shapley_values(TermAlgebra(bias, lam, nodes), {2: g})
    >>> base[0].tolist(), values[0, :, 0].tolist()
    ([2.0], [1.0, 1.0])
    """
    n, d = next(iter(scores.values())).shape[:2]
    singles = TermSet.all(d, 1)
    values = algebra.bias.new_zeros(n, d, algebra.n_outputs)
    base = algebra.bias.expand(n, -1)
    for order in algebra.orders:
        features = algebra.feature_series(order, scores[order.degree], known)
        outside = algebra.outside_series(order, known)
        if outside[order.degree] is not None:
            base = base + _rows(outside[order.degree]) @ order.lam.T
        for u, weight in _gauss(order.degree - 1):
            tilted, others = _tilt(features, outside, order, u)
            part = algebra.evaluate_order(order, tilted, others, singles)
            values = values + weight * part
    return base, values


def interaction_indices(
    algebra: TermAlgebra, scores: Scores, known: Tensor | None = None
) -> Tensor:
    """Return every pair's Shapley interaction index.

    Parameters
    ----------
    algebra, scores, known : see `shapley_values`

    Returns
    -------
    Tensor of shape (n, d, d, C)
        Symmetric, 0 on the diagonal. At order 2 the pair's pure term.
    """
    n, d = next(iter(scores.values())).shape[:2]
    singles = torch.empty(0, 1, dtype=torch.int64)
    pairs = torch.combinations(torch.arange(d), 2).reshape(-1, 2)
    terms = TermSet((singles, pairs))
    out = algebra.bias.new_zeros(n, d, d, algebra.n_outputs)
    if not len(pairs):
        return out
    values = algebra.bias.new_zeros(n, len(pairs), algebra.n_outputs)
    for order in algebra.orders:
        if order.degree < 2:
            continue
        features = algebra.feature_series(order, scores[order.degree], known)
        outside = algebra.outside_series(order, known)
        for u, weight in _gauss(order.degree - 2):
            tilted, others = _tilt(features, outside, order, u)
            part = algebra.evaluate_order(order, tilted, others, terms)
            values = values + weight * part
    out[:, pairs[:, 0], pairs[:, 1]] = values
    out[:, pairs[:, 1], pairs[:, 0]] = values
    return out


def rows_per_block(algebra: TermAlgebra, n_features: int) -> int:
    """Return how many rows at once keep the d x d indices near 64 MB as well."""
    square = BLOCK // (n_features**2 * algebra.n_outputs)
    return max(1, min(algebra.rows_per_block(n_features), square))


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


def _rows(coefficient: Tensor | None) -> Tensor:
    assert coefficient is not None, "checked by the caller"
    return coefficient[:, 0]
