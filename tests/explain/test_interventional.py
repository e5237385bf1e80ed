"""Shapley values against background rows equal those of every coalition counted."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from math import comb

import numpy as np
import pandas as pd
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

from spam_core import SPAMClassifier, SPAMRegressor
from spam_core.data.encoding import NUMBER, Encoded
from spam_core.explain import explain_by_enumeration, explain_kernel_shap
from spam_core.explain import interventional as module
from spam_core.explain.interventional import (
    TableBackground,
    count_products,
    table_backgrounds,
)
from spam_core.models.spam import SPAM
from tests.explain.contract import check_local
from tests.explain.posthoc_tools import IGNORE_UNKNOWN
from tests.explain.tables import MAPS, TASKS, fitted, odd_rows, table

ORDERS = [(1,), (2,), (3,), (4,), (2, 3), (2, 3, 4)]


def numbers(values: np.ndarray) -> Encoded:
    codes = torch.full(values.shape, NUMBER, dtype=torch.int32)
    return Encoded(torch.from_numpy(values), codes)


def draw(d: int, orders: tuple[int, ...], n_outputs: int = 1, offset: float = 0.0):
    """Return a random polynomial of d numbers, two rows and a background of five."""
    random = np.random.default_rng(7)

    def normal(*shape: int) -> torch.Tensor:
        return torch.from_numpy(random.normal(size=shape))

    factors = {l: (normal(n_outputs, 3), normal(3, d)) for l in orders if l > 1}
    model = SPAM.from_factors(normal(n_outputs), normal(n_outputs, d), factors)
    rows, background = (random.normal(offset, 1.0, (n, d)) for n in (2, 5))
    return model, rows, background


def enumerate_coalitions(model, row, background):
    """Return base (C,), values (d, C) and indices (d, d, C) as they are defined."""
    d = len(row)

    @cache
    def value(present: frozenset):
        mixed = background.copy()
        mixed[:, list(present)] = row[list(present)]
        return model.score(numbers(mixed)).mean(0).numpy()

    base = value(frozenset())
    values, indices = np.zeros((d, len(base))), np.zeros((d, d, len(base)))
    for i in range(d):
        others = [k for k in range(d) if k != i]
        for size in range(d):
            for chosen in map(frozenset, combinations(others, size)):
                gain = value(chosen | {i}) - value(chosen)
                values[i] += gain / (d * comb(d - 1, size))
        for j in range(i):
            rest = [k for k in others if k != j]
            for size in range(d - 1):
                for chosen in map(frozenset, combinations(rest, size)):
                    gain = value(chosen | {i, j}) - value(chosen | {i})
                    gain = gain - value(chosen | {j}) + value(chosen)
                    indices[i, j] += gain / ((d - 1) * comb(d - 2, size))
            indices[j, i] = indices[i, j]
    return base, values, indices


def check_against_enumeration(model, rows, background, tolerance=1e-8):
    found = TableBackground(model, numbers(background), True).share(numbers(rows))
    for k, row in enumerate(rows):
        truth = enumerate_coalitions(model, row, background)
        for mine, wanted in zip(found, truth, strict=True):
            scale = max(1.0, np.abs(wanted).max())
            assert_allclose(mine[k], wanted, rtol=0, atol=tolerance * scale)


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("orders", ORDERS, ids=str)
def test_values_and_indices_are_their_definition(orders, n_outputs) -> None:
    check_against_enumeration(*draw(4, orders, n_outputs))


@pytest.mark.parametrize("orders", [(2,), (3,), (4,)], ids=str)
def test_eight_features(orders) -> None:
    check_against_enumeration(*draw(8, orders))


@pytest.mark.parametrize("orders", [(2,), (3,), (4,)], ids=str)
def test_numbers_far_from_zero_lose_no_digits(orders) -> None:
    # of the values themselves: a score is some thousand times as large as they are
    model, rows, background = draw(5, orders, offset=1e3)
    check_against_enumeration(model, rows, background)


def test_a_single_feature_gets_all_and_has_no_pair() -> None:
    model, rows, background = draw(1, (2, 3, 4))
    base, values, indices = TableBackground(model, numbers(background), True).share(
        numbers(rows)
    )
    assert_allclose(base + values[:, 0], model.score(numbers(rows)), atol=1e-12)
    assert indices is not None
    assert (indices == 0).all()


def test_blocks_make_no_difference(monkeypatch) -> None:
    model, rows, background = draw(5, (2, 3, 4), 2)
    reference = TableBackground(model, numbers(background), True)
    whole = reference.share(numbers(rows))
    monkeypatch.setattr(module, "CACHE", 30)
    monkeypatch.setattr(module, "_ROWS", 2)
    parts = TableBackground(model, numbers(background), True).share(numbers(rows))
    for one, other in zip(whole, parts, strict=True):
        assert_allclose(one, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("feature_map", MAPS)
@pytest.mark.filterwarnings(IGNORE_UNKNOWN)
def test_models_agree_with_enumeration(feature_map, order, task) -> None:
    model, rows = fitted(task, order, feature_map), odd_rows()
    background = pd.concat([table().iloc[:8], odd_rows().iloc[[1, 5]]])
    found = model.explain_local(rows, view="shapley", background=background)
    truth = explain_by_enumeration(model, rows, background)
    check_local(found, rows)
    scale = max(1.0, np.abs(truth.score).max())
    for name in ("values", "base", "interactions", "score"):
        mine, wanted = getattr(found, name), getattr(truth, name)
        assert_allclose(mine, wanted, rtol=0, atol=1e-11 * scale)
    assert found.background_size == 10
    assert found.exact


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.filterwarnings(IGNORE_UNKNOWN)
def test_the_score_is_the_models_own(task) -> None:
    model, rows = fitted(task, 3), odd_rows()
    ask = getattr(model, "decision_function", model.predict)
    for background in (None, table()):
        found = model.explain_local(rows, view="shapley", background=background)
        assert_array_equal(found.score, ask(rows))
        total = found.base + found.values.sum(1)
        assert_allclose(total, found.score, rtol=1e-12, atol=1e-12)


@pytest.mark.filterwarnings(IGNORE_UNKNOWN)
def test_rows_with_different_gaps_share_a_call() -> None:
    model, rows, background = fitted("regression", 3), odd_rows(), table()
    together = model.explain_local(rows, view="shapley", background=background)
    for k in range(len(rows)):
        alone = model.explain_local(
            rows.iloc[[k]], view="shapley", background=background
        )
        assert_allclose(alone.values[0], together.values[k], atol=1e-10)
        assert_allclose(alone.base[0], together.base[k], atol=1e-10)
        assert_allclose(alone.interactions[0], together.interactions[k], atol=1e-10)


@pytest.mark.parametrize("order", [2, 3])
@pytest.mark.filterwarnings(IGNORE_UNKNOWN)
def test_who_is_no_player_gets_exactly_nothing(order) -> None:
    model, rows = fitted("regression", order), odd_rows()
    background = table().assign(rooms=4)
    rows["rooms"] = [4, 4, np.nan, 5, 4, np.nan]
    found = model.explain_local(rows, view="shapley", background=background)
    silent = np.array(found.unknown)
    silent[:, found.feature_names.index("same")] = True  # constant in training
    silent[[0, 1, 4], found.feature_names.index("rooms")] = True  # as in all rows
    assert (found.values[silent] == 0).all()
    assert (found.interactions[silent] == 0).all()
    assert (found.interactions.transpose(0, 2, 1)[silent] == 0).all()
    assert (found.values[~silent] != 0).all()


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("order", [2, 3])
def test_agrees_with_the_package_shap(order, task) -> None:
    shap = pytest.importorskip("shap")
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(150, 5)), columns=list("abcde"))
    score = 3 * X["a"] * X["b"] + X["c"] ** 2 - X["d"] * X["e"] * X["a"]
    kind = SPAMRegressor if task == "regression" else SPAMClassifier
    classes = 2 if task == "binary" else 3
    y = score if task == "regression" else pd.qcut(score, classes, labels=False)
    model = kind(
        order=order, rank=4, n_members=2, max_epochs=5, random_state=0, n_knots=8
    ).fit(X, y)
    background, rows = X.iloc[:30], X.iloc[40:43]
    ask = getattr(model, "decision_function", model.predict)
    masker = shap.maskers.Independent(background, max_samples=30)
    theirs = shap.explainers.Exact(
        lambda cells: ask(pd.DataFrame(cells, columns=X.columns)), masker
    )(rows)
    mine = model.explain_local(rows, view="shapley", background=background)
    assert_allclose(mine.values, theirs.values, rtol=0, atol=1e-6)
    assert_allclose(mine.base, theirs.base_values, rtol=0, atol=1e-6)
    assert np.abs(mine.values).max() > 0.01


def test_kernel_shap_of_all_coalitions_agrees() -> None:
    model, rows, background = fitted("multiclass", 3), table()[:3], table()[20:40]
    exact = model.explain_local(rows, view="shapley", background=background)
    counted = explain_kernel_shap(model, rows, background)
    assert_allclose(exact.values, counted.values, atol=1e-8)
    assert_allclose(exact.base, counted.base, atol=1e-8)


def test_pair_indices_that_take_long_are_left_out(monkeypatch) -> None:
    model, rows, background = fitted("regression", 3), table()[:4], table()[20:40]
    shown = model.explain_local(rows, view="shapley", background=background)
    encoded = [model.encoder_.transform(part) for part in (rows, background)]
    work = count_products(model.model_, *encoded)
    name = "spam_core.explain.glassbox.MOST_PRODUCTS"
    monkeypatch.setattr(name, work)
    again = model.explain_local(rows, view="shapley", background=background)
    assert_array_equal(shown.interactions, again.interactions)
    monkeypatch.setattr(name, work - 1)
    hidden = model.explain_local(rows, view="shapley", background=background)
    assert hidden.interactions is None
    assert_allclose(shown.values, hidden.values, atol=1e-10)


def test_rows_that_know_the_same_share_a_background() -> None:
    model, rows = fitted("regression", 3), numbers(np.zeros((4, 6)))
    rows.codes[[0, 2], 1] = -2
    rows.codes[3] = -2
    found = list(table_backgrounds(model.model_, rows, rows, False))
    assert sorted(chosen.tolist() for chosen, _ in found) == [[0, 2], [1], [3]]
    everyone = list(table_backgrounds(model.model_, rows[1:2], rows, False))
    assert [chosen.tolist() for chosen, _ in everyone] == [[0]]


def test_a_background_belongs_to_shapley_values() -> None:
    X = pd.DataFrame({"a": np.arange(60.0), "b": np.arange(60.0) ** 2 % 7})
    model = SPAMRegressor(rank=2, n_members=1, max_epochs=1).fit(X, X["a"])
    with pytest.raises(ValueError, match='Only view="shapley" takes a background'):
        model.explain_local(X[:1], background=X)
    with pytest.raises(ValueError, match="b"):
        model.explain_local(X[:1], view="shapley", background=X[["a"]])


@pytest.mark.parametrize(
    ("background", "said"),
    [
        (lambda X: X.drop(columns="b"), r"background: .*missing: \['b'\]"),
        (lambda X: X[:0], "background: Found array with 0 sample"),
        (lambda X: X.assign(a="word"), "background: "),
    ],
    ids=["column", "rows", "text"],
)
def test_a_background_that_cannot_be_used_is_named(background, said) -> None:
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 2)), columns=["a", "b"])
    model = SPAMRegressor(rank=2, n_members=2, max_epochs=2).fit(X, X["a"])
    with pytest.raises((TypeError, ValueError), match=said):
        model.explain_local(X[:1], view="shapley", background=background(X))
