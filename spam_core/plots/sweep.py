"""What becomes of a model as one setting is varied."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from spam_core.plots import theme


def sweep(
    values: Sequence[Any],
    means: Sequence[float],
    *,
    setting: str,
    metric: str,
    spreads: Sequence[float | None] = (),
    pairs: Sequence[float | None] = (),
    chosen: Any = None,
    title: str | None = None,
) -> go.Figure:
    """Draw a metric over the values of a setting.

    Parameters
    ----------
    values : sequence
        Of the setting, in the order in which they are drawn, evenly spaced.
    means : sequence of float
        Metric of each value, mean over seeds.
    setting, metric : str
        What they are called.
    spreads : sequence of float or None, optional
        Standard deviations over seeds, drawn as bars; None or NaN: not known.
    pairs : sequence of float or None, optional
        Share of pairs with a weight, 0 to 1, in a second panel; None or NaN: a dash.
    chosen : object, optional
        Value that is the default; its point is marked.
    title : str, optional

    Returns
    -------
    plotly.graph_objects.Figure

    Raises
    ------
    ValueError
        If there are no values, or not one number each.

    Examples
    --------
    >>> figure = sweep([1, 2], [0.6, 0.5], setting="order", metric="RMSE", chosen=2)
    >>> figure.data[0].x, figure.data[0].y
    (('1', '2'), (0.6, 0.5))
    """
    for name, numbers in (("means", means), ("spreads", spreads), ("pairs", pairs)):
        if len(numbers) != len(values) and (len(numbers) or name == "means"):
            raise ValueError(
                f"there must be one of {name} a value, got {len(numbers)} for "
                f"{len(values)} values"
            )
    if not len(values):
        raise ValueError("there are no values to draw")
    shares, deviations = _known(pairs), _known(spreads)
    rows = 2 if any(share is not None for share in shares) else 1
    heights = [0.62, 0.38][:rows]
    figure = make_subplots(rows, 1, shared_xaxes=True, row_heights=heights)
    x = [theme.literal(f"{value:g}") for value in values]
    bars = [deviation or 0.0 for deviation in deviations]
    figure.add_scatter(
        x=x,
        y=[float(mean) for mean in means],
        error_y={"type": "data", "array": bars, "visible": any(bars), "thickness": 1},
        mode="lines+markers",
        name=metric,
        line={"color": theme.NEGATIVE},
        marker={
            "size": [13 if value == chosen else 7 for value in values],
            "symbol": ["diamond" if value == chosen else "circle" for value in values],
        },
        hovertemplate=f"{theme.literal(setting)} %{{x}}: %{{y:.4g}}<extra></extra>",
        showlegend=False,
        meta={"columns": {setting: "x", metric: "y"}},
        row=1,
        col=1,
    )
    figure.update_yaxes(title=theme.literal(metric), row=1, col=1)
    if rows == 2:
        figure.add_bar(
            x=x,
            y=shares,
            marker={"color": theme.NEUTRAL},
            hovertemplate="pairs with a weight: %{y:.1%}<extra></extra>",
            showlegend=False,
            row=2,
            col=1,
        )
        # no bar would say that there are none
        unknown = [x[k] for k, share in enumerate(shares) if share is None]
        if unknown:
            figure.add_scatter(
                x=unknown,
                y=[0.0] * len(unknown),
                mode="text",
                text="–",
                textposition="top center",
                hovertemplate="pairs with a weight: not counted<extra></extra>",
                showlegend=False,
                row=2,
                col=1,
            )
        figure.update_yaxes(
            title="pairs with<br>a weight", range=[0, 1.03], tickformat=".0%", row=2
        )
    # not numbers: 1, 2, 4, .. 128 stand as far apart as they are meant
    figure.update_xaxes(type="category")
    figure.update_xaxes(title=theme.literal(setting), row=rows, col=1)
    said = "; ".join(
        f"{value:g}: {theme.number(float(mean))}"
        + ("" if share is None else f", {share:.0%} of pairs")
        for value, mean, share in zip_longest(values, means, shares)
    )
    notes = {
        "the diamond is the default": any(value == chosen for value in values),
        "bars are standard deviations over seeds": any(bars),
        "–: not counted": rows == 2 and None in shares,
    }
    title = f"{metric} by {setting}" if title is None else title
    return theme.finish(
        figure,
        title=theme.literal(title),
        alt=f"{title}. {said}.",
        note="; ".join(note for note, holds in notes.items() if holds),
        height=300 + 130 * (rows - 1),
    )


def _known(numbers: Sequence[float | None]) -> list[float | None]:
    """Return None for what isn't known, which data frames write as NaN."""
    return [None if n is None or math.isnan(n) else float(n) for n in numbers]
