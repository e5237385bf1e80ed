r"""Exact terms of a polynomial of component scores, for any order.

A SPAM's score is :math:`b + \sum_{l,\rho} \lambda_{l\rho} (\sum_i g_{l\rho i}(x_i))^l`.
With exponential generating functions, :math:`(\sum_i g_i)^l = l!\,[t^l]\prod_i e^{g_i
t}`: a product over features, so what the score says about exactly the features of a
set S is a product as well. Per component, with :math:`m_i = E g_i`, :math:`h_i = g_i -
m_i` under the training marginals,

.. math::

    e_i(t) = E e^{h_i t}, \quad
    q_i(t) = e^{h_i t} - e_i(t), \quad
    P(t) = e^{t \sum_i m_i} \prod_i e_i(t), \quad
    t_S(x) = l!\,[t^l]\, P(t) \prod_{i \in S} q_i(t) / e_i(t).

That is the **pure** view: the functional ANOVA under the product of the marginals. The
**raw** view of the paper is inclusion-exclusion with absent features at g = 0: the same
formula with :math:`e_i = 1`, :math:`q_i(t) = e^{g_i t} - 1` and :math:`P = 1`.

References
----------
Dubey, Radenovic, Mahajan: *Scalable Interpretability via Polynomials*, arXiv
2205.14108. Hooker: *Generalized functional ANOVA diagnostics*, 2007.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import factorial

import torch
from torch import Tensor

from spam_core.explain.nodes import CACHE, NodeScores, Scores
from spam_core.explain.orders import VIEWS, Order, View, make_orders
from spam_core.explain.products import evaluate_group, last_series, lowest
from spam_core.explain.series import (
    Series,
    exponential,
    multiply,
)
from spam_core.explain.term_set import TermSet

__all__ = ["VIEWS", "TermAlgebra", "View"]


class TermAlgebra:
    """Splits scores into terms, exactly, in one view.

    Parameters
    ----------
    bias : Tensor of shape (C,)
        Constant of each output (paper: b).
    lam : mapping of int to Tensor of shape (C, R_l)
        Component weights of each order; order 1 has one component an output.
    nodes : NodeScores or None
        Component scores at the nodes of the training marginals. None: nothing is known
        of the distribution, which leaves the raw view without unknown features.
    view : {"pure", "raw"}
        See the module's notes.

    Examples
    --------
    The square of g_1 + g_2 with both uniform on {-1, 1}: all is in the pair.

    >>> g = torch.tensor([[[-1.0], [-1.0]], [[1.0], [1.0]]]).double()
    >>> nodes = NodeScores.of({2: g}, torch.full((2, 2), 0.5).double())
    >>> bias, lam = torch.zeros(1).double(), {2: torch.ones(1, 1).double()}
    >>> algebra = TermAlgebra(bias, lam, nodes)
    >>> base, values = algebra.terms({2: g}, TermSet.all(2, 2))
    >>> base.tolist(), values[..., 0].tolist()
    ([[2.0], [2.0]], [[0.0, 0.0, 2.0], [0.0, 0.0, 2.0]])
    """

    def __init__(
        self,
        bias: Tensor,
        lam: Mapping[int, Tensor],
        nodes: NodeScores | None,
        view: View = "pure",
    ) -> None:
        if view not in VIEWS:
            raise ValueError(f"view must be one of {list(VIEWS)}, got {view!r}")
        if nodes is None and view == "pure":
            raise ValueError(
                "The pure view is taken under the training marginals, which this "
                'model doesn\'t have; view="raw" needs none.'
            )
        self.bias = bias
        self.view = view
        self.nodes = nodes
        self.orders = make_orders(lam, nodes, view)

    @property
    def n_outputs(self) -> int:
        """Number of outputs C."""
        return len(self.bias)

    @property
    def n_features(self) -> int:
        """Number of features d; 0 in the raw view without nodes."""
        return 0 if self.nodes is None else self.nodes.weights.shape[1]

    @property
    def degree(self) -> int:
        """The largest order, which is also the most features of a term."""
        return max((order.degree for order in self.orders), default=0)

    def rows_per_block(self, n_features: int) -> int:
        """Return how many rows at once keep temporaries within a cache."""
        widest = max((order.lam.shape[1] for order in self.orders), default=1)
        return max(1, CACHE // (n_features * widest))

    def score(self, scores: Scores) -> Tensor:
        """Return the model's score of shape (n, C), straight from its formula."""
        total = self.bias
        for order in self.orders:
            power = scores[order.degree].sum(1) ** order.degree
            total = total + power @ order.lam.T
        return total

    def terms(
        self, scores: Scores, terms: TermSet, known: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Split the scores of some rows.

        Parameters
        ----------
        scores : mapping of int to Tensor of shape (n, d, R_l)
            Component scores, float64; an unknown feature at its training mean.
        terms : TermSet
            The T terms wanted.
        known : Tensor of shape (n, d), bool, optional
            False where a feature's value is unknown: it is a constant in that row, so
            its terms are 0 and the base is the row's own. None: all are known.

        Returns
        -------
        base : Tensor of shape (n, C)
        values : Tensor of shape (n, T, C)
            With all terms, ``base + values.sum(1)`` is the score.
        """
        n, d = next(iter(scores.values())).shape[:2]
        needed = terms.features() if len(terms) else torch.arange(0)
        if len(needed) == d:
            mine, among, seen = scores, terms, known
        else:
            mine = {l: g.index_select(1, needed) for l, g in scores.items()}
            among = terms.among(needed)
            seen = None if known is None else known[:, needed]
        features, outside = {}, {}
        for order in self.orders:
            l = order.degree
            part = order if len(needed) == d else order.of_features(needed)
            features[l] = self.feature_series(part, mine[l], seen)
            outside[l] = self.outside_series(order, known)
        return self.base(outside, n), self.evaluate(features, outside, among)

    def single(self, i: int, scores: Scores) -> Tensor:
        """Evaluate one feature's own term at some of its values.

        Parameters
        ----------
        i : int
            The feature.
        scores : mapping of int to Tensor of shape (n, R_l)
            Its component scores.

        Returns
        -------
        Tensor of shape (n, C)
        """
        total = self.bias.new_zeros(1, self.n_outputs)
        for order, series, outside in self._of_feature(i, scores):
            last = last_series(series, outside, order.degree, 1)
            total = total + lowest(last[0]) @ order.lam.T
        return total

    def pair(self, i: int, j: int, scores_i: Scores, scores_j: Scores) -> Tensor:
        """Evaluate a pair's term on a grid: (n_i, n_j, C); see `single`."""
        shape = (len(next(iter(s.values()))) for s in (scores_i, scores_j))
        total = self.bias.new_zeros(*shape, self.n_outputs)
        both = zip(
            self._of_feature(i, scores_i), self._of_feature(j, scores_j), strict=True
        )
        for (order, first, outside), (_, second, _) in both:
            last = last_series(second, outside, order.degree, 2)
            for a, b in zip(first[: order.degree], last, strict=True):
                if a is not None and b is not None:
                    total = total + torch.einsum("xr,cr,yr->xyc", a, order.lam, b)
        return total

    def _of_feature(
        self, i: int, scores: Scores
    ) -> Iterator[tuple[Order, Series, Series]]:
        """Each order with the feature's series, (n, R), and the outside, (1, R)."""
        for order in self.orders:
            g = scores[order.degree][:, None]
            series = self.feature_series(order.of_features(torch.tensor([i])), g)
            outside = self.outside_series(order)
            yield (
                order,
                [None if c is None else c[:, 0] for c in series],
                [c if c is None or not c.ndim else c[:, 0] for c in outside],
            )

    def feature_series(
        self,
        order: Order,
        scores: Tensor,
        known: Tensor | None = None,
        most: int | None = None,
    ) -> Series:
        """Return q_i / e_i: entry a of shape (n, d, R), entry 0 None.

        `most` is the largest power of t that is wanted, the order if None.
        """
        degree = order.degree if most is None else min(most, order.degree)
        centred = scores - order.mean if self.view == "pure" else scores
        power, raised = centred, [centred]
        for a in range(2, degree + 1):
            power = power * centred
            raised.append(power / factorial(a))
        series: Series = [None]
        for a, value in enumerate(raised, start=1):
            moment = order.moments[a]
            value = value if moment is None else value - moment
            # not 0 of itself: h = 0 leaves -E h**a
            series.append(value if known is None else value * known[:, :, None])
        return multiply(series, order.inverse[: degree + 1], degree)

    def outside_series(self, order: Order, known: Tensor | None = None) -> Series:
        """Return l! P, what all features contribute on average: (1 or n, 1, R)."""
        logs: Series = [None]
        mask = None if known is None else known.to(order.mean.dtype)
        for a in range(1, order.degree + 1):
            log = order.log[a]
            if log is None:
                logs.append(None)
            elif mask is None:
                logs.append(log.sum(0, keepdim=True)[:, None])
            else:
                logs.append((mask @ log)[:, None])
        if self.view == "pure":
            logs[1] = order.mean.sum(0)[None, None]
        elif mask is not None:
            logs[1] = ((1 - mask) @ order.mean)[:, None]
        scale = float(factorial(order.degree))
        return [None if c is None else c * scale for c in exponential(logs)]

    def base(self, outside: Mapping[int, Series], n: int) -> Tensor:
        """Return the constant of n rows, of shape (n, C)."""
        total = self.bias.expand(n, -1)
        for order in self.orders:
            series = outside[order.degree]
            coefficient = series[order.degree]
            if coefficient is not None:
                total = total + coefficient[:, 0] @ order.lam.T
        return total

    def evaluate(
        self,
        features: Mapping[int, Series],
        outside: Mapping[int, Series],
        terms: TermSet,
    ) -> Tensor:
        """Return l! [t^l] P prod q_i / e_i summed over components, (n, T, C)."""
        n = len(lowest(next(iter(features.values()))[1]))
        total = self.bias.new_zeros(n, len(terms), self.n_outputs)
        for order in self.orders:
            l = order.degree
            total = total + self.evaluate_order(order, features[l], outside[l], terms)
        return total

    def evaluate_order(
        self, order: Order, features: Series, outside: Series, terms: TermSet
    ) -> Tensor:
        """Return what one order adds to `evaluate`, of shape (n, T, C)."""
        n = len(lowest(features[1]))
        parts = []
        for size, group in enumerate(terms.groups, start=1):
            if order.degree < size or not len(group):
                parts.append(self.bias.new_zeros(n, len(group), self.n_outputs))
            else:
                parts.append(evaluate_group(order, features, outside, group))
        return (
            torch.cat(parts, 1) if parts else self.bias.new_zeros(n, 0, self.n_outputs)
        )
