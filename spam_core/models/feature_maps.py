"""Feature maps: from an encoded cell to the columns phi that the bases weigh.

A map turns encoded rows and weights of shape (P, M, q) into the inner sums over
features, (n, M, q), or into the scores of each feature, (n, d, M, q). Its P columns
are the numeric columns of every feature, then every feature's levels (one-hot).
Weights pass `table` first, which a caller may keep for many rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from spam_core.data.encoding import NUMBER, Encoded, Feature, Marginals
from spam_core.data.sparse import SparseRows
from spam_core.models.lookup import look_up, look_up_bags, unflatten_columns
from spam_core.models.polynomial import signed_root

FeatureMapName = Literal["linear", "neural", "basis", "spline"]
FEATURE_MAPS: tuple[FeatureMapName, ...] = ("linear", "neural", "basis", "spline")

_CACHE = 250_000  # numbers that stay in a processor's cache


@dataclass(frozen=True)
class Layout:
    """Sizes that a map takes from the encoder.

    Attributes
    ----------
    n_cells : tuple of int
        Cells of each of the d features; 0 for one without numbers that vary.
    n_levels : tuple of int
        Levels of each feature.
    """

    n_cells: tuple[int, ...]
    n_levels: tuple[int, ...]

    @classmethod
    def of(cls, features: Sequence[Feature]) -> Layout:
        """Read the sizes off fitted features."""
        return cls(
            tuple(feature.n_cells for feature in features),
            tuple(len(feature.levels) for feature in features),
        )


@dataclass(frozen=True)
class ColumnScale:
    """Lengths of the columns of phi, for order 1 and for the orders above.

    Attributes
    ----------
    first, rest : Tensor of shape (P, M, 1)
    n_first : int
        Weights' columns that belong to order 1; they come first.
    """

    first: Tensor
    rest: Tensor
    n_first: int

    def full(self, width: int) -> Tensor:
        """One scale a weight: (P, M, width)."""
        parts = [
            self.first.expand(-1, -1, self.n_first),
            self.rest.expand(-1, -1, width - self.n_first),
        ]
        return torch.cat(parts, 2)

    def apply(self, weights: Tensor, out: Tensor) -> Tensor:
        """Multiply weights, (P, M, q), into `out`, which may be the weights."""
        n = self.n_first
        torch.mul(weights[:, :, :n], self.first, out=out[:, :, :n])
        torch.mul(weights[:, :, n:], self.rest, out=out[:, :, n:])
        return out


class FeatureMap(nn.Module):
    """Base of all maps: keeps the levels' one-hot columns; subclasses add numbers.

    Parameters
    ----------
    layout : Layout
        Sizes of the d features.

    Attributes
    ----------
    n_columns : int
        P, the same at every order.
    n_numeric : int
        How many of the columns belong to numbers; they come first.
    feature_of_column : Tensor of shape (P,)
        The source feature of each column, -1 for padding.
    centred : bool
        Whether the training mean of phi is subtracted (so that every g has mean 0).
    """

    centred = False
    needs_members = False  # whether phi differs between members

    numbered: Tensor
    levelled: Tensor
    level_start: Tensor
    feature_of_column: Tensor

    def __init__(self, layout: Layout, numeric_columns: Sequence[int]) -> None:
        super().__init__()
        self.layout = layout
        self.n_features = len(layout.n_cells)
        self.n_numeric = len(numeric_columns)
        numbered = [i for i, cells in enumerate(layout.n_cells) if cells]
        levelled = [i for i, levels in enumerate(layout.n_levels) if levels]
        starts, owners, position = [], list(numeric_columns), self.n_numeric
        for i in levelled:
            starts.append(position)
            owners += [i] * layout.n_levels[i]
            position += layout.n_levels[i]
        self.n_columns = position
        self.register_buffer("numbered", torch.tensor(numbered, dtype=torch.long))
        self.register_buffer("levelled", torch.tensor(levelled, dtype=torch.long))
        self.register_buffer("level_start", torch.tensor(starts, dtype=torch.int32))
        self.register_buffer(
            "feature_of_column", torch.tensor(owners, dtype=torch.long)
        )

    def table(self, weights: Tensor) -> Tensor:
        """Bring weights, (P, M, q), to the form that rows look up."""
        return weights

    def ensemble_sums(
        self,
        rows: Encoded,
        weights: Tensor,
        scale: ColumnScale,
        centre: Tensor,  # noqa: ARG002 - for maps that are centred
        columns: Mapping[int, slice],
    ) -> dict[int, Tensor]:
        """Inner sums of every order, with gradients.

        Parameters
        ----------
        rows : Encoded
            n rows.
        weights : Tensor of shape (P, M, q)
            Of all orders side by side.
        scale : ColumnScale
            Multiplies the weights.
        centre : Tensor of shape (P,)
            Training means of phi, subtracted from it; empty if the map isn't centred.
        columns : mapping of order to slice
            Which of the q columns belong to an order.

        Returns
        -------
        dict of order to Tensor of shape (n, M, q_l)
        """
        effective = weights * scale.full(weights.shape[2])
        return {
            order: self.sums(rows, order, effective[:, :, part])
            for order, part in columns.items()
        }

    def numeric_sums(self, rows: Encoded, order: int, table: Tensor) -> Tensor:
        """Sum the numeric columns: (n, M, q)."""
        raise NotImplementedError

    def numeric_scores(self, rows: Encoded, order: int, table: Tensor) -> Tensor:
        """Numeric columns of each numbered feature: (n, d_numbered, M, q)."""
        raise NotImplementedError

    def sums(self, rows: Encoded, order: int, table: Tensor) -> Tensor:
        """Sum ``<u, phi(x_i)>`` over features; unknown cells add nothing.

        Parameters
        ----------
        rows : Encoded
            n rows of d features, of the dtype of `table`.
        order : int
            The order l of ``phi_l``.
        table : Tensor of shape (P, M, q)
            Basis vectors, as `table` gives them.

        Returns
        -------
        Tensor of shape (n, M, q)
        """
        parts = []
        if len(self.numbered):
            parts.append(self.numeric_sums(rows, order, table[: self.n_numeric]))
        if len(self.levelled):
            index, one = self._level_index(rows, table.dtype)
            parts.append(look_up(index, one, table))
        if not parts:
            return table.new_zeros(len(rows), *table.shape[1:])
        return parts[0] if len(parts) == 1 else parts[0] + parts[1]

    def scores(self, rows: Encoded, order: int, table: Tensor) -> Tensor:
        """``<u, phi(x_i)>`` for each feature; 0 where a cell is unknown.

        Returns
        -------
        Tensor of shape (n, d, M, q)
        """
        numbered = len(self.numbered)
        if numbered:
            numeric = self.numeric_scores(rows, order, table[: self.n_numeric])
            if numbered == self.n_features and not len(self.levelled):
                return numeric
        result = table.new_zeros(len(rows), self.n_features, *table.shape[1:])
        if numbered:
            result[:, self.numbered] = numeric
        if len(self.levelled):
            index, one = self._level_index(rows, table.dtype)
            result[:, self.levelled] += table[index] * one[:, :, None, None]
        return result

    def weighted_scores(
        self, rows: Encoded, order: int, table: Tensor, vectors: Tensor
    ) -> Tensor:
        """Sum each feature's scores over components, weighted by a vector a row.

        The scores themselves, (n, d, M, q), aren't written down where a map can avoid
        it: that is what this is for.

        Parameters
        ----------
        rows, order, table : see `sums`
        vectors : Tensor of shape (n, C, M * q)
            C weights of each component.

        Returns
        -------
        Tensor of shape (n, d, C)
            0 where a cell is unknown.
        """
        result = table.new_empty(len(rows), self.n_features, vectors.shape[1])
        step = max(1, _CACHE // max(1, self.n_features * table.shape[1:].numel()))
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            scores = self.scores(rows[part], order, table).flatten(2)
            result[part] = scores @ vectors[part].mT
        return result

    def column_means(self, marginals: Marginals) -> Tensor:
        """Training means of phi at order 1: (P,), float64.

        Each feature's mean score is linear in the weights, so the gradient of their
        sum is the mean of phi.
        """
        weights = torch.zeros(
            self.n_columns, 1, 1, dtype=torch.float64, requires_grad=True
        )
        if not self.n_columns:  # no column of the table varies
            return weights.detach().flatten()
        with torch.enable_grad():
            scores = self.scores(marginals.nodes, 1, self.table(weights))
            total = (scores[:, :, 0, 0] * marginals.weights).sum()
            (means,) = torch.autograd.grad(total, weights)
        return means[:, 0, 0]

    def _level_index(self, rows: Encoded, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        codes = rows.codes[:, self.levelled]
        index = codes.clamp(min=0).int() + self.level_start
        return index, (codes >= 0).to(dtype)

    def _numbers(self, rows: Encoded) -> tuple[Tensor, Tensor]:
        """Values and mask of the numbered features, (n, d_numbered) each."""
        values, codes = rows.values, rows.codes
        if len(self.numbered) < self.n_features:  # else a copy would tell nothing new
            values, codes = values[:, self.numbered], codes[:, self.numbered]
        return values, (codes == NUMBER).to(values.dtype)


class LinearMap(FeatureMap):
    """SPAM-Linear: ``sign(x) abs(x)^(1/l)`` of the scaled number (paper, eq. 3).

    Sparse rows stay sparse: 0 has phi = 0, so only what a row holds is looked up.

    Parameters
    ----------
    layout : Layout
        Sizes of the d features.
    rescale : bool, default=True
        False takes the number itself at every order, so that order 2 holds plain
        products.
    """

    column_of: Tensor

    def __init__(self, layout: Layout, rescale: bool = True) -> None:
        super().__init__(layout, [i for i, c in enumerate(layout.n_cells) if c])
        self.rescale = rescale
        column_of = torch.full((self.n_features,), -1)
        column_of[self.numbered] = torch.arange(len(self.numbered))
        self.register_buffer("column_of", column_of)

    @property
    def settings(self) -> dict[str, bool]:
        """What, with a layout, makes a map like this."""
        return {"rescale": self.rescale}

    def phi(self, rows: Encoded) -> Tensor:
        """Write out the columns of order 1, numbers and one-hot levels: (n, P)."""
        values, is_number = self._numbers(rows)
        phi = values.new_zeros(len(rows), self.n_columns)
        phi[:, : self.n_numeric] = values * is_number
        if len(self.levelled):
            index, one = self._level_index(rows, values.dtype)
            # of a feature without a level the clamped column adds 0
            phi.scatter_add_(1, index, one)
        return phi

    def _root(self, values: Tensor, order: int) -> Tensor:
        return signed_root(values, order) if self.rescale else values

    def _numeric(self, rows: Encoded, order: int) -> Tensor:
        """Return phi of the numbered features, (n, d_numbered)."""
        whole = len(self.numbered) == self.n_features  # its copy would tell nothing new
        # a GPU would have to be waited for; a processor's masks cost more than a look
        if whole and rows.codes.device.type == "cpu" and rows.all_numbers:
            return self._root(rows.values, order)
        values, is_number = self._numbers(rows)
        return self._root(values, order) * is_number

    def sums(self, rows: Encoded | SparseRows, order: int, table: Tensor) -> Tensor:
        """Sum over features, looking only at what a sparse row holds."""
        if not isinstance(rows, SparseRows):
            return super().sums(rows, order, table)
        if not len(self.numbered):
            return table.new_zeros(len(rows), *table.shape[1:])
        column = self.column_of[rows.columns]
        # a column that was all 0 in training never contributes
        weight = self._root(rows.values, order) * (column >= 0)
        return look_up_bags(column.clamp(min=0), rows.start[:-1], weight, table)

    def scores(self, rows: Encoded | SparseRows, order: int, table: Tensor) -> Tensor:
        """Score each feature; sparse rows are written out for it."""
        dense = rows.dense() if isinstance(rows, SparseRows) else rows
        return super().scores(dense, order, table)

    def numeric_sums(self, rows: Encoded, order: int, table: Tensor) -> Tensor:
        """Sum the numeric columns: (n, M, q)."""
        phi = self._numeric(rows, order)
        return unflatten_columns(phi @ table.flatten(1), table)

    def numeric_scores(self, rows: Encoded, order: int, table: Tensor) -> Tensor:
        """Score each numbered feature: (n, d_numbered, M, q)."""
        phi = self._numeric(rows, order)
        return phi[:, :, None, None] * table

    def weighted_scores(
        self, rows: Encoded, order: int, table: Tensor, vectors: Tensor
    ) -> Tensor:
        """Weigh the basis first, which makes numbers one product of matrices."""
        result = table.new_zeros(len(rows), self.n_features, vectors.shape[1])
        phi = self._numeric(rows, order)
        basis = table[: self.n_numeric].flatten(1)
        result[:, self.numbered] = (vectors @ basis.T).mT * phi[:, :, None]
        if len(self.levelled):
            index, one = self._level_index(rows, table.dtype)
            levels = table[index].flatten(2) @ vectors.mT
            result[:, self.levelled] += levels * one[:, :, None]
        return result
