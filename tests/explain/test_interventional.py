"""Shapley values against background rows equal those of every coalition counted."""

from __future__ import annotations

from itertools import combinations
from math import factorial

import numpy as np
import pandas as pd
import pytest
import torch
from numpy.testing import assert_allclose

from spam_core import SPAMClassifier, SPAMRegressor
from spam_core.explain import explain_kernel_shap, relative_difference
from spam_core.explain.interventional import shapley_against

D, R = 4, 3


def draw(n_outputs: int, orders: tuple[int, ...]):
    draws = torch.Generator().manual_seed(7)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=draws, dtype=torch.float64)

    lam = {l: normal(n_outputs, R) for l in orders}
    row = {l: normal(1, D, R) for l in orders}
    background = {l: normal(5, D, R) for l in orders}
    return normal(n_outputs), lam, row, background


def enumerated(bias, lam, row, background, known):
    """Count every coalition, as the definition says."""
    players = [i for i in range(D) if known[i]]

    def value(present):
        total = bias.repeat(5, 1)
        for l, weights in lam.items():
            g = background[l].clone()
            held = [*present, *(i for i in range(D) if not known[i])]
            g[:, held] = row[l][:, held]
            total = total + g.sum(1) ** l @ weights.T
        return total.mean(0)

    values = torch.zeros(D, len(bias), dtype=torch.float64)
    n = len(players)
    for i in players:
        others = [j for j in players if j != i]
        for size in range(n):
            share = factorial(size) * factorial(n - size - 1) / factorial(n)
            for chosen in combinations(others, size):
                values[i] += share * (value([*chosen, i]) - value(chosen))
    return value([]), values


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("orders", [(2,), (3,), (2, 3), (1, 4)])
@pytest.mark.parametrize("known", [(True,) * D, (True, False, True, True)])
def test_values_equal_enumeration(n_outputs, orders, known) -> None:
    bias, lam, row, background = draw(n_outputs, orders)
    mask = torch.tensor(known)
    base, values = shapley_against(bias, lam, row, background, mask)
    wanted_base, wanted = enumerated(bias, lam, row, background, known)
    assert_allclose(base, wanted_base, atol=1e-10)
    assert_allclose(values, wanted, atol=1e-10)
    assert_allclose(values[~mask], 0.0, atol=1e-12)


# one row has a level that training never saw, on purpose
@pytest.mark.filterwarnings("ignore:Levels that training never saw")
@pytest.mark.parametrize("several", [False, True])
def test_a_model_agrees_with_kernel_shap_of_all_coalitions(several) -> None:
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(150, 3)), columns=list("abc"))
    X["d"] = np.where(random.random(150) < 0.5, "x", "y")
    X.loc[::9, "a"] = np.nan
    score = X["a"].fillna(1) * X["b"] + X["c"] * (X["d"] == "x")
    if several:
        model = SPAMClassifier(order=3, rank=4, n_members=2, max_epochs=3)
        y = pd.cut(score, [-np.inf, -0.5, 0.5, np.inf], labels=["p", "q", "r"])
        model.fit(X, y.astype(str))
    else:
        model = SPAMRegressor(order=3, rank=4, n_members=2, max_epochs=3)
        model.fit(X, score)
    background, rows = X[:40], X[40:43].copy()
    rows.loc[41, "d"] = "never seen"
    exact = model.explain_local(rows, view="shapley", background=background)
    counted = explain_kernel_shap(model, rows, background)
    assert_allclose(exact.base, counted.base, atol=1e-6)
    assert_allclose(exact.values, counted.values, atol=1e-6)
    assert_allclose(exact.score, model.explain_local(rows).score, atol=1e-9)
    assert exact.background_size == 40
    assert exact.exact
    difference = relative_difference(counted, exact, row=1)
    assert difference < 1e-5


def test_a_background_belongs_to_shapley_values() -> None:
    X = pd.DataFrame({"a": np.arange(60.0), "b": np.arange(60.0) ** 2 % 7})
    model = SPAMRegressor(rank=2, n_members=1, max_epochs=1).fit(X, X["a"])
    with pytest.raises(ValueError, match='Only view="shapley" takes a background'):
        model.explain_local(X[:1], background=X)
    with pytest.raises(ValueError, match="b"):
        model.explain_local(X[:1], view="shapley", background=X[["a"]])
