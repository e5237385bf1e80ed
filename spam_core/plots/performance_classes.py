"""Which classes are taken for which: confusion matrix, worst pairs, class by class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from spam_core.plots import theme
from spam_core.plots.method_lines import finite
from spam_core.plots.performance import BELOW

if TYPE_CHECKING:
    import pandas as pd

    from spam_core.evaluation import Confusion

MOST_CLASSES = 30
"""Beyond this a matrix has cells that nobody can read."""

_SHARED = 12  # classes up to which a cell has room for its share as well
_COUNTED = 20  # classes up to which it has room for its count


def confusion(found: Confusion, *, title: str | None = None) -> go.Figure:
    """Draw the confusion matrix: colour by share of the actual class, counts in cells.

    Parameters
    ----------
    found : Confusion
    title : str, optional

    Returns
    -------
    plotly.graph_objects.Figure
        Actual classes from top to bottom, predicted ones from left to right. Rows of
        classes that don't occur are blank.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> counts = np.array([[3, 1], [0, 4]])
    >>> found = SimpleNamespace(
    ...     classes=("no", "yes"), counts=counts, shares=counts / 4, accuracy=0.875
    ... )
    >>> figure = confusion(found)
    >>> np.asarray(figure.data[0].z)
    array([[0.75, 0.25],
           [0.  , 1.  ]])
    >>> figure.data[0].text[0]
    ['<b>3</b><br>75%', '<b>1</b><br>25%']
    """
    classes, counts, shares = found.classes, found.counts, found.shares
    n = len(classes)
    axis = theme.labels(classes, 18)
    names = [theme.literal(name) for name in classes]
    text = [
        [_cell(int(counts[a, b]), shares[a, b], n) for b in range(n)] for a in range(n)
    ]
    figure = go.Figure()
    figure.add_heatmap(
        x=axis,
        y=axis,
        z=shares,
        text=text,
        texttemplate="%{text}" if n <= _COUNTED else None,
        textfont={"size": 14 if n <= 5 else 11 if n <= _SHARED else 9},
        customdata=[
            [[names[a], names[b], int(counts[a, b])] for b in range(n)]
            for a in range(n)
        ],
        hoverongaps=False,
        xgap=1,
        ygap=1,
        colorbar={"thickness": 14, "tickformat": ".0%"},
        hovertemplate="%{customdata[0]} taken for %{customdata[1]}<br>"
        "%{customdata[2]:,} rows, %{z:.1%} of it<extra></extra>",
        meta={
            "columns": {
                "actual": "customdata[0]",
                "predicted": "customdata[1]",
                "rows": "customdata[2]",
                "share of actual": "z",
            }
        },
        **theme.size_scale(shares.ravel().tolist()),
    )
    settings = {"type": "category", "categoryorder": "array", "categoryarray": axis}
    figure.update_xaxes(title="predicted", side="bottom", showgrid=False, **settings)
    figure.update_yaxes(
        title="actual", showgrid=False, range=[n - 0.5, -0.5], **settings
    )
    wrong = int(counts.sum() - np.trace(counts))
    return theme.finish(
        figure,
        title=theme.literal("Confusion matrix" if title is None else title),
        note="Colour: share of the actual class",
        alt=f"Confusion matrix of {n} classes: {int(np.trace(counts)):,} rows right, "
        f"{wrong:,} wrong.",
        height=int(np.clip(240 + 34 * n, 340, 900)),
    )


def _cell(count: int, share: float, n: int) -> str:
    if not np.isfinite(share):
        return ""
    if n <= _SHARED:
        return f"<b>{count:,}</b><br>{share:.0%}"
    return f"{count:,}" if count else ""


def most_confused(pairs: pd.DataFrame, *, title: str | None = None) -> go.Figure:
    """Draw the pairs of classes that are confused in most rows.

    Parameters
    ----------
    pairs : DataFrame
        ``actual``, ``predicted``, ``rows``, ``share``; the most first.
    title : str, optional

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> import pandas as pd
    >>> pairs = [{"actual": "a", "predicted": "b", "rows": 3, "share": 0.5}]
    >>> most_confused(pd.DataFrame(pairs)).data[0].y
    ('a taken for b',)
    """
    named = zip(pairs["actual"], pairs["predicted"], strict=True)
    bars = theme.labels((f"{a} taken for {b}" for a, b in named), 56)
    figure = go.Figure()
    figure.add_bar(
        x=[int(count) for count in pairs["rows"]],
        y=bars,
        orientation="h",
        customdata=[
            [theme.literal(a), theme.literal(b), float(share)]
            for a, b, share in zip(
                pairs["actual"], pairs["predicted"], pairs["share"], strict=True
            )
        ],
        marker={"color": theme.NEGATIVE},
        text=[
            f"{count:,} ({share:.0%} of it)"
            for count, share in zip(pairs["rows"], pairs["share"], strict=True)
        ],
        textposition="auto",
        textangle=0,  # beside a short bar, not upright in it
        cliponaxis=False,
        hovertemplate="%{y}: %{x:,} rows, %{customdata[2]:.1%} of the actual class"
        "<extra></extra>",
        meta={
            "columns": {
                "actual": "customdata[0]",
                "predicted": "customdata[1]",
                "rows": "x",
                "share of actual": "customdata[2]",
            }
        },
    )
    figure.update_xaxes(title="test rows", rangemode="tozero")
    figure.update_yaxes(
        type="category",
        categoryorder="array",
        categoryarray=bars[::-1],
        title=None,
        showgrid=False,
    )
    first = ", ".join(
        f"{line.actual} taken for {line.predicted} {line.rows:,}"
        for line in pairs.head(3).itertuples()
    )
    return theme.finish(
        figure,
        title=theme.literal("Most confused classes" if title is None else title),
        alt=f"Pairs of classes confused in most rows: {first}.",
        height=110 + theme.BAR_HEIGHT * len(bars),
        showlegend=False,
    )


def per_class(
    frame: pd.DataFrame, most: int = 25, *, title: str | None = None
) -> go.Figure:
    """Draw recall and precision of each class, the least recall on top.

    Parameters
    ----------
    frame : DataFrame
        ``class``, ``rows``, ``recall``, ``precision``; the least recall first.
    most : int, default=25
        Classes to draw.
    title : str, optional

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> import pandas as pd
    >>> line = {"class": "a", "rows": 4, "recall": 0.5, "precision": 1.0}
    >>> [(trace.name, trace.x) for trace in per_class(pd.DataFrame([line])).data]
    [('recall', (0.5,)), ('precision', (1.0,))]
    """
    shown = frame.head(most)
    names = [str(name) for name in shown["class"]]
    rows = theme.labels(names)
    figure = go.Figure()
    for k, (column, meaning) in enumerate(
        (("recall", "of the class, found"), ("precision", "of those given it, right"))
    ):
        figure.add_scatter(
            x=[finite(value) for value in shown[column]],
            y=rows,
            customdata=[
                [theme.literal(name), int(count)]
                for name, count in zip(names, shown["rows"], strict=True)
            ],
            mode="markers",
            name=column,
            marker={
                "color": (theme.NEGATIVE, theme.POSITIVE)[k],
                "symbol": theme.SYMBOLS[k],
                "size": 10,
            },
            hovertemplate=f"%{{customdata[0]}}, %{{customdata[1]:,}} rows<br>{column} "
            f"(share {meaning}) %{{x:.1%}}<extra></extra>",
            meta={
                "columns": {
                    "class": "customdata[0]",
                    "rows": "customdata[1]",
                    "measure": f"={column}",
                    "value": "x",
                }
            },
        )
    figure.update_xaxes(
        title="share", range=[-0.02, 1.02], tickformat=".0%", separatethousands=False
    )
    figure.update_yaxes(
        type="category", categoryorder="array", categoryarray=rows[::-1], title=None
    )
    left = len(frame) - len(shown)
    least = ", ".join(
        f"{name} {theme.number(value)}"
        for name, value in list(zip(names, shown["recall"], strict=True))[:3]
    )
    return theme.finish(
        figure,
        title=theme.literal("Class by class" if title is None else title),
        note="Recall: share of the class that is found<br>"
        "Precision: share of those given it that are right"
        + (
            f"<br>The {len(shown)} of least recall; {left:,} more not drawn"
            * (left > 0)
        ),
        alt=f"Recall and precision of {len(shown)} classes. Least recall: {least}.",
        height=max(300, 150 + 24 * len(rows)),
        margin={"l": 10, "r": 10, "t": 102 if left > 0 else 84, "b": 84},
        legend=BELOW,
    )
