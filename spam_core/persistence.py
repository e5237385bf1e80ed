"""Save and load fitted models: tensors and JSON, nothing that runs.

A ``.spam`` file is a safetensors file. Its header holds one JSON document: schema
number, library version, the estimator's class and parameters, the encoder's levels and
the names of everything else; numbers that must survive exactly are float64 tensors.
No training rows are inside. Pickles are never read.
"""

from __future__ import annotations

import json
import struct
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

import spam_core
from spam_core.data.encoding import Encoded, Feature, Marginals, TableEncoder
from spam_core.estimators import dnn, spam
from spam_core.models.baselines import DNN
from spam_core.models.feature_maps import FeatureMap, Layout, LinearMap
from spam_core.models.networks import BasisMap, NeuralMap
from spam_core.models.spam import SPAM
from spam_core.models.spline import SplineMap
from spam_core.training.regularization import Regularization

SCHEMA = 1
"""Number of the file format; files of another are refused."""

_CLASSES: dict[str, type] = {
    cls.__name__: cls
    for cls in (
        spam.SPAMRegressor,
        spam.SPAMClassifier,
        dnn.DNNRegressor,
        dnn.DNNClassifier,
    )
}
_SCALARS: dict[str, Callable[[Any], Any]] = {
    "str": str,
    "bool": bool,
    "int": int,
    "float": float,
}


class ModelFileError(ValueError):
    """A file isn't a model that this version can load."""


def save_model(model: Any, path: str | Path) -> None:
    """Write a fitted SPAM or DNN estimator to a ``.spam`` file.

    Parameters
    ----------
    model : SPAMRegressor, SPAMClassifier, DNNRegressor or DNNClassifier
        Fitted.
    path : str or Path
        An existing file is replaced, and only once the new one is complete.

    Raises
    ------
    TypeError
        If the estimator is of another class, or a level can't be written.
    sklearn.exceptions.NotFittedError
        If it isn't fitted.
    """
    name = type(model).__name__
    if type(model) not in _CLASSES.values():
        raise TypeError(f"Expected one of {list(_CLASSES)}, got {name}")
    tensors: dict[str, Tensor] = {}
    header: dict[str, Any] = {
        "schema": SCHEMA,
        "version": spam_core.__version__,
        "class": name,
        "feature_names": list(model.feature_names_),
        "parameters": _parameters(model),
        "encoder": _write_encoder(model.encoder_, tensors),
        "model": _write_model(model.model_, tensors),
        "fitted": {
            "history_": model.history_,
            "n_iter_": model.n_iter_,
            "validation_loss_": model.validation_loss_,
            "target_name_": model.target_name_,
            "training_seconds_": model.training_seconds_,
            "n_features_in_": model.n_features_in_,
        },
    }
    if hasattr(model, "feature_names_in_"):
        header["feature_names_in_"] = True
    if hasattr(model, "classes_"):
        header["classes"] = _write_array(model.classes_)
    if hasattr(model, "regularization_"):
        header["regularization"] = vars(model.regularization_)
    for key, value in model.saved_arrays().items():
        tensors[f"array.{key}"] = torch.from_numpy(np.ascontiguousarray(value))
    path = Path(path)
    temporary = path.with_name(path.name + ".part")
    save_file(
        {key: value.contiguous().clone() for key, value in tensors.items()},
        temporary,
        metadata={"spam": json.dumps(header, allow_nan=True)},
    )
    temporary.replace(path)


def load_model(path: str | Path) -> Any:
    """Load what `save_model` wrote; predictions and terms are equal bit for bit.

    Parameters
    ----------
    path : str or Path
        A ``.spam`` file, also from an untrusted source: nothing in it is run.

    Returns
    -------
    The fitted estimator, on the CPU.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ModelFileError
        If it is something else, damaged, or of another schema.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"No model file at {str(path)!r}")
    try:
        with safe_open(path, framework="pt", device="cpu") as file:
            metadata = file.metadata() or {}
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
        header = json.loads(metadata["spam"])
        schema, version = header["schema"], header["version"]
    except (SafetensorError, KeyError, TypeError, ValueError, struct.error) as error:
        raise ModelFileError(
            f"{path.name!r} isn't a .spam model file: expected safetensors with a SPAM "
            "header. Other formats, such as pickles, are never read, since loading "
            "them would run code."
        ) from error
    if schema != SCHEMA:
        raise ModelFileError(
            f"{path.name!r} has schema {schema} (written by spam_core {version}); this "
            f"is spam_core {spam_core.__version__}, which reads schema {SCHEMA}."
        )
    if version != spam_core.__version__:
        warnings.warn(
            f"{path.name!r} was written by spam_core {version}; this is "
            f"{spam_core.__version__}. The schema is the same.",
            UserWarning,
            stacklevel=2,
        )
    try:
        return _read_estimator(header, tensors)
    except (KeyError, TypeError, IndexError, RuntimeError, ValueError) as error:
        raise ModelFileError(f"{path.name!r} is damaged: {error}") from error


def _read_estimator(header: dict[str, Any], tensors: dict[str, Tensor]) -> Any:
    cls = _CLASSES[header["class"]]
    parameters = dict(header["parameters"])
    if isinstance(parameters.get("regularization"), dict):
        parameters["regularization"] = Regularization(**parameters["regularization"])
    for key in ("rank", "hidden_units"):
        if isinstance(parameters.get(key), list):
            parameters[key] = tuple(parameters[key])
    model = cls(**parameters)
    encoder = _read_encoder(header["encoder"], tensors)
    fitted = dict(header["fitted"])
    if "classes" in header:
        fitted["classes_"] = _read_array(header["classes"])
    if "regularization" in header:
        fitted["regularization_"] = Regularization(**header["regularization"])
    if header.get("feature_names_in_"):
        fitted["feature_names_in_"] = np.array(encoder.feature_names, dtype=object)
    fitted["encoder_"] = encoder
    fitted["model_"] = _read_model(header["model"], tensors, encoder)
    for key, value in fitted.items():
        setattr(model, key, value)
    prefix = "array."
    model.restore_arrays(
        {
            key[len(prefix) :]: value.numpy()
            for key, value in tensors.items()
            if key.startswith(prefix)
        }
    )
    return model


def _parameters(model: Any) -> dict[str, Any]:
    """Return constructor arguments; hooks and generators don't outlive a process."""
    result: dict[str, Any] = {}
    for key, value in model.get_params(deep=False).items():
        if key == "callbacks" or (
            key == "random_state" and not isinstance(value, int | np.integer)
        ):
            result[key] = None
        elif isinstance(value, Regularization):
            result[key] = vars(value)
        elif isinstance(value, np.generic):
            result[key] = value.item()
        elif key == "special_values" and value is not None:
            result[key] = {str(k): [float(x) for x in v] for k, v in value.items()}
        else:
            result[key] = list(value) if isinstance(value, tuple) else value
    return result


def _write_encoder(encoder: TableEncoder, tensors: dict[str, Tensor]) -> dict[str, Any]:
    features = []
    for i, feature in enumerate(encoder.features):
        tensors[f"knots.{i}"] = torch.from_numpy(feature.knots.copy())
        features.append(
            {
                "name": feature.name,
                "kind": feature.kind,
                "levels": [_write_scalar(level) for level in feature.levels],
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


def _read_encoder(header: dict[str, Any], tensors: dict[str, Tensor]) -> TableEncoder:
    encoder = TableEncoder(
        header["n_knots"], header["scaling"], None, header["fine_marginals"]
    )
    encoder.named = header["named"]
    features = []
    for i, entry in enumerate(header["features"]):
        levels = tuple(_read_scalar(level) for level in entry.pop("levels"))
        knots = tensors[f"knots.{i}"].numpy()
        special = tuple(float(code) for code in entry.pop("special"))
        features.append(Feature(levels=levels, knots=knots, special=special, **entry))
    encoder.features = tuple(features)
    nodes = Encoded(tensors["marginals.values"], tensors["marginals.codes"])
    encoder.marginals = Marginals(nodes, tensors["marginals.weights"])
    return encoder


def _write_model(model: Any, tensors: dict[str, Tensor]) -> dict[str, Any]:
    if isinstance(model, dnn.ScoringDNN):
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
        tensors[f"weights.{order}"] = weights
    for order, lam in model.member_lam.items():
        tensors[f"lam.{order}"] = lam
    feature_map = model.feature_map
    for key, value in feature_map.named_parameters():
        tensors[f"map.{key}"] = value.detach()
    header: dict[str, Any] = {
        "kind": "spam",
        "map": type(feature_map).__name__,
        "joint": model.joint,
    }
    if isinstance(feature_map, NeuralMap | BasisMap):
        header["map_settings"] = feature_map.settings
    return header


def _read_model(
    header: dict[str, Any], tensors: dict[str, Tensor], encoder: TableEncoder
) -> Any:
    layout, generator = Layout.of(encoder.features), torch.Generator()
    if header["kind"] == "dnn":
        network = DNN(layout, header["hidden"], header["n_outputs"], generator).double()
        network.load_state_dict(_named(tensors, "network."), strict=False)
        return dnn.ScoringDNN(network.eval(), header["offset"], header["factor"])
    weights = {int(k): v for k, v in _named(tensors, "weights.").items()}
    lam = {int(k): v for k, v in _named(tensors, "lam.").items()}
    makers: dict[str, Callable[[], FeatureMap]] = {
        "LinearMap": lambda: LinearMap(layout),
        "SplineMap": lambda: SplineMap(layout),
        "NeuralMap": lambda: NeuralMap(
            layout, generator=generator, **header["map_settings"]
        ),
        "BasisMap": lambda: BasisMap(
            layout, generator=generator, **header["map_settings"]
        ),
    }
    feature_map = makers[header["map"]]().double()
    feature_map.load_state_dict(_named(tensors, "map."), strict=False)
    expected = feature_map.n_columns
    for order, value in weights.items():
        if len(value) != expected:
            raise ValueError(
                f"order {order} has {len(value)} columns, expected {expected}"
            )
    return SPAM(
        feature_map, tensors["bias"], weights, lam, encoder.marginals, header["joint"]
    )


def _named(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {
        key[len(prefix) :]: value
        for key, value in sorted(tensors.items())
        if key.startswith(prefix)
    }


def _write_scalar(value: Any) -> list[Any]:
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


def _read_scalar(tagged: list[Any]) -> Any:
    if tagged[0] == "none":
        return None
    if tagged[0] == "timestamp":
        return pd.Timestamp(tagged[1])
    return _SCALARS[tagged[0]](tagged[1])


def _write_array(values: np.ndarray[Any, Any]) -> dict[str, Any]:
    return {
        "dtype": "object" if values.dtype == object else values.dtype.str,
        "values": [_write_scalar(value) for value in values],
    }


def _read_array(header: dict[str, Any]) -> np.ndarray[Any, Any]:
    values = [_read_scalar(value) for value in header["values"]]
    dtype = np.dtype(header["dtype"])
    if dtype.kind not in "biufUO":
        raise ValueError(f"labels of type {dtype}")
    return np.array(values, dtype=dtype)
