"""Sparse tables: the dense numbers, without ever being dense."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.metrics import log_loss

from spam_core import (
    LinearClassifier,
    SPAMClassifier,
    SPAMRegressor,
    load_dataset,
    load_model,
    make_model,
)
from spam_core.data.sparse import SparseEncoder, SparseRows
from spam_core.estimators import MODELS
from spam_core.training import sparse

SMALL: dict[str, Any] = {
    "feature_map": "linear",
    "scaling": "none",
    "n_members": 2,
    "rank": 4,
    "max_epochs": 5,
    "random_state": 0,
}


def random_table(n: int, d: int) -> sp.csr_matrix:
    rng = np.random.default_rng(0)
    return sp.csr_matrix(rng.normal(size=(n, d)) * (rng.uniform(size=(n, d)) < 0.3))


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


def test_it_learns_what_a_column_says() -> None:
    X = random_table(1500, 10)
    y = np.sign(X.toarray()[:, 0])
    keep = y != 0
    model = SPAMClassifier(2, **(SMALL | {"max_epochs": 30})).fit(X[keep], y[keep])
    assert model.score(X[keep], y[keep]) > 0.95


def test_it_learns_a_product() -> None:
    X = random_table(1500, 6)
    dense = X.toarray()
    root = np.sign(dense) * np.sqrt(np.abs(dense))
    y = 4 * root[:, 1] * root[:, 2]
    settings = SMALL | {"max_epochs": 30, "learning_rate": 0.03}
    model = SPAMRegressor(2, **settings).fit(X, y)
    assert model.l2_ < 3.0  # which would shrink predictions
    assert model.l1_ == 0.0
    assert model.score(X, y) > 0.7 > SPAMRegressor(1, **settings).fit(X, y).score(X, y)


def test_default_settings_take_a_sparse_table(
    table: sp.csr_matrix, labels: np.ndarray
) -> None:
    for make in (SPAMClassifier(feature_map="linear"), make_model("linear", "binary")):
        model = make.set_params(max_epochs=2, n_members=2, random_state=0)
        model.fit(table, labels)
        rms = float(np.sqrt(np.mean(table.data**2)))
        assert model.encoder_.size == pytest.approx(rms)
        assert model.predict(table).shape == (200,)
        assert np.isfinite(model.validation_loss_)


def test_two_fits_with_one_seed_are_equal(
    table: sp.csr_matrix, labels: np.ndarray
) -> None:
    settings = SMALL | {"basis_dropout": 0.3, "shared_bases": False}
    first, second = (SPAMClassifier(3, **settings).fit(table, labels) for _ in "ab")
    np.testing.assert_array_equal(
        first.decision_function(table), second.decision_function(table)
    )


def test_callbacks_hear_of_all_phases_and_stop_any(
    table: sp.csr_matrix, labels: np.ndarray
) -> None:
    told: list[Any] = []
    SPAMClassifier(**SMALL, callbacks=[told.append]).fit(table, labels)
    assert [p.epoch for p in told] == list(range(1, 16))
    assert {p.max_epochs for p in told} == {15}
    assert np.all(np.diff([p.seconds for p in told]) > 0)
    assert all(np.isfinite(p.train_loss) for p in told)
    settings = SMALL | {"n_members": 3}
    # compared, first member, a member that isn't done, after the second
    for last, members in ((2, 1), (7, 1), (13, 1), (15, 2)):
        model = SPAMClassifier(**settings, callbacks=[lambda p, k=last: p.epoch == k])
        assert model.fit(table, labels).model_.n_members == members


def test_penalties_make_weights_small_or_zero(
    table: sp.csr_matrix, labels: np.ndarray
) -> None:
    settings = SMALL | {"max_epochs": 5}
    size, zeros = [], []
    for more in ({"l1": 0.0}, {"l1": 0.5}):
        model = SPAMClassifier(1, **(settings | more)).fit(table, labels)
        zeros.append(int((model.model_.member_weights[1] == 0).sum()))
    assert zeros[1] > zeros[0]
    for l2 in (0.0, 100.0):
        linear = LinearClassifier(
            l2=l2, l1=0, scaling="none", n_members=2, max_epochs=8, random_state=0
        ).fit(table, labels)
        assert (linear.l2_, linear.l1_) == (l2, 0.0)
        size.append(float(linear.model_.member_weights[1].square().sum()))
    assert size[1] < 0.5 * size[0]


@pytest.mark.parametrize("name", ["linear", "spam-linear"])
def test_words_that_say_nothing_are_zero(name: str) -> None:
    """Of 2,000 words eight say something: l1 makes zeros, and loses nothing."""
    X = random_table(600, 2000)
    y = np.asarray(X[:, :8].sum(1)).ravel() > 0.1
    found = {}
    for l1 in ("auto", 0.0):
        model = make_model(name, "binary", l1=l1, random_state=0, n_members=2)
        found[l1] = model.set_params(max_epochs=8).fit(X, y)
    sparse_, plain = found["auto"], found[0.0]
    assert (sparse_.l1_, plain.l1_) == (0.1, 0.0)
    assert sparse_.validation_loss_ < plain.validation_loss_ + 0.02
    zeros = [(m.model_.member_weights[1] == 0).double().mean() for m in found.values()]
    assert zeros[0] > zeros[1]


def test_without_held_out_rows_nothing_is_compared(
    table: sp.csr_matrix, labels: np.ndarray
) -> None:
    settings = SMALL | {"max_epochs": 2, "validation_fraction": 0.0}
    model = SPAMClassifier(2, **settings).fit(table, labels)
    assert (model.l2_, model.l1_) == (0.3, 0.0)
    model = SPAMClassifier(2, **settings, l1=0.2).fit(table, labels)
    assert (model.l2_, model.l1_) == (0.3, 0.2)


def test_one_factor_makes_probabilities_right(
    table: sp.csr_matrix, labels: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = SMALL | {"max_epochs": 12, "learning_rate": 0.05}
    loss = {}
    for factors in (torch.ones(1), sparse._FACTORS):
        monkeypatch.setattr(sparse, "_FACTORS", factors)
        monkeypatch.setattr(sparse, "STRENGTHS", (30.0,))  # shrinks far too much
        model = SPAMClassifier(1, **settings).fit(table, labels)
        loss[len(factors)] = (
            log_loss(labels, model.predict_proba(table)),
            model.validation_loss_,
        )
    (raw, held_raw), (right, held_right) = loss[1], loss[len(sparse._FACTORS)]
    assert right < raw
    assert held_right < held_raw


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
    assert (twin.l2_, twin.l1_) == (model.l2_, model.l1_)
    expected = model.decision_function(table)
    np.testing.assert_array_equal(twin.decision_function(table), expected)


def test_a_wide_table_stays_sparse() -> None:
    rng = np.random.default_rng(0)
    wide = sp.random(300, 50_000, density=1e-3, format="csr", rng=rng)
    y = (np.arange(300) % 3).astype(str)
    model = SPAMClassifier(2, **(SMALL | {"max_epochs": 1})).fit(wide, y)
    assert model.predict_proba(wide).shape == (300, 3)
    explanation = model.explain_local(wide[:2], view="raw")
    assert explanation.data.shape[1] <= wide[:2].nnz
    assert len(model.explain_global().terms) > 100
    with pytest.raises(ValueError, match="at most 5,000 columns"):
        model.explain_local(wide[:1], view="shapley", background=wide[:5])
    with pytest.raises(ValueError, match="keeps no marginals"):
        model.explain_local(wide[:1], view="shapley")


def test_rows_are_taken_in_any_order(table: sp.csr_matrix) -> None:
    rows = SparseEncoder().fit_transform(table)
    order = torch.tensor([5, 0, 199, 5])
    taken = rows[order].dense().values.numpy()
    np.testing.assert_array_equal(taken, table.toarray()[order.numpy()])
    np.testing.assert_array_equal(rows[3:6].dense().values, table.toarray()[3:6])
    assert len(rows[0:0]) == 0


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (SPAMClassifier(), 'needs feature_map="linear", which keeps 0 at 0'),
        (
            SPAMClassifier(feature_map="linear", scaling="minmax", nonnegative=True),
            "got feature_map='linear' and nonnegative=True",
        ),
        (
            SPAMClassifier(feature_map="linear", regularization="rough"),
            'regularization="auto"',
        ),
        (LinearClassifier(order=2), "needs order=1, got order=2"),
        *(
            (make_model(name, "multiclass"), r"sparse matrix.*a dense table")
            for name in MODELS
            if name not in ("spam-linear", "linear", "dnn", "xgboost")
        ),
    ],
)
def test_models_that_fill_zeros_refuse(
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


@pytest.mark.slow
def test_newsgroups(data_dir: Path, tmp_path: Path) -> None:
    news = load_dataset("newsgroups")
    rows = np.concatenate([news.splits["train"], news.splits["validation"]])
    test = news.splits["test"]
    model = make_model("spam-linear", "multiclass", n_members=2, random_state=0)
    model.fit(news.X[rows], news.y.iloc[rows])
    assert model.score(news.X[test], news.y.iloc[test]) >= 0.83
    explanation = model.explain_local(news.X[test[:3]], view="raw")
    assert set(explanation.feature_names) <= set(news.feature_names)
    sizes = model.explain_global().to_frame()
    hockey = sizes[sizes["class"] == "rec.sport.hockey"]
    # common words vary most, but these stand out of 155,448
    assert {"hockey", "NHL", "game", "team"} <= set(hockey["term"].head(40))
    model.save(tmp_path / "m.spam")
    assert (tmp_path / "m.spam").stat().st_size < 80e6
    twin = load_model(tmp_path / "m.spam")
    np.testing.assert_array_equal(
        twin.decision_function(news.X[test[:50]]),
        model.decision_function(news.X[test[:50]]),
    )
