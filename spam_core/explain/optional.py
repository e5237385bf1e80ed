"""Import what only some users have installed."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Iterator
from contextlib import contextmanager


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
    with warnings.catch_warnings():
        # what it imports may warn of its own future; that is no news of the model
        warnings.simplefilter("ignore")
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
