"""Where a regression is off: against the actual value, the prediction, and in bins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plotly.graph_objects as go

from spam_core.plots import theme
from spam_core.plots.performance import BELOW

if TYPE_CHECKING:
    import pandas as pd

    from spam_core.evaluation import Errors

MOST_POINTS = 3000
"""Rows that a chart draws: more slow a browser down and hide each other."""


def predicted_actual(
    errors: Errors, target: str, *, unit: str = "", title: str | None = None
) -> go.Figure:
    """Draw what was predicted against what was.

    Parameters
    ----------
    errors : Errors
    target : str
        Name of what is predicted.
    unit : str, default=""
    title : str, optional

    Returns
    -------
    plotly.graph_objects.Figure
        A point a row, of many rows a random sample; a perfect model's are on the line.

    Examples
    --------
    >>> import numpy as np
    >>> from spam_core.evaluation import Errors
    >>> errors = Errors(np.array([1.0, 2.0]), np.array([1.5, 2.0]), np.arange(2))
    >>> figure = predicted_actual(errors, "price")
    >>> figure.data[0].x, figure.data[0].y
    ((1.5, 2.0), (1.0, 2.0))
    """
    label = f"{target} ({unit})" if unit else target
    figure = go.Figure()
    shown = _points(figure, errors, "actual", label)
    ends = [
        float(min(shown.actual.min(), shown.predicted.min())),
        float(max(shown.actual.max(), shown.predicted.max())),
    ]
    _line(figure, ends, ends, "perfect")
    figure.update_xaxes(title=theme.literal(f"predicted {label}"), tickangle=0)
    figure.update_yaxes(title=theme.literal(f"actual {label}"))
    return theme.finish(
        figure,
        title=theme.literal("Predicted and actual" if title is None else title),
        note=_drawn(shown, errors),
        alt=f"Actual against predicted {label} of {len(errors.actual):,} rows, from "
        f"{theme.number(ends[0])} to {theme.number(ends[1])}.",
        height=430,
        showlegend=False,
    )


def residuals(
    errors: Errors,
    bins: pd.DataFrame,
    target: str,
    *,
    unit: str = "",
    title: str | None = None,
) -> go.Figure:
    """Draw residuals, actual less predicted, against predictions.

    Parameters
    ----------
    errors : Errors
    bins : DataFrame
        What ``errors.by_quantile("predicted")`` returns: its means make a line, which
        is flat at 0 where nothing is missed.
    target : str
    unit : str, default=""
    title : str, optional

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> import numpy as np
    >>> from spam_core.evaluation import Errors
    >>> errors = Errors(np.array([1.0, 2.0]), np.array([1.5, 2.0]), np.arange(2))
    >>> residuals(errors, errors.by_quantile("predicted"), "price").data[0].y
    (-0.5, 0.0)
    """
    label = f"{target} ({unit})" if unit else target
    figure = go.Figure()
    shown = _points(figure, errors, "residual", label)
    figure.add_hline(0.0, line={"color": theme.ZERO_LINE, "width": 1.5})
    figure.add_scatter(
        x=[float(value) for value in bins["center"]],
        y=[float(value) for value in bins["mean_error"]],
        customdata=[[int(count)] for count in bins["rows"]],
        mode="lines+markers",
        name="mean residual, by predictions of about as many rows",
        line={"color": theme.POSITIVE, "width": 2.5},
        marker={"symbol": "diamond", "size": 8},
        hovertemplate="around %{x:.4g}: mean residual %{y:.4g}<br>"
        "%{customdata[0]:,} rows<extra></extra>",
    )
    figure.update_xaxes(title=theme.literal(f"predicted {label}"), tickangle=0)
    figure.update_yaxes(title="residual: actual less predicted")
    worst = max(bins["mean_error"].tolist(), key=abs)
    return theme.finish(
        figure,
        title=theme.literal("Residuals" if title is None else title),
        note=_drawn(shown, errors, "Line: their mean, by prediction"),
        alt=f"Residuals, actual less predicted, against predicted {label}. Largest "
        f"mean of a tenth of the rows: {theme.number(worst)}.",
        height=430,
        showlegend=False,
    )


def error_bins(
    bins: pd.DataFrame, target: str, *, unit: str = "", title: str | None = None
) -> go.Figure:
    """Draw the size of errors by value of the target, in bins of about as many rows.

    Parameters
    ----------
    bins : DataFrame
        What ``errors.by_quantile("actual")`` returns.
    target : str
    unit : str, default=""
    title : str, optional

    Returns
    -------
    plotly.graph_objects.Figure
        Bars of the RMSE and marks of the mean residual, the highest values on top.

    Examples
    --------
    >>> import numpy as np
    >>> from spam_core.evaluation import Errors
    >>> errors = Errors(np.array([1.0, 2.0]), np.array([1.5, 2.0]), np.arange(2))
    >>> error_bins(errors.by_quantile(n_bins=2), "price").data[0].x
    (0.5, 0.0)
    """
    label = f"{target} ({unit})" if unit else target
    names = theme.labels(
        f"{theme.number(low)} to {theme.number(high)}"
        for low, high in zip(bins["from"], bins["to"], strict=True)
    )
    figure = go.Figure()
    for k, (column, name) in enumerate(
        (("rmse", "RMSE"), ("mean_error", "mean residual"))
    ):
        amounts = [float(value) for value in bins[column]]
        meta = {
            "columns": {
                f"actual {label}": "y",
                "rows": "customdata[0]",
                "measure": f"={name}",
                "value": "x",
            }
        }
        common = {
            "x": amounts,
            "y": names,
            "name": name,
            "customdata": [[int(count)] for count in bins["rows"]],
            "hovertemplate": f"%{{y}}, %{{customdata[0]:,}} rows<br>{name} "
            "%{x:.4g}<extra></extra>",
            "meta": meta,
        }
        if k == 0:
            bar = {"color": theme.NEGATIVE}
            figure.add_bar(orientation="h", marker=bar, **common)
        else:
            marker = {"color": theme.POSITIVE, "symbol": "diamond", "size": 10}
            figure.add_scatter(mode="markers", marker=marker, **common)
    figure.update_xaxes(title=theme.literal(f"error ({unit})" if unit else "error"))
    figure.update_yaxes(
        title=theme.literal(f"actual {label}"),
        type="category",
        categoryorder="array",
        categoryarray=names,
        showgrid=False,
    )
    worst = bins.nlargest(1, "rmse").to_dict("records")[0]
    return theme.finish(
        figure,
        title=theme.literal("Errors by actual value" if title is None else title),
        alt=f"RMSE by actual {label} in {len(bins)} bins. Largest "
        f"{theme.number(worst['rmse'])} from {theme.number(worst['from'])} to "
        f"{theme.number(worst['to'])}.",
        note=theme.literal("Bins of about as many rows"),
        height=190 + theme.BAR_HEIGHT * len(names),
        margin={"l": 10, "r": 10, "t": 64, "b": 84},
        legend=BELOW,
    )


def _points(figure: go.Figure, errors: Errors, what: str, label: str) -> Errors:
    """Add the rows as points; return those that are drawn."""
    shown = errors.sample(MOST_POINTS)
    n = len(shown.actual)
    figure.add_scatter(
        x=shown.predicted.tolist(),
        y=getattr(shown, what).tolist(),
        customdata=[[row + 1] for row in shown.row.tolist()],
        mode="markers",
        name="test rows",
        marker={
            "color": theme.NEGATIVE,
            "size": 7 if n < 300 else 5,
            "opacity": 0.75 if n < 300 else 0.55 if n < 1500 else 0.35,
        },
        hovertemplate="test row %{customdata[0]}<br>predicted %{x:.4g}<br>"
        f"{what} %{{y:.4g}}<extra></extra>",
        meta={
            "columns": {
                "test row": "customdata[0]",
                f"predicted {label}": "x",
                f"{what}": "y",
            }
        },
    )
    return shown


def _line(figure: go.Figure, x: list[float], y: list[float], name: str) -> None:
    figure.add_scatter(
        x=x,
        y=y,
        mode="lines",
        name=name,
        line={"color": theme.POSITIVE, "dash": "dash", "width": 1.5},
        hoverinfo="skip",
    )


def _drawn(shown: Errors, errors: Errors, more: str = "") -> str:
    """Say what a chart leaves out."""
    n, all_rows = len(shown.actual), len(errors.actual)
    part = f"{n:,} of {all_rows:,} test rows, at random" if n < all_rows else ""
    return ". ".join(filter(None, (more, part)))
