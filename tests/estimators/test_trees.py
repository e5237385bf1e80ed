"""What all models of trees have in common: names, files, odd tables, parameters."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from spam_core import (
    CARTRegressor,
    XGBoostRegressor,
    load_model,
    make_model,
)
from spam_core.estimators import MODELS
from spam_core.explain import explain_kernel_shap, explain_lime
from spam_core.explain.enumeration import explain_by_enumeration
from spam_core.persistence import ModelFileError
from spam_core.training.splits import held_out
from tests.estimators.test_ebm import scores
from tests.explain.tables import TASKS, odd_rows, table, target

NAMES = ("ebm", "ebm-2", "xgboost", "cart")
QUICK: dict[str, dict[str, Any]] = {
    "ebm": {"outer_bags": 2, "max_rounds": 30, "n_jobs": 1},
    "ebm-2": {"outer_bags": 2, "max_rounds": 30, "n_jobs": 1},
    "xgboost": {"n_estimators": 60, "n_jobs": 1},
    "cart": {},
}
CODES = {"months": [-9.0]}

pytestmark = pytest.mark.filterwarnings("ignore:These columns are constant:UserWarning")


def make(name: str, task: Any, **settings: Any) -> Any:
    return make_model(name, task, **{**QUICK[name], "random_state": 0, **settings})


@pytest.mark.parametrize("name", ["xgboost", "cart"])
def test_groups_and_classes_are_held_out_as_for_all_models(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from spam_core.training import fit

    seen: list[Any] = []

    def watch(*args: Any) -> Any:
        seen.append(args)
        return held_out(*args)

    monkeypatch.setattr(fit, "held_out", watch)
    frame, y = table(), target(table(), "multiclass")
    groups = np.arange(len(frame)) // 4
    make(name, "multiclass", validation_fraction=0.25).fit(frame, y, groups=groups)
    ((n, members, fraction, _, strata, given_groups),) = seen
    assert (n, members, fraction) == (len(frame), 1, 0.25)
    np.testing.assert_array_equal(strata, np.unique(y, return_inverse=True)[1])
    np.testing.assert_array_equal(given_groups, groups)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", NAMES)
def test_models_by_name(name: str, task: str, tmp_path: Path) -> None:
    frame, y = table(), target(table(), task)
    model = make(name, task, special_values=CODES).fit(frame, y)
    assert MODELS[name].glass_box == hasattr(model, "explain_local")
    assert model.feature_names_ == tuple(frame.columns)
    assert model.n_features_in_ == 6
    assert model.target_name_ == y.name
    assert model.training_seconds_ > 0
    expected = scores(model, frame)
    assert expected.shape == (
        (len(frame), 3) if task == "multiclass" else (len(frame),)
    )
    assert expected.dtype == np.float64
    np.testing.assert_array_equal(scores(model, frame.iloc[[4]]), expected[[4]])
    np.testing.assert_array_equal(scores(model, frame.iloc[::-1, ::-1]), expected[::-1])
    if task == "regression":
        assert not hasattr(model, "decision_function")
    else:
        shares = model.predict_proba(frame)
        np.testing.assert_allclose(shares.sum(axis=1), 1)
        logits = np.log(shares) - np.log(shares).mean(axis=1, keepdims=True)
        if task == "binary":
            logits = np.log(shares[:, 1] / shares[:, 0])
        np.testing.assert_allclose(logits, expected, atol=1e-6)
    model.save(tmp_path / "m.spam")
    twin = load_model(tmp_path / "m.spam")
    assert type(twin) is type(model)
    assert twin.get_params() == model.get_params()
    with pytest.warns(UserWarning, match="Levels that training never saw"):
        odd = scores(model, odd_rows())
    assert np.isfinite(odd).all()
    with pytest.warns(UserWarning, match="Levels that training never saw"):
        np.testing.assert_array_equal(scores(twin, odd_rows()), odd)
    np.testing.assert_array_equal(scores(twin, frame), expected)
    for attribute in (*OPTIONAL, "history_", "n_iter_", "validation_loss_"):
        none = "none"
        assert getattr(twin, attribute, none) == getattr(model, attribute, none)
    for copied in (copy.deepcopy(model), pickle.loads(pickle.dumps(twin))):
        np.testing.assert_array_equal(scores(copied, frame), expected)
    again = make(name, task, special_values=CODES).fit(frame, y)
    np.testing.assert_array_equal(scores(again, frame), expected)


OPTIONAL = ("ccp_alpha_", "n_leaves_")


@pytest.mark.parametrize("name", ["xgboost", "cart"])
def test_what_training_never_saw_is_missing(name: str) -> None:
    frame = table()
    y = target(frame, "regression")
    model = make(name, "regression", special_values={"months": [-9.0, -8.0]})
    model.fit(frame, y)
    rows = frame.iloc[[7, 7]].copy()
    rows["city"] = ["Rom", None]
    rows["months"] = [-8.0, np.nan]
    with pytest.warns(UserWarning, match=r"months: '-8.0', 'missing' .*city: 'Rom'"):
        one, other = model.predict(rows)
    assert one == other


@pytest.mark.parametrize("name", NAMES)
def test_weights(name: str) -> None:
    frame = table()
    X = pd.concat([frame, frame], ignore_index=True)
    y = np.r_[np.zeros(len(frame)), np.ones(len(frame))]
    weight = np.r_[np.full(len(frame), 3.0), np.ones(len(frame))]
    model = make(name, "regression").fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(model.predict(frame).mean(), 0.25, atol=0.05)
    weight[:5] = 0.0
    model.fit(X, y, sample_weight=weight)
    left_out = make(name, "regression").fit(X[5:], y[5:], sample_weight=weight[5:])
    np.testing.assert_allclose(model.predict(frame), left_out.predict(frame), rtol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_post_hoc_methods_explain_them(name: str) -> None:
    frame = table()
    model = make(name, "multiclass", special_values=CODES)
    model.fit(frame, target(frame, "multiclass"))
    rows, background = table(2, seed=4), table(15, seed=5)
    exact = explain_by_enumeration(model, rows, background)
    np.testing.assert_allclose(exact.score, model.decision_function(rows), atol=1e-6)
    estimate = explain_kernel_shap(model, rows, background, n_samples=2**5 - 2)
    np.testing.assert_allclose(estimate.values, exact.values, atol=1e-5)
    assert explain_lime(model, rows, background, n_samples=100).values.shape[0] == 2


@pytest.mark.parametrize("name", [name for name in NAMES if name != "xgboost"])
def test_a_sparse_table_is_refused(name: str) -> None:
    from scipy.sparse import csr_matrix

    with pytest.raises(TypeError, match=r"got a sparse matrix.*Pass a dense table"):
        make(name, "regression").fit(csr_matrix(np.eye(20)), np.arange(20.0))


@pytest.mark.parametrize("name", NAMES)
def test_a_table_that_says_nothing(name: str, tmp_path: Path) -> None:
    X = pd.DataFrame({"a": ["x"] * 40, "b": [1.0] * 40})
    y = np.repeat(["no", "yes"], [30, 10])
    model = make(name, "binary").fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 0.25, atol=0.03)
    model.save(tmp_path / "m.spam")
    np.testing.assert_array_equal(
        load_model(tmp_path / "m.spam").predict_proba(X), model.predict_proba(X)
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_widest_numbers(name: str) -> None:
    X = pd.DataFrame({"a": [-1e308, -1.0, 0.0, 1.0, 1e308] * 10})
    model = make(name, "regression").fit(X, X["a"] > 0)
    found = model.predict(X)
    assert np.isfinite(found).all()
    assert found[3:5].min() > found[:3].max()


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (XGBoostRegressor(0), "^n_estimators must be an integer >= 1, got 0$"),
        (XGBoostRegressor(max_depth=0), "^max_depth must be an integer >= 1, got 0$"),
        (XGBoostRegressor(subsample=1.5), r"^subsample must be in \(0, 1\], got 1.5$"),
        (XGBoostRegressor(reg_lambda=-1), "^reg_lambda must be a number >= 0, got -1$"),
        (XGBoostRegressor(learning_rate=np.nan), "^learning_rate must be a number > 0"),
        (XGBoostRegressor(early_stopping_rounds=0), "^early_stopping_rounds must be"),
        (XGBoostRegressor(n_jobs=1.5), "^n_jobs must be an integer but 0, or None"),
        (CARTRegressor(0), "^max_depth must be an integer >= 1, got 0$"),
        (CARTRegressor(min_samples_leaf=0.1), "^min_samples_leaf must be an integer"),
        (CARTRegressor(ccp_alpha=-0.1), "^ccp_alpha must be a number >= 0, got -0.1$"),
        (
            CARTRegressor(validation_fraction=1),
            r"^validation_fraction must be in \[0, 1\), got 1$",
        ),
    ],
    ids=str,
)
def test_parameters_that_make_no_sense(model: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        model.fit(np.eye(4), np.arange(4.0))


@pytest.mark.parametrize("name", NAMES)
def test_files_that_lack_a_part(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from spam_core.persistence import estimator

    X = np.random.default_rng(0).uniform(size=(50, 2))
    model = make(name, "regression").fit(X, X[:, 0])

    write = estimator.write_trees
    with monkeypatch.context() as patched:
        patched.setattr(
            estimator,
            "write_trees",
            lambda trees, tensors: _without(write, trees, tensors),
        )
        model.save(tmp_path / "m.spam")
    with pytest.raises(ModelFileError, match=r"'m.spam' is damaged"):
        load_model(tmp_path / "m.spam")


def _without(write: Any, trees: Any, tensors: Any) -> Any:
    header = write(trees, tensors)
    for part in ("xgboost", "tree.left", "single.1"):
        tensors.pop(part, None)
    return header
