r"""Exact Shapley values against a table of background rows.

A coalition's value is the mean score with the other features taken from the background
rows, as they stand together there; so it doesn't assume independent features.

For one background row b the game is v(S) = score(x_S, b_{-S}). Swap x and b, and a
coalition has what its complement had, which turns the sign of every Shapley value. So
all background rows can be explained at once against x as their only background, and

.. math::

    \phi_i(x) = -\frac{1}{N} \sum_b \phi_i(b \mid x).
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from spam_core.explain.nodes import NodeScores, Scores
from spam_core.explain.shapley import shapley_values
from spam_core.explain.terms import TermAlgebra


def shapley_against(
    bias: Tensor,
    lam: Mapping[int, Tensor],
    row: Scores,
    background: Scores,
    known: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Share one row's score among its features, against background rows.

    Parameters
    ----------
    bias : Tensor of shape (C,)
    lam : mapping of order to Tensor of shape (C, R_l)
    row : mapping of order to Tensor of shape (1, d, R_l)
        Component scores, float64.
    background : mapping of order to Tensor of shape (N, d, R_l)
    known : Tensor of shape (d,), optional
        False where the row's cell is unknown: no player, a constant in all rows.

    Returns
    -------
    base : Tensor of shape (C,)
        Mean score of the background rows.
    values : Tensor of shape (d, C)

    Examples
    --------
    The square of g_1 + g_2, from (0, 1) to (1, 2): 9 - 1, shared equally.

    >>> x = {2: torch.tensor([[[1.0], [2.0]]]).double()}
    >>> b = {2: torch.tensor([[[0.0], [1.0]]]).double()}
    >>> bias, lam = torch.zeros(1).double(), {2: torch.ones(1, 1).double()}
    >>> base, values = shapley_against(bias, lam, x, b)
    >>> base.tolist(), values.flatten().tolist()
    ([1.0], [4.0, 4.0])
    """
    if known is not None:
        background = {
            l: torch.where(known[:, None], g, row[l]) for l, g in background.items()
        }
    n_features = next(iter(row.values())).shape[1]
    nodes = NodeScores.of(row, torch.ones(1, n_features, dtype=torch.float64))
    algebra = TermAlgebra(bias, lam, nodes)
    sums, total = [], torch.zeros(len(bias), dtype=torch.float64)
    n = len(next(iter(background.values())))
    step = algebra.rows_per_block(n_features)
    for start in range(0, n, step):
        block = {l: g[start : start + step] for l, g in background.items()}
        base, values = shapley_values(algebra, block)
        sums.append(values.sum(0))
        total += (base + values.sum(1)).sum(0)
    return total / n, -torch.stack(sums).sum(0) / n
