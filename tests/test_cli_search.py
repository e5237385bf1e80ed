"""The command ``search``: its report, its files, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from spam_core import load_dataset, load_model
from spam_core.cli import main

WORDS = ["search", "--dataset", "wine", "--model", "cart", "--trials", "4"]


def test_the_report_names_the_best_and_saves_it(tmp_path: Path, capsys: Any) -> None:
    table, out = tmp_path / "trials.csv", tmp_path / "best.spam"
    more = ["--set", "min_samples_leaf=2,40", "--metric", "log_loss"]
    assert main([*WORDS, *more, "--table", str(table), "--out", str(out)]) == 0
    told = capsys.readouterr()
    trials = pd.read_csv(table)
    best = trials.loc[trials["log_loss"].idxmin()]
    assert "4 trials of cart on wine (4 complete)" in told.out
    assert f"Best log loss on validation rows: {best['log_loss']:.4g}" in told.out
    assert f"min_samples_leaf = {best['min_samples_leaf']}" in told.out
    assert told.err.count("log loss") == 4
    model = load_model(out)
    assert model.get_params()["min_samples_leaf"] == best["min_samples_leaf"]
    assert "on test rows" in told.out
    assert len(model.predict(load_dataset("wine").X.head(3))) == 3


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--set", "depth=3"], "cart has no setting 'depth'; it has ccp_alpha"),
        (["--metric", "rmse"], "no metric of a multiclass task; choose from accuracy"),
        (["--trials", "0"], "n_trials must be at least 1, got 0"),
        (["--jobs", "0"], "--jobs must be at least 1, got 0"),
        (["--jobs", "2"], "--jobs needs --storage"),
        (["--set", "max_depth=2", "--set", "max_depth=3"], "names a setting twice"),
    ],
)
def test_mistakes_are_one_line(words: list[str], text: str, capsys: Any) -> None:
    assert main([*WORDS, *words]) == 2
    error = capsys.readouterr().err
    assert text in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ("max_depth", "expected NAME=RANGE, got 'max_depth'"),
        ("max_depth=5:2", "max_depth: a range needs low < high, got 5:2"),
        ("max_depth=", "max_depth: Expected a range low:high or values, got nothing"),
    ],
)
def test_bad_ranges_are_told_with_the_setting(
    change: str, text: str, capsys: Any
) -> None:
    with pytest.raises(SystemExit):
        main([*WORDS, "--set", change])
    assert text in capsys.readouterr().err


def test_jobs_share_a_search(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "trials.db"
    assert main([*WORDS, "--storage", str(path), "--jobs", "2"]) == 0
    assert "4 trials of cart on wine (4 complete)" in capsys.readouterr().out


# --- jobs ----------------------------------------------------------------------------


def job_file(folder: Path, **changes: object) -> str:
    content = {
        "dataset": "wine",
        "model": "cart",
        "trials": 2,
        "output": str(folder / "out"),
    }
    path = folder / "job.json"
    path.write_text(json.dumps(content | changes), encoding="utf-8")
    return str(path)


def events(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_a_job_tells_every_trial_and_goes_on(tmp_path: Path, capsys: Any) -> None:
    assert main(["search", job_file(tmp_path)]) == 0
    first = events(capsys.readouterr().out)
    assert [e["event"] for e in first] == ["start", "default", "trial", "trial", "done"]
    start, default, *trials, _ = first
    assert (start["model"], start["trials"]) == ("cart", 2)
    assert 0 < default["scores"]["accuracy"] <= 1
    assert [trial["draw"] for trial in trials] == [0, 1]
    assert main(["search", job_file(tmp_path, trials=3)]) == 0
    again = events(capsys.readouterr().out)
    # what was done is told again and not done again: it took as long to the bit
    assert again[1:3] == trials
    assert again[3] == default
    assert [e.get("draw") for e in again[4:]] == [2, None]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"trials": "many"}, "'trials' must be of type int"),
        ({"model": None}, "'model' must be of type str"),
        ({"trials": 0}, "n_trials must be at least 1, got 0"),
        ({"metric": "rmse"}, "no metric of a multiclass task"),
        ({"output": 3}, "'output' must name a folder"),
        ({"tries": 3}, "unknown ['tries']"),
    ],
)
def test_a_job_refuses_what_it_cannot_do(
    tmp_path: Path, capsys: Any, change: dict[str, object], text: str
) -> None:
    assert main(["search", job_file(tmp_path, **change)]) == 2
    (told,) = events(capsys.readouterr().out)
    assert told["event"] == "error"
    assert text in told["message"]


def test_defaults_that_fail_are_no_reason_not_to_search(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise ValueError("no such luck")

    monkeypatch.setattr("spam_core.cli.search_job.fit", fail)
    assert main(["search", job_file(tmp_path, trials=1)]) == 0
    default, trial = events(capsys.readouterr().out)[1:3]
    assert default["scores"] is None
    assert trial["state"] == "complete"


def test_a_job_and_a_table_are_too_much(tmp_path: Path, capsys: Any) -> None:
    assert main(["search", job_file(tmp_path), "--dataset", "wine"]) == 2
    assert "either a job file or --dataset" in capsys.readouterr().err
