"""What a figure says in words and in a table, for people who cannot see it.

Each trace that carries numbers declares its columns in ``trace.meta["columns"]``, a
mapping from column title to where the numbers are: ``"x"``, ``"y"``, ``"z"``,
``"customdata"`` (one column) or ``"customdata[k]"``. The table is read back from the
traces themselves, so it cannot disagree with the picture.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go


def alt_text(figure: go.Figure) -> str:
    """Say in one or two sentences what a figure of this package shows.

    Parameters
    ----------
    figure : plotly.graph_objects.Figure
        A figure made by ``spam_core.plots``.

    Returns
    -------
    str
        Plain text.

    Raises
    ------
    ValueError
        If the figure was made elsewhere and has no alt text.

    Examples
    --------
    >>> from spam_core import plots
    >>> steps = [{"epoch": 1, "train_loss": 2.0, "validation_loss": 3.0}]
    >>> plots.alt_text(plots.history(steps))
    'Loss per epoch over 1 epoch. Lowest validation loss 3 at epoch 1.'
    """
    meta = figure.layout.meta
    if not isinstance(meta, Mapping) or not meta.get("alt"):
        raise ValueError("the figure has no alt text: it was not made by spam_core")
    return str(meta["alt"])


def table(figure: go.Figure) -> pd.DataFrame:
    """Read the numbers back from a figure, one row a point, bar or cell.

    Parameters
    ----------
    figure : plotly.graph_objects.Figure
        A figure made by ``spam_core.plots``.

    Returns
    -------
    pandas.DataFrame
        Names in full, as the user wrote them. Blank cells of a map are left out.

    Examples
    --------
    >>> from spam_core import plots
    >>> steps = [{"epoch": 1, "train_loss": 2.0, "validation_loss": 3.0}]
    >>> plots.table(plots.history(steps))
       epoch    loss of  loss
    0      1   training   2.0
    1      1 validation   3.0
    """
    frames = [
        _frame(trace, dict(trace.meta["columns"]))
        for trace in figure.data
        if isinstance(trace.meta, Mapping) and "columns" in trace.meta
    ]
    if not frames:
        return pd.DataFrame()
    # A trace without a column (a band, say) leaves it empty; concat with empty
    # frames is deprecated in pandas, so they are dropped first.
    filled = [frame for frame in frames if len(frame)]
    return pd.concat(filled, ignore_index=True) if filled else frames[0]


def _frame(trace: Any, columns: dict[str, str]) -> pd.DataFrame:
    if trace.type == "heatmap":
        return _cells(trace, columns)
    return pd.DataFrame(
        {title: _read(trace, source) for title, source in columns.items()}
    )


def _cells(trace: Any, columns: dict[str, str]) -> pd.DataFrame:
    """Unroll a heatmap: one row per cell that has a number."""
    z = np.asarray(trace.z, dtype=float)
    row, column = np.nonzero(np.isfinite(z))
    parts: dict[str, Any] = {}
    for title, source in columns.items():
        if source == "x":
            parts[title] = [_plain(trace.x[k]) for k in column]
        elif source == "y":
            parts[title] = [_plain(trace.y[k]) for k in row]
        elif source == "z":
            parts[title] = z[row, column]
        else:
            position = int(source[len("customdata[") : -1])
            parts[title] = [
                _plain(trace.customdata[a][b][position])
                for a, b in zip(row, column, strict=True)
            ]
    return pd.DataFrame(parts)


def _read(trace: Any, source: str) -> list[Any]:
    if source.startswith("="):  # a constant, such as the name of a curve
        return [source[1:]] * len(trace.x)
    if source.startswith("customdata["):
        position = int(source[len("customdata[") : -1])
        return [_plain(row[position]) for row in trace.customdata]
    return [_plain(value) for value in getattr(trace, source)]


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return html.unescape(value)
    return value.item() if isinstance(value, np.generic) else value
