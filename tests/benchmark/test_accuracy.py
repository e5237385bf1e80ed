"""The accuracy benchmark: what is measured is kept, and what can't be says why."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from spam_core import __version__
from spam_core.benchmark import accuracy as module
from spam_core.benchmark.accuracy import accuracy, make_report, summarise
from spam_core.benchmark.child import Children, Job
from spam_core.benchmark.fits import Plan, is_known, replace_fit, wanted
from spam_core.benchmark.paper import PAPER
from spam_core.benchmark.report import load_report
from spam_core.benchmark.splits import load_split
from spam_core.benchmark.variants import TABLES, VARIANTS, find_variants
from spam_core.cli import main
from spam_core.data import dataset_names
from spam_core.estimators import make_model
from spam_core.estimators.fitting import METRICS, ModelSpec, fit, score

KEYS = {
    *("table", "model", "label", "metric", "better", "mean", "spread", "seeds"),
    *(
        "n_seeds",
        "scores",
        "metrics",
        "seconds",
        "memory_gb",
        "parameters",
        "paper",
        "note",
    ),
}


def a_fit(**changes: Any) -> dict[str, Any]:
    made = {
        "table": "california",
        "label": "EBM 3x",
        "model": "ebm-2",
        "parameters": {},
        "stop_after": None,
        "seed": 0,
        "spam_core": __version__,
        "scores": {"rmse": 0.5, "mae": 0.4, "r2": 0.8},
        "seconds": 2.0,
        "memory_gb": 0.5,
        "note": None,
        "failed": False,
        "limit": 60.0,
        "threads": 1,
        "jobs": 1,
        "cpu": "a processor",
    }
    return {**made, **changes}


def lower(value: float) -> dict[str, float]:
    return {"rmse": value, "mae": value, "r2": 0.5}


# --- what is measured ----------------------------------------------------------------


def test_variants_can_be_made() -> None:
    for variant in VARIANTS:
        make_model(variant.name, "regression", **variant.parameters)
    assert len({v.key for v in VARIANTS}) == len({v.label for v in VARIANTS})
    assert set(TABLES) <= set(dataset_names())


def test_a_variant_of_some_tables_is_measured_on_those() -> None:
    fits = wanted(["adult", "covertype"], find_variants(["cart", "spam-3-wide"]), [0])
    assert [(fit["table"], fit["label"]) for fit in fits] == [
        ("adult", "CART"),
        ("covertype", "CART"),
        ("covertype", "SPAM, order 3, rank 128"),
    ]


def test_the_paper_is_asked_for_models_that_it_has() -> None:
    named = {row for column in PAPER.values() for row in column.numbers}
    assert {v.paper for v in VARIANTS if v.paper is not None} <= named
    assert set(PAPER) <= set(TABLES)


def test_seeds_split_anew_but_for_published_splits(data_dir: Path) -> None:
    kept = [load_split("adult", seed).splits["test"].tolist() for seed in (0, 1)]
    assert kept[0] == kept[1]


def test_groups_stay_together_under_every_seed() -> None:
    table = load_split("gapminder", 3)
    assert table.groups is not None
    parts = [set(table.groups.iloc[rows]) for rows in table.splits.values()]
    assert sum(map(len, parts)) == len(set.union(*parts))


def test_a_child_finds_what_this_process_finds() -> None:
    found = Children().measure(Job("diabetes", "cart", seed=1), limit=100)
    table = load_split("diabetes", 1)
    own = score(fit(ModelSpec("cart", {"random_state": 1}), table), table)
    assert found["scores"] == pytest.approx(own, rel=1e-12)
    assert found["memory_gb"] > 0.05


# --- the command ---------------------------------------------------------------------


def command(folder: Path, *more: str) -> list[str]:
    models = ("--models", "cart", "xgboost")
    return [
        *("benchmark", "accuracy", "--tables", "diabetes", *models),
        *("--threads", "1", "--output", str(folder), *more),
    ]


def test_fits_are_added_and_not_measured_twice(tmp_path: Path, capsys) -> None:
    assert main(command(tmp_path, "--seeds", "1")) == 0
    out, err = capsys.readouterr()
    assert "| XGBoost | " in out
    assert err.count("\n") == 2
    assert main(command(tmp_path, "--seeds", "0", "4")) == 0
    assert capsys.readouterr().err.count("seed 4") == 2
    report = load_report(tmp_path / "accuracy.json")
    assert len(report.fits) == 4
    for result in report.results:
        assert set(result) == KEYS
        assert result["seeds"] == [0, 4]
        assert len(result["scores"]) == 2
        assert result["spread"] > 0
        assert result["metrics"]["rmse"] == result["scores"]
        assert set(result["metrics"]) == set(METRICS["regression"])
    times = [fit["seconds"] for fit in report.fits]
    assert main(command(tmp_path, "--seeds", "1", "--again")) == 0
    assert capsys.readouterr().err.count("seed 0") == 2
    again = load_report(tmp_path / "accuracy.json")
    assert len(again.fits) == 4
    assert [fit["seconds"] for fit in again.fits] != times


@pytest.mark.slow
def test_a_killed_run_goes_on_where_it_stopped(tmp_path: Path, capsys) -> None:
    words = [sys.executable, "-m", "spam_core", *command(tmp_path, "--seeds", "30")]
    run = subprocess.Popen(words, stderr=subprocess.DEVNULL, start_new_session=True)
    path = tmp_path / "accuracy.json"
    deadline = time.monotonic() + 120
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    kept = len(load_report(path).fits)
    assert 0 < kept < 60
    assert main(command(tmp_path, "--seeds", "2", "--jobs", "2")) == 0
    assert capsys.readouterr().err.count("\n") == max(0, 4 - kept)
    assert len(load_report(path).fits) == max(4, kept)


def test_what_cannot_be_run_says_why(tmp_path: Path) -> None:
    plan = Plan(limit=0.2)
    report = accuracy(tmp_path, ["wine"], ["cart"], [0, 1], plan)
    (result,) = report.results
    assert result["note"] == "over the limit of 0 seconds"
    assert result["mean"] is None
    assert result["scores"] == []
    assert "- CART: over the limit" in report.markdown()
    # the other seed isn't tried; a higher limit is
    assert len(report.fits) == 1
    report = accuracy(tmp_path, ["wine"], ["cart"], [0, 1], Plan(limit=100))
    assert report.results[0]["note"] is None
    assert len(report.fits) == 2


def test_a_refusal_of_the_model_is_its_note() -> None:
    found = Children().measure(Job("wine", "cart", {"criterion": "no"}), limit=100)
    assert "no" in found["note"]
    assert "scores" not in found


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--models", "spam", "gam"], "no model 'gam'; choose from spam, spam-3"),
        (["--tables", "iris"], "no data set 'iris'; choose from california"),
        (["--seeds", "-1"], "--seeds takes"),
        (["--jobs", "0"], "jobs must be positive"),
        (["--limit", "0"], "limit must be positive"),
    ],
)
def test_mistakes_are_told_before_any_work(words, text, tmp_path, capsys) -> None:
    assert main(["benchmark", "accuracy", *words, "--output", str(tmp_path)]) == 2
    assert text in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_table_that_is_not_here_is_told(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.setenv("SPAM_DATA_DIR", str(tmp_path))
    words = ["benchmark", "accuracy", "--output", str(tmp_path)]
    assert main([*words, "--tables", "heloc"]) == 2
    assert "files of heloc aren't here" in capsys.readouterr().err
    assert main(words) == 2
    assert "None of the benchmark's data sets is here" in capsys.readouterr().err


# --- the summary ---------------------------------------------------------------------


def test_results_sum_up_the_seeds_in_the_order_of_the_lists() -> None:
    fits = [
        a_fit(table="wine", scores={"accuracy": 0.9, "log_loss": 0.3, "auc": 1.0}),
        a_fit(label="EBM 3x", seed=1, scores=lower(0.7), seconds=4.0, memory_gb=0.2),
        a_fit(label="EBM 3x", seed=0, scores=lower(0.5)),
        a_fit(label="SPAM, order 2", model="spam", scores=lower(0.4)),
    ]
    results = summarise(fits)
    assert [(r["table"], r["label"]) for r in results] == [
        ("california", "SPAM, order 2"),
        ("california", "EBM 3x"),
        ("wine", "EBM 3x"),
    ]
    ebm = results[1]
    assert (ebm["mean"], ebm["scores"], ebm["seeds"]) == (0.6, [0.5, 0.7], [0, 1])
    assert ebm["spread"] == pytest.approx(0.1414, abs=1e-4)
    assert (ebm["seconds"], ebm["memory_gb"]) == (3.0, 0.5)
    assert (ebm["better"], ebm["paper"]) == ("lower", 0.4919)
    assert (results[2]["metric"], results[2]["better"]) == ("accuracy", "higher")


def test_the_page_has_the_ratio_the_paper_and_the_best_in_bold() -> None:
    fits = [
        a_fit(scores=lower(0.5)),
        a_fit(label="SPAM, order 2", model="spam", scores=lower(0.45)),
    ]
    page = make_report(fits).markdown()
    assert "| SPAM, order 2 | **0.4500** | 1 | 0.900 | – | 2.0 | 0.50 |" in page
    assert "| EBM 3x | 0.5000 | 1 | 1.00 | 0.4919 | 2.0 | 0.50 |" in page
    assert "best SPAM on CH (Neural, Order 3) has 0.4865." in page


def test_fits_of_older_settings_do_not_count() -> None:
    fits = [
        a_fit(seed=0, spam_core="0.0.1"),
        a_fit(seed=1, parameters={"order": 3}),
        a_fit(seed=2, scores=lower(0.3)),
    ]
    (result,) = summarise(fits)
    assert result["seeds"] == [2]


def test_a_measured_seed_takes_a_note_away() -> None:
    slow = a_fit(note="over the limit of 60 seconds", scores=None, seed=1)
    assert is_known(a_fit(seed=2), [slow], 60)
    assert not is_known(a_fit(seed=2, label="EBM"), [slow], 60)
    kept = replace_fit([a_fit(seed=0), slow], a_fit(seed=2))
    assert [fit["seed"] for fit in kept] == [0, 2]


def test_what_failed_is_tried_again(tmp_path: Path, monkeypatch) -> None:
    broken = {"note": "the process ended without an answer (SIGKILL)", "failed": True}
    monkeypatch.setattr(Children, "measure", lambda *_: broken)
    (result,) = accuracy(tmp_path, ["diabetes"], ["cart"], [0]).results
    assert "SIGKILL" in result["note"]
    whole = {"scores": lower(55.0), "seconds": 1.0, "memory_gb": 0.1}
    monkeypatch.setattr(Children, "measure", lambda *_: whole)
    (result,) = accuracy(tmp_path, ["diabetes"], ["cart"], [0]).results
    assert (result["note"], result["mean"]) == (None, 55.0)


def test_a_child_that_is_killed_says_so(monkeypatch) -> None:
    children = Children()
    threading.Timer(1.0, children.end).start()
    found = children.measure(Job("wine", "ebm-2"), limit=100)
    assert found["failed"]
    assert "SIGKILL" in found["note"]


def test_the_file_of_another_benchmark_is_refused(tmp_path: Path) -> None:
    (tmp_path / "accuracy.json").write_text(json.dumps({"results": []}))
    with pytest.raises(ValueError, match="no report of a benchmark"):
        accuracy(tmp_path, ["wine"], ["cart"])


def test_ending_leaves_nothing_running(tmp_path: Path, monkeypatch) -> None:
    def interrupted(*_: object, **__: object) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(module.Store, "add", interrupted)
    with pytest.raises(KeyboardInterrupt):
        accuracy(tmp_path, ["wine"], ["cart"], [0, 1, 2])
    assert not list(tmp_path.iterdir())
