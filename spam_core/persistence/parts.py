"""Encoder, model and levels as a JSON header and tensors, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn

from spam_core.data.encoding import Encoded, Feature, Marginals, TableEncoder
from spam_core.data.sparse import SparseEncoder
from spam_core.estimators.dnn import ScoringDNN
from spam_core.models.baselines import DNN
from spam_core.models.feature_maps import FeatureMap, Layout, LinearMap
from spam_core.models.networks import BasisMap, NeuralMap
from spam_core.models.spam import SPAM
from spam_core.models.spline import SplineMap

_SCALARS: dict[str, Callable[[Any], Any]] = {
    "str": str,
    "bool": bool,
    "int": int,
    "float": float,
}


def write_encoder(
    encoder: TableEncoder | SparseEncoder, tensors: dict[str, Tensor]
) -> dict[str, Any]:
    """Put an encoder's numbers among `tensors`; return the rest."""
    if isinstance(encoder, SparseEncoder):
        tensors["largest"] = torch.from_numpy(encoder.largest)
        return {
            "sparse": True,
            "scaling": encoder.scaling,
            "size": encoder.size,
            "names": list(encoder.feature_names) if encoder.named else None,
        }
    features = []
    for i, feature in enumerate(encoder.features):
        tensors[f"knots.{i}"] = torch.from_numpy(feature.knots.copy())
        features.append(
            {
                "name": feature.name,
                "kind": feature.kind,
                "levels": [write_scalar(level) for level in feature.levels],
                "scale": feature.scale,
                "is_date": feature.is_date,
                "is_integer": feature.is_integer,
                "special": list(feature.special),
            }
        )
    tensors["marginals.values"] = encoder.marginals.nodes.values
    tensors["marginals.codes"] = encoder.marginals.nodes.codes
    tensors["marginals.weights"] = encoder.marginals.weights
    return {
        "features": features,
        "named": encoder.named,
        "n_knots": encoder.n_knots,
        "scaling": encoder.scaling,
        "fine_marginals": encoder.fine_marginals,
    }


def read_encoder(
    header: dict[str, Any], tensors: dict[str, Tensor]
) -> TableEncoder | SparseEncoder:
    """Return the encoder that `write_encoder` was given."""
    if header.get("sparse"):
        sparse = SparseEncoder(header["scaling"])
        largest = tensors["largest"].numpy()
        sparse.set_columns(largest, float(header["size"]), header["names"])
        return sparse
    encoder = TableEncoder(
        header["n_knots"], header["scaling"], None, header["fine_marginals"]
    )
    encoder.named = header["named"]
    features = []
    for i, entry in enumerate(header["features"]):
        levels = tuple(read_scalar(level) for level in entry.pop("levels"))
        knots = tensors[f"knots.{i}"].numpy()
        special = tuple(float(code) for code in entry.pop("special"))
        features.append(Feature(levels=levels, knots=knots, special=special, **entry))
    encoder.features = tuple(features)
    nodes = Encoded(tensors["marginals.values"], tensors["marginals.codes"])
    encoder.marginals = Marginals(nodes, tensors["marginals.weights"])
    return encoder


def write_model(model: Any, tensors: dict[str, Tensor]) -> dict[str, Any]:
    """Put a model's numbers among `tensors`; return the rest."""
    if isinstance(model, ScoringDNN):
        network = model.network
        for key, value in network.named_parameters():
            tensors[f"network.{key}"] = value.detach()
        hidden = [int(layer.weight.shape[-1]) for layer in list(network.layers)[:-1]]  # type: ignore[index]
        return {
            "kind": "dnn",
            "hidden": hidden,
            "n_outputs": network.n_outputs,
            "offset": model.offset,
            "factor": model.factor,
        }
    assert isinstance(model, SPAM)
    tensors["bias"] = model.member_bias
    for order, weights in model.member_weights.items():
        tensors[f"weights.{order}"] = _shortest(weights)
    for order, lam in model.member_lam.items():
        tensors[f"lam.{order}"] = lam
    feature_map = model.feature_map
    for key, value in feature_map.named_parameters():
        tensors[f"map.{key}"] = value.detach()
    header: dict[str, Any] = {
        "kind": "spam",
        "map": type(feature_map).__name__,
        "joint": model.joint,
        "orders": [int(order) for order in model.orders],
    }
    if isinstance(feature_map, LinearMap | NeuralMap | BasisMap):
        header["map_settings"] = feature_map.settings
    return header


def read_model(
    header: dict[str, Any],
    tensors: dict[str, Tensor],
    encoder: TableEncoder | SparseEncoder,
) -> Any:
    """Return the model that `write_model` was given."""
    layout, generator = Layout.of(encoder.features), torch.Generator()
    _check_sizes(header, tensors)
    if header["kind"] == "dnn":
        network = DNN(layout, header["hidden"], header["n_outputs"], generator).double()
        _fill(network, named(tensors, "network."))
        return ScoringDNN(network.eval(), header["offset"], header["factor"])
    weights = {int(k): v.double() for k, v in named(tensors, "weights.").items()}
    lam = {int(k): v for k, v in named(tensors, "lam.").items()}
    makers: dict[str, Callable[[], FeatureMap]] = {
        "LinearMap": lambda: LinearMap(layout, **header.get("map_settings", {})),
        "SplineMap": lambda: SplineMap(layout, encoder.marginals),
        "NeuralMap": lambda: NeuralMap(
            layout, generator=generator, **header["map_settings"]
        ),
        "BasisMap": lambda: BasisMap(
            layout, generator=generator, **header["map_settings"]
        ),
    }
    feature_map = makers[header["map"]]().double()
    _fill(feature_map, named(tensors, "map."))
    _check_shapes(header["orders"], tensors["bias"], weights, lam, feature_map)
    return SPAM(
        feature_map, tensors["bias"], weights, lam, encoder.marginals, header["joint"]
    )


def _shortest(weights: Tensor) -> Tensor:
    """Return weights in float32 if that holds them exactly: half the file."""
    short = weights.float()
    return short if torch.equal(short.double(), weights) else weights


def _fill(module: nn.Module, tensors: dict[str, Tensor]) -> None:
    """Set every parameter; one that the file lacks would stay a random draw."""
    parameters = dict(module.named_parameters())
    if parameters.keys() != tensors.keys():
        odd = sorted(parameters.keys() ^ tensors.keys())
        raise ValueError(f"tensors are missing or not wanted: {odd}")
    with torch.no_grad():
        for key, parameter in parameters.items():
            if parameter.shape != tensors[key].shape:
                raise ValueError(
                    f"tensor {key} has shape {tuple(tensors[key].shape)}, expected "
                    f"{tuple(parameter.shape)}"
                )
            parameter.copy_(tensors[key])


def _check_shapes(
    orders: list[int],
    bias: Tensor,
    weights: dict[int, Tensor],
    lam: dict[int, Tensor],
    feature_map: FeatureMap,
) -> None:
    if sorted(weights) != sorted(orders) or sorted([1, *lam]) != sorted(orders):
        raise ValueError(
            f"expected factors of orders {orders}, got bases of {sorted(weights)} and "
            f"lambda of {sorted(lam)}"
        )
    outputs = bias.shape[1]
    for order, value in weights.items():
        width = lam[order].shape[2] if order > 1 else outputs
        if value.shape[::2] != (feature_map.n_columns, width):
            raise ValueError(
                f"bases of order {order} have shape {tuple(value.shape)}, expected "
                f"({feature_map.n_columns}, members, {width})"
            )


def _check_sizes(header: dict[str, Any], tensors: dict[str, Tensor]) -> None:
    """Refuse sizes that no tensor of the file has, before memory is asked for."""
    settings = header.get("map_settings", {})
    sizes = [header.get("n_outputs", 1), *header.get("hidden", ())]
    sizes += [settings.get("n_subnets", 1), settings.get("n_bases", 1)]
    sizes += [settings.get("n_members", 1), *settings.get("hidden", ())]
    largest = max(max(value.shape, default=1) for value in tensors.values())
    if any(not 1 <= int(size) <= largest for size in sizes):
        raise ValueError(f"sizes {sizes} that its tensors don't have")


def named(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """Tensors whose names begin with a prefix, without it."""
    return {
        key[len(prefix) :]: value
        for key, value in sorted(tensors.items())
        if key.startswith(prefix)
    }


def write_scalar(value: Any) -> list[Any]:
    """Write a value with its type: ``2`` and ``2.0`` and ``"2"`` stay apart."""
    if value is None:
        return ["none"]
    if isinstance(value, pd.Timestamp):
        return ["timestamp", value.isoformat()]
    value = value.item() if isinstance(value, np.generic) else value
    name = type(value).__name__
    if name not in _SCALARS:
        raise TypeError(f"Levels must be text, numbers or booleans, got {value!r}")
    return [name, value]


def read_scalar(tagged: list[Any]) -> Any:
    """Return the value that `write_scalar` was given."""
    if tagged[0] == "none":
        return None
    if tagged[0] == "timestamp":
        return pd.Timestamp(tagged[1])
    return _SCALARS[tagged[0]](tagged[1])


def write_array(values: np.ndarray[Any, Any]) -> dict[str, Any]:
    """Write labels with their type.

    Raises
    ------
    TypeError
        If they are neither text, numbers nor booleans.
    """
    if values.dtype.kind not in "biufUO":
        raise TypeError(
            f"Labels must be text, numbers or booleans to be saved, got {values.dtype}"
        )
    return {
        "dtype": "object" if values.dtype == object else values.dtype.str,
        "values": [write_scalar(value) for value in values],
    }


def read_array(header: dict[str, Any]) -> np.ndarray[Any, Any]:
    """Return the labels that `write_array` was given."""
    values = [read_scalar(value) for value in header["values"]]
    dtype = np.dtype(header["dtype"])
    if dtype.kind not in "biufUO":
        raise ValueError(f"labels of type {dtype}")
    return np.array(values, dtype=dtype)
