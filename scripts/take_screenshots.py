"""Take the README's pictures of the dashboard: ``python scripts/take_screenshots.py``.

Serves the app on a free port, trains the built-in models, opens each page in a real
browser and stores what is seen under ``assets/``. Needs Playwright and a Chromium
(``SPAM_CHROMIUM`` names one that isn't on the path).
"""

from __future__ import annotations

import argparse
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
PAGES = {
    "overview": "How good, what drives it",
    "shapes": "Shape functions",
    "interactions": "Interactions",
    "spectrum": "Spectrum",
    "explain": "Explain a case",
    "compare": "Compare",
    "performance": "Performance",
    "data": "Data",
    "train": "Train",
}
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--no-first-run",
]
PATIENCE = 600_000  # milliseconds; models are trained on the way


@contextmanager
def served() -> Iterator[str]:
    """Serve the app on a free port of this machine; yield its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "streamlit", "run", "app/main.py"]
    options = [f"--server.port={port}", "--server.address=127.0.0.1"]
    server = subprocess.Popen([*command, *options, "--server.headless=true"], cwd=ROOT)
    try:
        for _ in range(120):
            try:
                urllib.request.urlopen(f"{address}/_stcore/health", timeout=1)
                break
            except OSError:
                time.sleep(0.5)
        yield address
    finally:
        server.terminate()
        server.wait(20)


def settle(page: Page) -> None:
    """Wait until the page has stopped running and drawing."""
    page.wait_for_timeout(500)
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")
    page.wait_for_selector("[data-testid=stProgress]", state="detached")
    page.wait_for_timeout(1500)


def take(dataset: str, title: str, scheme: str, folder: Path, width: int) -> None:
    """Store a picture of every page for one data set."""
    found = os.environ.get("SPAM_CHROMIUM") or shutil.which("chromium")
    with served() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        page = browser.new_page(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if scheme == "dark" else "light",
        )
        page.set_default_timeout(PATIENCE)
        page.goto(address)
        page.get_by_role("combobox", name="Data set").wait_for()
        page.get_by_role("combobox", name="Data set").click()
        page.get_by_role("option", name=title).click()
        page.get_by_role("heading", name="What drives it", exact=True).wait_for()
        settle(page)
        for name, link in PAGES.items():
            page.get_by_role("link", name=link, exact=True).click()
            settle(page)
            # one picture holds the whole page, however long it is
            height = page.evaluate(
                "document.querySelector('[data-testid=stMain]').scrollHeight"
            )
            page.set_viewport_size({"width": width, "height": min(height, 1800)})
            page.wait_for_timeout(1000)
            page.screenshot(path=folder / f"{dataset}_{name}_{scheme}.png")
            page.set_viewport_size({"width": width, "height": 900})
        browser.close()


def main() -> None:
    """Read the command line and take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", default="california")
    parser.add_argument("--scheme", choices=["light", "dark"], default="light")
    parser.add_argument("--out", type=Path, default=ROOT / "assets")
    parser.add_argument("--width", type=int, default=1280)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    from spam_core.data import dataset_info

    title = dataset_info(arguments.dataset).title
    take(arguments.dataset, title, arguments.scheme, arguments.out, arguments.width)


if __name__ == "__main__":
    main()
