"""Columns as pandas, NumPy and Arrow store them: kinds, numbers and levels."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from spam_core.data.columns import as_frame, column_kind, to_numbers
from spam_core.data.levels import sorted_levels, to_objects

DAY = 18262.0  # 2020-01-01 in days since 1970-01-01
NAN = np.nan


def arrow(values: list[Any], kind: Any) -> pd.Series[Any]:
    return pd.Series(values, dtype=pd.ArrowDtype(kind))


NUMERIC = {
    "int64": (pd.Series([1, 2]), [1, 2]),
    "int8": (pd.Series(np.array([1, -2], np.int8)), [1, -2]),
    "uint64": (pd.Series(np.array([2**63, 2], np.uint64)), [2.0**63, 2]),
    "float32": (pd.Series(np.array([1, NAN], np.float32)), [1, NAN]),
    "float16": (pd.Series(np.array([1, NAN], np.float16)), [1, NAN]),
    "Int64": (pd.Series([1, None], dtype="Int64"), [1, NAN]),
    "Float64": (pd.Series([1.5, None], dtype="Float64"), [1.5, NAN]),
    "sparse": (pd.Series(pd.arrays.SparseArray([1.0, NAN])), [1, NAN]),
    "object": (pd.Series([1, 2.5, None, pd.NA], dtype=object), [1, 2.5, NAN, NAN]),
    "decimal": (pd.Series([Decimal("1.5"), None]), [1.5, NAN]),
    "large objects": (pd.Series([10**30, 2], dtype=object), [1e30, 2]),
    "arrow int": (arrow([1, None], pa.int64()), [1, NAN]),
    "arrow double": (arrow([1.5, None], pa.float64()), [1.5, NAN]),
    "arrow decimal": (arrow([Decimal("1.5"), None], pa.decimal128(5, 2)), [1.5, NAN]),
    "all None": (pd.Series([None, None], dtype=object), [NAN, NAN]),
    "all missing text": (pd.Series([None, None], dtype="str"), [NAN, NAN]),
    "arrow null": (arrow([None, None], pa.null()), [NAN, NAN]),
    "dates": (pd.Series(pd.to_datetime(["2020-01-01", None])), [DAY, NAN]),
    "half a day": (pd.Series(pd.to_datetime(["2020-01-01 12:00"])), [DAY + 0.5]),
    "date objects": (pd.Series([dt.date(2020, 1, 1), None], dtype=object), [DAY, NAN]),
    "times with a zone": (
        pd.Series(pd.to_datetime(["2020-01-01"]).tz_localize("Europe/Berlin")),
        [DAY - 1 / 24],
    ),
    "times of two zones": (
        pd.Series(
            [
                pd.Timestamp("2020-01-01", tz="Europe/Berlin"),
                pd.Timestamp("2020-01-01", tz="UTC"),
            ],
            dtype=object,
        ),
        [DAY - 1 / 24, DAY],
    ),
    "periods": (pd.Series(pd.period_range("2020", periods=1, freq="M")), [DAY]),
    "arrow date": (arrow([dt.date(2020, 1, 1), None], pa.date32()), [DAY, NAN]),
    "arrow timestamp": (
        arrow([dt.datetime(2020, 1, 1), None], pa.timestamp("us")),
        [DAY, NAN],
    ),
    "durations": (pd.Series(pd.to_timedelta([36, None], unit="h")), [1.5, NAN]),
    "arrow durations": (
        arrow([dt.timedelta(hours=36), None], pa.duration("us")),
        [1.5, NAN],
    ),
}


@pytest.mark.parametrize("name", NUMERIC)
def test_numbers_and_dates_of_every_dtype(name: str) -> None:
    column, expected = NUMERIC[name]
    assert column_kind(column) == "numeric"
    numbers = to_numbers(column)
    assert numbers.dtype == np.float64
    np.testing.assert_allclose(numbers, expected, rtol=1e-15)


LEVELS = {
    "object": (pd.Series(["b", None, "a"], dtype=object), ["b", None, "a"]),
    "str": (pd.Series(["b", None, "a"], dtype="str"), ["b", None, "a"]),
    "string": (pd.Series(["b", pd.NA], dtype="string"), ["b", None]),
    "arrow string": (arrow(["b", None], pa.string()), ["b", None]),
    "arrow dictionary": (
        arrow(["b", None], pa.dictionary(pa.int32(), pa.string())),
        ["b", None],
    ),
    "category": (pd.Series(pd.Categorical(["b", None])), ["b", None]),
    "category of numbers": (pd.Series(pd.Categorical([2, None])), [2, None]),
    "numpy text": (pd.Series(np.array(["b", "a"], dtype="<U1")), ["b", "a"]),
    "empty text": (pd.Series(["", "a"]), ["", "a"]),
    "text and numbers": (pd.Series(["a", 2, None], dtype=object), ["a", "2", None]),
    "intervals": (pd.Series(pd.cut([1.0, 3.0], [0, 2, 4])), ["(0, 2]", "(2, 4]"]),
    "tuples": (pd.Series([("a", 1), ("b", 2)]), ["('a', 1)", "('b', 2)"]),
    "times of day": (pd.Series([dt.time(1), None], dtype=object), ["01:00:00", None]),
}


@pytest.mark.parametrize("name", LEVELS)
def test_levels_of_every_dtype(name: str) -> None:
    column, expected = LEVELS[name]
    assert column_kind(column) == "categorical"
    assert to_objects(column).tolist() == expected


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([True, False]),
        pd.Series([True, None], dtype="boolean"),
        pd.Series([True, None], dtype=object),
        arrow([True, None], pa.bool_()),
    ],
)
def test_booleans_of_every_dtype(column: pd.Series[Any]) -> None:
    assert column_kind(column) == "boolean"
    assert to_objects(column)[0] is True
    assert to_objects(column)[1] in (False, None)


def test_levels_are_sorted_or_in_declared_order() -> None:
    text = pd.Series(["b", "a", None])
    assert sorted_levels(text, to_objects(text)) == ["a", "b"]
    declared = pd.Series(pd.Categorical(["low", "high"], ["low", "mid", "high"]))
    assert sorted_levels(declared, to_objects(declared)) == ["low", "high"]
    cut = pd.Series(pd.cut([1.0, 30.0], [0, 2, 10, 40]))
    assert sorted_levels(cut, to_objects(cut)) == ["(0, 2]", "(10, 40]"]


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([[1], [2]], r"Column 'a' has 2 cells that are neither text nor numbers, for "),
        ([{"b": 1}, "c"], r"Column 'a' has 1 cells that are neither text nor numbers"),
        ([object(), "c"], r"Column 'a' has 1 cells that are neither text nor numbers"),
    ],
)
def test_cells_that_are_no_levels(cells: list[Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        to_objects(pd.Series(cells, name="a", dtype=object))


@pytest.mark.parametrize(
    ("cells", "dates", "message"),
    [
        (
            ["x", 1.0, "y"],
            None,
            r"Column 'a' must hold numbers, as in training; got 2 cells that don't, "
            r"for example \['x', 'y'\]\.",
        ),
        (
            [dt.datetime(2020, 1, 1)],
            False,
            r"Column 'a' must hold numbers, as in training; got dates, for example "
            r"'2020-01-01 00:00:00'\.",
        ),
        (
            ["soon"],
            True,
            r"Column 'a' must hold dates such as 2026-11-27, as in training; got 1 "
            r"cells that don't, for example \['soon'\]\.",
        ),
        (
            [["2020"]],
            True,
            r"Column 'a' must hold dates, as in training; got 1 cells that don't",
        ),
    ],
)
def test_cells_that_are_no_numbers(
    cells: list[Any], dates: bool | None, message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        to_numbers(pd.Series(cells, name="a", dtype=object), dates)


def test_text_is_read_as_dates_where_training_saw_dates() -> None:
    column = pd.Series(["2020-01-01", None, "2020-01-02 06:00"])
    np.testing.assert_array_equal(to_numbers(column, True), [DAY, NAN, DAY + 1.25])


def test_numbers_may_come_as_categories() -> None:
    column = pd.Series(pd.Categorical([3, None, 1]))
    np.testing.assert_array_equal(to_numbers(column), [3, NAN, 1])


@pytest.mark.parametrize("kind", [complex, object])
def test_complex_numbers_are_refused(kind: type) -> None:
    with pytest.raises(ValueError, match="Complex data not supported: column 'a'"):
        column_kind(pd.Series([1j, 2j], dtype=kind, name="a"))
    with pytest.raises(ValueError, match="Complex data not supported"):
        as_frame(np.array([[1j]]))


@pytest.mark.parametrize(
    ("X", "labels", "named"),
    [
        ([[1.0, 2.0]], ["x0", "x1"], False),
        (np.ones((2, 3)), ["x0", "x1", "x2"], False),
        (pd.DataFrame({"b": [1], "a": [2]}), ["b", "a"], True),
        (pd.DataFrame(np.ones((1, 2))), ["0", "1"], True),
        (pa.table({"b": [1], "a": ["x"]}), ["b", "a"], True),
    ],
)
def test_tables_of_every_sort(X: Any, labels: list[str], named: bool) -> None:
    frame, is_named = as_frame(X)
    assert frame.columns.tolist() == labels
    assert is_named == named


def test_lists_of_mixed_rows_keep_their_numbers() -> None:
    frame, _ = as_frame([[1.0, "a"], [2.0, "b"]])
    assert [column_kind(frame[name]) for name in frame] == ["numeric", "categorical"]


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (
            np.ones(3),
            ValueError,
            r"Expected 2D array, got 1D array instead\. Reshape your data either using "
            r"array\.reshape\(-1, 1\) if it has one column or array\.reshape\(1, -1\) "
            r"if it is one row\.",
        ),
        (np.float64(3), ValueError, "Expected 2D array, got scalar array instead"),
        (
            pd.Series([1.0]),
            ValueError,
            r"Expected a table with columns, got a Series\. Reshape your data: use "
            r"series\.to_frame\(\) for one column\.",
        ),
        (
            pd.DataFrame([[1, 2, 3]], columns=["a", "a", "b"]),
            ValueError,
            r"Column labels must be unique; these occur more than once: \['a'\]",
        ),
        (
            pd.DataFrame([[1, 2, 3]], columns=["a", 1, "b"]),
            TypeError,
            r"Column labels must be all strings or all of one other type, got a "
            r"mixture: \[1\] beside strings\. Convert them with X\.columns = "
            r"X\.columns\.astype\(str\)\.",
        ),
    ],
)
def test_what_is_no_table(X: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        as_frame(X)
