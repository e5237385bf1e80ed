"""Shape of one feature: what each of its values adds to the score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go

from spam_core.plots import shape_levels, shape_numeric, theme
from spam_core.plots.shape_lines import Shape, describe, make_lines
from spam_core.plots.values import scale_name

if TYPE_CHECKING:
    from spam_core.explain.explanation import Curve, GlobalExplanation


def shape(
    explanation: GlobalExplanation | Curve,
    feature: str | int | None = None,
    *,
    class_: object = None,
    scale: str | None = None,
    classes: Sequence[Any] | None = None,
    title: str | None = None,
) -> go.Figure:
    """Draw the shape function of one feature, with its band and its density.

    A numeric feature is a curve over its bulk; missing values, special codes and
    values never seen in training stand beside it as points of their own. A
    categorical one is a bar per level, in the order given.

    Parameters
    ----------
    explanation : GlobalExplanation or Curve
        What to draw; a Curve is what ``GlobalExplanation.curve`` returns.
    feature : str or int, optional
        Column to draw. With a Curve: the name to print.
    class_ : object, optional
        Class to draw where a model has several; None draws a line for each.
    scale : str, optional
        Name of the scale of the contributions; taken from a GlobalExplanation.
    classes : sequence, optional
        Class labels; taken from a GlobalExplanation.
    title : str, optional
        Title; by default the name of the feature.

    Returns
    -------
    plotly.graph_objects.Figure
        The x axis is in user units, the y axis on the named scale.

    Raises
    ------
    ValueError
        If `class_` is not a class of the model, or is needed to choose among
        more than eight.

    Examples
    --------
    >>> import numpy as np
    >>> from types import SimpleNamespace
    >>> curve = SimpleNamespace(
    ...     x=np.array([1.0, 2.0]),
    ...     y=np.array([-0.5, 0.5]),
    ...     lower=None,
    ...     upper=None,
    ...     density=None,
    ...     missing={"missing": (0.1, 0.0, 0.2)},
    ...     unseen=0.0,
    ... )
    >>> figure = shape(curve, "age", scale="logit of yes")
    >>> figure.layout.yaxis.title.text
    'adds to the logit of yes'
    >>> figure.data[0].y.tolist(), figure.data[1].x
    ([-0.5, 0.5], ('missing', 'never seen'))
    """
    curve: Any = explanation
    if hasattr(curve, "curve"):
        if feature is None:
            raise ValueError("feature must name a column, got None")
        whole, curve = curve, curve.curve(feature)
        scale = whole.scale if scale is None else scale
        classes = whole.classes if classes is None else classes
        names = getattr(whole, "feature_names", None)
        if isinstance(feature, int) and names is not None:
            feature = str(names[feature])
    lines = make_lines(curve, classes, class_)
    what = Shape(
        curve=curve,
        name=str(getattr(curve, "name", "feature") if feature is None else feature),
        label=scale_name(scale, lines[0].class_name if len(lines) == 1 else None),
        lines=lines,
        banded=curve.lower is not None and curve.upper is not None,
    )
    x = np.asarray(curve.x)
    if len(x) == 0:
        figure, note = _flat(what), ""
    elif x.dtype.kind in "fiuM":
        figure, note = shape_numeric.draw(what)
    else:
        figure, note = shape_levels.draw(what)
    figure.update_yaxes(
        title=f"adds to {theme.literal(what.label)}",
        zeroline=True,
        selector={"anchor": "x"},
    )
    return theme.finish(
        figure,
        title=theme.literal(theme.shorten([what.name], 60)[0])
        if title is None
        else theme.literal(title),
        alt=describe(what, note),
        note=note,
        height=440,
        showlegend=len(lines) > 1,
        bargap=0.2,
    )


def _flat(what: Shape) -> go.Figure:
    figure = go.Figure()
    figure.add_annotation(
        text="constant in training: it adds 0 everywhere",
        xref="paper",
        yref="paper",
        x=0.5,
        y=0.5,
        showarrow=False,
    )
    figure.update_xaxes(title=what.shown, showticklabels=False)
    return figure
