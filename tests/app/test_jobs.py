"""Training in a child process: it reports, it can be cancelled, it leaves nothing."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from spam_core import load_model
from ui import jobs

SMALL = {"n_members": 2, "rank": 2, "n_knots": 8, "max_epochs": 2, "random_state": 0}


def wait_for(condition, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.02)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def long_fit(folder: Path) -> jobs.Run:
    params = SMALL | {"max_epochs": 100_000, "patience": 100_000}
    return jobs.start({"dataset": "wine"}, [{"name": "spam", "params": params}], folder)


def test_a_run_reports_and_saves_a_model(tmp_path) -> None:
    models = [
        {"name": "spam", "params": SMALL},
        {"name": "dnn", "params": {"max_epochs": 1}},
    ]
    run = jobs.start({"dataset": "wine"}, models, tmp_path)
    assert run.wait(120)
    assert run.state == "done", run.message
    assert list(run.fitted) == ["spam", "dnn"]
    assert [step["epoch"] for step in run.epochs["spam"]] == [1, 2]
    assert run.progress() == (1.0, "Done")
    model = load_model(run.fitted["spam"].path)
    assert len(model.classes_) == 3
    report = run.report
    assert report["metrics"][0] == "accuracy"
    assert report["models"]["spam"]["scores"] == run.fitted["spam"].scores
    assert 0 < report["baseline"]["scores"]["accuracy"] < 1


def test_a_mistake_is_told_in_one_sentence(tmp_path) -> None:
    params = {"order": 9}
    run = jobs.start(
        {"dataset": "wine"}, [{"name": "spam", "params": params}], tmp_path
    )
    run.wait(120)
    assert run.state == "failed"
    assert "order" in run.message
    assert "Traceback" not in run.message


def test_o18_cancel_ends_the_child_within_two_seconds(tmp_path) -> None:
    run = long_fit(tmp_path)
    wait_for(lambda: run.epochs.get("spam"))
    pid = run._process.pid
    started = time.monotonic()
    run.cancel()
    assert run.wait(10)
    assert time.monotonic() - started < 2
    assert run.state == "cancelled"
    assert not alive(pid)
    assert not run.fitted


def test_one_training_at_a_time_and_a_waiting_one_can_be_cancelled(tmp_path) -> None:
    first, second = long_fit(tmp_path), long_fit(tmp_path)
    wait_for(lambda: first.epochs.get("spam"))
    assert second.state == "waiting"
    assert second.progress()[1].startswith("Waiting")
    second.cancel()
    assert second.wait(5)
    assert second.state == "cancelled"
    first.cancel()
    assert first.wait(10)


def test_a_child_that_will_not_stop_is_ended(tmp_path) -> None:
    run = long_fit(tmp_path)
    wait_for(lambda: run.epochs.get("spam"))
    os.kill(run._process.pid, signal.SIGSTOP)  # deaf to a polite request
    run.cancel()
    assert run.wait(10)
    assert run.state == "cancelled"


def test_a_child_that_dies_is_reported(tmp_path) -> None:
    run = long_fit(tmp_path)
    wait_for(lambda: run.epochs.get("spam"))
    run._process.kill()
    assert run.wait(10)
    assert run.state == "failed"
    assert run.message


@pytest.mark.parametrize("line", ["", "no json\n", '{"event": "news"}\n'])
def test_noise_between_the_lines_does_no_harm(tmp_path, line) -> None:
    run = jobs.Run(tmp_path, ("spam",))
    run.read(line or "\n")
    assert run.state == "waiting"
    assert not run.fitted
