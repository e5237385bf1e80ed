"""How well readers guess decisions, by explanation length."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from spam_core.plots import theme

if TYPE_CHECKING:
    from spam_core.study import Simulation

_CHANCE = 0.5
_ROOM = 0.03  # above and below, so that markers aren't cut


def simulation(simulation: Simulation, title: str | None = None) -> go.Figure:
    """Draw the accuracy of each reader over the explanation length.

    Parameters
    ----------
    simulation : Simulation
        What ``spam_core.study.simulate`` returns.
    title : str, optional

    Returns
    -------
    plotly.graph_objects.Figure
        A panel for each reader; a line with its band for each condition, and the chance
        level.

    Examples
    --------
    >>> import pandas as pd
    >>> from types import SimpleNamespace
    >>> lines = {"condition": "SPAM", "reader": "sum", "E": [1, 2]}
    >>> means = {"accuracy": [0.7, 0.8], "low": [0.6, 0.7], "high": [0.8, 0.9]}
    >>> played = SimpleNamespace(
    ...     table=pd.DataFrame(lines | means),
    ...     conditions=("SPAM",),
    ...     readers=("sum",),
    ...     n_draws=20,
    ...     n_rows=60,
    ... )
    >>> [(trace.name, trace.y) for trace in simulation(played).data if trace.name]
    [('chance', (0.5, 0.5)), ('SPAM', (0.7, 0.8))]
    """
    frame = simulation.table
    readers, conditions = list(simulation.readers), list(simulation.conditions)
    names = theme.labels(conditions)
    ends = [int(frame["E"].min()), int(frame["E"].max())]
    figure = make_subplots(
        rows=1,
        cols=len(readers),
        shared_yaxes=True,
        horizontal_spacing=0.04,
        subplot_titles=[f"the {theme.literal(reader)} reader" for reader in readers],
    )
    for col, reader in enumerate(readers, start=1):
        figure.add_scatter(
            x=ends,
            y=[_CHANCE] * 2,
            mode="lines",
            name="chance",
            legendgroup="chance",
            showlegend=col == 1,
            line={"color": theme.NEUTRAL, "dash": "dash"},
            hovertemplate="chance: %{y}<extra></extra>",
            row=1,
            col=col,
        )
        for k, condition in enumerate(conditions):
            here = (frame["reader"] == reader) & (frame["condition"] == condition)
            lines = frame[here].sort_values("E")
            _add_band(figure, lines, k, col)
            _add_line(figure, lines, k, names[k], col)
    low = min(_CHANCE, float(frame["low"].min()))
    figure.update_yaxes(range=[low - _ROOM, 1 + _ROOM], zeroline=False)
    figure.update_yaxes(title="share of right answers", row=1, col=1)
    figure.update_xaxes(
        title="E, terms shown", range=[ends[0] - 0.5, ends[1] + 0.5], zeroline=False
    )
    figure.update_annotations(font={"size": 13}, yshift=2)
    note = (
        f"{simulation.n_draws:,} draws from {simulation.n_rows:,} rows; bands: luck of "
        "the draws (95 %)"
    )
    return theme.finish(
        figure,
        title=theme.literal(
            "How well decisions are guessed" if title is None else title
        ),
        alt=_words(frame, readers, conditions, note),
        note=theme.literal(note),
        height=430,
        margin={"l": 10, "r": 10, "t": 92, "b": 10},
        legend={
            "orientation": "h",
            "x": 0.0,
            "xanchor": "left",
            "y": -0.18,
            "yanchor": "top",
        },
    )


def _add_band(figure: go.Figure, lines: Any, k: int, col: int) -> None:
    x = lines["E"].tolist()
    figure.add_scatter(
        x=x + x[::-1],
        y=lines["high"].tolist() + lines["low"].tolist()[::-1],
        mode="lines",
        line={"width": 0},
        fill="toself",
        fillcolor=theme.COLOURS[k % len(theme.COLOURS)],
        opacity=0.2,
        hoverinfo="skip",
        legendgroup=f"condition {k}",
        showlegend=False,
        row=1,
        col=col,
    )


def _add_line(figure: go.Figure, lines: Any, k: int, name: str, col: int) -> None:
    """Add the means; this trace holds the table."""
    reader, condition = lines["reader"].iloc[0], lines["condition"].iloc[0]
    figure.add_scatter(
        x=lines["E"].tolist(),
        y=lines["accuracy"].tolist(),
        customdata=lines[["low", "high"]].to_numpy().tolist(),
        mode="lines+markers",
        name=name,
        legendgroup=f"condition {k}",
        showlegend=col == 1,
        line={
            "color": theme.COLOURS[k % len(theme.COLOURS)],
            "dash": theme.DASHES[k // len(theme.COLOURS) % len(theme.DASHES)],
        },
        # lines are told apart without colour as well
        marker={"symbol": theme.SYMBOLS[k % len(theme.SYMBOLS)], "size": 7},
        hovertemplate="E = %{x}: %{y:.3f}, %{customdata[0]:.3f} to %{customdata[1]:.3f}"
        f"<extra>{name}</extra>",
        meta={
            "columns": {
                "reader": f"={reader}",
                "condition": f"={condition}",
                "E": "x",
                "share of right answers": "y",
                "low": "customdata[0]",
                "high": "customdata[1]",
            }
        },
        row=1,
        col=col,
    )


def _words(frame: Any, readers: list[str], conditions: list[str], note: str) -> str:
    """Say the accuracies at the paper's length, or the largest there is."""
    lengths = frame["E"]
    length = 7 if (lengths == 7).any() else int(lengths.max())
    parts = []
    for reader in readers:
        at = frame[(frame["reader"] == reader) & (lengths == length)]
        means = dict(zip(at["condition"], at["accuracy"], strict=True))
        each = ", ".join(f"{name} {theme.number(means[name])}" for name in conditions)
        parts.append(f"The {reader} reader at E = {length}: {each}.")
    return (
        "Share of right answers by explanation length, where chance is 0.5. "
        f"{' '.join(parts)} {note}."
    )
