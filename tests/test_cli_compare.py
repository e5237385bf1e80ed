"""The command that compares explanations: what it prints, writes and refuses."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from spam_core import load_dataset, make_model
from spam_core.cli import compare as command
from spam_core.cli import main
from spam_core.explain.measures import MEASURES

FAST = ["--rows", "2", "--seeds", "2", "--samples", "60"]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return a small SPAM and a small network of wine, saved."""
    folder = tmp_path_factory.mktemp("models")
    table = load_dataset("wine")
    small = {
        "spam": {"n_members": 2, "rank": 4, "max_epochs": 3, "n_knots": 8},
        "dnn": {"max_epochs": 3},
    }
    made = {}
    for name, params in small.items():
        made[name] = folder / f"{name}.spam"
        model = make_model(name, table.task, random_state=0, **params)
        model.fit(table.X, table.y).save(made[name])
    return made


def options(models: dict[str, Path]) -> list[str]:
    return [
        *("compare", "--dataset", "wine", *FAST),
        *("--model", f"SPAM={models['spam']}", "--model", f"DNN={models['dnn']}"),
    ]


def fails(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run a command that must fail; return the last line on standard error."""
    try:
        status = main(["compare", *arguments])
    except SystemExit as stop:  # argparse
        status = stop.code
    out, error = capsys.readouterr()
    assert status == 2
    assert not out
    assert "Traceback" not in error
    return error.strip().splitlines()[-1]


def test_it_prints_a_table_and_what_is_known(capsys, models) -> None:
    assert main(options(models)) == 0
    out, error = capsys.readouterr()
    lines = out.splitlines()
    assert max(map(len, lines)) <= 100
    assert lines[0].startswith("wine: 2 of 36 test rows, E = 7 (features), scale: cent")
    assert "100 background rows, 2 seeds" in lines[1]
    body = [line for line in lines if re.search(r"\d\.\d\d", line)]
    firsts = [re.split(r"\s{2,}", line.strip())[:2] for line in body]
    assert [first[0] for first in firsts] == [
        *("SPAM", "exact Shapley", "LIME", "KernelSHAP"),
        *("DNN", "KernelSHAP"),
    ]
    # 13 columns vary: of the network nothing is known
    assert body[0].split()[-4:-2] != ["–", "–"]
    text = " ".join(out.split())
    assert "Truth known for SPAM" in text
    assert "Not known for DNN: more than 12 columns vary" in text
    assert "measures" in error
    assert "training" not in error


def test_numbers_are_those_of_the_file(capsys, models, tmp_path) -> None:
    path = tmp_path / "out.json"
    words = [*options(models), "--class", "class_1", "-E", "4", "--json", str(path)]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert out.endswith(f"wrote {path}\n")
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content["command"].startswith("python -m spam_core compare --dataset wine")
    assert (content["E"], content["unit"], content["seeds"]) == (4, "feature", [0, 1])
    assert content["truth_known"] == {"SPAM": True, "DNN": False}
    assert {"numpy", "torch", "shap", "lime"} <= set(content["environment"]["packages"])
    assert content["environment"]["spam_core"]
    assert list(content["measures"]) == list(MEASURES)
    test = set(load_dataset("wine").splits["test"].tolist())
    assert len(content["rows"]) == 2
    assert set(content["rows"]) <= test
    summary = pd.DataFrame(content["summary"])
    assert list(summary) == ["model", "method", "measure", "mean", "low", "high", "n"]
    error = summary.set_index(["model", "method", "measure"])["mean"]
    assert error["SPAM", "exact Shapley", "error"] == 0.0
    assert math.isnan(error["DNN", "LIME", "error"])
    shown = error["SPAM", "LIME", "error"]
    (line,) = [s for s in out.splitlines() if s.strip().startswith("LIME")][:1]
    assert f"{shown:.2f}" in line.split()


def test_it_trains_where_no_model_is_given(capsys, tmp_path, monkeypatch) -> None:
    asked = []

    def fit(spec, table):
        asked.append((spec.name, dict(spec.params)))
        small = {"max_epochs": 2}
        if spec.name == "spam":
            small |= {"n_members": 2, "rank": 2, "n_knots": 8}
        model = make_model(spec.name, table.task, random_state=0, **small)
        return model.fit(table.X, table.y)

    monkeypatch.setattr(command, "fit", fit)
    path = tmp_path / "rows.csv"
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"])
    frame["y"] = frame["a"] * frame["b"]
    frame.to_csv(path, index=False)
    words = ["compare", "--data", str(path), "--target", "y", "--unit", "term", *FAST]
    assert main(words) == 0
    out, error = capsys.readouterr()
    assert asked == [("spam", {"random_state": 0}), ("dnn", {"random_state": 0})]
    assert "training SPAM\ntraining DNN" in error
    assert "(terms), scale: y" in out
    # three columns: the network's exact values are known
    assert "Truth known for SPAM and DNN" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--dataset", "wine", "-E", "0"], "-E must be at least 1, got 0"),
        (["--dataset", "wine", "--rows", "0"], "--rows must be at least 1, got 0"),
        (["--dataset", "wine", "--seeds", "0"], "--seeds must be at least 1, got 0"),
        (
            ["--dataset", "wine", "--samples", "20"],
            "--samples must be at least 26, twice the columns, got 20",
        ),
        (["--dataset", "wine", "--class", "x"], "--class must be one of ['class_0', "),
        (["--dataset", "diabetes", "--class", "x"], "--class is for classifiers"),
        (["--dataset", "wine", "--model", "m.spam"], "expected NAME=FILE.spam, got"),
        (
            ["--dataset", "wine", "--model", "a=none.spam"],
            "No model file at 'none.spam'",
        ),
        (
            ["--dataset", "wine", "--model", "a=x.spam", "--model", "a=y.spam"],
            "two models are called a",
        ),
        (["--dataset", "wine", "--json", "."], "--json must be a file"),
        (["--dataset", "wine", "--json", "no/such/x.json"], "there is no folder"),
        ([], "give either --dataset NAME or --data FILE"),
    ],
)
def test_a_mistake_is_one_line_before_any_work(capsys, words, message) -> None:
    assert message in fails(capsys, *words)


def test_a_model_of_another_table_is_refused(capsys, models) -> None:
    words = ["--dataset", "diabetes", "--model", f"SPAM={models['spam']}", *FAST]
    line = fails(capsys, *words)
    assert "SPAM: background: Expected the columns used in training" in line
