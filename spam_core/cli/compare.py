"""``compare``: explain test rows by several methods and measure the explanations."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import textwrap
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from tqdm import tqdm

from spam_core.cli.tables import add_source, open_table
from spam_core.estimators.fitting import ModelSpec, fit, rows_of
from spam_core.explain.comparison import (
    Comparison,
    ComparisonProgress,
    compare_explanations,
)
from spam_core.explain.ledger import UNITS
from spam_core.explain.measures import MAIN_MEASURES, MEASURES
from spam_core.explain.methods import MOST_VARYING, fewest_coalitions
from spam_core.persistence import load_model
from spam_core.persistence.records import write_json

if TYPE_CHECKING:
    from spam_core.data import Table

_TRAINED = {"SPAM": "spam", "DNN": "dnn"}
_ARROWS = {"higher": "↑", "lower": "↓"}
_MODEL, _METHOD, _NUMBER = 12, 14, 8  # widths of columns
_PAGE = 100


def add_commands(commands: Any) -> None:
    """Add ``compare`` to the commands."""
    parser = commands.add_parser(
        "compare",
        help="compare SPAM's explanations with LIME and KernelSHAP",
        description=(
            "Explain test rows of a SPAM and a neural network by their exact values, "
            "LIME and KernelSHAP, and print how good the explanations are."
        ),
    )
    add_source(parser)
    parser.add_argument(
        "--model",
        action="append",
        default=[],
        type=_model,
        metavar="NAME=FILE.spam",
        help="a saved model, instead of training; may be given again",
    )
    parser.add_argument("--rows", type=int, default=20, help="test rows, drawn (20)")
    parser.add_argument("-E", type=int, default=7, help="explanation length (7)")
    parser.add_argument("--unit", choices=UNITS, default="feature")
    parser.add_argument("--seeds", type=int, default=3, help="runs of each method (3)")
    parser.add_argument("--class", dest="class_", help="class to explain")
    parser.add_argument(
        "--samples",
        type=int,
        help="rows that LIME draws and coalitions that KernelSHAP scores for each row",
    )
    parser.add_argument("--json", metavar="FILE", help="write the summary to a file")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Train or load, explain, measure and print."""
    for name, option in (("rows", "--rows"), ("E", "-E"), ("seeds", "--seeds")):
        if getattr(arguments, name) < 1:
            raise ValueError(
                f"{option} must be at least 1, got {getattr(arguments, name)}"
            )
    path = None if arguments.json is None else _writable(Path(arguments.json))
    names = [name for name, _ in arguments.model]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"--model: two models are called {', '.join(twice)}")
    table = open_table(
        arguments.dataset, arguments.data, arguments.target, task=arguments.task
    )
    _check(table, arguments)
    models = {name: load_model(file) for name, file in arguments.model}
    rows = _draw(table, arguments.rows)
    comparison = _compare(models or _train(table), table, rows, arguments)
    n_test = len(table.splits["test"])
    print(
        f"{table.name}: {len(rows)} of {n_test:,} test rows, E = {comparison.E} "
        f"({comparison.unit}s), scale: {comparison.scale}\n"
        f"{comparison.background_size} background rows, {len(comparison.seeds)} seeds; "
        "means over the rows, ↑ higher is better, ↓ lower is better\n"
    )
    print("\n".join(table_lines(comparison)))
    print()
    print("\n".join(textwrap.wrap(what_is_known(comparison), _PAGE)))
    if path is not None:
        _write(comparison, table, rows, arguments.words, path)
        print(f"\nwrote {path}")
    return 0


def table_lines(comparison: Comparison) -> list[str]:
    """Return the main measures as lines of at most 100 characters."""
    labels = [textwrap.wrap(MEASURES[name].label, _NUMBER) for name in MAIN_MEASURES]
    arrows = [_ARROWS[MEASURES[name].better] for name in MAIN_MEASURES]
    heads = [*zip_longest(*labels, fillvalue=""), arrows]
    lines = [_line("", "", cells) for cells in heads]
    lines.append("-" * len(lines[0]))
    previous = None
    means = comparison.table().to_numpy()
    for (model, method), row in zip(comparison.explanations, means, strict=True):
        shown = "" if model == previous else model[: _MODEL - 1]
        previous = model
        cells = [
            _number(float(v), name) for v, name in zip(row, MAIN_MEASURES, strict=True)
        ]
        lines.append(_line(shown, method, cells))
    return lines


def _line(model: str, method: str, cells: Sequence[str]) -> str:
    numbers = "".join(f" {cell:>{_NUMBER}}" for cell in cells)
    return f"{model:<{_MODEL}}{method:<{_METHOD}}{numbers}"


def what_is_known(comparison: Comparison) -> str:
    """Say of which models the truth is known."""
    known = [name for name, is_known in comparison.truth_known.items() if is_known]
    others = [name for name, is_known in comparison.truth_known.items() if not is_known]
    parts = []
    if known:
        parts.append(
            f"Truth known for {' and '.join(known)}: the exact Shapley values, from "
            "which own terms differ by taking columns as independent."
        )
    if others:
        parts.append(
            f"Not known for {' and '.join(others)}: more than {MOST_VARYING} columns "
            "vary, so agreement and error can't be measured."
        )
    return " ".join(parts)


def _check(table: Table, arguments: argparse.Namespace) -> None:
    """Refuse before minutes of training what would be refused after them."""
    if not hasattr(table.X, "iloc"):
        raise ValueError(f"{table.name} is sparse: LIME and KernelSHAP can't draw it")
    fewest = fewest_coalitions(table.X.shape[1])
    if arguments.samples is not None and arguments.samples < fewest:
        raise ValueError(
            f"--samples must be at least {fewest}, twice the columns, got "
            f"{arguments.samples}"
        )
    if arguments.class_ is not None:
        labels = [str(label) for label in table.classes]
        if not labels:
            raise ValueError("--class is for classifiers; this target is a number")
        if arguments.class_ not in labels:
            raise ValueError(
                f"--class must be one of {labels}, got {arguments.class_!r}"
            )


def _train(table: Table) -> dict[str, Any]:
    models = {}
    for title, name in _TRAINED.items():
        print(f"training {title}", file=sys.stderr)
        models[title] = fit(ModelSpec(name, {"random_state": 0}), table)
    return models


def _draw(table: Table, n: int) -> list[int]:
    """Draw positions of test rows, the same each time."""
    test = table.splits["test"]
    rng = np.random.default_rng(0)
    chosen: list[int] = np.sort(
        rng.choice(test, min(n, len(test)), replace=False)
    ).tolist()
    return chosen


def _compare(
    models: dict[str, Any],
    table: Table,
    rows: Sequence[int],
    arguments: argparse.Namespace,
) -> Comparison:
    background, _ = rows_of(table, "train", "validation")
    samples = {}
    if arguments.samples is not None:
        samples = {
            "lime_samples": arguments.samples,
            "shap_samples": arguments.samples,
        }
    with tqdm(
        file=sys.stderr,
        bar_format="{percentage:3.0f}%|{bar:30}| [{elapsed}<{remaining}] {desc}",
    ) as bar:

        def tell(progress: ComparisonProgress) -> None:
            bar.total = progress.total
            bar.set_description_str(progress.what, refresh=False)
            bar.update(progress.done - bar.n)

        return compare_explanations(
            models,
            table.X.iloc[rows],
            background,
            arguments.E,
            arguments.unit,
            range(arguments.seeds),
            arguments.class_,
            callback=tell,
            **samples,
        )


def _write(
    comparison: Comparison,
    table: Table,
    rows: Sequence[int],
    words: Sequence[str],
    path: Path,
) -> None:
    from spam_core.benchmark.report import environment

    content = {
        "command": f"python -m spam_core {shlex.join(words)}",
        "table": table.name,
        "rows": list(rows),
        "E": comparison.E,
        "unit": comparison.unit,
        "scale": comparison.scale,
        "seeds": list(comparison.seeds),
        "background_size": comparison.background_size,
        "truth_known": dict(comparison.truth_known),
        "measures": {
            name: {
                "label": measure.label,
                "better": measure.better,
                "source": measure.source,
                "meaning": measure.meaning,
            }
            for name, measure in MEASURES.items()
        },
        # pandas writes NaN as null, which JSON has
        "summary": json.loads(comparison.summary().to_json(orient="records")),
        "environment": environment(),
    }
    write_json(path, content)


def _number(value: float, name: str) -> str:
    """Write a measure: counts whole, what isn't known as a dash."""
    if np.isnan(value):
        return "–"
    if name == "evaluations":
        return f"{value:,.0f}"
    return f"{value:.3f}" if name == "seconds" else f"{value:.2f}"


def _model(text: str) -> tuple[str, str]:
    name, equals, file = text.partition("=")
    if not (name and equals and file):
        raise argparse.ArgumentTypeError(f"expected NAME=FILE.spam, got {text!r}")
    return name, file


def _writable(path: Path) -> Path:
    """Refuse a place that can't be written before minutes of work."""
    if path.is_dir():
        raise ValueError(f"--json must be a file, {path} is a folder")
    if not path.absolute().parent.is_dir():
        raise ValueError(f"--json: there is no folder {path.absolute().parent}")
    return path
