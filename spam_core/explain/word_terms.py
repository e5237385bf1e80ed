r"""Terms of a sparse model, such as one of texts, without a number for each column.

With the linear map a component score is a weight times a number, :math:`g_{l\rho i} =
u_{l\rho i}\,\phi_l(x_i)`, so all that the terms need of the training distribution are
the moments of :math:`\phi_l`, a few numbers a column. What all columns contribute on
average, :math:`P(t)` of `explain.terms`, is the exponential of a sum of their
cumulants; it is worked out once, and the terms of any columns then need those alone.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from math import comb, factorial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from spam_core.data.sparse import SparseRows
from spam_core.explain.orders import Order, View
from spam_core.explain.series import Series, exponential, inverse, logarithm
from spam_core.explain.term_set import TermSet
from spam_core.explain.terms import TermAlgebra
from spam_core.models.feature_maps import LinearMap
from spam_core.models.polynomial import power, signed_root
from spam_core.models.spam import SPAM

_BLOCK = 8_192  # columns at once

Moments = Mapping[int, NDArray[np.float64]]
"""Order l -> E phi_l**a for a = 1..l over the training rows, (l, d)."""


def column_moments(
    rows: SparseRows,
    orders: Sequence[int],
    weight: NDArray[np.float64],
    rescale: bool = True,
) -> dict[int, NDArray[np.float64]]:
    """Average the powers of phi over training rows, absent words included.

    Parameters
    ----------
    rows : SparseRows of n rows, float64
    orders : sequence of int
        Orders l of the model.
    weight : ndarray of shape (n,)
        Of the rows.
    rescale : bool
        See `LinearMap`.

    Returns
    -------
    dict of order l to ndarray of shape (l, d)

    Examples
    --------
    >>> from spam_core.data.sparse import SparseEncoder
    >>> rows = SparseEncoder().fit_transform(np.array([[4.0], [16.0], [0.0], [0.0]]))
    >>> column_moments(rows, [2], np.ones(4))[2].ravel()  # of the roots 2, 4, 0, 0
    array([1.5, 5. ])
    """
    share = torch.from_numpy(weight / weight.sum())
    share = share.repeat_interleave(rows.start.diff())
    found = {}
    for order in orders:
        phi = signed_root(rows.values, order if rescale else 1)
        found[order] = np.stack(
            [
                np.bincount(
                    rows.columns, share * power(phi, a), minlength=rows.n_features
                ).astype(np.float64)
                for a in range(1, order + 1)
            ]
        )
    return found


class WordAlgebra:
    """Splits scores of rows into terms of some columns, exactly, in one view.

    Parameters
    ----------
    model : SPAM
        With a linear map and without levels.
    moments : Moments
        For the pure view.
    view : {"pure", "raw"}
        Raw: absent columns are at 0, as in the paper, so a text's terms are those of
        its own words. Pure: functional ANOVA under the product of the columns' training
        distributions, in which most words are mostly absent; a term says what words
        add beyond an average training row.

    Attributes
    ----------
    features : Tensor of shape (P,)
        Columns that have weights.
    bases : dict of order l to Tensor of shape (P, R_l)
        Their weights.
    base : Tensor of shape (C,)
        The constant of the view.
    """

    def __init__(self, model: SPAM, moments: Moments, view: View) -> None:
        feature_map = model.feature_map
        assert isinstance(feature_map, LinearMap), "only linear maps take sparse rows"
        self.view, self.rescale = view, feature_map.rescale
        self.features = torch.as_tensor(feature_map.numbered)
        self.column_of = feature_map.column_of
        self.lam, self.n_outputs = model.lam, model.n_outputs
        self.bases = {l: t.flatten(1) for l, t in model.factors.tables.items()}
        self.moments = {
            l: torch.from_numpy(moments[l]).double()[:, self.features]
            for l in self.bases
        }
        self.series = {l: self._series(l) for l in self.bases}
        self.logs = {l: self._logs(l) for l in self.bases}
        self.sums = {l: self._sums(l) for l in self.bases}
        self.outside = {l: self._outside(l) for l in self.bases}
        nothing = TermAlgebra(model.bias, self.lam, None, "raw")
        self._empty = nothing
        self.base = nothing.base(self.outside, 1)[0]

    @property
    def degree(self) -> int:
        """The most columns of a term."""
        return max(self.bases)

    def phi(self, rows: SparseRows, features: Tensor) -> dict[int, Tensor]:
        """Rescaled numbers of some columns, by order: (n, m)."""
        return self.rescaled(rows.take(features))

    def rescaled(self, values: Tensor) -> dict[int, Tensor]:
        """Rescale scaled numbers for each order."""
        return {l: signed_root(values, l if self.rescale else 1) for l in self.bases}

    def terms(
        self, phi: Mapping[int, Tensor], features: Tensor, terms: TermSet
    ) -> Tensor:
        """Evaluate terms of some columns in n rows.

        Parameters
        ----------
        phi : mapping of order l to Tensor of shape (n, m)
            As `phi` gives it.
        features : Tensor of shape (m,)
            Columns that have weights.
        terms : TermSet
            Positions in `features`.

        Returns
        -------
        Tensor of shape (n, T, C)
        """
        columns = self.column_of[features]
        algebra = copy.copy(self._empty)
        algebra.view = self.view
        bases = {l: basis[columns] for l, basis in self.bases.items()}
        algebra.orders = tuple(self._order(l, bases[l], columns) for l in bases)
        parts = []
        for row in range(len(next(iter(phi.values())))):
            series = {
                order.degree: algebra.feature_series(
                    order, phi[order.degree][row, None, :, None] * bases[order.degree]
                )
                for order in algebra.orders
            }
            parts.append(algebra.evaluate(series, self.outside, terms))
        return torch.cat(parts)

    def others_moment(self, l: int, a: int, columns: slice) -> Tensor:
        """E S**a of the sum S of all other columns' scores, for some columns: (m, R).

        In the raw view others are 0.
        """
        basis = self.bases[l][columns]
        if a == 0 or self.view == "raw":
            return torch.full_like(basis, float(a == 0))
        sums: Series = [None]
        for b in range(1, a + 1):
            log, total = self.logs[l][b], self.sums[l][b]
            if log is None or total is None:
                sums.append(None)
            else:
                sums.append(total[0] - log[columns, None] * power(basis, b))
        moment = exponential(sums)[a]
        if moment is None:
            return torch.zeros_like(basis)
        return moment * float(factorial(a))

    def _order(self, l: int, basis: Tensor, columns: Tensor) -> Order:
        if self.view == "raw":
            return next(o for o in self._empty.orders if o.degree == l)
        mean = basis * self.moments[l][0][columns, None]
        moments: Series = [
            None if c is None else c if not c.ndim else c[columns, None] * basis**a
            for a, c in enumerate(self.series[l])
        ]
        none: Series = [None] * (l + 1)
        return Order(l, self.lam[l], mean, moments, inverse(moments), none)

    def _series(self, l: int) -> Series:
        """Return E (phi - E phi)**a / a! of each column, (P,), for a = 0..l."""
        plain = [torch.ones_like(self.moments[l][0]), *self.moments[l]]
        found: Series = [plain[0].new_ones(()), None]
        for a in range(2, l + 1):
            total = sum(
                comb(a, k) * plain[k] * (-plain[1]) ** (a - k) for k in range(a + 1)
            )
            assert isinstance(total, Tensor)
            found.append(total / factorial(a))
        return found

    def _logs(self, l: int) -> Series:
        """Return the cumulants of phi over a! of each column, (P,), for a = 0..l."""
        if self.view == "raw":
            return [None] * (l + 1)
        logs = logarithm(self.series[l])
        logs[1] = self.moments[l][0]
        return logs

    def _sums(self, l: int) -> Series:
        """Return the cumulants of the sum of all scores over a!: (1, 1, R) each."""
        sums: Series = [None]
        for a, log in enumerate(self.logs[l][1:], start=1):
            part = None
            if log is not None:
                part = self.bases[l].new_zeros(1, 1, self.bases[l].shape[1])
                for start in range(0, len(log), _BLOCK):  # bounds the temporary
                    some = slice(start, start + _BLOCK)
                    part += log[some] @ power(self.bases[l][some], a)
            sums.append(part)
        return sums

    def _outside(self, l: int) -> Series:
        """Return l! P: entries of shape (1, 1, R)."""
        scale = float(factorial(l))
        return [None if c is None else c * scale for c in exponential(self.sums[l])]
