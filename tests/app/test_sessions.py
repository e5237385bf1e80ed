"""Case O17: two visitors on one server never see each other's data or models."""

from __future__ import annotations

import gc
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT
from streamlit.testing.v1 import AppTest

from tests.app.helpers import VIEWS, bring, charts, texts, train, use
from ui import jobs, workspace
from ui.workspace import Choices, Workspace, is_own


def table(seed: int, size: int = 60, names: str = "ab") -> bytes:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        rng.normal(seed * 1000, 1, size=(size, 2)), columns=list(names)
    )
    frame["y"] = frame.iloc[:, 0] * (1 + seed) + rng.normal(size=size)
    return frame.to_csv(index=False).encode()


def look(at: AppTest) -> dict[str, str]:
    """Everything that the pages show, by page."""
    shown = {}
    for view in (*VIEWS, "data.py"):
        at.switch_page(f"views/{view}").run()
        assert not at.exception
        frames = "".join(frame.value.to_csv() for frame in at.dataframe)
        metrics = "".join(f"{m.label} {m.value} {m.delta}" for m in at.metric)
        shown[view] = texts(at) + metrics + str(charts(at)) + frames
    return shown


def visitor(number: int, **settings) -> tuple[AppTest, str]:
    at = bring("table.csv", table(number))
    key = use(at, "y")
    train(at, **settings)
    return at, key


def test_o17_two_visitors_with_the_same_column_names_see_their_own() -> None:
    one, first = visitor(1)
    before = look(one)
    two, second = visitor(2, order=1, seed=3)
    assert first != second
    other = look(two)
    # the numbers of one are about 1000, those of the other about 2000
    for view in ("shapes.py", "explain.py", "data.py"):
        assert before[view] != other[view]
    assert look(one) == before
    assert second not in one.selectbox(key="dataset").options
    own = list(one.session_state["workspace"].tables)
    assert own == [first]


def test_o17_a_visitor_cannot_take_up_the_key_of_another() -> None:
    _, key = visitor(1)
    thief = AppTest.from_file(str(ROOT / "app" / "main.py"), default_timeout=60)
    thief.session_state["dataset"] = key
    thief.run()
    assert not thief.exception
    assert thief.selectbox(key="dataset").value == "gapminder"


@pytest.mark.slow
def test_o17_a_renamed_column_is_another_table_and_another_result() -> None:
    at, first = visitor(1)
    shown = look(at)
    bring("table.csv", table(1, names="ac"), at)
    second = use(at, "y")
    assert second != first
    at.switch_page("views/shapes.py").run()
    assert "This table has no model yet." in [info.value for info in at.info]
    train(at)
    renamed = look(at)
    assert "'b'" in shown["shapes.py"] or "b" in shown["data.py"]
    columns = renamed["data.py"]
    assert ",c," in columns
    assert ",b," not in columns


def test_o17_the_same_file_with_the_same_choices_is_one_table() -> None:
    own = Workspace()
    frame = pd.DataFrame({"a": range(30), "y": [0, 1] * 15})
    choices = Choices("y", "classification")
    first = own.add(frame, "t.csv", choices)
    assert own.add(frame.copy(), "t.csv", choices) is first
    changed = frame.assign(a=frame["a"].where(frame.index != 29, 99))
    second = own.add(changed, "t.csv", choices)
    assert second.key != first.key
    assert second.title == "t.csv (2)"
    third = own.add(frame, "t.csv", Choices("a", "regression"))
    assert third.key not in (first.key, second.key)
    another = Workspace().add(frame, "t.csv", choices)
    assert another.key != first.key  # not to be guessed from the content
    assert is_own(first.key)
    assert is_own(first.path)
    own.close()


def test_o17_tables_and_trainings_are_bounded() -> None:
    own = Workspace()
    for k in range(workspace.MAX_TABLES + 2):
        frame = pd.DataFrame({"a": range(30), "y": np.arange(30.0) + k})
        own.add(frame, "t.csv", Choices("y", "regression"))
    assert len(own.tables) == workspace.MAX_TABLES
    assert len(list(own.folder.glob("*.parquet"))) == workspace.MAX_TABLES
    own.close()


def test_an_unusable_table_leaves_nothing_behind() -> None:
    own = Workspace()
    frame = pd.DataFrame({"y": [0, 1] * 15})
    with pytest.raises(ValueError, match="No column is left"):
        own.add(frame, "t.csv", Choices("y", "classification"))
    assert not own.tables
    assert not list(own.folder.iterdir())
    own.close()


def long_training(own: Workspace) -> jobs.Run:
    params = {"n_members": 1, "rank": 2, "max_epochs": 100_000, "patience": 100_000}
    run = own.train("wine", {"dataset": "wine"}, [{"name": "spam", "params": params}])
    deadline = time.monotonic() + 60
    while not run.epochs:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return run


def test_o18_a_closed_page_stops_its_training_and_loses_its_files(monkeypatch) -> None:
    monkeypatch.setattr(workspace, "STOP_AFTER", 0.2)
    monkeypatch.setattr(workspace, "REMOVE_AFTER", 1.0)
    own = Workspace()
    run, folder = long_training(own), own.folder
    own.leave()
    assert run.wait(5)
    assert run.state == "cancelled"
    deadline = time.monotonic() + 10
    while folder.exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert own.closed


def test_a_page_that_comes_back_keeps_everything(monkeypatch) -> None:
    monkeypatch.setattr(workspace, "STOP_AFTER", 0.3)
    monkeypatch.setattr(workspace, "REMOVE_AFTER", 0.3)
    own = Workspace()
    own.leave()
    own.enter()
    time.sleep(0.6)
    assert own.folder.exists()
    assert not own.closed
    own.close()
    assert not own.folder.exists()


def test_the_folder_goes_with_the_session() -> None:
    at = bring("table.csv", table(1))
    use(at, "y")
    folder: Path = at.session_state["workspace"].folder
    assert list(folder.glob("*.parquet"))
    del at
    gc.collect()
    assert not folder.exists()
