"""Searches that are resumed, shared, pruned, stopped, and refused."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest

from spam_core import load_dataset
from spam_core.cli import main
from spam_core.data import Table
from spam_core.search import Choice, Range, SearchResult, Trial, search
from spam_core.search import run as module

CART = {"min_samples_leaf": Choice((2, 4, 8, 16)), "max_depth": Choice((None, 2))}
SPAM: dict[str, Any] = {"rank": 2, "n_members": 2, "max_epochs": 8, "order": 2}


@pytest.fixture(scope="module")
def wine() -> Table:
    return load_dataset("wine")


def cart(table: Table, **more: Any) -> SearchResult:
    return search(table, "cart", changes=CART, **{"n_trials": 6, **more})


def settings(result: SearchResult) -> list[dict[str, Any]]:
    return [dict(trial.settings) for trial in result.trials]


def test_the_best_is_what_the_validation_rows_say(wine: Table) -> None:
    result = cart(wine, metric="log_loss")
    assert [trial.draw for trial in result.trials] == list(range(6))
    losses = [trial.scores["log_loss"] for trial in result.trials]
    assert result.best.scores["log_loss"] == min(losses)
    assert [t.scores["log_loss"] for t in result.ranked] == sorted(losses)
    spec = result.spec(seed=3)
    assert spec.params == {**result.best.settings, "random_state": 3}
    frame = result.to_frame()
    assert list(frame["log_loss"]) == losses
    assert set(CART) <= set(frame.columns)


def test_scores_are_those_of_a_fit_to_the_training_rows(wine: Table) -> None:
    from spam_core.estimators.fitting import fit, score

    best = cart(wine).best
    spec = module.ModelSpec("cart", {**best.settings, "random_state": 0})
    again = score(fit(spec, wine, parts=("train",)), wine, "validation")
    assert again == best.scores


def test_a_seed_draws_the_same_whatever_was_tried(wine: Table, tmp_path: Path) -> None:
    whole = cart(wine)
    path = tmp_path / "trials.db"
    first = cart(wine, storage=path, n_trials=2)
    assert settings(first) == settings(whole)[:2]
    told: list[Trial] = []
    resumed = cart(wine, storage=path, tell=told.append)
    assert [trial.draw for trial in told] == [2, 3, 4, 5]
    assert settings(resumed) == settings(whole)
    assert cart(wine, storage=path, n_trials=3, tell=told.append).trials
    assert len(told) == 4  # nothing was left to do
    assert settings(cart(wine, seed=1)) != settings(whole)


def test_importance_finds_the_setting_that_matters() -> None:
    table = load_dataset("diabetes")
    changes = {"max_depth": Choice((1, 8)), "min_samples_leaf": Choice((4, 5, 6))}
    changes |= {"splitter": "best", "min_samples_split": 2}
    found = search(table, "cart", n_trials=16, changes=changes).importance
    assert next(iter(found)) == "max_depth"
    assert sum(found.values()) == pytest.approx(1)


def test_a_fit_that_fails_is_a_failed_trial(wine: Table, tmp_path: Path) -> None:
    elsewhere = {"vintage": [-9]}  # no column of this table, which only the fit can see
    changes = {"special_values": Choice((elsewhere, None)), "min_samples_leaf": 4}
    path = tmp_path / "trials.db"
    result = search(wine, "cart", n_trials=8, changes=changes, storage=path)
    failed = [trial for trial in result.trials if trial.state == "failed"]
    assert len(failed) > 0
    assert all(trial.settings["special_values"] == elsewhere for trial in failed)
    assert all("vintage" in (trial.error or "") for trial in failed)
    assert result.best.settings["special_values"] is None
    told: list[Trial] = []
    search(wine, "cart", n_trials=8, changes=changes, storage=path, tell=told.append)
    assert told == []  # what can't work isn't tried again
    nothing = search(wine, "cart", n_trials=2, changes={"special_values": elsewhere})
    with pytest.raises(ValueError, match=r"None of 2 trials of cart is .*vintage"):
        nothing.best  # noqa: B018


def test_hopeless_fits_are_ended_early(wine: Table) -> None:
    same = {"regularization": "smooth", "basis_dropout": 0.0, "n_knots": 32}
    rates = {"learning_rate": Choice((1e-5, 0.02, 0.03)), "batch_size": 64}
    changes = {**SPAM, **same, **rates, "max_epochs": 20}
    pruned = search(wine, "spam", n_trials=12, changes=changes, seed=2)
    later = [trial for trial in pruned.trials if trial.draw >= module._STARTUP_TRIALS]
    slow = [trial.state for trial in later if trial.settings["learning_rate"] == 1e-5]
    assert set(slow) == {"pruned"}
    assert {t.state for t in pruned.trials if t not in later} == {"complete"}
    assert pruned.best.settings["learning_rate"] > 1e-5
    whole = search(wine, "spam", n_trials=7, changes=changes, seed=2, prune=False)
    assert {trial.state for trial in whole.trials} == {"complete"}


def test_a_search_that_is_to_be_shorter_ends_sooner(
    wine: Table, tmp_path: Path
) -> None:
    told: list[Trial] = []
    path = tmp_path / "trials.db"
    first = cart(
        wine, n_trials=50, storage=path, tell=told.append, stop=lambda: len(told) == 2
    )
    assert [trial.draw for trial in first.trials] == [0, 1]
    again = cart(wine, n_trials=3, storage=path)
    assert [trial.draw for trial in again.trials] == [0, 1, 2]


def test_stopping_in_a_fit_leaves_the_trial_to_do(wine: Table, tmp_path: Path) -> None:
    path, asked = tmp_path / "trials.db", [0]

    def stop() -> bool:
        asked[0] += 1
        return asked[0] > 12  # in the second fit

    stopped = search(wine, "spam", n_trials=3, changes=SPAM, storage=path, stop=stop)
    assert len(stopped.trials) < 3
    whole = search(wine, "spam", n_trials=3, changes=SPAM, storage=path)
    assert [trial.draw for trial in whole.trials] == [0, 1, 2]
    assert {trial.state for trial in whole.trials} == {"complete"}


def test_another_search_is_refused_the_storage(wine: Table, tmp_path: Path) -> None:
    path = tmp_path / "trials.db"
    cart(wine, storage=path, n_trials=1)
    with pytest.raises(ValueError, match=r"trials\.db' holds a search .*metric"):
        cart(wine, storage=path, metric="auc")
    with pytest.raises(ValueError, match="another seed"):
        cart(wine, storage=path, seed=1)
    with pytest.raises(ValueError, match="another space"):
        search(wine, "cart", n_trials=1, storage=path)
    # another model may share the file
    assert search(
        wine, "dnn", n_trials=1, storage=path, changes={"max_epochs": 1}
    ).trials


def test_mistakes_are_told_before_any_fit(wine: Table, monkeypatch: Any) -> None:
    monkeypatch.setattr(module, "fit", lambda *_, **__: pytest.fail("it was fitted"))
    for more, message in (
        ({"metric": "rmse"}, "no metric of a multiclass task; choose from accuracy"),
        ({"n_trials": 0}, "at least 1, got 0"),
        ({"changes": {"depth": 3}}, "cart has no setting 'depth'; it has"),
        ({"changes": {"max_depth": Choice((0, 3))}}, "max_depth must be an integer >="),
    ):
        with pytest.raises(ValueError, match=message):
            search(wine, "cart", **more)


def words(path: Path, *more: str) -> list[str]:
    found = ["search", "--dataset", "wine", "--model", "spam", "--trials", "6"]
    found += ["--storage", str(path), "--set", "n_members=2", "--set", "rank=2"]
    return [*found, "--set", "max_epochs=30", "--set", "order=2", "--no-prune", *more]


def started(path: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "spam_core", *words(path)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_a_killed_search_ends_with_as_many_trials(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "trials.db"
    killed = started(path)
    assert killed.stderr is not None
    assert killed.stderr.readline().startswith("trial 0")
    time.sleep(0.3)
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    killed.stderr.close()
    other = started(path)
    _, said = other.communicate(timeout=240)
    assert other.returncode == 0, said
    assert 3 <= said.count("trial ") <= 5
    assert main(words(path)) == 0
    assert "6 trials of spam on wine (6 complete)" in capsys.readouterr().out


def test_a_trial_whose_process_died_at_once_is_done_again(
    wine: Table, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(module, "_GRACE", 1)
    path = tmp_path / "trials.db"
    cart(wine, storage=path, n_trials=1)
    space = module.make_space("cart", CART)
    with module._quiet():
        study = module._open(wine, "cart", space, "accuracy", 0, path, True)
        # killed before its first heartbeat: none will ever tell that it doesn't run
        dead, _ = module._take(study, space, 2, 0)
    assert dead is not None
    result = cart(wine, storage=path, n_trials=2)
    assert [trial.state for trial in result.trials] == ["complete", "complete"]
    assert study.trials[dead.number].state.name == "FAIL"


def test_without_others_a_trial_left_behind_is_done_again_at_once(
    wine: Table, tmp_path: Path
) -> None:
    path = tmp_path / "trials.db"
    space = module.make_space("cart", CART)
    with module._quiet():
        study = module._open(wine, "cart", space, "accuracy", 0, path, True)
        module._take(study, space, 1, 0)  # as by a process that is killed in the fit
        assert module._take(study, space, 1, 0) == (None, True)  # it may be somebody's
        again, _ = module._take(study, space, 1, 0, shared=False)
        assert again is not None
    result = cart(wine, storage=path, n_trials=1, shared=False)
    assert [trial.state for trial in result.trials] == ["complete"]


def test_two_processes_lose_no_trial(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "trials.db"
    table = tmp_path / "trials.csv"
    both = [started(path), started(path)]
    said = [process.communicate(timeout=240)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert sum(text.count("trial ") for text in said) == 6, said
    assert main(words(path, "--table", str(table))) == 0
    capsys.readouterr()
    rows = np.genfromtxt(table, delimiter=",", names=True, usecols=0)
    assert sorted(rows["trial"]) == list(range(6))


def test_a_draw_is_taken_by_one_process_only(wine: Table, tmp_path: Path) -> None:
    path = tmp_path / "trials.db"
    space = module.make_space("cart", CART)
    start = threading.Barrier(2)

    def take() -> list[int]:
        mine = []
        with module._planning(path):
            study = module._open(wine, "cart", space, "accuracy", 0, path, True)
        start.wait()
        while True:
            with module._planning(path):
                trial, _ = module._take(study, space, 40, 0)
            if trial is None:
                return mine
            mine.append(trial.user_attrs["draw"])
            time.sleep(0.02)  # as a fit would, which lets the other one at the lock

    with module._quiet(), ThreadPoolExecutor(2) as both:
        taken = [future.result() for future in [both.submit(take), both.submit(take)]]
    assert all(taken)
    assert sorted(taken[0] + taken[1]) == list(range(40))


def test_a_search_that_was_taken_for_dead_goes_on(
    wine: Table, tmp_path: Path, monkeypatch: Any
) -> None:
    path = tmp_path / "trials.db"
    space, fit, ended = module.make_space("cart", CART), module.fit, []

    def sleep_in_the_first(*given: Any, **more: Any) -> Any:
        if not ended:
            study = module._open(wine, "cart", space, "accuracy", 0, path, True)
            study.tell(0, state=optuna.trial.TrialState.FAIL)  # as another process does
            ended.append(study)
        return fit(*given, **more)

    monkeypatch.setattr(module, "fit", sleep_in_the_first)
    result = cart(wine, storage=path, n_trials=2)
    assert [(t.draw, t.state) for t in result.trials] == [
        (0, "complete"),
        (1, "complete"),
    ]
    assert ended[0].trials[0].state.name == "FAIL"


def test_ranges_given_are_kept_to(wine: Table) -> None:
    changes = {**CART, "min_samples_leaf": Choice((5,)), "ccp_alpha": Range(1e-4, 1e-2)}
    result = search(wine, "cart", n_trials=5, changes=changes)
    for trial in result.trials:
        assert trial.settings["min_samples_leaf"] == 5
        assert 1e-4 <= trial.settings["ccp_alpha"] <= 1e-2
