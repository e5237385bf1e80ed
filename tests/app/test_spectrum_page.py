"""The page Spectrum shows the library's numbers, for every order and class."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from numpy.testing import assert_allclose

from spam_core import load_dataset
from spam_core.estimators import fitting
from tests.app.helpers import DATASETS, charts, open_app, texts
from ui import analysis, compute


def number(text: str) -> float:
    return float(text.split()[0].replace(",", ""))


@pytest.mark.parametrize("dataset", DATASETS)
def test_the_numbers_are_the_librarys(dataset) -> None:
    at = open_app(dataset, "spectrum.py")
    table = load_dataset(dataset)
    model = compute.model(dataset)
    fitted = compute.estimator(model.path)
    spectrum = fitted.spectrum(2, "data")
    effective, held, _, kept, whole = at.metric
    assert_allclose(number(effective.value), spectrum.effective_rank(0), rtol=1e-2)
    assert number(held.value) == spectrum.rank_for(0.99)
    metric = fitting.METRICS[table.task][0]
    assert_allclose(number(whole.value), model.scores[metric], rtol=1e-3)
    values, quality = charts(at)
    assert_allclose(
        [row[0] for row in values["data"][-1]["customdata"]],
        spectrum.values[0],
        rtol=1e-6,
    )
    at.slider(key="spectrum_rank").set_value(3).run()
    assert not at.exception
    kept = at.metric[3]
    score = fitting.score(fitted.truncate({2: 3}), table)[metric]
    assert_allclose(number(kept.value), score, rtol=1e-3)
    assert charts(at)[1]["data"][-1]["x"] == [3]
    # the last point of the curve is the whole model
    assert_allclose(quality["data"][0]["y"][-1], model.scores[metric], rtol=1e-9)
    theorem = at.expander[-1]
    assert "not a guarantee" in theorem.label
    frame = theorem.dataframe[0].value
    terms = analysis.bound(model.path, dataset, 2, 0)
    assert_allclose(
        [number(value) for value in frame["value"]],
        [terms.estimation, terms.confidence, terms.approximation, terms.exact_tail],
        rtol=5e-3,  # tiny ones are written with three digits
    )


def test_the_metric_and_the_class_change_the_values() -> None:
    at = open_app("wine", "spectrum.py")
    seen = [str(charts(at)[0]["data"])]
    at.segmented_control(key="spectrum_metric").set_value("coefficient").run()
    assert "the paper's" in texts(at)
    seen.append(str(charts(at)[0]["data"]))
    at.selectbox(key="class").select("class_2").run()
    seen.append(str(charts(at)[0]["data"]))
    assert len(set(seen)) == 3
    assert not at.exception


@pytest.fixture
def settings(monkeypatch) -> Iterator[dict[str, object]]:
    """Let a test train the built-in models with other settings."""
    compute._built_in_run.clear()
    params: dict[str, object] = dict(compute._FAST["spam"])
    monkeypatch.setitem(compute._FAST, "spam", params)
    yield params
    compute._built_in_run.clear()


def test_a_model_of_order_1_says_so(settings) -> None:
    settings["order"] = 1
    at = open_app("wine", "spectrum.py")
    assert not at.exception
    assert "order 1" in at.info[0].value
    assert not at.get("plotly_chart")


@pytest.mark.parametrize(
    "dataset", [pytest.param("gapminder", marks=pytest.mark.slow), "wine"]
)
def test_a_model_of_order_3_shows_either_order(settings, dataset) -> None:
    settings["order"] = 3
    at = open_app(dataset, "spectrum.py")
    assert at.segmented_control(key="spectrum_order").options == ["2", "3"]
    at.segmented_control(key="spectrum_order").set_value(3).run()
    for metric in ("data", "coefficient"):
        at.segmented_control(key="spectrum_metric").set_value(metric).run()
        assert not at.exception
        values, _ = charts(at)
        assert values["layout"]["title"]["text"] == "Spectrum of order 3"
        # an odd order has no negative values
        assert "negative" not in [trace.get("name") for trace in values["data"]]


@pytest.mark.slow
def test_components_that_hardly_matter_are_told() -> None:
    at = open_app("wine", "spectrum.py")
    path = compute.model("wine").path
    size = analysis.spectrum(path, 2, "data").norms[0, -1]
    column = compute.ranked(path, "wine", "pure", "class_0", 1)[0]
    largest = compute.size(path, "wine", "pure", "class_0", column)
    # a few epochs make little of pairs here
    assert size < 0.01 * largest
    assert "hardly matter" in at.info[0].value
    assert not open_app("gapminder", "spectrum.py").info


def test_one_component_has_nothing_to_cut(settings) -> None:
    settings |= {"rank": 1, "n_members": 1}
    at = open_app("gapminder", "spectrum.py")
    assert not at.exception
    assert not at.error
    assert "1 of 1" in at.metric[2].value
    assert len(at.get("plotly_chart")) == 2
