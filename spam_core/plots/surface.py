"""Surface of a pair of features: what their combination adds beyond each alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go

from spam_core.plots import theme
from spam_core.plots.surface_lines import LEGEND, draw_lines
from spam_core.plots.surface_maps import draw_grid, draw_map
from spam_core.plots.surface_parts import Pair, is_number
from spam_core.plots.values import Window, opening, pick_class, scale_name

if TYPE_CHECKING:
    from spam_core.explain.explanation import GlobalExplanation, Surface


def surface(
    explanation: GlobalExplanation | Surface,
    first: str | int | None = None,
    second: str | int | None = None,
    *,
    class_: object = None,
    scale: str | None = None,
    classes: Sequence[Any] | None = None,
    bulk: tuple[Window | None, Window | None] = (None, None),
    largest: float = 0.0,
    title: str | None = None,
) -> go.Figure:
    """Draw the pair term of two features.

    Two numeric features are a map, blank where there are no training rows; a
    categorical and a numeric one are one line per level; two categorical ones are
    a grid with a cell for every pair of levels.

    Parameters
    ----------
    explanation : GlobalExplanation or Surface
        What to draw; a Surface is what ``GlobalExplanation.surface`` returns.
    first, second : str or int
        The columns. With a Surface: the names to print.
    class_ : object, optional
        Class to draw; needed where a model has several.
    scale : str, optional
        Name of the scale of the contributions; taken from a GlobalExplanation.
    classes : sequence, optional
        Class labels; taken from a GlobalExplanation.
    bulk : (x, y), default=(None, None)
        Where numeric axes open, each a pair of ends or None for all: the ``bulk`` of
        the two curves. Taken from a GlobalExplanation.
    largest : float, default=0.0
        Size of the model's largest term. The scale reaches at least to a hundredth of
        it, so that a pair that doesn't matter looks flat. Taken from a
        GlobalExplanation.
    title : str, optional
        Title; by default both names.

    Returns
    -------
    plotly.graph_objects.Figure
        Signed colours are centred on 0.

    Raises
    ------
    ValueError
        If `class_` is missing or not a class of the model.

    Examples
    --------
    >>> import numpy as np
    >>> from types import SimpleNamespace
    >>> pair = SimpleNamespace(
    ...     x=np.array([1.0, 2.0]),
    ...     y=np.array(["1", "10"], dtype=object),
    ...     z=np.array([[0.5, -0.5], [0.1, -0.1]]),
    ...     lower=None,
    ...     upper=None,
    ...     support=None,
    ...     x_kind="numeric",
    ...     y_kind="categorical",
    ... )
    >>> figure = surface(pair, "age", "grade", scale="logit of yes")
    >>> [trace.name for trace in figure.data]
    ['1', '10']
    """
    value: Any = explanation
    if hasattr(value, "surface"):
        if first is None or second is None:
            raise ValueError(f"two columns are needed, got {first!r} and {second!r}")
        whole, value = value, value.surface(first, second)
        if hasattr(whole, "curve") and bulk == (None, None):
            bulk = whole.curve(first).bulk, whole.curve(second).bulk
        largest = max(largest, float(np.max(whole.importance, initial=0.0)))
        scale = whole.scale if scale is None else scale
        classes = whole.classes if classes is None else classes
        known = getattr(whole, "feature_names", None)
        if known is not None:
            first, second = (
                str(known[k]) if isinstance(k, int) else k for k in (first, second)
            )
    elif first is None or second is None:
        first, second = value.names
    z, class_name = pick_class(value.z, 2, classes, class_)
    lower, upper = (
        None if edge is None else pick_class(edge, 2, classes, class_)[0]
        for edge in (value.lower, value.upper)
    )
    beside = [
        {
            str(level): pick_class(part, 1, classes, class_)[0]
            for level, part in getattr(value, name, {}).items()
        }
        for name in ("missing_x", "missing_y")
    ]
    pair = Pair(
        names=(str(first), str(second)),
        label=scale_name(scale, class_name),
        x=value.x,
        y=value.y,
        z=z if value.support is None else np.where(value.support, z, np.nan),
        lower=lower,
        upper=upper,
        missing_x=beside[0],
        missing_y=beside[1],
        floor=largest / 100,
        window_x=opening(value.x, bulk[0]),
        window_y=opening(value.y, bulk[1]),
    )
    numeric = is_number(pair.x), is_number(pair.y)
    layout: dict[str, Any] = {}
    if all(numeric):
        figure = draw_map(pair)
    elif any(numeric):
        figure, layout = draw_lines(pair), LEGEND
    else:
        figure = draw_grid(pair)
    shown = " × ".join(theme.shorten(pair.names, 40)) if title is None else title
    return theme.finish(
        figure, title=theme.literal(shown), alt=_alt(pair), height=480, **layout
    )


def _alt(pair: Pair) -> str:
    first, second = pair.names
    what = f"What {first} and {second} add together to {pair.label}"
    if not np.isfinite(pair.z).any():
        return f"{what}: nothing to show, no training rows have both."
    low, high = float(np.nanmin(pair.z)), float(np.nanmax(pair.z))
    text = (
        f"{what}, beyond each alone: from {theme.number(low, True)}"
        f" to {theme.number(high, True)}."
    )
    if not np.isfinite(pair.z).all():
        text += " Blank where there are no training rows."
    return text
