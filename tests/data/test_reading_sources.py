"""What a table is read from: files, bytes and buffers, or nothing that is one."""

from __future__ import annotations

import io
import pickle
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from spam_core.data import ReadError, read_table


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
