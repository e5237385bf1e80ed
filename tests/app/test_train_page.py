"""The page Train: settings, a training under way, cancel, and what came out."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from spam_core import load_model
from tests.app.helpers import (
    VIEWS,
    bring,
    charts,
    open_app,
    texts,
    train,
    use,
    wait_until_trained,
)

FILE = ("a,b,y\n" + "".join(f"{i % 9}.5,{i % 4},{i % 3}\n" for i in range(90))).encode()


def own_table() -> AppTest:
    at = bring("file.csv", FILE)
    use(at, "y")
    return at


def start_long(at: AppTest) -> None:
    at.switch_page("views/train.py").run()
    at.number_input(key="train_epochs").set_value(100_000)
    at.number_input(key="train_patience").set_value(100_000).run()
    at.button(key="start").click().run()
    deadline = time.monotonic() + 60
    while not charts(at):  # until the first epochs are in
        assert time.monotonic() < deadline
        time.sleep(0.2)
        at.run()


def workspace(at: AppTest):
    return at.session_state["workspace"]


def test_every_page_says_that_an_own_table_has_no_model() -> None:
    at = own_table()
    for view in VIEWS:
        at.switch_page(f"views/{view}").run()
        assert not at.exception
        assert "This table has no model yet." in [info.value for info in at.info]


def test_training_on_an_own_table_opens_every_page() -> None:
    at = own_table()
    train(at, models=["spam", "dnn"], epochs=1)
    labels = [metric.label for metric in at.metric]
    assert labels == [
        "SPAM: Accuracy on the test rows",
        "Neural network: Accuracy on the test rows",
    ]
    assert at.metric[0].delta == "no model before"
    assert len(charts(at)) == 2
    for view in VIEWS:
        at.switch_page(f"views/{view}").run()
        assert not at.exception
        assert not at.error
        assert charts(at)


@pytest.mark.slow
def test_a_second_model_stands_beside_the_first() -> None:
    at = own_table()
    train(at)
    first = at.metric[0].value
    train(at, order=1, seed=1, epochs=3)
    assert first in at.metric[0].delta or at.metric[0].delta == "as before"
    frame = at.dataframe[0].value
    assert list(frame) == ["test rows", "new", "before"]
    assert frame["before"][0] == first
    done = [t.run for runs in workspace(at).trainings.values() for t in runs]
    orders = [load_model(run.fitted["spam"].path).order for run in done]
    assert orders == [2, 1]
    at.switch_page("views/interactions.py").run()
    assert "no pair terms" in at.info[0].value


@pytest.mark.slow
def test_a_built_in_table_gets_a_model_of_ones_own() -> None:
    at = open_app("wine")
    before = at.metric[0].delta
    train(at, order=1)
    at.switch_page("views/interactions.py").run()
    assert "no pair terms" in at.info[0].value
    other = open_app("wine", "interactions.py")  # another visitor
    assert not other.info or "no pair terms" not in other.info[0].value
    assert before
    assert len(charts(other)) == 2


def test_o18_moving_a_slider_restarts_nothing() -> None:
    at = own_table()
    start_long(at)
    run = workspace(at).training.run
    pid = run._process.pid
    epochs = len(run.epochs["spam"])
    at.slider(key="train_rank").set_value(7).run()
    at.slider(key="train_members").set_value(3).run()
    assert not at.exception
    assert at.button(key="start").disabled
    assert workspace(at).training.run is run
    assert run._process.pid == pid
    assert run._process.poll() is None
    assert len(run.epochs["spam"]) >= epochs
    run.cancel()
    assert run.wait(5)


def test_o18_cancel_keeps_the_model_of_before() -> None:
    at = own_table()
    train(at)
    (first,) = [t.run for runs in workspace(at).trainings.values() for t in runs]
    start_long(at)
    run = workspace(at).training.run
    at.button(key="cancel").click().run()
    assert run.state == "cancelled"
    assert run._process.poll() is not None
    at.run()
    assert not at.exception
    assert "The model of before is kept." in at.warning[0].value
    assert not at.button(key="start").disabled
    at.switch_page("views/explain.py").run()
    assert not at.exception
    assert charts(at)
    assert first.fitted["spam"].path


def test_a_failed_training_is_told() -> None:
    at = own_table()
    table = next(iter(workspace(at).tables.values()))
    Path(table.path).write_bytes(b"no table any more")
    train(at)
    assert not at.exception
    assert at.error
    assert "Traceback" not in at.error[0].value


def test_others_wait_and_are_told() -> None:
    one, two = own_table(), own_table()
    start_long(one)
    two.switch_page("views/train.py").run()
    two.number_input(key="train_epochs").set_value(1).run()
    two.button(key="start").click().run()
    assert not two.exception
    assert "yours is next in line" in texts(two)
    one.button(key="cancel").click().run()
    wait_until_trained(two)
    assert not two.exception
    assert [metric.label for metric in two.metric]
