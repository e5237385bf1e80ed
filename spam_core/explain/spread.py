r"""Exact spread of terms under the product of the training marginals, and ranking.

A term is a sum over components of products over its features, so its second moment is
a sum over *pairs* of components of products of second moments of single features,

.. math::

    E t_S^2 = \sum_{\rho\rho'} \lambda_\rho \lambda_{\rho'} l!\,l'!\,[t^l u^{l'}]
    P_\rho(t) P_{\rho'}(u) \prod_{i \in S} E[(q/e)_{\rho i}(t)\,(q/e)_{\rho' i}(u)].

For all pairs of features this is a matrix product, without a loop over pairs; at order
2 it is :math:`4 \sum \lambda_\rho \lambda_{\rho'} C_i[\rho,\rho'] C_j[\rho,\rho']` with
C_i the covariance of the g_i over components.
"""

from __future__ import annotations

import torch
from torch import Tensor

from spam_core.explain.grams import second_moment
from spam_core.explain.nodes import Scores
from spam_core.explain.orders import Order
from spam_core.explain.ranking import Best, search, without_mean
from spam_core.explain.series import Series
from spam_core.explain.term_set import Term, TermSet
from spam_core.explain.terms import TermAlgebra


def term_sd(algebra: TermAlgebra, terms: TermSet) -> Tensor:
    """Return each term's standard deviation, for each output.

    Parameters
    ----------
    algebra : TermAlgebra
        With nodes.
    terms : TermSet
        The T terms.

    Returns
    -------
    Tensor of shape (T, C)
        Under the product of the training marginals; about the mean, which in the pure
        view is 0.

    Examples
    --------
    >>> from spam_core.explain.nodes import NodeScores
    >>> g = torch.tensor([[[-1.0], [-1.0]], [[1.0], [1.0]]]).double()
    >>> nodes = NodeScores.of({2: g}, torch.full((2, 2), 0.5).double())
    >>> bias, lam = torch.zeros(1).double(), {2: torch.ones(1, 1).double()}
    >>> algebra = TermAlgebra(bias, lam, nodes)
    >>> term_sd(algebra, TermSet.all(2, 2))[:, 0].round(decimals=6).tolist()
    [0.0, 0.0, 2.0]
    """
    return _variance(algebra, terms, pooled=False).sqrt()


def pooled_sd(algebra: TermAlgebra, terms: TermSet) -> Tensor:
    """Return the root of each term's variance, averaged over outputs: (T,).

    Costs the same for any number of outputs; terms are ranked by it.
    """
    return (_variance(algebra, terms, pooled=True)[:, 0] / algebra.n_outputs).sqrt()


def rank_terms(
    algebra: TermAlgebra, top: int, sizes: tuple[int, ...] = ()
) -> tuple[TermSet, Tensor]:
    """Find the terms of largest standard deviation.

    Parameters
    ----------
    algebra : TermAlgebra
        With nodes.
    top : int
        How many terms; fewer are returned if fewer exist.
    sizes : tuple of int
        Numbers of features a term may have; empty: all up to the order.

    Returns
    -------
    terms : TermSet
        In their usual sequence, not by size of sd.
    sd : Tensor of shape (len(terms),)
        Pooled over outputs. Ties go to the earlier term.

    Notes
    -----
    Exhaustive while the terms of a size that may be among the largest take at most
    `ranking.MOST_WORK` multiply-adds (with 256 components: some 15 million triples).
    Beyond that, terms are sought among the features whose terms may be largest.
    """
    _check_nodes(algebra)
    best = Best(top)
    for size in sorted(sizes or range(1, algebra.degree + 1)):
        if size == 1:
            group = torch.arange(algebra.n_features)[:, None]
            best.add(group, _singles(algebra, group).sum(1))
        elif size <= min(algebra.degree, algebra.n_features):
            search(algebra, size, best)
    terms, variance = best.terms()
    return terms, (variance / algebra.n_outputs).sqrt()


def rank_pairs(algebra: TermAlgebra, top: int) -> list[tuple[Term, float]]:
    """Return the pairs of largest standard deviation, largest first.

    Examples
    --------
    >>> from spam_core.explain.nodes import NodeScores
    >>> g = torch.tensor([-1.0, 1.0]).double()[:, None, None] * torch.tensor(
    ...     [[1.0], [2.0], [3.0]]
    ... )
    >>> nodes = NodeScores.of({2: g}, torch.full((2, 3), 0.5).double())
    >>> bias, lam = torch.zeros(1).double(), {2: torch.ones(1, 1).double()}
    >>> pairs = rank_pairs(TermAlgebra(bias, lam, nodes), 2)
    >>> [(pair, round(sd, 6)) for pair, sd in pairs]
    [((1, 2), 12.0), ((0, 2), 6.0)]
    """
    if algebra.degree < 2:
        return []
    terms, sd = rank_terms(algebra, top, sizes=(2,))
    order = torch.argsort(sd, descending=True, stable=True)
    pairs = terms.tuples()
    return [(pairs[k], float(sd[k])) for k in order.tolist()]


def pair_sd(algebra: TermAlgebra) -> Tensor:
    """Return the sd of all pairs as a symmetric matrix: (d, d, C), diagonal 0."""
    n_features = algebra.n_features
    positions = torch.arange(n_features)
    pairs = torch.combinations(positions, 2).reshape(-1, 2)
    singles = torch.empty(0, 1, dtype=torch.int64)
    sd = term_sd(algebra, TermSet((singles, pairs)))
    matrix = sd.new_zeros(n_features, n_features, algebra.n_outputs)
    matrix[pairs[:, 0], pairs[:, 1]] = sd
    matrix[pairs[:, 1], pairs[:, 0]] = sd
    return matrix


def _check_nodes(algebra: TermAlgebra) -> None:
    if algebra.nodes is None:
        raise ValueError(
            "The spread of terms is taken under the training marginals, which this "
            "model doesn't have."
        )


def _variance(algebra: TermAlgebra, terms: TermSet, pooled: bool) -> Tensor:
    """Return the variance of shape (T, C), or summed over outputs (T, 1)."""
    _check_nodes(algebra)
    parts = []
    for size, group in enumerate(terms.groups, start=1):
        if size == 1:
            part = _singles(algebra, group)
            parts.append(part.sum(1, keepdim=True) if pooled else part)
        elif len(group):
            parts.append(second_moment(algebra, group, pooled))
    if not parts:
        return algebra.bias.new_zeros(0, 1 if pooled else algebra.n_outputs)
    variance = torch.cat(parts)
    if algebra.view == "raw":
        several = TermSet((terms.groups[0][:0], *terms.groups[1:]))
        square = _means(algebra, several) ** 2
        square = square.sum(1, keepdim=True) if pooled else square
        start = len(terms.groups[0])
        rest = without_mean(variance[start:], square)
        variance = torch.cat([variance[:start], rest])
    return variance.clamp(min=0.0)


def _singles(algebra: TermAlgebra, group: Tensor) -> Tensor:
    """Variance of terms of one feature, from the nodes: (T, C)."""
    assert algebra.nodes is not None, "checked by the caller"
    terms, columns = TermSet((group,)), group[:, 0]
    mean = square = algebra.bias.new_zeros(len(group), algebra.n_outputs)
    first: Tensor | None = None
    for scores, weights in algebra.nodes.blocks():
        _, values = algebra.terms(scores, terms)
        # from some value that the term takes, or the difference below would cancel
        first = values[:1] if first is None else first
        weighted = weights[:, columns, None] * (values - first)
        mean = mean + weighted.sum(0)
        square = square + (weighted * (values - first)).sum(0)
    return square - mean**2


def _means(algebra: TermAlgebra, terms: TermSet) -> Tensor:
    """Mean of each term under independent features: (T, C)."""
    assert algebra.nodes is not None, "checked by the caller"
    features, outside = {}, {}
    for order in algebra.orders:
        features[order.degree] = _mean_series(algebra, order)
        outside[order.degree] = algebra.outside_series(order)
    return algebra.evaluate(features, outside, terms)[0]


def _mean_series(algebra: TermAlgebra, order: Order) -> Series:
    """E q_i / e_i: entry a of shape (1, d, R), like a single row."""
    assert algebra.nodes is not None, "checked by the caller"

    def powers(scores: Scores) -> dict[int, Tensor]:
        series = algebra.feature_series(order, scores[order.degree])
        return {a: c for a, c in enumerate(series) if c is not None}

    means = algebra.nodes.mean(powers)
    return [means[a][None] if a in means else None for a in range(order.degree + 1)]
