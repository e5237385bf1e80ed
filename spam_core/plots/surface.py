"""Surface of a pair of features: what their combination adds beyond each alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go

from spam_core.plots import theme
from spam_core.plots.values import Floats, pick_class, scale_name

if TYPE_CHECKING:
    from spam_core.explain.explanation import GlobalExplanation, Surface

# Many levels need a column of their own; a row of them would cover the picture.
_LEGEND_RIGHT: dict[str, Any] = {
    "legend_orientation": "v",
    "legend_x": 1.02,
    "legend_xanchor": "left",
    "legend_y": 1.0,
    "legend_yanchor": "top",
}
_MANY_CELLS = 150  # a grid with more cells prints no numbers in them


def surface(
    explanation: GlobalExplanation | Surface,
    first: str | int | None = None,
    second: str | int | None = None,
    *,
    class_: object = None,
    scale: str | None = None,
    classes: Sequence[Any] | None = None,
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
    pair: Any = explanation
    if hasattr(explanation, "surface"):
        if first is None or second is None:
            raise ValueError(f"two columns are needed, got {first!r} and {second!r}")
        pair = explanation.surface(first, second)
        scale = explanation.scale if scale is None else scale
        classes = explanation.classes if classes is None else classes
        names = getattr(explanation, "feature_names", None)
        if names is not None:
            first, second = (
                str(names[k]) if isinstance(k, int) else k for k in (first, second)
            )
    z, class_name = pick_class(pair.z, 2, classes, class_)
    label = scale_name(scale, class_name)
    names_ = (str(first), str(second))
    numeric = (_is_number(pair.x), _is_number(pair.y))
    if all(numeric):
        figure = _map(pair, z, names_, label)
    elif any(numeric):
        figure = _lines(pair, z, names_, label, classes, class_, flip=numeric[1])
    else:
        figure = _grid(pair, z, names_, label)
    shown = theme.shorten(names_, 40)
    return theme.finish(
        figure,
        title=theme.literal(" × ".join(shown) if title is None else title),
        alt=_alt(pair, z, names_, label),
        height=480,
        **_LEGEND_RIGHT,
    )


def _is_number(axis: Any) -> bool:
    return np.asarray(axis).dtype.kind in "fiuM"


def _shown(name: str) -> str:
    return theme.literal(theme.shorten([name], 40)[0])


def _columns(names: tuple[str, str], label: str) -> dict[str, str]:
    second = names[1] if names[1] != names[0] else f"{names[1]} (2)"
    return {names[0]: "x", second: "y", f"adds to the {label}": "z"}


def _colour_bar(label: str) -> dict[str, Any]:
    text = theme.literal(f"adds to the {label}")
    return {"title": {"text": text, "side": "right"}, "thickness": 14}


def _map(pair: Any, z: Floats, names: tuple[str, str], label: str) -> go.Figure:
    figure = go.Figure()
    shown = z if pair.support is None else np.where(pair.support, z, np.nan)
    x, y = _shown(names[0]), _shown(names[1])
    figure.add_heatmap(
        x=np.asarray(pair.x),
        y=np.asarray(pair.y),
        z=shown.T,
        hoverongaps=False,
        colorbar=_colour_bar(label),
        hovertemplate=(
            f"{x} = %{{x}}<br>{y} = %{{y}}<br>adds %{{z:+.4g}}<extra></extra>"
        ),
        meta={"columns": _columns(names, label)},
        **theme.signed_scale(shown.ravel()),
    )
    figure.update_xaxes(title=x, showgrid=False, zeroline=False)
    figure.update_yaxes(title=y, showgrid=False, zeroline=False)
    return figure


def _lines(
    pair: Any,
    z: Floats,
    names: tuple[str, str],
    label: str,
    classes: Sequence[Any] | None,
    class_: object,
    *,
    flip: bool,
) -> go.Figure:
    """Draw one line per level; `flip` where the numeric feature is the second."""
    edges = [
        None if edge is None else pick_class(edge, 2, classes, class_)[0]
        for edge in (pair.lower, pair.upper)
    ]
    numbers, levels = (pair.y, pair.x) if flip else (pair.x, pair.y)
    number_name, level_name = names[::-1] if flip else names
    rows = [z if flip else z.T]
    rows += [edge if flip else edge.T for edge in edges if edge is not None]
    support = pair.support
    if support is not None:
        support = np.asarray(support) if flip else np.asarray(support).T
    figure = go.Figure()
    texts = [str(level) for level in levels]
    short = theme.labels(texts, 24)
    number_shown = _shown(number_name)
    for k, (level, name) in enumerate(zip(texts, short, strict=True)):
        values = rows[0][k]
        edge_rows = [row[k] for row in rows[1:]]
        if support is not None:
            values = np.where(support[k], values, np.nan)
        columns = {
            number_name: "x",
            level_name: f"={level}",
            f"adds to the {label}": "y",
        }
        banded = len(edge_rows) == 2
        if banded:
            columns |= {
                "lowest member": "customdata[0]",
                "highest member": "customdata[1]",
            }
        figure.add_scatter(
            x=np.asarray(numbers),
            y=values,
            customdata=np.stack(edge_rows, axis=1) if banded else None,
            name=name,
            mode="lines+markers" if len(numbers) <= 12 else "lines",
            line={
                "color": theme.QUALITATIVE[k % len(theme.QUALITATIVE)],
                "dash": theme.DASHES[k // len(theme.QUALITATIVE) % len(theme.DASHES)],
            },
            hovertemplate=(
                f"{number_shown} = %{{x}}<br>{_shown(level_name)}:"
                f" {theme.literal(level)}<br>adds %{{y:+.4g}}<extra></extra>"
            ),
            meta={"columns": columns},
        )
    figure.update_xaxes(title=number_shown)
    figure.update_yaxes(title=theme.literal(f"adds to the {label}"), zeroline=True)
    figure.update_layout(showlegend=True, legend_title_text=_shown(level_name))
    return figure


def _grid(pair: Any, z: Floats, names: tuple[str, str], label: str) -> go.Figure:
    x_levels = [str(level) for level in pair.x]
    y_levels = [str(level) for level in pair.y]
    x, y = theme.labels(x_levels, 18), theme.labels(y_levels, 18)
    shown = z if pair.support is None else np.where(pair.support, z, np.nan)
    columns = dict(
        zip(
            _columns(names, label),
            ("customdata[0]", "customdata[1]", "z"),
            strict=True,
        )
    )
    figure = go.Figure()
    figure.add_heatmap(
        x=x,
        y=y,
        z=shown.T,
        customdata=[
            [[theme.literal(a), theme.literal(b)] for a in x_levels] for b in y_levels
        ],
        hoverongaps=False,
        xgap=1,
        ygap=1,
        texttemplate="%{z:+.2g}" if z.size <= _MANY_CELLS else None,
        colorbar=_colour_bar(label),
        hovertemplate=(
            f"{_shown(names[0])}: %{{customdata[0]}}<br>{_shown(names[1])}:"
            " %{customdata[1]}<br>adds %{z:+.4g}<extra></extra>"
        ),
        meta={"columns": columns},
        **theme.signed_scale(shown.ravel()),
    )
    for update, axis, name in (
        (figure.update_xaxes, x, names[0]),
        (figure.update_yaxes, y, names[1]),
    ):
        update(
            type="category",
            categoryorder="array",
            categoryarray=axis,
            title=_shown(name),
            showgrid=False,
        )
    return figure


def _alt(pair: Any, z: Floats, names: tuple[str, str], label: str) -> str:
    shown = z if pair.support is None else np.where(pair.support, z, np.nan)
    what = f"What {names[0]} and {names[1]} add together to the {label}"
    if not np.isfinite(shown).any():
        return f"{what}: nothing to show, no training rows have both."
    low, high = float(np.nanmin(shown)), float(np.nanmax(shown))
    text = (
        f"{what}, beyond each alone: from {theme.number(low, True)}"
        f" to {theme.number(high, True)}."
    )
    if pair.support is not None and not np.asarray(pair.support).all():
        text += " Blank where there are no training rows."
    return text
