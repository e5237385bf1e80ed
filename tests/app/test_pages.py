"""Every page in every state runs, and shows what the library worked out."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from conftest import ROOT
from numpy.testing import assert_allclose
from streamlit.testing.v1 import AppTest

from spam_core import load_dataset
from tests.app.helpers import (
    DATASETS,
    TIMEOUT,
    VIEWS,
    charts,
    open_app,
    texts,
    wait_until_trained,
)
from ui import compute


@pytest.mark.parametrize("dataset", DATASETS)
@pytest.mark.parametrize("view", VIEWS)
def test_a_page_runs_and_every_chart_has_words_and_a_table(view, dataset) -> None:
    at = open_app(dataset, view)
    assert not at.exception
    assert not at.error
    drawn = at.get("plotly_chart")
    assert drawn
    for chart in drawn:
        assert len(chart.proto.alt) > 20
    tables = [e for e in at.expander if e.label == "The same numbers as a table"]
    assert len(tables) == len(drawn)
    assert all(len(e.dataframe) == 1 and len(e.dataframe[0].value) for e in tables)


@pytest.mark.parametrize("view", VIEWS)
def test_the_raw_view_runs_on_every_page(view) -> None:
    at = open_app("wine", view)
    at.segmented_control(key="view").set_value("raw").run()
    assert not at.exception
    assert "Raw: the model's polynomial" in texts(at)


def test_the_overview_answers_how_good_and_what_drives_it() -> None:
    at = open_app("gapminder")
    assert "SPAM is off by" in texts(at)
    labels = [metric.label for metric in at.metric]
    assert labels == ["SPAM: RMSE", "Neural network: RMSE", "Always guessing: RMSE"]
    assert all(float(metric.value.replace(",", "")) > 0 for metric in at.metric)
    (figure,) = charts(at)
    assert figure["data"][0]["y"][-1].startswith("the other")
    at.slider(key="E").set_value(3).run()
    assert len(charts(at)[0]["data"][0]["y"]) == 4


@pytest.mark.parametrize("dataset", DATASETS)
def test_the_ledger_on_the_page_sums_to_the_prediction(dataset) -> None:
    at = open_app(dataset, "explain.py")
    at.number_input(key="row").set_value(2).run()
    assert not at.exception
    (figure,) = charts(at)
    amounts = figure["data"][0]["x"]
    assert_allclose(sum(amounts[:-1]), amounts[-1], rtol=1e-9, atol=1e-9)
    table = load_dataset(dataset)
    if table.task == "regression":
        predicted = at.metric[0].value.split()[0].replace(",", "")
        assert_allclose(float(predicted), amounts[-1], rtol=1e-3)
    if table.task == "binary":
        frame = next(d.value for d in at.dataframe if "probability" in d.value)
        share = 1 / (1 + np.exp(-amounts[-1]))
        assert_allclose(frame["probability"][1], share, rtol=1e-6)
    assert "exactly" in texts(at)


def test_another_class_is_another_explanation() -> None:
    at = open_app("wine", "shapes.py")
    (first,) = charts(at)
    at.selectbox(key="class").select("class_2").run()
    (second,) = charts(at)
    assert "class_2" in second["layout"]["yaxis"]["title"]["text"]
    lines = [
        next(trace["y"] for trace in figure["data"] if "meta" in trace)
        for figure in (first, second)
    ]
    assert lines[0] != lines[1]


def test_choosing_a_column_draws_that_column() -> None:
    at = open_app("gapminder", "shapes.py")
    box = at.selectbox(key="feature")
    for feature in box.options:
        at.selectbox(key="feature").select(feature).run()
        assert not at.exception
        (figure,) = charts(at)
        assert figure["layout"]["title"]["text"] == feature


def test_o19_several_shapes_stand_on_one_page() -> None:
    at = open_app("breast_cancer", "shapes.py")
    at.segmented_control(key="shapes_shown").set_value("The six largest").run()
    assert not at.exception
    assert len(charts(at)) == 6


def test_choosing_a_pair_draws_that_pair() -> None:
    at = open_app("gapminder", "interactions.py")
    box = at.selectbox(key="pair")
    for option in box.options:
        at.selectbox(key="pair").select(option).run()
        assert not at.exception
        assert charts(at)[1]["layout"]["title"]["text"] == option


def test_choices_survive_a_change_of_page_and_of_data() -> None:
    at = open_app("gapminder", "shapes.py")
    at.selectbox(key="feature").select("year").run()
    at.switch_page("views/overview.py").run()
    at.switch_page("views/shapes.py").run()
    assert at.selectbox(key="feature").value == "year"
    at.selectbox(key="dataset").select("breast_cancer").run()
    assert not at.exception
    assert at.selectbox(key="feature").value != "year"


@pytest.fixture
def no_runs() -> Iterator[None]:
    """Forget the trainings before and after, so that this one is new."""
    compute._built_in_run.clear()
    yield
    compute._built_in_run.clear()


@pytest.mark.usefixtures("no_runs")
def test_a_failed_training_is_told_and_can_be_tried_again(monkeypatch) -> None:
    small = compute._FAST["spam"]
    monkeypatch.setitem(compute._FAST, "spam", {"order": 9})
    at = open_app("wine")
    for view in VIEWS:
        at.switch_page(f"views/{view}").run()
        assert not at.exception
        (error,) = at.error
        assert "order" in error.value
        assert not at.get("plotly_chart")
    monkeypatch.setitem(compute._FAST, "spam", small)
    (again,) = [button for button in at.button if button.label == "Train again"]
    again.click().run()
    wait_until_trained(at)
    assert not at.exception
    assert at.get("plotly_chart")


@pytest.mark.usefixtures("no_runs")
def test_a_page_without_its_model_yet_says_so(monkeypatch) -> None:
    params = {"n_members": 2, "max_epochs": 100_000, "patience": 100_000}
    monkeypatch.setitem(compute._FAST, "spam", params)
    at = AppTest.from_file(str(ROOT / "app" / "main.py"), default_timeout=60).run()
    for view in VIEWS:
        at.switch_page(f"views/{view}").run()
        assert not at.exception
        assert "is being trained" in at.info[0].value
        assert not at.get("plotly_chart")
    run = compute.run("gapminder")
    run.cancel()
    assert run.wait(10)
    for view in VIEWS:
        at.switch_page(f"views/{view}").run()
        assert not at.exception
        assert at.warning[0].value == "Training was cancelled."


def test_a_link_opens_the_state_that_it_was_copied_from() -> None:
    open_app("wine")  # trained once, as by an earlier visitor
    at = AppTest.from_file(str(ROOT / "app" / "main.py"), default_timeout=TIMEOUT)
    asked = {"dataset": "Wine cultivars", "row": "3", "class": "class_2", "E": "4"}
    for key, value in asked.items():
        at.query_params[key] = value
    at.run()
    at.switch_page("views/compare.py").run()
    assert not at.exception
    assert at.selectbox(key="dataset").value == "wine"
    assert at.selectbox(key="class").value == "class_2"
    assert at.number_input(key="row").value == 3
    assert at.slider(key="E").value == 4
    head = charts(at)[0]["layout"]
    assert "Test row 3" in head["title"]["text"]
    assert "class_2" in head["annotations"][-1]["text"]


def test_a_link_to_what_is_not_there_opens_the_usual_page() -> None:
    at = AppTest.from_file(str(ROOT / "app" / "main.py"), default_timeout=TIMEOUT)
    wrong = {"dataset": "own:1", "row": "-5", "class": "<b>", "E": "700", "view": "x"}
    for key, value in wrong.items():
        at.query_params[key] = value
    at.run()
    wait_until_trained(at)
    at.switch_page("views/compare.py").run()
    assert not at.exception
    assert at.selectbox(key="dataset").value == "gapminder"
    assert (at.number_input(key="row").value, at.slider(key="E").value) == (1, 7)
