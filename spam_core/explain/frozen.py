"""Small helpers of the value objects: read-only arrays, classes, choices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

REST = ("…",)
"""The last term of an explanation that lists some terms only: all the others."""


def frozen(values: ArrayLike) -> Floats:
    """Return `values` as float64 that can't be written to, copied if they could.

    Examples
    --------
    >>> frozen([1, 2]).flags.writeable
    False
    """
    array = np.asarray(values, dtype=np.float64)
    if array.flags.writeable:
        array = array.copy()
        array.flags.writeable = False
    return array


def term_name(term: Sequence[str]) -> str:
    """Join a term's columns for display.

    Examples
    --------
    >>> term_name(("age", "income"))
    'age × income'
    """
    return " × ".join(term)


def class_position(classes: Sequence[Any], class_: object) -> int:
    """Return where a class stands in `classes`.

    Raises
    ------
    ValueError
        If the model has no such class; names the choices.

    Examples
    --------
    >>> class_position(["no", "yes"], "yes")
    1
    """
    for k, candidate in enumerate(classes):
        if candidate == class_:
            return k
    # selectors, URLs and command lines hold text: "2" means 2 if no class is "2"
    for k, candidate in enumerate(classes):
        if str(plain(candidate)) == str(plain(class_)):
            return k
    choices = [plain(c) for c in classes]
    raise ValueError(f"class_ must be one of {choices}, got {plain(class_)!r}")


def plain(value: object) -> object:
    """Return a NumPy scalar as the Python one it stands for."""
    return value.item() if isinstance(value, np.generic) else value
