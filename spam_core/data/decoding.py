"""From bytes to text: which kind of file it is, and in which encoding."""

from __future__ import annotations

import codecs
import io
import os
import re
import zipfile
from pathlib import Path
from typing import IO

Source = str | os.PathLike[str] | bytes | IO[bytes] | IO[str]

# Longest mark first: the UTF-32 mark begins with the UTF-16 one.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

_FOREIGN_FORMATS = (
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook (.xls)"),
    (b"%PDF", "a PDF document"),
    (b"\x1f\x8b", "a gzip archive; unpack it first"),
    (b"BZh", "a bzip2 archive; unpack it first"),
    (b"\xfd7zXZ", "an xz archive; unpack it first"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive; unpack it first"),
    (b"\x89HDF", "an HDF5 file"),
    (b"\x93NUMPY", "a NumPy array file"),
    (b"SQLite format 3", "an SQLite database"),
    (b"\x89PNG", "a picture (PNG)"),
    (b"\xff\xd8\xff", "a picture (JPEG)"),
    (b"ARROW1", "an Arrow/Feather file; save it as Parquet"),
)

# Control characters that no text table holds (tab, line feed, vertical tab,
# form feed, carriage return and ^Z, the DOS end mark, are let through).
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x19\x1b-\x1f]")
_HEAD = 100_000  # characters that are looked at
_FEW_CONTROLS = 1000  # one in so many characters is dirt, more is not text


class ReadError(ValueError):
    """A file cannot be read as a table; the message says why in plain words.

    Parameters
    ----------
    problem : str
        What is wrong with the file.
    advice : str
        How the argument `option` of `read_table` gets around it. A page that has
        controls of its own gives the advice in their words.
    option : str, optional
    """

    def __init__(self, problem: str, advice: str = "", option: str | None = None):
        super().__init__(f"{problem} {advice}".rstrip())
        self.problem = problem
        self.option = option


def read_bytes(source: Source) -> tuple[bytes, bool]:
    """Return the whole content of a path, bytes or open file.

    Parameters
    ----------
    source : str, path, bytes or file object
        A text file object is taken as it is and counts as decoded already.

    Returns
    -------
    data : bytes
        The content; text is re-encoded as UTF-8.
    decoded : bool
        True when `source` gave text, so that the encoding is not a guess.

    Raises
    ------
    ReadError
        If there is no such file, it is a folder, or it may not be read.

    Examples
    --------
    >>> read_bytes(b"a,b")
    (b'a,b', False)
    """
    if isinstance(source, bytes):
        return source, False
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        try:
            return path.read_bytes(), False
        except FileNotFoundError:
            raise ReadError(f"There is no file {str(path)!r}.") from None
        except IsADirectoryError:
            raise ReadError(f"{str(path)!r} is a folder, not a file.") from None
        except OSError as error:
            raise ReadError(
                f"The file {str(path)!r} could not be opened: {error.strerror}."
            ) from None
    if not hasattr(source, "read"):
        raise TypeError(
            f"Expected a path, bytes or an open file, but got {type(source).__name__}."
        )
    content = source.read()
    if isinstance(content, str):
        return content.encode("utf-8"), True
    return bytes(content), False


def recognise(data: bytes) -> str:
    """Return ``"parquet"`` or ``"csv"`` for the first bytes of a file.

    The content decides, never the file name: a workbook saved under a ``.csv``
    name is refused by name here, long before its bytes would turn into a table
    of one strange column. Pickles are refused because opening one runs code.

    Raises
    ------
    ReadError
        If the file is empty or of a kind that is not a table.

    Examples
    --------
    >>> recognise(b"PAR1....")
    'parquet'
    """
    if not data.strip(b"\x00 \t\r\n"):
        raise ReadError("The file is empty.")
    if data.startswith(b"PAR1"):
        return "parquet"
    if data.startswith(b"PK\x03\x04"):
        raise ReadError(_describe_zip(data))
    if data[0] == 0x80 and data[1] in range(2, 6):
        raise ReadError(
            "The file is a Python pickle. It is not opened, because opening a "
            "pickle can run any program. Save the table as CSV or Parquet."
        )
    for magic, kind in _FOREIGN_FORMATS:
        if data.startswith(magic):
            raise ReadError(
                f"The file is {kind}, whatever its name says. "
                "Only CSV and Parquet tables can be read."
            )
    start = data[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith((b"<!doctype html", b"<html")):
        raise ReadError(
            "The file is a web page, not a table: perhaps a sign-in page was "
            "saved in place of the file."
        )
    if start.startswith((b'{"', b"[{", b"{\n", b"{\r\n")):
        raise ReadError("The file is JSON. Only CSV and Parquet tables can be read.")
    return "csv"


def _describe_zip(data: bytes) -> str:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
    except zipfile.BadZipFile:
        names = []
    if any(name.startswith("xl/") for name in names):
        return (
            "The file is an Excel workbook (.xlsx), whatever its name says. "
            "Open it in a spreadsheet and save the sheet as 'CSV UTF-8'."
        )
    if "content.xml" in names:
        return (
            "The file is an OpenDocument spreadsheet. Open it and save the sheet "
            "as CSV."
        )
    return "The file is a zip archive. Unpack it and choose the table inside."


def decode(data: bytes, encoding: str = "auto") -> tuple[str, str, list[str]]:
    """Turn the bytes of a text table into text.

    Parameters
    ----------
    data : bytes
    encoding : str
        A Python codec name, or ``"auto"``: a byte order mark if there is one,
        else UTF-16 if every other byte is zero, else UTF-8, else Windows-1252
        (which holds all of Latin-1's letters).

    Returns
    -------
    text : str
        Without byte order mark.
    encoding : str
        The encoding used.
    notes : list of str
        What a user should check.

    Raises
    ------
    ReadError
        If the bytes are not text in that encoding, or in any of the automatic
        ones, or if the encoding's name is unknown.

    Examples
    --------
    >>> decode("größe".encode("latin-1"))[:2]
    ('größe', 'cp1252')
    """
    notes: list[str] = []
    if encoding == "auto":
        encoding = _guess_encoding(data)
        if encoding == "cp1252":
            notes.append(
                "The file is not UTF-8; it was read as Western European "
                "(Windows-1252). Check the letters with accents."
            )
    try:
        text = data.decode(encoding)
    except LookupError:
        raise ReadError(
            f"{encoding!r} is not the name of an encoding. "
            "Use for example 'utf-8', 'cp1252', 'latin-1' or 'utf-16'."
        ) from None
    except UnicodeError as error:
        raise ReadError(_undecodable(data, encoding, error)) from None
    text = text.removeprefix("\ufeff").removesuffix("\x1a")
    found = _find_control(text)
    if found:
        line = text.count("\n", 0, found.start()) + 1
        raise ReadError(
            f"The file is not a text table: it holds the control character "
            f"0x{ord(found.group()):02x} (line {line}) when read as {encoding}. "
            "If it is text, choose its encoding by hand, for example 'cp1252', "
            "'utf-16' or 'cp850'."
        )
    return text, encoding, notes


def _find_control(text: str) -> re.Match[str] | None:
    """Return a sign that this is no text: a zero character, or many of the others."""
    if "\x00" in text:
        return re.search("\x00", text)
    head = text[:_HEAD]
    found = _CONTROL.findall(head)
    return _CONTROL.search(head) if len(found) * _FEW_CONTROLS > len(head) else None


def _undecodable(data: bytes, encoding: str, error: UnicodeError) -> str:
    where = ""
    if isinstance(error, UnicodeDecodeError):
        line = data.count(b"\n", 0, error.start) + 1
        bad = data[error.start : error.start + 1].hex()
        where = f": byte 0x{bad} in line {line} does not belong to it"
    return (
        f"The file could not be read as {encoding}{where}. "
        "Choose another encoding, for example 'utf-8', 'cp1252' or 'utf-16'."
    )


def _guess_encoding(data: bytes) -> str:
    for mark, name in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return name
    head = data[:4096]
    if len(head) >= 4 and head.count(0) > len(head) // 4:
        # UTF-16 without a mark: the zero half of the ASCII characters says
        # which byte comes first.
        return "utf-16-le" if head[1::2].count(0) > head[::2].count(0) else "utf-16-be"
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        _refuse_damaged_utf8(data, error)
    else:
        return "utf-8"
    try:
        data.decode("cp1252")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ReadError(
            "The text encoding of the file could not be told: it is neither "
            f"UTF-8 nor Windows-1252 (byte 0x{data[error.start]:02x} in line "
            f"{line}). Choose the encoding by hand, or save the file as UTF-8."
        ) from None
    return "cp1252"


def _refuse_damaged_utf8(data: bytes, error: UnicodeDecodeError) -> None:
    """Raise if the file is UTF-8 but for a few bytes, so no letter is garbled."""
    repaired = data.decode("utf-8", errors="replace")
    n_bad = repaired.count("\ufffd")
    n_letters = sum(map(len, re.findall(r"[^\x00-\x7f\ufffd]+", repaired)))
    if n_letters > n_bad:
        line = data.count(b"\n", 0, error.start) + 1
        raise ReadError(
            f"The file is UTF-8 with {n_bad} damaged character(s), the first in "
            f"line {line}. Save it again as UTF-8, or choose an encoding by hand."
        )
