"""Time how long pages take to run: ``python scripts/time_pages.py``.

Opens the dashboard as its tests do, with full models of one data set, and runs every
page several times. The first run of a page works things out; the median of the others
is what a visitor waits for when switching to it.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import time
from pathlib import Path

from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parents[1]
MAIN = ROOT / "app" / "main.py"


def time_pages(dataset: str, runs: int) -> dict[str, dict[str, float]]:
    """Return the first and the median later run of each page, in seconds."""
    at = AppTest.from_file(str(MAIN), default_timeout=600).run()
    at.selectbox(key="dataset").select(dataset).run()
    while at.get("progress"):
        time.sleep(0.5)
        at.run()
    pages = sorted(path.name for path in (ROOT / "app" / "views").glob("*.py"))
    taken: dict[str, list[float]] = {page: [] for page in pages}
    for _ in range(runs + 1):
        for page in pages:
            started = time.perf_counter()
            at.switch_page(f"views/{page}").run()
            taken[page].append(time.perf_counter() - started)
            if at.exception:
                raise RuntimeError(f"{page}: {at.exception[0].value}")
    return {
        page: {"first": seconds[0], "median": statistics.median(seconds[1:])}
        for page, seconds in taken.items()
    }


def main() -> None:
    """Read the command line and print JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", default="california")
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    result = {
        "dataset": arguments.dataset,
        "runs": arguments.runs,
        "python": platform.python_version(),
        "seconds": time_pages(arguments.dataset, arguments.runs),
    }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
