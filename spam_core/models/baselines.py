"""Networks that are compared with SPAM."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from spam_core.data.encoding import NUMBER, Encoded
from spam_core.data.sparse import SparseRows
from spam_core.models.feature_maps import Layout
from spam_core.models.lookup import look_up_bags
from spam_core.models.networks import BatchedLinear

DNN_ARCHITECTURES: tuple[tuple[int, ...], ...] = (
    (128, 128, 64, 64, 64),
    (1024, 512, 512),
    (2048, 1024),
)
"""Hidden layers of the paper's three networks (appendix, Hyperparameters)."""


class DNN(nn.Module):
    """Fully connected ReLU network over scaled numbers and one-hot levels.

    Parameters
    ----------
    layout : Layout
        Sizes of the d features.
    hidden : sequence of int
        Units of the hidden layers.
    n_outputs : int
        C.
    generator : torch.Generator
        Draws weights and dropout masks.
    dropout : float
        After each hidden layer.
    n_members : int
        M networks trained side by side.

    Notes
    -----
    Shape: Encoded or SparseRows of n rows to (n, M, C). Of sparse rows only the cells
    that aren't 0 are touched, and they are no longer centred: 0 stays 0.
    """

    numbered: Tensor
    position: Tensor
    levelled: Tensor
    starts: Tensor

    def __init__(
        self,
        layout: Layout,
        hidden: Sequence[int],
        n_outputs: int,
        generator: torch.Generator,
        dropout: float = 0.0,
        n_members: int = 1,
    ) -> None:
        super().__init__()
        self.generator, self.dropout = generator, dropout
        self.n_members, self.n_outputs = n_members, n_outputs
        numbered = [i for i, cells in enumerate(layout.n_cells) if cells]
        levelled = [i for i, levels in enumerate(layout.n_levels) if levels]
        starts, position = [], len(numbered)
        for i in levelled:
            starts.append(position)
            position += layout.n_levels[i]
        self.width = position
        self.register_buffer("numbered", torch.tensor(numbered, dtype=torch.long))
        place = torch.full((len(layout.n_cells),), -1)
        place[numbered] = torch.arange(len(numbered))
        self.register_buffer("position", place)
        self.register_buffer("levelled", torch.tensor(levelled, dtype=torch.long))
        self.register_buffer("starts", torch.tensor(starts, dtype=torch.long))
        sizes = [max(position, 1), *hidden, n_outputs]
        self.layers = nn.ModuleList(
            BatchedLinear((n_members,), a, b, generator) for a, b in pairwise(sizes)
        )

    @property
    def bias(self) -> Tensor:
        """Bias of the last layer, (M, 1, C)."""
        bias = self.layers[-1].bias
        assert isinstance(bias, Tensor)
        return bias

    def inputs(self, rows: Encoded) -> Tensor:
        """One row of network inputs: numbers in [-1, 1], then one-hot levels."""
        values = rows.values[:, self.numbered]
        is_number = rows.codes[:, self.numbered] == NUMBER
        dense = values.new_zeros(len(rows), max(self.width, 1))
        # a missing or unknown number sits in the middle of the range
        dense[:, : len(self.numbered)] = (2 * values - 1) * is_number
        if len(self.levelled):
            codes = rows.codes[:, self.levelled]
            column = self.starts + codes.clamp(min=0)
            dense.scatter_(1, column, (codes >= 0).to(values.dtype))
        return dense

    def _first_layer(self, rows: Encoded | SparseRows) -> Tensor:
        """Apply the first layer to rows: (M, n, units)."""
        layer = self.layers[0]
        if not isinstance(rows, SparseRows):
            first: Tensor = layer(self.inputs(rows)[None])
            return first
        assert isinstance(layer, BatchedLinear)
        column = self.position[rows.columns]  # -1: it was 0 throughout training
        values = rows.values * (column >= 0)
        table = layer.weight.transpose(0, 1)
        sums = look_up_bags(column.clamp(min=0), rows.start[:-1], values, table)
        return sums.transpose(0, 1) + layer.bias

    def forward(self, rows: Encoded | SparseRows) -> Tensor:
        """Scores of shape (n, M, C)."""
        out = self._first_layer(rows)
        for layer in self.layers[1:]:
            hidden = out.relu()
            if self.training and self.dropout > 0:
                keep = 1 - self.dropout
                mask = torch.rand(
                    hidden.shape, generator=self.generator, device=hidden.device
                )
                hidden = hidden * (mask < keep) / keep
            out = layer(hidden)
        return out.permute(1, 0, 2)

    def project(self) -> None:
        """Nothing: all weights are feasible."""

    def shrink(self, amount: float) -> None:
        """Proximal L1 step on the weights of all layers."""
        with torch.no_grad():
            for layer in self.layers:
                weight = layer.weight
                assert isinstance(weight, Tensor)
                weight.copy_(weight.sign() * (weight.abs() - amount).clamp_(min=0))

    def penalize(self, factor: Tensor) -> None:
        """Nothing: decay is the optimiser's."""
