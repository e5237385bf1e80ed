"""Shapley values against their definition over all coalitions."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from spam_core.explain.shapley import interaction_indices, shapley_values
from spam_core.explain.term_set import TermSet
from tests.explain.oracle import tensors, toy

TIGHT = {"rtol": 1e-9, "atol": 1e-9}
ORDERS = [(1,), (2,), (3,), (4,), (1, 2, 3, 4)]


def solve(model, view="pure"):
    known = torch.from_numpy(model.known)
    scores = tensors(model.row_scores)
    base, values = shapley_values(model.algebra(view), scores, known)
    return base.numpy(), values.numpy()


@pytest.mark.parametrize("unknown", [False, True])
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("orders", ORDERS)
def test_values_are_the_mean_over_coalitions(orders, n_outputs, unknown):
    model = toy(31, orders=orders, n_outputs=n_outputs, unknown=unknown)
    base, values = solve(model)
    for row in range(model.n):
        np.testing.assert_allclose(base[row], model.value(row, (), "pure"), **TIGHT)
        np.testing.assert_allclose(values[row], model.shapley(row), **TIGHT)


@pytest.mark.parametrize("orders", ORDERS)
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
        np.testing.assert_allclose(solve(model, view)[1], shared, **TIGHT)


def test_values_add_up_to_the_score():
    model = toy(33, orders=(1, 2, 3, 4), d=6, n_outputs=3, unknown=True)
    base, values = solve(model)
    score = model.algebra().score(tensors(model.row_scores)).numpy()
    np.testing.assert_allclose(base + values.sum(1), score, **TIGHT)


def test_unknown_features_are_no_players():
    model = toy(34, orders=(1, 2, 3), unknown=True)
    _, values = solve(model)
    assert (values[~model.known] == 0.0).all()
    assert (values[model.known] != 0.0).all()


@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("orders", ORDERS)
def test_interactions_are_their_definition(orders, n_outputs):
    model = toy(35, orders=orders, n_outputs=n_outputs, unknown=True)
    known = torch.from_numpy(model.known)
    scores = tensors(model.row_scores)
    index = interaction_indices(model.algebra(), scores, known).numpy()
    np.testing.assert_array_equal(index, index.transpose(0, 2, 1, 3))
    for row in range(model.n):
        for i in range(model.d):
            assert (index[row, i, i] == 0.0).all()
            for j in range(i):
                expected = model.interaction(row, i, j)
                np.testing.assert_allclose(index[row, i, j], expected, **TIGHT)


def test_at_order_two_an_interaction_is_the_pair_term():
    model = toy(36, orders=(1, 2), d=5)
    scores = tensors(model.row_scores)
    terms = TermSet.all(5, 2)
    _, each = model.algebra().terms(scores, terms)
    index = interaction_indices(model.algebra(), scores)
    for k, term in enumerate(terms.tuples()):
        if len(term) == 2:
            torch.testing.assert_close(index[:, term[0], term[1]], each[:, k])


def test_a_single_feature_has_no_pairs():
    model = toy(37, orders=(1, 2), d=1)
    model.weights[:, 0] = 1 / 3
    scores = tensors(model.row_scores)
    assert (interaction_indices(model.algebra(), scores) == 0.0).all()
