"""Measures that ask the model, against brute force and games with known answers."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LinearRegression

from spam_core.explain import sample_background
from spam_core.explain.faithfulness import (
    against_random,
    ask,
    draw_coalitions,
    fidelity,
    random_orders,
    size_order,
)
from spam_core.explain.lines import Lines, Outputs
from spam_core.explain.measuring import RANDOM, gather, measure
from spam_core.explain.methods import EXACT, OWN, Subject
from tests.explain.posthoc_tools import network, scores
from tests.explain.tables import fitted, table

ALL = np.ones(4, dtype=bool)
EACH = np.eye(4, dtype=bool)


def subject_of(model, X, background) -> Subject:
    [subject] = Subject.all({"model": model}, X, background)
    return subject


# --- coalitions and orders -----------------------------------------------------------


def test_few_columns_have_all_their_coalitions_once() -> None:
    varying = np.array([True, False, True, True])
    every = draw_coalitions(varying, 8, seed=0)
    assert every[:, 1].all()
    assert len({tuple(row) for row in every.tolist()}) == len(every) == 8
    assert len(draw_coalitions(np.zeros(4, dtype=bool), 8, seed=0)) == 1


def test_drawn_coalitions_hold_each_column_half_of_the_time() -> None:
    varying = np.ones(20, dtype=bool)
    varying[3] = False
    drawn = draw_coalitions(varying, 2000, seed=1)
    assert drawn.shape == (2000, 20)
    assert drawn[:, 3].all()
    assert_allclose(drawn[:, varying].mean(axis=0), 0.5, atol=0.05)
    pairs = np.corrcoef(drawn[:, varying], rowvar=False)
    assert_allclose(pairs, np.eye(19), atol=0.1)
    assert (drawn == draw_coalitions(varying, 2000, seed=1)).all()
    assert (drawn != draw_coalitions(varying, 2000, seed=2)).any()


def test_orders_are_permutations_with_what_varies_first() -> None:
    varying = np.array([False, True, True, True, False])
    orders = random_orders(varying, seed=0)
    assert orders.shape == (20, 5)
    assert (np.sort(orders, axis=1) == np.arange(5)).all()
    assert (orders[:, 3:] == [0, 4]).all()
    assert len({tuple(order) for order in orders.tolist()}) > 4
    # every place is as likely for every column
    many = random_orders(varying, seed=0, n=3000)
    assert_allclose((many[:, 0] == 2).mean(), 1 / 3, atol=0.04)
    assert size_order(np.array([9.0, 1.0, -2.0, 0.0, 8.0]), varying).tolist() == [
        2,
        1,
        3,
        0,
        4,
    ]


# --- the curves, by brute force ------------------------------------------------------


def brute_force(model, row: pd.DataFrame, background: pd.DataFrame, present) -> float:
    """Mean score with the columns that aren't present from the background."""
    mixed = background.copy()
    for name in np.asarray(row.columns)[list(present)]:
        mixed[name] = [row[name].iloc[0]] * len(mixed)
    return float(scores(model, mixed).mean())


@pytest.mark.parametrize("kind", ["glass box", "network"])
def test_curves_are_mean_scores_of_mixed_rows(kind: str) -> None:
    model = fitted() if kind == "glass box" else network()
    background = table().iloc[60:80]
    row = table().iloc[[10]]
    game = subject_of(model, row, background).game(0)
    order = np.array([3, 0, 4, 1, 2, 5])  # the last is constant
    answers = ask(game, order[None], n_coalitions=64, seed=0)
    score = float(scores(model, row)[0])
    for k in range(7):
        gone = brute_force(model, row, background, order[k:])
        only = brute_force(model, row, background, order[:k])
        assert_allclose(answers.deletion[0, k, 0], abs(score - gone), atol=1e-6)
        assert_allclose(answers.insertion[0, k, 0], abs(score - only), atol=1e-6)
    assert answers.n_varying == 5
    assert len(answers.coalitions) == 32
    for present, value in zip(answers.coalitions, answers.values[:, 0], strict=True):
        wanted = brute_force(model, row, background, present)
        assert_allclose(value, wanted, rtol=1e-6)


def test_each_coalition_is_scored_once() -> None:
    X = np.random.default_rng(0).normal(size=(60, 5))
    X[:, 2] = 1.0  # with it or without it, a coalition is the same
    subject = subject_of(LinearRegression().fit(X, X.sum(axis=1)), X[:1], X)
    game = subject.game(0)
    before = subject.scorer.n_evaluations
    ask(game, random_orders(game.varying, 0), n_coalitions=16, seed=0)
    # all 16 coalitions there are, whatever the orders
    assert subject.scorer.n_evaluations - before == 16 * 60


# --- fidelity ------------------------------------------------------------------------


def test_a_linear_game_is_explained_in_full() -> None:
    effects = np.array([4.0, -3.0, 2.0, -1.0])
    coalitions = draw_coalitions(ALL, 16, 0)
    r2 = fidelity(effects, EACH, 7.0, coalitions, 7.0 + coalitions @ effects)
    # what is left out has variance e^2 / 4 and mean e / 2
    total = (effects**2).sum() / 4
    for E in range(1, 5):
        left = effects[E:]
        lost = (left**2).sum() / 4 + (left.sum() / 2) ** 2
        assert_allclose(r2[E - 1], 1 - lost / total)


def test_a_term_needs_all_of_its_columns() -> None:
    coalitions = draw_coalitions(ALL, 16, 0)
    both = coalitions[:, 0] & coalitions[:, 2]
    scores = 1.0 + 2.0 * both - 0.5 * coalitions[:, 1]
    members = np.array([[False, True, False, False], [True, False, True, False]])
    r2 = fidelity(np.array([-0.5, 2.0]), members, 1.0, coalitions, scores)
    assert_allclose(r2[1], 1.0)
    # one value a column can't say it: the best is worse than the pair
    shared = fidelity(np.array([1.0, -0.5, 1.0, 0.0]), EACH, 1.0, coalitions, scores)
    assert shared[-1] < 0.9


def test_wrong_values_explain_less_than_a_constant() -> None:
    effects = np.array([4.0, -3.0, 2.0, -1.0])
    coalitions = draw_coalitions(ALL, 16, 0)
    scores = coalitions @ effects
    assert fidelity(-effects, EACH, 0.0, coalitions, scores)[-1] < 0
    flat = fidelity(effects, EACH, 0.0, coalitions, np.full(16, 3.0))
    assert np.isnan(flat).all()


# --- deletion and insertion ----------------------------------------------------------


def test_deletion_and_insertion_of_a_sum_by_hand() -> None:
    effects = np.array([1.0, 8.0, 4.0, 2.0])
    model = LinearRegression(fit_intercept=False).fit(np.eye(4), effects)
    # one background row of zeros, so that a column present adds its effect
    game = subject_of(model, np.ones((1, 4)), np.zeros((1, 4))).game(0)
    by_size = size_order(effects, game.varying)
    assert by_size.tolist() == [1, 2, 3, 0]
    random = random_orders(game.varying, seed=0)
    answers = ask(game, np.stack([by_size, by_size[::-1], *random]), 16, 0)
    deletion, insertion = answers.deletion[..., 0], answers.insertion[..., 0]
    assert_allclose(deletion[0], [0, 8, 12, 14, 15], atol=1e-12)
    assert_allclose(insertion[0], [15, 7, 3, 1, 0], atol=1e-12)
    assert_allclose(deletion[1], [0, 1, 3, 7, 15], atol=1e-12)
    # with its reverse, an order of a sum takes half away on average
    expected = 15 / 2
    for curves, k, mean in (
        (deletion, 0, 49 / 5),
        (deletion, 1, 26 / 5),
        (insertion, 0, 26 / 5),
        (insertion, 1, 49 / 5),
    ):
        ratio = against_random(curves[k], curves[2:], answers.n_varying)
        assert_allclose(ratio, mean / expected)


def test_where_nothing_changes_any_more_is_not_counted() -> None:
    curve, random = np.array([0.0, 4.0, 5.0, 5.0, 5.0]), np.array([0, 2.5, 5, 5, 5])
    assert_allclose(against_random(curve, random[None], n_varying=2), 9 / 7.5)


def test_random_orders_are_as_good_as_random() -> None:
    model, X = fitted(), table()
    subject = subject_of(model, X.iloc[10:30], X.iloc[60:90])
    ratios = []
    for r in range(20):
        game = subject.game(r)
        orders = np.concatenate(
            [random_orders(game.varying, 0), random_orders(game.varying, 100 + r)]
        )
        answers = ask(game, orders, 16, 0)
        for curves in (answers.deletion[..., 0], answers.insertion[..., 0]):
            ratios.append(
                [against_random(c, curves[:20], answers.n_varying) for c in curves[20:]]
            )
    assert_allclose(np.mean(ratios), 1.0, atol=0.05)


def test_where_nothing_changes_nothing_is_known() -> None:
    model = LinearRegression().fit(np.eye(4), np.full(4, 3.0))
    subject = subject_of(model, np.eye(4)[:1], np.eye(4))
    game = subject.game(0)
    answers = ask(game, random_orders(game.varying, 0), 16, 0)
    assert not answers.deletion.any()
    curve = answers.deletion[0, :, 0]
    assert math.isnan(against_random(curve, answers.deletion[..., 0], 4))


# --- a baseline that must lose -------------------------------------------------------


def measured(subject: Subject, explanations: dict, E: int = 3) -> pd.DataFrame:
    """Means over the rows of all measures, a line for each explanation."""
    n = len(subject.rows.frame)
    outputs = Outputs(np.zeros(n, dtype=np.intp), None, "price")
    runs = {name: (one,) for name, one in explanations.items()}
    evidence = gather(
        subject,
        runs,
        explanations[EXACT],
        outputs,
        n_coalitions=64,
        seed=0,
        tell=lambda: None,
    )
    found = measure(evidence, outputs, E, "feature")
    lines = [{"method": f.method, **f.values} for f in found if f.method != RANDOM]
    return pd.DataFrame(lines).groupby("method").mean()


@pytest.mark.parametrize("order", [2, 3])
def test_shuffled_values_lose(order: int) -> None:
    X, background = table().iloc[10:40], table().iloc[60:100]
    subject = subject_of(fitted(order=order), X, background)
    exact = subject.explain(EXACT, 0)
    rng = np.random.default_rng(0)
    shuffled = rng.permuted(exact.values, axis=1)
    frame = measured(
        subject, {EXACT: exact, "shuffled": replace(exact, values=shuffled)}
    )
    good, bad = frame.loc[EXACT], frame.loc["shuffled"]
    assert good["error"] == 0.0
    assert bad["error"] > 0.5
    for name in ("fidelity", "fidelity_top", "deletion", "agreement_rank"):
        assert good[name] > bad[name] + 0.1, name
    assert good["insertion"] < bad["insertion"] - 0.1
    assert good["deletion"] > 1.1
    assert good["insertion"] < 0.9
    assert abs(bad["deletion"] - 1.0) < 0.2


def test_own_terms_are_the_model_where_columns_are_independent() -> None:
    # each column shuffled by itself: rows of independent columns
    rng = np.random.default_rng(0)
    X = table()
    apart = X.apply(lambda column: column.iloc[rng.permutation(len(X))].to_numpy())
    subject = subject_of(fitted(), X.iloc[10:13], sample_background(apart, 160))
    own = subject.explain(OWN, 0)
    lines = Lines.of(own, "term")
    for r in range(3):
        game = subject.game(r)
        coalitions = draw_coalitions(game.varying, 64, 0)
        r2 = fidelity(
            lines.values[r, :, 0],
            lines.members,
            float(lines.base[r, 0]),
            coalitions,
            game.value(coalitions)[:, 0],
        )
        assert r2[-1] > 0.97
        assert r2[0] < r2[-1]
