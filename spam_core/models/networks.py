"""Feature maps that are small networks of one feature each: NAM and NBM."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal

import torch
from torch import Tensor, nn

from spam_core.data.encoding import Encoded
from spam_core.models.feature_maps import FeatureMap, Layout

Units = Literal["relu", "exu"]


class BatchedLinear(nn.Module):
    r"""Many small affine layers, one a network, in one batched product.

    Parameters
    ----------
    batch : tuple of int
        Leading shape: the networks.
    d_in, d_out : int
        Sizes of one layer.
    units : {"relu", "exu"}
        ExU (Agarwal et al., 2021) computes ``exp(w) (x - b)``, clipped to [0, 1]; it
        bends sharply, for jagged shapes.

    Notes
    -----
    Shape: (\*batch, n, d_in) to (\*batch, n, d_out).
    """

    def __init__(
        self,
        batch: tuple[int, ...],
        d_in: int,
        d_out: int,
        generator: torch.Generator,
        units: Units = "relu",
    ) -> None:
        super().__init__()
        self.units = units
        weight = torch.empty(*batch, d_in, d_out)
        bias = torch.empty(*batch, 1 if units == "relu" else d_in, d_out)
        if units == "relu":
            bound = 1 / math.sqrt(d_in)
            weight.uniform_(-bound, bound, generator=generator)
            bias.uniform_(-bound, bound, generator=generator)
        else:
            # the ExU paper: weights about 4 so that a unit spans a small interval
            weight.normal_(4.0, 0.5, generator=generator)
            bias.uniform_(0.0, 1.0, generator=generator)
        self.weight, self.bias = nn.Parameter(weight), nn.Parameter(bias)

    def forward(self, inputs: Tensor) -> Tensor:
        """Apply every layer to its own rows."""
        if self.units == "exu":  # d_in is 1: (x - b) exp(w), broadcast
            return ((inputs - self.bias) * self.weight.exp()).clamp(0, 1)
        return inputs @ self.weight + self.bias


class NetworkMap(FeatureMap):
    """Numbers pass small networks with `n_subnets` outputs; levels stay one-hot.

    Each order and member has networks of its own, all in batched products.
    """

    needs_members = True

    layers: nn.ModuleDict

    def __init__(
        self, layout: Layout, orders: Sequence[int], n_members: int, n_subnets: int
    ) -> None:
        numbered = [i for i, cells in enumerate(layout.n_cells) if cells]
        super().__init__(layout, [i for i in numbered for _ in range(n_subnets)])
        self.orders, self.n_members = tuple(orders), n_members
        self.n_subnets = n_subnets

    @property
    def settings(self) -> dict[str, Any]:
        """What, with a layout and a generator, makes a map of this shape."""
        return {
            "orders": self.orders,
            "n_members": self.n_members,
            "n_subnets": self.n_subnets,
        }

    def member(self, index: int) -> NetworkMap:
        """Return the map of one member."""
        one = copy.deepcopy(self)
        one.n_members = 1
        for parameter in one.parameters():
            parameter.data = parameter.data[index : index + 1]
        return one

    def phi(self, inputs: Tensor, order: int) -> Tensor:
        """Apply the networks: (n, d) to (M, d_numbered, n, n_subnets)."""
        raise NotImplementedError

    def _layers(self, order: int) -> list[nn.Module]:
        layers = self.layers[str(order)]
        assert isinstance(layers, nn.ModuleList)
        return list(layers)

    def _masked_phi(self, rows: Encoded, order: int) -> Tensor:
        values, is_number = self._numbers(rows)
        return self.phi(values, order) * is_number.T[None, :, :, None]

    def _by_feature(self, table: Tensor) -> Tensor:
        """Weights as (M, d_numbered, n_subnets, q)."""
        shape = (len(self.numbered), self.n_subnets, *table.shape[1:])
        return table.reshape(shape).permute(2, 0, 1, 3)

    def numeric_sums(self, rows: Encoded, order: int, table: Tensor) -> Tensor:
        """Sum the numeric columns: (n, M, q)."""
        phi = self._masked_phi(rows, order)
        flat = phi.permute(2, 0, 1, 3).flatten(2)  # (n, M, d * n_subnets)
        return torch.einsum("nmp,pmq->nmq", flat, table)

    def numeric_scores(self, rows: Encoded, order: int, table: Tensor) -> Tensor:
        """Score each numbered feature: (n, d_numbered, M, q)."""
        phi = self._masked_phi(rows, order)
        return (phi @ self._by_feature(table)).permute(2, 1, 0, 3)


class NeuralMap(NetworkMap):
    """SPAM-Neural (paper, section 3.2): a NAM's network for each feature.

    Parameters
    ----------
    hidden : sequence of int
        Hidden layers; the paper's are (64, 64, 32) with ReLU, or (1024,) with ExU.
    units : {"relu", "exu"}
        Units of the first layer.
    """

    def __init__(
        self,
        layout: Layout,
        orders: Sequence[int],
        n_members: int,
        generator: torch.Generator,
        n_subnets: int = 1,
        hidden: Sequence[int] = (64, 64, 32),
        units: Units = "relu",
    ) -> None:
        super().__init__(layout, orders, n_members, n_subnets)
        self.hidden, self.units = tuple(hidden), units
        batch = (n_members, len(self.numbered))
        self.layers = nn.ModuleDict()
        for order in orders:
            sizes = [1, *hidden, n_subnets]
            self.layers[str(order)] = nn.ModuleList(
                BatchedLinear(batch, a, b, generator, units if k == 0 else "relu")
                for k, (a, b) in enumerate(pairwise(sizes))
            )

    @property
    def settings(self) -> dict[str, Any]:
        """What, with a layout and a generator, makes a map of this shape."""
        return {**super().settings, "hidden": self.hidden, "units": self.units}

    def phi(self, inputs: Tensor, order: int) -> Tensor:
        """Apply the networks: (n, d) to (M, d_numbered, n, n_subnets)."""
        hidden = inputs.T[None, :, :, None]  # (1, d, n, 1)
        *inner, last = self._layers(order)
        for layer in inner:
            hidden = layer(hidden).relu()
        return last(hidden)  # type: ignore[no-any-return]


class BasisMap(NetworkMap):
    """NBM-SPAM: one network's bases for all features, mixed for each feature.

    Neural basis models (Radenovic et al., 2022): a shared network gives `n_bases`
    functions of one number; each feature mixes them into `n_subnets` outputs.
    """

    def __init__(
        self,
        layout: Layout,
        orders: Sequence[int],
        n_members: int,
        generator: torch.Generator,
        n_subnets: int = 1,
        hidden: Sequence[int] = (128, 64),
        n_bases: int = 50,
    ) -> None:
        super().__init__(layout, orders, n_members, n_subnets)
        self.hidden, self.n_bases = tuple(hidden), n_bases
        self.layers = nn.ModuleDict()
        self.mixing = nn.ParameterDict()
        for order in orders:
            sizes = [1, *hidden, n_bases]
            self.layers[str(order)] = nn.ModuleList(
                BatchedLinear((n_members,), a, b, generator) for a, b in pairwise(sizes)
            )
            mixing = torch.empty(n_members, len(self.numbered), n_bases, n_subnets)
            bound = 1 / math.sqrt(n_bases)
            mixing.uniform_(-bound, bound, generator=generator)
            self.mixing[str(order)] = nn.Parameter(mixing)

    @property
    def settings(self) -> dict[str, Any]:
        """What, with a layout and a generator, makes a map of this shape."""
        return {**super().settings, "hidden": self.hidden, "n_bases": self.n_bases}

    def phi(self, inputs: Tensor, order: int) -> Tensor:
        """Mix the bases: (n, d) to (M, d_numbered, n, n_subnets)."""
        n, d = inputs.shape
        hidden = inputs.T.reshape(1, d * n, 1)
        for layer in self._layers(order):
            hidden = layer(hidden).relu()
        bases = hidden.reshape(self.n_members, d, n, self.n_bases)
        mixed: Tensor = bases @ self.mixing[str(order)]
        return mixed
