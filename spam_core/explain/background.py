r"""What absent features are replaced by, and the Shapley values that follow from it.

A coalition's value is the mean score with the other features taken from a background:
each from its training marginal (`shapley`), or all from one row of a table
(`interventional`). Orders add up. At order 2, with :math:`m_i = E g_i`, :math:`h_i =
g_i - m_i`, :math:`H = \sum_i h_i` and :math:`M = \sum_i m_i`, a component has the
Shapley values and the pair interaction indices

.. math::

    \phi_i = h_i(x) (H(x) + 2 M) - E[h_i H], \quad
    I_{ij} = 2 h_i(x) h_j(x) + 2 E[h_i h_j],

so that two moments say all there is to know of a background of either kind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
from torch import Tensor

from spam_core.data.encoding import Encoded
from spam_core.explain.nodes import BLOCK, Scores
from spam_core.explain.of_model import (
    Polynomial,
    double_scores,
    double_sums,
    double_weighted,
)


@dataclass(frozen=True)
class Moments:
    """All that Shapley values of order 1 or 2 need to know of a background.

    Attributes
    ----------
    degree : int
        1 or 2.
    lam : Tensor of shape (C, R)
        Weights of the components in each output.
    mean : Tensor of shape (d, R)
        E g_i.
    spread : Tensor of shape (d, C) or None
        E h_i H, summed over the components; None at order 1.
    joint : Tensor of shape (C, d, d) or None
        E h_i h_j, summed over the components; None where features are independent, or
        no indices are wanted.
    """

    degree: int
    lam: Tensor
    mean: Tensor
    spread: Tensor | None = None
    joint: Tensor | None = None

    def values(self, model: Polynomial, rows: Encoded) -> Tensor:
        """Return what the order adds to the Shapley values of n rows: (n, d, C)."""
        vectors = self.lam.expand(len(rows), -1, -1)
        if self.degree == 2:
            sums = double_sums(model, rows, 2)
            vectors = vectors * (sums + self.mean.sum(0))[:, None]
        values = double_weighted(model, rows, self.degree, vectors)
        values -= (vectors @ self.mean.T).mT
        return values if self.spread is None else values - self.spread

    def indices(self, scores: Tensor) -> Tensor:
        """Return what the order adds to the pair indices, (n, d, R) to (n, d, d, C)."""
        centred = scores - self.mean
        products = torch.stack([(centred * lam) @ centred.mT for lam in self.lam])
        if self.joint is not None:
            products += self.joint[:, None]
        return 2 * products.movedim(0, -1)


class Background(ABC):
    """Where the features that a coalition lacks are taken from.

    Parameters
    ----------
    model : SPAM
    with_indices : bool
        Whether `share` works out the pairs.

    Attributes
    ----------
    moments : dict of order to Moments
        Of the orders 1 and 2, those that the model has.
    higher : list of int
        Its orders above 2.
    """

    moments: dict[int, Moments]

    def __init__(self, model: Polynomial, with_indices: bool) -> None:
        self.model, self.with_indices = model, with_indices
        self.lam = {l: value.double() for l, value in model.lam.items()}
        self.higher = [l for l in self.lam if l > 2]

    def share(self, rows: Encoded) -> tuple[Tensor, Tensor, Tensor | None]:
        """Share the scores of some rows among their features.

        Parameters
        ----------
        rows : Encoded
            At most `rows_per_block` of them.

        Returns
        -------
        base : Tensor of shape (n, C)
            Value of the empty coalition.
        values : Tensor of shape (n, d, C)
            Shapley values; exactly 0 for a feature that is no player.
        indices : Tensor of shape (n, d, d, C) or None
            Shapley interaction indices, symmetric, 0 on the diagonal.
        """
        n, d = rows.codes.shape
        players = self.players(rows)
        values = torch.zeros(n, d, len(self.model.bias), dtype=torch.float64)
        for moments in self.moments.values():
            values += moments.values(self.model, rows)
        wanted = [l for l in self.lam if l > 2 or (l == 2 and self.with_indices)]
        scores = double_scores(self.model, rows, wanted)
        if self.higher:
            values += self._higher_values(scores, players)
        values *= players[:, :, None]
        if not self.with_indices:
            return self.base(rows), values, None
        indices = values.new_zeros(n, d, d, len(self.model.bias))
        if 2 in self.moments:
            indices += self.moments[2].indices(scores[2])
        if self.higher:
            indices += self._higher_indices(scores, players)
        pairs = players[:, :, None] & players[:, None] & ~torch.eye(d).bool()
        # products of matrices are symmetric but for rounding
        indices = (indices + indices.transpose(1, 2)) / 2 * pairs[..., None]
        return self.base(rows), values, indices

    def rows_per_block(self, n_features: int) -> int:
        """Return how many rows at once keep the largest temporary near 64 MB."""
        widest = max(lam.shape[1] for lam in self.lam.values())
        if self.with_indices:
            widest = max(widest, n_features * len(self.model.bias))
        return max(1, BLOCK // (n_features * widest))

    @abstractmethod
    def players(self, rows: Encoded) -> Tensor:
        """Say whose presence can make a difference: bool, (n, d)."""

    @abstractmethod
    def base(self, rows: Encoded) -> Tensor:
        """Return the value of each row's empty coalition: (n, C)."""

    @abstractmethod
    def _higher_values(self, scores: Scores, players: Tensor) -> Tensor:
        """Return what orders above 2 add to the values: (n, d, C)."""

    @abstractmethod
    def _higher_indices(self, scores: Scores, players: Tensor) -> Tensor:
        """Return what orders above 2 add to the pair indices: (n, d, d, C)."""
