"""Notebooks are stored with pictures that a page without scripts or network shows."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbconvert import HTMLExporter
from PIL import Image
from playwright.sync_api import sync_playwright

from scripts.run_notebooks import PNG, add_pictures, figures, main, run, smaller

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
LARGEST = 1_500_000  # bytes: an embedded plotly.js alone has more
FIGURE = "import plotly.graph_objects as go\ngo.Figure(go.Scatter(y=[1, 3, 2]))"
SIGNATURE = b"\x89PNG\r\n\x1a\n"


def without_picture(notebook: Any) -> int:
    """Count the figures that are stored as plotly's data alone."""
    return sum(PNG not in output["data"] for output in figures(notebook))


def notebook_of(*sources: str) -> Any:
    made = nbformat.v4.new_notebook()
    made.cells = [nbformat.v4.new_code_cell(source) for source in sources]
    return made


@pytest.fixture
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The kernel's sockets go to this test's folder: two workers must not share one.
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_stored_figures_have_pictures(path: Path) -> None:
    assert without_picture(nbformat.read(path, as_version=4)) == 0
    assert path.stat().st_size < LARGEST


def test_o19_exported_notebooks_show_every_figure_without_a_network(
    tmp_path: Path, chromium: str
) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox"]
        )
        page = browser.new_context(offline=True).new_page()
        for path in NOTEBOOKS:
            notebook = nbformat.read(path, as_version=4)
            html, _ = HTMLExporter().from_notebook_node(notebook)
            exported = tmp_path / f"{path.stem}.html"
            exported.write_text(html, encoding="utf-8")
            page.goto(exported.as_uri(), wait_until="domcontentloaded")
            shown = page.eval_on_selector_all(
                "img",
                "all => all.filter(i => i.naturalWidth > 0 && i.clientHeight > 100)"
                ".length",
            )
            assert shown == len(list(figures(notebook))), path.stem
        browser.close()


@pytest.mark.usefixtures("own_folders")
def test_a_notebook_is_run_and_its_figures_are_drawn(
    tmp_path: Path, chromium: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPAM_CHROMIUM", chromium)
    path = tmp_path / "one.ipynb"
    nbformat.write(notebook_of("1 + 1", FIGURE), path)
    main([str(path)])
    stored = nbformat.read(path, as_version=4)
    assert [cell.execution_count for cell in stored.cells] == [1, 2]
    assert all("execution" not in cell.metadata for cell in stored.cells)
    (output,) = figures(stored)
    picture = base64.b64decode(output["data"][PNG])
    assert picture.startswith(SIGNATURE)
    # width and height stand in the first chunk, big-endian; twice the pixels shown
    size = [int.from_bytes(picture[k : k + 4], "big") for k in (16, 20)]
    shown = output["metadata"][PNG]
    assert size == [2 * shown["width"], 2 * shown["height"]]
    assert Image.open(io.BytesIO(picture)).mode == "P"  # 256 colours at most
    assert path.stat().st_size < LARGEST


def test_pictures_are_stored_in_few_colours() -> None:
    # a smooth slope from black to white, with colours that a picture of data has
    image = Image.linear_gradient("L").convert("RGB")
    image.paste((213, 94, 0), (0, 0, 40, 40))
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    stored = smaller(base64.b64encode(buffer.getvalue()).decode())
    again = Image.open(io.BytesIO(base64.b64decode(stored)))
    assert (again.mode, again.size) == ("P", image.size)
    gaps = [
        abs(a - b)
        for x, y in [(5, 5), (100, 0), (100, 128), (255, 255)]
        for a, b in zip(
            image.getpixel((x, y)), again.convert("RGB").getpixel((x, y)), strict=True
        )
    ]
    assert max(gaps) <= 4


@pytest.mark.usefixtures("own_folders")
def test_a_figure_without_a_picture_is_seen() -> None:
    notebook = notebook_of(FIGURE)
    run(notebook)
    assert without_picture(notebook) == 1


def test_without_figures_no_browser_is_started() -> None:
    add_pictures(notebook_of("1"), "/there/is/no/browser")
