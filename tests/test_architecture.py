"""The import order, what an import may cost, and who may touch Streamlit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import architecture
import pytest

import spam_core

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = ROOT / "spam_core"
APP = ROOT / "app"
HEAVY = ("streamlit", "plotly", "shap", "lime", "interpret", "xgboost")
CACHES = frozenset({"cache_data", "cache_resource"})
# A page shows what the library worked out: it has no use for these.
MATHS = frozenset({"torch", "numpy", "scipy", "sklearn"})


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def loaded_by(statement: str, names: tuple[str, ...]) -> str:
    """Return which of `names` are loaded in a new process after `statement`."""
    code = f"{statement}\nimport sys\nprint(*sorted(set({names!r}) & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


# --- the library ---------------------------------------------------------------------


def test_packages_import_only_from_those_before_them() -> None:
    assert architecture.violations(LIBRARY, spam_core._HOME) == []


def test_every_exception_is_still_needed() -> None:
    used = {
        (entry.file, entry.name.split(".")[1])
        for entry in architecture.imports(LIBRARY, "spam_core")
        if entry.name.startswith("spam_core.")
    }
    assert set(architecture.EXCEPTIONS) <= used


@pytest.mark.parametrize(
    ("file", "text", "complaint"),
    [
        ("data/a.py", "import spam_core.models", "data stands before models"),
        ("data/a.py", "from spam_core import models", "data stands before models"),
        ("data/a.py", "from ..models import spam", "data stands before models"),
        ("data/b/c.py", "from ...models import x", "data stands before models"),
        ("data/a.py", "from .. import models", "data stands before models"),
        (
            "data/a.py",
            "def f():\n    from spam_core.explain import x",
            "before explain",
        ),
        (
            "models/a.py",
            "from importlib import import_module\nimport_module('spam_core.explain')",
            "models stands before explain",
        ),
        ("models/a.py", "from spam_core import SPAMRegressor", "before estimators"),
        (
            "plots/a.py",
            "from spam_core.explain import x",
            "plots stands before explain",
        ),
        ("explain/a.py", "import spam_core.plots", "explain stands before plots"),
        ("data/a.py", "import streamlit as st", "knows no dashboard"),
        ("cli.py", "from app.ui import jobs", "knows no dashboard"),
        ("news/a.py", "import spam_core.data", "news has no place"),
        (
            "data/a.py",
            "if not TYPE_CHECKING:\n    import spam_core.models",
            "data stands before models",
        ),
        (
            "data/a.py",
            "if TYPE_CHECKING:\n    pass\nelse:\n    import spam_core.models",
            "data stands before models",
        ),
    ],
)
def test_the_check_can_fail(
    tmp_path: Path, file: str, text: str, complaint: str
) -> None:
    tree = write(tmp_path, {file: text})
    (found,) = architecture.violations(tree, spam_core._HOME)
    assert complaint in found
    assert found.startswith(f"{file}:")


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("models/a.py", "from spam_core.data import x\nfrom . import b\nimport torch"),
        ("models/a.py", "if TYPE_CHECKING:\n    from spam_core.explain import x"),
        ("models/a.py", "if t.TYPE_CHECKING:\n    from spam_core.explain import x"),
        ("explain/explanation.py", "def f():\n    from spam_core import plots"),
        ("cli.py", "from spam_core import SPAMRegressor, __version__, plots"),
        ("__main__.py", "from spam_core.cli import main"),
    ],
)
def test_the_check_lets_the_rest_pass(tmp_path: Path, file: str, text: str) -> None:
    assert architecture.violations(write(tmp_path, {file: text}), spam_core._HOME) == []


def test_importing_the_package_is_cheap() -> None:
    assert loaded_by("import spam_core", (*HEAVY, "torch", "pandas", "sklearn")) == ""


def test_importing_every_public_name_loads_no_optional_package() -> None:
    names = ", ".join(sorted(set(spam_core.__all__) - {"plots"}))
    assert loaded_by(f"from spam_core import {names}", HEAVY) == ""


def test_the_cost_of_an_import_can_be_seen() -> None:
    assert loaded_by("import plotly", HEAVY) == "plotly"


def test_public_names_are_listed_once_and_load() -> None:
    assert sorted(set(spam_core.__all__)) == sorted(spam_core.__all__)
    assert set(spam_core._HOME) | {"__version__", "plots"} == set(spam_core.__all__)
    assert set(spam_core.__all__) <= set(dir(spam_core))
    for name in spam_core.__all__:
        assert getattr(spam_core, name) is not None
    with pytest.raises(AttributeError, match="'spam_core' has no attribute 'SPAM'"):
        _ = spam_core.SPAM  # it lives in spam_core.models


# --- the dashboard -------------------------------------------------------------------


def test_the_dashboard_is_there() -> None:
    assert (APP / "main.py").is_file()
    # The framework would serve a folder of this name by itself, and app/app.py would
    # shadow the package of the same name.
    assert not (APP / "pages").exists()
    assert not (APP / "app.py").exists()


def test_only_one_file_touches_the_session_and_one_the_caches() -> None:
    state = architecture.attributes(APP, frozenset({"session_state"}))
    assert {file for file, _ in state} <= {"ui/session.py"}
    caches = architecture.attributes(APP, CACHES)
    assert {file for file, _ in caches} <= {"ui/caches.py"}


def test_pages_do_no_maths() -> None:
    entries = [
        entry
        for entry in architecture.imports(APP)
        if entry.file == "main.py" or entry.file.startswith("views/")
    ]
    assert [str(e) for e in entries if e.name.split(".")[0] in MATHS] == []


def test_the_dashboard_imports_as_streamlit_runs_it() -> None:
    # Only app/ is on the path of `streamlit run app/main.py`: `app.ui` isn't found.
    names = architecture.imports(APP)
    assert [str(e) for e in names if e.name.split(".")[0] == "app"] == []


def test_the_search_for_names_can_find_one(tmp_path: Path) -> None:
    tree = write(
        tmp_path,
        {
            "a.py": "import streamlit as st\nst.session_state['a'] = 1",
            "b.py": "from streamlit import cache_data",
            "c.py": "'st.session_state'  # a text is no use",
        },
    )
    found = architecture.attributes(tree, CACHES | {"session_state"})
    assert found == {("a.py", "session_state"), ("b.py", "cache_data")}
