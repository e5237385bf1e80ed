"""Reports of benchmarks: what is written can be read, and says how it was made."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from spam_core.benchmark.report import Column, Report, environment, load_report, show
from spam_core.cli import main


def report(**changes: object) -> Report:
    parts = {
        "name": "speed",
        "title": "Speed",
        "text": "How fast.",
        "command": "python -m spam_core benchmark speed",
        "columns": [Column("model", "model"), Column("rate", "rows a second", 3)],
        "results": [
            {"model": "SPAM", "rate": 1234.5},
            {"model": "DNN", "rate": math.nan},
        ],
        "settings": {"seed": 0},
    }
    return Report(**{**parts, **changes})


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    made = report()
    paths = made.save(tmp_path / "new")
    read = load_report(paths[0])
    assert read.table() == made.table()
    assert read.markdown() == made.markdown()
    assert json.loads(paths[0].read_text())["results"][1]["rate"] is None
    assert paths[1].read_text() == made.markdown() + "\n"


def test_a_page_says_how_it_was_made() -> None:
    page = report().markdown()
    known = environment()
    for part in (report().command, "seed 0", known["cpu"], f"torch {known_torch()}"):
        assert part in page


def known_torch() -> str:
    return environment()["packages"]["torch"]


def test_what_was_not_measured_is_a_dash() -> None:
    assert report().table().splitlines()[-1] == "| DNN | – |"


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (99.96, 3, "100.0"),
        (0.5, 2, "0.50"),
        (-1234.0, 2, "-1,200"),
        (3.2e-9, 2, "3.2e-09"),
        (0, 3, "0"),
        (7, None, "7"),
        (math.inf, 2, "–"),
    ],
)
def test_numbers_are_written_for_people(value, digits, text) -> None:
    assert show(value, digits) == text


def test_another_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("{}")
    with pytest.raises(ValueError, match="no report of a benchmark"):
        load_report(path)


SMALL = [
    "benchmark",
    "explanations",
    *("--rows", "6", "--features", "4", "--rank", "2", "--members", "2"),
    *("--background", "5", "--posthoc-rows", "1", "--repeats", "1"),
]


def test_explanations_are_timed(tmp_path: Path, capsys) -> None:
    assert main([*SMALL, "--output", str(tmp_path)]) == 0
    assert "exact Shapley values" in capsys.readouterr().out
    read = load_report(tmp_path / "explanations.json")
    assert "--output" not in read.command
    assert read.command.endswith("--repeats 1")
    by = {(r["model"], r["method"]): r for r in read.results}
    assert len(by) == 6
    for (_, method), result in by.items():
        assert result["seconds_per_row"] > 0
        # four columns: KernelSHAP counts every coalition, and is exact
        if method == "KernelSHAP":
            assert result["error"] < 1e-6
        if method == "LIME":
            assert result["error"] > 1e-3


@pytest.mark.parametrize(
    ("flag", "value"), [("--rows", "0"), ("--posthoc-rows", "7"), ("--repeats", "0")]
)
def test_impossible_sizes_are_refused(flag, value, tmp_path, capsys) -> None:
    status = main([*SMALL, flag, value, "--output", str(tmp_path)])
    assert status == 2
    assert flag in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
