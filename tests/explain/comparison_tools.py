"""Comparisons that take no time, for tests."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import LinearRegression

from spam_core.explain.comparison import Comparison, compare_explanations
from tests.explain.tables import table

ROWS, BACKGROUND = slice(10, 13), slice(60, 80)
FAST = {"lime_samples": 200, "n_coalitions": 32, "max_background": 20}


def compare(models, **given) -> Comparison:
    """Compare on rows of `table()`, with settings that take no time."""
    X = given.pop("X", table().iloc[ROWS])
    background = given.pop("background", table().iloc[BACKGROUND])
    return compare_explanations(models, X, background, **(FAST | {"E": 3} | given))


def wide(d: int = 14) -> tuple[LinearRegression, np.ndarray]:
    """Return a black box of too many columns for exact values."""
    X = np.random.default_rng(0).normal(size=(50, d))
    return LinearRegression().fit(X, X @ np.arange(d)), X
