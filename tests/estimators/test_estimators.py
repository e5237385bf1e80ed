"""Fitting and predicting: every map, order and task; weights, labels, copies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from spam_core import (
    DNNClassifier,
    DNNRegressor,
    SPAMClassifier,
    SPAMRegressor,
    make_model,
)
from spam_core.estimators import MODELS
from spam_core.models.feature_maps import FEATURE_MAPS

N = 150
NAMES = ("spam", "spam-linear", "spam-neural", "nbm-spam", "dnn")
QUICK: dict[str, Any] = {"rank": 3, "n_members": 2, "random_state": 0}


def table() -> pd.DataFrame:
    rng = np.random.default_rng(30)
    X = pd.DataFrame(rng.uniform(-1, 1, (N, 2)), columns=["a", "b"])
    X["city"] = rng.choice(["Bonn", "Köln", "Ulm"], N)
    X.loc[[2, 3], "a"] = np.nan
    return X


def target(task: str) -> Any:
    X = table()
    score = X["a"].fillna(0) + 2 * X["b"] * (X["city"] == "Ulm")
    if task == "regression":
        return score
    labels = np.array(["low", "mid", "top"])
    cuts = [0.1] if task == "binary" else [-0.3, 0.4]
    return labels[np.digitize(score, cuts)]


def make(task: str, **settings: Any) -> Any:
    kind = SPAMRegressor if task == "regression" else SPAMClassifier
    return kind(**{**QUICK, **settings})


def scores(model: Any, X: Any) -> np.ndarray:
    name = "decision_function" if hasattr(model, "classes_") else "predict"
    return getattr(model, name)(X)  # type: ignore[no-any-return]


@pytest.mark.parametrize("task", ["regression", "binary", "multiclass"])
@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("feature_map", FEATURE_MAPS)
def test_every_map_order_and_task(feature_map: str, order: int, task: str) -> None:
    X, y = table(), target(task)
    model = make(
        task, order=order, feature_map=feature_map, hidden_units=(8,), max_epochs=4
    ).fit(X, y)
    n_outputs = 3 if task == "multiclass" else 1
    predicted, score = model.predict(X), scores(model, X)
    assert predicted.shape == (N,)
    assert score.shape == ((N, 3) if n_outputs == 3 else (N,))
    assert np.isfinite(score).all()
    if task != "regression":
        assert set(predicted) <= set(y)
    if task == "multiclass":
        np.testing.assert_allclose(score.sum(1), 0, atol=1e-9)  # centred logits
    assert model.model_.orders == tuple(range(1, order + 1))
    assert model.model_.n_outputs == n_outputs
    sizes = {k: w.shape for k, w in model.model_.member_weights.items()}
    assert all(sizes[k][1:] == (2, 3) for k in range(2, order + 1))
    assert model.n_parameters_ == model.model_.n_parameters
    explanation = model.explain_local(X)
    assert max(map(len, explanation.terms)) == min(order, 3)
    total = explanation.base + explanation.values.sum(1)
    np.testing.assert_allclose(total, score, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("feature_map", ["spline", "neural"])
@pytest.mark.parametrize("shared", [True, False])
def test_models_learn(feature_map: str, shared: bool) -> None:
    X, y = table(), target("multiclass")
    model = make(
        "multiclass",
        feature_map=feature_map,
        shared_bases=shared,
        hidden_units=(16,),
        learning_rate=0.02 if feature_map == "neural" else "auto",
    ).fit(X, y)
    first, last = model.history_[0], model.history_[-1]
    assert last["train_loss"] < 0.6 * first["train_loss"]
    assert model.score(X, y) > (0.65 if feature_map == "neural" else 0.85)
    assert model.training_seconds_ > 0
    assert model.validation_loss_ == min(e["validation_loss"] for e in model.history_)


@pytest.mark.parametrize("units", ["relu", "exu"])
def test_networks_of_every_unit(units: str) -> None:
    model = make(
        "regression",
        feature_map="neural",
        units=units,
        n_subnets=2,
        hidden_units=(8, 4),
        max_epochs=3,
    ).fit(table(), target("regression"))
    assert np.isfinite(model.predict(table())).all()
    assert model.model_.feature_map.settings["n_subnets"] == 2


@pytest.mark.parametrize("rank", [5, [5, 2]])
def test_ranks_of_each_order(rank: Any) -> None:
    model = make("regression", order=3, rank=rank, max_epochs=2)
    model.fit(table(), target("regression"))
    widths = [model.model_.member_lam[k].shape[2] for k in (2, 3)]
    assert widths == ([5, 5] if rank == 5 else [5, 2])


def estimators(task: str) -> list[Any]:
    dnn = DNNRegressor if task == "regression" else DNNClassifier
    return [
        make(task, max_epochs=8),
        dnn((16, 8), max_epochs=8, random_state=0),
    ]


@pytest.mark.parametrize("kind", [0, 1], ids=["spam", "dnn"])
@pytest.mark.parametrize(("factor", "offset"), [(1e6, -3e7), (1e-9, 2.0), (-5.0, 0.0)])
def test_targets_of_any_scale(kind: int, factor: float, offset: float) -> None:
    X, y = table(), target("regression")
    plain = estimators("regression")[kind].fit(X, y).predict(X)
    scaled = estimators("regression")[kind].fit(X, factor * y + offset).predict(X)
    if factor > 0:
        np.testing.assert_allclose((scaled - offset) / factor, plain, atol=1e-3)
    else:
        assert np.corrcoef(scaled, plain)[0, 1] < -0.5


@pytest.mark.parametrize("kind", [0, 1], ids=["spam", "dnn"])
def test_a_second_fit_forgets_the_first(kind: int) -> None:
    X, y = table(), target("binary")
    model = estimators("binary")[kind].fit(X[["a", "city"]], target("multiclass"))
    model.fit(X, y)
    fresh = estimators("binary")[kind].fit(X, y)
    np.testing.assert_array_equal(scores(model, X), scores(fresh, X))
    assert model.feature_names_ == ("a", "b", "city")
    model.fit(X[["a", "b"]].to_numpy(), y)
    assert not hasattr(model, "feature_names_in_")


def test_tools_of_scikit_learn_take_them() -> None:
    X, y = table().dropna(), target("binary")[~table()["a"].isna()]
    quick = make("binary", max_epochs=3)
    assert cross_val_score(quick, X, y, cv=2).shape == (2,)
    search = GridSearchCV(quick, {"order": [1, 2]}, cv=2).fit(X, y)
    assert search.best_params_["order"] in (1, 2)
    pipe = make_pipeline(FunctionTransformer(), quick).fit(X, y)
    assert pipe.predict(X).shape == (N - 2,)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function"])
def test_unfitted_classifiers_say_so(method: str) -> None:
    for estimator in estimators("binary"):
        with pytest.raises(NotFittedError, match="is not fitted yet"):
            getattr(estimator, method)(table())
        assert not hasattr(estimator, "feature_names_")


@pytest.mark.parametrize("make_table", ["csr_array", "csr_matrix", "coo_array"])
def test_sparse_tables_are_refused_by_name(make_table: str) -> None:
    import scipy.sparse as sp

    dense, y = np.tile(np.eye(3), (20, 1)), np.arange(60.0)
    X = getattr(sp, make_table)(dense)
    with pytest.raises(TypeError, match=r"sparse matrix.*a dense table"):
        make("regression").fit(X, y)
    for estimator in estimators("regression"):
        estimator.fit(dense, y)
        with pytest.raises(TypeError, match=r"sparse matrix.*a dense table"):
            estimator.predict(X)


@pytest.mark.parametrize("task", ["regression", "binary", "multiclass"])
@pytest.mark.parametrize(
    "name", ["spam", "spam-linear", "spam-neural", "nbm-spam", "dnn"]
)
def test_models_by_name(name: str, task: str) -> None:
    model = make_model(name, task, max_epochs=2, random_state=0)
    model.fit(table(), target(task))
    assert model.predict(table()).shape == (N,)
    assert MODELS[name].glass_box == hasattr(model, "explain_local")
    assert MODELS[name].title


def test_names_that_no_model_has() -> None:
    message = r"^No model is called 'spma'; choose one of \['spam', 'spam-linear', "
    with pytest.raises(ValueError, match=message):
        make_model("spma", "regression")
    message = r'^task must be "regression", "binary" or "multiclass", got \'ranking\'$'
    with pytest.raises(ValueError, match=message):
        make_model("spam", "ranking")  # type: ignore[arg-type]
