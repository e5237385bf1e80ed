"""What a table holds, and which targets are refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from spam_core.data import (
    check_target,
    describe_columns,
    load_dataset,
    make_table,
    suspicious_columns,
    target_counts,
)
from spam_core.data.describe import MAX_CLASSES


def test_each_kind_of_column_is_described() -> None:
    frame = pd.DataFrame(
        {
            "number": [1.5, None, 20_000.0, -9.0] * 10,
            "word": [None, "a", "b", "b"] * 10,
            "flag": [True, False, True, True] * 10,
            "day": pd.date_range("2020-01-01", periods=40),
            "many": [f"level {i % 8}" for i in range(40)],
            "none": [np.nan] * 40,
            "y": range(40),
        }
    )
    table = make_table(
        frame, "y", special_values={"number": (-9.0,)}, columns={"word": "what it says"}
    )
    columns = describe_columns(table).set_index("column")
    assert columns.loc["number", "values"] == "1.5 to 20,000"
    assert columns.loc["number", ["missing", "distinct", "special codes"]].tolist() == [
        10,
        2,
        10,
    ]
    assert columns.loc["word", "values"] == "b, a"
    assert columns.loc["word", "meaning"] == "what it says"
    assert columns.loc["day", "values"] == "2020-01-01 to 2020-02-09"
    assert columns.loc["many", "values"].endswith(" and 3 more")
    assert columns.loc["flag", "kind"] == "boolean"
    assert columns.loc["none", "values"] == "none"


def test_the_target_is_counted_once_for_every_row() -> None:
    for name in ("wine", "gapminder", "breast_cancer"):
        table = load_dataset(name)
        counts = target_counts(table)
        assert counts["rows"].sum() == table.n_rows
        if table.classes:
            assert list(counts["class"]) == list(table.class_names)
        else:
            assert counts["from"].iloc[0] == table.y.min()
            assert counts["to"].iloc[-1] == table.y.max()


@pytest.mark.parametrize(
    ("values", "task", "message"),
    [
        ([None] * 5, None, "has no value in any of 5 rows"),
        ([1, 1, 1], None, "1 distinct value"),
        (pd.date_range("2020", periods=5), None, "holds dates or times"),
        (["a", "b"] * 5, "regression", "'a', which is no number"),
        ([True, False] * 5, "regression", "which is no number"),
        ([0.5, 1.5, np.inf], "regression", "infinite"),
        (np.linspace(0.1, 5, 50), "classification", "fractions, such as 0.1"),
        ([f"n{i}" for i in range(50)], None, "50 distinct values in 50 rows"),
        (list(range(MAX_CLASSES + 1)) * 5, "classification", "Predict it as a number"),
    ],
)
def test_o08_a_target_that_cannot_be_learnt_is_refused(values, task, message) -> None:
    with pytest.raises(ValueError, match=message):
        check_target(pd.Series(values, name="y"), task)


@pytest.mark.parametrize(
    ("values", "task", "found"),
    [
        (["a", "b"], None, "binary"),
        ([True, False, None], None, "binary"),
        ([0.0, 1.0, np.nan], None, "binary"),
        ([1, 2, 7] * 5, None, "multiclass"),
        (list(range(30)) * 5, "classification", "multiclass"),
        (range(30), None, "regression"),
        ([0, 1] * 5, "regression", "regression"),
    ],
)
def test_the_task_is_told(values, task, found) -> None:
    assert check_target(pd.Series(values, name="y"), task) == found


def test_identifiers_are_suspicious_and_numbers_are_not() -> None:
    frame = pd.DataFrame(
        {
            "id": [f"c{i}" for i in range(100)],
            "city": ["here", "there"] * 50,
            "amount": np.arange(100.0),
            "ID": range(1, 101),
            "id of a part of the table": np.arange(100) * 3 // 2,
            "year": range(1900, 2000),
            "age": [i % 50 for i in range(100)],
        }
    )
    found = suspicious_columns(frame)
    assert list(found) == ["id", "ID", "id of a part of the table"]
    assert suspicious_columns(frame.astype({"ID": "int64[pyarrow]"})) == found
