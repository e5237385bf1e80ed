"""Cases O14 and O15: LIME and KernelSHAP beside every model."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from spam_core.explain import explain_kernel_shap, explain_lime
from tests.cases.common import KINDS, classifier, regressor, scores


def survey() -> tuple[pd.DataFrame, np.ndarray]:
    """O14: two numeric columns with three gaps, and one of three levels."""
    rng = np.random.default_rng(14)
    X = pd.DataFrame(rng.normal(size=(200, 2)), columns=["a", "b"])
    X["c"] = rng.choice(["u", "v", "w"], 200)
    y = np.where(X["a"] + X["b"] + 2 * (X["c"] == "u") > 0.5, "yes", "no")
    X.loc[[5, 50, 150], "a"] = np.nan
    return X, y


def lime(model: Any, rows: list[int], seed: int = 0) -> Any:
    X, _ = survey()
    return explain_lime(model, X.iloc[rows], X, seed=seed, n_samples=400)


@pytest.mark.parametrize("kind", KINDS)
def test_o14_lime_says_the_same_in_every_order(kind: str) -> None:
    X, y = survey()
    model = classifier(kind, max_epochs=20).fit(X, y)
    alone = lime(model, [10])
    lime(model, [3])
    for again in (lime(model, [10]), lime(model, [3, 10])):
        np.testing.assert_array_equal(again.values[-1], alone.values[0])
    assert alone.terms[:3] == (("a",), ("b",), ("c",))
    assert (alone.values[0, :3] != 0).all()
    assert (alone.scale, alone.method, alone.seed) == ("logit of yes", "LIME", 0)
    np.testing.assert_allclose(alone.score, scores(model, X.iloc[[10]]), atol=1e-9)
    total = alone.base + alone.values.sum(1)
    np.testing.assert_allclose(total, alone.score, atol=1e-6)
    lines = lime(model, [5]).ledger(0).set_index("term")
    assert lines.loc["a", "value"] == "missing"
    assert lines.loc["c", "value"] == X["c"][5]
    spread = np.std([lime(model, [10], seed).values for seed in range(5)], axis=0)
    assert np.isfinite(spread).all()


@pytest.mark.slow
def test_o14_lime_says_the_same_in_a_new_process() -> None:
    code = (
        "from tests.cases.test_o14_o15 import classifier, lime, survey\n"
        "model = classifier('dnn', max_epochs=3).fit(*survey())\n"
        "print(lime(model, [10]).values.tobytes().hex())"
    )
    there = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    model = classifier("dnn", max_epochs=3).fit(*survey())
    assert there.stdout.strip() == lime(model, [10]).values.tobytes().hex()


def wide(n: int, d: int) -> tuple[pd.DataFrame, pd.Series]:
    """O15: every column matters."""
    rng = np.random.default_rng(15)
    X = pd.DataFrame(rng.normal(size=(n, d)), columns=[f"x{i}" for i in range(d)])
    return X, (X.sum(axis=1) + X["x0"] * X["x1"]).rename("price")


@pytest.mark.parametrize("kind", KINDS)
def test_o15_kernel_shap_adds_up_and_repeats(kind: str) -> None:
    X, y = wide(400, 9)
    model = regressor(kind, max_epochs=10).fit(X, y)
    found = explain_kernel_shap(model, X[:1], X, max_background=30)
    again = explain_kernel_shap(model, X[:1], X, max_background=30)
    np.testing.assert_array_equal(again.values, found.values)
    assert found.background_size == 30
    np.testing.assert_allclose(found.score, model.predict(X[:1]), rtol=1e-9)
    total = found.base + found.values.sum(1)
    np.testing.assert_allclose(total, found.score, atol=1e-3)
    assert found.scale == "price"
    if hasattr(model, "explain_local"):
        exact = model.explain_local(X[:1], view="shapley")
        assert exact.scale == found.scale
        assert (found.values[exact.values != 0] != 0).all()


@pytest.mark.parametrize("n_columns", [20, 40])
def test_o15_wide_tables_keep_all_their_columns(n_columns: int) -> None:
    X, y = wide(1000, n_columns)
    model = regressor("dnn", max_epochs=4).fit(X, y)
    found = explain_kernel_shap(model, X[:1], X)
    assert found.background_size == 100
    assert (found.values[0, :n_columns] != 0).all()
    again = explain_kernel_shap(model, X[:1], X)
    np.testing.assert_array_equal(again.values, found.values)
    np.testing.assert_allclose(
        found.base + found.values.sum(1), model.predict(X[:1]), atol=1e-3
    )
