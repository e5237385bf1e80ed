"""Spectrum of one order: how fast the sorted values fall, and what the first hold."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from spam_core.plots import theme
from spam_core.plots.values import Floats

if TYPE_CHECKING:
    from spam_core.explain.decay import DecayFit
    from spam_core.explain.spectrum import Spectrum

_NEGLIGIBLE = 1e-12  # of the largest
_SIGNS = (
    ("positive", theme.POSITIVE, "circle", 1),
    ("negative", theme.NEGATIVE, "diamond", -1),
)
_LAWS = {"exponential": ("#009E73", "solid"), "polynomial": ("#CC79A7", "dash")}
_LEGEND: dict[str, Any] = {
    "legend_orientation": "v",
    "legend_x": 0.0,
    "legend_xanchor": "left",
    "legend_y": -0.14,
    "legend_yanchor": "top",
}


def spectrum(
    spectrum: Spectrum,
    output: int = 0,
    fits: bool = True,
    *,
    scale: str | None = None,
    title: str | None = None,
) -> go.Figure:
    """Draw the sizes of the sorted values on a log axis, over their energy.

    Parameters
    ----------
    spectrum : Spectrum
        What an estimator's ``spectrum`` method returns.
    output : int, default=0
        Position of the output, for several classes that of the class.
    fits : bool, default=True
        Draw both decay laws with their constants and R2, as far as they were fitted.
        They are left out where there are fewer than three values to fit.
    scale : str, optional
        Name of the scale of the scores: values in the data metric have its unit.
    title : str, optional
        Title; by default it names the order.

    Returns
    -------
    plotly.graph_objects.Figure
        Above the sizes, coloured by sign; below the share of the squared norm in the
        first 1, 2, … components. Values below 1e-12 of the largest aren't drawn.

    Raises
    ------
    ValueError
        If there is no such output.

    Examples
    --------
    >>> import numpy as np
    >>> from spam_core.explain.spectrum import Spectrum
    >>> values = np.array([[2.0, -1.0, 0.5]])
    >>> norms = np.sqrt(np.cumsum(values**2, axis=1))
    >>> figure = spectrum(Spectrum(2, "data", values, norms), fits=False)
    >>> [(trace.name, trace.x) for trace in figure.data[:2]]
    [('positive', (1, 3)), ('negative', (2,))]
    """
    n_outputs = len(spectrum.values)
    if isinstance(output, bool) or not 0 <= output < n_outputs:
        raise ValueError(f"output must be in 0..{n_outputs - 1}, got {output!r}")
    values = np.asarray(spectrum.values[output], dtype=np.float64)
    sizes = np.abs(values)
    kept = sizes > _NEGLIGIBLE * sizes.max(initial=0.0)
    n = int(kept.sum())  # values are sorted by size: the first n
    values, energy = values[:n], np.asarray(spectrum.energy[output])[:n]
    j = np.arange(1.0, n + 1)
    # with fewer than three values fits() refuses
    laws = list(spectrum.fits(output)) if fits and n >= 3 else []
    figure = make_subplots(
        rows=2,
        cols=1,
        shared_xaxes=True,
        row_heights=[0.66, 0.34],
        vertical_spacing=0.05,
    )
    _add_values(figure, values)
    for law in laws:
        colour, dash = _LAWS[law.law]
        figure.add_scatter(
            x=j[: law.n_fitted].astype(int).tolist(),
            y=law(j[: law.n_fitted]).tolist(),
            mode="lines",
            name=_formula(law),
            line={"color": colour, "dash": dash},
            hovertemplate=f"{law.law} law %{{y:.4g}}<extra></extra>",
            row=1,
            col=1,
        )
    _add_energy(figure, values, energy, laws)
    noun = "eigenvalue" if spectrum.order == 2 else f"λ·‖u‖^{spectrum.order}"
    of = f"{spectrum.metric} metric"
    if scale is not None and spectrum.metric == "data":
        of += f", {scale}"
    figure.update_yaxes(
        title=f"size of {noun}<br>({theme.literal(of)})",
        **_decades(np.abs(values)),
        row=1,
        col=1,
    )
    figure.update_yaxes(
        title="cumulative energy", rangemode="tozero", tickformat=".0%", row=2, col=1
    )
    figure.update_xaxes(title="j, components by size", row=2, col=1)
    held = f"{_reached(energy)} of {len(sizes)} components hold 90 % of the energy"
    note = held if n else ""
    if n and n < len(sizes):
        hidden = len(sizes) - n
        note += f"; {hidden} {'is' if hidden == 1 else 'are'} negligible and not drawn"
    if laws and laws[0].n_fitted < n:
        note += f"; laws are fitted to the {laws[0].n_fitted} largest"
    text = f"Sizes of {n} values of order {spectrum.order}, {noun} ({of}): "
    if n:
        first, last = (theme.number(float(v), True) for v in (values[0], values[-1]))
        text += f"from {first} to {last}, {int((values < 0).sum())} of them negative. "
        text += f"{held}; effective rank {spectrum.effective_rank(output):.3g}."
    else:
        text += "all are 0."
    if laws:
        text += f" Better fit: {_formula(laws[0])}."
    return theme.finish(
        figure,
        title=theme.literal(
            f"Spectrum of order {spectrum.order}" if title is None else title
        ),
        alt=text,
        note=note,
        height=600,
        **_LEGEND,
    )


def _decades(sizes: Floats) -> dict[str, Any]:
    """Return a log axis over the values; a law that leaves it is cut off."""
    if not len(sizes):
        return {"type": "log"}
    low, high = float(np.log10(sizes[-1])), float(np.log10(sizes[0]))
    pad = max(0.1, 0.06 * (high - low))
    settings: dict[str, Any] = {"type": "log", "range": [low - pad, high + pad]}
    if high - low > 1:
        # plotly itself writes every other decade as "1µ", "10n"
        step = math.ceil((high - low) / 8)
        first = step * math.ceil((low - pad) / step)
        powers = range(first, math.floor(high + pad) + 1, step)
        settings["tickvals"] = [10.0**k for k in powers]
        settings["ticktext"] = [f"10<sup>{k}</sup>".replace("-", "−") for k in powers]
    return settings


def _reached(energy: Floats) -> int:
    """Components from which on 90 % of the energy is held.

    Above order 2 energy may pass 90 % on the way and fall back.
    """
    below = np.flatnonzero(energy < 0.9)
    return 1 if not len(below) else int(below[-1]) + 2


def _add_values(figure: go.Figure, values: Floats) -> None:
    """Add a trace for each sign that occurs."""
    for name, colour, symbol, sign in _SIGNS:
        where = np.flatnonzero(np.sign(values) == sign)
        if not len(where):
            continue
        figure.add_scatter(
            x=(where + 1).tolist(),
            y=np.abs(values[where]).tolist(),
            customdata=values[where].tolist(),
            mode="markers",
            name=name,
            marker={
                "color": colour,
                "symbol": symbol,
                "size": 7 if len(values) < 60 else 5,
            },
            hovertemplate="value %{x}: %{customdata:+.4g}<extra></extra>",
            row=1,
            col=1,
        )


def _add_energy(
    figure: go.Figure, values: Floats, energy: Floats, laws: list[DecayFit]
) -> None:
    """Add the lower panel; its trace holds the table of the whole figure."""
    j = np.arange(1.0, len(values) + 1)
    columns = {"j": "x", "value": "customdata[0]", "cumulative energy": "y"}
    parts = [values]
    for k, law in enumerate(laws, start=1):
        columns[f"{law.law} law"] = f"customdata[{k}]"
        parts.append(law(j))
    figure.add_scatter(
        x=j.astype(int).tolist(),
        y=energy.tolist(),
        customdata=np.stack(parts, axis=1).tolist(),
        mode="lines+markers" if len(values) < 30 else "lines",
        line={"color": theme.NEUTRAL, "shape": "hv"},
        showlegend=False,
        hovertemplate="the first %{x} hold %{y:.1%}<extra></extra>",
        meta={"columns": columns},
        row=2,
        col=1,
    )


def _formula(law: DecayFit) -> str:
    c1, fit = theme.number(law.c1), f"R² {law.r2:.3f}"
    if law.law == "polynomial":
        power = f"{-law.gamma - 1:.3g}".replace("-", "−")
        return f"polynomial law: {c1} · j^({power}), γ = {law.gamma:.3g}, {fit}"
    c2 = theme.number(law.c2)
    return f"exponential law: {c1} · exp(−{c2} · j^{law.gamma:.3g}), {fit}"
