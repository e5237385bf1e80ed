"""Accuracy against explanation length: one panel a reader, one line a condition."""

from __future__ import annotations

import html
from types import SimpleNamespace

import pandas as pd
import pytest

from spam_core import plots
from spam_core.plots import theme
from tests.plots.fakes import ODD_NAMES


def played(conditions=("SPAM", "DNN + LIME"), readers=("sum", "nearest"), E=(1, 7)):
    lines = [
        (condition, reader, length)
        for condition in conditions
        for reader in readers
        for length in E
    ]
    frame = pd.DataFrame(lines, columns=["condition", "reader", "E"])
    frame["accuracy"] = [0.5 + 0.3 * k / len(lines) for k in range(len(lines))]
    frame["low"], frame["high"] = frame["accuracy"] - 0.02, frame["accuracy"] + 0.01
    return SimpleNamespace(
        table=frame,
        conditions=tuple(conditions),
        readers=tuple(readers),
        n_draws=1000,
        n_rows=60,
    )


def means(figure) -> list:
    return [trace for trace in figure.data if trace.customdata is not None]


def test_each_reader_has_a_panel_with_a_line_a_condition() -> None:
    given = played()
    figure = plots.simulation(given)
    frame = given.table
    drawn = {(t.name, t.xaxis): (t.x, t.y) for t in means(figure)}
    for (condition, reader), here in frame.groupby(["condition", "reader"]):
        x, y = drawn[condition, {"sum": "x", "nearest": "x2"}[reader]]
        assert x == (1, 7)
        assert list(y) == here["accuracy"].tolist()
    assert len(drawn) == 4
    titles = [note.text for note in figure.layout.annotations]
    assert titles == ["the sum reader", "the nearest reader"]
    assert figure.layout.title.text == "How well decisions are guessed"


def test_bands_are_the_intervals() -> None:
    given = played(readers=("sum",))
    figure = plots.simulation(given)
    bands = [trace for trace in figure.data if trace.fill == "toself"]
    assert len(bands) == 2
    for band, condition in zip(bands, given.conditions, strict=True):
        here = given.table[given.table["condition"] == condition]
        assert band.x == (1, 7, 7, 1)
        assert list(band.y) == [*here["high"], *here["low"][::-1]]
        assert band.line.width == 0


def test_chance_is_drawn_in_every_panel_and_within_the_axis() -> None:
    figure = plots.simulation(played())
    chance = [trace for trace in figure.data if trace.name == "chance"]
    assert [(trace.xaxis, trace.y) for trace in chance] == [
        ("x", (0.5, 0.5)),
        ("x2", (0.5, 0.5)),
    ]
    low, high = figure.layout.yaxis.range
    assert low < 0.48  # the lowest interval starts there
    assert high > 1.0


def test_a_condition_looks_the_same_in_all_panels_and_unlike_the_others() -> None:
    given = played(conditions=[f"model {k}" for k in range(9)])
    figure = plots.simulation(given)
    looks: dict[str, set] = {}
    for trace in means(figure):
        look = (trace.line.color, trace.line.dash, trace.marker.symbol)
        looks.setdefault(trace.name, set()).add(look)
    assert all(len(look) == 1 for look in looks.values())
    assert len(set.union(*looks.values())) == 9
    assert theme.NEUTRAL not in {trace.line.color for trace in means(figure)}
    listed = [trace.name for trace in figure.data if trace.showlegend is not False]
    assert listed == ["chance", *given.conditions]


def test_the_table_and_the_words_have_the_same_numbers() -> None:
    given = played()
    figure = plots.simulation(given)
    frame = plots.table(figure)
    assert list(frame) == [
        "reader",
        "condition",
        "E",
        "share of right answers",
        "low",
        "high",
    ]
    wanted = given.table.set_index(["reader", "condition", "E"])
    for line in frame.itertuples(index=False):
        cell = wanted.loc[(line.reader, line.condition, line.E)]
        assert line[3:] == (cell["accuracy"], cell["low"], cell["high"])
    assert len(frame) == len(given.table)
    text = plots.alt_text(figure)
    assert "The sum reader at E = 7: SPAM 0.5375, DNN + LIME 0.6875." in text
    assert "1,000 draws from 60 rows" in text
    assert "chance is 0.5" in text
    assert "at E = 3" in plots.alt_text(plots.simulation(played(E=(1, 3))))


@pytest.mark.parametrize("name", ODD_NAMES)
def test_o05_names_are_shown_as_typed(name: str) -> None:
    figure = plots.simulation(played((name, "b"), (f"of {name}",)), title=name)
    line = means(figure)[0]
    assert html.unescape(line.name) == name
    assert html.unescape(figure.layout.title.text) == name
    frame = plots.table(figure)
    assert set(frame["condition"]) == {name, "b"}
    assert set(frame["reader"]) == {f"of {name}"}
