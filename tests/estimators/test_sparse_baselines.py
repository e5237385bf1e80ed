"""The network and XGBoost on sparse tables, beside which SPAM is measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from spam_core import load_model, make_model
from spam_core.estimators import MODELS

QUICK: dict[str, dict[str, Any]] = {
    "dnn": {"hidden_units": (16, 8), "learning_rate": 0.01, "max_epochs": 10},
    "xgboost": {"n_estimators": 30, "learning_rate": 0.3, "n_jobs": 1},
}
both = pytest.mark.parametrize("name", QUICK)


def make(name: str, task: Any, **more: Any) -> Any:
    return make_model(name, task, random_state=0, **(QUICK[name] | more))


@pytest.fixture(scope="module")
def table() -> sp.csr_matrix:
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(600, 12)) * (rng.uniform(size=(600, 12)) < 0.3)
    dense[:, 7] = 0.0  # never used in training
    dense[5] = 0.0
    return sp.csr_matrix(dense)


def target(table: sp.csr_matrix, task: str) -> np.ndarray:
    said = table.toarray()[:, :2].sum(1)
    if task == "regression":
        return said
    return np.digitize(said, [0.2] if task == "binary" else [-0.2, 0.2])


def scores(model: Any, X: Any) -> np.ndarray:
    ask = getattr(model, "decision_function", model.predict)
    return np.asarray(ask(X))


@both
@pytest.mark.parametrize("task", ["regression", "binary", "multiclass"])
def test_it_learns_and_is_saved(
    table: sp.csr_matrix, name: str, task: str, tmp_path: Path
) -> None:
    y = target(table, task)
    model = make(name, task).fit(table, y)
    assert model.score(table, y) > 0.9
    found = scores(model, table)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(scores(model, table.toarray()), found)
    np.testing.assert_allclose(scores(model, table[5:6])[0], found[5])  # nothing in it
    model.save(tmp_path / "m.spam")
    twin = load_model(tmp_path / "m.spam")
    np.testing.assert_array_equal(scores(twin, table), found)


@both
@pytest.mark.parametrize("form", [sp.csc_matrix, sp.coo_matrix, sp.csr_array])
def test_every_form_of_sparse_matrix_will_do(
    table: sp.csr_matrix, name: str, form: Any
) -> None:
    y = target(table, "binary")
    expected = scores(make(name, "binary").fit(table, y), table)
    model = make(name, "binary").fit(form(table), y)
    np.testing.assert_array_equal(scores(model, form(table)), expected)


@both
def test_columns_unused_in_training_add_nothing(
    table: sp.csr_matrix, name: str
) -> None:
    model = make(name, "multiclass").fit(table, target(table, "multiclass"))
    changed = table.tolil()
    changed[:, 7] = 3.0
    np.testing.assert_array_equal(scores(model, changed.tocsr()), scores(model, table))


def test_a_network_adds_up_what_the_cells_say(table: sp.csr_matrix) -> None:
    model = make("dnn", "binary").fit(table, target(table, "binary"))
    network, rows = model.model_.network, model.encoder_.transform(table)
    used = np.arange(12) != 7
    layer = network.layers[0]
    expected = rows.dense().values[:, used] @ layer.weight[0] + layer.bias[0]
    with torch.no_grad():
        np.testing.assert_allclose(network._first_layer(rows)[0], expected, atol=1e-12)


@both
def test_a_wide_table_stays_sparse(name: str) -> None:
    rng = np.random.default_rng(0)
    wide = sp.random(300, 50_000, density=1e-3, format="csr", rng=rng)
    few = {"dnn": {"max_epochs": 1}, "xgboost": {"n_estimators": 2}}[name]
    y = (np.arange(300) % 3).astype(str)
    model = make(name, "multiclass", **few).fit(wide, y)
    assert model.predict_proba(wide).shape == (300, 3)
    with pytest.raises(ValueError, match="X has 3 features, but"):
        model.predict(wide[:, :3])


@pytest.mark.parametrize(
    "name", ["spam", "spam-linear", "linear", "dnn", "xgboost", "cart", "nam"]
)
def test_special_values_of_a_sparse_table_are_refused(
    table: sp.csr_matrix, name: str
) -> None:
    """They used to be left aside without a word."""
    model = make_model(name, "binary", special_values={"x0": [-9]})
    with pytest.raises(TypeError, match=r"sparse matrix.*a dense table"):
        model.fit(table, target(table, "binary"))
    if name in ("spam-linear", "linear", *QUICK):
        with pytest.raises(TypeError, match=r"special_values .*got \{'x0': \[-9\]\}"):
            model.fit(table, target(table, "binary"))


def test_which_models_take_sparse_tables_is_told(table: sp.csr_matrix) -> None:
    for name in MODELS:
        model = make_model(name, "binary")
        takes = model.__sklearn_tags__().input_tags.sparse
        assert takes == (name in ("spam-linear", "linear", *QUICK))
