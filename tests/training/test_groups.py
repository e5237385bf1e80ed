"""Rows of one group are held out together."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from spam_core import DNNRegressor, SPAMRegressor
from spam_core.training.splits import held_out

CITIES = np.repeat(np.arange(30), np.arange(1, 31) % 7 + 1)


def test_no_group_is_split_and_windows_have_their_share() -> None:
    mask = held_out(len(CITIES), 8, 0.125, np.random.default_rng(0), None, CITIES)
    for city in np.unique(CITIES):
        own = mask[city == CITIES]
        assert (own == own[0]).all()
    assert (mask.sum(1) == 1).all()  # eight folds
    assert mask.mean(0).max() < 0.25


def test_a_model_is_chosen_for_new_groups() -> None:
    # the column names the city, and says nothing about a new one
    rng = np.random.default_rng(0)
    level = rng.normal(size=30)[CITIES]
    X = pd.DataFrame({"city": CITIES * 1.0, "x": rng.uniform(size=len(CITIES))})
    y = level + X["x"]
    few = {"max_epochs": 20, "random_state": 0}
    known = SPAMRegressor(**few).fit(X, y)
    fresh = SPAMRegressor(**few).fit(X, y, groups=CITIES.astype(str))
    assert fresh.validation_loss_ > known.validation_loss_
    network = DNNRegressor((8,), **few)
    losses = {network.fit(X, y, groups=g).validation_loss_ for g in (None, CITIES)}
    assert len(losses) == 2  # other rows were held out


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (CITIES[:-1], "one group for each of 117 rows, got 116"),
        (np.zeros(117), "at least 2 groups, got 1"),
    ],
)
def test_groups_that_cannot_be_held_out_are_refused(groups, message: str) -> None:  # type: ignore[no-untyped-def]
    X = pd.DataFrame({"x": np.arange(117.0)})
    with pytest.raises(ValueError, match=message):
        SPAMRegressor().fit(X, X["x"], groups=groups)
