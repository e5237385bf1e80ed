"""CSV of every habit is read right, or refused in plain words."""

from __future__ import annotations

import io
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spam_core.data import ReadError, ReadResult, read_table

NAMES_OF_O05 = [
    "income [EUR]",
    "age<30",
    "x>y",
    "cost $ per $ unit",
    "price_$_net",
    "a*b_c",
    "größe",
    "收入",
    "p.value",
    "<b>bold</b>",
    "{{x}}",
]


def notes_of(result: ReadResult) -> str:
    return " ".join(result.detected.notes)


# --- O16: separator, decimal comma, encoding, byte order mark -------------------------


def test_o16_1_semicolon_and_decimal_comma() -> None:
    frame, detected = read_table(b"a;b;y\n1,5;2;0\n3,25;4;1\n")
    assert list(frame) == ["a", "b", "y"]
    assert frame["a"].tolist() == [1.5, 3.25]
    assert frame["b"].tolist() == [2, 4]
    assert frame.dtypes.map(str).tolist() == ["float64", "int64", "int64"]
    assert (detected.separator, detected.decimal, detected.encoding) == (
        ";",
        ",",
        "utf-8",
    )


def test_o16_2_tab() -> None:
    frame, detected = read_table(b"a\tb\ty\n1.5\t2\t0\n3.25\t4\t1\n")
    assert frame["a"].tolist() == [1.5, 3.25]
    assert frame.shape == (2, 3)
    assert detected.separator == "\t"


def test_o16_3_latin_1_header() -> None:
    frame, detected = read_table("größe;y\n1;0\n2;1\n".encode("latin-1"))
    assert list(frame) == ["größe", "y"]
    assert detected.encoding == "cp1252"
    assert "accents" in notes_of(ReadResult(frame, detected))


def test_o16_4_byte_order_mark() -> None:
    frame, detected = read_table(b"\xef\xbb\xbfid,y\n1,0\n2,1\n")
    assert list(frame) == ["id", "y"]
    assert detected.encoding == "utf-8-sig"


def test_o16_5_pipe() -> None:
    frame, detected = read_table(b"a|b|y\n1|2|0\n3|4|1\n")
    assert frame.shape == (2, 3)
    assert detected.separator == "|"


def test_o16_a_frame_is_never_named_after_the_whole_header() -> None:
    with pytest.raises(ReadError, match=r"single column named 'a;b'.*semicolon.*gives"):
        read_table(b"a;b\n1;2\n", separator=",")
    with pytest.raises(ReadError, match="a space might"):
        read_table(b"a b c\n1 2 3\n4 5 6\n")


def test_o16_what_was_detected_can_be_overridden() -> None:
    data = b"a;b\n1.234;x\n2.500;y\n"
    assert read_table(data).frame["a"].tolist() == [1.234, 2.5]
    by_hand = read_table(data, decimal=",", thousands=".")
    assert by_hand.frame["a"].tolist() == [1234, 2500]
    assert "two ways" in notes_of(by_hand)
    assert read_table("ä,b\n1,2\n".encode("cp850"), encoding="cp850").frame.columns[
        0
    ] == ("ä")


# --- separators and layout ------------------------------------------------------------


def test_a_comma_in_a_name_does_not_hide_the_semicolon() -> None:
    frame = read_table(b"price, EUR;b\n1,5;2\n2,5;3\n").frame
    assert list(frame) == ["price, EUR", "b"]
    assert frame["price, EUR"].tolist() == [1.5, 2.5]


def test_a_file_of_one_column_is_one() -> None:
    frame = read_table(b"value\n1\n\n3\n").frame
    np.testing.assert_array_equal(frame["value"], [1, np.nan, 3])


def test_quoted_line_breaks_separators_and_quotes_stay_in_their_cell() -> None:
    result = read_table(b'a,b\n1,"x\ny"\n2,"p, ""q"""\n')
    assert result.frame["b"].tolist() == ["x\ny", 'p, "q"']
    assert "line breaks" in notes_of(result)


def test_a_header_may_have_line_breaks() -> None:
    frame = read_table(b'"a\nb",c\n1,2\n3,4\n').frame
    assert list(frame) == ["a\nb", "c"]
    assert frame["c"].tolist() == [2, 4]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_every_line_end(line_end: str) -> None:
    frame, detected = read_table(line_end.join(["a,b", "1,2", "3,4", ""]).encode())
    assert frame["b"].tolist() == [2, 4]
    assert detected.line_end == line_end


def test_mixed_line_ends() -> None:
    assert read_table(b"a,b\r1,2\r3,4\r\n5,6\n").frame["a"].tolist() == [1, 3, 5]


def test_space_before_a_quote() -> None:
    frame = read_table(b'name, b\n1, "x, y"\n2, "z"\n').frame
    assert frame["b"].tolist() == ["x, y", "z"]


def test_spaces_around_cells_and_names_are_removed() -> None:
    frame = read_table(b" a , b\n 1 , Friday  \n 2 , Monday\n").frame
    assert list(frame) == ["a", "b"]
    assert frame["a"].tolist() == [1, 2]
    assert frame["b"].tolist() == ["Friday", "Monday"]


def test_the_separator_line_of_a_spreadsheet() -> None:
    assert list(read_table(b"sep=|\na|b\n1|2\n").frame) == ["a", "b"]


def test_a_title_above_the_header_is_noticed() -> None:
    data = b"\nReport\n\na,b,c\n1,2,3\n4,5,6\n"
    with pytest.raises(ReadError, match="skip_rows=3"):
        read_table(data)
    assert list(read_table(data, skip_rows=3).frame) == ["a", "b", "c"]


@pytest.mark.parametrize(
    "data", [b"1.5,2\n2.5,3\n", b"39, Private, 7, 1\n50, State, 9, 0\n"]
)
def test_data_in_the_first_line_are_no_names(data: bytes) -> None:
    with pytest.raises(ReadError, match="looks like data"):
        read_table(data)
    frame = read_table(data, header=False).frame
    assert len(frame) == 2
    assert list(frame)[:2] == ["column_1", "column_2"]


@pytest.mark.parametrize("names", [["0", "1", "2"], ["country", "1952", "1957"]])
def test_o04_growing_whole_numbers_may_be_names(names: list[str]) -> None:
    assert list(read_table(f"{','.join(names)}\n7,8,9\n".encode()).frame) == names


def test_names_can_be_given() -> None:
    frame = read_table(b"1,2\n3,4\n", names=["u", "v"]).frame
    assert frame.to_dict("list") == {"u": [1, 3], "v": [2, 4]}
    frame = read_table(b"x,y\n3,4\n", names=["u", "v"], header=True).frame
    assert frame.to_dict("list") == {"u": [3], "v": [4]}
    with pytest.raises(ReadError, match="1 names were given, but the table has 2"):
        read_table(b"1,2\n3,4\n", names=["u"])


def test_o04_repeated_names_are_named() -> None:
    with pytest.raises(ReadError, match=r"'a' \(columns 1, 3\)"):
        read_table(b"a,b,a\n1,2,3\n")
    result = read_table(b"a,b,a\n1,2,3\n", duplicate_names="number")
    assert list(result.frame) == ["a", "b", "a (2)"]
    assert "'a (2)'" in notes_of(result)


def test_o05_names_come_back_letter_for_letter() -> None:
    frame = pd.DataFrame(np.arange(22.0).reshape(2, 11) + 0.5, columns=NAMES_OF_O05)
    for data in (frame.to_csv(index=False).encode(), frame.to_parquet()):
        assert list(read_table(data).frame) == NAMES_OF_O05


def test_row_numbers_without_a_name_are_left_out() -> None:
    frame = pd.DataFrame({"a": [1.5, 2.5], "b": ["x", "y"]})
    result = read_table(frame.to_csv().encode())
    pd.testing.assert_frame_equal(result.frame, frame)
    assert "numbers the rows" in notes_of(result)
    kept = read_table(frame.to_csv().encode(), keep_index=True).frame
    assert kept["column_1"].tolist() == [0, 1]


def test_row_labels_without_a_name_are_kept() -> None:
    frame = read_table(b"a,b\nr1,1,2\nr2,3,4\n").frame
    assert frame.to_dict("list") == {
        "column_1": ["r1", "r2"],
        "a": [1, 3],
        "b": [2, 4],
    }


@pytest.mark.parametrize("header", [b"a,b", b"a,b,"])
def test_a_separator_at_the_end_of_every_row_makes_no_column(header: bytes) -> None:
    frame = read_table(header + b"\n1,2,\n3,4,\n").frame
    assert frame.to_dict("list") == {"a": [1, 3], "b": [2, 4]}


def test_rows_of_another_width_are_refused_or_left_out_but_never_padded() -> None:
    data = b"a,b\n1,2\n3\n4,5,6\n7,8\n"
    with pytest.raises(ReadError, match=r"2 row\(s\) do not have.*row 2, with 1: '3'"):
        read_table(data)
    result = read_table(data, bad_rows="skip")
    assert result.frame["a"].tolist() == [1, 7]
    assert "They were left out" in notes_of(result)


@pytest.mark.parametrize("data", [b'a,b\n1,"2\n3,4\n', b'a,b\n1,2\n"3,4\n'])
def test_an_open_quote_does_not_swallow_the_file(data: bytes) -> None:
    with pytest.raises(ReadError, match="opened and never closed"):
        read_table(data)


def test_a_row_longer_than_a_block() -> None:
    long = "x" * (1 << 24)
    assert read_table(f"a,b\n1,{long}\n".encode()).frame["b"].tolist() == [long]


def test_rows_without_a_value_are_left_out_and_counted() -> None:
    result = read_table(b"a,b\n1,2\n,\n3,4\n,\n")
    assert result.frame["a"].dtype == np.int64
    assert "2 rows without a value" in notes_of(result)


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


# --- other files ----------------------------------------------------------------------


def zipped(*names: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "The file is empty"),
        (b" \r\n ", "The file is empty"),
        (b"a,b,y\n", r"column names \(a, b, y\) but no rows"),
        (b"a,b,y", r"column names \(a, b, y\) but no rows"),
        (b"a,b\n,\n,\n", "No row of the file has a value"),
        (zipped("[Content_Types].xml", "xl/workbook.xml"), r"Excel workbook \(.xlsx\)"),
        (zipped("content.xml"), "OpenDocument"),
        (zipped("table.csv"), "zip archive"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "old Excel"),
        (b"%PDF-1.7 x", "PDF"),
        (b"<!DOCTYPE html>\n<html>", "web page"),
        (b'{"a": [1, 2]}', "JSON"),
        (b"\x1f\x8b\x08\x00abc", "gzip"),
        (bytes(range(256)) * 9, "not a text table|encoding"),
    ],
)
def test_what_is_no_table_is_refused_by_its_content(data: bytes, message: str) -> None:
    with pytest.raises(ReadError, match=message):
        read_table(data)


def test_a_pickle_is_never_opened(tmp_path: Path) -> None:
    marker = tmp_path / "marker"

    class Trap:
        def __reduce__(self) -> tuple[object, ...]:
            return Path.touch, (marker,)

    path = tmp_path / "table.csv"
    path.write_bytes(pickle.dumps(Trap()))
    with pytest.raises(ReadError, match="pickle"):
        read_table(path)
    assert not marker.exists()


def test_every_kind_of_source(tmp_path: Path) -> None:
    text = "a,größe\n1,2\n"
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    sources = [path, str(path), text.encode(), io.BytesIO(text.encode())]
    frames = [read_table(source).frame for source in sources]
    frames.append(read_table(io.StringIO(text)).frame)
    with path.open("rb") as file:
        frames.append(read_table(file).frame)
    for frame in frames:
        pd.testing.assert_frame_equal(frame, frames[0])


def test_sources_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="no file"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(ReadError, match="is a folder"):
        read_table(tmp_path)
    with pytest.raises(TypeError, match="but got int"):
        read_table(3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"separator": ";;"}, "must be one character"),
        ({"decimal": "x"}, "decimal must be"),
        ({"thousands": "x"}, "thousands must be"),
        ({"decimal": ",", "thousands": ","}, "are both ','"),
        ({"header": "maybe"}, "header must be"),
        ({"bad_rows": "pad"}, "bad_rows must be"),
        ({"duplicate_names": "drop"}, "duplicate_names must be"),
        ({"skip_rows": -1}, "skip_rows must be"),
        ({"skip_rows": 9}, "fewer than 10 lines"),
        ({"text_columns": ["z"]}, "text_columns names columns .* 'z'"),
        ({"skip_columns": "a"}, "must be a list"),
        ({"skip_columns": ["a", "b"]}, "No column is left"),
    ],
)
def test_options_are_checked(options: dict[str, object], message: str) -> None:
    with pytest.raises(ReadError, match=message):
        read_table(b"a,b\n1,2\n", **options)  # type: ignore[arg-type]


def test_columns_can_be_skipped() -> None:
    assert list(read_table(b"a,b,c\n1,2,3\n", skip_columns=["b"]).frame) == ["a", "c"]


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
