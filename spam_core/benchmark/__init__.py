"""Measurements that anyone can rerun: commands that write JSON and a table.

Timings are compared as ratios within one run, since machines are noisy; every file says
on which machine, with which versions, seeds and command it was made.
"""

from __future__ import annotations

from spam_core.benchmark.explanations import explanation_speed
from spam_core.benchmark.report import Report, environment

__all__ = ["Report", "environment", "explanation_speed"]
