"""Error against the number of evaluations."""

from __future__ import annotations

import numpy as np
import pytest

from spam_core.explain.budget import error_by_budget
from spam_core.explain.methods import KERNEL_SHAP, LIME
from tests.explain.comparison_tools import wide
from tests.explain.tables import fitted, table


def test_kernel_shap_gets_better_with_more_coalitions_until_it_is_exact() -> None:
    X = np.random.default_rng(0).normal(size=(80, 10))

    class Product:
        def predict(self, rows):
            rows = np.asarray(rows)
            return rows[:, :3].prod(axis=1) + rows @ np.linspace(0, 1, 10)

    frame = error_by_budget(
        Product(), X[:1], X, budgets=(10, 40, 300, 2000), max_background=30
    )
    assert list(frame) == [
        "method",
        "samples",
        "evaluations",
        "seed",
        "error",
        "seconds",
    ]
    sizes = frame.groupby("method")["samples"].unique()
    # below 2 d it can't be asked; beyond all 1,022 there is nothing to ask
    assert list(sizes[KERNEL_SHAP]) == [40, 300, 1022]
    assert list(sizes[LIME]) == [10, 40, 300, 2000]
    assert set(frame["seed"]) == {0, 1, 2}
    error = frame.groupby(["method", "samples"])["error"].mean()
    assert error[KERNEL_SHAP, 40] > error[KERNEL_SHAP, 300] > error[KERNEL_SHAP, 1022]
    assert error[KERNEL_SHAP, 1022] < 1e-9
    assert error[LIME, 2000] > 0.01
    shap = frame.query("method == @KERNEL_SHAP and samples == 40")
    assert (shap["evaluations"] == (40 + 4) * 30 + 1).all()
    assert frame.attrs["evaluations"] > 0


def test_a_spam_is_its_own_truth() -> None:
    frame = error_by_budget(
        fitted("multiclass"),
        table().iloc[[10]],
        table(),
        budgets=[64],
        seeds=[1],
        class_="mid",
        max_background=20,
    )
    assert list(frame["method"]) == [LIME, KERNEL_SHAP]
    assert frame["error"].iloc[1] < 1e-6 < frame["error"].iloc[0]


@pytest.mark.parametrize(
    ("rows", "given", "message"),
    [
        (2, {}, "row must be a table of one row, got 2"),
        (1, {}, "isn't known: 14 columns vary, and all coalitions of more than 12"),
        (1, {"budgets": []}, "budgets must hold at least one number"),
        (1, {"budgets": [1]}, "budgets must be an integer >= 2, got 1"),
    ],
)
def test_an_error_without_truth_is_refused(rows, given, message) -> None:
    model, X = wide()
    with pytest.raises(ValueError) as caught:  # noqa: PT011  (the text is below)
        error_by_budget(model, X[:rows], X, **given)
    assert message in str(caught.value)
