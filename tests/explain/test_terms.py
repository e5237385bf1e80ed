"""Terms against their definitions, by enumeration."""

from __future__ import annotations

from itertools import product
from math import factorial, prod

import numpy as np
import pytest
import torch

from spam_core.explain import products
from spam_core.explain.nodes import NodeScores
from spam_core.explain.term_set import Prefixes, TermSet, count_terms
from spam_core.explain.terms import TermAlgebra
from tests.explain.oracle import tensors, toy

ORDERS = [(1,), (2,), (3,), (4,), (1, 2, 3, 4)]
TIGHT = {"rtol": 1e-10, "atol": 1e-10}


def split(model, view, terms=None):
    algebra = model.algebra(view)
    terms = TermSet.all(model.d, model.degree) if terms is None else terms
    known = torch.from_numpy(model.known)
    base, values = algebra.terms(tensors(model.row_scores), terms, known)
    return base.numpy(), values.numpy(), terms.tuples()


@pytest.mark.parametrize("unknown", [False, True])
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("orders", ORDERS)
@pytest.mark.parametrize("view", ["pure", "raw"])
def test_terms_are_inclusion_exclusion(view, orders, n_outputs, unknown):
    model = toy(1, orders=orders, n_outputs=n_outputs, unknown=unknown)
    base, values, terms = split(model, view)
    for row in range(model.n):
        np.testing.assert_allclose(base[row], model.value(row, (), view), **TIGHT)
        for k, term in enumerate(terms):
            expected = model.term(row, term, view)
            np.testing.assert_allclose(values[row, k], expected, **TIGHT)


@pytest.mark.parametrize("unknown", [False, True])
@pytest.mark.parametrize("view", ["pure", "raw"])
def test_order_four_of_five_features(view, unknown):
    """No size of term has all the features, and every order takes part."""
    model = toy(15, orders=(1, 2, 3, 4), d=5, n_nodes=2, unknown=unknown)
    base, values, terms = split(model, view)
    assert {len(term) for term in terms} == {1, 2, 3, 4}
    for row in range(model.n):
        np.testing.assert_allclose(base[row], model.value(row, (), view), **TIGHT)
        for k, term in enumerate(terms):
            expected = model.term(row, term, view)
            np.testing.assert_allclose(values[row, k], expected, **TIGHT)


@pytest.mark.parametrize("unknown", [False, True])
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("orders", ORDERS)
@pytest.mark.parametrize("view", ["pure", "raw"])
def test_base_and_all_terms_sum_to_the_score(view, orders, n_outputs, unknown):
    model = toy(2, orders=orders, n_outputs=n_outputs, unknown=unknown, d=5)
    base, values, _ = split(model, view)
    for row in range(model.n):
        g = {l: v[row] for l, v in model.row_scores.items()}
        expected = model.score(g)
        np.testing.assert_allclose(base[row] + values[row].sum(0), expected, **TIGHT)
    score = model.algebra(view).score(tensors(model.row_scores)).numpy()
    np.testing.assert_allclose(score, base + values.sum(1), **TIGHT)


@pytest.mark.parametrize("view", ["pure", "raw"])
def test_terms_with_an_unknown_feature_are_exactly_zero(view):
    model = toy(3, orders=(1, 2, 3, 4), unknown=True)
    _, values, terms = split(model, view)
    touched = np.array(
        [[not model.known[r, list(t)].all() for t in terms] for r in range(model.n)]
    )
    assert touched.sum() > 20
    assert (values[touched] == 0.0).all()
    assert (values[~touched] != 0.0).all()


@pytest.mark.parametrize("l", [2, 3, 4])
def test_raw_terms_are_the_multinomial_expansion(l):
    """Each monomial belongs to the term of the features it is about."""
    model = toy(4, orders=(l,), n_outputs=2)
    _, values, terms = split(model, "raw")
    g, lam = model.row_scores[l], model.lam[l]
    expected = np.zeros_like(values)
    for powers in product(range(l + 1), repeat=model.d):
        if sum(powers) != l:
            continue
        support = tuple(i for i, a in enumerate(powers) if a)
        coefficient = factorial(l) / prod(factorial(a) for a in powers)
        monomial = coefficient * np.prod(
            [g[:, i] ** a for i, a in enumerate(powers)], axis=0
        )
        expected[:, terms.index(support)] += monomial @ lam.T
    np.testing.assert_allclose(values, expected, **TIGHT)


def test_closed_forms_of_orders_two_and_three():
    """What the formulas for conditional means come to, written out."""
    model = toy(5, orders=(2, 3), n_outputs=1)
    base, values, terms = split(model, "pure")
    at = {term: values[:, k, 0] for k, term in enumerate(terms)}
    want = dict.fromkeys(terms, 0.0)
    const = model.bias[0]
    for l in (2, 3):
        m, w = model.mean(l), model.weights[:, :, None]
        lam = model.lam[l][0]
        h = model.row_scores[l] - m
        v = (w * (model.node_scores[l] - m) ** 2).sum(0)
        s = (w * (model.node_scores[l] - m) ** 3).sum(0)
        M, V = m.sum(0), v.sum(0)
        if l == 2:
            const = const + (M**2 + V) @ lam
        else:
            const = const + (M**3 + 3 * M * V + s.sum(0)) @ lam
        for i in range(model.d):
            hi = h[:, i]
            one = 2 * M * hi + hi**2 - v[i]
            if l == 3:
                one = 3 * M**2 * hi + 3 * M * (hi**2 - v[i]) + hi**3 - s[i]
                one = one + 3 * (V - v[i]) * hi
            want[(i,)] = want[(i,)] + one @ lam
            for j in range(i + 1, model.d):
                hj = h[:, j]
                two = 2 * hi * hj
                if l == 3:
                    two = 6 * M * hi * hj + 3 * (hi**2 - v[i]) * hj
                    two = two + 3 * (hj**2 - v[j]) * hi
                want[i, j] = want[i, j] + two @ lam
                for k in range(j + 1, model.d):
                    if l == 3:
                        want[i, j, k] = (6 * hi * hj * h[:, k]) @ lam
    np.testing.assert_allclose(base[:, 0], const, **TIGHT)
    for term in terms:
        np.testing.assert_allclose(at[term], want[term], **TIGHT)


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_pure_terms_average_to_zero_over_each_of_their_features(n_outputs):
    model = toy(6, orders=(1, 2, 3, 4), n_outputs=n_outputs).at_nodes()
    _, values, terms = split(model, "pure")
    n_nodes = len(model.weights)
    grid = values.reshape(*[n_nodes] * model.d, len(terms), n_outputs)
    scale = np.abs(values).max()
    for k, term in enumerate(terms):
        for i in term:
            mean = np.tensordot(model.weights[:, i], grid[..., k, :], axes=(0, i))
            np.testing.assert_allclose(mean, 0.0, atol=1e-12 * scale)


def test_changing_the_view_changes_no_score():
    model = toy(7, orders=(1, 2, 3), n_outputs=3, unknown=True)
    base, values, _ = split(model, "pure")
    base_raw, values_raw, _ = split(model, "raw")
    assert np.abs(base - base_raw).max() > 0.1
    np.testing.assert_allclose(
        base + values.sum(1), base_raw + values_raw.sum(1), **TIGHT
    )


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("view", ["pure", "raw"])
def test_chosen_terms_equal_those_among_all(view, n_outputs, shared, monkeypatch):
    """Few terms are gathered, many are a matrix product: the same numbers."""
    model = toy(8, orders=(1, 2, 3, 4), d=6, n_outputs=n_outputs, unknown=True)
    _, everything, terms = split(model, view)
    chosen = [(2,), (5, 0), (1, 4), (3, 1, 5), (0, 2, 3, 5)]
    monkeypatch.setattr(Prefixes, "shared_is_cheaper", lambda *_: shared)
    _, values, tuples = split(model, view, TermSet.of(chosen, model.d))
    assert tuples == [(2,), (0, 5), (1, 4), (1, 3, 5), (0, 2, 3, 5)]
    for k, term in enumerate(tuples):
        expected = everything[:, terms.index(term)]
        np.testing.assert_allclose(values[:, k], expected, **TIGHT)


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("orders", ORDERS)
@pytest.mark.parametrize("view", ["pure", "raw"])
def test_shapes_of_one_feature_and_of_a_pair_are_their_terms(view, orders, n_outputs):
    model = toy(13, orders=orders, n_outputs=n_outputs)
    _, values, terms = split(model, view)
    algebra = model.algebra(view)

    def of(i):
        return tensors({l: g[:, i] for l, g in model.row_scores.items()})

    single = algebra.single(2, of(2)).numpy()
    np.testing.assert_allclose(single, values[:, terms.index((2,))], **TIGHT)
    grid = algebra.pair(1, 3, of(1), of(3)).numpy()
    assert grid.shape == (model.n, model.n, n_outputs)
    diagonal = grid[np.arange(model.n), np.arange(model.n)]
    expected = values[:, terms.index((1, 3))] if model.degree > 1 else 0.0
    np.testing.assert_allclose(diagonal, expected, **TIGHT)
    turned = algebra.pair(3, 1, of(3), of(1)).numpy()
    np.testing.assert_allclose(turned.transpose(1, 0, 2), grid, **TIGHT)


@pytest.mark.parametrize("shared", [True, False])
def test_small_blocks_change_nothing(shared, monkeypatch):
    model = toy(9, orders=(2, 3), d=6, n_outputs=2)
    _, expected, terms = split(model, "pure")
    some = TermSet.of(terms[::3], model.d)
    _, expected_some, _ = split(model, "pure", some)
    monkeypatch.setattr(Prefixes, "shared_is_cheaper", lambda *_: shared)
    for name in ("products", "nodes"):
        monkeypatch.setattr(f"spam_core.explain.{name}.CACHE", 40)
    _, values, _ = split(model, "pure")
    _, values_some, _ = split(model, "pure", some)
    np.testing.assert_allclose(values, expected, **TIGHT)
    np.testing.assert_allclose(values_some, expected_some, **TIGHT)


def test_the_cost_rule_uses_both_ways(monkeypatch):
    """Few terms of many features are gathered, all of them aren't."""
    used = []
    for name in ("_by_product", "_by_gathering"):
        original = getattr(products, name)

        def spy(*args, name=name, original=original):
            used.append(name)
            return original(*args)

        monkeypatch.setattr(products, name, spy)
    model = toy(8, orders=(2,), d=120)
    split(model, "pure")
    assert set(used) == {"_by_product"}
    split(model, "pure", TermSet.of([(i, i + 1) for i in range(0, 120, 2)], 120))
    assert set(used) == {"_by_product", "_by_gathering"}


def test_features_that_say_nothing_have_no_terms():
    """A constant feature (g = 0) has terms of exactly 0, alone and in pairs."""
    model = toy(10, orders=(1, 2, 3))
    for scores in (model.node_scores, model.row_scores):
        for g in scores.values():
            g[:, 2] = 0.0
    for view in ("pure", "raw"):
        _, values, terms = split(model, view)
        silent = [k for k, term in enumerate(terms) if 2 in term]
        assert (values[:, silent] == 0.0).all()


def test_permuting_features_permutes_terms():
    model = toy(11, orders=(1, 2, 3))
    order = np.array([2, 0, 3, 1])
    moved = toy(11, orders=(1, 2, 3))
    for l in model.lam:
        moved.node_scores[l][:] = model.node_scores[l][:, order]
        moved.row_scores[l][:] = model.row_scores[l][:, order]
    moved.weights[:] = model.weights[:, order]
    _, values, terms = split(model, "pure")
    _, values_moved, _ = split(moved, "pure")
    for k, term in enumerate(terms):
        source = tuple(sorted(int(order[i]) for i in term))
        expected = values[:, terms.index(source)]
        np.testing.assert_allclose(values_moved[:, k], expected, **TIGHT)


def test_a_model_with_a_large_mean_keeps_its_identity():
    """Uncentred maps make M large; what cancels must cancel in float64."""
    model = toy(12, orders=(4,), d=5)
    for scores in (model.node_scores, model.row_scores):
        scores[4] += 20.0
    base, values, _ = split(model, "pure")
    for row in range(model.n):
        score = model.score({4: model.row_scores[4][row]})
        np.testing.assert_allclose(base[row] + values[row].sum(0), score, rtol=1e-12)


def test_pure_terms_need_the_marginals():
    bias, lam = torch.zeros(1).double(), {2: torch.ones(1, 1).double()}
    with pytest.raises(ValueError, match='view="raw" needs none'):
        TermAlgebra(bias, lam, None)
    g = {2: torch.ones(2, 3, 1).double()}
    raw = TermAlgebra(bias, lam, None, "raw")
    base, values = raw.terms(g, TermSet.all(3, 2))
    assert base.flatten().tolist() == [0.0, 0.0]
    assert values[0, :, 0].tolist() == [1.0, 1.0, 1.0, 2.0, 2.0, 2.0]
    assert raw.terms(g, TermSet.of([(1, 2)], 3))[1].flatten().tolist() == [2.0, 2.0]
    assert raw.terms(g, TermSet.of([], 3))[1].shape == (2, 0, 1)
    with pytest.raises(ValueError, match="view must be one of"):
        TermAlgebra(bias, lam, None, "rawest")  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [(), (0, 0), (3,), (-1,)])
def test_terms_that_cannot_be_are_refused(bad):
    with pytest.raises(ValueError, match=r"must name different features of 0\.\.2"):
        TermSet.of([bad], 3)


def test_a_term_set_keeps_its_sequence():
    assert TermSet.all(3, 4).tuples()[-1] == (0, 1, 2)
    assert len(TermSet.all(5, 3)) == count_terms(5, 3) == 25
    some = TermSet.all(4, 2).take(torch.tensor([9, 0, 4]))
    assert some.tuples() == [(0,), (0, 1), (2, 3)]
    assert TermSet.of([], 3).tuples() == []


@pytest.mark.parametrize("size", [2, 3, 4])
def test_prefixes_cover_each_term_once(size):
    group = torch.combinations(torch.arange(6), size)[torch.arange(0, 15, 2)]
    grouped = Prefixes.of(group, 6)
    seen = []
    for start in range(len(grouped)):
        terms, row, last = grouped.block(start, start + 1)
        assert (row == 0).all()
        for t, j in zip(terms.tolist(), last.tolist(), strict=True):
            assert (*grouped.prefixes[start].tolist(), j) == tuple(group[t].tolist())
            seen.append(t)
    assert sorted(seen) == list(range(len(group)))
    assert (grouped.prefixes[:, -1].diff() >= 0).all()


def test_nodes_are_scored_again_only_when_they_are_many(monkeypatch):
    calls = []

    def score(rows):
        calls.append(rows)
        return {1: torch.ones(rows.stop - rows.start, 2, 1).double()}

    weights = torch.full((6, 2), 1 / 6, dtype=torch.float64)
    monkeypatch.setattr("spam_core.explain.nodes.CACHE", 8)
    nodes = NodeScores(score, weights, 2)
    for _ in range(2):
        assert [len(w) for _, w in nodes.blocks()] == [4, 2]
        assert [len(w) for _, w in nodes.blocks(100)] == [6]
    assert len(calls) == 1
    monkeypatch.setattr("spam_core.explain.nodes.BLOCK", 8)
    nodes = NodeScores(score, weights, 2)
    for _ in range(2):
        assert [len(w) for _, w in nodes.blocks()] == [4, 2]
    assert len(calls) == 5
    assert torch.allclose(nodes.mean(lambda g: g)[1], torch.ones(2, 1).double())
