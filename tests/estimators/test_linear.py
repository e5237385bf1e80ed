"""Linear models of both orders: at par with scikit-learn, exact terms, exact zeros."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.linear_model import LogisticRegressionCV, RidgeCV
from sklearn.metrics import log_loss, root_mean_squared_error
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from spam_core import LinearClassifier, LinearRegressor, load_model, make_model
from spam_core.estimators import MODELS, linear
from spam_core.models.feature_maps import LinearMap
from tests.estimators.test_parameters import COMMON_ERRORS, case_id, check
from tests.estimators.test_sklearn import exceptions, without
from tests.explain.tables import TASKS, odd_rows, table, target

NAMES = ("linear", "linear-2")
QUICK: dict[str, Any] = {"n_members": 2, "max_epochs": 4, "random_state": 0}
CODES = {"months": [-9.0]}
TRAINED: dict[str, Any] = {"n_members": 2, "max_epochs": 40, "random_state": 0}

pytestmark = pytest.mark.filterwarnings("ignore:These columns are constant:UserWarning")


def make(name: str, task: Any, **settings: Any) -> Any:
    return make_model(name, task, **{**QUICK, **settings})


def scores(model: Any, X: Any) -> np.ndarray:
    """Return scores of shape (n, C)."""
    regression = not hasattr(model, "classes_")
    result = model.predict(X) if regression else model.decision_function(X)
    return result.reshape(len(result), -1)


def matrix_of(model: Any) -> np.ndarray:
    """Return the symmetric matrix of products of each output, (C, P, P)."""
    basis = model.model_.factors.weights[2][:, 0]
    return torch.einsum("pr,cr,qr->cpq", basis, model.model_.lam[2], basis).numpy()


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize(
    "load", [load_diabetes, load_breast_cancer], ids=["diabetes", "breast cancer"]
)
def test_at_par_with_scikit_learn(load: Any, order: int) -> None:
    data = load()
    X, X_test, y, y_test = train_test_split(data.data, data.target, random_state=1)
    steps: list[Any] = [StandardScaler()]
    if order == 2:
        products = PolynomialFeatures(2, interaction_only=True, include_bias=False)
        steps += [products, StandardScaler()]
    if load is load_diabetes:
        theirs = make_pipeline(*steps, RidgeCV(np.logspace(-2, 4, 7))).fit(X, y)
        ours = LinearRegressor(order, random_state=0).fit(X, y)
        loss = root_mean_squared_error(y_test, ours.predict(X_test))
        reference = root_mean_squared_error(y_test, theirs.predict(X_test))
        assert loss < 1.03 * reference
    else:
        choice = LogisticRegressionCV(
            Cs=4,
            cv=3,
            l1_ratios=(0,),
            scoring="neg_log_loss",
            use_legacy_attributes=False,
            max_iter=2000,
        )
        theirs = make_pipeline(*steps, choice).fit(X, y)
        ours = LinearClassifier(order, random_state=0).fit(X, y)
        loss = log_loss(y_test, ours.predict_proba(X_test))
        assert loss < log_loss(y_test, theirs.predict_proba(X_test)) + 0.02


def test_three_classes() -> None:
    X, y = load_wine(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, random_state=0, stratify=y)
    for order in (1, 2):
        model = LinearClassifier(order, random_state=0).fit(X, y)
        assert model.score(X_test, y_test) > 0.93


def test_a_product_needs_order_2() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (400, 3))
    y = 5 + X[:, 0] - 3 * X[:, 0] * X[:, 1]
    new = rng.uniform(-0.9, 0.9, (100, 3))
    truth = 5 + new[:, 0] - 3 * new[:, 0] * new[:, 1]
    first, second = (
        LinearRegressor(order, l2=1e-3, random_state=0).fit(X, y) for order in (1, 2)
    )
    assert root_mean_squared_error(truth, second.predict(new)) < 0.02
    assert root_mean_squared_error(truth, first.predict(new)) > 0.5


@pytest.mark.parametrize("task", TASKS)
def test_raw_terms_are_products_and_nothing_is_squared(task: str) -> None:
    frame, y = table(), target(table(), task)
    model = make("linear-2", task, special_values=CODES).fit(frame, y)
    feature_map, W = model.model_.feature_map, matrix_of(model)
    owner = feature_map.feature_of_column.numpy()
    same = owner[:, None] == owner
    size = np.abs(W).max()
    assert size > 1e-3
    assert np.abs(W[:, same]).max() < 1e-12 * size
    phi = feature_map.phi(model.encoder_.transform(frame)).numpy()
    first = model.model_.factors.weights[1][:, 0].numpy()
    explanation = model.explain_local(frame, view="raw")
    values = explanation.values.reshape(*explanation.values.shape[:2], -1)
    found = dict(zip(explanation.terms, values.transpose(1, 0, 2), strict=True))
    d = len(frame.columns)
    names = list(frame.columns)
    for i in range(d):
        mine = owner == i
        expected = phi[:, mine] @ first[mine]
        if (names[i],) in found:
            np.testing.assert_allclose(found[names[i],], expected, atol=1e-9 * size)
        else:
            assert not expected.any()
    for i, j in combinations(range(d), 2):
        a, b = owner == i, owner == j
        expected = 2 * np.einsum(
            "np,cpq,nq->nc", phi[:, a], W[:, a][:, :, b], phi[:, b]
        )
        key = (names[i], names[j])
        if key in found:
            np.testing.assert_allclose(found[key], expected, atol=1e-9 * size)
        else:
            assert not expected.any()


@pytest.mark.filterwarnings("ignore:Levels that training never saw:UserWarning")
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", NAMES)
def test_terms_add_up_and_files_keep_all(name: str, task: str, tmp_path: Path) -> None:
    frame, y = table(), target(table(), task)
    model = make(name, task, special_values=CODES).fit(frame, y)
    assert MODELS[name].glass_box
    score = scores(model, odd_rows())
    for view in ("pure", "raw", "shapley"):
        explanation = model.explain_local(odd_rows(), view=view)
        total = explanation.base + explanation.values.sum(1)
        np.testing.assert_allclose(
            total.reshape(score.shape), score, rtol=1e-9, atol=1e-9
        )
    members = model.model_.score(model.encoder_.transform(odd_rows()), collapsed=False)
    np.testing.assert_allclose(members.numpy(), score, rtol=1e-9, atol=1e-9)
    overall = model.explain_global()
    assert np.isfinite(overall.curve("size").y).all()
    if name == "linear-2":
        assert len(model.spectrum().values) > 0
        assert np.isfinite(overall.surface("size", "rooms").z).all()
        model.truncate(2)
    model.save(tmp_path / "model.spam")
    loaded = load_model(tmp_path / "model.spam")
    np.testing.assert_array_equal(scores(loaded, odd_rows()), score)
    assert (loaded.l2_, loaded.n_parameters_) == (model.l2_, model.n_parameters_)
    np.testing.assert_array_equal(
        loaded.explain_local(odd_rows()).values, model.explain_local(odd_rows()).values
    )


def test_expansion_in_plain_columns_changes_no_score() -> None:
    from spam_core.models.quadratic import QuadraticEnsemble, Standardisation

    frame, y = table(), target(table(), "multiclass")
    model = make("linear-2", "multiclass").fit(frame, y)
    rows = model.encoder_.transform(frame)
    feature_map = LinearMap(model.model_.feature_map.layout, rescale=False)
    standard = Standardisation.of(feature_map, rows, torch.ones(len(frame)).double(), 2)
    ensemble = QuadraticEnsemble(feature_map, 2, 3, standard, torch.ones(2)).double()
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in ensemble.parameters():
            parameter.normal_(generator=generator)
        expected = 3 * ensemble(rows).mean(1) + 5
        expected -= expected.mean(1, keepdim=True)
    frozen = ensemble.freeze(None, 5.0, 3.0)
    torch.testing.assert_close(
        frozen.score(rows), expected, rtol=1e-5, atol=1e-4 * float(expected.abs().max())
    )


@pytest.mark.parametrize("order", [1, 2])
def test_l1_leaves_what_counts(order: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 8))
    y = 2 * X[:, 0] + (3 * X[:, 1] * X[:, 2] if order == 2 else X[:, 1])
    model = LinearRegressor(order, l1=0.3, l2=0.0, random_state=0).fit(X, y)
    if order == 1:
        weights = model.model_.factors.weights[1][:, 0, 0].numpy()
        assert set(np.flatnonzero(weights)) == {0, 1}
        return
    upper = np.triu(matrix_of(model)[0], 1)
    size = np.abs(upper).max()
    pairs = {
        (int(i), int(j))
        for i, j in zip(*np.nonzero(np.abs(upper) > 1e-12 * size), strict=True)
    }
    assert (1, 2) in pairs
    assert len(pairs) < 14  # of 28
    sd = {term: abs(v).mean() for term, v in zip(*_terms(model, X), strict=True)}
    assert max(sd, key=sd.__getitem__) == ("x1", "x2")


def _terms(model: Any, X: np.ndarray) -> tuple[Any, Any]:
    explanation = model.explain_local(X)
    return explanation.terms, explanation.values.T


def test_l2_shrinks() -> None:
    X = np.random.default_rng(0).normal(size=(200, 3))
    spread = [
        LinearRegressor(2, l2=l2, random_state=0).fit(X, X[:, 0]).predict(X).std()
        for l2 in (0.0, 1e3)
    ]
    assert spread[1] < 0.7 * spread[0]


def test_sparse_tables_stay_sparse() -> None:
    rng = np.random.default_rng(0)
    dense = rng.random((300, 20)) * (rng.random((300, 20)) < 0.2)
    y = np.where(dense[:, 0] + dense[:, 1] > dense[:, 2], "a", "b")
    model = make("linear", "binary", scaling="maxabs", max_epochs="auto")
    model.fit(sp.csr_matrix(dense), y)
    assert model.score(sp.csr_matrix(dense), y) > 0.85
    score = scores(model, sp.csr_matrix(dense[:9]))
    explanation = model.explain_local(sp.csr_matrix(dense[:9]), view="raw")
    total = explanation.base + explanation.values.sum(1)
    np.testing.assert_allclose(total[:, None], score, rtol=1e-9, atol=1e-9)
    with pytest.raises(TypeError, match=r"^A sparse matrix needs order=1, got order=2"):
        LinearClassifier(order=2).fit(sp.csr_matrix(dense), y)


def test_too_many_products_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).random((20, 12))
    monkeypatch.setattr(linear, "_MOST_COLUMNS", 11)
    message = "expected at most 11 of them, got 12."
    with pytest.raises(ValueError, match=re.escape(message)):
        make("linear-2", "regression").fit(X, X[:, 0])
    make("linear", "regression").fit(X, X[:, 0])
    monkeypatch.setattr(linear, "_MOST_COLUMNS", 12)
    monkeypatch.setattr(linear, "_MOST_WEIGHTS", 1439)
    message = "would train 1,440 weights (12 encoded columns squared, times 10 members"
    with pytest.raises(ValueError, match=re.escape(message)):
        make("linear-2", "regression").fit(X, X[:, 0])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"order": 3}, "order must be 1 or 2, got 3"),
        ({"order": True}, "order must be 1 or 2, got True"),
        ({"l1": -1}, "l1 must be a number >= 0, got -1"),
        ({"l2": -1}, 'l2 must be "auto" or a number >= 0, got -1'),
        ({"l2": "much"}, "l2 must be \"auto\" or a number >= 0, got 'much'"),
        ({"scaling": "log"}, "scaling must be one of ['quantile', 'minmax', "),
        *COMMON_ERRORS,
    ],
    ids=case_id,
)
def test_parameters(parameters: dict[str, Any], message: str) -> None:
    check(LinearRegressor(), parameters, message)


@pytest.mark.parametrize("name", NAMES)
def test_two_fits_are_equal(name: str) -> None:
    frame, y = table(), target(table(), "multiclass")
    first, second = (
        scores(make(name, "multiclass").fit(frame, y), frame) for _ in "ab"
    )
    np.testing.assert_array_equal(first, second)


@pytest.mark.filterwarnings(
    # The checks fit tiny tables, on purpose; they are told.
    "ignore:.*too few to hold out:UserWarning",
    "ignore:These classes have a single row:UserWarning",
)
@without(
    "check_array_api_input",  # see test_sklearn
    parametrize_with_checks(
        [LinearRegressor(2, **TRAINED), LinearClassifier(**TRAINED)],
        expected_failed_checks=exceptions,
    ),
)
def test_checks_of_scikit_learn(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
