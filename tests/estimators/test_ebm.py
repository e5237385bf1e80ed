"""EBMs: what interpret trained, as tables that do without it."""

from __future__ import annotations

import copy
import pickle
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from interpret.glassbox import (
    ExplainableBoostingClassifier,
    ExplainableBoostingRegressor,
)
from sklearn.base import clone

from spam_core import EBMClassifier, EBMRegressor, load_model, make_model
from spam_core.estimators.ebm import BINNINGS
from tests.explain.tables import TASKS, odd_rows, table, target

QUICK: dict[str, Any] = {
    "outer_bags": 3,
    "max_rounds": 60,
    "special_values": {"months": [-9.0]},
    "n_jobs": 1,
    "random_state": 0,
}
KINDS = ["continuous", "continuous", "continuous", "nominal", "nominal"]

pytestmark = pytest.mark.filterwarnings("ignore:These columns are constant:UserWarning")


def make(task: str, interactions: Any = "2x", **settings: Any) -> Any:
    kind = EBMRegressor if task == "regression" else EBMClassifier
    return kind(interactions, **{**QUICK, **settings})


def scores(model: Any, X: Any) -> np.ndarray:
    name = "decision_function" if hasattr(model, "classes_") else "predict"
    return getattr(model, name)(X)  # type: ignore[no-any-return]


def by_hand(frame: pd.DataFrame) -> np.ndarray:
    """Return the matrix that trees should see: the constant column is left out."""
    return np.stack(
        [
            frame["size"].to_numpy(),
            frame["rooms"].to_numpy(),
            frame["months"].to_numpy(),
            frame["city"].map({"Bonn": 0, "Köln": 1, "Ulm": 2}).to_numpy(),
            frame["garden"].astype("float64").to_numpy(),
        ],
        axis=1,
    ).astype(np.float64)


def interpret_scores(
    task: str,
    interactions: Any,
    weight: Any = None,
    binning: str = "continuous",
    **more: Any,
) -> tuple[Any, np.ndarray]:
    """Train interpret's own model; return it and its scores of the training rows."""
    frame = table()
    X, y = by_hand(frame), target(frame, task)
    settings: dict[str, Any] = {
        "feature_types": [binning if k == "continuous" else k for k in KINDS],
        "interactions": interactions,
        "outer_bags": 3,
        "max_rounds": 60,
        "n_jobs": 1,
        "random_state": 0,
        **more,
    }
    weight = np.ones(len(X)) if weight is None else weight / weight.mean()
    middle, scale = 0.0, 1.0
    if task == "regression":
        middle = np.average(y, weights=weight)
        scale = np.sqrt(np.average((y - middle) ** 2, weights=weight))
        y = (y - middle) / scale
    regression = task == "regression"
    kind = ExplainableBoostingRegressor if regression else ExplainableBoostingClassifier
    model = kind(**settings)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="interpret")
        model.fit(X, y, sample_weight=weight)
    if regression:
        return model, model.predict(X) * scale + middle
    score = model.decision_function(X)
    if score.ndim == 2:
        score = score - score.mean(axis=1, keepdims=True)
    return model, score


@pytest.mark.parametrize("interactions", [0, "2x"])
@pytest.mark.parametrize("task", TASKS)
def test_scores_are_those_of_interpret(task: str, interactions: Any) -> None:
    theirs, expected = interpret_scores(task, interactions)
    model = make(task, interactions).fit(table(), target(table(), task))
    np.testing.assert_allclose(scores(model, table()), expected, rtol=1e-8, atol=1e-8)
    if task != "regression":
        np.testing.assert_allclose(
            model.predict_proba(table()), theirs.predict_proba(by_hand(table())), 1e-8
        )
    assert len(model.model_.pairs) == (0 if interactions == 0 else 10)
    assert model.model_.n_members == 3
    assert model.n_parameters_ == model.model_.n_parameters
    assert model.history_ == []
    assert model.validation_loss_ is None


def test_weights_are_those_of_interpret() -> None:
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(table()))
    _, expected = interpret_scores("binary", 0, weight)
    y = target(table(), "binary")
    model = make("binary", 0).fit(table(), y, sample_weight=weight)
    np.testing.assert_allclose(scores(model, table()), expected, rtol=1e-8, atol=1e-8)
    # rows of weight 0 are no rows, and only ratios matter
    masked = np.where(np.arange(len(weight)) < 100, 2 * weight, 0.0)
    one = make("binary").fit(table(), y, sample_weight=masked)
    other = make("binary").fit(table()[:100], y[:100], sample_weight=weight[:100])
    np.testing.assert_allclose(scores(one, table()), scores(other, table()), 1e-9)


@pytest.mark.parametrize("binning", BINNINGS)
def test_bins_leaves_and_inner_bags_are_those_of_interpret(binning: Any) -> None:
    more: dict[str, Any] = {"max_leaves": 4, "inner_bags": 2, "max_bins": 16}
    _, expected = interpret_scores("regression", 0, None, binning, **more)
    model = make("regression", 0, binning=binning, **more)
    model.fit(table(), target(table(), "regression"))
    np.testing.assert_allclose(scores(model, table()), expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("task", TASKS)
def test_what_training_never_saw_counts_as_the_average(task: str) -> None:
    frame = table()
    model = make(task).fit(frame, target(frame, task))
    odd = frame.iloc[[7]].assign(city="Rom")
    with pytest.warns(UserWarning, match=r"contribute 0: city: 'Rom' \(1 rows\)"):
        found = scores(model, odd)
    rows = pd.concat([frame.iloc[[7]]] * len(frame), ignore_index=True)
    rows["city"] = frame["city"]  # each training row's city, missing ones too
    np.testing.assert_allclose(found[0], scores(model, rows).mean(axis=0), atol=1e-9)


def test_a_table_in_other_words_scores_alike() -> None:
    frame = table()
    model = make("regression").fit(frame, target(frame, "regression"))
    expected = model.predict(frame)
    turned = frame.iloc[::-1, ::-1].assign(more=1)
    np.testing.assert_array_equal(model.predict(turned), expected[::-1])
    objects = frame.astype(object)
    np.testing.assert_array_equal(model.predict(objects), expected)
    np.testing.assert_array_equal(model.predict(frame.iloc[[3]]), expected[[3]])
    with pytest.raises(ValueError, match="'rooms'"):
        model.predict(frame.drop(columns="rooms"))


def test_special_codes_are_cut_off_and_shown_apart() -> None:
    frame = table()
    y = (frame["months"] == -9).astype(float) + 0.01 * frame["months"]
    model = make("regression", 0).fit(frame, y)
    curve = model.explain_global().curve("months")
    assert curve.x.tolist() == [3.0, 12.0, 24.5]
    code, _, _ = curve.missing["-9"]
    assert code > curve.y.max() + 0.3
    assert curve.level_rows["-9"] == (frame["months"] == -9).sum()


def test_groups_are_held_out_together(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = {}
    fit = ExplainableBoostingRegressor.fit

    def watch(self: Any, *args: Any, bags: Any = None, **kwargs: Any) -> Any:
        seen["bags"] = bags
        return fit(self, *args, bags=bags, **kwargs)

    monkeypatch.setattr(ExplainableBoostingRegressor, "fit", watch)
    frame = table()
    y = target(frame, "regression")
    make("regression", 0).fit(frame, y)
    assert seen["bags"] is None  # interpret's own
    groups = np.arange(len(frame)) // 8
    make("regression", 0).fit(frame, y, groups=groups)
    held = pd.DataFrame(seen["bags"] == -1).groupby(groups)
    assert held.nunique().to_numpy().max() == 1
    shares = (seen["bags"] == -1).mean(axis=0)
    assert ((shares > 0.05) & (shares < 0.3)).all()


@pytest.mark.parametrize("task", TASKS)
def test_a_saved_model_does_without_interpret(
    task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = table()
    model = make(task).fit(frame, target(frame, task))
    one = model.explain_global()
    model.save(tmp_path / "m.spam")
    monkeypatch.setitem(sys.modules, "interpret", None)
    monkeypatch.setitem(sys.modules, "interpret.glassbox", None)
    twin = load_model(tmp_path / "m.spam")
    assert type(twin) is type(model)
    assert twin.get_params() == model.get_params()
    for name in ("n_iter_", "validation_loss_", "target_name_", "training_seconds_"):
        assert getattr(twin, name) == getattr(model, name)
    with pytest.warns(UserWarning, match="training never saw"):
        expected = scores(model, odd_rows())
    with pytest.warns(UserWarning, match="training never saw"):
        np.testing.assert_array_equal(scores(twin, odd_rows()), expected)
    for view in ("pure", "raw", "shapley"):
        ours = model.explain_local(frame, view=view, background=None)
        theirs = twin.explain_local(frame, view=view)
        assert theirs.terms == ours.terms
        np.testing.assert_array_equal(theirs.values, ours.values)
    other = twin.explain_global()
    np.testing.assert_array_equal(other.importance, one.importance)
    np.testing.assert_array_equal(other.sd, one.sd)
    np.testing.assert_array_equal(other.mean_score, one.mean_score)
    for curve in ("size", "city"):
        np.testing.assert_array_equal(other.curve(curve).y, one.curve(curve).y)
        np.testing.assert_array_equal(other.curve(curve).lower, one.curve(curve).lower)
    a, b = one.surface("city", "size"), other.surface("city", "size")
    np.testing.assert_array_equal(b.z, a.z)
    np.testing.assert_array_equal(b.support, a.support)
    with pytest.raises(ImportError, match=r'the package interpret.*"spam-core\[ebm\]"'):
        twin.fit(frame, target(frame, task))
    for copied in (copy.deepcopy(twin), pickle.loads(pickle.dumps(twin))):
        np.testing.assert_array_equal(scores(copied, frame), scores(model, frame))


def test_no_training_rows_are_in_the_file(tmp_path: Path) -> None:
    X = pd.DataFrame({"x": np.random.default_rng(0).normal(size=3_000)})
    model = EBMRegressor(max_rounds=20, outer_bags=2, max_bins=64, n_jobs=1)
    model.fit(X, X["x"] ** 2).save(tmp_path / "m.spam")
    data = (tmp_path / "m.spam").read_bytes()
    assert sum(value.tobytes() in data for value in X["x"].to_numpy()[:500]) <= 25


def test_fits_with_one_seed_are_equal() -> None:
    frame, y = table(), target(table(), "multiclass")
    one, other = (make("multiclass").fit(frame, y) for _ in range(2))
    np.testing.assert_array_equal(scores(one, frame), scores(other, frame))
    again = clone(one).set_params(random_state=1).fit(frame, y)
    assert not np.array_equal(scores(again, frame), scores(one, frame))


def test_a_table_that_says_nothing() -> None:
    X, y = pd.DataFrame({"a": ["x"] * 20, "b": [1.0] * 20}), np.arange(20.0)
    model = make("regression", special_values=None).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y.mean())
    explanation = model.explain_local(X)
    assert (explanation.values == 0).all()
    assert explanation.terms == (("a",), ("b",))


def test_too_few_rows_to_hold_any_out() -> None:
    X, y = pd.DataFrame({"a": [0.0, 1.0, 2.0, None]}), [1.0, 2.0, 3.0, 2.0]
    model = EBMRegressor(min_samples_leaf=1, n_jobs=1, random_state=0)
    with pytest.warns(UserWarning, match="4 rows are too few to hold out"):
        model.fit(X, y)
    assert 0 < model.n_iter_ <= 100
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"interactions": "three"}, r'integer >= 0, or such as "3x".*, got \'three\'$'),
        ({"interactions": -1}, "^interactions must be an integer >= 0, got -1$"),
        ({"interactions": 2.5}, "^interactions must be an integer >= 0, got 2.5$"),
        ({"max_bins": 2}, "^max_bins must be an integer >= 3, got 2$"),
        ({"outer_bags": 0}, "^outer_bags must be an integer >= 1, got 0$"),
        ({"max_rounds": True}, "^max_rounds must be an integer >= 1, got True$"),
        ({"learning_rate": 0}, "^learning_rate must be a number > 0, got 0$"),
        ({"validation_size": 0.0}, r"^validation_size must be in \(0, 0.5\], got 0.0$"),
        ({"max_leaves": 1}, "^max_leaves must be an integer >= 2, got 1$"),
        ({"inner_bags": -1}, "^inner_bags must be an integer >= 0, got -1$"),
        ({"binning": "even"}, "^binning must be one of .*'uniform'.*, got 'even'$"),
        ({"n_jobs": 0}, "^n_jobs must be an integer but 0, or None, got 0$"),
    ],
    ids=str,
)
def test_parameters_that_make_no_sense(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        EBMRegressor(**settings).fit(table(), target(table(), "regression"))


def test_names_of_the_registry() -> None:
    assert make_model("ebm", "regression").interactions == 0
    assert make_model("ebm-2", "binary").interactions == "3x"
    assert isinstance(make_model("ebm-2", "multiclass"), EBMClassifier)
