"""The dashboard with small models."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Train models that are ready in seconds; what they predict isn't the point."""
    monkeypatch.setenv("SPAM_FAST", "1")
