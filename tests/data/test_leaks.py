"""Columns that give the target away."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from spam_core import load_dataset
from spam_core.data import telling_columns


def table(n: int = 300) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(3)
    X = pd.DataFrame(
        {
            "a": rng.normal(size=n),
            "b": rng.normal(size=n),
            "c": rng.choice(["u", "v"], n),
        }
    )
    return X, (X["a"] + rng.normal(size=n) > 0).to_numpy()


@pytest.mark.parametrize(
    "leak",
    [
        lambda y: np.where(y, "7", None),
        lambda y: np.where(y, np.arange(len(y)) % 9, np.nan),
        lambda y: pd.array(y, dtype="boolean"),
        lambda y: pd.Timestamp("2020-01-01") + pd.to_timedelta(y * 400, unit="D"),
        lambda y: pd.Categorical(np.where(y, "dead", "alive")),
    ],
    ids=["gaps in text", "gaps in numbers", "booleans", "dates", "category"],
)
def test_a_leak_of_any_kind_is_named(leak) -> None:
    X, y = table()
    labels = pd.Series(np.where(y, "yes", "no"))
    found = telling_columns(X.assign(late=leak(y)), labels, "binary")
    assert found == {"late": "AUC 1.00"}


def test_parts_of_a_number_and_classes_are_named_best_first() -> None:
    X, _ = table()
    total = X["a"] * 10 + X["b"]
    found = telling_columns(X.assign(nearly=total + X["b"]), total, "regression")
    assert list(found) == ["nearly", "a"]
    third = pd.cut(X["a"], [-9, -0.5, 0.5, 9], labels=["low", "mid", "high"])
    assert list(telling_columns(X, third, "multiclass")) == ["a"]


def test_gaps_rare_classes_and_short_tables_are_passed_over() -> None:
    X, y = table()
    labels = pd.Series(np.where(y, "yes", "no"), dtype=object)
    labels[:50] = None
    labels[50] = "only once"
    assert telling_columns(X, labels, "multiclass") == {}
    assert telling_columns(X[:10], labels[50:60], "binary") == {}
    assert telling_columns(X, pd.Series([1.0] * 300), "regression") == {}


@pytest.mark.parametrize("name", ["gapminder", "wine", "breast_cancer", "diabetes"])
def test_tables_without_leaks_have_none(name: str) -> None:
    data = load_dataset(name)
    assert telling_columns(data.X, data.y, data.task) == {}


@pytest.mark.parametrize(
    ("name", "file", "target", "leaks"),
    [
        ("titanic", "titanic3.csv", "survived", ["boat"]),
        ("bike_sharing", "hour.csv", "cnt", ["registered"]),
    ],
)
def test_leaks_that_publishers_left_in_are_found(
    data_dir, name, file, target, leaks
) -> None:
    from spam_core.data import check_target, read_table

    frame = read_table(data_dir / name / file).frame
    y = frame.pop(target)
    assert list(telling_columns(frame, y, check_target(y))) == leaks
