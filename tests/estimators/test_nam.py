"""NAM: additive in its features, each class with shapes of its own."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import root_mean_squared_error
from sklearn.utils.estimator_checks import parametrize_with_checks

from spam_core import NAMClassifier, NAMRegressor, load_model, make_model
from tests.estimators.test_parameters import COMMON_ERRORS, case_id, check
from tests.estimators.test_sklearn import exceptions, without
from tests.explain.tables import TASKS, odd_rows, table, target

QUICK: dict[str, Any] = {
    "hidden_units": (8,),
    "n_members": 2,
    "max_epochs": 3,
    "random_state": 0,
}
TRAINED: dict[str, Any] = {"n_members": 2, "random_state": 0}

pytestmark = pytest.mark.filterwarnings(
    "ignore:These columns are constant:UserWarning",
    "ignore:Levels that training never saw:UserWarning",
)


@pytest.mark.parametrize("task", TASKS)
def test_terms_add_up_and_files_keep_all(task: Any, tmp_path: Path) -> None:
    frame, y = table(), target(table(), task)
    codes = {"months": [-9.0]}
    model = make_model("nam", task, special_values=codes, **QUICK).fit(frame, y)
    assert all(len(term) == 1 for term in model.explain_global().terms)
    path = tmp_path / "model.spam"
    model.save(path)
    loaded = load_model(path)
    score = "predict" if task == "regression" else "decision_function"
    expected = getattr(model, score)(odd_rows())
    np.testing.assert_array_equal(getattr(loaded, score)(odd_rows()), expected)
    for view in ("pure", "raw", "shapley"):
        explanation = loaded.explain_local(odd_rows(), view=view)
        total = explanation.base + explanation.values.sum(1)
        np.testing.assert_allclose(total, expected, rtol=1e-9, atol=1e-9)
    assert loaded.get_params() == model.get_params()


@pytest.mark.parametrize(
    ("settings", "shapes"),
    [
        ({}, [(1, 64), (64, 64), (64, 32), (32, 1)]),
        ({"units": "exu"}, [(1, 1024), (1024, 1)]),
    ],
    ids=["relu", "exu"],
)
def test_networks_of_the_paper(settings: Any, shapes: list[tuple[int, int]]) -> None:
    X = np.random.default_rng(0).random((40, 2))
    model = NAMRegressor(n_members=1, max_epochs=1, random_state=0, **settings)
    layers = model.fit(X, X[:, 0]).model_.feature_map.layers["1"]
    assert [tuple(layer.weight.shape[-2:]) for layer in layers] == shapes
    assert layers[0].units == model.units


def test_a_curve_is_learnt_and_a_product_is_not() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (600, 2))
    model = NAMRegressor((32, 16), n_members=2, random_state=0)
    new = rng.uniform(-0.9, 0.9, (200, 2))
    curve, product = (lambda X: np.abs(X[:, 0])), (lambda X: X[:, 0] * X[:, 1])
    found = model.fit(X, curve(X)).predict(new)
    assert root_mean_squared_error(curve(new), found) < 0.06
    found = model.fit(X, product(X)).predict(new)
    assert root_mean_squared_error(product(new), found) > 0.2


def test_classes_have_shapes_of_their_own() -> None:
    frame, y = table(), target(table(), "multiclass")
    model = make_model("nam", "multiclass", **QUICK).fit(frame, y)
    assert model.n_subnets == 1  # fitting leaves the estimator's settings alone
    assert model.model_.feature_map.n_subnets == 3
    curves = np.asarray(model.explain_global().curve("size").y)
    curves = curves.reshape(-1, 3) if curves.shape[-1] == 3 else curves.T
    size = np.linalg.svd(curves - curves.mean(0), compute_uv=False)
    assert size[1] > 1e-4 * size[0]  # with one network they would be multiples


def test_the_output_penalty_makes_terms_smaller() -> None:
    frame, y = table(), target(table(), "regression")
    free, held = (
        NAMRegressor(**{**QUICK, "max_epochs": 20}, output_penalty=weight)
        .fit(frame, y)
        .explain_global("raw")
        .importance.sum()
        for weight in (0.0, 100.0)
    )
    assert held < 0.5 * free


def test_feature_dropout_spreads_the_effect_over_columns_that_agree() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, 400)
    X = np.stack([x, x + 0.05 * rng.normal(size=400)], axis=1)
    settings: dict[str, Any] = {**QUICK, "max_epochs": 20}
    plain = NAMRegressor(**settings).fit(X, x)
    spread = NAMRegressor(**settings, feature_dropout=0.5).fit(X, x)
    sizes = [model.explain_global().sd for model in (plain, spread)]
    shares = [size.min() / size.max() for size in sizes]
    assert shares[1] > shares[0]
    np.testing.assert_array_equal(spread.predict(X), spread.predict(X))


def test_terms_that_are_summed_one_by_one_are_the_same_sum() -> None:
    frame, y = table(), target(table(), "multiclass")
    plain, told = (
        make_model("nam", "multiclass", output_penalty=weight, **QUICK).fit(frame, y)
        for weight in (0.0, 1e-12)
    )
    found = plain.decision_function(frame)
    np.testing.assert_allclose(told.decision_function(frame), found, atol=1e-4)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"output_penalty": -1}, "output_penalty must be a number >= 0, got -1"),
        ({"feature_dropout": 1.0}, "feature_dropout must be in [0, 1), got 1.0"),
        ({"units": "tanh"}, "units must be one of ['relu', 'exu'], got 'tanh'"),
        ({"hidden_units": 64}, "hidden_units must be positive integers, one a layer"),
        *COMMON_ERRORS,
    ],
    ids=case_id,
)
def test_parameters(parameters: dict[str, Any], message: str) -> None:
    check(NAMRegressor(), parameters, message)


def test_what_is_fixed_is_no_parameter() -> None:
    with pytest.raises(TypeError, match=re.escape("'order'")):
        NAMClassifier(order=2)  # type: ignore[call-arg]


@pytest.mark.slow
@pytest.mark.filterwarnings(
    # The checks fit tiny tables, on purpose; they are told.
    "ignore:.*too few to hold out:UserWarning",
    "ignore:These classes have a single row:UserWarning",
)
@without(
    "check_array_api_input",  # see test_sklearn
    parametrize_with_checks(
        [NAMRegressor((32, 16), **TRAINED), NAMClassifier((32, 16), **TRAINED)],
        expected_failed_checks=exceptions,
    ),
)
def test_checks_of_scikit_learn(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
