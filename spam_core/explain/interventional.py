r"""Exact Shapley values against a table of background rows.

A coalition's value is the mean score with the other features taken from the background
rows, as they stand together there; so it doesn't assume independent features.

Up to order 2 the moments of the background are enough; see `background`. Above, let one
component have :math:`d_i = g_i(x) - g_i(b)`, :math:`T = \sum_i g_i(b)`, :math:`p_1 =
\sum_i d_i` and :math:`p_2 = \sum_i d_i^2`. The Shapley values of the game :math:`v(S) =
(T + \sum_{i \in S} d_i)^l` are :math:`\phi_i = \alpha d_i + \beta d_i^2` with

.. math::

    l = 3: \quad \alpha &= 3 T^2 + 3 T p_1 + p_1^2 + p_2 / 2, \\
                 \beta &= -p_1 / 2; \\
    l = 4: \quad \alpha &= 4 T^3 + 6 T^2 p_1 + 4 T (p_1^2 + p_2 / 2)
                           + p_1^3 + p_1 p_2, \\
                 \beta &= -2 T p_1 - p_1^2,

and the interaction index of a pair is

.. math::

    l = 3: \quad & 3 d_i d_j (2 T + p_1); \\
    l = 4: \quad & d_i d_j [12 T^2 + 12 T p_1 + 4 p_1^2 + 2 p_2
                   - 2 p_1 (d_i + d_j) + 2 d_i d_j].

Both are averaged over the background rows b.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from spam_core.data.encoding import UNKNOWN, Encoded
from spam_core.explain.background import Background, Moments
from spam_core.explain.nodes import BLOCK, CACHE, Scores
from spam_core.explain.of_model import (
    Polynomial,
    double_scores,
    double_sums,
    double_weighted,
)

MOST_PRODUCTS = 20_000_000_000
"""Pair indices that take more multiplications than this, a second or two, aren't worked
out: they cost up to d times what the values do."""

_ROWS = 256
"""Rows, and background rows, at once: products of blocks of this size are fast."""


class TableBackground(Background):
    """Rows of a table, which all absent features are taken from together.

    Parameters
    ----------
    model : SPAM
    table : Encoded of N rows
    with_indices : bool

    Examples
    --------
    The cube of three cube roots' sum, from (0, 0, 0) to (1, 1, 1): 27, shared equally.

    >>> from spam_core.models.spam import SPAM
    >>> zero, one = torch.zeros(1, 3).double(), torch.ones(1, 3).double()
    >>> model = SPAM.from_factors(zero[:, 0], zero, {3: (one[:, :1], one)})
    >>> codes = torch.full((1, 3), -1, dtype=torch.int32)
    >>> background = TableBackground(model, Encoded(zero, codes), with_indices=True)
    >>> base, values, indices = background.share(Encoded(one, codes))
    >>> base.item(), values.flatten().tolist(), indices[0, 0, 1].item()
    (0.0, [9.0, 9.0, 9.0], 9.0)
    """

    def __init__(self, model: Polynomial, table: Encoded, with_indices: bool) -> None:
        super().__init__(model, with_indices)
        self.table = table
        self._base = model.score(table).double().mean(0)
        self._mean = self._means()
        self.moments = {1: Moments(1, self.lam[1], self._mean[1])}
        if 2 in self.lam:
            joint = self._joint() if with_indices else None
            spread = self._spread() if joint is None else joint.sum(2).T
            self.moments[2] = Moments(2, self.lam[2], self._mean[2], spread, joint)

    def rows_per_block(self, n_features: int) -> int:
        """Return how many rows at once keep temporaries small."""
        most = super().rows_per_block(n_features)
        return min(most, _ROWS) if self.higher else most

    def players(self, rows: Encoded) -> Tensor:
        """All but features whose cell in the row is that of all of the table."""
        first = self.table[:1]
        constant = (self.table.values == first.values).all(0)
        constant &= (self.table.codes == first.codes).all(0)
        same = (rows.values == first.values) & (rows.codes == first.codes)
        return ~(constant & same)

    def base(self, rows: Encoded) -> Tensor:
        """Mean score of the table."""
        return self._base.expand(len(rows), -1)

    def _blocks(self, orders: Sequence[int], most: int) -> Iterator[Scores]:
        """Yield component scores of a few rows of the table, `most` numbers or less."""
        n, d = self.table.codes.shape
        width = d * sum(self.lam[l].shape[1] for l in orders)
        step = max(1, min(_ROWS, most // width))
        for start in range(0, n, step):
            yield double_scores(self.model, self.table[start : start + step], orders)

    def _means(self) -> Scores:
        """E g_i of every order."""
        d = self.table.codes.shape[1]
        total = {l: lam.new_zeros(d, lam.shape[1]) for l, lam in self.lam.items()}
        for scores in self._blocks(list(self.lam), CACHE):
            for l, g in scores.items():
                total[l] += g.sum(0)
        return {l: value / len(self.table) for l, value in total.items()}

    def _spread(self) -> Tensor:
        """E h_i H at order 2, (d, C). As E H = 0, it is E g_i H as well."""
        n, d = self.table.codes.shape
        lam, mean = self.lam[2], self._mean[2].sum(0)
        total = lam.new_zeros(d, len(lam))
        step = self.rows_per_block(d)
        for start in range(0, n, step):
            part = self.table[start : start + step]
            centred = double_sums(self.model, part, 2) - mean
            vectors = lam * centred[:, None]
            total += double_weighted(self.model, part, 2, vectors).sum(0)
        return total / n

    def _joint(self) -> Tensor:
        """E h_i h_j at order 2, (C, d, d)."""
        lam, d = self.lam[2], self.table.codes.shape[1]
        total = lam.new_zeros(len(lam), d, d)
        for scores in self._blocks([2], CACHE):
            centred = (scores[2] - self._mean[2]).transpose(0, 1)  # (d, n, R)
            flat = centred.flatten(1)
            for c, weights in enumerate(lam):
                total[c] += (centred * weights).flatten(1) @ flat.T
        return total / len(self.table)

    def _higher_values(self, scores: Scores, players: Tensor) -> Tensor:
        values = torch.zeros(*players.shape, len(self.model.bias), dtype=torch.float64)
        rows = {l: self._by_component(scores, l) for l in self.higher}
        totals = {l: torch.zeros_like(g) for l, g in rows.items()}
        for block in self._blocks(self.higher, BLOCK):
            for l in self.higher:
                table, mean = self._by_component(block, l), self._mean[l].sum(0)
                totals[l] += power_values(l, rows[l], table, mean)
        for l in self.higher:
            values += (totals[l].flatten(1).T @ self.lam[l].T).view(values.shape)
        return values / len(self.table)

    def _higher_indices(self, scores: Scores, players: Tensor) -> Tensor:
        n, d = players.shape
        total = torch.zeros(n, d, d, len(self.model.bias), dtype=torch.float64)
        for block in self._blocks(self.higher, CACHE):
            for l in self.higher:
                lam, mean = self.lam[l], self._mean[l]
                table = (block[l] - mean).transpose(0, 1).contiguous()
                for k, row in enumerate(scores[l] - mean):
                    total[k] += power_indices(l, lam, row, table, mean.sum(0))
        return total / len(self.table)

    def _by_component(self, scores: Scores, degree: int) -> Tensor:
        """Centred scores of one order as (R, n, d)."""
        return (scores[degree] - self._mean[degree]).permute(2, 0, 1).contiguous()


def power_values(degree: int, rows: Tensor, table: Tensor, mean: Tensor) -> Tensor:
    """Share the power of each component among the features.

    Parameters
    ----------
    degree : {3, 4}
    rows, table : Tensor of shapes (R, n, d), (R, N, d)
        Component scores, less the mean of each feature over the table.
    mean : Tensor of shape (R,)
        Sum of these means.

    Returns
    -------
    Tensor of shape (R, n, d)
        alpha d_i + beta d_i^2, summed over the table.
    """
    parts = []
    cells = rows.shape[1] * table.shape[1] + table[0].numel()
    step = max(1, CACHE // cells)
    for start in range(0, len(rows), step):
        here = slice(start, start + step)
        x, b = rows[here], table[here]
        own, other = x.sum(2)[:, :, None], b.sum(2)[:, None]
        p1 = own - other
        squares = x.square().sum(2)[:, :, None] + b.square().sum(2)[:, None]
        p2 = torch.baddbmm(squares, x, b.mT, alpha=-2)
        T = mean[here, None, None] + other
        alpha, beta = _weights(degree, T, p1, p2)
        # d_i = x_i - b_i, so that sums over b are products of matrices
        part = x * alpha.sum(2, keepdim=True) - alpha @ b
        part += x.square() * beta.sum(2, keepdim=True) - 2 * x * (beta @ b)
        part += beta @ b.square()
        parts.append(part)
    return torch.cat(parts)


def _weights(degree: int, T: Tensor, p1: Tensor, p2: Tensor) -> tuple[Tensor, Tensor]:
    """Alpha and beta; see the module's notes."""
    square = p1.square() + p2 / 2
    if degree == 3:
        return 3 * T * (T + p1) + square, p1 / -2
    alpha = T * (T * (4 * T + 6 * p1) + 4 * square) + p1 * (p1.square() + p2)
    return alpha, -p1 * (2 * T + p1)


def power_indices(
    degree: int, lam: Tensor, row: Tensor, table: Tensor, mean: Tensor
) -> Tensor:
    """Return one row's pair indices, summed over components and over the table.

    Parameters
    ----------
    degree, mean : see `power_values`
    lam : Tensor of shape (C, R)
    row, table : Tensor of shapes (d, R), (d, N, R)
        Component scores, less the mean of each feature over the table.

    Returns
    -------
    Tensor of shape (d, d, C)
        Its diagonal means nothing.
    """
    change = row[:, None] - table
    p1, T = change.sum(0), mean + table.sum(0)
    flat = change.flatten(1).T
    if degree == 3:
        left = 3 * (2 * T + p1) * change
        parts = [(left * weights).flatten(1) @ flat for weights in lam]
        return torch.stack(parts, -1)
    squares = change.square()
    whole = 12 * T * (T + p1) + 4 * p1.square() + 2 * squares.sum(0)
    left, right = whole * change - 2 * p1 * squares, 2 * (squares - p1 * change)
    flat_squares = squares.flatten(1).T
    parts = [
        (left * weights).flatten(1) @ flat + (right * weights).flatten(1) @ flat_squares
        for weights in lam
    ]
    return torch.stack(parts, -1)


def table_backgrounds(
    model: Polynomial, rows: Encoded, table: Encoded, with_indices: bool
) -> Iterator[tuple[Tensor, TableBackground]]:
    """Yield backgrounds, and which of the rows each is for.

    What a row doesn't know is a constant, in the background as well: rows that don't
    know the same features share a background.
    """
    patterns, which = _patterns(rows)
    for k, unknown in enumerate(patterns):
        values = table.values.masked_fill(unknown, 0.0)
        codes = table.codes.masked_fill(unknown, UNKNOWN)
        background = TableBackground(model, Encoded(values, codes), with_indices)
        yield (which == k).nonzero().flatten(), background


def count_products(model: Polynomial, rows: Encoded, table: Encoded) -> int:
    """Count what pair indices take, in multiplications of a product of matrices.

    Those above order 2 are of each row with each of the table, and there is more to do
    than the products: about as much as for 64 further features.
    """
    (n, d), n_table = rows.codes.shape, len(table)
    total = 0
    for l, lam in model.lam.items():
        if l == 2:
            total += (n + n_table * len(_patterns(rows)[0])) * d * lam.numel()
        elif l > 2:
            total += n * n_table * (d + 64) * lam.numel()
    return total * d


def _patterns(rows: Encoded) -> tuple[Tensor, Tensor]:
    """Distinct rows of the mask of unknown cells, and each row's number among them."""
    unknown = rows.unknown
    if not bool(unknown.any()):
        return unknown[:1], torch.zeros(len(unknown))
    patterns, which = torch.unique(unknown, dim=0, return_inverse=True)
    return patterns, which
