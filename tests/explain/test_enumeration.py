"""Exact values of any model: the definition, the axioms, and what is refused."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from spam_core.explain import explain_by_enumeration, explain_kernel_shap
from spam_core.explain.enumeration import interaction_indices, shapley_values
from tests.explain.contract import check_local
from tests.explain.posthoc_tools import (
    IGNORE_UNKNOWN,
    Recorder,
    flowers,
    global_state_unchanged,
    network,
    our_models,
    scores,
)
from tests.explain.tables import TASKS, odd_rows, table


def in_turn(worth: np.ndarray) -> np.ndarray:
    """Mean over all orders of arrival of what each player adds: (v, C)."""
    v = len(worth).bit_length() - 1
    arrivals = list(permutations(range(v)))
    values = np.zeros((v, worth.shape[1]))
    for arrival in arrivals:
        there = 0
        for i in arrival:
            values[i] += worth[there | 1 << i] - worth[there]
            there |= 1 << i
    return values / len(arrivals)


@pytest.mark.parametrize("v", [1, 2, 3, 5])
def test_values_are_the_mean_over_orders_of_arrival(v):
    worth = np.random.default_rng(v).normal(size=(2**v, 2))
    np.testing.assert_allclose(shapley_values(worth), in_turn(worth), atol=1e-12)


@pytest.mark.parametrize("v", [2, 3, 5])
def test_an_index_is_what_a_pair_gains_as_one_player(v):
    """I_ij is what {i, j} merged gets, less what i and j get where the other isn't."""
    worth = np.random.default_rng(v).normal(size=(2**v, 2))
    found = interaction_indices(worth)
    numbers = np.arange(2**v)
    for i in range(v):
        np.testing.assert_array_equal(found[i, i], 0.0)
        for j in range(i):
            rest = [k for k in range(v) if k not in (i, j)]

            def game(*own, rest=rest):
                # games of v - 1 players, the first of which stands for `own`
                small = np.arange(2 ** (v - 1))
                members = (small & 1) * sum(1 << k for k in own)
                for position, k in enumerate(rest, start=1):
                    members = members | (small >> position & 1) << k
                return shapley_values(worth[numbers[members]])[0]

            expected = game(i, j) - game(i) - game(j)
            np.testing.assert_allclose(found[i, j], expected, atol=1e-12)
            np.testing.assert_array_equal(found[i, j], found[j, i])


def test_no_player_gets_nothing():
    assert shapley_values(np.ones((1, 3))).shape == (0, 3)
    assert interaction_indices(np.ones((1, 3))).shape == (0, 0, 3)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.filterwarnings(IGNORE_UNKNOWN)
def test_kernel_shap_of_all_coalitions_agrees(task):
    background, rows = table().iloc[:12], odd_rows()
    for model in our_models(task):
        found = explain_by_enumeration(model, rows, background)
        other = explain_kernel_shap(model, rows, background)
        check_local(found, rows)
        tight = {"rtol": 0, "atol": 1e-8 * max(1.0, np.abs(found.score).max())}
        np.testing.assert_allclose(found.values, other.values, **tight)
        np.testing.assert_allclose(found.base, other.base, **tight)
        np.testing.assert_allclose(found.score, scores(model, rows), atol=1e-12)
        assert found.exact
        assert (found.method, found.view) == ("enumeration", "shapley")
        assert (found.values[found.unknown] == 0).all()


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_models_of_scikit_learn(n_classes):
    X, y = flowers(max(2, n_classes))
    kind = RandomForestClassifier if n_classes else RandomForestRegressor
    model = kind(5, random_state=0).fit(X, y if n_classes else y.map(ord))
    found = explain_by_enumeration(model, X[:3], X[10:40])
    other = explain_kernel_shap(model, X[:3], X[10:40])
    check_local(found, X[:3])
    np.testing.assert_allclose(found.values, other.values, rtol=0, atol=1e-8)
    assert found.interactions.shape[:3] == (3, 3, 3)
    assert np.abs(found.interactions).max() > 1e-3


def test_only_what_varies_counts():
    """Twenty features, two of which differ from the background."""
    X = pd.DataFrame(np.ones((4, 20))).rename(columns=str)
    X.loc[0, ["3", "7"]] = [2.0, 5.0]
    model = Recorder(lambda X: X["3"] * X["7"])
    found = explain_by_enumeration(model, X[:1], X[1:], max_features=2)
    assert found.values[0, [3, 7]].tolist() == [3.0, 6.0]
    assert found.interactions[0, 3, 7] == 4.0
    assert np.count_nonzero(found.values) == 2
    # the row itself, and four coalitions of three rows
    assert found.n_evaluations == 1 + 4 * 3
    assert found.background_size == 3


def test_too_many_features_are_refused_before_any_row_is_scored():
    X = pd.DataFrame(np.ones((4, 13))).rename(columns=str)
    X.iloc[2] = 2.0
    X.iloc[1, :12] = 3.0
    model = Recorder(lambda X: X.sum(axis=1))
    with pytest.raises(ValueError, match=r"got 13 in row 2, .* 8,192 coalitions"):
        explain_by_enumeration(model, X[:3], X[:1])
    assert sum(map(len, model.asked)) == 1  # a probe: can the model be asked at all?
    found = explain_by_enumeration(model, X[:2], X[:1])  # 12 at most: all right
    np.testing.assert_allclose(found.values[1, :12], 2.0)


@pytest.mark.parametrize("given", [0, 2.5, True, "12"])
def test_a_limit_is_a_whole_number(given):
    X, _ = flowers()
    with pytest.raises(ValueError, match="max_features must be an integer"):
        explain_by_enumeration(None, X, X, max_features=given)
    with pytest.raises(ValueError, match="max_rows must be an integer"):
        explain_by_enumeration(None, X, X, max_background=given)


def test_a_large_background_is_drawn_from_a_seed():
    X, model = table(), network()
    rows = X.iloc[[60]]
    with global_state_unchanged():
        one, same, other = (
            explain_by_enumeration(model, rows, X, max_background=15, seed=seed)
            for seed in (1, 1, 2)
        )
    assert one.background_size == 15
    assert (one.seed, other.seed) == (1, 2)
    np.testing.assert_array_equal(one.values, same.values)
    assert (one.values != other.values).any()
