"""CART behind our encoder: scikit-learn's predictions, levels and pruning."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from spam_core import CARTClassifier, CARTRegressor
from spam_core.data.encoding import UnknownLevelWarning
from spam_core.estimators.cart import DecisionTree
from tests.estimators.test_ebm import by_hand
from tests.explain.tables import TASKS, table, target

pytestmark = pytest.mark.filterwarnings("ignore:These columns are constant:UserWarning")


def make(task: str, **settings: Any) -> Any:
    kind = CARTRegressor if task == "regression" else CARTClassifier
    return kind(**{"random_state": 0, **settings})


def ordered_by_hand(frame: pd.DataFrame, y: np.ndarray) -> np.ndarray:
    """Put levels in the sequence of their mean target."""
    X = by_hand(frame)
    for column in (3, 4):
        means = pd.Series(y).groupby(X[:, column]).mean()
        X[:, column] = pd.Series(X[:, column]).map(means.rank())
    return X


@pytest.mark.parametrize("alpha", [0.0, 0.02])
@pytest.mark.parametrize("task", ["regression", "binary"])
def test_cart_predicts_as_scikit_learn_does(task: str, alpha: float) -> None:
    frame, y = table(), target(table(), task)
    settings = {"max_depth": 6, "min_samples_leaf": 3}
    model = make(
        task, ccp_alpha=alpha, special_values={"months": [-9.0]}, **settings
    ).fit(frame, y)
    if task == "regression":
        theirs = DecisionTreeRegressor(ccp_alpha=alpha, random_state=0, **settings).fit(
            ordered_by_hand(frame, y.to_numpy()), y
        )
        X = ordered_by_hand(frame, y.to_numpy())
        np.testing.assert_allclose(model.predict(frame), theirs.predict(X), rtol=1e-9)
    else:
        labels = (y == "yes").to_numpy().astype(float)
        X = ordered_by_hand(frame, labels)
        theirs = DecisionTreeClassifier(
            ccp_alpha=alpha, random_state=0, **settings
        ).fit(X, y)
        np.testing.assert_allclose(
            model.predict_proba(frame), theirs.predict_proba(X), atol=2e-6
        )
        np.testing.assert_array_equal(model.predict(frame), theirs.predict(X))
    assert model.n_leaves_ == theirs.get_n_leaves()


def test_cart_walks_where_values_are_missing() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    X[rng.random(X.shape) < 0.2] = np.nan
    y = np.nan_to_num(X[:, 0], nan=2.0) + np.isnan(X[:, 1])
    model = CARTRegressor(ccp_alpha=0.0, random_state=0).fit(X, y)
    theirs = DecisionTreeRegressor(min_samples_leaf=10, random_state=0).fit(X, y)
    new = rng.normal(size=(500, 3))
    new[rng.random(new.shape) < 0.5] = np.nan
    np.testing.assert_allclose(model.predict(new), theirs.predict(new), rtol=1e-9)


def test_levels_of_several_classes_are_put_in_a_sequence() -> None:
    rng = np.random.default_rng(0)
    cities = rng.permutation([f"city {k}" for k in range(30)])
    place = rng.integers(30, size=900)
    frame = pd.DataFrame({"city": cities[place]})
    y = np.array(["low", "mid", "top"])[place // 10]
    model = CARTClassifier(ccp_alpha=0.0, random_state=0).fit(frame, y)
    assert model.score(frame, y) == 1.0
    assert model.n_leaves_ == 3  # two cuts are enough, as the names alone wouldn't be
    numbers = model.decision_function(frame)
    np.testing.assert_allclose(numbers.sum(axis=1), 0, atol=1e-9)


def test_hundreds_of_rare_levels_do_not_hide_the_column_that_matters() -> None:
    rng = np.random.default_rng(0)
    told = rng.choice(["yes", "no"], 600)
    home = [f"place {k}" for k in rng.integers(0, 400, 600)]
    home = np.where(rng.random(600) < 0.4, None, home)  # or it looks like an identifier
    frame = pd.DataFrame({"told": told, "home": home})
    y = np.where(rng.random(600) < 0.8, told == "yes", told == "no")
    model = make("binary").fit(frame.iloc[:400], y[:400])
    with pytest.warns(UnknownLevelWarning, match="home"):
        assert model.score(frame.iloc[400:], y[400:]) > 0.75


@pytest.mark.parametrize("task", TASKS)
def test_pruning_is_chosen_by_rows_held_out(task: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(1200, 4))
    y = 3.0 * (X[:, 0] > 0.5) + rng.normal(0, 1, 1200)
    if task != "regression":
        y = np.digitize(y, [1.5] if task == "binary" else [0.5, 2.5])
    X, y, new_X, new_y = X[:600], y[:600], X[600:], y[600:]
    pruned = make(task).fit(X, y)
    whole = make(task, ccp_alpha=0.0).fit(X, y)
    assert 2 <= pruned.n_leaves_ < 0.3 * whole.n_leaves_
    assert pruned.ccp_alpha_ > 0
    assert pruned.validation_loss_ > 0
    assert whole.validation_loss_ is None
    assert loss_of(pruned, new_X, new_y) < loss_of(whole, new_X, new_y)


@pytest.mark.parametrize("seed", range(3))
def test_many_classes_keep_their_leaves(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(40), 30)
    X = np.stack([truth // 8, truth % 8], axis=1) + rng.normal(0, 0.1, (1200, 2))
    wrong = rng.uniform(size=1200) < 0.3
    model = make("multiclass").fit(
        X, np.where(wrong, rng.integers(40, size=1200), truth)
    )
    assert model.n_leaves_ < 60
    assert (model.predict(X) == truth).mean() > 0.9


def loss_of(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    if hasattr(model, "classes_"):
        return float(log_loss(y, model.predict_proba(X)))
    return float(np.mean((y - model.predict(X)) ** 2))


def test_a_penalty_is_in_the_units_that_scikit_learn_has() -> None:
    X = np.random.default_rng(0).uniform(size=(200, 2))
    y = 1000.0 * X[:, 0]
    model = CARTRegressor(ccp_alpha=200.0, random_state=0).fit(X, y)
    theirs = DecisionTreeRegressor(min_samples_leaf=10, ccp_alpha=200.0, random_state=0)
    assert model.n_leaves_ == theirs.fit(X, y).get_n_leaves()


def test_arrays_that_are_no_tree() -> None:
    model = CARTRegressor(ccp_alpha=0.0).fit(np.arange(20.0)[:, None], np.arange(20.0))
    tree = model.model_
    parts = {name: getattr(tree, name) for name in DecisionTree.__dataclass_fields__}
    DecisionTree(**parts)
    loop = tree.left.copy()
    loop[0] = 0
    with pytest.raises(ValueError, match="Expected children after their parents"):
        DecisionTree(**{**parts, "left": loop})
    beyond = tree.right.copy()
    beyond[0] = 10_000
    with pytest.raises(ValueError, match="Expected children after their parents"):
        DecisionTree(**{**parts, "right": beyond})
    with pytest.raises(ValueError, match=r"Expected \d+ nodes"):
        DecisionTree(**{**parts, "threshold": tree.threshold[1:]})
    with pytest.raises(ValueError, match="Expected nodes of 1 columns"):
        DecisionTree(**{**parts, "column": tree.column + 1})


def test_random_cuts_and_larger_nodes_are_those_of_scikit_learn() -> None:
    frame, y = table(), target(table(), "regression")
    settings = {"splitter": "random", "min_samples_split": 40, "random_state": 3}
    model = CARTRegressor(ccp_alpha=0.0, **settings).fit(frame, y)
    peer = DecisionTreeRegressor(min_samples_leaf=10, **settings)
    assert model.n_leaves_ < make("regression", ccp_alpha=0.0).fit(frame, y).n_leaves_
    codes = ordered_by_hand(frame, y)
    assert peer.fit(codes, y).get_n_leaves() == model.n_leaves_
    np.testing.assert_allclose(model.predict(frame), peer.predict(codes), rtol=1e-5)
