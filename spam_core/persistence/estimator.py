"""From a fitted estimator to a JSON header and tensors, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from spam_core.estimators import cart, dnn, ebm, linear, na2m, nam, spam, xgboost_
from spam_core.persistence.parts import (
    named,
    read_array,
    read_encoder,
    read_model,
    write_array,
    write_encoder,
    write_model,
)
from spam_core.persistence.trees import (
    TREE_KINDS,
    TREE_MODELS,
    read_trees,
    write_trees,
)
from spam_core.training.regularization import Regularization

_CLASSES: dict[str, type] = {
    cls.__name__: cls
    for cls in (
        spam.SPAMRegressor,
        spam.SPAMClassifier,
        dnn.DNNRegressor,
        dnn.DNNClassifier,
        linear.LinearRegressor,
        linear.LinearClassifier,
        na2m.NA2MRegressor,
        na2m.NA2MClassifier,
        nam.NAMRegressor,
        nam.NAMClassifier,
        ebm.EBMRegressor,
        ebm.EBMClassifier,
        xgboost_.XGBoostRegressor,
        xgboost_.XGBoostClassifier,
        cart.CARTRegressor,
        cart.CARTClassifier,
    )
}
_FITTED = (
    "history_",
    "n_iter_",
    "validation_loss_",
    "target_name_",
    "training_seconds_",
    "n_features_in_",
)
_OF_SOME = ("ccp_alpha_", "n_leaves_", "l2_", "l1_")


def write_estimator(model: Any) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Return what a file must hold of a fitted estimator.

    Raises
    ------
    TypeError
        If the estimator is of another class, or a level or a label can't be written.
    sklearn.exceptions.NotFittedError
        If it isn't fitted.
    """
    name = type(model).__name__
    if type(model) not in _CLASSES.values():
        raise TypeError(f"Expected one of {list(_CLASSES)}, got {name}")
    tensors: dict[str, Tensor] = {}
    header: dict[str, Any] = {
        "class": name,
        "feature_names": list(model.feature_names_),
        "parameters": _write_parameters(model),
        "encoder": write_encoder(model.encoder_, tensors),
        "model": _write_model(model.model_, tensors),
        "fitted": {key: getattr(model, key) for key in _FITTED}
        | {key: getattr(model, key) for key in _OF_SOME if hasattr(model, key)},
        "named": hasattr(model, "feature_names_in_"),
    }
    if hasattr(model, "classes_"):
        header["classes"] = write_array(model.classes_)
    if hasattr(model, "regularization_"):
        header["regularization"] = vars(model.regularization_)
    for key, value in model.saved_arrays().items():
        tensors[f"array.{key}"] = torch.from_numpy(np.ascontiguousarray(value))
    return header, tensors


def read_estimator(header: dict[str, Any], tensors: dict[str, Tensor]) -> Any:
    """Return the estimator that `write_estimator` was given.

    Raises
    ------
    AttributeError, IndexError, KeyError, RuntimeError, TypeError, ValueError
        If header and tensors aren't what it writes.
    """
    parameters = dict(header["parameters"])
    if isinstance(parameters.get("regularization"), dict):
        parameters["regularization"] = Regularization(**parameters["regularization"])
    for key in ("rank", "hidden_units"):
        if isinstance(parameters.get(key), list):
            parameters[key] = tuple(parameters[key])
    model = _CLASSES[header["class"]](**parameters)
    encoder = read_encoder(header["encoder"], tensors)
    known = header["fitted"]
    fitted = {key: known[key] for key in _FITTED}
    fitted |= {key: known[key] for key in _OF_SOME if key in known}
    if "classes" in header:
        fitted["classes_"] = read_array(header["classes"])
    if "regularization" in header:
        fitted["regularization_"] = Regularization(**header["regularization"])
    if header["named"]:
        fitted["feature_names_in_"] = np.array(encoder.feature_names, dtype=object)
    fitted["encoder_"] = encoder
    if header["model"]["kind"] in TREE_KINDS:
        n_jobs = parameters.get("n_jobs")
        fitted["model_"] = read_trees(header["model"], tensors, encoder, n_jobs)
    else:
        fitted["model_"] = read_model(header["model"], tensors, encoder)
    for key, value in fitted.items():
        setattr(model, key, value)
    arrays = named(tensors, "array.")
    model.restore_arrays({key: value.numpy() for key, value in arrays.items()})
    return model


def _write_model(model: Any, tensors: dict[str, Tensor]) -> dict[str, Any]:
    write = write_trees if isinstance(model, TREE_MODELS) else write_model
    return write(model, tensors)


def _write_parameters(model: Any) -> dict[str, Any]:
    """Return constructor arguments; hooks and generators don't outlive a process."""
    result: dict[str, Any] = {}
    for key, value in model.get_params(deep=False).items():
        if key == "callbacks" or (
            key == "random_state" and not isinstance(value, int | np.integer)
        ):
            result[key] = None
        elif isinstance(value, Regularization):
            result[key] = vars(value)
        elif key == "special_values" and value is not None:
            result[key] = {str(k): [_plain(x) for x in v] for k, v in value.items()}
        elif isinstance(value, list | tuple):
            result[key] = [_plain(item) for item in value]
        else:
            result[key] = _plain(value)
    return result


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
