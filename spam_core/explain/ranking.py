r"""Finding the terms of largest spread without looking at every term.

A term over S is, in each order, a sum over components of products over its features.
By the triangle inequality and Hölder's, its spread is at most a product of one number
for each feature,

.. math::

    \mathrm{sd}\,t_S \le \sum_{\rho} w_\rho \prod_{i \in S} \sigma_{i\rho}
    \le \prod_{i \in S} \Big(\sum_\rho w_\rho \sigma_{i\rho}^{s}\Big)^{1/s},

with s the size of S, sigma the root mean square of what a feature puts in and w what
lambda and the other features do. Features are taken in falling sequence of that number,
some at a time. The search ends when no term with a weaker feature can be among the
best. Terms it does look at are worked out exactly, all pairs of features at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from spam_core.explain.forms import Panel, by_points, cheapest
from spam_core.explain.quadrature import Quadrature
from spam_core.explain.term_set import TermSet
from spam_core.explain.terms import TermAlgebra

MOST_WORK = 500_000_000_000
"""Multiply-adds for terms of one size: some 20 seconds of one processor core."""

_CHUNK = 4_000_000  # terms worked out together
_PAIR_STEP, _STEP = 256, 64  # features added at a time
_SLACK = 1e-9  # relative, of variances: more than rounding, less than anyone sees
_DIGITS = 2.0**32  # to which variances are compared


class Best:
    """The terms of largest variance among those seen.

    Parameters
    ----------
    top : int
        How many are kept.

    Notes
    -----
    Variances are summed over outputs. Those that differ by rounding count as equal,
    and of equal ones the earlier term wins.

    Examples
    --------
    >>> best = Best(2)
    >>> best.add(torch.tensor([[0, 1], [0, 2], [1, 2]]), torch.tensor([1.0, 3.0, 3.0]))
    >>> best.add(torch.tensor([[0], [1]]), torch.tensor([2.0, 3.0]))
    >>> terms, variance = best.terms()
    >>> terms.tuples(), variance.tolist()
    ([(1,), (0, 2)], [3.0, 3.0])
    """

    def __init__(self, top: int) -> None:
        self.top = top
        self._found: dict[int, tuple[Tensor, Tensor]] = {}

    @property
    def floor(self) -> float:
        """Variance that a term needs to be among the best; -1 while all are."""
        if not self._found:
            return -1.0
        values = torch.cat([variance for _, variance in self._found.values()])
        return _least(values, self.top)

    def add(self, group: Tensor, variance: Tensor) -> None:
        """Look at terms of one size s: (K, s), features increasing, and (K,)."""
        size = group.shape[1]
        if size in self._found:
            old, values = self._found[size]
            group, variance = torch.cat([old, group]), torch.cat([values, variance])
        # the few that matter first: the rest of this sorts
        large = variance >= _least(variance, self.top)
        group, variance = group[large], variance[large]
        for column in reversed(range(size)):
            sequence = torch.argsort(group[:, column], stable=True)
            group, variance = group[sequence], variance[sequence]
        best = _largest(variance, self.top)
        self._found[size] = group[best], variance[best]

    def terms(self) -> tuple[TermSet, Tensor]:
        """Return the best in their usual sequence, with their variances."""
        if not self._found:
            return TermSet(()), torch.empty(0, dtype=torch.float64)
        groups = [
            self._found[size][0] if size in self._found else torch.empty(0, size).long()
            for size in range(1, max(self._found) + 1)
        ]
        values = torch.cat([self._found[size][1] for size in sorted(self._found)])
        best = _largest(values, self.top)
        return TermSet(tuple(groups)).take(best), values[best]


def _least(values: Tensor, top: int) -> float:
    """Return what the `top` largest aren't below, -1 if there are fewer."""
    if len(values) < top:
        return -1.0
    return float(values.topk(top).values[-1]) * (1 - _SLACK)


def _largest(values: Tensor, top: int) -> Tensor:
    """Return the positions of the `top` largest in sequence; ties to the earlier."""
    mantissa, exponent = torch.frexp(values)
    rounded = torch.ldexp((mantissa * _DIGITS).round(), exponent)
    best = torch.argsort(rounded, descending=True, stable=True)[:top]
    return best.sort().values


def bounds(algebra: TermAlgebra, points: Quadrature, size: int) -> Tensor:
    """Return a number for each feature; their product is above a term's variance.

    Parameters
    ----------
    algebra : TermAlgebra
    points : Quadrature
        Of terms of this size.
    size : int
        Features of a term.

    Returns
    -------
    Tensor of shape (d,)

    Examples
    --------
    >>> from spam_core.explain.nodes import NodeScores
    >>> g = torch.tensor([-1.0, 1.0]).double()[:, None, None] * torch.tensor(
    ...     [[1.0], [2.0], [3.0]]
    ... )
    >>> nodes = NodeScores.of({2: g}, torch.full((2, 3), 0.5).double())
    >>> bias, lam = torch.zeros(1).double(), {2: torch.ones(1, 1).double()}
    >>> algebra = TermAlgebra(bias, lam, nodes)
    >>> of_each = bounds(algebra, Quadrature.of(algebra, 2), 2)
    >>> round(float(of_each[1] * of_each[2]), 6)  # 2 g_1 g_2 has sd 12
    144.0
    """
    norms = points.norms()
    total = algebra.bias.new_zeros(algebra.n_features)
    for order in points.orders:
        l = order.degree
        powers = range(1, points.most[l] + 1)
        # holds for any unit of t; in this one the powers are of similar size
        unit = norms[l, 1].square().mean(0).sqrt()
        unit = torch.where(unit > 0, unit, 1.0)
        sigma = torch.stack([norms[l, a] / unit**a for a in powers]).sum(0)
        weight = order.lam.square().sum(0).sqrt() * unit**l
        outside = algebra.outside_series(order)[: points.most[l]]
        others = [
            u.reshape(-1).abs() / unit**a
            for a, u in enumerate(outside)
            if u is not None
        ]
        total += sigma**size @ (weight * torch.stack(others).sum(0))
    return total ** (2 / size)


def search(algebra: TermAlgebra, size: int, best: Best) -> None:
    """Add the largest terms of one size >= 2 to the best.

    Parameters
    ----------
    algebra : TermAlgebra
        With nodes.
    size : int
        Features of a term.
    best : Best
        Terms of other sizes found so far; changed in place.

    Notes
    -----
    Exhaustive up to `MOST_WORK`. Beyond that, only terms of the strongest features are
    looked at, as many features as that work allows.
    """
    points = Quadrature.of(algebra, size)
    bound = bounds(algebra, points, size)
    ranked = torch.argsort(bound, descending=True, stable=True)
    bound, points = bound[ranked], points.take(ranked)
    forms = [cheapest(algebra, points, size)]
    del points  # which may be large
    if algebra.view == "raw":
        mean = Quadrature.average(algebra, size).take(ranked)
        forms.append(by_points(algebra, mean, size))
    cost, spent = sum(form.cost for form in forms), 0
    step = _PAIR_STEP if size == 2 else _STEP
    for start in range(0, len(bound), step):
        columns = slice(start, min(start + step, len(bound)))
        panels = _panels(bound, size, columns, best.floor)
        spent += cost * (columns.stop - start) * sum(map(len, panels))
        none_left = not panels and columns.stop >= size
        if none_left or (start and spent > MOST_WORK):
            return
        for chunk in _chunks(panels, columns):
            totals = [form.evaluate(chunk, columns) for form in forms]
            _collect(best, ranked, chunk, columns, totals)


def _panels(bound: Tensor, size: int, columns: slice, floor: float) -> list[Panel]:
    """Choose the rows that may hold a term above the floor; ranks rise in a term."""
    ranks = torch.arange(columns.stop)
    fixed = torch.empty(1, 0, dtype=torch.int64)  # one way to fix none
    if size > 2:
        fixed = torch.combinations(ranks, size - 2).reshape(-1, size - 2)
    # a row with its strongest column: falls from row to row
    reach = bound[ranks[:-1]] * bound[ranks[1:].clamp(min=columns.start)]
    panels = []
    for features, share in zip(
        fixed.tolist(), bound[fixed].prod(1).tolist(), strict=True
    ):
        first = features[-1] + 1 if features else 0
        stop = int((reach * share >= floor).sum())
        if stop > first:
            panels.append(Panel(tuple(features), slice(first, stop)))
    return panels


def _chunks(panels: Sequence[Panel], columns: slice) -> Iterator[list[Panel]]:
    chunk: list[Panel] = []
    terms = 0
    for panel in panels:
        chunk.append(panel)
        terms += len(panel) * (columns.stop - columns.start)
        if terms > _CHUNK:
            yield chunk
            chunk, terms = [], 0
    if chunk:
        yield chunk


def _collect(
    best: Best,
    ranked: Tensor,
    panels: Sequence[Panel],
    columns: slice,
    totals: Sequence[Sequence[Tensor]],
) -> None:
    """Keep the best of some panels, given E t**2 and perhaps (E t)**2."""
    floor = best.floor
    groups, variances = [], []
    for k, panel in enumerate(panels):
        variance = totals[0][k]
        if len(totals) > 1:
            variance = without_mean(variance, totals[1][k])
        variance = variance.clamp(min=0.0)
        row = torch.arange(panel.rows.start, panel.rows.stop)[:, None]
        column = torch.arange(columns.start, columns.stop)
        at = ((variance >= floor) & (column > row)).nonzero()
        ends = at + torch.tensor([panel.rows.start, columns.start])
        fixed = torch.tensor(panel.fixed, dtype=torch.int64).expand(len(at), -1)
        groups.append(ranked[torch.cat([fixed, ends], 1)].sort(1).values)
        variances.append(variance[at[:, 0], at[:, 1]])
    best.add(torch.cat(groups), torch.cat(variances))


def without_mean(second: Tensor, square: Tensor) -> Tensor:
    """Return E t**2 - (E t)**2; 0 for what rounding leaves of a constant term."""
    rest = second - square
    return torch.where(rest > 1e-13 * square, rest, 0.0)
