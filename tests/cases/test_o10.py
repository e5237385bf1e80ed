"""Case O10: contributions add up, against brute force through predictions alone."""

from __future__ import annotations

from itertools import chain, combinations, product
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from spam_core import SPAMClassifier, SPAMRegressor
from spam_core.models import SPAM
from tests.cases.common import check_identity, scores

NAMES = ["p", "q", "r", "s"]
ROWS = pd.DataFrame(
    [[0.2, 0.5, 0.7, 0.9], [0.2, -0.5, 0.7, 0.9], [0.0, 0.5, 0.7, 0.9], [0.0] * 4],
    columns=NAMES,
)
TASKS = ("regression", "binary", "multiclass")

# The four rows' values and two more, so that the marginals can be enumerated.
GRID = pd.DataFrame(
    {
        "p": [0.2, 0.0, -0.3],
        "q": [0.5, -0.5, 0.0],
        "r": [0.7, 0.0, -0.7],
        "s": [0.9, 0.0, 0.4],
    }
)


def training_table() -> pd.DataFrame:
    rng = np.random.default_rng(10)
    return pd.DataFrame({name: rng.choice(GRID[name], 90) for name in NAMES})


def fitted(task: str, order: int, rooted: bool) -> Any:
    """Fit a model of rank 3 whose inputs are the numbers as they are."""
    X = training_table()
    score = X["p"] + 3 * X["q"] * X["r"] - 2 * X["r"] * X["s"] ** 2
    settings: dict[str, Any] = {
        "order": order,
        "rank": 3,
        "n_members": 2,
        "feature_map": "linear" if rooted else "spline",
        "scaling": "none" if rooted else "quantile",
        "regularization": "light",
        "max_epochs": 10,
        "random_state": 0,
    }
    if task == "regression":
        return SPAMRegressor(**settings).fit(X, score)
    cuts = [0.0] if task == "binary" else [-0.3, 0.3]
    return SPAMClassifier(**settings).fit(X, np.digitize(score, cuts))


def subsets(items: tuple[int, ...]) -> list[tuple[int, ...]]:
    sizes = range(len(items) + 1)
    return list(chain.from_iterable(combinations(items, k) for k in sizes))


def brute_force_raw(model: Any, term: tuple[int, ...]) -> np.ndarray:
    """Inclusion-exclusion over predictions in which absent columns hold 0.

    With the linear map and no scaling a column at 0 has component score 0.
    """
    total = np.zeros_like(scores(model, ROWS))
    for present in subsets(term):
        rows = ROWS.copy()
        absent = [i for i in range(4) if i not in present]
        rows.iloc[:, absent] = 0.0
        total = total + (-1) ** (len(term) - len(present)) * scores(model, rows)
    return total


def brute_force_pure(model: Any, term: tuple[int, ...]) -> np.ndarray:
    """Inclusion-exclusion over predictions averaged over the training marginals."""
    X = training_table()
    shares = [X[name].value_counts(normalize=True) for name in NAMES]
    total: Any = 0.0
    for present in subsets(term):
        absent = [i for i in range(4) if i not in present]
        cells = list(product(*(shares[i].items() for i in absent)))
        frames, weights = [], []
        for combination in cells:
            rows = ROWS.copy()
            for i, (value, _) in zip(absent, combination, strict=True):
                rows.iloc[:, i] = value
            frames.append(rows)
            weights.append(np.prod([share for _, share in combination]))
        every = scores(model, pd.concat(frames))
        by_cell = every.reshape(len(cells), len(ROWS), -1)
        mean = np.tensordot(weights, by_cell, 1)
        total = total + (-1) ** (len(term) - len(present)) * mean
    return np.asarray(total).reshape(scores(model, ROWS).shape)


@pytest.mark.parametrize("rooted", [True, False])
@pytest.mark.parametrize("order", [2, 3])
@pytest.mark.parametrize("task", TASKS)
def test_o10_contributions_are_those_of_brute_force(
    task: str, order: int, rooted: bool
) -> None:
    model = fitted(task, order, rooted)
    check_identity(model, ROWS, rtol=1e-9)
    views = {"pure": brute_force_pure}
    if rooted:
        views["raw"] = brute_force_raw
    for view, brute_force in views.items():
        explanation = model.explain_local(ROWS, view=view)
        # one term for each unordered set of up to `order` columns: mixed powers such
        # as p*p*q belong to (p, q)
        expected = [term for term in subsets((0, 1, 2, 3)) if 1 <= len(term) <= order]
        positions = [
            tuple(NAMES.index(name) for name in term) for term in explanation.terms
        ]
        assert positions == expected
        assert np.isfinite(explanation.values).all()
        for k, term in enumerate(positions):
            truth = brute_force(model, term)
            np.testing.assert_allclose(
                explanation.values[:, k], truth, rtol=1e-8, atol=1e-10
            )
        base = brute_force(model, ())
        np.testing.assert_allclose(explanation.base, base, rtol=1e-8, atol=1e-10)
    if task == "multiclass":
        assert explanation.values.shape == (4, len(expected), 3)
        pairs = [len(term) == 2 for term in expected]
        assert (explanation.values[0, pairs] != 0).any(0).all()


@pytest.mark.parametrize("task", TASKS)
def test_o10_mixed_powers_are_in_the_pairs_term(task: str) -> None:
    model = fitted(task, 3, True)
    explanation = model.explain_local(ROWS, view="raw")
    pair = explanation.values[:, explanation.terms.index(("q", "r"))]
    both, only_q, only_r, neither = (
        scores(model, ROWS.assign(**dict.fromkeys(gone, 0.0)))
        for gone in (["p", "s"], ["p", "r", "s"], ["p", "q", "s"], NAMES)
    )
    np.testing.assert_allclose(pair, both - only_q - only_r + neither, atol=1e-10)


def factors(order: int, outputs: int) -> tuple[torch.Tensor, torch.Tensor, dict]:
    generator = torch.Generator().manual_seed(order)

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    each = {k: (draw(outputs, 3), draw(3, 4)) for k in range(2, order + 1)}
    return draw(outputs), draw(outputs, 4), each


@pytest.mark.parametrize("rooted", [True, False])
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("order", [2, 3])
def test_o10_component_scores_add_up(order: int, outputs: int, rooted: bool) -> None:
    bias, linear, each = factors(order, outputs)
    inputs = torch.tensor(ROWS.to_numpy())
    if not rooted:  # one order alone, fed powers: their roots are the inputs again
        each, linear = {order: each[order]}, torch.zeros_like(linear)
    model = SPAM.from_factors(bias, linear, each)
    rows = inputs if rooted else inputs.sign() * inputs.abs() ** order
    total = bias.expand(4, outputs)
    for k, g in model.component_scores(rows).items():
        assert torch.isfinite(g).all()
        total = total + (g.sum(1) ** k) @ model.lam[k].T
    torch.testing.assert_close(model.score(rows), total, rtol=1e-12, atol=1e-12)
    if not rooted:
        lam, basis = each[order]
        truth = bias + ((inputs @ basis.T) ** order) @ lam.T
        torch.testing.assert_close(model.score(rows), truth, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("order", [2, 3])
def test_o10_gradients_at_zero_and_below_are_finite(order: int) -> None:
    bias, linear, each = factors(order, 3)
    model = SPAM.from_factors(bias, linear, each)
    inputs = torch.tensor(ROWS.to_numpy(), requires_grad=True)
    model.score(inputs).sum().backward()
    assert inputs.grad is not None
    assert torch.isfinite(inputs.grad).all()
    assert (inputs.grad[0] != 0).all()
