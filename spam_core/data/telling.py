"""Warnings that point to the caller's own line."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

_PACKAGE = str(Path(__file__).parents[1])


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn as if the line outside this package that led here had warned.

    Parameters
    ----------
    message : str
        What the caller should know.
    category : type of Warning
        What it is.
    """
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
