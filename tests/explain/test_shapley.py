"""Shapley values against their definition over all coalitions."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.sparse import csr_matrix

from spam_core.estimators.spam import SPAMRegressor
from spam_core.explain.shapley import order_indices, order_values
from spam_core.explain.term_set import TermSet
from tests.explain.contract import check_local
from tests.explain.oracle import tensors, toy
from tests.explain.posthoc_tools import IGNORE_UNKNOWN
from tests.explain.tables import MAPS, TASKS, fitted, odd_rows

TIGHT = {"rtol": 1e-9, "atol": 1e-9}
ORDERS = [(1,), (2,), (3,), (4,), (1, 2, 3, 4)]


def solve(model, view="pure", of_order=order_values):
    """Sum what the orders add, by series: values, or indices."""
    known = torch.from_numpy(model.known)
    scores, algebra = tensors(model.row_scores), model.algebra(view)
    return sum(
        of_order(algebra, order, scores[order.degree], known).numpy()
        for order in algebra.orders
    )


@pytest.mark.parametrize("unknown", [False, True])
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("orders", ORDERS, ids=str)
def test_values_are_the_mean_over_coalitions(orders, n_outputs, unknown):
    model = toy(31, orders=orders, n_outputs=n_outputs, unknown=unknown)
    values = solve(model)
    for row in range(model.n):
        np.testing.assert_allclose(values[row], model.shapley(row), **TIGHT)


@pytest.mark.parametrize("orders", ORDERS, ids=str)
def test_values_are_terms_shared_equally(orders):
    model = toy(32, orders=orders, d=6, n_outputs=2, unknown=True)
    known = torch.from_numpy(model.known)
    terms = TermSet.all(6, model.degree)
    for view in ("pure", "raw"):
        algebra = model.algebra(view)
        _, each = algebra.terms(tensors(model.row_scores), terms, known)
        shared = np.zeros((model.n, 6, 2))
        for k, term in enumerate(terms.tuples()):
            shared[:, list(term)] += each.numpy()[:, k, None] / len(term)
        np.testing.assert_allclose(solve(model, view), shared, **TIGHT)


def test_unknown_features_are_no_players():
    model = toy(34, orders=(1, 2, 3), unknown=True)
    values = solve(model)
    assert (values[~model.known] == 0.0).all()
    assert (values[model.known] != 0.0).all()


@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("orders", ORDERS, ids=str)
def test_interactions_are_their_definition(orders, n_outputs):
    model = toy(35, orders=orders, n_outputs=n_outputs, unknown=True)
    index = solve(model, of_order=order_indices)
    np.testing.assert_array_equal(index, index.transpose(0, 2, 1, 3))
    for row in range(model.n):
        for i in range(model.d):
            assert (index[row, i, i] == 0.0).all()
            for j in range(i):
                expected = model.interaction(row, i, j)
                np.testing.assert_allclose(index[row, i, j], expected, **TIGHT)


def test_at_order_two_an_interaction_is_the_pair_term():
    model = toy(36, orders=(1, 2), d=5)
    terms = TermSet.all(5, 2)
    _, each = model.algebra().terms(tensors(model.row_scores), terms)
    index = solve(model, of_order=order_indices)
    for k, term in enumerate(terms.tuples()):
        if len(term) == 2:
            np.testing.assert_allclose(index[:, term[0], term[1]], each[:, k], **TIGHT)


def test_a_single_feature_has_no_pairs():
    model = toy(37, orders=(1, 2), d=1)
    model.weights[:, 0] = 1 / 3
    assert (solve(model, of_order=order_indices) == 0.0).all()


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("feature_map", MAPS)
@pytest.mark.filterwarnings(IGNORE_UNKNOWN)
def test_a_models_values_and_indices_are_shared_terms(feature_map, order, task):
    model, rows = fitted(task, order, feature_map), odd_rows()
    found = model.explain_local(rows, view="shapley")
    check_local(found, rows)
    terms = model.explain_local(rows)
    values, indices = np.zeros_like(found.values), np.zeros_like(found.interactions)
    names = list(found.feature_names)
    for k, term in enumerate(terms.terms):
        members = [names.index(name) for name in term]
        for i in members:
            values[:, i] += terms.values[:, k] / len(term)
            for j in members:
                if i != j:
                    indices[:, i, j] += terms.values[:, k] / (len(term) - 1)
    tight = {"rtol": 0, "atol": 1e-11 * max(1.0, np.abs(found.score).max())}
    np.testing.assert_allclose(found.values, values, **tight)
    np.testing.assert_allclose(found.interactions, indices, **tight)
    np.testing.assert_allclose(found.base, terms.base, **tight)
    np.testing.assert_allclose(found.score, terms.score, **tight)
    assert (found.values[found.unknown] == 0).all()
    assert (found.interactions[found.unknown] == 0).all()


@pytest.mark.parametrize("feature_map", MAPS)
@pytest.mark.filterwarnings(IGNORE_UNKNOWN)
def test_sums_and_weighted_scores_are_those_of_the_component_scores(feature_map):
    whole = fitted("multiclass", 3, feature_map).model_
    smaller = fitted("multiclass", 3, feature_map).truncate(2).model_
    rows = fitted("multiclass", 3, feature_map).encoder_.transform(odd_rows())
    for model in (whole, smaller):
        for order, scores in model.component_scores(rows).items():
            draws = torch.Generator().manual_seed(order)
            shape = (len(rows), 2, scores.shape[2])
            vectors = torch.randn(shape, generator=draws, dtype=torch.float64)
            torch.testing.assert_close(
                model.weighted_scores(rows, order, vectors),
                torch.einsum("ndr,ncr->ndc", scores, vectors),
            )
            torch.testing.assert_close(model.component_sums(rows, order), scores.sum(1))
            torch.testing.assert_close(
                model.component_scores(rows, [order]), {order: scores}
            )


def test_a_model_without_marginals_needs_a_background():
    numbers = np.random.default_rng(0).random((80, 3))
    X, y = csr_matrix(numbers), numbers[:, 0] * numbers[:, 1]
    model = SPAMRegressor(
        rank=2, n_members=1, max_epochs=1, feature_map="linear", scaling="none"
    ).fit(X, y)
    with pytest.raises(ValueError, match="background table"):
        model.explain_local(X[:2], view="shapley")
    found = model.explain_local(X[:2], view="shapley", background=X[10:30])
    np.testing.assert_allclose(found.base, model.predict(X[10:30]).mean())
    np.testing.assert_allclose(found.base + found.values.sum(1), model.predict(X[:2]))
