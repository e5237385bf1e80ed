"""Import what only some users have installed."""

from __future__ import annotations

import importlib.util
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

# What is ignored is ignored in all threads: without turns, two that leave in another
# sequence than they came would leave their filters behind.
_TURN = threading.RLock()


@contextmanager
def quiet(**of: Any) -> Iterator[None]:
    """Ignore warnings while a package works that can't be told not to warn.

    Threads take turns, and each leaves the filters as it found them.

    Parameters
    ----------
    **of
        Which warnings, as `warnings.filterwarnings` takes it; none: all.

    Examples
    --------
    >>> with quiet(message="The weather"):
    ...     warnings.warn("The weather may change", stacklevel=1)
    """
    with _TURN, warnings.catch_warnings():
        warnings.filterwarnings("ignore", **of)
        yield


@contextmanager
def optional_import(
    method: str, package: str, extra: str | None = None
) -> Iterator[None]:
    """Import quietly, and say how to install what isn't there.

    Parameters
    ----------
    method : str
        What needs it, as people call it.
    package : str
        Its name.
    extra : str, optional
        Our extra that has it, unless that is called like the package.

    Raises
    ------
    ImportError
        If the import inside fails.

    Examples
    --------
    >>> with optional_import("Counting", "math"):
    ...     from math import comb
    >>> comb(4, 2)
    6
    """
    # what it imports may warn of its own future; that is no news of the model
    with nullcontext() if package in sys.modules else quiet():
        try:
            yield
        except ImportError as error:
            raise ImportError(_advice(method, package, extra)) from error


def missing(method: str, package: str, extra: str | None = None) -> str:
    """Say how to install what isn't there; nothing if it is. It isn't imported.

    Parameters
    ----------
    method, package, extra
        As of `optional_import`.

    Examples
    --------
    >>> missing("Counting", "math")
    ''
    >>> missing("Guessing", "no_such_package", "guess")
    'Guessing needs the package no_such_package: pip install "spam-core[guess]"'
    """
    found = importlib.util.find_spec(package) is not None
    return "" if found else _advice(method, package, extra)


def _advice(method: str, package: str, extra: str | None) -> str:
    install = f'pip install "spam-core[{extra or package}]"'
    return f"{method} needs the package {package}: {install}"
