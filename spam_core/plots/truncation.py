"""How a model's quality depends on the components it keeps."""

from __future__ import annotations

import math
from collections.abc import Sequence

import plotly.graph_objects as go

from spam_core.plots import theme

_LEAST_SPAN = 0.04  # of the whole model's value: less would magnify noise


def truncation(
    ranks: Sequence[int],
    scores: Sequence[float],
    *,
    metric: str,
    whole: float,
    chosen: tuple[int, float] | None = None,
    unit: str = "",
    best: float | None = None,
    title: str | None = None,
) -> go.Figure:
    """Draw a metric over the number of components kept.

    Parameters
    ----------
    ranks : sequence of int
        Components kept, increasing.
    scores : sequence of float
        Metric of the model cut to each rank.
    metric : str
        Name of the metric, with the rows that it is of.
    whole : float
        Metric of the whole model, drawn as a line.
    chosen : (int, float), optional
        A rank and its metric to mark.
    unit : str, default=""
        Unit of the metric.
    best : float, optional
        Most that the metric can be, if there is such: the axis ends there.
    title : str, optional

    Returns
    -------
    plotly.graph_objects.Figure
        The rank on a log axis.

    Raises
    ------
    ValueError
        If there are no ranks, or not one score a rank.

    Examples
    --------
    >>> figure = truncation([1, 2, 4], [3.0, 2.5, 2.4], metric="RMSE", whole=2.4)
    >>> figure.data[0].x, figure.data[0].y
    ((1, 2, 4), (3.0, 2.5, 2.4))
    """
    if not len(ranks) or len(ranks) != len(scores):
        raise ValueError(
            f"there must be one score a rank, got {len(ranks)} ranks and "
            f"{len(scores)} scores"
        )
    name = f"{metric} ({unit})" if unit else metric
    figure = go.Figure()
    figure.add_scatter(
        x=[int(rank) for rank in ranks],
        y=[float(score) for score in scores],
        mode="lines+markers",
        name="cut model",
        line={"color": theme.NEGATIVE},
        hovertemplate="%{x} components: %{y:.4g}<extra></extra>",
        meta={"columns": {"components kept": "x", name: "y"}},
    )
    figure.add_scatter(
        x=[int(ranks[0]), int(ranks[-1])],
        y=[float(whole)] * 2,
        mode="lines",
        name="whole model",
        line={"color": theme.NEUTRAL, "dash": "dash"},
        hovertemplate="whole model: %{y:.4g}<extra></extra>",
    )
    values = [float(whole), *map(float, scores)]
    if chosen is not None:
        values.append(float(chosen[1]))
        figure.add_scatter(
            x=[int(chosen[0])],
            y=[float(chosen[1])],
            mode="markers",
            name="chosen",
            marker={"color": theme.POSITIVE, "size": 13, "symbol": "diamond"},
            hovertemplate="%{x} components: %{y:.4g}<extra>chosen</extra>",
        )
    values = [value for value in values if math.isfinite(value)] or [0.0]
    low, high = min(values), max(values)
    span = max(1.2 * (high - low), _LEAST_SPAN * max(map(abs, values))) or 1.0
    middle = (low + high) / 2
    top = middle + span / 2
    if best is not None and top > best:  # a little room for the marker
        top = best + 0.08 * span
    last = int(ranks[-1])
    # the last one is rarely a power of two, and may stand close to its neighbour
    ticks = [int(rank) for rank in ranks if 1.4 * rank <= last] + [last]
    figure.update_xaxes(
        type="log",
        title="components kept (log scale)",
        tickvals=ticks,
        ticktext=[f"{rank:,}" for rank in ticks],
        tickangle=0,
    )
    figure.update_yaxes(title=theme.literal(name), range=[top - span, top])
    steps = ", ".join(
        f"{int(rank):,}: {theme.number(float(score))}"
        for rank, score in zip(ranks, scores, strict=True)
    )
    text = f"{name} by components kept. {steps}. Whole model {theme.number(whole)}."
    if chosen is not None:
        text += f" Chosen: {chosen[0]:,}, {theme.number(float(chosen[1]))}."
    return theme.finish(
        figure,
        title=theme.literal("Quality of a smaller model" if title is None else title),
        alt=text,
        height=320,
    )
