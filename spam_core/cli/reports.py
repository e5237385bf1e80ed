"""What all benchmark commands do with a report: where it goes, and what is told."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

FOLDER = Path("assets/benchmarks")


def add_output(parser: argparse.ArgumentParser) -> None:
    """Let a command say where its report goes."""
    parser.add_argument(
        "--output",
        type=Path,
        default=FOLDER,
        metavar="FOLDER",
        help=f"where to write ({FOLDER})",
    )


def show(report: Any, arguments: argparse.Namespace) -> int:
    """Print a report that is written already."""
    print(report.table())
    print(f"\nwrote {arguments.output / report.name}.json and .md")
    return 0


def tell(text: str) -> None:
    """Say how a measurement goes on, apart from what it prints."""
    sys.stderr.write(f"{text}\n")
