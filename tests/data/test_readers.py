"""CSV of every habit is read right, or refused in plain words."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

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
