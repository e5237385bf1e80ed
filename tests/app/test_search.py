"""The page Train's search: it is followed, stopped, resumed, and its best is used."""

from __future__ import annotations

import sys
import threading
import time

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from spam_core.search import SearchResult, Trial
from tests.app.helpers import charts, open_search, texts
from ui import findings, workspace
from ui.searches import Search, SearchRun
from ui.text import literal, score_text
from ui.workspace import Choices, Workspace


def searches(at: AppTest) -> list[SearchRun]:
    return [s.run for s in at.session_state["workspace"].searches.values()]


def wait_for(condition, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.05)


def time_the_end(run: SearchRun, took: list[float]) -> None:
    """Note the seconds from being asked to stop to the end of the process."""
    run._stop.wait()
    asked = time.monotonic()
    run._process.wait()
    took.append(time.monotonic() - asked)


def test_a_search_is_stopped_resumed_and_its_best_is_trained() -> None:
    at = open_search("cart", 200)
    at.button(key="search_start").click().run()
    (first,) = searches(at)
    wait_for(lambda: len(first.trials) >= 2)
    at.number_input(key="search_trials").set_value(150).run()  # restarts nothing
    at.selectbox(key="search_model").select("linear").run()
    at.selectbox(key="search_model").select("cart").run()
    assert not at.exception
    assert searches(at) == [first]
    assert first._process.poll() is None
    assert at.button(key="search_start").disabled
    (told,) = [b.proto.text for b in at.get("progress") if "of 200" in b.proto.text]
    assert "Best so far: accuracy 0." in told
    assert at.dataframe[0].value["outcome"].eq("complete").all()

    took: list[float] = []
    watch = threading.Thread(target=time_the_end, args=(first, took))
    watch.start()
    at.button(key="search_stop").click().run()
    watch.join(30)
    assert took[0] < 2
    assert first.state == "cancelled"
    assert first._process.poll() is not None
    at.run()
    assert not at.exception
    done = len(first.trials)
    assert f"Stopped after {done} of 200 trials." in at.info[0].value
    kept = at.dataframe[0].value
    assert len(kept) >= done

    most = len(kept) + 3
    at.number_input(key="search_trials").set_value(most).run()
    assert at.button(key="search_start").label == "Go on"
    at.button(key="search_start").click().run()
    (again,) = searches(at)
    assert again is not first
    assert again.wait(60)
    assert again.state == "done", again.message
    at.run()
    assert not at.exception
    frame = at.dataframe[0].value
    assert sorted(frame["trial"]) == list(range(1, most + 1))
    seconds = frame.set_index("trial")["seconds"].to_dict()
    for number, before in kept.set_index("trial")["seconds"].items():
        assert seconds[number] == before  # it was not done again
    assert frame["Accuracy"].is_monotonic_decreasing
    best, default = frame["Accuracy"][0], again.default["accuracy"]
    assert (
        f"The best of {most} trials of CART has a validation accuracy of "
        f"{score_text(best)}; the default settings have {score_text(default)}"
    ) in texts(at)
    (figure,) = charts(at)
    assert {"max depth", "min samples leaf"} <= set(figure["data"][0]["y"])
    assert at.button(key="search_start").disabled  # all are done

    at.button(key="search_train").click().run()
    (training,) = at.session_state["workspace"].trainings["wine"]
    assert training.run.wait(60)
    at.run()
    assert not at.exception
    assert [metric.label for metric in at.metric] == ["CART: Accuracy on the test rows"]
    settings = again.found().best.settings
    (asked,) = training.models
    assert asked == {"name": "cart", "params": {**settings, "random_state": 0}}
    at.switch_page("views/performance.py").run()
    assert "CART: where it is right and wrong" in [h.value for h in at.header]

    other = open_search("cart", 3)  # another visitor
    assert other.button(key="search_start").label == "Start search"
    assert not other.dataframe


def test_a_missing_package_is_told_beside_the_model(monkeypatch) -> None:
    at = open_search("cart", 3)
    assert not at.button(key="search_start").disabled
    monkeypatch.setitem(sys.modules, "xgboost", None)
    at.selectbox(key="search_model").select("xgboost").run()
    assert not at.exception
    assert "needs the package xgboost" in at.warning[0].value
    assert at.button(key="search_start").disabled
    monkeypatch.setitem(sys.modules, "optuna", None)
    at.selectbox(key="search_model").select("cart").run()
    assert "A search needs the package optuna" in at.warning[0].value


def own_search(own: Workspace) -> tuple[str, SearchRun]:
    frame = pd.DataFrame({"a": range(60), "y": [0, 1, 1] * 20})
    key = own.add(frame, "t.csv", Choices("y", "classification")).key
    run = own.search(key, "cart", "auc", 500)
    wait_for(lambda: run._process)
    return key, run


def test_a_search_ends_with_its_table_and_with_its_session() -> None:
    own = Workspace()
    key, first = own_search(own)
    assert own.searching.run is first
    own.remove(key)
    assert not own.searches
    assert not first.folder.exists()
    _, second = own_search(own)
    own.close()
    assert not own.folder.exists()
    for run in (first, second):
        assert run.state == "cancelled"
        assert run._process.poll() is not None


def test_a_closed_page_stops_its_search(monkeypatch) -> None:
    monkeypatch.setattr(workspace, "STOP_AFTER", 0.1)
    own = Workspace()
    _, run = own_search(own)
    own.leave()
    assert run.wait(5)
    assert run.state == "cancelled"
    own.close()


def test_a_failed_search_is_told_in_the_words_of_the_mistake(tmp_path) -> None:
    at = open_search("cart", 3)
    run = SearchRun(tmp_path, "cart", "accuracy", 3, state="failed")
    run.message = "no column *y*"
    found = at.session_state["workspace"].searches
    found["wine", "cart", "accuracy"] = Search("wine", run)
    at.run()
    assert not at.exception
    assert at.error[0].value == literal("no column *y*")
    assert not at.button(key="search_start").disabled


def trial(draw: int, state: str, depth: int | None, error: str | None = None) -> Trial:
    scores = {"rmse": 3.0 - draw} if state == "complete" else {}
    settings = {"max_depth": depth, "min_samples_leaf": 4}
    return Trial(draw, state, settings, scores, 1.5, error)


RESULT = SearchResult(
    "cart",
    "t",
    "rmse",
    [
        trial(0, "pruned", 2),
        trial(1, "complete", None),
        trial(2, "failed", 4, "ValueError: no\n *b*."),
        trial(3, "complete", 8),
    ],
    {},
)


def test_trials_are_shown_best_first_with_what_became_of_them() -> None:
    frame = findings.as_shown(RESULT, "years")
    assert list(frame["trial"]) == [4, 2, 1, 3]
    assert list(frame["RMSE (years)"])[:2] == [0.0, 2.0]
    assert list(frame["outcome"]) == [
        "complete",
        "complete",
        "stopped early",
        "failed: no *b*",
    ]
    assert list(frame)[3:] == ["max depth", "min samples leaf", "seconds"]
    raw = findings.best_first(RESULT)
    assert list(raw["trial"]) == [4, 2, 1, 3]
    assert {"rmse", "max_depth", "state", "error"} <= set(raw)


@pytest.mark.parametrize(
    ("default", "rest"),
    [
        (None, ""),
        ({"rmse": None}, ""),
        ({"rmse": 0.25}, "; the default settings have 0.25 years"),
        ({"rmse": -0.5}, "; the default settings have -0.5 years, which is better"),
    ],
)
def test_the_default_settings_are_named_if_they_were_measured(default, rest) -> None:
    best = "The best of 4 trials of CART has a validation RMSE of 0 years"
    assert findings.verdict(RESULT, default, "years") == f"{best}{rest}."


@pytest.mark.parametrize(
    ("trials", "text"),
    [
        ([0], "None of the 1 trials is complete."),
        ([0, 2], "None of the 2 trials is complete. The last one failed: no *b*."),
    ],
)
def test_no_complete_trial_is_told_with_the_reason(trials, text) -> None:
    some = [RESULT.trials[k] for k in trials]
    result = SearchResult("cart", "t", "rmse", some, {})
    assert findings.none_complete(result) == text


def test_what_is_under_way_is_told(tmp_path) -> None:
    run = SearchRun(tmp_path, "cart", "auc", 4)
    assert run.progress() == (0.0, "Waiting for another search to end")
    run.state = "running"
    assert run.progress()[1].startswith("Default settings, to compare with: 0 s")
    run.read('{"event": "default", "scores": null, "seconds": 1.0}')
    assert run.progress() == (0.0, "Trial 1 of 4: 0 s so far")
    rest = '"settings": {}, "scores": {"auc": 0.75}, "seconds": 1.0, "error": null}'
    run.read('{"event": "trial", "draw": 0, "state": "complete", ' + rest)
    assert run.progress() == (0.25, "Trial 2 of 4: 0 s so far. Best so far: AUC 0.75")
    again = run.again(1)
    again.state = "running"
    assert again.progress() == (1.0, "Done")
