"""Charts of what explanation methods are worth show the numbers they are given."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from spam_core import plots

ODD = "a<b> $x$"  # a model may be called anything


def curve(model: str, method: str, **columns: object) -> pd.DataFrame:
    return pd.DataFrame({"model": model, "method": method, **columns})


@pytest.fixture
def pairs() -> pd.DataFrame:
    lines = [
        ("SPAM", "LIME", ODD, "KernelSHAP", 0.25),
        (ODD, "KernelSHAP", "SPAM", "LIME", 0.5),
    ]
    names = ["model_a", "method_a", "model_b", "method_b", "jaccard"]
    return pd.DataFrame(lines, columns=names)


def test_agreement_keeps_direction_and_leaves_the_diagonal_empty(pairs) -> None:
    figure = plots.agreement(pairs)
    (trace,) = figure.data
    assert [list(line) for line in trace.z] == [[None, 0.25], [0.5, None]]
    assert list(trace.x) == ["SPAM: LIME", "a&lt;b&gt; &#36;x&#36;: KernelSHAP"]
    table = plots.table(figure)
    assert sorted(table.iloc[:, -1].dropna()) == [0.25, 0.5]
    assert "SPAM LIME and a<b> $x$ KernelSHAP 0.25" in plots.alt_text(figure)


def test_one_model_needs_no_naming(pairs) -> None:
    figure = plots.agreement(pairs.replace(ODD, "SPAM"))
    assert list(figure.data[0].x) == ["LIME", "KernelSHAP"]


def test_fidelity_has_bands_only_where_there_are_intervals() -> None:
    known = {"E": [1, 2], "mean": [0.2, 0.9], "low": [0.1, 0.8], "high": [0.3, 1.0]}
    single = {**known, "low": [math.nan] * 2, "high": [math.nan] * 2}
    frame = pd.concat(
        [curve("SPAM", "LIME", **known), curve("SPAM", "exact", **single)]
    )
    figure = plots.fidelity(frame, E=2)
    assert [trace.fill for trace in figure.data] == [None, "toself", None]
    assert figure.data[1].y == (0.3, 1.0, 0.8, 0.1)
    assert figure.layout.shapes[0].x0 == 2
    assert list(plots.table(figure)["R2"]) == [0.2, 0.9, 0.2, 0.9]


def test_a_hopeless_fit_does_not_squash_the_others() -> None:
    frame = curve("SPAM", "LIME", E=[1], mean=[-40.0], low=[None], high=[None])
    figure = plots.fidelity(frame)
    assert figure.layout.yaxis.range == (-0.55, 1.05)
    assert "below -0.5 isn't drawn" in figure.layout.title.subtitle.text


def test_random_orders_are_a_dashed_line_in_both_panels() -> None:
    parts = [
        curve(
            "SPAM", method, curve=side, k=[0, 1], mean=[0.0, top], low=None, high=None
        )
        for side, top in (("deletion", 2.0), ("insertion", 3.0))
        for method in ("LIME", "random order")
    ]
    figure = plots.faithfulness(pd.concat(parts))
    by = {(t.name, t.xaxis): t for t in figure.data}
    assert len(by) == 4
    assert by["LIME", "x"].y == (0.0, 2.0)
    assert by["LIME", "x2"].y == (0.0, 3.0)
    assert by["random order", "x"].line.dash == "dash"
    assert by["LIME", "x"].line.dash == "solid"
    assert len(plots.table(figure)) == 8


def test_budget_shows_means_every_seed_and_the_exact_values() -> None:
    frame = pd.DataFrame(
        {
            "method": ["KernelSHAP"] * 3,
            "evaluations": [100, 100, 400],
            "error": [0.4, 0.2, 0.0],
        }
    )
    frame.attrs = {"evaluations": 101}
    figure = plots.budget(frame, chosen={"KernelSHAP": 400})
    line, points, exact = figure.data
    assert line.x == (100, 400)
    assert line.y == pytest.approx((0.3, 0.0))
    assert points.y == (0.4, 0.2, 0.0)
    assert (exact.x, exact.y) == ((101,), (0.0,))
    assert figure.layout.xaxis.type == "log"
    assert "KernelSHAP: 100 30.0%, 400 0.0%." in plots.alt_text(figure)
    [mark] = figure.layout.annotations
    assert "by default" in mark.text
    assert 10**mark.x == pytest.approx(400)  # a log axis wants the exponent here
