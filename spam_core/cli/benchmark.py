"""``benchmark``: measure, print a table and write it beside its JSON."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import Any

FOLDER = Path("assets/benchmarks")


def add_commands(commands: Any) -> None:
    """Add ``benchmark`` to the commands."""
    parser = commands.add_parser(
        "benchmark",
        help="measure accuracy or speed, and write JSON and a table",
        description="Measure, print the table, and write it with the JSON behind it.",
    )
    kinds = parser.add_subparsers(title="benchmarks", required=True, metavar="KIND")
    speed = kinds.add_parser(
        "explanations",
        help="time of exact Shapley values beside KernelSHAP and LIME",
    )
    for name, value, text in (
        ("rows", 1000, "rows to explain"),
        ("features", 200, "columns"),
        ("rank", 64, "components of order 2"),
        ("members", 8, "models in the ensemble"),
        ("background", 100, "background rows"),
        ("posthoc-rows", 2, "rows for KernelSHAP and LIME"),
        ("repeats", 5, "timed calls of the exact values"),
        ("seed", 0, "of table, models and methods"),
    ):
        speed.add_argument(
            f"--{name}", type=int, default=value, help=f"{text} ({value})"
        )
    _add_output(speed)
    speed.set_defaults(run=explanations)
    rate = kinds.add_parser(
        "throughput", help="rows per second at inference: SPAM, NAM, networks"
    )
    rate.add_argument(
        "--tables",
        nargs="+",
        metavar="NAME",
        help="whose sizes to take; by default all",
    )
    rate.add_argument("--rank", type=int, default=64, help="components an order (64)")
    rate.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    rate.add_argument(
        "--seconds", type=float, default=0.5, help="spent on each measurement (0.5)"
    )
    rate.add_argument("--seed", type=int, default=0)
    _add_output(rate)
    rate.set_defaults(run=throughput)


def explanations(arguments: argparse.Namespace) -> int:
    """Time explanations."""
    from spam_core.benchmark import explanation_speed

    for name in ("rows", "features", "rank", "members", "background", "repeats"):
        if getattr(arguments, name) < 1:
            raise ValueError(
                f"--{name} must be at least 1, got {getattr(arguments, name)}"
            )
    if not 1 <= arguments.posthoc_rows <= arguments.rows:
        raise ValueError(
            f"--posthoc-rows must be from 1 to --rows, got {arguments.posthoc_rows}"
        )
    report = explanation_speed(
        n_rows=arguments.rows,
        n_features=arguments.features,
        rank=arguments.rank,
        n_members=arguments.members,
        n_background=arguments.background,
        posthoc_rows=arguments.posthoc_rows,
        repeats=arguments.repeats,
        seed=arguments.seed,
        command=_command(arguments),
        tell=_tell,
    )
    return _finish(report, arguments)


def throughput(arguments: argparse.Namespace) -> int:
    """Count rows per second."""
    from spam_core.benchmark.throughput import SHAPES, throughput
    from spam_core.training.fit import resolve_device

    if arguments.rank < 1:
        raise ValueError(f"--rank must be at least 1, got {arguments.rank}")
    resolve_device(arguments.device)
    report = throughput(
        tables=arguments.tables or tuple(SHAPES),
        rank=arguments.rank,
        device=arguments.device,
        seconds=arguments.seconds,
        seed=arguments.seed,
        command=_command(arguments),
        tell=_tell,
    )
    return _finish(report, arguments)


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--output",
        type=Path,
        default=FOLDER,
        metavar="FOLDER",
        help=f"where to write ({FOLDER})",
    )


def _finish(report: Any, arguments: argparse.Namespace) -> int:
    print(report.table())
    paths = report.save(arguments.output)
    print(f"\nwrote {' and '.join(map(str, paths))}")
    return 0


def _command(arguments: argparse.Namespace) -> str:
    """Return the command that was given, without where its output went."""
    words = list(arguments.words)
    for place, word in enumerate(words):
        if word == "--output":
            words[place : place + 2] = []
            break
        if word.startswith("--output="):
            words[place : place + 1] = []
            break
    return f"python -m spam_core {shlex.join(words)}"


def _tell(text: str) -> None:
    sys.stderr.write(f"{text}\n")
