"""Drive the dashboard in a test: open it, wait for its training, read its charts."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from conftest import ROOT
from streamlit.testing.v1 import AppTest

_PAGES = {path.name for path in (ROOT / "app" / "views").glob("*.py")}
WITHOUT_MODEL = ("data.py", "train.py")  # what these show doesn't need a model
VIEWS = tuple(sorted(_PAGES - set(WITHOUT_MODEL)))
DATASETS = ("gapminder", "breast_cancer", "wine")
ONE_QUICK = (  # the others in `make test-long`
    "breast_cancer",
    *(pytest.param(name, marks=pytest.mark.slow) for name in ("gapminder", "wine")),
)
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
    while at.get("progress") or at.get("status"):
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


def bring(name: str, content: bytes, at: AppTest | None = None) -> AppTest:
    """Upload a file on the page Data, in a new session by default."""
    if at is None:
        file = str(ROOT / "app" / "main.py")
        at = AppTest.from_file(file, default_timeout=TIMEOUT).run()
    at.switch_page("views/data.py").run()
    at.segmented_control(key="data_shown").set_value("Bring your own").run()
    at.get("file_uploader")[0].upload(name, content, "text/csv").run()
    return at


def labelled(at: AppTest, kind: str, label: str) -> Any:
    """Return the widget with that label."""
    (found,) = [part for part in at.get(kind) if part.label.startswith(label)]
    return found


def use(at: AppTest, target: str) -> str:
    """Choose the target and use the table; return its key."""
    labelled(at, "selectbox", "Column to predict").select(target).run()
    labelled(at, "button", "Use this table").click().run()
    assert not at.exception
    assert not at.error
    return at.selectbox(key="dataset").value


def train(at: AppTest, **settings: Any) -> None:
    """Train on the page Train with small settings, and wait for the end."""
    at.switch_page("views/train.py").run()
    small = {"members": 1, "rank": 2, "epochs": 2, "knots": 8, "models": ["spam"]}
    at.multiselect(key="train_models").set_value((small | settings)["models"]).run()
    for name, value in (small | settings).items():
        for kind in ("slider", "number_input", "segmented_control"):
            for widget in at.get(kind):
                if widget.key == f"train_{name}":
                    widget.set_value(value)
    at.run()
    at.button(key="start").click().run()
    wait_until_trained(at)
    assert not at.exception


def open_search(model: str, n_trials: int, dataset: str = "wine") -> AppTest:
    """Open the page Train where it searches, in a new session."""
    at = AppTest.from_file(str(ROOT / "app" / "main.py"), default_timeout=TIMEOUT).run()
    at.selectbox(key="dataset").select(dataset).run()
    at.switch_page("views/train.py").run()
    at.segmented_control(key="train_how").set_value("search").run()
    at.selectbox(key="search_model").select(model)
    at.number_input(key="search_trials").set_value(n_trials).run()
    assert not at.exception
    return at
