"""``search``: try settings drawn at random, and say which are best."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spam_core.cli import search_job
from spam_core.cli.tables import add_source, open_table
from spam_core.estimators.fitting import METRIC_NAMES, METRICS, fit, score

if TYPE_CHECKING:
    from spam_core.search import SearchResult, Trial
    from spam_core.search.space import Setting

_SHOWN = 10


def add_commands(commands: Any) -> None:
    """Add ``search`` to the commands."""
    parser = commands.add_parser(
        "search",
        help="try settings drawn at random, and say which are best",
        description=(
            "Fit a model with settings drawn at random from the paper's ranges, score "
            "each on validation rows, and print the best. A search with a --storage "
            "goes on where it stopped; the same command in another terminal shares it."
        ),
    )
    parser.add_argument(
        "job",
        nargs="?",
        metavar="JOB.json",
        help="a job file: searches as it says and reports in JSON lines",
    )
    add_source(parser)
    parser.add_argument("--model", default="spam", help="name in the registry (spam)")
    parser.add_argument("--trials", type=int, default=30, help="settings to try (30)")
    parser.add_argument(
        "--metric", help="to be best on the validation rows; by default the task's"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        type=_change,
        metavar="NAME=RANGE",
        help=(
            "another range: low:high, low:high:log, or values with commas; one value "
            "is the same in all trials"
        ),
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--storage", type=Path, metavar="FILE", help="SQLite file")
    parser.add_argument("--jobs", type=int, default=1, help="processes (1)")
    parser.add_argument(
        "--no-prune", action="store_true", help="train hopeless trials to their end"
    )
    parser.add_argument(
        "--table", type=Path, metavar="FILE.csv", help="where to write all trials"
    )
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="fit the best on training and validation rows, and save it",
    )
    parser.add_argument("--share", action="store_true", help=argparse.SUPPRESS)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Search and print what was found, or run a job file."""
    from spam_core.search import search

    if arguments.job is not None:
        if arguments.dataset or arguments.data:
            raise ValueError("give either a job file or --dataset/--data, not both")
        return search_job.run(Path(arguments.job))

    table = open_table(
        arguments.dataset, arguments.data, arguments.target, task=arguments.task
    )
    if arguments.jobs < 1:
        raise ValueError(f"--jobs must be at least 1, got {arguments.jobs}")
    if arguments.jobs > 1 and arguments.storage is None:
        raise ValueError("--jobs needs --storage: the file that processes share")
    names = [name for name, _ in arguments.set]
    if len(set(names)) < len(names):
        raise ValueError(f"--set names a setting twice: {', '.join(names)}")

    def tell(trial: Trial) -> None:
        sys.stderr.write(f"trial {trial.draw}: {_outcome(trial, metric)}\n")

    metric = arguments.metric or METRICS[table.task][0]
    others = [_another(arguments.words) for _ in range(arguments.jobs - 1)]
    try:
        result = search(
            table,
            arguments.model,
            n_trials=arguments.trials,
            changes=dict(arguments.set),
            metric=arguments.metric,
            seed=arguments.seed,
            storage=arguments.storage,
            prune=not arguments.no_prune,
            tell=tell,
        )
    finally:
        for other in others:
            other.terminate()
            other.wait()
    if arguments.share:  # the process that started this one tells
        return 0
    print("\n".join(report_lines(result)))
    if arguments.table is not None:
        result.to_frame().to_csv(arguments.table, index=False)
        print(f"\nAll trials: {arguments.table}")
    if arguments.out is not None:
        from spam_core.persistence import save_model

        model = fit(result.spec(arguments.seed), table)
        scores = score(model, table)
        save_model(model, arguments.out)
        print(
            "\nFitted on training and validation rows: "
            f"{METRIC_NAMES[result.metric]} {scores[result.metric]:.4g} on test rows. "
            f"Saved: {arguments.out}"
        )
    return 0


def report_lines(result: SearchResult) -> list[str]:
    """Write the best trials and what mattered, best first."""
    name = METRIC_NAMES[result.metric]
    states = [trial.state for trial in result.trials]
    counts = ", ".join(
        f"{states.count(state)} {state}" for state in dict.fromkeys(states)
    )
    best = result.best
    lines = [
        f"{len(states)} trials of {result.model} on {result.table} ({counts})",
        "",
        f"Best {name} on validation rows: {best.scores[result.metric]:.4g}, with",
        *(f"  {key} = {_text(value)}" for key, value in best.settings.items()),
        "",
        f"The {min(_SHOWN, len(result.ranked))} best trials, by {name}:",
    ]
    lines += [
        f"  trial {trial.draw}: {trial.scores[result.metric]:.4g}"
        f" in {trial.seconds:.1f} s"
        for trial in result.ranked[:_SHOWN]
    ]
    if result.importance:
        lines += ["", f"Share of the variance of {name} that each setting explains:"]
        lines += [f"  {key}: {share:.0%}" for key, share in result.importance.items()]
    return lines


def _outcome(trial: Trial, metric: str) -> str:
    settings = ", ".join(f"{key}={_text(v)}" for key, v in trial.settings.items())
    if trial.error is not None:
        return f"{settings}: {trial.error}"
    if not trial.scores:
        return f"{settings}: {trial.state} after {trial.seconds:.1f} s"
    return f"{settings}: {METRIC_NAMES[metric]} {trial.scores[metric]:.4g}"


def _text(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _another(words: list[str]) -> subprocess.Popen[bytes]:
    """Start a process that shares the search, and leaves results to this one."""
    command = [sys.executable, "-m", "spam_core", *words, "--jobs", "1", "--share"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL)


def _change(text: str) -> tuple[str, Setting]:
    from spam_core.search import parse_setting

    name, equals, rest = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"expected NAME=RANGE, got {text!r}")
    try:
        return name.strip(), parse_setting(rest)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{name}: {error}") from error
