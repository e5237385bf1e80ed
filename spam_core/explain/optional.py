"""Import what only some users have installed."""

from __future__ import annotations

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
            raise ImportError(
                f"{method} needs the package {package}: "
                f'pip install "spam-core[{extra or package}]"'
            ) from error
