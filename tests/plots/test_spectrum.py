"""The spectrum's traces hold the values, the laws and the energy."""

from __future__ import annotations

import html

import numpy as np
import pytest
from numpy.testing import assert_allclose

from spam_core import plots
from spam_core.explain.spectrum import Spectrum


def of(values, order: int = 2, metric="data") -> Spectrum:
    values = np.atleast_2d(np.asarray(values, dtype=float))
    return Spectrum(order, metric, values, np.sqrt(np.cumsum(values**2, axis=1)))


def exponential(n: int = 12) -> np.ndarray:
    return 5.0 * np.exp(-0.4 * np.arange(1.0, n + 1))


def test_sizes_stand_at_their_rank_coloured_by_sign() -> None:
    value = of([4.0, -2.0, 1.0, -0.5])
    figure = plots.spectrum(value, fits=False)
    positive, negative, energy = figure.data
    assert (positive.name, positive.x, positive.y) == ("positive", (1, 3), (4.0, 1.0))
    assert (negative.name, negative.x, negative.y) == ("negative", (2, 4), (2.0, 0.5))
    assert negative.customdata == (-2.0, -0.5)
    assert positive.marker.color != negative.marker.color
    assert positive.marker.symbol != negative.marker.symbol
    assert figure.layout.yaxis.type == "log"
    assert energy.yaxis == "y2"
    assert_allclose(energy.y, np.cumsum([16, 4, 1, 0.25]) / 21.25)


def test_both_laws_are_drawn_with_constants_and_r2() -> None:
    sizes = exponential()
    value = of(sizes)
    figure = plots.spectrum(value)
    lines = {t.name.split()[0]: t for t in figure.data if t.name and "law" in t.name}
    assert list(lines) == ["exponential", "polynomial"]  # the better one first
    assert_allclose(lines["exponential"].y, sizes[:11], rtol=1e-9)
    assert lines["exponential"].x == tuple(range(1, 12))  # the 12th has no energy
    assert lines["exponential"].name == (
        "exponential law: 5 · exp(−0.4 · j^1), R² 1.000"
    )
    law = next(fit for fit in value.fits() if fit.law == "polynomial")
    assert_allclose(lines["polynomial"].y, law(np.arange(1.0, 12)))
    assert f"R² {law.r2:.3f}" in lines["polynomial"].name
    assert (
        f"· j^(−{law.gamma + 1:.3g}), γ = {law.gamma:.3g}" in lines["polynomial"].name
    )
    assert [t.name for t in plots.spectrum(value, fits=False).data[:-1]] == ["positive"]


def test_too_few_values_have_no_laws() -> None:
    figure = plots.spectrum(of([2.0, -1.0]))
    assert [trace.name for trace in figure.data] == ["positive", "negative", None]


def test_the_table_has_a_line_for_each_value() -> None:
    values = exponential() * np.array([1, -1] * 6)
    value = of(values)
    frame = plots.table(plots.spectrum(value))
    assert list(frame) == [
        "j",
        "value",
        "cumulative energy",
        "exponential law",
        "polynomial law",
    ]
    assert_allclose(frame["j"], np.arange(1, 13))
    assert_allclose(frame["value"], values)
    assert_allclose(frame["cumulative energy"], value.energy[0])
    assert_allclose(frame["exponential law"], exponential(), rtol=1e-9)


def test_words_say_what_is_seen() -> None:
    figure = plots.spectrum(of([3.0, -1.0, 0.1]), fits=False, scale="price")
    assert plots.alt_text(figure) == (
        "Sizes of 3 values of order 2, eigenvalue (data metric, price): from +3 to "
        "+0.1, 1 of them negative. 2 of 3 components hold 90 % of the energy; "
        "effective rank 1.94."
    )
    assert "Better fit: exponential law: 5 · exp" in plots.alt_text(
        plots.spectrum(of(exponential()))
    )


def test_a_law_that_overshoots_does_not_squeeze_the_values() -> None:
    figure = plots.spectrum(of(exponential(60)))
    assert figure.data[-2].name.startswith("polynomial")
    assert max(figure.data[-2].y) > 2 * max(figure.data[0].y)
    low, high = figure.layout.yaxis.range  # powers of ten
    assert -11 < low < np.log10(5 * np.exp(-0.4 * 60))
    assert np.log10(5 * np.exp(-0.4)) < high < 2
    assert figure.layout.yaxis.tickvals == tuple(10.0**k for k in range(-10, 2, 2))
    assert figure.layout.yaxis.ticktext[0] == "10<sup>−10</sup>"


def test_laws_end_where_their_fit_ends() -> None:
    """What holds the last 0.01 % of the energy decides nothing, and isn't claimed."""
    value = of(exponential(60))
    figure = plots.spectrum(value)
    assert [len(figure.data[k].x) for k in (1, 2)] == [12, 12]
    assert value.fits()[0].n_fitted == 12
    note = figure.layout.title.subtitle.text
    assert note.endswith("; laws are fitted to the 12 largest")
    note = plots.spectrum(of([3.0, -1.0, 0.1])).layout.title.subtitle.text
    assert "laws" not in note


def test_energy_that_falls_back_is_not_counted_before_it_stays() -> None:
    # above order 2 components overlap: the norm passes that of the whole on the way
    value = Spectrum(
        3, "data", np.array([[3.0, 2.0, 1.0]]), np.array([[2.0, 1.0, 2.0]])
    )
    figure = plots.spectrum(value, fits=False)
    assert_allclose(figure.data[-1].y, [1.0, 0.25, 1.0])
    assert "3 of 3 components hold 90 %" in plots.alt_text(figure)


def test_an_output_of_several_is_drawn() -> None:
    value = of([[4.0, 2.0, 1.0], [9.0, -3.0, 1.0]])
    assert plots.spectrum(value, output=1).data[0].y == (9.0, 1.0)
    for output in (2, -1, True):
        with pytest.raises(ValueError, match=r"output must be in 0\.\.1, got"):
            plots.spectrum(value, output=output)


def test_axes_name_metric_order_and_scale() -> None:
    def title(value, **settings):
        figure = plots.spectrum(value, fits=False, **settings)
        return html.unescape(figure.layout.yaxis.title.text)

    two, three = of([1.0]), of([1.0], order=3, metric="coefficient")
    assert title(two, scale="price $") == "size of eigenvalue<br>(data metric, price $)"
    # coefficients have no unit of the target
    assert title(three, scale="price") == "size of λ·‖u‖^3<br>(coefficient metric)"
    assert plots.spectrum(three).layout.title.text == "Spectrum of order 3"
    assert plots.spectrum(three, title="a <b").layout.title.text == "a &lt;b"


def test_zeros_and_negligible_values_are_left_out_and_counted() -> None:
    figure = plots.spectrum(of([2.0, 1.0, 1e-13, 0.0]))
    assert figure.data[0].y == (2.0, 1.0)
    assert figure.layout.title.subtitle.text == (
        "2 of 4 components hold 90 % of the energy; 2 are negligible and not drawn"
    )
    assert len(plots.table(figure)) == 2
    one = plots.spectrum(of([2.0, 1.0, 0.0])).layout.title.subtitle.text
    assert one.endswith("; 1 is negligible and not drawn")


def test_a_spectrum_of_zeros_is_an_empty_figure() -> None:
    figure = plots.spectrum(of([0.0, 0.0]))
    assert plots.table(figure).empty
    assert plots.alt_text(figure).endswith("all are 0.")
