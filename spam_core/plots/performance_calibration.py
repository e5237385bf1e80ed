"""Whether probabilities are what they say, and how they are spread."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plotly.graph_objects as go

from spam_core.plots import theme
from spam_core.plots.performance_curves import HEIGHT, SHARES, reference

if TYPE_CHECKING:
    from spam_core.evaluation import Calibration, ScoreHistogram


def calibration(
    found: Calibration, class_: str, *, title: str | None = None
) -> go.Figure:
    """Draw how often what was called probable came true.

    Parameters
    ----------
    found : Calibration
    class_ : str
        Name of the class.
    title : str, optional

    Returns
    -------
    plotly.graph_objects.Figure
        A point a bin, with the interval of its share and the diagonal of a perfect one.

    Examples
    --------
    >>> import numpy as np
    >>> from spam_core.evaluation import OneAgainstRest
    >>> from spam_core.evaluation import calibration as calibrate
    >>> truth = np.array([False, True])
    >>> case = OneAgainstRest("yes", "no", truth, np.array([0.2, 0.8]))
    >>> calibration(calibrate(case), "yes").data[0].y
    (0.0, 1.0)
    """
    rows = found.rows.tolist()
    figure = go.Figure()
    figure.add_scatter(
        x=found.predicted.tolist(),
        y=found.observed.tolist(),
        customdata=list(
            zip(rows, found.low.tolist(), found.high.tolist(), strict=True)
        ),
        mode="lines+markers",
        name="test rows",
        line={"color": theme.NEGATIVE},
        marker={"size": 8},
        error_y={
            "type": "data",
            "array": (found.high - found.observed).tolist(),
            "arrayminus": (found.observed - found.low).tolist(),
            "thickness": 1.5,
            "width": 4,
        },
        hovertemplate="called %{x:.1%} probable, true for %{y:.1%}<br>"
        "%{customdata[0]:,} rows<extra></extra>",
        meta={
            "columns": {
                "mean probability": "x",
                "share that came true": "y",
                "95% interval from": "customdata[1]",
                "to": "customdata[2]",
                "rows": "customdata[0]",
            }
        },
    )
    reference(figure, [0.0, 1.0], [0.0, 1.0], "perfect")
    shares = {**SHARES, "tickformat": ".0%", "separatethousands": False}
    figure.update_xaxes(title=theme.literal(f"probability of {class_}"), **shares)
    figure.update_yaxes(title=theme.literal(f"rows that are {class_}"), **shares)
    sizes = (
        f"{min(rows):,}" if len(set(rows)) == 1 else f"{min(rows):,} to {max(rows):,}"
    )
    bins = f"{len(rows)} bin{'' if len(rows) == 1 else 's'} of {sizes} rows"
    quality = (
        f"Brier score {theme.number(found.brier)}, log loss "
        f"{theme.number(found.log_loss)}"
    )
    steps = ", ".join(
        f"{x:.0%}: {y:.0%}"
        for x, y in zip(found.predicted.tolist(), found.observed.tolist(), strict=True)
    )
    return theme.finish(
        figure,
        title=theme.literal(f"Calibration: {class_}" if title is None else title),
        note=f"{quality}<br>{bins}; bars: 95 % intervals",
        alt=f"Probability of {class_} against the share that came true in {bins}: "
        f"{steps}. {quality}.",
        height=HEIGHT,
        showlegend=False,
        margin={"l": 10, "r": 10, "t": 84, "b": 10},
    )


def score_distribution(
    histogram: ScoreHistogram,
    *,
    threshold: float | None = None,
    title: str | None = None,
) -> go.Figure:
    """Draw how the probabilities are spread over rows of a class and over the rest.

    Parameters
    ----------
    histogram : ScoreHistogram
    threshold : float, optional
        Drawn as a line.
    title : str, optional

    Returns
    -------
    plotly.graph_objects.Figure
        The rest first, then the class.

    Examples
    --------
    >>> import numpy as np
    >>> from spam_core.evaluation import OneAgainstRest, score_histogram
    >>> truth = np.array([False, True])
    >>> case = OneAgainstRest("yes", "no", truth, np.array([0.2, 0.8]))
    >>> [(bar.name, bar.y) for bar in score_distribution(score_histogram(case, 2)).data]
    [('no', (1, 0)), ('yes', (0, 1))]
    """
    low, high = histogram.edges[:-1], histogram.edges[1:]
    figure = go.Figure()
    for name, rows, colour, pattern in (
        (histogram.rest, histogram.of_rest, theme.NEGATIVE, ""),
        (histogram.name, histogram.of_class, theme.POSITIVE, "/"),
    ):
        figure.add_bar(
            x=((low + high) / 2).tolist(),
            y=rows.tolist(),
            width=(high - low).tolist(),
            customdata=list(zip(low.tolist(), high.tolist(), strict=True)),
            name=theme.literal(name),
            marker={
                "color": colour,
                "opacity": 0.6,
                "pattern": {"shape": pattern, "size": 5, "solidity": 0.35},
            },
            hovertemplate="%{customdata[0]:.2f} to %{customdata[1]:.2f}: %{y:,} rows"
            f"<extra>{theme.literal(name)}</extra>",
            meta={
                "columns": {
                    "class": f"={name}",
                    "from": "customdata[0]",
                    "to": "customdata[1]",
                    "rows": "y",
                }
            },
        )
    if threshold is not None:
        figure.add_vline(
            threshold,
            line={"color": theme.ZERO_LINE, "dash": "dash", "width": 2},
            annotation={
                "text": f"threshold {threshold:g}",
                "xanchor": "left" if threshold < 0.7 else "right",
                "yanchor": "top",
                "xshift": 4 if threshold < 0.7 else -4,
            },
            annotation_position="top",
        )
    shares = {
        "range": [-0.01, 1.01],
        "dtick": 0.2,
        "tickformat": ".0%",
        "separatethousands": False,
    }
    figure.update_xaxes(
        title=theme.literal(f"probability of {histogram.name}"), **shares
    )
    figure.update_yaxes(title="test rows", rangemode="tozero")
    n_class, n_rest = int(histogram.of_class.sum()), int(histogram.of_rest.sum())
    what = f"Probabilities of {histogram.name}"
    return theme.finish(
        figure,
        title=theme.literal(what if title is None else title),
        alt=f"{what} over {n_class:,} rows of {histogram.name} and {n_rest:,} rows of "
        f"{histogram.rest}.",
        height=HEIGHT,
        barmode="overlay",
        bargap=0.0,
    )
