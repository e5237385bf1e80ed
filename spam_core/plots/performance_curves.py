"""How well a class is told from the rest: ROC and precision-recall curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go

from spam_core.plots import theme
from spam_core.plots.method_lines import finite

if TYPE_CHECKING:
    from spam_core.evaluation import PrecisionRecallCurve, RocCurve

HEIGHT = 430
# a little room, so that lines along the edges are seen in full
SHARES: dict[str, Any] = {"range": [-0.015, 1.015], "dtick": 0.2, "zeroline": False}
_INSIDE = {"orientation": "v", "bgcolor": "rgba(128, 128, 128, 0.12)"}


def roc(
    curves: Mapping[str, RocCurve], class_: str, *, names: Sequence[str] | None = None
) -> go.Figure:
    """Draw the ROC curves of one or several models.

    Parameters
    ----------
    curves : mapping of name to RocCurve
    class_ : str
        Name of the class that is told from the rest.
    names : sequence of str, optional
        All models in the order of their colours.

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> import numpy as np
    >>> from spam_core.evaluation import OneAgainstRest, roc_curve
    >>> truth = np.array([False, True, True])
    >>> case = OneAgainstRest("yes", "no", truth, np.array([0.1, 0.4, 0.9]))
    >>> roc({"SPAM": roc_curve(case)}, "yes").data[0].y
    (0.0, 0.5, 1.0, 1.0)
    """
    figure = go.Figure()
    x, y = "false positive rate", "true positive rate"
    for name, curve in curves.items():
        figure.add_scatter(
            x=curve.false_positive.tolist(),
            y=curve.true_positive.tolist(),
            customdata=[[finite(value)] for value in curve.threshold.tolist()],
            mode="lines",
            name=theme.literal(f"{name}, area {theme.number(curve.auc)}"),
            line=_line(name, curves, names),
            hovertemplate=f"{x} %{{x:.3f}}<br>{y} %{{y:.3f}}<br>threshold "
            f"%{{customdata[0]:.3f}}<extra>{theme.literal(name)}</extra>",
            meta={
                "columns": {
                    "model": f"={name}",
                    x: "x",
                    y: "y",
                    "threshold": "customdata[0]",
                }
            },
        )
    reference(figure, [0.0, 1.0], [0.0, 1.0], "guessing, area 0.5")
    figure.update_xaxes(title=f"{x}: others taken for the class", **SHARES)
    figure.update_yaxes(title=f"{y}: of the class, found", **SHARES)
    areas = ", ".join(f"{n} {theme.number(c.auc)}" for n, c in curves.items())
    return theme.finish(
        figure,
        title=theme.literal(f"ROC: {class_}"),
        alt=f"ROC curves of {class_} against the rest. Area under the curve: {areas}.",
        height=HEIGHT,
        legend={
            **_INSIDE,
            "x": 0.98,
            "y": 0.03,
            "xanchor": "right",
            "yanchor": "bottom",
        },
    )


def precision_recall(
    curves: Mapping[str, PrecisionRecallCurve],
    class_: str,
    *,
    names: Sequence[str] | None = None,
) -> go.Figure:
    """Draw the precision-recall curves of one or several models.

    Parameters
    ----------
    curves : mapping of name to PrecisionRecallCurve
    class_, names : see `roc`

    Returns
    -------
    plotly.graph_objects.Figure
        With the share of the class as a line, which is what guessing reaches.

    Examples
    --------
    >>> import numpy as np
    >>> from spam_core.evaluation import OneAgainstRest, precision_recall_curve
    >>> truth = np.array([False, True, True])
    >>> case = OneAgainstRest("yes", "no", truth, np.array([0.1, 0.4, 0.9]))
    >>> figure = precision_recall({"SPAM": precision_recall_curve(case)}, "yes")
    >>> figure.data[-1].name
    'guessing, precision 0.6667'
    """
    figure = go.Figure()
    for name, curve in curves.items():
        figure.add_scatter(
            x=curve.recall.tolist(),
            y=curve.precision.tolist(),
            customdata=[[finite(value)] for value in curve.threshold.tolist()],
            mode="lines",
            # a step: between two points no other precision can be had
            line={**_line(name, curves, names), "shape": "hv"},
            name=theme.literal(
                f"{name}, average {theme.number(curve.average_precision)}"
            ),
            hovertemplate="recall %{x:.3f}<br>precision %{y:.3f}<br>threshold "
            f"%{{customdata[0]:.3f}}<extra>{theme.literal(name)}</extra>",
            meta={
                "columns": {
                    "model": f"={name}",
                    "recall": "x",
                    "precision": "y",
                    "threshold": "customdata[0]",
                }
            },
        )
    prevalence = next(iter(curves.values())).prevalence
    reference(
        figure,
        [0.0, 1.0],
        [prevalence] * 2,
        f"guessing, precision {theme.number(prevalence)}",
    )
    figure.update_xaxes(title="recall: of the class, found", **SHARES)
    figure.update_yaxes(title="precision: of those taken for it, right", **SHARES)
    averages = ", ".join(
        f"{n} {theme.number(c.average_precision)}" for n, c in curves.items()
    )
    # where the curves leave room: under them if the class is common
    low = prevalence > 0.3
    return theme.finish(
        figure,
        title=theme.literal(f"Precision and recall: {class_}"),
        alt=f"Precision against recall of {class_}. Average precision: {averages}; "
        f"guessing {theme.number(prevalence)}.",
        height=HEIGHT,
        legend={
            **_INSIDE,
            "x": 0.02 if low else 0.98,
            "y": 0.03 if low else 0.98,
            "xanchor": "left" if low else "right",
            "yanchor": "bottom" if low else "top",
        },
    )


def _line(
    name: str, curves: Mapping[str, Any], names: Sequence[str] | None
) -> dict[str, Any]:
    k = list(names or curves).index(name)
    return {
        "color": theme.COLOURS[k % len(theme.COLOURS)],
        "dash": theme.DASHES[k % len(theme.DASHES)],
        "width": 2,
    }


def reference(
    figure: go.Figure, x: Sequence[float], y: Sequence[float], name: str
) -> None:
    """Add a dotted line that curves are compared with."""
    figure.add_scatter(
        x=list(x),
        y=list(y),
        mode="lines",
        name=name,
        line={"color": theme.NEUTRAL, "dash": "dot", "width": 1.5},
        hoverinfo="skip",
    )
