"""``fit``: train a model, say how good it is and what drives it, save it."""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from spam_core.cli import job
from spam_core.cli.tables import add_source, list_sets, open_table
from spam_core.estimators import MODELS
from spam_core.estimators.fitting import (
    METRIC_NAMES,
    METRICS,
    ModelSpec,
    Scores,
    baseline,
    baseline_name,
    build,
    fit,
    score,
)

if TYPE_CHECKING:
    from spam_core.data import Table
    from spam_core.training.config import Progress

_TOP = 10


def add_commands(commands: Any) -> None:
    """Add ``fit`` and ``datasets`` to the commands."""
    parser = commands.add_parser(
        "fit",
        help="train a model on a table",
        description=(
            "Train a model on 80 % of a table, score it on the rest beside a neural "
            "network and a constant guess, print its largest terms and save it."
        ),
    )
    parser.add_argument(
        "job",
        nargs="?",
        metavar="JOB.json",
        help="a job file: fits what it says and reports in JSON lines",
    )
    add_source(parser)
    model = parser.add_argument_group("model")
    model.add_argument("--model", default="spam", help="name in the registry")
    model.add_argument("--order", type=int, help="largest number of columns in a term")
    model.add_argument(
        "--rank", type=_ranks, help="components, one number or one per order: 64,32"
    )
    model.add_argument("--feature-map", choices=("linear", "neural", "basis", "spline"))
    model.add_argument("--members", type=int, help="models in the ensemble")
    model.add_argument("--epochs", type=int, help="at most this many passes")
    model.add_argument("--seed", type=int, default=0)
    model.add_argument(
        "--set",
        action="append",
        default=[],
        type=setting,
        metavar="NAME=VALUE",
        help="any other setting of the model, for example learning_rate=0.01",
    )
    parser.add_argument("--out", metavar="FILE", help="where to save, such as m.spam")
    parser.add_argument(
        "--no-compare", action="store_true", help="don't train the neural network"
    )
    parser.set_defaults(run=run)
    names = commands.add_parser("datasets", help="list the named data sets")
    names.set_defaults(run=datasets)


def datasets(_: argparse.Namespace) -> int:
    """Print the named data sets, one a line."""
    rows = [("name", "task", "rows x columns", "what it is"), *list_sets()]
    width = [max(len(row[k]) for row in rows) for k in range(3)]
    for row in rows:
        cells = [f"{row[k]:<{width[k]}}" for k in range(3)]
        print("  ".join([*cells, row[3]]).rstrip())
    return 0


def run(arguments: argparse.Namespace) -> int:
    """Fit from the command line, or run a job file."""
    if arguments.job is not None:
        if arguments.dataset or arguments.data:
            raise ValueError("give either a job file or --dataset/--data, not both")
        return job.run(Path(arguments.job))
    table = open_table(
        arguments.dataset, arguments.data, arguments.target, task=arguments.task
    )
    out = None if arguments.out is None else _writable(Path(arguments.out))
    specs = [ModelSpec(arguments.model, _settings(arguments))]
    if arguments.model != "dnn" and not arguments.no_compare:
        specs.append(ModelSpec("dnn", {"random_state": arguments.seed}))
    for spec in specs:
        build(spec, table)  # a wrong setting is refused before any training
    n, d = table.X.shape
    print(
        f"{table.name}: {n:,} rows, {d} columns, target {table.target} ({table.task})"
    )
    results: list[tuple[str, Scores, float | None]] = []
    models = []
    for spec in specs:
        with _Bar(spec.name) as bar:
            models.append(fit(spec, table, bar.update))
        seconds = float(models[-1].training_seconds_)
        results.append((_title(spec.name), score(models[-1], table), seconds))
    results.append((baseline_name(table.task), baseline(table), None))
    _print_scores(results, table)
    _print_terms(models[0], table)
    if out is not None:
        models[0].save(out)
        print(f"\nsaved {out}")
    return 0


class _Bar:
    """A progress bar in epochs on standard error; it appears with the first epoch."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._bar: Any = None

    def __enter__(self) -> _Bar:
        return self

    def update(self, progress: Progress) -> bool:
        if self._bar is None:
            self._bar = tqdm(
                desc=_title(self._name),
                total=progress.max_epochs,
                file=sys.stderr,
                bar_format="{desc}: {percentage:3.0f}%|{bar:30}| {n_fmt}/{total_fmt}"
                " epochs [{elapsed}<{remaining}{postfix}]",
            )
        self._bar.total = progress.max_epochs
        known = math.isfinite(progress.validation_loss)
        loss = progress.validation_loss if known else progress.train_loss
        self._bar.set_postfix(loss=f"{loss:.4g}", refresh=False)
        self._bar.update(progress.epoch - self._bar.n)
        return False

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.total = self._bar.n  # stopped early: that was all of it
            self._bar.refresh()
            self._bar.close()


def _print_scores(
    results: list[tuple[str, Scores, float | None]], table: Table
) -> None:
    names = METRICS[table.task]
    width = max(len(name) for name, *_ in results)
    n_test = len(table.splits["test"])
    head = "".join(f"{METRIC_NAMES[name]:>22}" for name in names)
    print(f"\nOn {n_test:,} test rows")
    print(f"{'':<{width}}{head}{'training seconds':>20}")
    for name, scores, seconds in results:
        cells = "".join(f"{_number(scores[metric]):>22}" for metric in names)
        time = "-" if seconds is None else f"{seconds:.1f}"
        print(f"{name:<{width}}{cells}{time:>20}")


def _print_terms(model: Any, table: Table) -> None:
    if not hasattr(model, "explain_global"):
        return
    explanation = model.explain_global()
    frame = explanation.to_frame()
    print(
        f"\nLargest terms ({explanation.view} view), by mean absolute contribution to "
        f"{'' if table.task == 'regression' else 'the '}{explanation.scale}"
    )
    for line in largest_terms(explanation, _TOP):
        print(line)
    rest = len(frame) - _TOP
    if rest > 0:
        print(f"    and {rest:,} smaller terms")


def largest_terms(explanation: Any, top: int) -> list[str]:
    """Return one line for each of the largest terms; sizes are means over classes."""
    sizes = explanation.importance
    if sizes.ndim == 2:
        sizes = sizes.mean(axis=1)
    order = (-sizes).argsort(kind="stable")[:top]
    names = [" × ".join(explanation.terms[k]) for k in order]
    width = max((len(name) for name in names), default=0)
    return [
        f"{place:>3} {name:<{width}}  {_number(float(sizes[k]))}"
        for place, (name, k) in enumerate(zip(names, order, strict=True), start=1)
    ]


def _number(value: float) -> str:
    if math.isnan(value):
        return "n/a"
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:,.0f}"


def _title(name: str) -> str:
    return MODELS[name].title


def _settings(arguments: argparse.Namespace) -> dict[str, Any]:
    chosen = {
        "order": arguments.order,
        "rank": arguments.rank,
        "feature_map": arguments.feature_map,
        "n_members": arguments.members,
        "max_epochs": arguments.epochs,
        "random_state": arguments.seed,
    }
    given = {name: value for name, value in chosen.items() if value is not None}
    return given | dict(arguments.set)


def _ranks(text: str) -> int | list[int]:
    try:
        ranks = [int(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"expected a number, or numbers with commas, got {text!r}"
        ) from None
    return ranks[0] if len(ranks) == 1 else ranks


def setting(text: str) -> tuple[str, Any]:
    """Read NAME=VALUE; what isn't JSON is a word."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, got {text!r}")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value  # a word needs no quotes: scaling=minmax


def _writable(path: Path) -> Path:
    """Refuse a place that can't be written before minutes of training."""
    if path.is_dir():
        raise ValueError(f"--out must be a file, {path} is a folder")
    if not path.absolute().parent.is_dir():
        raise ValueError(f"--out: there is no folder {path.absolute().parent}")
    return path
