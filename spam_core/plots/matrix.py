"""Interaction matrix: how much every pair of features contributes together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from spam_core.plots import theme
from spam_core.plots.values import scale_name, sizes

if TYPE_CHECKING:
    from spam_core.explain.explanation import GlobalExplanation

_MANY_FEATURES = 40  # beyond this plotly chooses which names to print


def matrix(
    explanation: GlobalExplanation,
    *,
    class_: object = None,
    measure: str = "importance",
    features: list[str] | None = None,
    diagonal: bool = False,
    clickable: bool = False,
    title: str | None = None,
) -> go.Figure:
    """Draw the size of every pair term as a d x d map.

    Parameters
    ----------
    explanation : GlobalExplanation
        Terms and their sizes.
    class_ : object, optional
        Class whose sizes to draw; None means the mean over classes.
    measure : {"importance", "sd"}, default="importance"
        Mean absolute contribution over the training rows, or standard deviation
        under the product of the training marginals.
    features : list of str, optional
        Columns to draw, in this order; by default all that terms name, in the order
        of training.
    diagonal : bool, default=False
        Show each feature's own term on the diagonal. These are usually far larger
        than any pair and would take most of the colour scale.
    clickable : bool, default=False
        Lay an invisible marker over every cell, with both names as its custom data:
        plotly can't select the cells of a map. Left out beyond 40 features.
    title : str, optional
        Title; by default it says what is shown.

    Returns
    -------
    plotly.graph_objects.Figure
        Symmetric. The colours reach at least to a hundredth of the largest term, so
        that pairs that don't matter look pale. Blank where a term is not among those
        of `explanation`.

    Raises
    ------
    ValueError
        If a feature, `measure` or `class_` is unknown.

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
    >>> np.asarray(matrix(terms).data[0].z)
    array([[nan,  1.],
           [ 1., nan]])
    """
    values, class_name = sizes(explanation, measure, class_)
    label = scale_name(explanation.scale, class_name)
    known = _features(explanation)
    order = known if features is None else [str(name) for name in features]
    unknown = [name for name in order if name not in set(known)]
    if unknown:
        raise ValueError(f"features must be among {known!r}, got {unknown!r}")
    place = {name: k for k, name in enumerate(order)}
    z = np.full((len(order), len(order)), np.nan)
    for term, value in zip(explanation.terms, values, strict=True):
        if len(term) == 2 and term[0] in place and term[1] in place:
            a, b = place[term[0]], place[term[1]]
            z[a, b] = z[b, a] = value
        elif diagonal and len(term) == 1 and term[0] in place:
            z[place[term[0]], place[term[0]]] = value
    what = (
        "mean absolute contribution"
        if measure == "importance"
        else "standard deviation of the contribution"
    )
    axis = theme.labels(order, 24)
    full = [theme.literal(name) for name in order]
    figure = go.Figure()
    figure.add_heatmap(
        x=axis,
        y=axis,
        z=z,
        customdata=[[[a, b] for a in full] for b in full],
        hoverongaps=False,
        xgap=1 if len(order) <= _MANY_FEATURES else 0,
        ygap=1 if len(order) <= _MANY_FEATURES else 0,
        colorbar={"thickness": 14, **theme.NUMBERS},
        hovertemplate=(
            "%{customdata[1]} × %{customdata[0]}<br>"
            f"{what}: %{{z:.4g}}<extra></extra>"
        ),
        meta={
            "columns": {
                "feature": "customdata[1]",
                "with": "customdata[0]",
                f"{what} to {label}": "z",
            }
        },
        **theme.size_scale([*z.ravel(), values.max(initial=0.0) / 100]),
    )
    few = len(order) <= _MANY_FEATURES
    if clickable and few:
        _add_markers(figure, axis, full, z, what)
    settings = {
        "type": "category",
        "categoryorder": "array",
        "categoryarray": axis,
        "showgrid": False,
        "dtick": 1 if few else None,
    }
    # given, because room for the markers would be added to the range otherwise
    ends = [-0.5, len(order) - 0.5]
    figure.update_xaxes(**settings, tickangle=-45, range=ends)
    figure.update_yaxes(**settings, range=ends[::-1])
    return theme.finish(
        figure,
        title=theme.literal("Interactions" if title is None else title),
        alt=_alt(order, z, what, label),
        note=theme.literal(f"Colour: {what} to {label}"),
        height=int(np.clip(200 + 22 * len(order), 380, 900)),
    )


def _add_markers(
    figure: go.Figure, axis: list[str], full: list[str], z: np.ndarray, what: str
) -> None:
    rows, columns = np.nonzero(np.isfinite(z))
    figure.add_scatter(
        x=[axis[k] for k in columns],
        y=[axis[k] for k in rows],
        customdata=[
            [full[a], full[b], float(z[a, b])]
            for a, b in zip(rows, columns, strict=True)
        ],
        mode="markers",
        marker={"symbol": "square", "size": 26, "opacity": 0, "color": theme.NEUTRAL},
        selected={"marker": {"opacity": 0}},
        unselected={"marker": {"opacity": 0}},
        showlegend=False,
        hovertemplate=(
            "%{customdata[0]} × %{customdata[1]}<br>"
            f"{what}: %{{customdata[2]:.4g}}<extra></extra>"
        ),
    )
    figure.update_layout(clickmode="event+select", dragmode=False)


def _features(explanation: GlobalExplanation) -> list[str]:
    names = getattr(explanation, "feature_names", None)
    if names is not None:
        return [str(name) for name in names]
    seen: dict[str, None] = {}
    for term in explanation.terms:
        if term != ("…",):
            seen.update(dict.fromkeys(str(name) for name in term))
    return list(seen)


def _alt(order: list[str], z: np.ndarray, what: str, label: str) -> str:
    pairs = np.where(np.triu(np.ones(z.shape, dtype=bool), 1), z, np.nan)
    head = f"{what[0].upper()}{what[1:]} of every pair of {len(order)} features"
    head = f"{head} to {label}"
    if not np.isfinite(pairs).any():
        return f"{head}: the model has no pair terms."
    a, b = np.unravel_index(int(np.nanargmax(pairs)), z.shape)
    return (
        f"{head}. Largest: {order[a]} × {order[b]}, {theme.number(float(pairs[a, b]))}."
    )
