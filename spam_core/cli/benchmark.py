"""``benchmark``: measure, print a table and write it beside its JSON."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import Any

from spam_core.cli.benchmark_fits import add_kinds
from spam_core.cli.reports import FOLDER, add_output, show, tell


def add_commands(commands: Any) -> None:
    """Add ``benchmark`` to the commands."""
    parser = commands.add_parser(
        "benchmark",
        help="measure accuracy or speed, and write JSON and a table",
        description="Measure, print the table, and write it with the JSON behind it.",
    )
    kinds = parser.add_subparsers(title="benchmarks", required=True, metavar="KIND")
    add_kinds(kinds)
    times = kinds.add_parser(
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
        times.add_argument(
            f"--{name}", type=int, default=value, help=f"{text} ({value})"
        )
    add_output(times)
    times.set_defaults(run=explanations)
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
    add_output(rate)
    rate.set_defaults(run=throughput)
    page = kinds.add_parser(
        "readme", help="write the README's section on accuracy and speed anew"
    )
    page.add_argument(
        "--page",
        type=Path,
        default=Path("README.md"),
        metavar="FILE",
        help="the page with the section's two marks (README.md)",
    )
    page.add_argument(
        "--reports",
        type=Path,
        default=FOLDER,
        metavar="FOLDER",
        help=f"whose reports to write from ({FOLDER})",
    )
    page.set_defaults(run=readme)


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
        tell=tell,
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
        tell=tell,
    )
    return _finish(report, arguments)


def readme(arguments: argparse.Namespace) -> int:
    """Write the README's section from the reports."""
    from spam_core.benchmark.readme import rewrite

    old = arguments.page.read_text(encoding="utf-8")
    new = rewrite(old, arguments.reports)
    arguments.page.write_text(new, encoding="utf-8")
    print(f"{arguments.page} {'is as it was' if new == old else 'is written anew'}")
    return 0


def _finish(report: Any, arguments: argparse.Namespace) -> int:
    report.save(arguments.output)
    return show(report, arguments)


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
