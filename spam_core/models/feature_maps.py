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
from torch.nn.functional import embedding_bag

from spam_core.data.encoding import NUMBER, Encoded, Feature, Marginals
from spam_core.models.polynomial import signed_root

FeatureMapName = Literal["linear", "neural", "basis", "spline"]
FEATURE_MAPS: tuple[FeatureMapName, ...] = ("linear", "neural", "basis", "spline")


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
        self.register_buffer("level_start", torch.tensor(starts, dtype=torch.long))
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
            parts.append(_bag(index, one, table))
        if not parts:
            return table.new_zeros(len(rows), *table.shape[1:])
        return parts[0] if len(parts) == 1 else parts[0] + parts[1]

    def scores(self, rows: Encoded, order: int, table: Tensor) -> Tensor:
        """``<u, phi(x_i)>`` for each feature; 0 where a cell is unknown.

        Returns
        -------
        Tensor of shape (n, d, M, q)
        """
        result = table.new_zeros(len(rows), self.n_features, *table.shape[1:])
        if len(self.numbered):
            numeric = self.numeric_scores(rows, order, table[: self.n_numeric])
            result[:, self.numbered] = numeric
        if len(self.levelled):
            index, one = self._level_index(rows, table.dtype)
            result[:, self.levelled] += table[index] * one[:, :, None, None]
        return result

    def column_means(self, marginals: Marginals) -> Tensor:
        """Training means of phi at order 1: (P,), float64.

        Each feature's mean score is linear in the weights, so the gradient of their
        sum is the mean of phi.
        """
        weights = torch.zeros(
            self.n_columns, 1, 1, dtype=torch.float64, requires_grad=True
        )
        with torch.enable_grad():
            scores = self.scores(marginals.nodes, 1, self.table(weights))
            total = (scores[:, :, 0, 0] * marginals.weights).sum()
            (means,) = torch.autograd.grad(total, weights)
        return means[:, 0, 0]

    def _level_index(self, rows: Encoded, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        codes = rows.codes[:, self.levelled]
        index = codes.clamp(min=0).long() + self.level_start
        return index, (codes >= 0).to(dtype)

    def _numbers(self, rows: Encoded) -> tuple[Tensor, Tensor]:
        """Values and mask of the numbered features, (n, d_numbered) each."""
        values = rows.values[:, self.numbered]
        return values, (rows.codes[:, self.numbered] == NUMBER).to(values.dtype)


class LinearMap(FeatureMap):
    """SPAM-Linear: ``sign(x) abs(x)^(1/l)`` of the scaled number (paper, eq. 3)."""

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout, [i for i, c in enumerate(layout.n_cells) if c])

    def numeric_sums(self, rows: Encoded, order: int, table: Tensor) -> Tensor:
        """Sum the numeric columns: (n, M, q)."""
        values, is_number = self._numbers(rows)
        phi = signed_root(values, order) * is_number
        return _unflatten(phi @ table.flatten(1), table)

    def numeric_scores(self, rows: Encoded, order: int, table: Tensor) -> Tensor:
        """Score each numbered feature: (n, d_numbered, M, q)."""
        values, is_number = self._numbers(rows)
        phi = signed_root(values, order) * is_number
        return phi[:, :, None, None] * table


class SplineMap(FeatureMap):
    """Piecewise-linear increments ``clip(K z - k, 0, 1)`` on K cells, centred.

    Notes
    -----
    Written out, phi has up to K non-zeros a feature. Its product with a basis is the
    linear interpolation of the basis' running sum at two knots, so a row costs two
    look-ups a feature instead of K multiplications; training and scoring both use
    that. Features are padded to the next power of two of their cells so that running
    sums of several are taken at once.
    """

    centred = True

    first: Tensor
    cells: Tensor

    def __init__(self, layout: Layout) -> None:
        buckets: dict[int, list[int]] = {}
        for i, cells in enumerate(layout.n_cells):
            if cells:
                buckets.setdefault(1 << (cells - 1).bit_length(), []).append(i)
        owners: list[int] = []
        start_of: dict[int, int] = {}
        self_buckets: list[tuple[int, int, int]] = []  # start, features, cells
        for size, members in sorted(buckets.items()):
            self_buckets.append((len(owners), len(members), size))
            for i in members:
                start_of[i] = len(owners)
                cells = layout.n_cells[i]
                owners += [i] * cells + [-1] * (size - cells)
        super().__init__(layout, owners)
        self.buckets = self_buckets
        numbered = sorted(start_of)
        first = torch.tensor([start_of[i] for i in numbered], dtype=torch.long)
        sizes = torch.tensor([layout.n_cells[i] for i in numbered], dtype=torch.long)
        self.register_buffer("first", first)
        self.register_buffer("cells", sizes)

    def table(self, weights: Tensor) -> Tensor:
        """Sum up within each feature: row k is the value at knot k + 1."""
        parts = []
        for start, features, cells in self.buckets:
            block = weights[start : start + features * cells]
            block = block.reshape(features, cells, *weights.shape[1:])
            parts.append(block.cumsum(1).flatten(0, 1))
        return torch.cat([*parts, weights[self.n_numeric :]])

    def ensemble_sums(
        self,
        rows: Encoded,
        weights: Tensor,
        scale: ColumnScale,
        centre: Tensor,
        columns: Mapping[int, slice],
    ) -> dict[int, Tensor]:
        """Inner sums of every order; one look-up serves all."""
        table = _CentredTable.apply(weights, scale, centre, self.buckets)  # type: ignore[no-untyped-call]
        index, weight = self._lookup(rows, table.dtype)
        last = index.new_full((len(index), 1), self.n_columns)
        index = torch.cat([index, last], 1)
        weight = torch.cat([weight, weight.new_ones(len(weight), 1)], 1)
        inner = _bag(index, weight, table)
        return {order: inner[:, :, part] for order, part in columns.items()}

    def _position(self, rows: Encoded) -> tuple[Tensor, Tensor]:
        """Find the two knots about each number: indices and weights (n, d, 2)."""
        values, is_number = self._numbers(rows)
        position = values * self.cells
        cell = position.floor().long().clamp_(min=0)
        cell = torch.minimum(cell, self.cells - 1)
        fraction = position - cell
        upper = self.first + cell
        # below the first knot of a feature the running sum is 0
        lower_weight = torch.where(cell > 0, 1 - fraction, torch.zeros_like(fraction))
        index = torch.stack([torch.maximum(upper - 1, self.first), upper], dim=2)
        weight = torch.stack([lower_weight, fraction], dim=2) * is_number[:, :, None]
        return index, weight

    def sums(
        self,
        rows: Encoded,
        order: int,  # noqa: ARG002 - phi is the same at every order
        table: Tensor,
    ) -> Tensor:
        """Sum ``<u, phi(x_i)>`` over features, numbers and levels at once."""
        return _bag(*self._lookup(rows, table.dtype), table)

    def _lookup(self, rows: Encoded, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """Table rows and weights of numbers and levels together, (n, k) each."""
        index, weight = self._position(rows)
        index, weight = index.flatten(1), weight.flatten(1)
        if len(self.levelled):
            level, one = self._level_index(rows, dtype)
            index, weight = torch.cat([index, level], 1), torch.cat([weight, one], 1)
        return index, weight

    def numeric_scores(
        self,
        rows: Encoded,
        order: int,  # noqa: ARG002 - phi is the same at every order
        table: Tensor,
    ) -> Tensor:
        """Score each numbered feature: (n, d_numbered, M, q)."""
        index, weight = self._position(rows)
        lower = table[index[:, :, 0]] * weight[:, :, 0, None, None]
        return lower.addcmul_(table[index[:, :, 1]], weight[:, :, 1, None, None])


def _bag(index: Tensor, weight: Tensor, table: Tensor) -> Tensor:
    """Weighted sums of table rows: (n, k), (n, k), (P, M, q) to (n, M, q)."""
    if not index.shape[1]:
        return table.new_zeros(len(index), *table.shape[1:])
    bag = embedding_bag(index, table.flatten(1), mode="sum", per_sample_weights=weight)
    return _unflatten(bag, table)


def _unflatten(sums: Tensor, table: Tensor) -> Tensor:
    """Split the last axis into members and components again."""
    return sums.reshape(len(sums), *table.shape[1:])


class _CentredTable(torch.autograd.Function):
    """Scaled running sums, and a last row that subtracts the training mean.

    One function, so that the dense weights are passed over as rarely as possible: in
    small batches these passes, not the rows, are what a step costs.
    """

    @staticmethod
    def forward(ctx, weights, scale, centre, buckets):  # type: ignore[no-untyped-def]
        ctx.scale, ctx.buckets = scale, buckets
        ctx.save_for_backward(centre)
        table = weights.new_empty(len(weights) + 1, *weights.shape[1:])
        body = table[:-1]
        scale.apply(weights, out=body)
        torch.mv(body.flatten(1).T, centre, out=table[-1].view(-1))
        table[-1].neg_()
        for start, features, cells in buckets:
            block = body[start : start + features * cells]
            block = block.view(features, cells, *weights.shape[1:])
            torch.cumsum(block, dim=1, out=block)
        return table

    @staticmethod
    def backward(ctx, gradient):  # type: ignore[no-untyped-def]
        (centre,) = ctx.saved_tensors
        body = gradient[:-1]  # owned by this graph; changed in place
        for start, features, cells in ctx.buckets:
            part = body[start : start + features * cells]
            part = part.view(features, cells, *body.shape[1:])
            sums = torch.cumsum(part, dim=1)
            # sums from a column to the last: total - sums before it
            part[:, 0] = sums[:, -1]
            torch.sub(sums[:, -1:], sums[:, :-1], out=part[:, 1:])
        body.flatten(1).addr_(centre, gradient[-1].reshape(-1), alpha=-1)
        ctx.scale.apply(body, out=body)
        return body, None, None, None
