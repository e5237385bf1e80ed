"""A loaded model is the saved one, bit for bit, whatever it is made of."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from spam_core import (
    DNNClassifier,
    DNNRegressor,
    SPAMClassifier,
    SPAMRegressor,
    load_model,
)
from spam_core.models.feature_maps import FEATURE_MAPS
from spam_core.training.regularization import Regularization
from tests.persistence.people import (
    QUICK,
    check_twin,
    fit,
    fit_people,
    people,
    scores,
    target,
)


@pytest.mark.parametrize("task", ["regression", "multiclass"])
@pytest.mark.parametrize("feature_map", FEATURE_MAPS)
def test_round_trip_of_every_map(feature_map: str, task: str, tmp_path: Path) -> None:
    model = fit(task, feature_map, order=3)
    model.save(tmp_path / "m.spam")
    check_twin(model, load_model(tmp_path / "m.spam"))


@pytest.mark.parametrize(
    "settings",
    [
        {"order": 1},
        {"order": 4, "rank": [2, 3, np.int64(2)]},
        {"shared_bases": False},
        {"feature_map": "linear", "scaling": "maxabs"},
        {"feature_map": "linear", "scaling": "minmax", "nonnegative": True},
        {"feature_map": "neural", "units": "exu", "n_subnets": 2},
        {"regularization": Regularization(0.25)},
        {"regularization": "strong", "random_state": np.random.RandomState(0)},
    ],
    ids=lambda settings: "-".join(settings),  # values may print their address
)
def test_round_trip_of_every_setting(settings: dict[str, Any], tmp_path: Path) -> None:
    model = fit("multiclass", **settings)
    model.save(str(tmp_path / "m.spam"))
    twin = load_model(str(tmp_path / "m.spam"))
    if isinstance(settings.get("random_state"), np.random.RandomState):
        assert twin.random_state is None  # generators don't outlive the process
        model.random_state = None
    if isinstance(settings.get("rank"), list):
        assert twin.rank == (2, 3, 2)
        model.rank = (2, 3, 2)
    check_twin(model, twin)


@pytest.mark.parametrize("make", [DNNRegressor, DNNClassifier])
def test_round_trip_of_networks(make: Any, tmp_path: Path) -> None:
    model = make(
        (8, 4), max_epochs=3, random_state=0, special_values={"months": [-9, -7.5, -8]}
    )
    task = "regression" if make is DNNRegressor else "multiclass"
    fit_people(model, target(task)).save(tmp_path / "m.spam")
    check_twin(model, load_model(tmp_path / "m.spam"))


LABELS = {
    "ints": [1, 7],
    "negative ints": [-1, 1],
    "int8": np.array([0, 1], dtype=np.int8),
    "floats": [1.0, 2.0],
    "booleans": [False, True],
    "texts": ["no", "yes"],
    "numpy texts": np.array(["größe", "yes"]),
    "object texts": np.array(["1", "01"], dtype=object),
}


@pytest.mark.parametrize("name", LABELS)
def test_labels_keep_their_type(name: str, tmp_path: Path) -> None:
    y = np.asarray(LABELS[name])[target("binary")]
    model = fit_people(SPAMClassifier(**QUICK), y)
    model.save(tmp_path / "m.spam")
    twin = load_model(tmp_path / "m.spam")
    assert twin.classes_.dtype == model.classes_.dtype
    assert [type(c) for c in twin.classes_] == [type(c) for c in model.classes_]
    np.testing.assert_array_equal(twin.predict(people()), model.predict(people()))


def test_models_without_labels_of_columns(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = SPAMRegressor(**QUICK).fit(X, X[:, 0])
    model.save(tmp_path / "m.spam")
    twin = load_model(tmp_path / "m.spam")
    assert not hasattr(twin, "feature_names_in_")
    assert twin.feature_names_ == ("x0", "x1")
    np.testing.assert_array_equal(twin.predict(X), model.predict(X))
    np.testing.assert_array_equal(twin.predict(pd.DataFrame(X)), model.predict(X))


def test_a_truncated_model_is_saved_as_it_is(tmp_path: Path) -> None:
    model = fit("multiclass").truncate(2)
    model.save(tmp_path / "m.spam")
    twin = load_model(tmp_path / "m.spam")
    np.testing.assert_array_equal(scores(twin, people()), scores(model, people()))


def test_a_loaded_model_can_be_fitted_saved_and_copied_again(tmp_path: Path) -> None:
    model = fit()
    model.save(tmp_path / "m.spam")
    twin = load_model(tmp_path / "m.spam")
    twin.save(tmp_path / "again.spam")
    check_twin(model, load_model(tmp_path / "again.spam"))
    check_twin(model, pickle.loads(pickle.dumps(twin)))
    fit_people(twin, target("regression"))
    np.testing.assert_array_equal(scores(twin, people()), scores(model, people()))


def test_no_training_rows_are_in_the_file(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    sizes = []
    for n in (2_000, 8_000):
        frame = pd.DataFrame({"x": rng.normal(size=n), "z": rng.normal(size=n)})
        frame["id"] = [f"customer-{i:06}" for i in range(n)]
        model = SPAMRegressor(**QUICK)
        with pytest.warns(UserWarning, match="look like identifiers"):
            model.fit(frame, frame["x"])
        model.save(tmp_path / "m.spam")
        data = (tmp_path / "m.spam").read_bytes()
        sizes.append(len(data))
        assert b"customer-" not in data
        found = sum(value.tobytes() in data for value in frame["x"].to_numpy()[:500])
        assert found <= 25  # knots are values, and few
    assert sizes[1] < 1.1 * sizes[0]
