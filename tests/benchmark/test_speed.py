"""The speed benchmark: ratios within a seed, and SPAM stopped where it is as good."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from spam_core.benchmark import speed as module
from spam_core.benchmark.child import Children, Job
from spam_core.benchmark.fits import Store, replace_fit
from spam_core.benchmark.speed import make_report, speed, summarise
from spam_core.cli import main
from tests.benchmark.test_accuracy import a_fit, lower


def fake(errors: list[float], reference: float) -> Any:
    """Measure made-up fits: a SPAM has these errors after each epoch."""

    def measure(self: Children, job: Job, limit: float) -> dict[str, Any]:
        if job.model != "spam":
            return {"scores": lower(reference), "seconds": 100.0, "memory_gb": 1.0}
        epochs = job.stop_after or len(errors)
        return {
            "scores": lower(errors[epochs - 1]),
            "seconds": 2.0 * epochs,
            "epochs": epochs,
            "memory_gb": 0.5,
        }

    return measure


def run(folder: Path, **more: Any) -> dict[str, Any]:
    report = speed(folder, ["diabetes"], ["spam", "ebm-2"], [0, 1], **more)
    return {result["label"]: result for result in report.results}


def test_spam_is_stopped_at_the_first_epoch_that_is_good_enough(
    tmp_path: Path, monkeypatch
) -> None:
    errors = [0.9, 0.8, 0.7, 0.55, 0.5, 0.45, 0.44, 0.43, 0.42, 0.41]
    monkeypatch.setattr(Children, "measure", fake(errors, reference=0.55))
    found = run(tmp_path)
    spam, ebm = found["SPAM, order 2"], found["EBM 3x"]
    assert (spam["epochs_to_match"], spam["seconds_to_match"]) == (4, 8.0)
    assert spam["times_as_fast_to_match"] == 12.5
    assert (spam["seconds"], spam["times_as_fast"]) == (20.0, 5.0)
    assert (ebm["times_as_fast"], ebm["seconds_to_match"]) == (1.0, None)
    # nothing is measured a second time
    monkeypatch.setattr(Children, "measure", None)
    assert run(tmp_path)["SPAM, order 2"] == spam


def test_a_spam_that_never_is_as_good_has_a_dash(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(Children, "measure", fake([0.9, 0.8], reference=0.5))
    spam = run(tmp_path)["SPAM, order 2"]
    assert (spam["seconds_to_match"], spam["n_matched"]) == (None, 0)
    assert spam["times_as_fast"] == 25.0


@pytest.mark.parametrize(
    ("never", "seconds", "ratio"), [(1, 4.0, 10.0), (2, None, None)]
)
def test_a_seed_that_never_is_as_good_counts_as_the_longest(
    never: int, seconds: float | None, ratio: float | None
) -> None:
    ebm = {"label": "EBM 3x", "model": "ebm-2", "epochs": 0, "seconds": 40.0}
    spams = {"label": "SPAM, order 2", "model": "spam"}
    fits = []
    for seed in range(3):
        error = 0.6 if seed < never else 0.4
        fits += [
            a_fit(**ebm, seed=seed, scores=lower(0.5)),
            a_fit(**spams, seed=seed, seconds=9.0, epochs=9, scores=lower(error)),
        ]
        if seed >= never:
            stopped = {"seconds": 4.0, "epochs": 4, "stop_after": 4}
            fits.append(a_fit(**spams, **stopped, seed=seed, scores=lower(0.5)))
    spam = next(r for r in summarise(fits) if r["model"] == "spam")
    assert (spam["n_matched"], spam["n_seeds"]) == (3 - never, 3)
    assert (spam["seconds_to_match"], spam["times_as_fast_to_match"]) == (
        seconds,
        ratio,
    )


def test_ratios_are_within_a_seed() -> None:
    ebm = {"label": "EBM 3x", "model": "ebm-2", "epochs": 0}
    spam = {"label": "SPAM, order 2", "model": "spam", "epochs": 9}
    seconds = [(10.0, 2.0), (40.0, 4.0), (900.0, 9.0)]
    fits = []
    for seed, (slow, fast) in enumerate(seconds):
        fits += [
            a_fit(**ebm, seed=seed, seconds=slow, scores=lower(0.5)),
            a_fit(**spam, seed=seed, seconds=fast, scores=lower(0.4)),
        ]
    first = summarise(fits)[0]
    assert (first["seconds"], first["times_as_fast"]) == (4.0, 10.0)
    assert (
        "| SPAM, order 2 | rmse | 3 | 0.4000 | 4.0 | 10 |" in make_report(fits).table()
    )


def test_a_whole_fit_takes_its_stopped_ones_away() -> None:
    stopped = a_fit(stop_after=3)
    kept = replace_fit([a_fit(), stopped], a_fit(stop_after=4))
    assert [fit["stop_after"] for fit in kept] == [None, 3, 4]
    assert [f["stop_after"] for f in replace_fit(kept, a_fit())] == [None]


def test_a_child_stops_after_an_epoch() -> None:
    parameters = {"n_members": 1, "rank": 1, "regularization": "smooth"}
    job = Job("diabetes", "spam", parameters, stop_after=2)
    found = Children().measure(job, limit=100)
    assert found["epochs"] == 2
    assert found["scores"]["rmse"] > 0


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--models", "spam"], "ebm-2 must be among the models"),
        (["--tables", "iris"], "no data set 'iris'"),
    ],
)
def test_mistakes_are_told_before_any_work(words, text, tmp_path, capsys) -> None:
    output = ["--output", str(tmp_path)]
    tables = [] if "--tables" in words else ["--tables", "wine"]
    assert main(["benchmark", "speed", *tables, *words, *output]) == 2
    assert text in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_the_command_times_fits(tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.setattr(module, "_REFERENCE_KEY", "cart")  # an EBM takes a minute
    words = ["--tables", "diabetes", "--models", "cart", "xgboost", "--seeds", "1"]
    output = ["--output", str(tmp_path)]
    assert main(["benchmark", "speed", *words, *output]) == 0
    assert "| diabetes | XGBoost | rmse |" in capsys.readouterr().out
    assert len(Store(tmp_path, make_report).fits()) == 2
