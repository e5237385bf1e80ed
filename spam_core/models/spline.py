"""The default feature map: piecewise-linear shapes, looked up instead of multiplied."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from spam_core.data.encoding import NUMBER, Encoded, Marginals
from spam_core.models.feature_maps import ColumnScale, FeatureMap, Layout
from spam_core.models.lookup import look_up


class SplineMap(FeatureMap):
    """Piecewise-linear increments ``clip(K z - k, 0, 1)`` on K cells, centred.

    Notes
    -----
    Written out, phi has up to K non-zeros a feature. Its product with a basis is the
    linear interpolation of the basis' running sum at two knots, so a row costs two
    look-ups a feature instead of K multiplications; training and scoring both use
    that. Features are padded to the next power of two of their cells so that running
    sums of several are taken at once.

    Where a feature has numbers and levels (missing, special codes), a level's phi is
    its one-hot column and the mean of the numeric columns over the rows with numbers.
    With zeros there instead, a level would share the columns of the lowest numbers,
    and its effect would bend the curve at that end.

    Parameters
    ----------
    layout : Layout
    marginals : Marginals, optional
        Training distribution; needed where a feature has numbers and levels.
    """

    centred = True

    first: Tensor
    cells: Tensor
    fill: Tensor
    filled: Tensor
    filled_by: Tensor

    def __init__(self, layout: Layout, marginals: Marginals | None = None) -> None:
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
        first = torch.tensor([start_of[i] for i in numbered], dtype=torch.int32)
        sizes = torch.tensor([layout.n_cells[i] for i in numbered], dtype=torch.int32)
        self.register_buffer("first", first)
        self.register_buffer("cells", sizes)
        self._set_fill(marginals)

    def _set_fill(self, marginals: Marginals | None) -> None:
        """Find the mean look-up of each feature's numbers, for its levels."""
        owner = self.feature_of_column[self.n_numeric :]
        mixed = [i for i in self.numbered.tolist() if self.layout.n_levels[i]]
        if mixed and marginals is None:
            raise ValueError(
                "A spline map of features with numbers and levels needs marginals"
            )
        fill = torch.zeros(len(mixed), self.n_numeric, dtype=torch.float64)
        if marginals is not None and mixed:
            *knots, lower, upper = self._position(marginals.nodes)
            index = torch.stack(knots, 2)
            weight = torch.stack([lower, upper], 2)
            weight *= marginals.weights[:, self.numbered, None]
            for row, i in enumerate(mixed):
                place = self.numbered.tolist().index(i)
                own, mass = index[:, place].flatten(), weight[:, place].flatten()
                fill[row].index_add_(0, own, mass)
                number = marginals.nodes.codes[:, i] == NUMBER
                fill[row] /= marginals.weights[number, i].sum()
        rows = [k for k, i in enumerate(owner.tolist()) if i in mixed]
        by = [mixed.index(int(owner[k])) for k in rows]
        # single precision, as in training, so that a saved model scores the same
        self.register_buffer("fill", fill.float())
        self.register_buffer("filled", torch.tensor(rows, dtype=torch.long))
        self.register_buffer("filled_by", torch.tensor(by, dtype=torch.long))

    def table(self, weights: Tensor) -> Tensor:
        """Sum up within each feature: row k is the value at knot k + 1."""
        parts = []
        for start, features, cells in self.buckets:
            block = weights[start : start + features * cells]
            block = block.reshape(features, cells, *weights.shape[1:])
            parts.append(block.cumsum(1).flatten(0, 1))
        levels = weights[self.n_numeric :]
        if len(self.filled):
            numbers = torch.cat(parts)
            mean = (self.fill.to(weights) @ numbers.flatten(1)).unflatten(
                1, weights.shape[1:]
            )
            levels = levels.index_add(0, self.filled, mean[self.filled_by])
        return torch.cat([*parts, levels])

    def ensemble_sums(
        self,
        rows: Encoded,
        weights: Tensor,
        scale: ColumnScale,
        centre: Tensor,
        columns: Mapping[int, slice],
    ) -> dict[int, Tensor]:
        """Inner sums of every order; one look-up serves all."""
        table = CentredTable.apply(weights, scale, centre, self)  # type: ignore[no-untyped-call]
        index, weight = self._lookup(rows, table.dtype)
        index.append(index[0].new_full((len(rows), 1), self.n_columns))
        weight.append(table.new_ones(len(rows), 1))
        inner = look_up(torch.cat(index, 1), torch.cat(weight, 1), table)
        return {order: inner[:, :, part] for order, part in columns.items()}

    def _position(self, rows: Encoded) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Find the knots below and above each number: their rows and weights."""
        values, is_number = self._numbers(rows)
        position = values * self.cells
        cell = torch.minimum(position.floor().clamp_(min=0), self.cells - 1)
        fraction = position.sub_(cell)
        upper = cell.int() + self.first
        # below the first knot of a feature the running sum is 0
        inner = cell > 0
        lower = upper - inner.int()
        upper_weight = fraction * is_number
        lower_weight = (is_number - upper_weight) * inner
        return lower, upper, lower_weight, upper_weight

    def sums(
        self,
        rows: Encoded,
        order: int,  # noqa: ARG002 - phi is the same at every order
        table: Tensor,
    ) -> Tensor:
        """Sum ``<u, phi(x_i)>`` over features, numbers and levels at once."""
        indices, weights = self._lookup(rows, table.dtype)
        return look_up(torch.cat(indices, 1), torch.cat(weights, 1), table)

    def _lookup(
        self, rows: Encoded, dtype: torch.dtype
    ) -> tuple[list[Tensor], list[Tensor]]:
        """Table rows and weights of numbers and of levels, in parts of shape (n, k)."""
        lower, upper, *weights = self._position(rows)
        indices = [lower, upper]
        if len(self.levelled):
            level, one = self._level_index(rows, dtype)
            indices.append(level)
            weights.append(one)
        return indices, weights

    def numeric_scores(
        self,
        rows: Encoded,
        order: int,  # noqa: ARG002 - phi is the same at every order
        table: Tensor,
    ) -> Tensor:
        """Score each numbered feature: (n, d_numbered, M, q)."""
        lower, upper, *weights = self._position(rows)
        index = torch.stack([lower, upper], 2).flatten(0, 1)
        scores = look_up(index, torch.stack(weights, 2).flatten(0, 1), table)
        return scores.reshape(*lower.shape, *table.shape[1:])


class CentredTable(torch.autograd.Function):
    """Scaled running sums, and a last row that subtracts the training mean.

    One function, so that the dense weights are passed over as rarely as possible: in
    small batches these passes, not the rows, are what a step costs.
    """

    @staticmethod
    def forward(ctx, weights, scale, centre, feature_map):  # type: ignore[no-untyped-def]
        """Make the table of shape (P + 1, M, q) from weights, (P, M, q)."""
        ctx.scale, ctx.feature_map = scale, feature_map
        ctx.save_for_backward(centre)
        table = weights.new_empty(len(weights) + 1, *weights.shape[1:])
        body = table[:-1]
        scale.apply(weights, out=body)
        torch.mv(body.flatten(1).T, centre, out=table[-1].view(-1))
        table[-1].neg_()
        for start, features, cells in feature_map.buckets:
            block = body[start : start + features * cells]
            block = block.view(features, cells, *weights.shape[1:])
            torch.cumsum(block, dim=1, out=block)
        if len(feature_map.filled):
            n = feature_map.n_numeric
            flat = body.flatten(1)
            mean = feature_map.fill.to(weights) @ flat[:n]
            flat[n:].index_add_(0, feature_map.filled, mean[feature_map.filled_by])
        return table

    @staticmethod
    def backward(ctx, gradient):  # type: ignore[no-untyped-def]
        """Gradient of the weights from the table's."""
        (centre,) = ctx.saved_tensors
        feature_map = ctx.feature_map
        body = gradient[:-1]  # owned by this graph; changed in place
        if len(feature_map.filled):
            n = feature_map.n_numeric
            flat = body.flatten(1)
            mean = flat.new_zeros(len(feature_map.fill), flat.shape[1])
            mean.index_add_(0, feature_map.filled_by, flat[n:][feature_map.filled])
            flat[:n].addmm_(feature_map.fill.to(flat).T, mean)
        for start, features, cells in feature_map.buckets:
            part = body[start : start + features * cells]
            part = part.view(features, cells, *body.shape[1:])
            sums = torch.cumsum(part, dim=1)
            # sums from a column to the last: total - sums before it
            part[:, 0] = sums[:, -1]
            torch.sub(sums[:, -1:], sums[:, :-1], out=part[:, 1:])
        body.flatten(1).addr_(centre, gradient[-1].reshape(-1), alpha=-1)
        ctx.scale.apply(body, out=body)
        return body, None, None, None
