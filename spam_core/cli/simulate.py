"""``simulate``: how well readers of explanations guess what models decide."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spam_core.cli.tables import add_source, open_table
from spam_core.estimators import MODELS
from spam_core.estimators.fitting import ModelSpec, build, fit, rows_of
from spam_core.persistence.records import write_json
from spam_core.study import PEOPLE, balanced_rows, explain_conditions, simulate

if TYPE_CHECKING:
    from spam_core.data import Table
    from spam_core.study import Simulation

LENGTHS = (1, 3, 5, 7, 10, 15)


def add_commands(commands: Any) -> None:
    """Add ``simulate`` to the commands."""
    parser = commands.add_parser(
        "simulate",
        help="let readers guess decisions from explanations",
        description=(
            "Train a SPAM, a linear model and a neural network, explain test rows of "
            "each, and let simple readers guess the decisions from the largest terms, "
            "as people did in the paper's study."
        ),
    )
    add_source(parser)
    parser.add_argument(
        "--model",
        default="spam",
        choices=[name for name, entry in MODELS.items() if entry.glass_box],
        help="the glass-box model (spam)",
    )
    parser.add_argument("--rows", type=int, default=60, help="test rows (60)")
    parser.add_argument("--draws", type=int, default=1000, help="draws (1000)")
    parser.add_argument(
        "--base",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="print the base with the terms",
    )
    parser.add_argument(
        "--samples",
        type=int,
        help="rows that LIME draws and coalitions that KernelSHAP scores for each row",
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", metavar="FILE", help="write all numbers to a file")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Train, explain, simulate and print."""
    for name in ("rows", "draws"):
        value = getattr(arguments, name)
        if value < 1:
            raise ValueError(f"--{name} must be at least 1, got {value}")
    path = None if arguments.json is None else Path(arguments.json)
    if path is not None and not path.absolute().parent.is_dir():
        raise ValueError(f"--json: there is no folder {path.absolute().parent}")
    table = open_table(
        arguments.dataset, arguments.data, arguments.target, task=arguments.task
    )
    if not hasattr(table.X, "iloc"):
        raise ValueError(f"{table.name} is sparse: LIME and KernelSHAP can't draw it")
    n_columns = table.X.shape[1]
    if arguments.samples is not None and arguments.samples < 2 * n_columns:
        raise ValueError(
            f"--samples must be at least twice the {n_columns} columns, got "
            f"{arguments.samples}"
        )
    models = _train(table, arguments.model, arguments.seed)
    X, _ = rows_of(table, "test")
    background, _ = rows_of(table, "train", "validation")
    # a regression's decisions are the halves of whatever pool is chosen
    decisions = (
        [[""] * len(X)]
        if table.task == "regression"
        else [model.predict(X) for model in models.values()]
    )
    pool = X.iloc[balanced_rows(decisions, arguments.rows, seed=arguments.seed)]
    explained = explain_conditions(
        models,
        pool,
        background,
        lime_samples=arguments.samples or 5000,
        shap_samples=arguments.samples or "auto",
        seed=arguments.seed,
        callback=_tell_condition,
    )
    played = simulate(
        explained,
        E=range(1, max(LENGTHS) + 1),
        draws=arguments.draws,
        base_shown=arguments.base,
        seed=arguments.seed,
    )
    _print(played, table)
    if path is not None:
        _write(played, table, path)
        print(f"\nwrote {path}")
    return 0


def _train(table: Table, name: str, seed: int) -> dict[str, Any]:
    specs = {
        MODELS[name].title: ModelSpec(name, {"random_state": seed}),
        "linear": ModelSpec("spam-linear", {"order": 1, "random_state": seed}),
        "DNN": ModelSpec("dnn", {"random_state": seed}),
    }
    for spec in specs.values():
        build(spec, table)  # a wrong setting is refused before any training
    models = {}
    for title, spec in specs.items():
        _tell(f"training {title}")
        models[title] = fit(spec, table)
    return models


def _print(played: Simulation, table: Table) -> None:
    half = played.n_training // 2
    base = "with" if played.base_shown else "without"
    labels = dict(zip(table.classes, table.class_names, strict=True))
    shown = [
        " or ".join(str(labels.get(label, label)) for label in pair)
        for pair in played.pairs[:3]
    ]
    more = len(played.pairs) - len(shown)
    print(
        f"{table.name}: {played.n_rows} test rows, {played.n_draws:,} draws of "
        f"{half} + {half} explanations and {played.n_test} questions, {base} the base\n"
        f"to tell: {', '.join(shown)}{f' and {more} more pairs' if more > 0 else ''}"
    )
    frame = played.table[played.table["E"].isin(LENGTHS)]
    width = max(len(condition) for condition in played.conditions)
    for reader in played.readers:
        print(f"\nAccuracy of the {reader} reader at explanation length E")
        head = "".join(f"{f'E = {length}':>18}" for length in LENGTHS)
        print(f"{'':<{width}}{head}")
        for condition in played.conditions:
            here = frame[
                (frame["reader"] == reader) & (frame["condition"] == condition)
            ]
            cells = "".join(
                f"{f'{mean:.3f} {low:.3f}-{high:.3f}':>18}"
                for mean, low, high in zip(
                    here["accuracy"], here["low"], here["high"], strict=True
                )
            )
            print(f"{condition:<{width}}{cells}")
    print(
        "\nA guess is right half of the time. The intervals hold 95 % of the means over"
        "\nresampled draws; other rows or models trained anew would differ by more."
    )
    at_7 = played.pair_terms.query("E == 7")
    counts = ", ".join(
        f"{condition} {count:.1f}"
        for condition, count in zip(at_7["condition"], at_7["pair_terms"], strict=True)
    )
    people = ", ".join(f"{name} {mean:.2f}" for name, mean in PEOPLE.items())
    print(
        f"Terms of two columns or more among 7: {counts}.\n\n"
        f"People, on another data set (the paper's CUB-200, E = 7): {people};\n"
        "of SPAM's 7 terms 3.1 were pairs."
    )


def _write(played: Simulation, table: Table, path: Path) -> None:
    content = {
        "table": table.name,
        "settings": played.settings,
        "accuracy": played.table.to_dict("records"),
        "pair_terms": played.pair_terms.to_dict("records"),
        "people_at_7_on_cub": PEOPLE,
    }
    write_json(path, content)


def _tell(message: str) -> None:
    print(message, file=sys.stderr)


def _tell_condition(condition: str, done: int, total: int) -> None:
    _tell(f"explaining: {condition} ({done + 1} of {total})")
