"""A stakeholder's journey in a real browser, from the first page to one case."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT
from playwright.sync_api import Page, expect, sync_playwright

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--no-first-run",
]
PATIENCE = 60_000  # milliseconds; the first page trains its models


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the dashboard as `make app` does; return its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("server") / "log.txt"
    command = [sys.executable, "-m", "streamlit", "run", "app/main.py"]
    options = {
        "server.port": port,
        "server.address": "127.0.0.1",
        "server.headless": "true",
        "browser.gatherUsageStats": "false",
    }
    with log.open("w") as out:
        process = subprocess.Popen(
            [*command, *(f"--{name}={value}" for name, value in options.items())],
            cwd=ROOT,
            env=os.environ | {"SPAM_FAST": "1"},
            stdout=out,
            stderr=subprocess.STDOUT,
        )
        try:
            _wait(f"http://127.0.0.1:{port}/_stcore/health", process, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(timeout=20)
    assert "Traceback" not in log.read_text(), log.read_text()


def _wait(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            with urllib.request.urlopen(address, timeout=2):
                return
        except (urllib.error.URLError, ConnectionError):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.2)


@pytest.fixture
def page(server: str, chromium: str) -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        context = browser.new_context(viewport={"width": 1400, "height": 1100})
        opened = context.new_page()
        opened.set_default_timeout(PATIENCE)
        expect.set_options(timeout=PATIENCE)
        faults: list[str] = []
        opened.on("pageerror", lambda error: faults.append(str(error)))
        opened.goto(server)
        yield opened
        browser.close()
        assert faults == []


def go(page: Page, title: str, heading: str) -> None:
    page.get_by_test_id("stSidebarNav").get_by_text(title, exact=True).click()
    expect(page.get_by_role("heading", name=heading)).to_be_visible()


def test_a_stakeholder_reads_the_model_and_one_prediction(page: Page) -> None:
    # how good, what drives it
    expect(page.get_by_role("heading", name="How good is it")).to_be_visible()
    expect(page.get_by_text(re.compile("SPAM is off by"))).to_be_visible()
    expect(page.locator(".js-plotly-plot")).to_have_count(1)
    expect(page.get_by_text("training…")).to_have_count(0)  # the network is ready too

    # the shape of a column, and of another one
    go(page, "Shape functions", "Shape functions")
    plot = page.locator(".js-plotly-plot")
    expect(plot).to_have_count(1)
    title = plot.locator(".gtitle").first.text_content()
    page.get_by_role("combobox", name=re.compile("Column")).click()
    page.get_by_role("option", name="year").click()
    expect(plot.locator(".gtitle").first).to_have_text("year")
    assert title != "year"

    # a click on the matrix opens the pair
    go(page, "Interactions", "Interactions")
    expect(page.locator(".js-plotly-plot")).to_have_count(2)
    matrix = page.locator(".js-plotly-plot").first
    area = matrix.locator(".nsewdrag").first.bounding_box()
    assert area is not None
    surface = page.locator(".js-plotly-plot").nth(1).locator(".gtitle")

    def choose(pair: str) -> None:
        page.get_by_role("combobox", name=re.compile("Pair")).click()
        page.get_by_role("option", name=pair).click()
        expect(surface).to_have_text(pair)

    choose("year × pop")  # so that another one shows that the click has arrived
    # first row (continent), last column (gdpPercap) of four
    page.mouse.click(area["x"] + area["width"] * 7 / 8, area["y"] + area["height"] / 8)
    expect(surface).to_have_text("continent × gdpPercap")
    choose("year × pop")  # and the box still chooses afterwards

    # one case, whose terms add up
    go(page, "Explain a case", "Explain a case")
    expect(page.get_by_text(re.compile(r"Base .* = score"))).to_be_visible()
    before = page.get_by_text(re.compile(r"Base .* = score")).inner_text()
    box = page.get_by_role("spinbutton")
    box.fill("5")
    box.press("Enter")
    expect(page.get_by_text(before, exact=True)).to_have_count(0)
    expect(page.get_by_text(re.compile(r"Base .* = score .*exactly"))).to_be_visible()

    # the same case as LIME and KernelSHAP see it
    go(page, "Compare", "Compare with LIME and KernelSHAP")
    expect(
        page.get_by_text(re.compile("The truth is (not )?known here"))
    ).to_be_visible()
    panels = page.locator(".js-plotly-plot").first
    for title in ("SPAM, exact", "LIME of", "KernelSHAP of"):
        expect(panels.get_by_text(re.compile(title))).to_be_visible()
    expect(page.get_by_text(re.compile("SPAM's own columns"))).to_be_visible()

    # a link to the page brings somebody else to the same case
    expect(page).to_have_url(re.compile("row=5"))
    other = page.context.new_page()
    other.set_default_timeout(PATIENCE)
    other.goto(page.url)
    expect(other.get_by_text(re.compile("Test row 5: contributions"))).to_be_visible()
    expect(other.get_by_text(re.compile("SPAM's own columns"))).to_have_text(
        page.get_by_text(re.compile("SPAM's own columns")).inner_text()
    )
    other.close()

    # how good all models are, and from the worst row back to its case
    go(page, "Performance", "Performance")
    expect(page.get_by_text(re.compile("RMSE .* on 348 test rows"))).to_be_visible()
    expect(page.get_by_text(re.compile("chance"), exact=False).first).to_be_visible()
    expect(page.locator(".js-plotly-plot")).to_have_count(5)
    worst = page.get_by_role("button", name=re.compile("Explain test row"))
    row = worst.inner_text().split()[-1]
    worst.click()
    expect(page.get_by_role("heading", name="Explain a case")).to_be_visible()
    expect(page.get_by_role("spinbutton")).to_have_value(row)

    # a black box has no terms, which is said, and a click leads back
    page.get_by_role("combobox", name="Model", exact=True).click()
    page.get_by_role("option", name="Neural network").click()
    expect(page.get_by_text(re.compile("is no glass box"))).to_be_visible()
    expect(page).to_have_url(re.compile("model=Neural"))
    page.get_by_role("button", name="Show SPAM on all pages").click()
    expect(page.get_by_text(re.compile(r"Base .* = score"))).to_be_visible()
