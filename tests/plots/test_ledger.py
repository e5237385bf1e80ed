"""The ledger's waterfall visibly sums to the score."""

from __future__ import annotations

import html

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from spam_core import plots
from spam_core.explain.explanation import LocalExplanation
from tests.plots.fakes import ODD_NAMES


def explanation(**changes) -> LocalExplanation:
    made = {
        "values": [[0.5, -2.0, 0.125, 0.25]],
        "base": [1.0],
        "score": [-0.125],
        "terms": [("age",), ("town",), ("age", "town"), ("…",)],
        "data": pd.DataFrame({"age": [41], "town": [None]}),
        "scale": "price",
        "n_left_out": 3,
    }
    return LocalExplanation(**(made | changes))


def test_bars_run_from_base_over_terms_to_score() -> None:
    figure = plots.ledger(explanation().ledger(0, E=2))
    (bars,) = figure.data
    assert bars.type == "waterfall"
    assert bars.y == (
        "base",
        "town = missing",
        "age = 41",
        "the other 4 terms",
        "score",
    )
    assert bars.measure == ("absolute", "relative", "relative", "relative", "total")
    assert_allclose(bars.x, [1.0, -2.0, 0.5, 0.375, -0.125])
    assert_allclose(sum(bars.x[:-1]), bars.x[-1])
    # the first line of the ledger is on top
    assert figure.layout.yaxis.categoryarray == bars.y[::-1]
    assert figure.layout.xaxis.title.text == "price"


def test_numbers_are_printed_with_their_sign() -> None:
    (bars,) = plots.ledger(explanation().ledger(0, E=1)).data
    assert bars.text == ("1", "-2", "+0.875", "-0.125")


def test_words_and_table_hold_the_same_numbers() -> None:
    figure = plots.ledger(explanation().ledger(0, E=1))
    assert plots.alt_text(figure) == (
        "Ledger on the scale price. Base 1; town = missing -2, the other 5 terms "
        "+0.875; score -0.125."
    )
    frame = plots.table(figure)
    assert list(frame) == ["line", "adds to price"]
    assert_allclose(frame["adds to price"], [1.0, -2.0, 0.875, -0.125])


def test_a_column_may_be_called_base_or_score() -> None:
    data = pd.DataFrame({"base": [1], "score": [2]})
    value = explanation(
        values=[[0.5, -1.0]],
        score=[0.5],
        terms=[("base",), ("score",)],
        data=data,
        n_left_out=0,
    )
    (bars,) = plots.ledger(value.ledger(0)).data
    assert bars.y == ("base", "score = 2", "base = 1", "score")
    empty = pd.DataFrame({"base": [""]})
    same = explanation(
        values=[[0.5]], score=[1.5], terms=[("base",)], data=empty, n_left_out=0
    )
    (bars,) = plots.ledger(same.ledger(0)).data
    assert len(set(bars.y)) == 3  # no bar hides another
    assert_allclose(bars.x, [1.0, 0.5, 1.5])


@pytest.mark.parametrize("name", ODD_NAMES)
def test_o05_names_are_shown_literally(name: str) -> None:
    value = explanation(
        values=[[0.5]],
        score=[1.5],
        terms=[(name,)],
        n_left_out=0,
        data=pd.DataFrame({name: [name]}),
    )
    figure = plots.ledger(value.ledger(0))
    assert html.unescape(figure.data[0].y[1]) == f"{name} = {name}"
    assert plots.table(figure)["line"][1] == f"{name} = {name}"


def test_a_class_of_several_is_named() -> None:
    value = explanation(
        values=np.arange(6.0).reshape(1, 2, 3),
        base=[[0.0, 0.0, 0.0]],
        score=[[3.0, 5.0, 7.0]],
        terms=[("age",), ("town",)],
        classes=("a", "b", "c"),
        scale="centred logit",
        n_left_out=0,
    )
    figure = plots.ledger(value.ledger(0, class_="b"))
    assert figure.layout.xaxis.title.text == "centred logit of b"
    assert_allclose(figure.data[0].x, [0.0, 4.0, 1.0, 5.0])


def test_a_frame_that_is_no_ledger_is_refused() -> None:
    with pytest.raises(ValueError, match=r"the ledger lacks \['kind'"):
        plots.ledger(pd.DataFrame({"a": [1]}))
    lines = explanation().ledger(0)
    with pytest.raises(ValueError, match="must end with base and score"):
        plots.ledger(lines.iloc[:-1])
