"""Models with settings that a search has chosen: kept, not repeated, compared."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from spam_core.benchmark import tuned as module
from spam_core.benchmark.child import Children
from spam_core.benchmark.report import load_report
from spam_core.benchmark.tuned import make_report, tuned
from spam_core.cli import main
from spam_core.search import SPACES, SearchResult


def test_a_search_chooses_and_is_not_repeated(tmp_path: Path, monkeypatch: Any) -> None:
    words = ["--tables", "diabetes", "--models", "xgboost", "cart", "--trials", "2"]
    words += ["--seeds", "1", "--threads", "1", "--output", str(tmp_path)]
    assert main(["benchmark", "tuned", *words]) == 0
    report = load_report(tmp_path / "tuned.json")
    peer, cart = report.results
    assert (peer["label"], peer["ratio"]) == ("XGBoost, tuned", 1.0)
    assert cart["ratio"] == pytest.approx(cart["mean"] / peer["mean"])
    for line, fit in zip((peer, cart), report.fits, strict=True):
        assert (line["trials"], line["complete"]) == (2, 3)  # with the defaults
        assert line["parameters"] == {"0": fit["parameters"]}
        assert "n_jobs" not in fit["parameters"]
        assert line["seconds"] is not None
        assert line["search_seconds"] > 0
    assert report.command == (
        "python -m spam_core benchmark tuned --tables diabetes --models xgboost cart "
        "--trials 2 --seeds 1 --threads 1"
    )
    # neither searched nor fitted again, even where the trials are gone
    shutil.rmtree(tmp_path / "trials")
    monkeypatch.setattr(module, "search", None)
    monkeypatch.setattr(Children, "measure", None)
    assert main(["benchmark", "tuned", *words]) == 0
    assert load_report(tmp_path / "tuned.json").results == report.results


@pytest.mark.parametrize(
    ("model", "orders"), [("spam", [2, 3]), ("spam-linear", [None, 3])]
)
def test_defaults_are_tried_as_every_variant_has_them(
    model: str, orders: list[int | None], tmp_path: Path, monkeypatch: Any
) -> None:
    asked, places = [], []

    def look(table: Any, model: str, **given: Any) -> SearchResult:
        asked.append(given["changes"])
        places.append(given["storage"])
        return SearchResult(model, "diabetes", "rmse", (), {})

    monkeypatch.setattr(module, "search", look)
    module._search(tmp_path, "diabetes", model, 0, 30, 1, print)
    *defaults, drawn = asked
    assert [changes.get("order") for changes in defaults] == orders
    assert all(set(changes) >= set(SPACES[model]) for changes in defaults)
    assert drawn == {}  # from the ranges
    assert len(set(places)) == len(asked)


def test_more_trials_are_another_search(tmp_path: Path) -> None:
    for n_trials in (1, 2):
        report = tuned(tmp_path, ["diabetes"], ["cart"], n_trials, [0])
    (line,) = report.results
    assert (line["trials"], len(report.fits)) == (2, 1)


def test_settings_may_differ_between_seeds() -> None:
    fit: dict[str, Any] = {
        "table": "diabetes", "label": "CART, tuned", "model": "cart", "note": None,
        "seconds": 1.0, "trials": 3, "complete": 2, "search_seconds": 4.0,
        "threads": 1, "jobs": 1, "cpu": "x", "spam_core": "1",
    }  # fmt: skip
    fits = [
        {
            **fit,
            "seed": seed,
            "scores": {"rmse": 60.0 + seed},
            "validation": 55.0,
            "parameters": {"max_depth": seed + 1},
        }
        for seed in (0, 1)
    ]
    (line,) = make_report(fits).results
    assert (line["mean"], line["seeds"], line["ratio"]) == (60.5, [0, 1], None)
    assert line["parameters"] == {"0": {"max_depth": 1}, "1": {"max_depth": 2}}


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--models", "forest"], "no model 'forest'; choose from spam"),
        (["--models", "cart", "--trials", "0"], "a trial or more, got 0"),
    ],
)
def test_mistakes_are_told_before_any_search(
    words: list[str], text: str, tmp_path: Path, capsys: Any
) -> None:
    words = ["--tables", "diabetes", *words, "--output", str(tmp_path)]
    assert main(["benchmark", "tuned", *words]) == 2
    assert text in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
