"""Every notebook runs from top to bottom, and is stored as one clean run or unrun.

There is no list of notebooks that may fail. SPAM_FAST=1 asks them for small sizes.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
TIMEOUT = 300  # seconds for one cell
each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def code_cells(notebook: Any) -> list[Any]:
    cells = notebook.cells
    return [c for c in cells if c.cell_type == "code" and c.source.strip()]


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


def notebook_of(*sources: str) -> Any:
    made = nbformat.v4.new_notebook()
    made.cells = [nbformat.v4.new_code_cell(source) for source in sources]
    return made


def execute(notebook: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run all cells in place.

    Raises
    ------
    AssertionError
        If a cell wrote a warning.
    CellExecutionError
        If a cell failed.
    """
    monkeypatch.setenv("SPAM_FAST", "1")
    # The kernel's sockets go to this test's folder: two workers must not share one.
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(folder / "runtime"))
    monkeypatch.setenv("IPYTHONDIR", str(folder / "ipython"))
    client = NotebookClient(
        notebook,
        timeout=TIMEOUT,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute()
    for cell in code_cells(notebook):
        for output in cell.outputs:
            warned = output.get("name") == "stderr" and "Warning" in output["text"]
            assert not warned, f"{cell.source}\n---\n{output['text']}"


def stored_badly(notebook: Any) -> str:
    """Return what is wrong with the outputs that a notebook is stored with, or ""."""
    cells = code_cells(notebook)
    counts = [cell.execution_count for cell in cells]
    if all(count is None for count in counts):
        if any(cell.outputs for cell in cells):
            return "there are outputs of cells that were never run"
        return ""
    if counts != list(range(1, len(cells) + 1)):
        return f"cells were run in the order {counts}, not from top to bottom in one go"
    if any(o.output_type == "error" for cell in cells for o in cell.outputs):
        return "a cell was stored with its error"
    return ""


def private_imports(notebook: Any) -> list[str]:
    """Return the imports from spam_core that are no public names."""
    found = []
    for cell in code_cells(notebook):
        # Magics and shell lines are no Python; the notebooks need none.
        for node in ast.walk(ast.parse(cell.source)):
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                continue
            found += [
                name
                for name in names
                if name.startswith("spam_core")
                and any(part.startswith("_") for part in name.split("."))
            ]
    return found


@each_notebook
def test_notebook_runs(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    execute(read(path), tmp_path, monkeypatch)


@each_notebook
def test_notebook_is_stored_cleanly(path: Path) -> None:
    notebook = read(path)
    nbformat.validate(notebook)
    assert stored_badly(notebook) == ""


@each_notebook
def test_notebook_uses_the_public_names(path: Path) -> None:
    assert private_imports(read(path)) == []


def text_of(notebook: Any) -> str:
    outputs = [output for cell in code_cells(notebook) for output in cell.outputs]
    return "".join(output.get("text", "") for output in outputs)


def test_interactions_run_without_the_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SPAM_DATA_DIR", raising=False)
    notebook = read(ROOT / "notebooks" / "03_interactions.ipynb")
    execute(notebook, tmp_path, monkeypatch)
    assert "gapminder: Life expectancy" in text_of(notebook)


@pytest.mark.slow
def test_interactions_take_the_data_where_they_are(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPAM_DATA_DIR", str(data_dir.resolve()))
    notebook = read(ROOT / "notebooks" / "03_interactions.ipynb")
    execute(notebook, tmp_path, monkeypatch)
    assert "bike_sharing: Bikes rented" in text_of(notebook)


# --- the checks can fail -------------------------------------------------------------


def test_a_cell_that_fails_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CellExecutionError, match="no such thing"):
        execute(notebook_of("raise KeyError('no such thing')"), tmp_path, monkeypatch)


def test_a_cell_that_warns_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noisy = notebook_of("import warnings\nwarnings.warn('careful')")
    with pytest.raises(AssertionError, match="careful"):
        execute(noisy, tmp_path, monkeypatch)


def test_notebooks_are_told_to_be_quick(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asks = "import os\nassert os.environ['SPAM_FAST'] == '1'"
    execute(notebook_of(asks, "import spam_core"), tmp_path, monkeypatch)


def test_outputs_out_of_order_are_seen() -> None:
    notebook = notebook_of("1", "2")
    assert stored_badly(notebook) == ""
    notebook.cells[0].execution_count = 2
    notebook.cells[1].execution_count = 1
    assert "order [2, 1]" in stored_badly(notebook)
    notebook.cells[0].execution_count = 1
    notebook.cells[1].execution_count = None
    assert "order [1, None]" in stored_badly(notebook)
    notebook.cells[1].execution_count = 2
    assert stored_badly(notebook) == ""
    error = nbformat.v4.new_output("error", ename="E", evalue="", traceback=[])
    notebook.cells[1].outputs = [error]
    assert "error" in stored_badly(notebook)
    for cell in notebook.cells:
        cell.execution_count = None
    assert "never run" in stored_badly(notebook)


def test_private_imports_are_seen() -> None:
    bad = (
        "from spam_core import _x\nimport spam_core._y.z\nfrom spam_core.a._b import c"
    )
    assert private_imports(notebook_of(bad)) == [
        "spam_core._x",
        "spam_core._y.z",
        "spam_core.a._b.c",
    ]
    good = "from spam_core import load_dataset\nfrom __future__ import annotations"
    assert private_imports(notebook_of(good)) == []
