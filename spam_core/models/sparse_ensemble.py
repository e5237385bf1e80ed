"""SPAM-Linear of a sparse table while it is trained: only what rows hold is touched.

A step reads and changes the weights of the words that its rows hold, some thousands of
a hundred thousand. So weights are no ``nn.Parameter``: the step is worked out by
`SparseEnsemble.backward` and taken by the optimiser in `training.sparse`, rows of the
weight table alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass

import torch
from torch import Tensor

from spam_core.data.sparse import SparseRows
from spam_core.models.ensemble import _block_diagonal
from spam_core.models.feature_maps import LinearMap
from spam_core.models.lookup import look_up_bags
from spam_core.models.polynomial import polynomial, signed_root
from spam_core.models.spam import SPAM


@dataclass(frozen=True)
class Batch:
    """Cells of some rows, sorted by row and by column.

    Attributes
    ----------
    columns : Tensor of shape (U,)
        Columns of the weight table that the rows use, increasing.
    place, values : Tensor of shape (E,)
        Position in `columns` and number of each cell, row by row.
    row, start : Tensor of shape (E,), (n,)
        Row of each cell, and where the cells of each row start.
    by_column : Tensor of shape (E,)
        Positions of the cells, column by column.
    column_start : Tensor of shape (U,)
        Where the cells of each column start in `by_column`.
    """

    columns: Tensor
    place: Tensor
    values: Tensor
    row: Tensor
    start: Tensor
    by_column: Tensor
    column_start: Tensor

    @classmethod
    def of(cls, rows: SparseRows, column_of: Tensor) -> Batch:
        """Sort the cells of n rows, given each feature's column, -1 without one."""
        column = column_of[rows.columns]
        lengths = rows.start.diff()
        ordered, by_column = torch.sort(column.clamp(min=0), stable=True)
        columns, uses = torch.unique_consecutive(ordered, return_counts=True)
        place = torch.empty_like(by_column)
        place[by_column] = torch.arange(len(columns)).repeat_interleave(uses)
        return cls(
            columns,
            place,
            rows.values * (column >= 0),
            torch.arange(len(rows)).repeat_interleave(lengths),
            rows.start[:-1],
            by_column,
            uses.cumsum(0) - uses,
        )


class SparseEnsemble:
    """M polynomials over the columns of a sparse table, trained together.

    Parameters
    ----------
    feature_map : LinearMap
    ranks : mapping of order l >= 2 to int
        Components r_l of each order; empty for an additive model.
    n_members, n_outputs : int
        M and C.
    generator : torch.Generator
        Draws initial weights and dropout masks; global state isn't touched.
    shared_bases, basis_dropout
        As in `SPAMEnsemble`.

    Attributes
    ----------
    tables : dict of order l to Tensor of shape (P, M, R_l)
        Weights; those of a column lie together, so that a step reads long stretches.
    bias : Tensor of shape (M, C)
    lam : dict of order l >= 2 to Tensor of shape (M, C, r_l)
    """

    def __init__(
        self,
        feature_map: LinearMap,
        ranks: Mapping[int, int],
        n_members: int,
        n_outputs: int,
        generator: torch.Generator,
        *,
        shared_bases: bool = True,
        basis_dropout: float = 0.0,
        init_scale: float = 0.03,
    ) -> None:
        self.feature_map, self.generator = feature_map, generator
        self.n_members, self.n_outputs = n_members, n_outputs
        self.shared_bases, self.basis_dropout = shared_bases, basis_dropout
        size = feature_map.n_columns, n_members
        self.bias = torch.zeros(n_members, n_outputs, requires_grad=True)
        self.tables = {1: torch.zeros(*size, n_outputs)}
        self.lam: dict[int, Tensor] = {}
        for order, rank in ranks.items():
            width = rank if shared_bases else rank * n_outputs
            table = torch.empty(*size, width)
            self.tables[order] = table.normal_(0.0, init_scale, generator=generator)
            lam = torch.empty(n_members, n_outputs, rank)
            lam.uniform_(-(rank**-0.5), rank**-0.5, generator=generator)
            self.lam[order] = lam.requires_grad_()

    @classmethod
    def joined(cls, parts: Sequence[SparseEnsemble]) -> SparseEnsemble:
        """Return the members of several ensembles of one shape as one ensemble."""
        whole = copy(parts[0])
        whole.n_members = sum(part.n_members for part in parts)
        whole.bias = torch.cat([part.bias.detach() for part in parts])
        whole.tables = {
            order: torch.cat([part.tables[order] for part in parts], 1)
            for order in whole.tables
        }
        whole.lam = {
            order: torch.cat([part.lam[order].detach() for part in parts])
            for order in whole.lam
        }
        return whole

    @property
    def dense(self) -> list[Tensor]:
        """Parameters that every step changes: bias and lambda."""
        return [self.bias, *self.lam.values()]

    def sums(self, batch: Batch, tables: Mapping[int, Tensor]) -> dict[int, Tensor]:
        """Inner sums of each order, (n, M, R_l): leaves of the graph of `scores`.

        Parameters
        ----------
        batch : Batch of n rows and E cells
        tables : dict of order l to Tensor of shape (U, M, R_l)
            Weights of the batch's columns.
        """
        found = {}
        for order, table in tables.items():
            weight = signed_root(batch.values, order)
            bag = look_up_bags(batch.place, batch.start, weight, table)
            found[order] = bag.requires_grad_()
        return found

    def gradients(self, batch: Batch, sums: Mapping[int, Tensor]) -> dict[int, Tensor]:
        """Gradients of the batch's weights, (U, M, R_l), from those of the sums."""
        row, values = batch.row[batch.by_column], batch.values[batch.by_column]
        found = {}
        for order, value in sums.items():
            assert value.grad is not None, "after backward()"
            weight = signed_root(values, order)
            found[order] = look_up_bags(row, batch.column_start, weight, value.grad)
        return found

    @torch.no_grad()
    def score(self, rows: SparseRows) -> Tensor:
        """Scores of shape (n, M, C), without gradients or dropout."""
        column = self.feature_map.column_of[rows.columns]
        values = rows.values * (column >= 0)
        place = column.clamp(min=0)
        return self.scores(
            {
                order: look_up_bags(
                    place, rows.start[:-1], signed_root(values, order), table
                )
                for order, table in self.tables.items()
            }
        )

    def scores(self, sums: Mapping[int, Tensor], training: bool = False) -> Tensor:
        """Scores of shape (n, M, C) from the inner sums."""
        lam = {order: self._dropped(v, training) for order, v in self.lam.items()}
        if not self.shared_bases:
            lam = {order: _block_diagonal(value) for order, value in lam.items()}
        return polynomial(self.bias, sums, lam)

    def _dropped(self, lam: Tensor, training: bool) -> Tensor:
        if not (training and self.basis_dropout > 0):
            return lam
        keep = 1 - self.basis_dropout
        shape = (lam.shape[0], 1, lam.shape[2])
        return lam * (torch.rand(shape, generator=self.generator) < keep) / keep

    @torch.no_grad()
    def freeze(self, offset: float = 0.0, factor: float = 1.0) -> SPAM:
        """Return the members as one glass-box polynomial in float64.

        Parameters
        ----------
        offset, factor : float
            Undo the target's standardisation.
        """
        weights = {order: table.double() for order, table in self.tables.items()}
        # in float32, so that a file can hold it in half the bytes
        weights[1] = (self.tables[1] * factor).double()
        lam = {order: v.detach().double() * factor for order, v in self.lam.items()}
        if not self.shared_bases:
            lam = {order: _block_diagonal(value) for order, value in lam.items()}
        layout = self.feature_map.layout
        feature_map = LinearMap(layout, self.feature_map.rescale).double()
        bias = self.bias.detach().double() * factor + offset
        return SPAM(feature_map, bias, weights, lam)
