"""How the values of a target are spread over its classes or its range."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plotly.graph_objects as go

from spam_core.plots import theme
from spam_core.plots.named_bars import named_bars

if TYPE_CHECKING:
    import pandas as pd


def distribution(counts: pd.DataFrame, name: str, *, unit: str = "") -> go.Figure:
    """Draw how many rows have which value.

    Parameters
    ----------
    counts : DataFrame
        ``class`` and ``rows``, or ``from``, ``to`` and ``rows``.
    name : str
        What is counted, for example the name of the target.
    unit : str, default=""
        Unit of the values.

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> import pandas as pd
    >>> figure = distribution(pd.DataFrame({"class": ["a"], "rows": [3]}), "y")
    >>> figure.data[0].x, figure.data[0].y
    ((3,), ('a',))
    """
    rows = [int(count) for count in counts["rows"]]
    if "class" in counts:
        return _classes([str(label) for label in counts["class"]], rows, name)
    low = [float(edge) for edge in counts["from"]]
    high = [float(edge) for edge in counts["to"]]
    figure = go.Figure()
    figure.add_bar(
        x=[(a + b) / 2 for a, b in zip(low, high, strict=True)],
        y=rows,
        width=[b - a for a, b in zip(low, high, strict=True)],
        customdata=list(zip(low, high, strict=True)),
        marker={"color": theme.NEGATIVE, "line": {"width": 0}},
        hovertemplate="%{customdata[0]:.5g} to %{customdata[1]:.5g}: %{y:,} rows"
        "<extra></extra>",
        meta={"columns": {"from": "customdata[0]", "to": "customdata[1]", "rows": "y"}},
    )
    label = f"{name} ({unit})" if unit else name
    figure.update_xaxes(title=theme.literal(label))
    figure.update_yaxes(title="rows", rangemode="tozero")
    return theme.finish(
        figure,
        title=theme.literal(f"Distribution of {name}"),
        alt=f"Histogram of {label}: {sum(rows):,} rows from {theme.number(low[0])} to "
        f"{theme.number(high[-1])}.",
        height=300,
        showlegend=False,
        bargap=0.0,
    )


def _classes(names: list[str], rows: list[int], name: str) -> go.Figure:
    total = max(1, sum(rows))
    shares = ", ".join(
        f"{label} {count:,}" for label, count in list(zip(names, rows, strict=True))[:5]
    )
    return named_bars(
        names,
        rows,
        texts=[f"{count:,} ({count / total:.1%})" for count in rows],
        hover="%{customdata}: %{x:,} rows",
        columns={"class": "customdata", "rows": "x"},
        axis="rows",
        title=f"Distribution of {name}",
        alt=f"Rows of each class of {name}: {shares}.",
    )
