"""``benchmark accuracy`` and its like: fits that are measured once and kept."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from spam_core.cli.fit import setting
from spam_core.cli.reports import add_output, show, tell

if TYPE_CHECKING:
    from spam_core.benchmark.fits import Plan


def add_kinds(kinds: Any) -> None:
    """Add the benchmarks that are made of fits."""
    _add_accuracy(kinds)
    _add_speed(kinds)
    _add_ablation(kinds)
    _add_spectrum(kinds)
    _add_tuned(kinds)


def _add_accuracy(kinds: Any) -> None:
    parser = kinds.add_parser(
        "accuracy",
        help="errors of all models on all tables, over seeds",
        description="Measure what FOLDER/accuracy.json doesn't hold yet; each fit is "
        "written at once, so a run that was ended goes on where it stopped.",
    )
    _add_names(parser, "tables", "data sets; by default those that are here")
    _add_names(parser, "models", "models; by default all")
    _add_fits(parser, accuracy)


def _add_speed(kinds: Any) -> None:
    parser = kinds.add_parser(
        "speed",
        help="time to fit, and until SPAM is as good as an EBM with pairs",
        description="Time what FOLDER/speed.json doesn't hold yet, one fit at a time.",
    )
    _add_names(parser, "tables", "data sets (california bike_sharing)")
    models = "models, ebm-2 among them (spam spam-3 ebm-2 ebm xgboost dnn-1)"
    _add_names(parser, "models", models)
    _add_fits(parser, speed, jobs=False)


def _add_ablation(kinds: Any) -> None:
    parser = kinds.add_parser(
        "ablation",
        help="what each setting of a SPAM is worth",
        description="Vary one setting at a time. Measure what FOLDER/ablation.json "
        "doesn't hold yet; a run that was ended goes on where it stopped.",
    )
    _add_names(parser, "tables", "data sets (covertype newsgroups cub bike_sharing)")
    _add_names(parser, "axes", "settings (order rank l1 n_members n_knots)")
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
    _add_fits(parser, ablation)


def _add_spectrum(kinds: Any) -> None:
    parser = kinds.add_parser(
        "spectrum",
        help="how fast the spectra of trained SPAMs fall",
        description="Fit the paper's laws of spectral decay to what SPAMs have learnt; "
        "a run that was ended goes on where it stopped.",
    )
    tables = "data sets (california bike_sharing heloc covertype cub)"
    _add_names(parser, "tables", tables)
    _add_names(parser, "models", "SPAMs (spam spam-3 spam-linear spam-linear-3)")
    _add_fits(parser, spectrum)


def _add_tuned(kinds: Any) -> None:
    parser = kinds.add_parser(
        "tuned",
        help="errors of models whose settings a search has chosen",
        description="Search, fit and score what FOLDER/tuned.json doesn't hold yet; "
        "trials are kept in FOLDER/trials, so that a search goes on where it stopped.",
    )
    tables = "california bike_sharing heloc adult credit_default telco_churn"
    _add_names(parser, "tables", f"data sets ({tables})")
    _add_names(parser, "models", "names in the registry (spam xgboost)")
    parser.add_argument("--trials", type=int, default=30, help="of each search (30)")
    _add_fits(parser, tuned, jobs=False)


def _add_names(parser: argparse.ArgumentParser, what: str, text: str) -> None:
    parser.add_argument(f"--{what}", nargs="+", metavar="NAME", help=text)


def _add_fits(
    parser: argparse.ArgumentParser,
    run: Callable[[argparse.Namespace], int],
    jobs: bool = True,
) -> None:
    """Add what all of them share."""
    if jobs:
        parser.add_argument("--jobs", type=int, default=1, help="fits at a time (1)")
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
    add_output(parser)
    parser.set_defaults(run=run, **({} if jobs else {"jobs": 1}))


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
        tell=tell,
    )
    return show(report, arguments)


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
