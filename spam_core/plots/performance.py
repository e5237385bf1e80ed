"""Models by a metric: on these rows with intervals, and over seeds beside the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go

from spam_core.plots import theme
from spam_core.plots.method_lines import finite, line_style

if TYPE_CHECKING:
    from spam_core.evaluation import Ranking

_ROW = 44  # pixels a model
# a legend at the bottom of the figure, under the title of the axis
BELOW = {
    "orientation": "h",
    "x": 0.0,
    "xanchor": "left",
    "yref": "container",
    "y": 0.0,
    "yanchor": "bottom",
}
_DIRECTION = {"lower": "lower is better", "higher": "higher is better"}


def leaderboard(
    ranking: Ranking,
    label: str,
    *,
    unit: str = "",
    names: Sequence[str] | None = None,
    title: str | None = None,
) -> go.Figure:
    """Draw each model's metric with its interval, the best on top.

    Parameters
    ----------
    ranking : Ranking
    label : str
        What to call the metric.
    unit : str, default=""
    names : sequence of str, optional
        All models in the order of their colours, which other charts share; by default
        that of the ranking.
    title : str, optional

    Returns
    -------
    plotly.graph_objects.Figure
        A trace a model. Models without a value are on the axis without a mark.

    Examples
    --------
    >>> from spam_core.evaluation import Ranking, Score
    >>> scores = (Score("SPAM", 0.5, 0.4, 0.6), Score("DNN", 0.7, 0.6, 0.8))
    >>> figure = leaderboard(Ranking("rmse", "lower", scores, None, 99), "RMSE")
    >>> [(trace.name, trace.x) for trace in figure.data]
    [('SPAM', (0.5,)), ('DNN', (0.7,))]
    """
    colours = list(names or [score.name for score in ranking.scores])
    rows = theme.labels(score.name for score in ranking.scores)
    what = f"{label} ({unit})" if unit else label
    figure = go.Figure()
    for row, score in zip(rows, ranking.scores, strict=True):
        bar = [finite(score.high - score.value), finite(score.value - score.low)]
        marker = line_style(colours.index(score.name))["marker"] | {"size": 11}
        figure.add_scatter(
            x=[finite(score.value)],
            y=[row],
            customdata=[[score.name, finite(score.low), finite(score.high)]],
            mode="markers+text",
            name=theme.literal(score.name),
            marker=marker,
            error_x={
                "type": "data",
                "array": bar[:1],
                "arrayminus": bar[1:],
                "thickness": 2,
                "width": 5,
                "visible": None not in bar,
            },
            text=[theme.number(score.value)],
            textposition="top center",
            cliponaxis=False,
            hovertemplate="%{y}: %{x:.4g}<br>%{customdata[1]:.4g} to "
            "%{customdata[2]:.4g}<extra></extra>",
            meta={
                "columns": {
                    "model": "customdata[0]",
                    what: "x",
                    f"{ranking.level:.0%} interval from": "customdata[1]",
                    "to": "customdata[2]",
                }
            },
        )
    figure.update_xaxes(
        title=theme.literal(f"{what}, {_DIRECTION[ranking.better]}"), tickangle=0
    )
    _rows(figure, rows)
    told = ", ".join(
        f"{s.name} {theme.number(s.value)} ({theme.number(s.low)} to "
        f"{theme.number(s.high)})"
        for s in ranking.scores
    )
    return theme.finish(
        figure,
        title=theme.literal(f"{label} on the test rows" if title is None else title),
        note=f"Bars: {100 * ranking.level:.0f} % intervals over the "
        f"{ranking.n_rows:,} test rows",
        alt=f"{what} of each model, {_DIRECTION[ranking.better]}, with intervals: "
        f"{told}.",
        height=150 + _ROW * len(rows),
        showlegend=False,
    )


def reruns(
    results: Sequence[Mapping[str, Any]],
    label: str,
    *,
    unit: str = "",
    title: str | None = None,
) -> go.Figure:
    """Draw a metric over reruns with other seeds, beside what the paper reports.

    Parameters
    ----------
    results : sequence of dict
        A model each: ``label``, ``better``, ``mean`` (None if it wasn't measured),
        ``spread`` (standard deviation over seeds, or None), ``scores`` (one a seed) and
        ``paper`` (a number or None).
    label : str
        What to call the metric.
    unit : str, default=""
    title : str, optional

    Returns
    -------
    plotly.graph_objects.Figure
        The best mean on top.

    Raises
    ------
    ValueError
        If nothing was measured or reported.

    Examples
    --------
    >>> result = {"label": "SPAM", "better": "lower", "mean": 0.5, "spread": 0.1}
    >>> figure = reruns([result | {"scores": [0.4, 0.6], "paper": 0.55}], "RMSE")
    >>> [(trace.name, trace.x) for trace in figure.data]
    [('one seed', (0.4, 0.6)), ('mean ± sd', (0.5,)), ('paper', (0.55,))]
    """
    known = [r for r in results if r["mean"] is not None or r.get("paper") is not None]
    if not known:
        raise ValueError("there must be at least one result to draw")
    sign = 1.0 if known[0]["better"] == "lower" else -1.0
    known.sort(key=lambda r: (r["mean"] is None, sign * (r["mean"] or r["paper"] or 0)))
    rows = theme.labels(r["label"] for r in known)
    what = f"{label} ({unit})" if unit else label
    named = list(zip(rows, known, strict=True))
    seeds = [(row, r["label"], s) for row, r in named for s in r.get("scores") or ()]
    means = [(row, r) for row, r in named if r["mean"] is not None]
    papers = [(row, r) for row, r in named if r.get("paper") is not None]
    figure = go.Figure()
    figure.add_scatter(
        x=[float(score) for *_, score in seeds],
        y=[row for row, *_ in seeds],
        customdata=[[name] for _, name, _ in seeds],
        mode="markers",
        name="one seed",
        marker={"color": theme.NEUTRAL, "size": 7, "opacity": 0.7},
        hovertemplate="%{y}: %{x:.4g}<extra>one seed</extra>",
        meta={"columns": {"model": "customdata[0]", "what": "=one seed", what: "x"}},
    )
    figure.add_scatter(
        x=[float(r["mean"]) for _, r in means],
        y=[row for row, _ in means],
        customdata=[[r["label"], r.get("spread")] for _, r in means],
        mode="markers+text",
        name="mean ± sd",
        marker={"color": theme.NEGATIVE, "size": 11},
        error_x={
            "type": "data",
            "array": [r.get("spread") or 0.0 for _, r in means],
            "thickness": 2,
            "width": 5,
        },
        text=[theme.number(float(r["mean"])) for _, r in means],
        textposition="top center",
        cliponaxis=False,
        hovertemplate="%{y}: %{x:.4g}, sd %{customdata[1]:.2g}<extra>mean</extra>",
        meta={
            "columns": {
                "model": "customdata[0]",
                "what": "=mean",
                what: "x",
                "sd": "customdata[1]",
            }
        },
    )
    if papers:
        figure.add_scatter(
            x=[float(r["paper"]) for _, r in papers],
            y=[row for row, _ in papers],
            customdata=[[r["label"]] for _, r in papers],
            mode="markers",
            name="paper",
            marker={
                "color": theme.POSITIVE,
                "size": 13,
                "symbol": "diamond-open",
                "line": {"width": 2},
            },
            hovertemplate="%{y}: %{x:.4g}<extra>paper</extra>",
            meta={"columns": {"model": "customdata[0]", "what": "=paper", what: "x"}},
        )
    direction = _DIRECTION[known[0]["better"]]
    figure.update_xaxes(title=theme.literal(f"{what}, {direction}"), tickangle=0)
    _rows(figure, rows)
    told = ", ".join(_told(r) for r in known)
    return theme.finish(
        figure,
        title=theme.literal("Rerun with other seeds" if title is None else title),
        alt=f"{what} over seeds, {direction}: {told}.",
        height=180 + _ROW * len(rows),
        margin={"l": 10, "r": 10, "t": 48, "b": 84},
        legend=BELOW,
    )


def _told(result: Mapping[str, Any]) -> str:
    parts = []
    if result["mean"] is not None:
        parts.append(f"{theme.number(float(result['mean']))}")
    if result.get("spread") is not None:
        parts.append(f"sd {theme.number(float(result['spread']))}")
    if result.get("paper") is not None:
        parts.append(f"paper {theme.number(float(result['paper']))}")
    return f"{result['label']} {', '.join(parts)}"


def _rows(figure: go.Figure, rows: Sequence[str]) -> None:
    """Set a row for each name, the first on top, with room for a text above a mark."""
    figure.update_yaxes(
        type="category",
        categoryorder="array",
        categoryarray=list(rows)[::-1],
        range=[-0.6, len(rows) - 0.3],
        title=None,
    )
