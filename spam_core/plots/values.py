"""Picks what one figure needs out of a value object; shared by several plots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spam_core.plots import theme

Floats = NDArray[np.float64]


def pick_class(
    values: Any, ndim: int, classes: Sequence[Any] | None, class_: object
) -> tuple[Floats, str | None]:
    """Take one class's numbers, where there is one column per class.

    Parameters
    ----------
    values : array of shape (..., C) or (...)
        Numbers of one output (``ndim`` dimensions) or of C (one more).
    ndim : int
        Dimensions of the numbers of one output.
    classes : sequence or None
        The C class labels; without them `class_` is a position.
    class_ : object
        Class to take. Ignored where there is one output.

    Returns
    -------
    values : ndarray with ``ndim`` dimensions
    name : str or None
        Name of the class taken; None where there is one output.

    Raises
    ------
    ValueError
        If there are several classes and `class_` is None or not among them.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == ndim:
        return array, None
    labels = list(classes) if classes is not None else list(range(array.shape[-1]))
    if class_ is None:
        raise ValueError(f"class_ must be one of {labels!r}, got None")
    k = theme.class_index(labels, class_)
    return array[..., k], str(labels[k])


def scale_name(scale: object, class_name: str | None) -> str:
    """Name what is added to, with the class where there are several.

    Examples
    --------
    >>> scale_name("centred logit", "setosa")
    'the centred logit of setosa'
    >>> scale_name("price", None)
    'price'
    """
    text = "score" if scale is None else str(scale)
    return the(text if class_name is None else f"{text} of {class_name}")


def the(scale: str) -> str:
    """Put an article before a kind of score; a target is a name and takes none."""
    kinds = ("logit", "centred logit", "score")
    return f"the {scale}" if scale.startswith(kinds) else scale


def term_label(term: Sequence[object]) -> str:
    """Join the columns of a term as everything else displays it.

    Examples
    --------
    >>> term_label(("age",)), term_label(("age", "income"))
    ('age', 'age × income')
    """
    return " × ".join(str(name) for name in term)


def sizes(explanation: Any, measure: str, class_: object) -> tuple[Floats, str | None]:
    """Take the importance or sd of each term: of one class, or the mean over all.

    Returns
    -------
    values : ndarray of shape (T,)
    name : str or None
        What the numbers are of; None where there is one output.

    Raises
    ------
    ValueError
        If `measure` or `class_` is unknown.
    """
    if measure not in ("importance", "sd"):
        raise ValueError(f"measure must be 'importance' or 'sd', got {measure!r}")
    values = np.asarray(getattr(explanation, measure), dtype=np.float64)
    if values.ndim == 2 and class_ is None:
        return values.mean(axis=1), "the classes (mean)"
    return pick_class(values, 1, explanation.classes, class_)


Window = tuple[Any, Any]


def opening(axis: Any, bulk: Window | None) -> Window | None:
    """Range that an axis opens on, a little more than the bulk; None for all.

    Parameters
    ----------
    axis : ndarray
        Numbers or dates.
    bulk : (low, high) or None
        In the same units; for dates, days since 1970 will do.

    Examples
    --------
    >>> opening(np.array([0.0, 1e8]), (0.0, 10.0))
    (-0.2, 10.2)
    """
    if bulk is None or not bulk[1] > bulk[0]:
        return None
    low, high = bulk
    if np.asarray(axis).dtype.kind == "M" and not isinstance(low, np.datetime64):
        low, high = (np.datetime64(round(day * 86_400), "s") for day in bulk)
    pad = (high - low) * 0.02
    return low - pad, high + pad


def axis_range(window: Window) -> list[Any]:
    """Write a window as plotly reads it."""
    if isinstance(window[0], np.datetime64):
        return [str(end) for end in window]
    return [float(end) for end in window]
