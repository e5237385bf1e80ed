"""Sparse tables: the dense numbers, without ever being dense."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from spam_core import DNNClassifier, SPAMClassifier, SPAMRegressor, load_model
from spam_core.data.sparse import SparseEncoder, SparseRows

SMALL: dict[str, Any] = {
    "feature_map": "linear",
    "scaling": "none",
    "n_members": 2,
    "rank": 4,
    "max_epochs": 5,
    "random_state": 0,
}


@pytest.fixture(scope="module")
def table() -> sp.csr_matrix:
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(200, 12)) * (rng.uniform(size=(200, 12)) < 0.2)
    dense[:, 7] = 0.0  # never used in training
    return sp.csr_matrix(dense)


@pytest.fixture(scope="module")
def labels(table: sp.csr_matrix) -> np.ndarray:
    return np.digitize(table.toarray()[:, :2].sum(1), [-0.2, 0.2])


@pytest.mark.parametrize("scaling", ["none", "maxabs"])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_sparse_and_dense_rows_score_alike(
    table: sp.csr_matrix, labels: np.ndarray, order: int, scaling: str
) -> None:
    model = SPAMClassifier(order, **(SMALL | {"scaling": scaling})).fit(table, labels)
    scores = model.decision_function(table)
    np.testing.assert_allclose(model.decision_function(table.toarray()), scores)
    rows = model.encoder_.transform(table)
    assert isinstance(rows, SparseRows)
    np.testing.assert_allclose(model.model_.score(rows.dense()), scores, atol=1e-12)
    one = model.decision_function(table[5])
    np.testing.assert_allclose(one[0], scores[5], atol=1e-12)


def test_it_learns(table: sp.csr_matrix) -> None:
    y = np.sign(table.toarray()[:, 0])
    keep = y != 0
    model = SPAMClassifier(2, **(SMALL | {"max_epochs": 40}))
    model.fit(table[keep], y[keep])
    assert model.score(table[keep], y[keep]) > 0.95


def test_terms_sum_to_the_score(table: sp.csr_matrix, labels: np.ndarray) -> None:
    model = SPAMClassifier(2, **SMALL).fit(table, labels)
    explanation = model.explain_local(table[:20], view="raw")
    total = explanation.base + explanation.values.sum(1)
    np.testing.assert_allclose(total, model.decision_function(table[:20]), atol=1e-10)
    with pytest.raises(ValueError, match='view="raw" needs none'):
        model.explain_local(table[:2])
    with pytest.raises(ValueError, match="doesn't keep"):
        model.explain_global()


def test_columns_unused_in_training_add_nothing(
    table: sp.csr_matrix, labels: np.ndarray
) -> None:
    model = SPAMClassifier(2, **SMALL).fit(table, labels)
    changed = table.tolil()
    changed[:, 7] = 3.0
    np.testing.assert_array_equal(
        model.decision_function(changed.tocsr()), model.decision_function(table)
    )


@pytest.mark.parametrize("form", [sp.csc_matrix, sp.coo_matrix, sp.csr_array])
def test_every_form_of_sparse_matrix_will_do(
    table: sp.csr_matrix, labels: np.ndarray, form: Any
) -> None:
    expected = SPAMClassifier(2, **SMALL).fit(table, labels).decision_function(table)
    model = SPAMClassifier(2, **SMALL).fit(form(table), labels)
    np.testing.assert_array_equal(model.decision_function(form(table)), expected)


def test_a_saved_model_is_equal(
    table: sp.csr_matrix, labels: np.ndarray, tmp_path: Path
) -> None:
    model = SPAMClassifier(2, **(SMALL | {"scaling": "maxabs"})).fit(table, labels)
    model.save(tmp_path / "m.spam")
    twin = load_model(tmp_path / "m.spam")
    expected = model.decision_function(table)
    np.testing.assert_array_equal(twin.decision_function(table), expected)


def test_a_wide_table_stays_sparse() -> None:
    rng = np.random.default_rng(0)
    wide = sp.random(300, 50_000, density=1e-3, format="csr", rng=rng)
    y = (np.arange(300) % 3).astype(str)
    model = SPAMClassifier(2, **(SMALL | {"max_epochs": 1})).fit(wide, y)
    assert model.predict_proba(wide).shape == (300, 3)
    with pytest.raises(ValueError, match="at most 5,000 columns"):
        model.explain_local(wide[:1], view="raw")


def test_rows_are_taken_in_any_order(table: sp.csr_matrix) -> None:
    import torch

    rows = SparseEncoder().fit_transform(table)
    order = torch.tensor([5, 0, 199, 5])
    taken = rows[order].dense().values.numpy()
    np.testing.assert_array_equal(taken, table.toarray()[order.numpy()])
    np.testing.assert_array_equal(rows[3:6].dense().values, table.toarray()[3:6])
    assert len(rows[0:0]) == 0


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (SPAMClassifier(), 'needs feature_map="linear" and scaling in'),
        (SPAMClassifier(feature_map="linear"), "got feature_map='linear' and scaling"),
        (DNNClassifier(), "Pass a dense table"),
    ],
)
def test_maps_that_fill_zeros_refuse(
    table: sp.csr_matrix, labels: np.ndarray, model: Any, message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        model.fit(table, labels)


def test_bad_cells_and_widths_are_counted(
    table: sp.csr_matrix, labels: np.ndarray
) -> None:
    bad = table.copy()
    bad.data[:2] = [np.nan, np.inf]
    with pytest.raises(ValueError, match=r"has 2 missing \(NaN\) or infinite"):
        SPAMRegressor(**SMALL).fit(bad, labels)
    model = SPAMRegressor(**SMALL).fit(table, labels)
    with pytest.raises(ValueError, match="X has 3 features, but"):
        model.predict(table[:, :3])
    dense = SPAMRegressor(**SMALL).fit(table.toarray()[:, :6], labels)
    with pytest.raises(TypeError, match="was fitted to a dense table"):
        dense.predict(table[:, :6])
