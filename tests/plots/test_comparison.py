"""Explanations side by side have the same lines, the same axis and the same colours."""

from __future__ import annotations

import html

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from spam_core import plots
from spam_core.explain.explanation import LocalExplanation
from tests.plots.fakes import ODD_NAMES

DATA = pd.DataFrame({"age": [41], "town": ["B"], "pay": [9.5]})
NAMES = [("age",), ("town",), ("pay",)]


def explanation(values, base=1.0, terms=NAMES, score=None, **changes):
    total = base + sum(values) if score is None else score
    return LocalExplanation(
        values=[values],
        base=[base],
        score=[total],
        terms=terms,
        data=changes.pop("data", DATA),
        scale="price",
        **changes,
    )


def three():
    lime = explanation([0.3, -1.0, 0.9, 0.8], terms=[*NAMES, ("…",)], local_fit=[0.7])
    return [
        ("SPAM", explanation([0.5, -2.0, 0.25], seconds=0.5, n_evaluations=1)),
        ("LIME", lime),
        ("KernelSHAP", explanation([0.4, -2.5, 0.5], base=0.5, n_evaluations=1801)),
    ]


def test_every_panel_has_the_first_ones_lines() -> None:
    figure = plots.comparison(three(), E=2)
    spam, lime, shap = figure.data
    assert spam.y == shap.y == ("town = B", "age = 41", "all others")
    assert lime.y == ("town = B", "age = 41", "all others", "not explained")
    assert spam.x == (-2.0, 0.5, 0.25)
    assert lime.x == (-1.0, 0.3, 0.9, 0.8)
    assert shap.x == (-2.5, 0.4, 0.5)
    order = figure.layout.yaxis.categoryarray
    assert order == ("not explained", "all others", "age = 41", "town = B")


@pytest.mark.parametrize("E", [1, 2, 3, 30])
@pytest.mark.parametrize("order", ["shared", "own"])
def test_bars_and_base_add_up_to_the_score(E, order) -> None:
    given = three()
    figure = plots.comparison(given, E=E, order=order)
    for trace, (_, value) in zip(figure.data, given, strict=True):
        assert_allclose(value.base[0] + sum(trace.x), value.score[0], atol=1e-12)
        assert {row[2] for row in trace.customdata} == {value.base[0]}
        assert_allclose([row[3] for row in trace.customdata], value.score[0])


def test_each_its_own_order_keeps_the_colours() -> None:
    figure = plots.comparison(three(), E=2, order="own")
    spam, lime, _ = figure.data
    assert spam.y[:2] == ("town = B", "age = 41")
    assert lime.y[:2] == ("town = B", "pay = 9.5")
    by_name = [
        {row[0]: c for row, c in zip(t.customdata, t.marker.color, strict=True)}
        for t in plots.comparison(three(), E=3, order="own").data
    ]
    for other in by_name[1:]:
        assert all(other[name] == by_name[0][name] for name in ("town", "age", "pay"))
    assert len(set(by_name[0].values())) == 3
    assert lime.marker.color[0] == spam.marker.color[0]
    assert lime.marker.color[1] not in spam.marker.color[:2]
    # all panels have as many places, counted from the top
    sizes = [
        figure.layout[name].range[1] - figure.layout[name].range[0]
        for name in ("yaxis", "yaxis2", "yaxis3")
    ]
    assert sizes == [4, 4, 4]


def test_all_panels_have_one_axis_symmetric_about_zero() -> None:
    figure = plots.comparison(three(), E=2)
    ranges = {figure.layout[name].range for name in ("xaxis", "xaxis2", "xaxis3")}
    ((low, high),) = ranges
    assert low == -high
    assert high > 2.5
    assert figure.layout.xaxis.zeroline
    titles = [note.text for note in figure.layout.annotations]
    assert titles[-1] == "contribution to price"


def test_each_panel_prints_base_score_time_evaluations_and_fit() -> None:
    figure = plots.comparison(three(), E=2, notes=[("true",), (), ("guess",)])
    spam, lime, shap, _ = (note.text for note in figure.layout.annotations)
    assert "<b>SPAM</b>" in spam
    assert "base 1 + bars = score -0.25" in spam
    assert "0.50 s, 1 model evaluation<" in spam.replace("</", "<")
    assert "true" in spam
    assert "local fit R² 0.70" in lime
    assert "base 0.5 + bars = score -1.1" in shap
    assert "guess" in shap
    assert "1,801 model evaluations" in shap
    # filled up to the same height
    assert spam.count("<br>") == lime.count("<br>") == shap.count("<br>")


def test_the_table_and_the_words_have_the_same_numbers() -> None:
    figure = plots.comparison(three(), E=1, scale="price (EUR)")
    frame = plots.table(figure)
    assert list(frame) == [
        "explanation",
        "line",
        "value",
        "adds to price (EUR)",
        "base",
        "score",
    ]
    assert (
        list(frame["explanation"]) == ["SPAM"] * 2 + ["LIME"] * 3 + ["KernelSHAP"] * 2
    )
    assert frame.loc[0].tolist() == ["SPAM", "town", "B", -2.0, 1.0, -0.25]
    text = plots.alt_text(figure)
    assert "LIME (under 0.01 s" in text
    assert "town -2.5" in text
    assert "score -1.1" in text


def test_several_classes_show_the_one_asked_for() -> None:
    values = np.array([[[1.0, -2.0, 1.0], [0.5, 0.25, -0.75], [0.0, 0.0, 0.0]]])
    base = np.zeros((1, 3))
    made = LocalExplanation(
        values=values,
        base=base,
        score=base + values.sum(1),
        terms=NAMES,
        data=DATA,
        classes=("p", "q", "r"),
        scale="centred logit",
        local_fit=[[0.1, 0.2, 0.3]],
    )
    figure = plots.comparison([("A", made)], E=2, class_="q")
    assert figure.data[0].x == (-2.0, 0.25, 0.0)
    assert "local fit R² 0.20" in figure.layout.annotations[0].text
    assert (
        figure.layout.annotations[-1].text == "contribution to the centred logit of q"
    )
    # without a class, that with the largest score, as in the ledger
    assert (
        "local fit R² 0.10"
        in plots.comparison([("A", made)], E=2).layout.annotations[0].text
    )


def test_pairs_of_one_have_no_bar_in_the_others() -> None:
    terms = [*NAMES, ("age", "town")]
    spam = explanation([0.5, -0.25, 0.125, 3.0], terms=terms)
    figure = plots.comparison([("SPAM", spam), *three()[1:]], E=2, unit="term")
    assert figure.data[0].y == ("age × town = 41 × B", "age = 41", "all others")
    assert figure.data[2].y == ("age = 41", "all others")
    assert_allclose(figure.data[2].x, [0.4, -2.0])


def test_many_lines_stay_apart_by_pattern() -> None:
    data = pd.DataFrame({f"c{k}": [k] for k in range(20)})
    values = [float(20 - k) for k in range(20)]
    made = explanation(values, terms=[(name,) for name in data], data=data)
    (bars,) = plots.comparison([("A", made)], E=20).data
    looks = set(zip(bars.marker.color, bars.marker.pattern.shape, strict=True))
    assert len(looks) == 20


@pytest.mark.parametrize("name", ODD_NAMES)
def test_o05_names_are_shown_as_typed(name: str) -> None:
    data = pd.DataFrame({name: ["<i>x</i>"]})
    made = explanation([1.0], terms=[(name,)], data=data)
    figure = plots.comparison([(f"of {name}", made)], E=1)
    assert html.unescape(figure.data[0].y[0]).startswith(name)
    assert "<i>" not in figure.data[0].y[0]
    frame = plots.table(figure)
    assert frame.loc[0, "line"] == name
    assert frame.loc[0, "explanation"] == f"of {name}"


def test_bad_input_is_said() -> None:
    with pytest.raises(ValueError, match="at least one explanation"):
        plots.comparison([])
    with pytest.raises(ValueError, match="E must be at least 1, got 0"):
        plots.comparison(three(), E=0)
    with pytest.raises(ValueError, match="order must be one of"):
        plots.comparison(three(), order="best")
    with pytest.raises(ValueError, match="got 1 for 3 panels"):
        plots.comparison(three(), notes=[("a",)])
    with pytest.raises(ValueError, match="the ledger lacks"):
        plots.comparison([("A", pd.DataFrame({"term": ["a"]}))])
    frame = three()[0][1].ledger(0)
    with pytest.raises(ValueError, match="must end with base and score"):
        plots.comparison([("A", frame[:-1])])
