"""Additive tables: scores, terms and Shapley values against enumeration."""

from __future__ import annotations

from itertools import combinations, product
from math import comb, factorial

import numpy as np
import pytest
import torch

from spam_core.data.encoding import NUMBER, UNKNOWN, Encoded
from spam_core.explain.additive_terms import (
    Reference,
    contributions,
    shapley,
    summarise,
    term_sd,
    terms_of,
)
from spam_core.models.tables import AdditiveTables, Bins
from tests.explain.oracle import subsets

D = 3
PAIRS = ((0, 1), (1, 2))
SIZES = (4, 3, 3)  # bins of each feature, levels among them


def toy(n_outputs: int = 1, seed: int = 0) -> AdditiveTables:
    """Draw tables; feature 0 has two bins that pairs don't keep apart."""
    rng = np.random.default_rng(seed)
    cuts = (np.array([1.0, 2.0]), np.array([1.0]), np.array([]))
    pair_cuts = (np.array([2.0]), np.array([1.0]), np.array([]))
    weights = []
    for size in SIZES:
        weight = rng.uniform(0.1, 1.0, size)
        weight[rng.integers(size)] = 0.0  # a bin without training rows
        weights.append(weight / weight.sum())
    bins = Bins(cuts, pair_cuts, (1, 1, 2), tuple(weights))
    members = 2
    singles = tuple(rng.normal(0.5, 1.0, (members, s, n_outputs)) for s in SIZES)
    pairs = {
        pair: rng.normal(
            0.5, 1.0, (members, *(len(bins.pair_weights[i]) for i in pair), n_outputs)
        )
        for pair in PAIRS
    }
    intercept = rng.normal(size=(members, n_outputs))
    return AdditiveTables(bins, intercept, singles, pairs, np.array([0.25, 0.75]))


def cell(i: int, place: int) -> tuple[float, int]:
    """Return value and code of some cell in a bin; beyond the last it is unknown."""
    n_numbers = (3, 2, 1)[i]
    if place >= SIZES[i]:
        return 0.0, UNKNOWN
    if place < n_numbers:
        return float(place), NUMBER  # a number at a cut belongs above it
    return 0.0, place - n_numbers


def rows_at(places: list[tuple[int, ...]]) -> Encoded:
    cells = np.array([[cell(i, p) for i, p in enumerate(row)] for row in places])
    values, codes = torch.from_numpy(cells[..., 0]), torch.from_numpy(cells[..., 1])
    return Encoded(values.double(), codes.to(torch.int32))


EVERYWHERE = list(product(*(range(size) for size in SIZES)))
WITH_UNKNOWN = list(product(*(range(size + 1) for size in SIZES)))


def mean_score(model: AdditiveTables, row: tuple[int, ...], fixed: set[int]) -> float:
    """Score with features averaged unless they are fixed and known: the definition."""
    total = np.zeros(model.n_outputs)
    weights = model.bins.weights
    known = [i for i in fixed if row[i] < SIZES[i]]
    for places in EVERYWHERE:
        if any(places[i] != row[i] for i in known):
            continue
        mass = np.prod([weights[i][places[i]] for i in range(D) if i not in known])
        total = total + mass * plain_score(model, places)
    return total


def plain_score(model: AdditiveTables, places: tuple[int, ...]) -> np.ndarray:
    """Look the tables up, one after the other."""
    total = 0.0
    for member, share in enumerate(model.shares):
        score = model.intercept[member].copy()
        for i, single in enumerate(model.singles):
            score += single[member, places[i]]
        for (i, j), pair in model.pairs.items():
            a, b = (model.bins.coarse[k][places[k]] for k in (i, j))
            score += pair[member, a, b]
        total = total + share * score
    return total


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_scores_are_sums_of_table_entries(n_outputs):
    model = toy(n_outputs)
    expected = [mean_score(model, row, {0, 1, 2}) for row in WITH_UNKNOWN]
    np.testing.assert_allclose(model.score(rows_at(WITH_UNKNOWN)), expected, atol=1e-12)
    np.testing.assert_allclose(
        model.pure.score(rows_at(WITH_UNKNOWN)), expected, atol=1e-12
    )
    one = model.score(rows_at(WITH_UNKNOWN[5:6]))
    assert torch.equal(one, model.score(rows_at(WITH_UNKNOWN))[5:6])


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_pure_terms_are_inclusion_and_exclusion(n_outputs):
    model = toy(n_outputs)
    base, values = contributions(model.pure, rows_at(WITH_UNKNOWN))
    terms = terms_of(model)
    assert terms == ((0,), (1,), (2,), (0, 1), (1, 2))
    for k, row in enumerate(WITH_UNKNOWN):
        np.testing.assert_allclose(base[k], mean_score(model, row, set()), atol=1e-12)
        for t, term in enumerate(terms):
            expected = sum(
                (-1) ** (len(term) - len(part)) * mean_score(model, row, set(part))
                for part in subsets(term)
            )
            np.testing.assert_allclose(values[k, t], expected, atol=1e-12)
    # the pair that has no table has no term either
    for row in WITH_UNKNOWN:
        one, other = mean_score(model, row, {0}), mean_score(model, row, {2})
        both, none = mean_score(model, row, {0, 2}), mean_score(model, row, set())
        np.testing.assert_allclose(both - one - other + none, 0, atol=1e-12)


def test_pure_tables_have_mean_0_over_each_feature():
    pure = toy(3).pure
    bins = pure.bins
    for weight, single in zip(bins.weights, pure.singles, strict=True):
        np.testing.assert_allclose(
            np.einsum("b,mbc->mc", weight, single), 0, atol=1e-12
        )
    for (i, j), pair in pure.pairs.items():
        for means in (
            np.einsum("a,mabc->mbc", bins.pair_weights[i], pair),
            np.einsum("b,mabc->mac", bins.pair_weights[j], pair),
        ):
            np.testing.assert_allclose(means, 0, atol=1e-12)


@pytest.mark.parametrize("view", ["raw", "pure"])
def test_terms_of_every_row_add_up_and_unknown_ones_are_0(view):
    model = toy(3) if view == "raw" else toy(3).pure
    rows = rows_at(WITH_UNKNOWN)
    base, values = contributions(model, rows)
    total = base + values.sum(axis=1)
    np.testing.assert_allclose(total, model.score(rows), atol=1e-12)
    for t, term in enumerate(terms_of(model)):
        unknown = rows.unknown[:, list(term)].any(dim=1).numpy()
        assert (values[unknown, t] == 0).all()
        if view == "raw" and len(term) == 2:
            i, j = term
            known = ~unknown
            places = np.array(WITH_UNKNOWN)[known]
            a, b = (model.bins.coarse[k][places[:, k]] for k in (i, j))
            expected = model.mean.pairs[term][0][a, b]
            np.testing.assert_array_equal(values[known, t], expected)


BACKGROUND = [(0, 0, 1), (2, 2, 0), (3, 1, 2), (4, 0, 0), (1, 3, 2)]
"""Some with cells that training never saw."""


def game(model, row, present, background):
    """What a coalition is worth; features unknown in the row are always there."""
    fixed = {i for i in range(D) if row[i] >= SIZES[i]} | set(present)
    if background is None:
        return mean_score(model, row, fixed)
    mixed = [
        tuple(row[i] if i in fixed else other[i] for i in range(D))
        for other in background
    ]
    return np.mean([mean_score(model, m, {0, 1, 2}) for m in mixed], axis=0)


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("background", [None, BACKGROUND], ids=["marginals", "rows"])
def test_shapley_values_and_indices_are_the_enumerated_ones(background, n_outputs):
    model = toy(n_outputs)
    reference = (
        Reference.of_marginals(model)
        if background is None
        else Reference.of_rows(model, rows_at(background))
    )
    rows = rows_at(WITH_UNKNOWN)
    base, values, indices = shapley(model, rows, reference, True)
    none = shapley(model, rows, reference, False)[2]
    assert none is None
    for k, row in enumerate(WITH_UNKNOWN):
        worth = {part: game(model, row, part, background) for part in subsets(range(D))}
        np.testing.assert_allclose(base[k], worth[()], atol=1e-12)
        for i in range(D):
            others = [j for j in range(D) if j != i]
            expected = sum(
                factorial(len(s))
                * factorial(D - len(s) - 1)
                / factorial(D)
                * (worth[tuple(sorted((*s, i)))] - worth[s])
                for s in subsets(others)
            )
            np.testing.assert_allclose(values[k, i], expected, atol=1e-12)
        for i, j in combinations(range(D), 2):
            (k_other,) = {0, 1, 2} - {i, j}
            expected = sum(
                (
                    worth[tuple(sorted((*s, i, j)))]
                    - worth[tuple(sorted((*s, i)))]
                    - worth[tuple(sorted((*s, j)))]
                    + worth[s]
                )
                / ((D - 1) * comb(D - 2, len(s)))
                for s in ((), (k_other,))
            )
            np.testing.assert_allclose(indices[k, i, j], expected, atol=1e-12)
            np.testing.assert_allclose(indices[k, j, i], expected, atol=1e-12)


@pytest.mark.parametrize("view", ["raw", "pure"])
def test_sizes_of_terms(view):
    model = toy(3) if view == "raw" else toy(3).pure
    rng = np.random.default_rng(1)
    chosen = [EVERYWHERE[k] for k in rng.integers(len(EVERYWHERE), size=50)]
    rows, weight = rows_at(chosen), rng.uniform(0.5, 2.0, 50)
    found = summarise(model, rows, weight)
    base, values = contributions(model, rows)
    share = weight / weight.sum()
    expected = np.einsum("n,ntc->tc", share, np.abs(values))
    np.testing.assert_allclose(found.importance, expected, atol=1e-12)
    score = base + values.sum(axis=1)
    np.testing.assert_allclose(found.score_mean, share @ score, atol=1e-12)
    spread = np.sqrt(share @ (score - share @ score) ** 2)
    np.testing.assert_allclose(found.score_sd, spread, atol=1e-10)
    # sd is over all combinations of bins, by their probability
    mass = np.array(
        [
            np.prod([w[p] for w, p in zip(model.bins.weights, row, strict=True)])
            for row in EVERYWHERE
        ]
    )
    all_values = contributions(model, rows_at(EVERYWHERE))[1]
    middle = np.einsum("n,ntc->tc", mass, all_values)
    expected = np.sqrt(np.einsum("n,ntc->tc", mass, (all_values - middle) ** 2))
    np.testing.assert_allclose(term_sd(model), expected, atol=1e-12)


def test_terms_that_cancel_are_told():
    cuts = np.array([1.0])
    bins = Bins((cuts, cuts), (cuts, cuts), (0, 0), (np.full(2, 0.5),) * 2)
    slope = np.array([[[-5.0], [5.0]]])
    tilted = -0.9 * slope
    model = AdditiveTables(bins, np.zeros((1, 1)), (slope, tilted), {}, np.ones(1))
    codes = torch.full((4, 2), NUMBER, dtype=torch.int32)
    same = torch.tensor([[0.0, 0.0], [2.0, 2.0]] * 2).double()
    (found,) = summarise(model, Encoded(same, codes)).cancelling
    assert (found.first, found.second) == ((0,), (1,))
    assert found.correlation == pytest.approx(-1.0)
    apart = torch.tensor([[0.0, 0.0], [2.0, 2.0], [0.0, 2.0], [2.0, 0.0]]).double()
    assert summarise(model, Encoded(apart, codes)).cancelling == ()


def test_tables_that_make_no_sense():
    model = toy()
    with pytest.raises(ValueError, match=r"Expected table 0 of shape \(2, 4, 1\)"):
        AdditiveTables(
            model.bins,
            model.intercept,
            (model.singles[0][:, :2], *model.singles[1:]),
            {},
            model.shares,
        )
    with pytest.raises(ValueError, match=r"Expected pairs of two features"):
        AdditiveTables(
            model.bins,
            model.intercept,
            model.singles,
            {(1, 0): model.pairs[0, 1]},
            model.shares,
        )
    bins = model.bins
    with pytest.raises(ValueError, match="Expected increasing cuts of feature 0"):
        Bins(bins.cuts, (np.array([9.0]), *bins.pair_cuts[1:]), (1, 1, 2), bins.weights)
    weights = (bins.weights[0], np.ones(2), bins.weights[2])
    with pytest.raises(ValueError, match="Expected 3 bins of feature 1"):
        Bins(bins.cuts, bins.pair_cuts, (1, 1, 2), weights)
    with pytest.raises(ValueError, match="levels and weights of 3 features"):
        Bins(bins.cuts, bins.pair_cuts, (1, 1), bins.weights)


@pytest.mark.parametrize("n", range(3, 9))
def test_a_term_that_does_not_vary_has_no_spread_below_zero(n):
    cuts = np.array([1.0])
    bins = Bins((cuts, cuts), (cuts, cuts), (0, 0), (np.full(2, 0.5),) * 2)
    level = np.full((1, 2, 1), 0.7)
    slope = np.array([[[-5.0], [5.0]]])
    model = AdditiveTables(bins, np.zeros((1, 1)), (level, slope), {}, np.ones(1))
    codes = torch.full((n, 2), NUMBER, dtype=torch.int32)
    ends = torch.tensor([0.0, 2.0]).repeat(n)[:n].double()
    found = summarise(model, Encoded(torch.stack([ends, ends], 1), codes))
    assert found.cancelling == ()
    assert found.score_sd == pytest.approx(np.std(np.tile([-5, 5], n)[:n]))
