"""What is missing is skipped with its reason, and fails where a variable says so."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).with_name("conftest.py")
TESTS = "def test_data(data_dir): pass\ndef test_browser(chromium): pass\n"
ALL_ABSENT = {"SPAM_DATA_DIR": "", "SPAM_CHROMIUM": "", "PATH": "/nowhere"}


def outcome(folder: Path, **environment: str) -> str:
    """Return what pytest prints for two tests, run in `folder` under `environment`."""
    shutil.copy(CONFTEST, folder)
    (folder / "test_two.py").write_text(TESTS, encoding="utf-8")
    clean = {k: v for k, v in os.environ.items() if not k.startswith("SPAM_")}
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-rs",
            "-p",
            "no:dash",
            "-p",
            "no:cacheprovider",
        ],
        cwd=folder,
        env=clean | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout


def test_what_is_missing_is_skipped_with_its_reason(tmp_path: Path) -> None:
    printed = outcome(tmp_path, **ALL_ABSENT)
    assert "2 skipped in" in printed
    assert "SPAM_DATA_DIR is not set" in printed
    assert "no Chromium on the path" in printed


@pytest.mark.parametrize(
    ("variable", "what"),
    [
        ("SPAM_REQUIRE_DATA", "SPAM_DATA_DIR is not set"),
        ("SPAM_REQUIRE_BROWSER", "no Chromium on the path"),
    ],
)
def test_what_is_missing_fails_where_it_is_required(
    tmp_path: Path, variable: str, what: str
) -> None:
    printed = outcome(tmp_path, **ALL_ABSENT, **{variable: "1"})
    assert "1 skipped, 1 error in" in printed
    assert f"{what}, and {variable}=1 forbids to skip" in printed


def test_a_wrong_folder_is_an_error(tmp_path: Path) -> None:
    printed = outcome(tmp_path, **(ALL_ABSENT | {"SPAM_DATA_DIR": "/no/such/folder"}))
    assert "SPAM_DATA_DIR=/no/such/folder is not a folder" in printed


def test_what_is_there_is_used(tmp_path: Path) -> None:
    there = {"SPAM_DATA_DIR": str(tmp_path), "SPAM_CHROMIUM": sys.executable}
    assert "2 passed in" in outcome(tmp_path, **there)
