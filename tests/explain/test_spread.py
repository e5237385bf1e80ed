"""Standard deviations and rankings against enumeration of the product measure."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from spam_core.explain import spread
from spam_core.explain.nodes import NodeScores
from spam_core.explain.spread import (
    pair_sd,
    pooled_sd,
    rank_pairs,
    rank_terms,
    term_sd,
)
from spam_core.explain.term_set import Prefixes, TermSet
from spam_core.explain.terms import TermAlgebra
from tests.explain.oracle import tensors, toy

TIGHT = {"rtol": 1e-9, "atol": 1e-10}


def enumerated_sd(model, view):
    """Sd of every term over all combinations of nodes: (T, C)."""
    grid, weight = model.at_nodes(), model.grid_weights()
    algebra = model.algebra(view)
    terms = TermSet.all(model.d, model.degree)
    values = algebra.terms(tensors(grid.row_scores), terms)[1].numpy()
    mean = np.tensordot(weight, values, axes=(0, 0))
    return np.sqrt(np.tensordot(weight, (values - mean) ** 2, axes=(0, 0)))


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("orders", [(1,), (2,), (3,), (4,), (1, 2, 3, 4)])
@pytest.mark.parametrize("view", ["pure", "raw"])
def test_sd_is_that_of_the_product_measure(view, orders, n_outputs):
    model = toy(21, orders=orders, n_outputs=n_outputs)
    terms = TermSet.all(model.d, model.degree)
    expected = enumerated_sd(model, view)
    algebra = model.algebra(view)
    np.testing.assert_allclose(term_sd(algebra, terms).numpy(), expected, **TIGHT)
    pooled = np.sqrt((expected**2).mean(1))
    np.testing.assert_allclose(pooled_sd(algebra, terms).numpy(), pooled, **TIGHT)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("view", ["pure", "raw"])
def test_chosen_terms_have_the_same_sd(view, shared, monkeypatch):
    model = toy(22, orders=(1, 2, 3, 4), n_outputs=2, d=6)
    everything = TermSet.all(6, 4)
    sd = term_sd(model.algebra(view), everything)
    chosen = [(2,), (0, 5), (1, 4), (1, 3, 5), (0, 2, 3, 5)]
    positions = [everything.tuples().index(term) for term in chosen]
    monkeypatch.setattr(Prefixes, "shared_is_cheaper", lambda *_: shared)
    few = term_sd(model.algebra(view), TermSet.of(chosen, 6))
    torch.testing.assert_close(few, sd[positions], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("view", ["pure", "raw"])
def test_small_tiles_change_nothing(view, shared, monkeypatch):
    """Tiles of component pairs use their symmetry, and meet across orders."""
    model = toy(23, orders=(2, 3), n_outputs=2, d=5)
    terms = TermSet.all(5, 3)
    expected = term_sd(model.algebra(view), terms)
    monkeypatch.setattr(Prefixes, "shared_is_cheaper", lambda *_: shared)
    for block in (40, 150, 400):
        for name in ("grams", "nodes"):
            monkeypatch.setattr(f"spam_core.explain.{name}.BLOCK", block)
        for name in ("nodes", "products"):
            monkeypatch.setattr(f"spam_core.explain.{name}.CACHE", block)
        sd = term_sd(model.algebra(view), terms)
        torch.testing.assert_close(sd, expected, rtol=1e-10, atol=1e-10)


def test_pair_sd_is_the_formula_over_covariances():
    """var = 4 sum over components of lambda lambda' C_i C_j, order 2."""
    model = toy(24, orders=(2,))
    centred = model.node_scores[2] - model.mean(2)
    cov = np.einsum("nd,ndr,nds->drs", model.weights, centred, centred)
    lam = model.lam[2][0]
    weight = 4 * np.outer(lam, lam)
    matrix = np.einsum("irs,jrs,rs->ij", cov, cov, weight)
    np.fill_diagonal(matrix, 0.0)
    sd = pair_sd(model.algebra())[..., 0].numpy()
    np.testing.assert_allclose(sd**2, matrix, **TIGHT)


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_ranking_is_the_order_of_sd(n_outputs):
    model = toy(25, orders=(1, 2, 3), d=5, n_outputs=n_outputs)
    algebra = model.algebra()
    terms = TermSet.all(5, 3)
    sd = np.sqrt((enumerated_sd(model, "pure") ** 2).mean(1))
    best = sorted(np.argsort(-sd)[:7])
    chosen, chosen_sd = rank_terms(algebra, 7)
    assert chosen.tuples() == [terms.tuples()[k] for k in best]
    np.testing.assert_allclose(chosen_sd.numpy(), sd[best], **TIGHT)

    pairs = rank_pairs(algebra, 4)
    expected = [(t, s) for t, s in zip(terms.tuples(), sd, strict=True) if len(t) == 2]
    expected.sort(key=lambda item: -item[1])
    assert [term for term, _ in pairs] == [term for term, _ in expected[:4]]
    np.testing.assert_allclose(
        [s for _, s in pairs], [s for _, s in expected[:4]], **TIGHT
    )


def test_asking_for_more_terms_than_exist_returns_what_exists():
    algebra = toy(26, orders=(1, 2), d=3).algebra()
    assert len(rank_terms(algebra, 100)[0]) == 6
    assert len(rank_pairs(algebra, 100)) == 3
    assert rank_pairs(toy(26, orders=(1,), d=3).algebra(), 5) == []


def test_with_too_many_candidates_the_best_are_sought_among_the_varying(monkeypatch):
    model = toy(27, orders=(1, 2, 3), d=7)
    for g in model.node_scores.values():
        g[:, [1, 4, 6]] *= 4.0
    algebra = model.algebra()
    exact, sd = rank_terms(algebra, 12)
    monkeypatch.setattr(spread, "MOST_CANDIDATES", 10)
    chosen, _ = rank_terms(algebra, 12)
    best = exact.tuples()[int(sd.argmax())]
    assert (1, 4, 6) in chosen.tuples()
    assert best in chosen.tuples()


def test_a_silent_feature_varies_by_nothing():
    """Exactly 0, not what rounding leaves, in both views."""
    model = toy(28, orders=(1, 2, 3))
    for g in model.node_scores.values():
        g[:, 2] = 0.0
    terms = TermSet.all(4, 3)
    silent = [k for k, term in enumerate(terms.tuples()) if 2 in term]
    for view in ("pure", "raw"):
        assert (term_sd(model.algebra(view), terms)[silent] == 0.0).all()


def test_a_constant_raw_term_has_no_sd():
    g = {2: torch.full((3, 2, 2), 0.7).double()}
    weights = torch.full((3, 2), 1 / 3, dtype=torch.float64)
    lam = {2: torch.ones(1, 2).double()}
    algebra = TermAlgebra(
        torch.zeros(1).double(), lam, NodeScores.of(g, weights), "raw"
    )
    assert (term_sd(algebra, TermSet.all(2, 2)) < 1e-12).all()


def test_without_marginals_there_is_no_spread():
    algebra = TermAlgebra(
        torch.zeros(1).double(), {2: torch.ones(1, 1).double()}, None, "raw"
    )
    with pytest.raises(ValueError, match="training marginals"):
        term_sd(algebra, TermSet.all(2, 2))
