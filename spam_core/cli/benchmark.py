"""``benchmark``: measure, print a table and write it beside its JSON."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spam_core.cli.fit import setting

if TYPE_CHECKING:
    from spam_core.benchmark.fits import Plan

FOLDER = Path("assets/benchmarks")


def add_commands(commands: Any) -> None:
    """Add ``benchmark`` to the commands."""
    parser = commands.add_parser(
        "benchmark",
        help="measure accuracy or speed, and write JSON and a table",
        description="Measure, print the table, and write it with the JSON behind it.",
    )
    kinds = parser.add_subparsers(title="benchmarks", required=True, metavar="KIND")
    _add_accuracy(kinds)
    _add_speed(kinds)
    _add_ablation(kinds)
    _add_spectrum(kinds)
    _add_tuned(kinds)
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
    _add_output(times)
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
    _add_output(rate)
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


def _add_accuracy(kinds: Any) -> None:
    parser = kinds.add_parser(
        "accuracy",
        help="errors of all models on all tables, over seeds",
        description="Measure what FOLDER/accuracy.json doesn't hold yet; each fit is "
        "written at once, so a run that was ended goes on where it stopped.",
    )
    parser.add_argument(
        "--tables",
        nargs="+",
        metavar="NAME",
        help="data sets; by default those of the benchmark that are here",
    )
    parser.add_argument(
        "--models", nargs="+", metavar="NAME", help="models; by default all"
    )
    parser.add_argument("--jobs", type=int, default=1, help="fits at a time (1)")
    _add_fits(parser)
    _add_output(parser)
    parser.set_defaults(run=accuracy)


def _add_speed(kinds: Any) -> None:
    parser = kinds.add_parser(
        "speed",
        help="time to fit, and until SPAM is as good as an EBM with pairs",
        description="Time what FOLDER/speed.json doesn't hold yet, one fit at a time.",
    )
    parser.add_argument(
        "--tables",
        nargs="+",
        metavar="NAME",
        help="data sets (california bike_sharing)",
    )
    parser.add_argument(
        "--models",
        nargs="+",
        metavar="NAME",
        help="models, ebm-2 among them (spam spam-3 ebm-2 ebm xgboost dnn-1)",
    )
    _add_fits(parser)
    _add_output(parser)
    parser.set_defaults(run=speed, jobs=1)


def _add_ablation(kinds: Any) -> None:
    parser = kinds.add_parser(
        "ablation",
        help="what each setting of a SPAM is worth",
        description="Vary one setting at a time. Measure what FOLDER/ablation.json "
        "doesn't hold yet; a run that was ended goes on where it stopped.",
    )
    parser.add_argument(
        "--tables",
        nargs="+",
        metavar="NAME",
        help="data sets (covertype newsgroups cub bike_sharing)",
    )
    parser.add_argument(
        "--axes",
        nargs="+",
        metavar="NAME",
        help="settings (order rank l1 n_members n_knots)",
    )
    parser.add_argument(
        "--model", choices=("spam", "spam-linear"), default="spam", help="(spam)"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        type=setting,
        metavar="NAME=VALUE",
        help="a setting that all fits share",
    )
    parser.add_argument("--jobs", type=int, default=1, help="fits at a time (1)")
    _add_fits(parser)
    _add_output(parser)
    parser.set_defaults(run=ablation)


def _add_spectrum(kinds: Any) -> None:
    parser = kinds.add_parser(
        "spectrum",
        help="how fast the spectra of trained SPAMs fall",
        description="Fit the paper's laws of spectral decay to what SPAMs have learnt; "
        "a run that was ended goes on where it stopped.",
    )
    parser.add_argument(
        "--tables",
        nargs="+",
        metavar="NAME",
        help="data sets (california bike_sharing heloc covertype cub)",
    )
    parser.add_argument(
        "--models",
        nargs="+",
        metavar="NAME",
        help="SPAMs (spam spam-3 spam-linear spam-linear-3)",
    )
    parser.add_argument("--jobs", type=int, default=1, help="fits at a time (1)")
    _add_fits(parser)
    _add_output(parser)
    parser.set_defaults(run=spectrum)


def _add_tuned(kinds: Any) -> None:
    parser = kinds.add_parser(
        "tuned",
        help="errors of models whose settings a search has chosen",
        description="Search, fit and score what FOLDER/tuned.json doesn't hold yet; "
        "trials are kept in FOLDER/trials, so that a search goes on where it stopped.",
    )
    parser.add_argument(
        "--tables",
        nargs="+",
        metavar="NAME",
        help="data sets (california bike_sharing heloc adult credit_default "
        "telco_churn)",
    )
    parser.add_argument(
        "--models",
        nargs="+",
        metavar="NAME",
        help="names in the registry (spam xgboost)",
    )
    parser.add_argument("--trials", type=int, default=30, help="of each search (30)")
    _add_fits(parser)
    _add_output(parser)
    parser.set_defaults(run=tuned, jobs=1)


def _add_fits(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--seeds",
        nargs="+",
        type=int,
        default=[3],
        metavar="N",
        help="one number: so many, from 0; several: these (3)",
    )
    parser.add_argument(
        "--limit",
        type=float,
        default=3600.0,
        metavar="SECONDS",
        help="that a fit may take, loading included (3600)",
    )
    parser.add_argument("--threads", type=int, help="threads of a fit (cores / jobs)")
    parser.add_argument(
        "--again", action="store_true", help="measure anew what is measured already"
    )


def accuracy(arguments: argparse.Namespace) -> int:
    """Measure how good models are."""
    from spam_core.benchmark.accuracy import accuracy

    return _measure(accuracy, arguments, arguments.models)


def speed(arguments: argparse.Namespace) -> int:
    """Measure how long fits take."""
    from spam_core.benchmark.speed import speed

    return _measure(speed, arguments, arguments.models)


def ablation(arguments: argparse.Namespace) -> int:
    """Measure what settings are worth."""
    from spam_core.benchmark.ablation import ablation

    what = arguments.axes, arguments.model, dict(arguments.set)
    return _measure(ablation, arguments, *what)


def spectrum(arguments: argparse.Namespace) -> int:
    """Fit laws of decay."""
    from spam_core.benchmark.spectrum import spectrum

    return _measure(spectrum, arguments, arguments.models)


def tuned(arguments: argparse.Namespace) -> int:
    """Search, and measure how good the best settings are."""
    from spam_core.benchmark.tuned import tuned

    return _measure(tuned, arguments, arguments.models, arguments.trials)


def _measure(
    measure: Callable[..., Any], arguments: argparse.Namespace, *what: Any
) -> int:
    """Measure fits, and print the report."""
    report = measure(
        arguments.output,
        arguments.tables,
        *what,
        _seeds(arguments.seeds),
        _plan(arguments),
        tell=_tell,
    )
    return _show(report, arguments)


def _show(report: Any, arguments: argparse.Namespace) -> int:
    """Print a report that is written already."""
    print(report.table())
    print(f"\nwrote {arguments.output / report.name}.json and .md")
    return 0


def _seeds(given: list[int]) -> list[int]:
    if min(given) < 0 or given == [0]:
        raise ValueError(
            f"--seeds takes how many, or several seeds of at least 0; got {given}"
        )
    return list(range(given[0])) if len(given) == 1 else list(dict.fromkeys(given))


def _plan(arguments: argparse.Namespace) -> Plan:
    from spam_core.benchmark.fits import Plan
    from spam_core.benchmark.report import cores

    jobs, threads = arguments.jobs, arguments.threads
    if threads is None:
        threads = max(1, cores() // max(1, jobs))
    return Plan(arguments.limit, jobs, threads, arguments.again)


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


def readme(arguments: argparse.Namespace) -> int:
    """Write the README's section from the reports."""
    from spam_core.benchmark.readme import rewrite

    old = arguments.page.read_text(encoding="utf-8")
    new = rewrite(old, arguments.reports)
    arguments.page.write_text(new, encoding="utf-8")
    print(f"{arguments.page} {'is as it was' if new == old else 'is written anew'}")
    return 0


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--output",
        type=Path,
        default=FOLDER,
        metavar="FOLDER",
        help=f"where to write ({FOLDER})",
    )


def _finish(report: Any, arguments: argparse.Namespace) -> int:
    report.save(arguments.output)
    return _show(report, arguments)


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
