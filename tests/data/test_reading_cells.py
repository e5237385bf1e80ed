"""Cells of a CSV: numbers, missing values, dates and text in any encoding."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spam_core.data import ReadError, read_table
from tests.data.test_readers import notes_of

# --- numbers --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'p,q\n"1,234",2\n"12,000",3\n', [1234, 12000]),
        (b'p,q\n"1,234.5",2\n"12,000.0",3\n', [1234.5, 12000]),
        (b"p;q\n1.234,5;2\n12.000,0;3\n", [1234.5, 12000]),
        (b"p;q\n1.234;0,5\n12.000;3,5\n", [1234, 12000]),
        (b'p,q\n"1,5",2\n"3,25",3\n', [1.5, 3.25]),
        ("p;q\n1 234,5;2\n12\u00a0000;3\n".encode(), [1234.5, 12000]),
        (b"p;q\n1'234.5;2\n12'000;3\n", [1234.5, 12000]),
        (b"p;q\n0,125;2\n0,250;3\n", [0.125, 0.25]),
        (b"p\tq\n-1.5e3\t2\n+.5\t3\n", [-1500, 0.5]),
    ],
)
def test_numbers_as_they_are_written(data: bytes, expected: list[float]) -> None:
    assert read_table(data).frame["p"].tolist() == expected


def test_numbers_are_read_to_the_last_bit() -> None:
    values = np.random.default_rng(0).normal(size=500) * 10.0 ** np.arange(-250, 250)
    text = "x,y\n" + "".join(f"{v!r},1\n" for v in values.tolist())
    np.testing.assert_array_equal(read_table(text.encode()).frame["x"], values)


def test_a_column_that_is_almost_numbers_is_text_and_this_is_said() -> None:
    data = b"a,b\n" + b"1,2\n" * 30 + b"oops,3\n"
    result = read_table(data)
    assert result.frame["a"].dtype == "str"
    assert "'oops'" in notes_of(result)
    cured = read_table(data, missing_values=("", "oops")).frame["a"]
    assert cured.dtype == np.float64
    assert cured.isna().sum() == 1


def test_a_column_of_both_marks_is_text_and_this_is_said() -> None:
    result = read_table(b"a;b\n1,5;1\n2.5;2\n")
    assert result.frame["a"].tolist() == ["1,5", "2.5"]
    assert "mixes decimal commas and points" in notes_of(result)


def test_codes_with_leading_zeros_can_stay_text() -> None:
    data = b"zip,y\n01234,1\n99999,0\n"
    assert "leading zeros" in notes_of(read_table(data))
    kept = read_table(data, text_columns=["zip"]).frame["zip"]
    assert kept.tolist() == ["01234", "99999"]


def test_identifiers_too_long_for_a_number_stay_text() -> None:
    frame = read_table(b"id,y\n12345678901234567890,1\n12345678901234567891,0\n").frame
    assert frame["id"].nunique() == 2


def test_truth_values() -> None:
    frame = read_table(b"a,b\nTrue,yes\nFALSE,no\n").frame
    assert frame["a"].tolist() == [True, False]
    assert frame["b"].dtype == "str"
    frame = read_table(b"a,b\nTrue,1\n,2\n").frame
    assert frame["a"].dtype == "boolean"


# --- missing cells --------------------------------------------------------------------


def test_missing_cells_are_counted_by_column_and_spelling() -> None:
    frame, detected = read_table(b"a,b\n1,x\n,y\nNA,?\n?,z\n")
    assert detected.missing == {"a": 3, "b": 1}
    assert detected.missing_spellings == {"": 1, "NA": 1, "?": 2}
    assert detected.n_missing == int(frame.isna().sum().sum()) == 4
    assert "4 cells read as missing (2 '?', 1 empty, 1 'NA')" in detected.describe()


def test_na_can_stay_text() -> None:
    frame = read_table(b"country,y\nNA,1\nDE,0\n,1\n", missing_values=("",)).frame
    assert frame["country"].tolist()[:2] == ["NA", "DE"]
    assert frame["country"].isna().sum() == 1


def test_a_column_without_a_value_is_all_missing() -> None:
    frame = read_table(b"a,b\n1,\n2,\n").frame
    assert frame["b"].isna().all()
    assert frame["b"].dtype == np.float64


# --- encodings ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]
)
def test_unicode_encodings(encoding: str) -> None:
    text = "größe;收入\n1,5;x\n2,5;y\n"
    frame, detected = read_table(text.encode(encoding))
    assert list(frame) == ["größe", "收入"]
    assert detected.encoding == encoding


def test_text_that_fits_no_encoding_is_refused() -> None:
    with pytest.raises(ReadError, match="encoding of the file could not be told"):
        read_table(b"a,b\n\x81\x8d,2\n")
    with pytest.raises(ReadError, match=r"could not be read as ascii: byte 0xc3"):
        read_table("größe,b\n1,2\n".encode(), encoding="ascii")
    with pytest.raises(ReadError, match="'klingon' is not the name of an encoding"):
        read_table(b"a,b\n1,2\n", encoding="klingon")


def test_damaged_utf_8_is_not_read_as_something_else() -> None:
    with pytest.raises(ReadError, match=r"UTF-8 with 1 damaged.*line 3"):
        read_table("a,b\n收入,1\n".encode() + b"x\xff,2\n")


# --- any table ------------------------------------------------------------------------

texts = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1
).filter(lambda t: t == t.strip() and t[0].isalpha())


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    numbers=st.lists(
        st.floats(allow_nan=False, allow_infinity=False, width=64),
        min_size=2,
        max_size=6,
    ),
    words=st.lists(texts, min_size=6, max_size=6),
    separator=st.sampled_from([",", ";", "\t", "|"]),
    decimal=st.sampled_from([".", ","]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    line_end=st.sampled_from(["\n", "\r\n"]),
)
@example([1.5, 2.5], ['say "x"; a|b\tc,d'] * 6, ";", ",", "utf-16", "\r\n")
def test_what_pandas_writes_comes_back(
    numbers: list[float],
    words: list[str],
    separator: str,
    decimal: str,
    encoding: str,
    line_end: str,
) -> None:
    frame = pd.DataFrame(
        {"number": numbers, "word": pd.Series(words[: len(numbers)], dtype="str")}
    )
    data = frame.to_csv(
        index=False, sep=separator, decimal=decimal, lineterminator=line_end
    ).encode(encoding)
    # Nothing is read as missing, since any word may be a level.
    found, detected = read_table(data, missing_values=())
    assert detected.separator == separator
    np.testing.assert_array_equal(found["number"], frame["number"])
    if not set(found["word"].map(str)) <= {"True", "False"}:
        assert found["word"].tolist() == frame["word"].tolist()


odd_pieces = st.sampled_from(
    [*"ab,;|\t\"\n\r 1.5-0eE'?ü\u00a0收", '""', "\r\n", "1,5", "NA", "12.345", "true"]
)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    pieces=st.lists(odd_pieces, max_size=40),
    start=st.sampled_from(["", "a,b\n", "a;b\n1,5;2\n", "a|b\n1|x\n"]),
    encoding=st.sampled_from(["utf-8", "utf-16", "latin-1"]),
)
def test_any_text_is_a_table_or_a_read_error(
    pieces: list[str], start: str, encoding: str
) -> None:
    data = (start + "".join(pieces)).encode(encoding, errors="replace")
    try:
        frame, detected = read_table(data, bad_rows="skip", duplicate_names="number")
    except ReadError:
        return
    assert frame.shape == (detected.n_rows, detected.n_columns)
    assert len(frame) > 0
    assert frame.columns.is_unique
    assert frame.isna().sum().sum() == detected.n_missing
    assert detected.describe()


def test_dates_and_times_are_read_if_every_cell_is_one() -> None:
    text = (
        "day,time,mixed,american,february,missing,y\n"
        "2024-02-29,2024-01-01 18:30,2024-01-01,03/04/2024,2024-02-30,2024-05-01,1\n"
        "2023-12-31,2024-01-02T07:05:01.5,soon,03/05/2024,2024-02-28,NA,2\n"
    )
    frame, detected = read_table(text.encode())
    assert frame["day"].tolist() == [
        pd.Timestamp(2024, 2, 29),
        pd.Timestamp(2023, 12, 31),
    ]
    assert frame["time"][1] == pd.Timestamp("2024-01-02 07:05:01.5")
    assert frame["missing"].isna().tolist() == [False, True]
    for name in ("mixed", "american", "february"):
        assert pd.api.types.is_string_dtype(frame[name])
    assert "Read as dates: day, time, missing." in detected.notes
    as_text = read_table(text.encode(), dates=False)
    assert as_text.frame["day"].tolist() == ["2024-02-29", "2023-12-31"]
    assert "Read as dates" not in notes_of(as_text)
