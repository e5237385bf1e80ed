"""Ledger of one prediction: base, terms, and their sum, which is the score."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from spam_core.plots import theme
from spam_core.plots.values import the

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = ("kind", "term", "value", "contribution")


def ledger(
    frame: pd.DataFrame,
    *,
    scale: str | None = None,
    title: str | None = None,
) -> go.Figure:
    """Draw a ledger as a waterfall that starts at the base and ends at the score.

    Parameters
    ----------
    frame : DataFrame
        What ``LocalExplanation.ledger`` returns: columns ``kind``, ``term``, ``value``
        (what the row has there, in user units) and ``contribution``; the terms by
        size, what the others add up to, and last the base and the score.
    scale : str, optional
        Name of the scale of the contributions; by default that of the frame.
    title : str, optional
        Title; by default it says what the bars sum to.

    Returns
    -------
    plotly.graph_objects.Figure
        One bar per line of the ledger, from the base on top to the score.

    Raises
    ------
    ValueError
        If the frame lacks a column or its last two lines.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame(
    ...     {
    ...         "kind": ["term", "other", "base", "score"],
    ...         "term": ["age", "the other 2 terms", "base", "score"],
    ...         "value": ["30", "", "", ""],
    ...         "contribution": [0.5, -0.25, 1.0, 1.25],
    ...     }
    ... )
    >>> figure = ledger(frame, scale="price")
    >>> figure.data[0].y
    ('base', 'age = 30', 'the other 2 terms', 'score')
    >>> figure.data[0].x
    (1.0, 0.5, -0.25, 1.25)
    """
    lacking = [column for column in _COLUMNS if column not in frame]
    if lacking:
        raise ValueError(f"the ledger lacks {lacking}, it has {list(frame)}")
    kinds = list(frame["kind"])
    if kinds[-2:] != ["base", "score"]:
        raise ValueError(f"the ledger must end with base and score, got {kinds[-2:]}")
    scale = str(frame.attrs.get("scale", "score")) if scale is None else scale
    names = [str(term) for term in frame["term"]]
    # drawn in the order in which it adds up: base, terms, score
    order = [len(names) - 2, *range(len(names) - 2), len(names) - 1]
    values = [str(value) for value in frame["value"]]
    lines = [_line(names[k], values[k]) for k in order]
    amounts = frame["contribution"].to_numpy(dtype=np.float64)[order]
    full = [theme.literal(line) for line in lines]
    label = theme.literal(scale)
    figure = go.Figure()
    figure.add_waterfall(
        orientation="h",
        x=amounts.tolist(),
        y=theme.labels(lines, 48),
        measure=["absolute", *["relative"] * (len(lines) - 2), "total"],
        customdata=full,
        text=[
            theme.number(float(amount), signed=0 < k < len(lines) - 1)
            for k, amount in enumerate(amounts)
        ],
        textposition="outside",
        cliponaxis=False,
        increasing={"marker": {"color": theme.POSITIVE}},
        decreasing={"marker": {"color": theme.NEGATIVE}},
        totals={"marker": {"color": theme.NEUTRAL}},
        connector={"line": {"color": theme.ZERO_LINE, "width": 1, "dash": "dot"}},
        hovertemplate="%{customdata}<br>%{text}<extra></extra>",
        meta={"columns": {"line": "customdata", f"adds to {the(scale)}": "x"}},
    )
    stops = np.concatenate([np.cumsum(amounts[:-1]), amounts[-1:]])
    low, high = float(stops.min()), float(stops.max())
    note = ""
    if low > 0.5 * high > 0 or high < 0.5 * low < 0:
        # base and score are both large: from 0, the terms would be slivers
        note = "The axis does not start at 0"
    else:
        low, high = min(low, 0.0), max(high, 0.0)
    pad = 0.13 * (high - low) or 1.0
    figure.update_xaxes(title=label, zeroline=True, range=[low - pad, high + pad])
    figure.update_yaxes(
        type="category",
        categoryorder="array",
        categoryarray=theme.labels(lines, 48)[::-1],
        showgrid=False,
    )
    start, end = theme.number(float(amounts[0])), theme.number(float(amounts[-1]))
    steps = ", ".join(
        f"{line} {theme.number(float(amount), True)}"
        for line, amount in list(zip(lines, amounts, strict=True))[1:-1]
    )
    return theme.finish(
        figure,
        title=theme.literal(f"From base to {scale}" if title is None else title),
        alt=f"Ledger on the scale {scale}. Base {start}; {steps}; score {end}.",
        height=120 + theme.BAR_HEIGHT * len(lines),
        note=note,
        showlegend=False,
    )


def _line(term: str, value: str) -> str:
    return f"{term} = {value}" if value else term
