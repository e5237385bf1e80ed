"""Splits, and tables made of any frame."""

from __future__ import annotations

import dataclasses
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import train_test_split

from spam_core.data import (
    Table,
    guess_task,
    load_dataset,
    make_known_binary,
    make_known_regression,
    make_splits,
    make_table,
)


def frame_with(y: object) -> pd.DataFrame:
    return pd.DataFrame({"x": np.arange(50.0), "y": y})


# --- splits ---------------------------------------------------------------------------


def test_test_rows_are_those_of_scikit_learn() -> None:
    rows = np.arange(2000)
    _, expected = train_test_split(rows, test_size=0.2, random_state=11)
    table = make_known_regression(2000).resplit(11)
    np.testing.assert_array_equal(table.splits["test"], np.sort(expected))
    assert len(table.splits["validation"]) == 0

    labelled = make_known_binary(2000)
    _, expected = train_test_split(
        rows, test_size=0.2, random_state=11, stratify=labelled.y
    )
    found = labelled.resplit(11).splits["test"]
    np.testing.assert_array_equal(found, np.sort(expected))


def test_a_split_depends_on_its_seed_only() -> None:
    first, again, other = (make_splits(100, seed=s) for s in (1, 1, 2))
    np.testing.assert_array_equal(first["test"], again["test"])
    assert not np.array_equal(first["test"], other["test"])


def test_rare_classes_and_tiny_tables_can_be_split() -> None:
    labels = np.array(["a"] * 30 + ["b"] * 19 + ["once"])
    splits = make_splits(50, labels=labels)
    assert sorted(np.concatenate(list(splits.values())).tolist()) == list(range(50))
    splits = make_splits(5, labels=np.array([0, 1, 2, 3, 3]))
    assert sum(map(len, splits.values())) == 5


def test_splits_that_cannot_be() -> None:
    with pytest.raises(ValueError, match="no rows are left to train on"):
        make_splits(10, test_fraction=0.6, validation_fraction=0.4)
    with pytest.raises(ValueError, match=r"test_fraction must lie in \[0, 1\)"):
        make_splits(10, test_fraction=1.5)
    with pytest.raises(ValueError, match="too few"):
        make_splits(1)
    with pytest.raises(ValueError, match="belong to one group"):
        make_splits(10, groups=["g"] * 10)


def test_split_gives_the_parts_in_order() -> None:
    table = load_dataset("wine")
    parts = table.split()
    for X, y, part in zip(parts[::2], parts[1::2], table.splits, strict=True):
        pd.testing.assert_frame_equal(X, table.X.iloc[table.splits[part]])
        pd.testing.assert_series_equal(y, table.y.iloc[table.splits[part]])
    again = table.split(seed=5)
    assert [len(again[i]) for i in (0, 2, 4)] == [124, 18, 36]
    assert not again.X_test.index.equals(parts.X_test.index)


def test_resplitting_changes_nothing_else() -> None:
    table = load_dataset("wine")
    new = table.resplit(7, test_fraction=0.25)
    assert new.X is table.X
    assert len(new.splits["test"]) == 45
    assert new.split_note == "random, 25% test, seed 7"
    assert len(table.splits["test"]) == 36


# --- tables ---------------------------------------------------------------------------


def test_a_table_is_checked() -> None:
    table = load_dataset("wine")
    short = {**table.splits, "test": table.splits["test"][1:]}
    twice = {**table.splits, "validation": table.splits["train"][:18]}
    for wrong, message in [
        ({"splits": short}, "exactly once"),
        ({"splits": twice}, "exactly once"),
        ({"splits": {"train": table.splits["train"]}}, "must have the parts"),
        ({"task": "ranking"}, "task must be one of"),
        ({"task": "binary"}, "has 2 classes, not 3"),
        ({"y": table.y.iloc[:9]}, "X has 178 rows, but y has 9"),
        ({"class_names": ("a",)}, "but 1 are named"),
        ({"feature_names": ("a",)}, "there are 1 feature names"),
    ]:
        with pytest.raises(ValueError, match=message):
            dataclasses.replace(table, **wrong)


def test_a_table_prints_its_facts_not_its_rows() -> None:
    assert repr(load_dataset("wine")) == (
        "Table('wine', 178 rows x 13 features, multiclass target 'cultivar')"
    )


def test_a_table_can_be_pickled_for_a_cache() -> None:
    table = make_known_regression(50)
    copy = pickle.loads(pickle.dumps(table))
    assert isinstance(copy, Table)
    pd.testing.assert_frame_equal(copy.X, table.X)
    np.testing.assert_array_equal(copy.truth.score(copy.X), table.truth.score(table.X))


@pytest.mark.parametrize(
    ("y", "task"),
    [
        ([0, 1] * 25, "binary"),
        ([True, False] * 25, "binary"),
        (["no", "yes"] * 25, "binary"),
        ([1.0, 2.0] * 25, "binary"),
        ([1, 2, 7, 1, 2] * 10, "multiclass"),
        (pd.Categorical(["u", "v", "w", "u", "v"] * 10), "multiclass"),
        (pd.array([1, 2, None, 1, 2] * 10, dtype="Int64"), "binary"),
        (np.linspace(0, 1, 50), "regression"),
        (np.arange(50), "regression"),
        ([0.5, 1.5] * 25, "regression"),
    ],
)
def test_the_task_is_guessed_from_the_target(y: object, task: str) -> None:
    assert guess_task(pd.Series(y)) == task


def test_o08_targets_that_cannot_be_learnt() -> None:
    with pytest.raises(ValueError, match="'y' has 1 distinct value"):
        make_table(frame_with(0), "y")
    with pytest.raises(ValueError, match="'y' has 0 distinct value"):
        make_table(frame_with(0).iloc[:0], "y")
    y = np.linspace(0, 1, 50)
    y[[3, 9]] = np.nan
    with pytest.raises(ValueError, match="'y' is missing in 2 of 50 rows"):
        make_table(frame_with(y), "y")
    table = make_table(frame_with(y), "y", drop_missing_target=True)
    assert table.n_rows == 48
    assert table.X.index.equals(pd.RangeIndex(48))
    words = pd.Series(["a", "b"] * 25, dtype="str")
    words[4] = None
    with pytest.raises(ValueError, match="missing in 1 of 50 rows"):
        make_table(frame_with(words), "y")


def test_o08_one_class_with_a_single_row_still_splits() -> None:
    table = make_table(frame_with(["rare"] + ["common"] * 49), "y")
    assert table.task == "binary"
    assert sum(map(len, table.splits.values())) == 50


def test_a_frame_and_its_columns_are_checked() -> None:
    frame = frame_with([0, 1] * 25)
    with pytest.raises(ValueError, match=r"no column 'z'. Columns: x, y"):
        make_table(frame, "z")
    with pytest.raises(ValueError, match="no column 'id'"):
        make_table(frame, "y", dropped={"id": "identifier"})
    with pytest.raises(ValueError, match="No column is left"):
        make_table(frame, "y", dropped={"x": "leak"})
    with pytest.raises(ValueError, match=r"repeat: \['y'\]"):
        make_table(frame.set_axis(["y", "y"], axis=1), "y")
    before = frame.copy()
    make_table(frame, "y")
    pd.testing.assert_frame_equal(frame, before)
