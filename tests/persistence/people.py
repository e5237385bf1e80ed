"""A table with every kind of column, models of it, and what a loaded twin must say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from spam_core import SPAMClassifier, SPAMRegressor

DAYS = pd.to_datetime(["2026-01-01", "2026-02-01"])
QUICK: dict[str, Any] = {
    "rank": 3,
    "n_members": 2,
    "max_epochs": 3,
    "n_knots": 8,
    "random_state": 0,
}


def people(n: int = 80) -> pd.DataFrame:
    """Return a table with every kind of column and level."""
    rng = np.random.default_rng(40)
    frame = pd.DataFrame(
        {
            "size": rng.normal(50, 10, n),
            "months": rng.choice([-9.0, -7.5, 3.0, 12.0, 24.0], n),
            "city": rng.choice(["Bonn", "größe", "Ulm"], n),
            "grade": pd.Categorical(rng.integers(1, 4, n)),
            "share": pd.Categorical(rng.choice([0.25, 0.1], n)),
            "day": pd.Categorical(
                rng.choice(pd.to_datetime(["2026-01-01", "2026-02-01"]), n)
            ),
            "member": rng.random(n) < 0.5,
            "since": pd.to_datetime("2020-01-01")
            + pd.to_timedelta(rng.integers(0, 99, n), "D"),
            "same": "x",
        }
    )
    frame.loc[3, ["size", "city"]] = None
    return frame


def target(task: str) -> Any:
    frame = people()
    score = frame["size"].fillna(50) + 10 * (frame["city"] == "Ulm")
    if task == "regression":
        return score.rename("price")
    return np.digitize(score, [50.0] if task == "binary" else [45.0, 55.0])


def fit(task: str = "regression", feature_map: str = "spline", **settings: Any) -> Any:
    kind = SPAMRegressor if task == "regression" else SPAMClassifier
    model = kind(
        feature_map=feature_map,
        hidden_units=(8,),
        special_values={"months": [-9, -7.5, -8]},
        **{**QUICK, **settings},
    )
    return fit_people(model, target(task))


def fit_people(model: Any, y: Any) -> Any:
    with pytest.warns(UserWarning, match="constant or all missing"):
        return model.fit(people(), y)


def odd_rows() -> pd.DataFrame:
    frame = people().iloc[:6].copy()
    frame.loc[0, "city"] = "Rom"
    frame.loc[1, "months"] = -8.0  # declared, and never seen
    frame.loc[2, "size"] = 1e6
    return frame


def scores(model: Any, X: Any) -> np.ndarray:
    name = "decision_function" if hasattr(model, "classes_") else "predict"
    return getattr(model, name)(X)  # type: ignore[no-any-return]


def check_twin(model: Any, twin: Any) -> None:
    """Check that two fitted estimators say exactly the same."""
    assert type(twin) is type(model)
    assert str(twin.get_params()) == str(model.get_params())
    np.testing.assert_array_equal(scores(twin, people()), scores(model, people()))
    with pytest.warns(UserWarning, match="months: '-8.0'.*city: 'Rom'"):
        one = scores(model, odd_rows())
    with pytest.warns(UserWarning, match="months: '-8.0'.*city: 'Rom'"):
        np.testing.assert_array_equal(scores(twin, odd_rows()), one)
    for name in ("history_", "n_iter_", "validation_loss_", "target_name_"):
        assert getattr(twin, name) == getattr(model, name)
    assert twin.feature_names_ == model.feature_names_
    assert twin.feature_names_in_.tolist() == model.feature_names_in_.tolist()
    for a, b in zip(twin.encoder_.features, model.encoder_.features, strict=True):
        assert [type(level) for level in a.levels] == [
            type(level) for level in b.levels
        ]
        assert (a.levels, a.special) == (b.levels, b.special)
        np.testing.assert_array_equal(a.knots, b.knots)
    if hasattr(model, "classes_"):
        assert twin.classes_.dtype == model.classes_.dtype
        assert twin.classes_.tolist() == model.classes_.tolist()
    if hasattr(model, "explain_local"):
        ours, theirs = model.explain_local(people()), twin.explain_local(people())
        assert theirs.terms == ours.terms
        np.testing.assert_array_equal(theirs.values, ours.values)
        np.testing.assert_array_equal(theirs.base, ours.base)
        ours, theirs = model.explain_global(), twin.explain_global()
        np.testing.assert_array_equal(theirs.importance, ours.importance)
        np.testing.assert_array_equal(theirs.sd, ours.sd)
        assert theirs.curve("city").x.tolist() == ours.curve("city").x.tolist()
        np.testing.assert_array_equal(theirs.curve("size").y, ours.curve("size").y)
        np.testing.assert_array_equal(
            theirs.curve("size").lower, ours.curve("size").lower
        )
