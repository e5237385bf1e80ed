"""What every test may ask for: one torch thread, the data folder, a browser."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).resolve().parents[1]  # the checkout

# Two workers share two cores: more threads each would only make them wait. Child
# processes (notebooks, the command line) inherit the variables.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
torch.set_num_threads(1)

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what needs a GPU where there is none."""
    if item.get_closest_marker("gpu") and not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")


def _missing(what: str, remedy: str, required: str) -> None:
    """Skip for want of `what`, or fail where the variable `required` forbids it."""
    if os.environ.get(required) == "1":
        pytest.fail(f"{what}, and {required}=1 forbids to skip. {remedy}")
    pytest.skip(f"{what}. {remedy}")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Return the folder with the real tables (california, heloc, ...)."""
    named = os.environ.get("SPAM_DATA_DIR", "")
    if not named:
        _missing(
            "SPAM_DATA_DIR is not set",
            "Point it to the folder that holds california, heloc and the others.",
            "SPAM_REQUIRE_DATA",
        )
    folder = Path(named)
    # A wrong path is a mistake to mend, not a reason to skip.
    assert folder.is_dir(), f"SPAM_DATA_DIR={named} is not a folder"
    return folder


@pytest.fixture(scope="session")
def chromium() -> str:
    """Return the path of a Chromium, for ``launch(executable_path=...)``.

    Start it with ``args=["--no-sandbox"]``: build servers run as root.
    """
    wanted = os.environ.get("SPAM_CHROMIUM", "")
    found = wanted or next((p for b in BROWSERS if (p := shutil.which(b))), "")
    if not found:
        _missing(
            "no Chromium on the path",
            "Install it (Debian: apt-get install chromium) or set SPAM_CHROMIUM.",
            "SPAM_REQUIRE_BROWSER",
        )
    return found
