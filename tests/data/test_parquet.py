"""Parquet tables: plain columns, or a plain message."""

from __future__ import annotations

import datetime
import decimal
import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from spam_core.data import ReadError, read_table


def stored(table: pa.Table) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    return buffer.getvalue()


FRAME = pd.DataFrame({"a": [1, 2, 3], "b": ["x", None, "z"]})


def test_content_decides_that_it_is_parquet() -> None:
    frame, detected = read_table(io.BytesIO(FRAME.to_parquet()))
    pd.testing.assert_frame_equal(frame, FRAME)
    assert detected.format == "parquet"
    assert detected.missing == {"b": 1}
    assert detected.separator is None
    assert "Parquet; 3 rows, 2 columns; 1 cell" in detected.describe()


def test_a_nameless_index_is_left_out_and_this_is_said() -> None:
    some = FRAME.set_axis([7, 3, 5])
    frame, detected = read_table(some.to_parquet())
    pd.testing.assert_frame_equal(frame, FRAME)
    assert "row labels" in detected.notes[0]
    kept = read_table(some.to_parquet(), keep_index=True).frame
    assert kept.iloc[:, -1].tolist() == [7, 3, 5]


def test_a_named_index_is_a_column() -> None:
    frame, detected = read_table(FRAME.set_index("a").to_parquet())
    assert frame["a"].tolist() == [1, 2, 3]
    assert frame.index.equals(pd.RangeIndex(3))
    assert "index 'a'" in detected.notes[0]


def test_types_become_plain_ones() -> None:
    big = 2**60 + 1
    table = pa.table(
        {
            "decimal": [decimal.Decimal("1.25"), None],
            "date": [datetime.date(2024, 1, 2), None],
            "time": [datetime.time(1, 2), None],
            "truth": [True, None],
            "whole": [1, None],
            "big": [big, None],
            "nothing": pa.nulls(2),
            "category": pa.array(["u", None]).dictionary_encode(),
        }
    )
    frame = read_table(stored(table)).frame
    assert frame["decimal"].iloc[0] == 1.25
    assert frame["date"].iloc[0] == pd.Timestamp("2024-01-02")
    assert frame["time"].iloc[0].startswith("01:02")
    assert frame["truth"].dtype == "boolean"
    assert frame["whole"].dtype == np.float64
    assert frame["big"].iloc[0] == big
    assert frame["nothing"].isna().all()
    assert frame["category"].iloc[0] == "u"


@pytest.mark.parametrize(
    ("column", "what"),
    [
        (pa.array([[1], [2]]), "lists or structures"),
        (pa.array([{"x": 1}, None]), "lists or structures"),
        (pa.array([b"1", b"2"]), "bytes"),
    ],
)
def test_cells_that_hold_more_than_one_value_are_refused(
    column: pa.Array, what: str
) -> None:
    data = stored(pa.table({"a": [1, 2], "deep": column}))
    with pytest.raises(ReadError, match=rf"'deep' \({what}\)"):
        read_table(data)
    assert list(read_table(data, skip_columns=["deep"]).frame) == ["a"]


def test_repeated_names_are_named() -> None:
    data = stored(pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]))
    with pytest.raises(ReadError, match=r"'a' \(columns 1, 2\)"):
        read_table(data)
    assert list(read_table(data, duplicate_names="number").frame) == ["a", "a (2)"]


def test_columns_can_be_kept_as_text() -> None:
    frame = read_table(FRAME.to_parquet(), text_columns=["a"]).frame
    assert frame["a"].tolist() == ["1", "2", "3"]


@pytest.mark.parametrize("keep", [8, 60, -20])
def test_a_damaged_file_is_refused(keep: int) -> None:
    with pytest.raises(ReadError, match="damaged or cut short"):
        read_table(FRAME.to_parquet()[:keep])


def test_no_rows_or_no_columns() -> None:
    with pytest.raises(ReadError, match="no rows"):
        read_table(FRAME.iloc[:0].to_parquet())
    with pytest.raises(ReadError, match="no columns"):
        read_table(FRAME.to_parquet(), skip_columns=["a", "b"])
