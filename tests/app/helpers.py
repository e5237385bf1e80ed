"""Drive the dashboard in a test: open it, wait for its training, read its charts."""

from __future__ import annotations

import json
import time
from typing import Any

from conftest import ROOT
from streamlit.testing.v1 import AppTest

VIEWS = tuple(sorted(path.name for path in (ROOT / "app" / "views").glob("*.py")))
DATASETS = ("gapminder", "breast_cancer", "wine")
TIMEOUT = 120  # seconds for a page; the first one loads the data and the libraries


def open_app(dataset: str = "gapminder", view: str = "overview.py") -> AppTest:
    """Open a page of the dashboard when both models of the data set are trained."""
    at = AppTest.from_file(str(ROOT / "app" / "main.py"), default_timeout=TIMEOUT).run()
    if dataset != "gapminder":
        at.selectbox(key="dataset").select(dataset).run()
    wait_until_trained(at)
    if view != "overview.py":
        at.switch_page(f"views/{view}").run()
    return at


def wait_until_trained(at: AppTest) -> None:
    """Run the page again until no training is under way."""
    deadline = time.monotonic() + TIMEOUT
    while at.get("progress"):
        assert time.monotonic() < deadline, "training takes too long"
        time.sleep(0.2)
        at.run()


def charts(at: AppTest) -> list[dict[str, Any]]:
    """Return the figures of a page as dictionaries."""
    return [json.loads(chart.proto.spec) for chart in at.get("plotly_chart")]


def texts(at: AppTest) -> str:
    """Return all plain text of a page."""
    kinds = ("title", "subheader", "markdown", "caption")
    return "\n".join(part.value for kind in kinds for part in at.get(kind))
