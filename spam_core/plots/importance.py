"""Ranked importance of terms: the largest, and what the rest adds up to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from spam_core.plots import theme
from spam_core.plots.named_bars import named_bars
from spam_core.plots.values import scale_name, sizes, term_label

if TYPE_CHECKING:
    from spam_core.explain.explanation import GlobalExplanation


def importance(
    explanation: GlobalExplanation,
    E: int = 10,
    *,
    class_: object = None,
    measure: str = "importance",
    title: str | None = None,
) -> go.Figure:
    """Draw the `E` largest terms as bars, the largest on top.

    Parameters
    ----------
    explanation : GlobalExplanation
        Terms and their sizes.
    E : int, default=10
        How many terms to show; the others are one last bar, the sum of their sizes.
    class_ : object, optional
        Class whose sizes to draw; None means the mean over classes.
    measure : {"importance", "sd"}, default="importance"
        Mean absolute contribution over the training rows, or standard deviation
        under the product of the training marginals.
    title : str, optional
        Title; by default it says what is shown.

    Returns
    -------
    plotly.graph_objects.Figure
        As tall as its bars need.

    Raises
    ------
    ValueError
        If `E` is less than 1, or `measure` or `class_` is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from types import SimpleNamespace
    >>> terms = SimpleNamespace(
    ...     terms=[("a",), ("b",), ("a", "b")],
    ...     importance=np.array([0.5, 2.0, 1.0]),
    ...     scale="price",
    ...     classes=None,
    ... )
    >>> figure = importance(terms, E=2)
    >>> figure.data[0].y, figure.data[0].x
    (('b', 'a × b', 'the other 1 term'), (2.0, 1.0, 0.5))
    """
    if E < 1:
        raise ValueError(f"E must be at least 1, got {E}")
    values, class_name = sizes(explanation, measure, class_)
    label = scale_name(explanation.scale, class_name)
    order = np.argsort(-values, kind="stable")
    names = [term_label(explanation.terms[k]) for k in order[:E]]
    shown = values[order[:E]].tolist()
    rest = values[order[E:]]
    if len(rest):
        names.append(f"the other {len(rest):,} term{'' if len(rest) == 1 else 's'}")
        shown.append(float(rest.sum()))
    what = (
        "mean absolute contribution"
        if measure == "importance"
        else "standard deviation of the contribution"
    )
    colours = [theme.NEGATIVE] * len(names)
    if len(rest):
        colours[-1] = theme.NEUTRAL
    leading = ", ".join(
        f"{name} {theme.number(value)}"
        for name, value in list(zip(names, shown, strict=True))[:3]
    )
    return named_bars(
        names,
        shown,
        # rounding noise beside a large term is no number to print
        texts=[theme.number(v if v > 1e-6 * max(shown) else 0.0) for v in shown],
        hover=f"%{{customdata}}<br>{what}: %{{x:.4g}}",
        columns={"term": "customdata", f"{what} to {label}": "x"},
        axis=f"{what} to {label}",
        title="Largest terms" if title is None else title,
        alt=f"Terms ranked by {what} to {label}: {leading}.",
        colours=colours,
    )
