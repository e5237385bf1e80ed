"""Training curves: the loss after each epoch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from spam_core.plots import theme


def history(
    steps: Sequence[Mapping[str, Any]], *, title: str = "Training"
) -> go.Figure:
    """Draw the training and validation loss of each epoch.

    Parameters
    ----------
    steps : sequence of mapping
        An estimator's ``history_``: each with ``epoch``, ``train_loss`` and
        ``validation_loss`` (None or NaN where no validation part was kept).
    title : str, default="Training"
        Title, for example the name of the model.

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> steps = [{"epoch": 1, "train_loss": 2.0, "validation_loss": None}]
    >>> [trace.name for trace in history(steps).data]
    ['training']
    """
    epochs = [int(step["epoch"]) for step in steps]
    figure = go.Figure()
    best = ""
    for key, name, colour, dash in (
        ("train_loss", "training", theme.NEGATIVE, "dot"),
        ("validation_loss", "validation", theme.POSITIVE, "solid"),
    ):
        losses = [
            np.nan if step.get(key) is None else float(step[key]) for step in steps
        ]
        if not np.isfinite(losses).any():
            continue
        figure.add_scatter(
            x=epochs,
            y=losses,
            name=name,
            mode="lines+markers" if len(epochs) < 30 else "lines",
            line={"color": colour, "dash": dash},
            hovertemplate=f"{name} loss %{{y:.4g}} after epoch %{{x}}<extra></extra>",
            meta={"columns": {"epoch": "x", "loss of": f"={name}", "loss": "y"}},
        )
        if key == "validation_loss":
            k = int(np.nanargmin(losses))
            best = (
                f" Lowest validation loss {theme.number(losses[k])}"
                f" at epoch {epochs[k]}."
            )
    count = f"{len(epochs)} epoch{'' if len(epochs) == 1 else 's'}"
    figure.update_xaxes(title="epoch", rangemode="tozero")
    figure.update_yaxes(title="loss (training scale)")
    return theme.finish(
        figure,
        title=theme.literal(title),
        alt=f"Loss per epoch over {count}.{best}",
        height=320,
    )
