"""Standard deviations and rankings against enumeration of the product measure."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from spam_core.explain import forms, grams, quadrature, ranking, span, summary
from spam_core.explain.nodes import NodeScores
from spam_core.explain.quadrature import Quadrature
from spam_core.explain.ranking import Best, bounds
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


@pytest.mark.parametrize("orders", [(4,), (2, 4), (1, 2, 3, 4)])
@pytest.mark.parametrize("view", ["pure", "raw"])
def test_order_four_with_more_features_than_that(view, orders):
    """Sd and rankings of all sizes, where terms leave a feature out."""
    model = toy(31, orders=orders, d=5, n_nodes=2)
    expected = enumerated_sd(model, view)[:, 0]
    algebra, terms = model.algebra(view), TermSet.all(5, 4)
    np.testing.assert_allclose(term_sd(algebra, terms)[:, 0], expected, **TIGHT)
    for size in (1, 2, 3, 4):
        of_size = [k for k, term in enumerate(terms.tuples()) if len(term) == size]
        best = sorted(sorted(of_size, key=lambda k: -expected[k])[:3])
        chosen, sd = rank_terms(algebra, 3, sizes=(size,))
        assert chosen.tuples() == [terms.tuples()[k] for k in best]
        np.testing.assert_allclose(sd.numpy(), expected[best], **TIGHT)


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


def brute_force(algebra, top, sizes):
    """The ranking, from the sd of every term."""
    every = TermSet.all(algebra.n_features, max(sizes))
    groups = (g if s in sizes else g[:0] for s, g in enumerate(every.groups, start=1))
    terms = TermSet(tuple(groups))
    sd = pooled_sd(algebra, terms)
    best = torch.argsort(sd, descending=True, stable=True)[:top].sort().values
    return [terms.tuples()[k] for k in best.tolist()], sd[best]


def assert_ranks_like_brute_force(algebra, top, sizes):
    terms, sd = brute_force(algebra, top, sizes)
    chosen, chosen_sd = rank_terms(algebra, top, sizes)
    assert chosen.tuples() == terms
    torch.testing.assert_close(chosen_sd, sd, rtol=1e-9, atol=1e-10)


@pytest.fixture(params=["points", "pairs", "streamed"])
def form(request, monkeypatch):
    """Over points of a feature; over pairs of components, all kept or nothing."""
    if request.param != "points":
        monkeypatch.setattr(forms, "FEW", 0)
        monkeypatch.setattr(span, "FEW", 1)
        monkeypatch.setattr(quadrature, "_BLOCK", 1)
    if request.param == "streamed":
        for module in (quadrature, grams):
            monkeypatch.setattr(module, "KEPT", 1)
        monkeypatch.setattr("spam_core.explain.nodes.BLOCK", 1)
        monkeypatch.setattr(forms, "_LARGE_TILE", 20)
        monkeypatch.setattr(forms, "_SMALL_TILE", 20)
        monkeypatch.setattr(ranking, "_CHUNK", 10)
    return request.param


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("orders", [(2,), (3,), (1, 2, 3), (2, 3, 4)])
@pytest.mark.parametrize("view", ["pure", "raw"])
def test_ranking_finds_what_brute_force_finds(
    form, view, orders, n_outputs, monkeypatch
):
    monkeypatch.setattr(ranking, "_PAIR_STEP", 2)
    monkeypatch.setattr(ranking, "_STEP", 2)
    model = toy(32, orders=orders, d=7, n_outputs=n_outputs, n_nodes=4)
    for g in model.node_scores.values():
        g *= 0.6 ** np.array([3, 0, 5, 1, 6, 2, 4])[:, None]
    algebra = model.algebra(view)
    sizes = tuple(range(1, max(orders) + 1))
    for top in (1, 9, 1000):
        assert_ranks_like_brute_force(algebra, top, sizes)
        for size in sizes[1:]:
            assert_ranks_like_brute_force(algebra, top, (size,))


@pytest.mark.parametrize("form", ["points", "pairs"], indirect=True)
def test_either_way_to_rank_is_taken(form, monkeypatch):
    taken = []
    for name in ("by_points", "by_pairs"):
        original = getattr(forms, name)

        def spy(*args, name=name, original=original):
            taken.append(name)
            return original(*args)

        monkeypatch.setattr(forms, name, spy)
    model = toy(33, orders=(3,), n_nodes=2, d=5)
    rank_terms(model.algebra(), 3, (2,))
    assert taken == [f"by_{form}"]


@pytest.mark.parametrize("orders", [(2,), (3,), (4,), (1, 2, 3, 4)])
@pytest.mark.parametrize("view", ["pure", "raw"])
def test_no_term_is_above_the_bound_of_its_features(view, orders):
    model = toy(34, orders=orders, d=6, n_outputs=2)
    for scale, g in zip(
        (0.1, 1.0, 5.0, 0.01), model.node_scores.values(), strict=False
    ):
        g *= scale
    algebra = model.algebra(view)
    for size in range(2, max(orders) + 1):
        of_each = bounds(algebra, Quadrature.of(algebra, size), size)
        group = torch.combinations(torch.arange(6), size)
        empty = tuple(group[:0, :s] for s in range(1, size))
        sd = pooled_sd(algebra, TermSet((*empty, group)))
        ratio = sd**2 * model.algebra().n_outputs / of_each[group].prod(1)
        assert ratio.max() <= 1 + 1e-9
        assert ratio.max() > 1e-3  # or it would rule nothing out


def test_one_component_and_one_point_meet_the_bound():
    """There is nothing to lose: sd t_ij = 2 lambda sigma_i sigma_j."""
    model = toy(35, orders=(2,), d=4, n_nodes=2)
    g = model.node_scores[2][:, :, :1]
    weights = torch.from_numpy(model.weights)
    lam = {2: torch.full((1, 1), -0.7).double()}
    nodes = NodeScores.of(tensors({2: g}), weights)
    algebra = TermAlgebra(torch.zeros(1).double(), lam, nodes)
    of_each = bounds(algebra, Quadrature.of(algebra, 2), 2)
    group = torch.combinations(torch.arange(4), 2)
    sd = pooled_sd(algebra, TermSet((group[:0, :1], group)))
    torch.testing.assert_close(sd**2, of_each[group].prod(1))


def looked_at(algebra, top, sizes, monkeypatch):
    """Rank terms and return how many features were looked at."""
    seen = [0]
    original = ranking._collect

    def spy(best, ranked, panels, columns, totals):
        seen.append(columns.stop)
        original(best, ranked, panels, columns, totals)

    monkeypatch.setattr(ranking, "_collect", spy)
    rank_terms(algebra, top, sizes)
    return max(seen)


@pytest.mark.parametrize("size", [2, 3])
def test_weak_features_are_left_out(size, monkeypatch):
    monkeypatch.setattr(ranking, "_PAIR_STEP", 2)
    monkeypatch.setattr(ranking, "_STEP", 2)
    model = toy(36, orders=(3,), d=12)
    model.node_scores[3] *= 0.1 ** np.arange(12.0)[::-1, None]
    algebra = model.algebra()
    assert_ranks_like_brute_force(algebra, 2, (size,))
    assert looked_at(algebra, 2, (size,), monkeypatch) <= 6
    # a single feature's term is larger than any that several may have
    assert looked_at(algebra, 1, (1, size), monkeypatch) == 0


def test_past_the_limit_terms_of_the_strongest_features_are_found(monkeypatch):
    monkeypatch.setattr(ranking, "_PAIR_STEP", 4)
    monkeypatch.setattr(ranking, "_STEP", 4)
    monkeypatch.setattr(ranking, "MOST_WORK", 0)
    model = toy(27, orders=(1, 2, 3), d=7)
    for g in model.node_scores.values():
        g[:, [1, 4, 6]] *= 4.0
    algebra = model.algebra()
    assert looked_at(algebra, 100, (3,), monkeypatch) == 4
    chosen, _ = rank_terms(algebra, 100, (3,))
    assert len(chosen) == 4  # of 35
    assert brute_force(algebra, 1, (3,))[0][0] in chosen.tuples()


def test_of_equal_terms_the_earlier_wins():
    model = toy(37, orders=(2,), d=6)
    for scores in (model.node_scores[2], model.weights[:, :, None]):
        scores[:, 1:] = scores[:, 1:2]
    algebra = model.algebra()
    assert rank_terms(algebra, 3, (2,))[0].tuples() in (
        [(0, 1), (0, 2), (0, 3)],
        [(1, 2), (1, 3), (1, 4)],
    )
    for g in model.node_scores.values():
        g *= 0.0
    chosen, sd = rank_terms(model.algebra(), 3)
    assert chosen.tuples() == [(0,), (1,), (2,)]
    assert (sd == 0.0).all()


def test_the_best_are_kept_in_their_sequence():
    best = Best(3)
    assert best.floor < 0
    assert len(best.terms()[0]) == 0
    best.add(torch.tensor([[3, 5], [0, 1]]), torch.tensor([2.0, 1.0]).double())
    assert best.floor < 0
    best.add(torch.tensor([[1, 2], [0, 2]]), torch.tensor([1.0, 0.5]).double())
    assert best.terms()[0].tuples() == [(0, 1), (1, 2), (3, 5)]
    best.add(torch.tensor([[4]]), torch.tensor([1.0]).double())
    terms, variance = best.terms()
    assert terms.tuples() == [(4,), (0, 1), (3, 5)]
    assert variance.tolist() == [1.0, 1.0, 2.0]


@pytest.mark.parametrize("size", [2, 3])
def test_few_points_replace_many_nodes(size, monkeypatch):
    """All components are one function times a number, as under the linear map."""
    rng = np.random.default_rng(38)
    values = rng.normal(size=(40, 3, 1))
    nodes = {
        2: np.sqrt(np.abs(values)) * rng.normal(size=(3, 5)),
        3: np.cbrt(values) * rng.normal(size=(3, 4)),
    }
    weights = rng.uniform(0.1, 1.0, (40, 3))
    made = NodeScores.of(tensors(nodes), torch.from_numpy(weights / weights.sum(0)))
    lam = {
        l: torch.from_numpy(rng.normal(size=(1, g.shape[2]))) for l, g in nodes.items()
    }
    algebra = TermAlgebra(torch.zeros(1).double(), lam, made)
    few = Quadrature.of(algebra, size)
    # order 2, order 3 and its square; of triples order 3 alone
    assert few.n_points == {2: 3, 3: 1}[size]
    monkeypatch.setattr(span, "FEW", 0 if size == 3 else 2)
    many = Quadrature.of(algebra, size)
    assert many.n_points == 40

    def moments(points):
        whole = torch.cat([torch.cat(list(b.values()), 2) for b in points.blocks()], 1)
        return whole.transpose(1, 2) @ whole

    torch.testing.assert_close(moments(few), moments(many), rtol=1e-11, atol=1e-13)


def test_a_function_too_faint_for_the_mixtures_is_not_lost():
    x = torch.linspace(-1.0, 1.0, 20).double()[None, :, None]
    loud, faint = torch.cat([x, 2 * x], 2), 1e-14 * x**2
    assert span.span(lambda: iter([{(2, 1): loud}]), 1, 20) is not None
    block = {(2, 1): torch.cat([loud, faint], 2)}
    assert span.span(lambda: iter([block]), 1, 20) is None


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_a_summary_of_the_largest_terms_has_their_sd(n_outputs):
    algebra = toy(39, orders=(1, 2, 3), n_outputs=n_outputs).algebra()
    terms, sd = summary._largest(algebra, 5)
    assert len(terms) == 5
    torch.testing.assert_close(sd, term_sd(algebra, terms))
    terms, sd = summary._largest(algebra, 14)
    assert terms.tuples() == TermSet.all(4, 3).tuples()
    torch.testing.assert_close(sd, term_sd(algebra, terms))


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


def test_terms_of_more_features_than_the_order_have_no_spread():
    algebra = toy(40, orders=(2,), d=4).algebra()
    sd = term_sd(algebra, TermSet.of([(0, 1), (0, 1, 2)], 4))
    assert sd[0] > 0
    assert sd[1] == 0
    assert len(rank_terms(algebra, 5, sizes=(3,))[0]) == 0
    assert rank_pairs(toy(40, orders=(2,), d=1, unknown=False).algebra(), 5) == []


def test_without_marginals_there_is_no_spread():
    algebra = TermAlgebra(
        torch.zeros(1).double(), {2: torch.ones(1, 1).double()}, None, "raw"
    )
    with pytest.raises(ValueError, match="training marginals"):
        term_sd(algebra, TermSet.all(2, 2))
    with pytest.raises(ValueError, match="training marginals"):
        rank_terms(algebra, 2)
