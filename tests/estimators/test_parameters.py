"""Parameters that make no sense are refused before any work, by name and value."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from spam_core import DNNRegressor, SPAMClassifier, SPAMRegressor

X = pd.DataFrame({"a": np.arange(30.0), "b": np.arange(30.0) % 7})
Y = X["a"] - X["b"]

SPAM_ERRORS: list[tuple[dict[str, Any], str]] = [
    ({"order": 0}, "order must be an integer in 1..4, got 0"),
    ({"order": 5}, "order must be an integer in 1..4, got 5"),
    ({"order": 2.0}, "order must be an integer in 1..4, got 2.0"),
    ({"order": True}, "order must be an integer in 1..4, got True"),
    ({"rank": 0}, "rank must be a positive integer, got 0"),
    ({"rank": 2.5}, "rank must be a positive integer, got 2.5"),
    (
        {"order": 3, "rank": [4]},
        "rank must be one integer or one for each of the orders [2, 3], got [4]",
    ),
    (
        {"feature_map": "cubic"},
        "feature_map must be one of ['linear', 'neural', 'basis', 'spline'], got "
        "'cubic'",
    ),
    (
        {"scaling": "log"},
        "scaling must be one of ['quantile', 'minmax', 'maxabs', 'none'], got 'log'",
    ),
    ({"units": "tanh"}, "units must be one of ['relu', 'exu'], got 'tanh'"),
    (
        {"scaling": "maxabs"},
        'feature_map="spline" needs scaling "quantile" or "minmax", got \'maxabs\'',
    ),
    (
        {"nonnegative": True},
        'nonnegative=True needs feature_map="linear" and scaling="minmax", so that '
        "inputs are >= 0; got 'spline' and 'quantile'",
    ),
    (
        {"regularization": "none"},
        "regularization must be one of ['auto', 'keen', 'light', ",
    ),
    ({"n_members": 0}, "n_members must be a positive integer, got 0"),
    ({"n_subnets": 1.5}, "n_subnets must be a positive integer, got 1.5"),
    ({"n_knots": 0}, 'n_knots must be "auto" or a positive integer, got 0'),
    ({"basis_dropout": 1.0}, "basis_dropout must be in [0, 1), got 1.0"),
    ({"l1": -0.1}, "l1 must be a number >= 0, got -0.1"),
    ({"l1": "none"}, "l1 must be a number >= 0, got 'none'"),
    ({"weight_decay": "auto"}, "weight_decay must be a number >= 0, got 'auto'"),
    (
        {"special_values": {"z": [-9]}},
        "special_values names columns that the table doesn't have: ['z']",
    ),
]

DNN_ERRORS: list[tuple[dict[str, Any], str]] = [
    ({"dropout": -0.1}, "dropout must be in [0, 1), got -0.1"),
    ({"hidden_units": ()}, "hidden_units must be positive integers, one a layer, got"),
    ({"hidden_units": 64}, "hidden_units must be positive integers, one a layer, got"),
    ({"hidden_units": (8, 0)}, "hidden_units must be positive integers, one a layer"),
]

COMMON_ERRORS: list[tuple[dict[str, Any], str]] = [
    ({"batch_size": 0}, "batch_size must be a positive integer, got 0"),
    ({"batch_size": "big"}, "batch_size must be a positive integer, got 'big'"),
    ({"max_epochs": 0}, "max_epochs must be a positive integer, got 0"),
    ({"patience": 0}, "patience must be a positive integer, got 0"),
    ({"learning_rate": 0}, "learning_rate must be a number > 0, got 0"),
    ({"learning_rate": float("nan")}, "learning_rate must be a number > 0, got nan"),
    ({"weight_decay": -1}, "weight_decay must be a number >= 0, got -1"),
    ({"validation_fraction": 1}, "validation_fraction must be in [0, 1), got 1"),
    ({"validation_fraction": None}, "validation_fraction must be in [0, 1), got None"),
    ({"device": "tpu"}, 'device must be "auto", "cpu" or "cuda", got \'tpu\''),
]


def check(estimator: Any, parameters: dict[str, Any], message: str) -> None:
    estimator.set_params(**parameters)
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        estimator.fit(X, Y)
    assert not [name for name in vars(estimator) if name.endswith("_")]


def case_id(value: Any) -> str:
    return str(value) if isinstance(value, dict) else "-"


@pytest.mark.parametrize(("parameters", "message"), SPAM_ERRORS, ids=case_id)
def test_of_spam(parameters: dict[str, Any], message: str) -> None:
    check(SPAMRegressor(), parameters, message)


@pytest.mark.parametrize(("parameters", "message"), DNN_ERRORS, ids=case_id)
def test_of_the_network(parameters: dict[str, Any], message: str) -> None:
    check(DNNRegressor(), parameters, message)


@pytest.mark.parametrize(("parameters", "message"), COMMON_ERRORS, ids=case_id)
@pytest.mark.parametrize("make", [SPAMRegressor, DNNRegressor])
def test_of_both(make: Any, parameters: dict[str, Any], message: str) -> None:
    check(make(), parameters, message)


@pytest.mark.parametrize("callbacks", ["print", [1], 3])
@pytest.mark.parametrize("make", [SPAMRegressor, DNNRegressor])
def test_callbacks_must_be_functions(make: Any, callbacks: Any) -> None:
    with pytest.raises(TypeError, match=r"^callbacks must be a list of functions "):
        make(callbacks=callbacks).fit(X, Y)


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
def test_a_gpu_that_is_not_there() -> None:
    message = r'^device="cuda" was asked for, but PyTorch finds no GPU here\.$'
    for make in (SPAMClassifier, DNNRegressor):
        with pytest.raises(ValueError, match=message):
            make(device="cuda").fit(X, Y > 0)


def test_numbers_of_numpy_are_numbers() -> None:
    model = SPAMRegressor(
        np.int64(2),
        np.int32(3),
        n_members=np.int64(2),
        max_epochs=np.int64(2),
        learning_rate=np.float32(0.01),
        random_state=np.int64(0),
    ).fit(X, Y)
    plain = SPAMRegressor(
        2, 3, n_members=2, max_epochs=2, learning_rate=0.01, random_state=0
    ).fit(X, Y)
    np.testing.assert_allclose(model.predict(X), plain.predict(X), rtol=1e-5)
