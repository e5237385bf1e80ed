"""The page Performance shows the library's numbers in every state."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose

from spam_core import evaluation, load_dataset
from spam_core.benchmark.report import Column, Report
from spam_core.estimators.fitting import METRICS
from tests.app.helpers import DATASETS, bring, charts, open_app, texts, train, use
from ui import compute, evaluating

PAGE = "performance.py"


def figures(at) -> dict[str, dict]:
    return {f["layout"]["title"]["text"]: f for f in charts(at)}


@pytest.mark.parametrize("dataset", DATASETS)
def test_the_numbers_are_those_that_models_are_scored_by(dataset) -> None:
    at = open_app(dataset, PAGE)
    table = load_dataset(dataset)
    metric = METRICS[table.task][0]
    found = {name: compute.model(dataset, name) for name in ("spam", "dnn")}
    board = charts(at)[0]
    drawn = {trace["name"]: trace["x"][0] for trace in board["data"]}
    assert_allclose(drawn["SPAM"], found["spam"].scores[metric], rtol=1e-9)
    assert_allclose(drawn["Neural network"], found["dnn"].scores[metric], rtol=1e-9)
    best = board["data"][0]["name"]
    (headline,) = [m.value for m in at.markdown if m.value.startswith("####")]
    assert headline[5:].lower().startswith((best.lower(), f"the {best.lower()}"))
    assert re.search(r"95 % interval", texts(at))
    assert "chance" in texts(at)


def test_a_regression_shows_where_it_is_off() -> None:
    at = open_app("gapminder", PAGE)
    assert not at.exception
    table = load_dataset("gapminder")
    found = evaluation.errors(
        evaluation.predict(compute.estimator(compute.model("gapminder").path), table)
    )
    shown = figures(at)
    points = shown["Predicted and actual"]["data"][0]
    assert_allclose(points["y"], table.y.iloc[table.splits["test"]])
    assert_allclose(points["x"], found.predicted, rtol=1e-6)
    assert_allclose(shown["Residuals"]["data"][0]["y"], found.residual, rtol=1e-6)
    bars = shown["Errors by actual value"]["data"][0]["x"]
    assert_allclose(bars, found.by_quantile()["rmse"])
    # rows of one country belong together
    assert "groups that test rows belong to" in texts(at)


def test_the_largest_error_is_a_click_from_its_case() -> None:
    at = open_app("gapminder", PAGE)
    frame = at.dataframe[-1].value
    assert list(frame) == ["test row", "actual", "predicted", "actual less predicted"]
    worst = int(frame["test row"].iloc[0])
    at.button(key="explain_mistake").click().run()
    assert not at.exception
    assert at.title[0].value == "Explain a case"
    assert at.number_input(key="row").value == worst


def test_two_classes_follow_the_threshold_and_the_class_of_interest() -> None:
    at = open_app("breast_cancer", PAGE)
    table = load_dataset("breast_cancer")
    n_test = len(table.splits["test"])
    path = compute.model("breast_cancer").path
    predictions = evaluation.predict(compute.estimator(path), table)
    for class_ in table.class_names:
        at.segmented_control(key="performance_class").set_value(class_).run()
        one = evaluation.one_against_rest(predictions, class_)
        for threshold in (0.5, 0.9):
            at.slider(key="performance_threshold").set_value(threshold).run()
            assert not at.exception
            wanted = evaluation.at_threshold(one, threshold)
            matrix = figures(at)[f"Confusion matrix at threshold {threshold:g}"]
            counts = [[c[2] for c in row] for row in matrix["data"][0]["customdata"]]
            assert counts == wanted.counts.tolist()
            assert sum(map(sum, counts)) == n_test
            shown = {m.label: float(m.value) for m in at.metric}
            assert_allclose(shown["Precision"], wanted.precision[1], rtol=1e-3)
            assert_allclose(shown["Recall"], wanted.recall[1], rtol=1e-3)
        roc = figures(at)[f"ROC: {class_}"]
        assert [t["name"].split(",")[0] for t in roc["data"]] == [
            "SPAM",
            "Neural network",
            "guessing",
        ]
        assert f"Calibration of SPAM: {class_}" in figures(at)


def test_another_model_is_looked_at_in_its_place() -> None:
    at = open_app("breast_cancer", PAGE)
    at.selectbox(key="model").select("dnn").run()
    assert not at.exception
    assert at.header[0].value == "Neural network: where it is right and wrong"
    class_ = at.segmented_control(key="performance_class").value
    assert f"Calibration of the neural network: {class_}" in figures(at)


def test_several_classes_have_a_matrix_and_one_against_the_rest() -> None:
    at = open_app("wine", PAGE)
    assert not at.exception
    table = load_dataset("wine")
    predictions = evaluation.predict(
        compute.estimator(compute.model("wine").path), table
    )
    matrix = figures(at)["Confusion matrix"]["data"][0]
    counts = [[cell[2] for cell in row] for row in matrix["customdata"]]
    assert counts == evaluation.confusion(predictions).counts.tolist()
    at.selectbox(key="class").select("class_2").run()
    assert not at.exception
    roc = figures(at)["ROC: class_2"]["data"][0]
    one = evaluation.one_against_rest(predictions, "class_2")
    assert_allclose(roc["x"], evaluation.roc_curve(one).false_positive)


RESULT = {
    "table": "gapminder",
    "model": "spam",
    "label": "SPAM, order 3",
    "metric": "rmse",
    "better": "lower",
    "mean": 6.0,
    "spread": 0.1,
    "seeds": [0, 1],
    "scores": [5.9, 6.1],
    "metrics": {"rmse": [5.9, 6.1]},
    "seconds": 1.0,
    "memory_gb": None,
    "parameters": 10,
    "paper": 6.5,
    "note": None,
}


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """Return a function that stores results as the benchmark does."""

    def store(*results: dict) -> None:
        report = Report(
            "accuracy", "t", "t", "c", [Column("model", "model")], list(results)
        )
        report.save(tmp_path)

    monkeypatch.setattr(evaluating, "ACCURACY", tmp_path / "accuracy.json")
    return store


def test_without_a_benchmark_its_command_is_told(stored) -> None:
    at = open_app("gapminder", PAGE)
    assert evaluating.COMMAND in at.info[0].value
    stored(RESULT | {"table": "wine"})  # of another table
    at.run()
    assert not at.exception
    assert evaluating.COMMAND in at.info[0].value
    evaluating.ACCURACY.write_text("half a file")
    at.run()
    assert not at.exception
    assert evaluating.COMMAND in at.info[0].value


def test_reruns_stand_beside_the_paper(stored) -> None:
    missing = {"mean": None, "spread": None, "scores": [], "seeds": [], "paper": None}
    stored(
        RESULT,
        RESULT | missing | {"label": "EBM <b>", "note": "needs *interpret*"},
    )
    at = open_app("gapminder", PAGE)
    assert not at.exception
    assert not at.info
    figure = figures(at)["Rerun with 2 seeds"]
    drawn = {trace["name"]: trace["x"] for trace in figure["data"]}
    assert drawn == {"one seed": [5.9, 6.1], "mean ± sd": [6.0], "paper": [6.5]}
    assert "years" in figure["layout"]["xaxis"]["title"]["text"]
    (note,) = [c.value for c in at.caption if "not measured" in c.value]
    assert r"\<b\>" in note
    assert r"\*interpret\*" in note


def table_of(labels: list[str], seed: int = 0) -> bytes:
    rng = np.random.default_rng(seed)
    lines = [f"{rng.normal():.3f},{rng.normal():.3f},{label}" for label in labels]
    return "\n".join(["a,b,y", *lines]).encode()


def test_one_model_alone_has_nothing_to_be_compared_with() -> None:
    at = bring("t.csv", table_of(["yes", "no"] * 40))
    use(at, "y")
    train(at)
    at.switch_page(f"views/{PAGE}").run()
    assert not at.exception
    (headline,) = [m.value for m in at.markdown if m.value.startswith("####")]
    assert headline.startswith("#### SPAM: AUC")
    assert "difference" not in texts(at)
    frame = at.dataframe[1].value
    assert frame["model"].tolist() == ["SPAM"]
    assert not [name for name in frame if "beside" in name]
    assert "named data sets only" in at.info[0].value


def test_test_rows_of_one_class_are_told_and_the_rest_is_shown() -> None:
    at = bring("t.csv", table_of(["yes"] * 2 + ["no"] * 38))
    key = use(at, "y")
    train(at)
    at.switch_page(f"views/{PAGE}").run()
    assert not at.exception
    table = at.session_state["workspace"].tables[key].open()
    if table.y.iloc[table.splits["test"]].nunique() > 1:
        pytest.skip("the split put both classes into the test part")
    (headline,) = [m.value for m in at.markdown if m.value.startswith("####")]
    assert "can't be worked out" in headline
    assert [i.value for i in at.info if "rows of both" in i.value]
    assert "Confusion matrix at threshold 0.5" in figures(at)


def test_forty_classes_are_listed_by_pairs() -> None:
    labels = [f"c{k % 40}" for k in range(400)]
    at = bring("t.csv", table_of(labels))
    use(at, "y")
    train(at)
    at.switch_page(f"views/{PAGE}").run()
    assert not at.exception
    assert "Most confused classes" in figures(at)
    assert "Confusion matrix" not in figures(at)
    assert len(figures(at)["Class by class"]["data"][0]["x"]) == 25
