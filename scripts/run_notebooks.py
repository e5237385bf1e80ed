"""Run notebooks and store them as a reader on the web sees them.

``python scripts/run_notebooks.py notebooks/*.ipynb`` runs each from top to bottom, in
full size, and writes it back with its outputs. Figures are stored twice: as plotly's
data, a few kilobytes that Jupyter draws without a network, and as a PNG for pages that
run no scripts. The PNG is drawn by a Chromium: that of SPAM_CHROMIUM, the first one on
the path, or Playwright's own.
"""

from __future__ import annotations

import argparse
import base64
import io
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from PIL import Image  # Streamlit brings it
from playwright.sync_api import sync_playwright
from plotly.offline import get_plotlyjs

PLOTLY = "application/vnd.plotly.v1+json"
PNG = "image/png"
WIDTH, HEIGHT = 760, 450  # pixels, where the figure doesn't say
TIMEOUT = 600  # seconds for one cell
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
DRAW = """async ([figure, width, height]) => {
    const layout = {paper_bgcolor: "white", plot_bgcolor: "white", ...figure.layout};
    const picture = {data: figure.data, layout: {...layout, width, height}};
    return await Plotly.toImage(picture, {format: "png", width, height, scale: 2});
}"""


def run(notebook: Any) -> None:
    """Run all cells in place, in a folder of their own."""
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook,
            timeout=TIMEOUT,
            kernel_name="python3",
            record_timing=False,  # else no two runs would be stored alike
            resources={"metadata": {"path": folder}},
        )
        client.execute(env={**os.environ, "PLOTLY_RENDERER": "plotly_mimetype"})


def figures(notebook: Any) -> Iterator[Any]:
    """Yield the outputs that hold a plotly figure."""
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if PLOTLY in output.get("data", {}):
                yield output


def add_pictures(notebook: Any, browser: str | None) -> None:
    """Store a PNG beside every plotly figure.

    Parameters
    ----------
    notebook : NotebookNode
    browser : str, optional
        Path of a Chromium; None: Playwright's own.
    """
    outputs = list(figures(notebook))
    if not outputs:
        return
    with sync_playwright() as playwright:
        # Build servers run as root, which Chromium's sandbox refuses.
        chromium = playwright.chromium.launch(
            executable_path=browser, args=["--no-sandbox"]
        )
        page = chromium.new_page()
        page.add_script_tag(content=get_plotlyjs())
        for output in outputs:
            figure = output["data"][PLOTLY]
            layout = figure["layout"]
            width, height = layout.get("width", WIDTH), layout.get("height", HEIGHT)
            address = page.evaluate(DRAW, [figure, width, height])
            output["data"][PNG] = smaller(address.partition("base64,")[2])
            output["metadata"][PNG] = {"width": width, "height": height}
        chromium.close()


def smaller(picture: str) -> str:
    """Draw a PNG again in 256 colours, which takes a third of the space."""
    image = Image.open(io.BytesIO(base64.b64decode(picture))).convert("RGB")
    buffer = io.BytesIO()
    # dithering would put grain on flat colours
    flat = image.quantize(256, dither=Image.Dither.NONE)
    flat.save(buffer, "PNG", optimize=True)
    return base64.b64encode(buffer.getvalue()).decode("ascii")


def find_browser() -> str | None:
    """Return the path of an installed Chromium, or None."""
    named = os.environ.get("SPAM_CHROMIUM")
    return named or next((p for b in BROWSERS if (p := shutil.which(b))), None)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the notebooks that the command line names."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("notebooks", nargs="+", type=Path)
    for path in parser.parse_args(arguments).notebooks:
        notebook = nbformat.read(path, as_version=4)
        run(notebook)
        add_pictures(notebook, find_browser())
        nbformat.write(notebook, path)
        print(f"{path}: {path.stat().st_size / 1024:.0f} kB")


if __name__ == "__main__":
    main()
