"""What a user typed is shown as it is, and sums are said with their numbers."""

from __future__ import annotations

import pandas as pd
import pytest

from tests.plots.fakes import ODD_NAMES
from ui import text


@pytest.mark.parametrize("name", [*ODD_NAMES, ":smile:", ":red[x]", "# head", "- a"])
def test_o05_markdown_is_made_harmless(name: str) -> None:
    shown = text.literal(name)
    # every character that Markdown could read stands behind a backslash
    plain = shown.replace("\u2060", "")
    for mark in "\\`*_[]<>$:#~|":
        assert plain.count(mark) == plain.count("\\" + mark) or mark == "\\"
    assert plain.replace("\\", "") == name.replace("\\", "")


def test_a_ledger_is_said_with_its_numbers() -> None:
    frame = pd.DataFrame(
        {
            "term": ["a", "the other 2 terms", "base", "score"],
            "value": ["1", "", "", ""],
            "contribution": [0.5, -2.0, 1.0, -0.5],
        }
    )
    ledger = text.Ledger.of(frame)
    assert (ledger.base, ledger.terms, ledger.score) == (1.0, -1.5, -0.5)
    assert ledger.sentence("price").startswith("Base 1 - terms 1.5 = score -0.5")
    assert ledger.sentence("price").endswith("exactly.")
    assert not ledger.cancels
    assert text.Ledger(1.0, 0.1, 1.1, largest=-0.5).cancels
    wrong = text.Ledger(1.0, -1.5, -0.4)
    assert wrong.sentence("price").endswith("to 0.1.")
