"""The jobs of the dashboard: JSON in, JSON lines out, and an end when told."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from spam_core import load_model
from spam_core.cli import main


def job_file(folder: Path, **changes: object) -> Path:
    small = {"n_members": 2, "rank": 2, "n_knots": 8, "max_epochs": 2}
    content = {
        "dataset": "wine",
        "models": [{"name": "spam", "params": small}],
        "output": str(folder / "out"),
    }
    path = folder / "job.json"
    kept = {k: v for k, v in (content | changes).items() if v is not None}
    path.write_text(json.dumps(kept), encoding="utf-8")
    return path


def events(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def test_a_job_reports_in_json_lines(capsys, tmp_path) -> None:
    assert main(["fit", str(job_file(tmp_path))]) == 0
    start, first, second, fitted, done = events(capsys.readouterr().out)
    assert start["event"] == "start"
    assert (start["rows"], start["columns"], start["models"]) == (178, 13, ["spam"])
    assert [first["event"], first["epoch"], first["max_epochs"]] == ["epoch", 1, 2]
    assert second["epoch"] == 2
    assert second["train_loss"] > 0
    assert fitted["event"] == "fitted"
    assert load_model(fitted["path"]).n_features_in_ == 13
    assert done["event"] == "done"
    report = json.loads(Path(done["report"]).read_text(encoding="utf-8"))
    assert report["models"]["spam"]["scores"] == fitted["scores"]
    assert report["rows"] == {"train": 124, "validation": 18, "test": 36}
    assert len(report["models"]["spam"]["history"]) == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"models": None}, "'models' must be a list"),
        ({"models": []}, "'models' must be a list"),
        ({"models": [{"params": {}}]}, "each model must be an object with a 'name'"),
        ({"models": [{"name": "spam", "file": "../x"}]}, "'file' must be a plain file"),
        ({"output": None}, "'output' must name a folder"),
        ({"colour": "red"}, "unknown ['colour']"),
        ({"dataset": None}, "give either"),
        ({"dropped": ["a"]}, "'dropped' must be of type dict, got ['a']"),
        ({"drop_missing_target": True}, "go with a file"),
        ({"models": [{"name": "spam", "params": {"x": 1}}]}, "no setting 'x'"),
    ],
)
def test_a_wrong_job_is_one_error_event(capsys, tmp_path, changes, message) -> None:
    assert main(["fit", str(job_file(tmp_path, **changes))]) == 2
    out, error = capsys.readouterr()
    (event,) = events(out)
    assert event["event"] == "error"
    assert message in event["message"]
    assert "Traceback" not in error


def test_a_job_takes_what_was_decided_about_a_file(capsys, tmp_path) -> None:
    path = tmp_path / "rows.parquet"
    frame = pd.DataFrame({"a": [1.0, 2.0, -9.0, 4.0] * 10, "id": range(40)})
    frame["y"] = [0.0, 1.0] * 19 + [np.nan] * 2
    frame.to_parquet(path)
    changes = {
        "dataset": None,
        "data": str(path),
        "target": "y",
        "task": "classification",
        "name": "my rows",
        "dropped": {"id": "numbers the rows"},
        "special_values": {"a": [-9]},
        "drop_missing_target": True,
    }
    assert main(["fit", str(job_file(tmp_path, **changes))]) == 0
    start, *_, fitted, done = events(capsys.readouterr().out)
    assert (start["rows"], start["columns"], start["task"]) == (38, 1, "binary")
    assert json.loads(Path(done["report"]).read_text())["table"] == "my rows"
    assert load_model(fitted["path"]).encoder_.features[0].levels[0] == -9.0
    wrong = changes | {"special_values": {"id": [-9]}}
    assert main(["fit", str(job_file(tmp_path, **wrong))]) == 2
    assert "no columns to predict from" in events(capsys.readouterr().out)[0]["message"]


def test_sigterm_cancels_a_job_and_leaves_no_model(tmp_path) -> None:
    params = {"n_members": 2, "max_epochs": 100_000, "patience": 100_000}
    path = job_file(tmp_path, models=[{"name": "spam", "params": params}])
    child = subprocess.Popen(
        [sys.executable, "-m", "spam_core", "fit", str(path)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    for line in child.stdout:
        if json.loads(line)["event"] == "epoch":
            break
    child.send_signal(signal.SIGTERM)
    rest = events(child.communicate(timeout=30)[0])
    assert rest[-1] == {"event": "cancelled"}
    assert child.returncode == 128 + signal.SIGTERM
    assert not list((tmp_path / "out").glob("*.spam"))


def test_a_job_stops_when_its_parent_is_gone(tmp_path) -> None:
    params = {"n_members": 2, "max_epochs": 100_000, "patience": 100_000}
    path = job_file(tmp_path, models=[{"name": "spam", "params": params}])
    # the parent starts the job, says which process it is, and dies at once
    starter = (
        "import json, os, subprocess, sys\n"
        f"path = {str(path)!r}\n"
        "job = json.load(open(path)) | {'parent': os.getpid()}\n"
        "json.dump(job, open(path, 'w'))\n"
        "child = subprocess.Popen([sys.executable, '-m', 'spam_core', 'fit', path],\n"
        "    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)\n"
        "while b'epoch' not in child.stdout.readline(): pass\n"
        "print(child.pid, flush=True)\n"
        "os._exit(0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", starter], capture_output=True, text=True, check=True
    )
    pid = int(done.stdout)
    deadline = time.monotonic() + 20
    while _alive(pid):
        assert time.monotonic() < deadline, "the orphan trains on"
        time.sleep(0.1)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    # an ended process that nobody has waited for is still listed, as a zombie
    return not status.exists() or status.read_text().rsplit(")", 1)[1].split()[0] != "Z"
