"""XGBoost behind our encoder: its scores, and how many trees it takes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xgboost

from spam_core import XGBoostClassifier, XGBoostRegressor, load_model
from tests.estimators.test_ebm import by_hand, scores
from tests.explain.tables import TASKS, table, target

pytestmark = pytest.mark.filterwarnings("ignore:These columns are constant:UserWarning")


def make(task: str, **settings: Any) -> Any:
    kind = XGBoostRegressor if task == "regression" else XGBoostClassifier
    return kind(**{"n_estimators": 60, "n_jobs": 1, "random_state": 0, **settings})


@pytest.mark.parametrize("task", TASKS)
def test_xgboost_scores_are_those_of_xgboost(task: str) -> None:
    frame, y = table(), target(table(), task)
    settings = {"learning_rate": 0.1, "max_depth": 3, "reg_lambda": 2.0}
    model = make(
        task,
        n_estimators=20,
        early_stopping_rounds=None,
        special_values={"months": [-9.0]},
        **settings,
    ).fit(frame, y)
    X = pd.DataFrame(by_hand(frame))
    for column in (3, 4):
        X[column] = pd.Categorical(X[column].map({0: "a", 1: "b", 2: "c"}))
    parameters = {
        "n_estimators": 20,
        "subsample": 0.8,
        "colsample_bytree": 0.8,
        "enable_categorical": True,
        "tree_method": "hist",
        "n_jobs": 1,
        "random_state": 0,
        **settings,
    }
    if task == "regression":
        middle, scale = float(y.mean()), float(y.std(ddof=0))
        values = ((y - middle) / scale).to_numpy()
        theirs = xgboost.XGBRegressor(**parameters).fit(X, values)
        expected = theirs.predict(X) * scale + middle
        np.testing.assert_allclose(model.predict(frame), expected, rtol=1e-5)
        return
    classes, labels = np.unique(y, return_inverse=True)
    theirs = xgboost.XGBClassifier(**parameters).fit(X, labels)
    np.testing.assert_allclose(
        model.predict_proba(frame), theirs.predict_proba(X), atol=1e-6
    )
    assert model.classes_.tolist() == classes.tolist()
    if task == "multiclass":
        np.testing.assert_allclose(
            model.decision_function(frame).sum(axis=1), 0, 0, 1e-6
        )


@pytest.mark.parametrize("task", TASKS)
def test_early_stopping_chooses_how_many_trees(task: str) -> None:
    frame, y = table(), target(table(), task)
    model = make(task, n_estimators=3000, learning_rate=0.3).fit(frame, y)
    losses = [step["validation_loss"] for step in model.history_]
    assert 1 <= model.n_iter_ < len(losses) < 3000
    assert model.validation_loss_ == min(losses) == losses[model.n_iter_ - 1]
    assert model.history_[-1]["train_loss"] < model.history_[0]["train_loss"]
    assert [step["epoch"] for step in model.history_] == list(range(1, len(losses) + 1))
    assert model.model_.booster.num_boosted_rounds() == model.n_iter_
    # the trees are then grown on all rows
    fixed = make(
        task,
        n_estimators=model.n_iter_,
        learning_rate=0.3,
        early_stopping_rounds=None,
    ).fit(frame, y)
    np.testing.assert_array_equal(scores(fixed, frame), scores(model, frame))
    assert fixed.validation_loss_ is None
    assert fixed.history_ == []


def test_xgboost_that_is_not_installed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    X = np.random.default_rng(0).uniform(size=(50, 2))
    model = make("binary").fit(X, X[:, 0] > 0.5)
    model.save(tmp_path / "m.spam")
    monkeypatch.setitem(sys.modules, "xgboost", None)
    message = r'^XGBoost needs the package xgboost: pip install "spam-core\[xgboost\]"$'
    with pytest.raises(ImportError, match=message):
        XGBoostClassifier().fit(X, X[:, 0] > 0.5)
    twin = load_model(tmp_path / "m.spam")  # it can be looked at
    with pytest.raises(ImportError, match=message):
        twin.predict(X)
