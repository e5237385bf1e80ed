"""Explanations of one row side by side: same lines, same axis, same colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from spam_core.plots import theme
from spam_core.plots.values import the

if TYPE_CHECKING:
    from spam_core.explain.explanation import LocalExplanation

Order = Literal["shared", "own"]
ORDERS: tuple[Order, ...] = ("shared", "own")

_COLUMNS = ("kind", "term", "value", "contribution")
_PATTERNS = ("", "/", "x", "-", ".")
_OTHERS, _REST = "all others", "not explained"
_TITLE_LINE = 17  # pixels


@dataclass(frozen=True)
class _Panel:
    """One explanation: its lines by size, and what is printed over it."""

    title: str
    lines: tuple[tuple[str, str, float], ...]  # term, value, contribution
    hidden: tuple[str, float] | None  # terms that were not listed to begin with
    rest: float | None  # what a local model lacks to the score
    base: float
    score: float
    scale: str
    notes: tuple[str, ...]


def comparison(
    explanations: Sequence[tuple[str, pd.DataFrame | LocalExplanation]],
    E: int = 7,
    *,
    row: int = 0,
    unit: Literal["feature", "term"] = "feature",
    class_: object = None,
    scale: str | None = None,
    order: Order = "shared",
    notes: Sequence[Sequence[str]] | None = None,
    title: str | None = None,
) -> go.Figure:
    """Draw several explanations of one row side by side, on one axis.

    Parameters
    ----------
    explanations : sequence of (str, LocalExplanation or DataFrame)
        Title and explanation of each panel. A frame is what
        ``LocalExplanation.ledger`` returns, with all its terms listed.
    E : int, default=7
        Explanation length: lines of each panel; the others make one line more.
    row, unit, class_
        As `LocalExplanation.ledger` takes them; frames have made that choice.
    scale : str, optional
        Name of the scale that all share; by default that of the first.
    order : {"shared", "own"}, default="shared"
        The E largest of the first panel in every panel, or of each its own. A term
        has one colour everywhere in either case.
    notes : sequence of sequence of str, optional
        For each panel, further lines under its title. Base and score are printed
        always; time, evaluations and local fit for explanations, which know them.
    title : str, optional

    Returns
    -------
    plotly.graph_objects.Figure
        One bar trace a panel; bars of a panel and its base add up to its score.

    Raises
    ------
    ValueError
        If there is nothing to compare, a frame isn't a ledger, E < 1, or `order` or
        `notes` doesn't fit.

    Examples
    --------
    >>> import pandas as pd
    >>> def frame(*amounts):
    ...     terms = ["age", "town", "base", "score"]
    ...     kinds = ["term", "term", "base", "score"]
    ...     parts = {"kind": kinds, "term": terms, "value": ["41", "B", "", ""]}
    ...     return pd.DataFrame(
    ...         parts | {"contribution": [*amounts, 1, 1 + sum(amounts)]}
    ...     )
    >>> figure = comparison([("exact", frame(1, -2)), ("LIME", frame(1.5, -2.5))], E=1)
    >>> [trace.y for trace in figure.data]
    [('town = B', 'all others'), ('town = B', 'all others')]
    >>> [trace.x for trace in figure.data]
    [(-2.0, 1.0), (-2.5, 1.5)]
    """
    if not explanations:
        raise ValueError("there must be at least one explanation to draw")
    if E < 1:
        raise ValueError(f"E must be at least 1, got {E}")
    if order not in ORDERS:
        raise ValueError(f"order must be one of {list(ORDERS)}, got {order!r}")
    if notes is not None and len(notes) != len(explanations):
        raise ValueError(
            f"notes must be one sequence a panel, got {len(notes)} for "
            f"{len(explanations)} panels"
        )
    panels = [
        _panel(name, value, row, unit, class_, () if notes is None else notes[k])
        for k, (name, value) in enumerate(explanations)
    ]
    scale = panels[0].scale if scale is None else scale
    # what the first panel doesn't have comes after what it has
    known = dict.fromkeys(line[0] for p in panels for line in p.lines)
    style = {name: k for k, name in enumerate(known)}
    leaders = panels[:1] * len(panels) if order == "shared" else panels
    drawn = [
        _bars(panel, [line[0] for line in leader.lines[:E]])
        for panel, leader in zip(panels, leaders, strict=True)
    ]
    n_lines = max(2 + len(p.notes) for p in panels)
    figure = make_subplots(
        rows=1,
        cols=len(panels),
        shared_yaxes=order == "shared",
        shared_xaxes=False,
        horizontal_spacing=(0.03 if order == "shared" else 0.15),
        x_title=theme.literal(f"contribution to {the(scale)}"),
        subplot_titles=[_heading(p, n_lines) for p in panels],
    )
    _add_bars(figure, panels, drawn, style, scale, order)
    # numbers stand beside the bars, and take more of a narrow panel
    room = 1.3 + 0.15 * len(panels)
    end = room * theme.limit(bar[2] for bars in drawn for bar in bars)
    figure.update_xaxes(range=[-end, end], zeroline=True, zerolinewidth=2, nticks=5)
    figure.update_annotations(font={"size": 13}, yanchor="bottom")
    # the name of the common axis is an annotation as well, made before the titles
    figure.layout.annotations[-1].update(yanchor="top", yshift=-26)
    text = f"Contributions to {the(scale)} by {len(panels)} explanations of one row. "
    return theme.finish(
        figure,
        title=theme.literal("The same case, side by side" if title is None else title),
        alt=text + " ".join(_words(p, b) for p, b in zip(panels, drawn, strict=True)),
        height=130
        + _TITLE_LINE * n_lines
        + theme.BAR_HEIGHT * max(len(bars) for bars in drawn),
        showlegend=False,
        margin={"l": 10, "r": 10, "t": 52 + _TITLE_LINE * n_lines, "b": 54},
    )


def _panel(
    title: str,
    value: Any,
    row: int,
    unit: Literal["feature", "term"],
    class_: object,
    notes: Sequence[str],
) -> _Panel:
    if isinstance(value, pd.DataFrame):
        frame = value
    else:
        every = max(len(value.terms), value.data.shape[1])
        frame = value.ledger(row, E=every, unit=unit, class_=class_)
        notes = (*notes, *_facts(value, row, class_))
    lacking = [column for column in _COLUMNS if column not in frame]
    if lacking:
        raise ValueError(f"the ledger lacks {lacking}, it has {list(frame)}")
    kinds = list(frame["kind"])
    if kinds[-2:] != ["base", "score"]:
        raise ValueError(f"the ledger must end with base and score, got {kinds[-2:]}")
    amounts = [float(amount) for amount in frame["contribution"]]
    names, cells = map(str, frame["term"]), map(str, frame["value"])
    lines = list(zip(kinds, names, cells, amounts, strict=True))
    terms = [line[1:] for line in lines if line[0] == "term"]
    hidden = [(name, amount) for kind, name, _, amount in lines if kind == "other"]
    rest = [(name, amount) for kind, name, _, amount in lines if kind == "rest"]
    return _Panel(
        title,
        tuple(sorted(terms, key=lambda line: -abs(line[2]))),
        hidden[0] if hidden else None,
        rest[0][1] if rest else None,
        amounts[-2],
        amounts[-1],
        str(frame.attrs.get("scale", "score")),
        tuple(notes),
    )


def _facts(value: Any, row: int, class_: object) -> tuple[str, ...]:
    """Say what an explanation knows of itself."""
    asked = int(value.n_evaluations)
    cost = f"{_duration(value.seconds)}, {asked:,} model evaluation"
    facts = [cost + ("" if asked == 1 else "s")]
    if value.local_fit is not None:
        fit = value.local_fit[row]
        if getattr(fit, "ndim", 0):
            labels = list(value.classes or ())
            # without a class the ledger shows the likeliest one
            fit = fit[
                int(value.score[row].argmax())
                if class_ is None
                else theme.class_index(labels, class_)
            ]
        facts.append(f"local fit R² {float(fit):.2f}")
    return tuple(facts)


def _duration(seconds: float) -> str:
    """Write a time; what is shorter than a hundredth isn't worth its digits."""
    if seconds < 0.01:
        return "under 0.01 s"
    return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.0f} s"


def _bars(panel: _Panel, names: Sequence[str]) -> list[tuple[str, str, float]]:
    """Lines to draw: those named, what is left, and what isn't explained."""
    amounts = {line[0]: line for line in panel.lines}
    bars = [amounts[name] for name in names if name in amounts]
    left = [line for line in panel.lines if line[0] not in set(names)]
    if left or panel.hidden:
        total = sum(line[2] for line in left)
        if panel.hidden:
            total += panel.hidden[1]
        bars.append((_OTHERS, "", total))
    if panel.rest is not None:
        bars.append((_REST, "", panel.rest))
    return bars


def _add_bars(
    figure: go.Figure,
    panels: Sequence[_Panel],
    drawn: Sequence[list[tuple[str, str, float]]],
    style: dict[str, int],
    scale: str,
    order: Order,
) -> None:
    """Add a trace for each panel, lines from the top down."""
    rows = dict.fromkeys(bar[0] for bars in drawn for bar in bars)
    ends = [name for name in (_OTHERS, _REST) if name in rows]
    full = [name for name in rows if name not in ends] + ends
    values = {bar[0]: bar[1] for bars in reversed(drawn) for bar in bars}
    # beside three axes there is room for names only
    width = 28 if order == "shared" else 18
    texts = [
        f"{name} = {values[name]}"
        if values[name] and len(f"{name} = {values[name]}") <= width
        else name
        for name in full
    ]
    labels = dict(zip(full, theme.labels(texts, width), strict=True))
    for k, (panel, bars) in enumerate(zip(panels, drawn, strict=True), start=1):
        places = [style.get(name) for name, _, _ in bars]
        figure.add_bar(
            x=[amount for _, _, amount in bars],
            y=[labels[name] for name, _, _ in bars],
            name=theme.literal(panel.title),
            orientation="h",
            customdata=[
                [theme.literal(name), theme.literal(value), panel.base, panel.score]
                for name, value, _ in bars
            ],
            marker={
                "color": [_colour(place) for place in places],
                "pattern": {"shape": [_pattern(place) for place in places]},
            },
            text=[theme.number(amount, True) for _, _, amount in bars],
            textposition="outside",
            cliponaxis=False,
            hovertemplate="%{customdata[0]} %{customdata[1]}<br>%{x:+.4g}"
            f"<extra>{theme.literal(panel.title)}</extra>",
            meta={
                "columns": {
                    "explanation": f"={panel.title}",
                    "line": "customdata[0]",
                    "value": "customdata[1]",
                    f"adds to {the(scale)}": "x",
                    "base": "customdata[2]",
                    "score": "customdata[3]",
                }
            },
            row=1,
            col=k,
        )
        own = full if order == "shared" else [name for name, _, _ in bars]
        most = max(len(full) if order == "shared" else len(other) for other in drawn)
        figure.update_yaxes(
            type="category",
            categoryorder="array",
            categoryarray=[labels[name] for name in own][::-1],
            # all panels have as many places, so that lines stand at one height
            range=[len(own) - most - 0.5, len(own) - 0.5],
            showgrid=False,
            row=1,
            col=k,
        )


def _colour(place: int | None) -> str:
    return theme.NEUTRAL if place is None else theme.COLOURS[place % len(theme.COLOURS)]


def _pattern(place: int | None) -> str:
    """Tell terms apart that share a colour."""
    return (
        "" if place is None else _PATTERNS[place // len(theme.COLOURS) % len(_PATTERNS)]
    )


def _heading(panel: _Panel, n_lines: int) -> str:
    """Title and small print, filled up so that all titles stand at one height."""
    base, score = theme.number(panel.base), theme.number(panel.score)
    small = [f"base {base} + bars = score {score}", *panel.notes]
    small += [""] * (n_lines - 1 - len(small))
    lines = "<br>".join(theme.literal(line) or "&nbsp;" for line in small)
    title = theme.literal(panel.title)
    return f"<b>{title}</b><br><span style='font-size:12px'>{lines}</span>"


def _words(panel: _Panel, bars: list[tuple[str, str, float]]) -> str:
    parts = ", ".join(f"{name} {theme.number(a, True)}" for name, _, a in bars)
    base, score = theme.number(panel.base), theme.number(panel.score)
    notes = f" ({'; '.join(panel.notes)})" if panel.notes else ""
    return f"{panel.title}{notes}: base {base}; {parts}; score {score}."
