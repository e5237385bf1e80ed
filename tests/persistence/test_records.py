"""JSON files that several processes change, and that are never half there."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from spam_core.persistence.records import alone, write_json


def test_nothing_is_lost_that_several_write_down_at_once(tmp_path: Path) -> None:
    path = tmp_path / "new" / "found.json"

    def add(number: int) -> None:
        with alone(path):
            held = json.loads(path.read_text()) if path.exists() else {"found": []}
            time.sleep(0.01)  # long enough for another to read what will be stale
            write_json(path, {"found": [*held["found"], number]})

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add, range(12)))
    assert sorted(json.loads(path.read_text())["found"]) == list(range(12))


def test_a_file_is_let_go_of_when_its_change_fails(tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    write_json(path, {"found": 1})
    with pytest.raises(TypeError, match="not JSON serializable"), alone(path):
        write_json(path, {"found": object()})
    with alone(path):
        assert json.loads(path.read_text()) == {"found": 1}
