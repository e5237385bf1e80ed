"""KernelSHAP: equal to the truth where it is known, and what it never does."""

from __future__ import annotations

from functools import cache
from itertools import combinations, product
from math import factorial

import numpy as np
import pandas as pd
import pytest

from spam_core.estimators.dnn import DNNRegressor
from spam_core.estimators.spam import SPAMRegressor
from spam_core.explain import estimate_evaluations, explain_kernel_shap
from spam_core.explain.kernel_shap import load_kernel_explainer
from tests.explain.contract import check_local
from tests.explain.posthoc_tools import (
    IGNORE_UNKNOWN,
    Recorder,
    network,
    our_models,
    scores,
)
from tests.explain.tables import TASKS, fitted, odd_rows, table


def by_enumeration(model, row: pd.DataFrame, background: pd.DataFrame) -> np.ndarray:
    """Shapley values (d, C) as they are defined, from frames, coalition by coalition.

    A feature that is unknown in the row is unknown in the background, too.
    """
    names, d = list(row.columns), row.shape[1]
    codes = model.encoder_.transform(row).codes[0].numpy()
    held = [n for n, code in zip(names, codes, strict=True) if code == -2]

    @cache
    def value(present: frozenset) -> np.ndarray:
        mixed = background.astype(object)
        for name in {*present, *held}:
            mixed[name] = row[name].iloc[0]
        return scores(model, mixed.infer_objects()).mean(0).reshape(-1)

    values = []
    for name in names:
        others = [other for other in names if other != name]
        total = 0.0
        for size in range(d):
            weight = factorial(size) * factorial(d - 1 - size) / factorial(d)
            for chosen in combinations(others, size):
                without = frozenset(chosen)
                total += weight * (value(without | {name}) - value(without))
        values.append(total)
    return np.array(values)


@pytest.mark.parametrize("order", [2, 3])
def test_full_enumeration_gives_a_spams_exact_shapley_values(order):
    # the training table is a product of its marginals, so both have one reference
    grid = pd.DataFrame(list(product([0.0, 1.0], repeat=8)), columns=list("abcdefgh"))
    rng = np.random.default_rng(0)
    weights = rng.normal(size=8)
    y = (grid @ weights) ** 2 + grid["a"] * grid["b"] - grid["h"]
    model = SPAMRegressor(
        order, rank=4, n_members=2, max_epochs=5, regularization="light", random_state=0
    ).fit(grid, y)
    rows = grid.iloc[[3, 100]]
    found = explain_kernel_shap(model, rows, grid, max_background=256)
    truth = model.explain_local(rows, view="shapley")
    np.testing.assert_allclose(found.values, truth.values, rtol=0, atol=1e-6)
    np.testing.assert_allclose(found.base, truth.base, rtol=0, atol=1e-6)
    assert np.abs(truth.values).max() > 0.1
    assert found.background_size == 256
    assert not found.exact
    assert found.view == "shapley"


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.filterwarnings(IGNORE_UNKNOWN)
def test_full_enumeration_is_the_definition(task):
    model, background = network(task), table().iloc[:12]
    rows = pd.concat([table().iloc[[40]], odd_rows().iloc[[5]]])
    found = explain_kernel_shap(model, rows, background)
    for r in range(2):
        truth = by_enumeration(model, rows.iloc[[r]], background)
        mine = found.values[r].reshape(truth.shape)
        np.testing.assert_allclose(mine, truth, rtol=0, atol=1e-8)


def test_additive_models_need_no_luck():
    """Without interactions any sample gives f(x) less its mean over the background."""
    model, rows, background = fitted(order=1), table().iloc[:5], table().iloc[50:90]
    found = explain_kernel_shap(model, rows, background, n_samples=16)
    mine, theirs = (model.explain_local(part) for part in (rows, background))
    shapes = mine.values - theirs.values.mean(0)
    np.testing.assert_allclose(found.values, shapes, rtol=0, atol=1e-8)
    np.testing.assert_allclose(found.base, model.predict(background).mean())


def test_numeric_tables_get_what_the_package_gives():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(30, 14)))
    model = Recorder(lambda X: np.sin(np.asarray(X).sum(axis=1)))
    mine = explain_kernel_shap(model, X[:1], X, n_samples=200, seed=7)
    before = np.random.get_state()  # noqa: NPY002  (the package uses the global one)
    try:
        np.random.seed(7)  # noqa: NPY002
        explainer = load_kernel_explainer()(model.predict, X.to_numpy())
        found = explainer.shap_values(
            X[:1].to_numpy(), nsamples=200, l1_reg=0, silent=True
        )
    finally:
        np.random.set_state(before)  # noqa: NPY002
    np.testing.assert_allclose(mine.values, found, rtol=0, atol=1e-8)
    np.testing.assert_allclose(mine.base[0], explainer.expected_value)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.filterwarnings(IGNORE_UNKNOWN)
def test_contract(task):
    background = table()
    for model in our_models(task):
        for rows in (table().iloc[:2], odd_rows()):
            found = explain_kernel_shap(model, rows, background, max_background=10)
            check_local(found, rows)
            np.testing.assert_allclose(found.score, scores(model, rows), atol=1e-12)
            assert found.terms == tuple((name,) for name in background.columns)
            assert found.method == "KernelSHAP"


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.filterwarnings(IGNORE_UNKNOWN)
def test_constant_and_unknown_features_have_exactly_none(task):
    found = explain_kernel_shap(network(task), odd_rows(), table(), n_samples=40)
    names = list(found.feature_names)
    assert (found.values[:, names.index("same")] == 0).all()
    assert found.unknown is not None
    assert found.unknown.sum() >= 3  # Rom, no rooms, no garden or rooms or months
    assert (found.values[found.unknown] == 0).all()
    others = ~found.unknown
    others[:, names.index("same")] = False
    used = np.abs(found.values).reshape(*others.shape, -1).max(-1)[others]
    assert (used > 0).mean() > 0.9


def test_unknown_cells_are_warned_of_once():
    with pytest.warns(UserWarning, match="Levels that training never saw") as caught:
        explain_kernel_shap(network(), odd_rows().iloc[[1, 1]], table())
    assert len(caught) == 1


@pytest.mark.parametrize("d", [20, 40])
def test_no_feature_is_dropped_from_wide_tables(d):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(5000, d)), columns=[f"f{i}" for i in range(d)])
    y = X.sum(axis=1) + X["f0"] * X["f1"]
    model = DNNRegressor((16, 8), max_epochs=2, random_state=0).fit(X, y)
    found = explain_kernel_shap(model, X.iloc[:1], X)
    again = explain_kernel_shap(model, X.iloc[:1], X)
    np.testing.assert_array_equal(found.values, again.values)
    assert (np.abs(found.values) > 1e-6).all()
    assert abs(found.base[0] + found.values.sum() - model.predict(X.iloc[:1])[0]) < 1e-3
    assert found.background_size == 100
    wanted = estimate_evaluations("kernel_shap", d)
    assert 0.99 * wanted < found.n_evaluations <= wanted


def test_every_cell_that_is_asked_for_is_real_and_from_the_row_or_one_background_row():
    X = table().drop(columns="same")
    model = Recorder(lambda X: X["size"].fillna(0) + X["rooms"] + (X["city"] == "Ulm"))
    found = explain_kernel_shap(model, X.iloc[[3]], X, max_background=7)
    assert found.background_size == 7
    asked = model.rows
    pairs = asked[["size", "rooms", "city", "months"]].drop_duplicates()
    own = X.iloc[3]
    some = X.astype(object)
    for _, cells in pairs.iterrows():
        free = [n for n in pairs.columns if not _same(cells[n], own[n])]
        fits = np.ones(len(some), dtype=bool)
        for name in free:
            fits &= [_same(cell, cells[name]) for cell in some[name]]
        assert fits.any()
    assert asked.dtypes.equals(X.dtypes)


def _same(a, b) -> bool:
    return (pd.isna(a) and pd.isna(b)) or a == b


def test_values_do_not_depend_on_the_targets_unit():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(50, 3)), columns=list("abc"))
    found = [
        explain_kernel_shap(Recorder(lambda X, u=unit: u * X.sum(axis=1)), X[:2], X)
        for unit in (1.0, 1e-13, 1e12)
    ]
    for other, unit in zip(found[1:], (1e-13, 1e12), strict=True):
        np.testing.assert_allclose(other.values / unit, found[0].values, rtol=1e-6)


def test_one_varying_feature_gets_all_and_none_nothing():
    X = pd.DataFrame({"a": [1.0, 1.0], "b": [2.0, 5.0]})
    model = Recorder(lambda X: X["a"] * X["b"])
    found = explain_kernel_shap(model, X, X)
    np.testing.assert_allclose(found.values, [[0.0, -1.5], [0.0, 1.5]])
    alone = explain_kernel_shap(model, X[:1], X[:1])
    assert (alone.values == 0).all()
    np.testing.assert_allclose(alone.base, 2.0)
