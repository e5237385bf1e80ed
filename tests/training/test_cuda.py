"""The same code on a GPU; runs where there is one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from spam_core import DNNClassifier, SPAMClassifier, SPAMRegressor, load_model


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.uniform(size=(600, 3)), columns=list("abc"))
    frame["city"] = rng.choice(["x", "y"], 600)
    frame.loc[::7, "c"] = np.nan
    return frame


@pytest.mark.gpu
@pytest.mark.parametrize("feature_map", ["spline", "linear", "neural", "basis"])
def test_a_gpu_learns_what_the_cpu_learns(
    rows: pd.DataFrame, feature_map: str, tmp_path: Path
) -> None:
    y = rows["a"] * rows["b"]
    settings = {"feature_map": feature_map, "n_members": 2, "random_state": 0}
    model = SPAMRegressor(device="cuda", **settings).fit(rows, y)
    twin = SPAMRegressor(device="cpu", **settings).fit(rows, y)
    assert abs(model.score(rows, y) - twin.score(rows, y)) < 0.05
    model.save(tmp_path / "m.spam")  # loads on a machine without a GPU
    loaded = load_model(tmp_path / "m.spam")
    np.testing.assert_array_equal(loaded.predict(rows), model.predict(rows))


@pytest.mark.gpu
@pytest.mark.parametrize("make", [SPAMClassifier, DNNClassifier])
def test_classes_train_on_a_gpu(rows: pd.DataFrame, make: type) -> None:
    y = np.digitize(rows["a"], [0.3, 0.6])
    model = make(device="cuda", max_epochs=30, random_state=0).fit(rows, y)
    assert model.score(rows, y) > 0.8
