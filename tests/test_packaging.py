"""The lists of requirements agree with each other and with what is declared."""

from __future__ import annotations

import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import architecture
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import spam_core

ROOT = Path(__file__).resolve().parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
EXTRAS: dict[str, list[str]] = PROJECT["project"]["optional-dependencies"]


def lines(name: str) -> list[str]:
    text = (ROOT / name).read_text("utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def pins(name: str) -> dict[str, str]:
    """Return package -> pinned version; a line that is no pin is an error."""
    found = {}
    for line in lines(name):
        if line.startswith("-"):
            continue
        match = re.fullmatch(r"([\w.-]+)==([\w.]+)", line)
        assert match, f"{name}: {line!r} pins nothing"
        found[canonicalize_name(match[1])] = match[2]
    return found


def unmet(declared: list[str], pinned: dict[str, str]) -> list[str]:
    """Return the declared requirements that no pin satisfies."""
    wanted = [Requirement(text) for text in declared]
    return [
        str(one)
        for one in wanted
        if canonicalize_name(one.name) != "spam-core"
        and not one.specifier.contains(pinned.get(canonicalize_name(one.name), "0"))
    ]


def test_the_library_is_the_last_thing_installed() -> None:
    assert lines("requirements.txt")[-1] == "-e ."
    assert lines("requirements-dev.txt")[0] == "-r requirements.txt"


def test_the_pins_satisfy_what_is_declared() -> None:
    user = pins("requirements.txt")
    assert unmet(PROJECT["project"]["dependencies"], user) == []
    for extra in set(EXTRAS) - {"all", "dev", "notebooks"}:
        assert unmet(EXTRAS[extra], user) == [], extra
    both = user | pins("requirements-dev.txt")
    assert unmet([*EXTRAS["dev"], *EXTRAS["notebooks"]], both) == []


def test_an_unmet_requirement_is_seen() -> None:
    assert unmet(["a>=2", "b>=1", "c"], {"a": "1.9", "b": "1"}) == ["a>=2"]
    assert unmet(["d>=1"], {}) == ["d>=1"]


def test_nothing_is_capped_without_need() -> None:
    groups = [PROJECT["project"]["dependencies"], *EXTRAS.values()]
    caps = [
        text
        for group in groups
        for text in group
        if any(
            s.operator in {"<", "<=", "==", "~="} for s in Requirement(text).specifier
        )
    ]
    assert caps == []


@pytest.mark.parametrize("extra", sorted(set(EXTRAS) - {"all", "dev"}))
def test_the_extra_all_has_every_other(extra: str) -> None:
    (everything,) = EXTRAS["all"]
    assert extra in Requirement(everything).extras


def test_the_version_is_a_release() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", spam_core.__version__)
    assert PROJECT["project"]["dynamic"] == ["version"]
    assert (ROOT / "spam_core" / "py.typed").is_file()


def test_what_the_library_imports_is_declared() -> None:
    declared = {
        canonicalize_name(Requirement(text).name)
        for group in (PROJECT["project"]["dependencies"], *EXTRAS.values())
        for text in group
    }
    provided_by = packages_distributions()
    outside = {
        entry.name.split(".")[0]
        for entry in architecture.imports(ROOT / "spam_core", "spam_core")
    } - {"spam_core", *sys.stdlib_module_names}
    assert {"torch", "sklearn"} <= outside
    undeclared = {
        module
        for module in outside
        if declared.isdisjoint(map(canonicalize_name, provided_by.get(module, ())))
    }
    assert undeclared == set()
