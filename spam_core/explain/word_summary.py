r"""Sizes of a sparse model's terms over its training rows: the largest of each class.

A column's own term is a polynomial in :math:`\phi`, whose coefficients are worked out
for all columns at once, so its mean size and its standard deviation over the training
rows are sums over the cells that aren't 0. At order 2 a pair's term is a product,

.. math::

    t_{ij} = 2 B_{ij} (\phi_i - c_i)(\phi_j - c_j), \quad
    B_{ij} = \sum_\rho \lambda_\rho u_{\rho i} u_{\rho j},

with c the training mean in the pure view and 0 in the raw one. Pairs are ranked by
their standard deviation; those of columns too weak to matter are ruled out by
Cauchy-Schwarz, :math:`|B_{ij}| \le b_i b_j` with
:math:`b_i^2 = \sum_\rho |\lambda_\rho| u_{\rho i}^2`.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import comb

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from spam_core.data.sparse import SparseRows
from spam_core.explain.orders import VIEWS
from spam_core.explain.summary import TermSummary
from spam_core.explain.term_set import Term
from spam_core.explain.word_terms import Moments, WordAlgebra
from spam_core.models.polynomial import power, signed_root
from spam_core.models.spam import SPAM

PER_CLASS = 100
"""Columns, and pairs, listed of each class."""

STRONGEST = 4_096
"""Columns among which a class's pairs are sought; see `largest_pairs`."""

_BLOCK = 8_192  # columns, or pairs, at once
_CELLS = 100_000  # cells at once
_PANEL = 512  # columns whose pairs are looked at together


def summarise_words(
    model: SPAM, rows: SparseRows, moments: Moments, weight: NDArray[np.float64]
) -> dict[str, TermSummary]:
    """Work out the sizes of the largest terms of each class, in both views.

    Parameters
    ----------
    model : SPAM
        Fitted to `rows`.
    rows : SparseRows of n rows, float64
    moments : Moments
        Of these rows.
    weight : ndarray of shape (n,)
        Of the rows.

    Returns
    -------
    dict of view to TermSummary
        The `PER_CLASS` columns of largest sd in each class, and up to order 2 as many
        pairs. Importance is exact over all rows; sd is exact under the product of the
        columns' training distributions.
    """
    share = torch.from_numpy(weight / weight.sum())
    score = model.score(rows)
    mean = share @ score
    spread = (share @ (score - mean).square()).sqrt()
    found: dict[str, TermSummary] = {}
    for view in VIEWS:
        algebra = WordAlgebra(model, moments, view)
        sizes = _Sizes(algebra, rows, share)
        found[view] = sizes.summary(mean.numpy(), spread.numpy())
    return found


def single_coefficients(algebra: WordAlgebra) -> dict[tuple[int, int], Tensor]:
    """Write the terms of single columns as polynomials in phi.

    Returns
    -------
    dict of (order l, power a) to Tensor of shape (P, C)
        A column's term is the sum of ``coefficient * phi_l**a``, less its mean in the
        pure view.

    Notes
    -----
    Per component, with S the sum of the other columns' scores, E (g + S)**l has the
    coefficient ``comb(l, a) E S**(l - a)`` at g**a. The raw view takes S = 0. The
    moments of S follow from cumulants: those of all columns less the column's own.
    """
    found = {}
    for l, basis in algebra.bases.items():
        for a in range(1, l + 1):
            if a < l and algebra.view == "raw":
                continue
            parts = []
            for start in range(0, len(basis), _BLOCK):
                some = slice(start, start + _BLOCK)
                others = algebra.others_moment(l, l - a, some)
                product = power(basis[some], a) * others * comb(l, a)
                parts.append(product @ algebra.lam[l].T)
            found[l, a] = torch.cat(parts) if parts else basis[:, : algebra.n_outputs]
    return found


class _Sizes:
    """Sizes of terms over the training rows, in one view."""

    def __init__(self, algebra: WordAlgebra, rows: SparseRows, share: Tensor) -> None:
        self.algebra, self.rows, self.share = algebra, rows, share
        self.importance, self.sd = self._singles()

    def summary(
        self, mean: NDArray[np.float64], spread: NDArray[np.float64]
    ) -> TermSummary:
        features = self.algebra.features
        top = min(PER_CLASS, len(features))
        singles = self.sd.topk(top, dim=0).indices.unique()
        terms: list[Term] = [(i,) for i in features[singles].tolist()]
        importance, sd = [self.importance[singles]], [self.sd[singles]]
        if self.algebra.degree == 2 and len(features) > 1:
            pairs = largest_pairs(self.algebra)
            terms += [(i, j) for i, j in features[pairs].tolist()]
            size, deviation = self._pairs(pairs)
            importance.append(size)
            sd.append(deviation)
        return TermSummary(
            tuple(terms),
            torch.cat(importance).numpy(),
            torch.cat(sd).numpy(),
            mean,
            spread,
            (),
            len(self.rows),
        )

    def _singles(self) -> tuple[Tensor, Tensor]:
        """Mean size and sd of every column's own term: (P, C) each."""
        algebra = self.algebra
        coefficients = single_coefficients(algebra)
        absent = self.share.new_zeros(len(algebra.features), algebra.n_outputs)
        if algebra.view == "pure":
            for (l, a), c in coefficients.items():
                absent -= c * algebra.moments[l][a - 1][:, None]
        size, square, total = (torch.zeros_like(absent) for _ in range(3))
        present = absent.new_zeros(len(absent))
        for column, values, share in self._cells():
            term = absent[column]
            for (l, a), c in coefficients.items():
                phi = power(signed_root(values, l if algebra.rescale else 1), a)
                term += c[column] * phi[:, None]
            size.index_add_(0, column, term.abs() * share[:, None])
            square.index_add_(0, column, term.square() * share[:, None])
            total.index_add_(0, column, term * share[:, None])
            present.index_add_(0, column, share)
        left = (1 - present).clamp(min=0)[:, None]
        mean = total + left * absent
        variance = square + left * absent.square() - mean.square()
        return size + left * absent.abs(), variance.clamp(min=0).sqrt()

    def _cells(self) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """Yield columns, numbers and shares of some cells that have a weight."""
        rows = self.rows
        share = self.share.repeat_interleave(rows.start.diff())
        column = self.algebra.column_of[rows.columns]
        known = column >= 0
        cells = (column[known], rows.values[known], share[known])
        yield from zip(*(part.split(_CELLS) for part in cells), strict=True)

    def _pairs(self, pairs: Tensor) -> tuple[Tensor, Tensor]:
        """Mean size and sd of some pairs' terms: (K, C) each."""
        algebra = self.algebra
        basis, lam = algebra.bases[2], algebra.lam[2]
        twice = torch.cat(
            [
                2 * (basis[some[:, 0]] * basis[some[:, 1]]) @ lam.T
                for some in pairs.split(_BLOCK)
            ]
        )
        first, second = algebra.moments[2]
        if algebra.view == "pure":
            variance = (second - first.square()).clamp(min=0)
            deviation = variance[pairs].prod(1).sqrt()
        else:
            # E (phi_i phi_j)**2 - (E phi_i phi_j)**2 of independent columns
            variance = second[pairs].prod(1) - first.square()[pairs].prod(1)
            deviation = variance.clamp(min=0).sqrt()
        size = self._products(pairs, first if algebra.view == "pure" else first * 0)
        return twice.abs() * size[:, None], twice.abs() * deviation[:, None]

    def _products(self, pairs: Tensor, centre: Tensor) -> Tensor:
        """Mean of abs(phi_i - c_i) abs(phi_j - c_j) over the rows: (K,).

        With e = abs(phi - c) - abs(c), which is 0 where phi is, the product is
        abs(c_i c_j) + abs(c_i) e_j + abs(c_j) e_i + e_i e_j.
        """
        algebra, rows = self.algebra, self.rows
        used = pairs.unique()
        features = algebra.features[used]
        place = torch.full((rows.n_features,), -1)
        place[features] = torch.arange(len(used))
        column = place[rows.columns]
        wanted = column >= 0
        phi = signed_root(rows.values[wanted], 2 if algebra.rescale else 1)
        mine = centre[used]
        excess = (phi - mine[column[wanted]]).abs() - mine.abs()[column[wanted]]
        row = torch.arange(len(rows)).repeat_interleave(rows.start.diff())[wanted]
        shape = (len(rows), len(used))
        entries = (excess.numpy(), (row.numpy(), column[wanted].numpy()))
        table = sp.csc_matrix(entries, shape=shape)
        share = self.share.numpy()
        mean = torch.from_numpy(share @ table)
        weighted = table.multiply(share[:, None]).tocsc()
        i, j = torch.searchsorted(used, pairs).unbind(1)
        joint = np.concatenate(
            [
                np.asarray(
                    weighted[:, a.numpy()].multiply(table[:, b.numpy()]).sum(0)
                ).ravel()
                for a, b in zip(i.split(PER_CLASS), j.split(PER_CLASS), strict=True)
            ]
        )
        size = mine.abs()
        return (
            size[i] * size[j]
            + size[i] * mean[j]
            + size[j] * mean[i]
            + torch.from_numpy(joint)
        )


def largest_pairs(
    algebra: WordAlgebra, top: int = PER_CLASS, most: int = STRONGEST
) -> Tensor:
    """Find the pairs of columns of largest standard deviation in each class.

    Parameters
    ----------
    algebra : WordAlgebra
        Of degree 2.
    top : int
        Pairs of each class.
    most : int
        Columns looked at in each class: those of largest bound ``b_i`` times sd.

    Returns
    -------
    Tensor of shape (K, 2)
        Positions in `algebra.features`, the first below the second; each pair once,
        also if it is among the largest of several classes.

    Notes
    -----
    Exact for a class as soon as no pair with a column left out can be among the
    largest, which is checked. Where `most` columns don't suffice for that, the pairs
    are the largest among these.
    """
    basis, lam = algebra.bases[2], algebra.lam[2]
    first, second = algebra.moments[2]
    spread = second
    if algebra.view == "pure":
        spread = (second - first.square()).clamp(min=0)
    scaled = basis * spread.sqrt()[:, None]
    found = []
    for weight in lam:
        bound = (scaled.square() @ weight.abs()).sqrt()
        ranked = bound.argsort(descending=True, stable=True)[:most]
        found.append(_search(scaled[ranked], weight, bound[ranked], top, ranked))
    pairs: Tensor = torch.cat(found).sort(1).values.unique(dim=0)
    return pairs


def _search(
    scaled: Tensor, weight: Tensor, bound: Tensor, top: int, ranked: Tensor
) -> Tensor:
    """Return the largest of the pairs of ranked columns: (K, 2)."""
    pairs = torch.empty(0, 2, dtype=torch.int64)
    sizes = scaled.new_empty(0)
    for start in range(0, len(scaled), _PANEL):
        full = len(sizes) == top
        if full and bool(bound[start] * bound[0] <= sizes[-1]):
            break  # no pair with a column from here on can be among the largest
        stop = min(start + _PANEL, len(scaled))
        left = scaled[:stop] * weight
        product = (left @ scaled[start:stop].T).abs()
        earlier = torch.arange(stop)[:, None] < torch.arange(start, stop)
        product = product.where(earlier, -1.0).flatten()
        best = product.topk(min(top, len(product)))
        row, column = best.indices // (stop - start), best.indices % (stop - start)
        new = torch.stack([ranked[row], ranked[column + start]], 1)
        sizes, pairs = torch.cat([sizes, best.values]), torch.cat([pairs, new])
        kept = sizes.argsort(descending=True, stable=True)[:top]
        sizes, pairs = sizes[kept], pairs[kept]
    return pairs[sizes >= 0]
