"""How a mistake of the user is told: one plain line."""

from __future__ import annotations

import sys

USER_ERRORS = (ValueError, TypeError, OSError, ImportError)
"""What bad input raises; anything else is a fault of the program."""


def plain(error: BaseException) -> str:
    r"""Put an error's message on one line.

    Examples
    --------
    >>> plain(ValueError("no such\n column"))
    'no such column'
    >>> plain(FileNotFoundError(2, "No such file or directory", "row.csv"))
    'row.csv: No such file or directory'
    """
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__


def complain(error: BaseException) -> None:
    """Write an error's message to standard error."""
    sys.stderr.write(f"spam-core: {plain(error)}\n")
