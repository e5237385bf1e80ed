"""``explain``: print the ledger of rows, which ends with its sum, the score."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from spam_core.data import dataset_names, load_dataset, read_table
from spam_core.persistence import load_model

_ROWS = 10  # rows explained unless one is asked for


def add_commands(commands: Any) -> None:
    """Add ``explain`` to the commands."""
    parser = commands.add_parser(
        "explain",
        help="explain the rows of a file, term by term",
        description=(
            "Print a ledger for each row: the base, the largest terms, what the "
            "others add up to, and their sum, which is the model's score."
        ),
    )
    parser.add_argument("model", metavar="MODEL.spam")
    parser.add_argument(
        "rows",
        metavar="ROWS",
        help="a CSV or Parquet file, or a named data set, whose test rows are meant",
    )
    parser.add_argument("--row", type=int, help="only this row, counted from 0")
    parser.add_argument("-E", type=int, default=7, help="terms to print (7)")
    parser.add_argument("--view", choices=("pure", "raw"), default="pure")
    parser.add_argument("--unit", choices=("term", "feature"), default="term")
    parser.add_argument("--class", dest="class_", help="class to explain, of several")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the ledgers."""
    if arguments.E < 1:
        raise ValueError(f"-E must be at least 1, got {arguments.E}")
    model = load_model(arguments.model)
    if not hasattr(model, "explain_local"):
        raise ValueError(f"{arguments.model} is no glass-box: it has no terms")
    frame = _rows(arguments.rows)
    if not frame.shape[0]:
        raise ValueError(f"{arguments.rows} has no rows")
    if arguments.row is None:
        chosen = list(range(min(frame.shape[0], _ROWS)))
    elif 0 <= arguments.row < frame.shape[0]:
        chosen = [arguments.row]
    else:
        raise ValueError(
            f"--row must be from 0 to {frame.shape[0] - 1}, the rows of "
            f"{arguments.rows}, got {arguments.row}"
        )
    rows = frame.iloc[chosen] if hasattr(frame, "iloc") else frame[chosen]
    explanation = model.explain_local(rows, view=arguments.view)
    classes = list(model.classes_) if hasattr(model, "classes_") else []
    shares = model.predict_proba(rows) if classes else None
    asked = None if arguments.class_ is None else _class(classes, arguments.class_)
    for k, row in enumerate(chosen):
        # of several classes, the likeliest is explained unless one is asked for
        label = asked
        if label is None and shares is not None and len(classes) > 2:
            label = classes[int(shares[k].argmax())]
        if k:
            print()
        print(f"Row {row} of {arguments.rows}")
        print("\n".join(ledger_lines(explanation, k, arguments, label)))
        if shares is not None:
            print(probability_line(classes, shares[k].tolist()))
    if arguments.row is None and frame.shape[0] > _ROWS:
        print(f"\n{frame.shape[0] - _ROWS:,} more rows: choose one with --row")
    return 0


def _rows(source: str) -> Any:
    """Read the rows of a file, or the test rows of a named data set."""
    if source in dataset_names() and not Path(source).exists():
        return load_dataset(source).split().X_test
    return read_table(source).frame


def ledger_lines(
    explanation: Any, row: int, arguments: argparse.Namespace, label: object
) -> list[str]:
    """Return the ledger of a row as lines, the last of which says that it adds up."""
    frame = explanation.ledger(row, E=arguments.E, unit=arguments.unit, class_=label)
    names = [_name(*cells) for cells in zip(frame["term"], frame["value"], strict=True)]
    amounts = frame["contribution"].tolist()
    # printed in the order in which it adds up
    order = [len(names) - 2, *range(len(names) - 2), len(names) - 1]
    width = max(len(name) for name in names)
    lines = [f"{explanation.view} view, scale: {frame.attrs['scale']}"]
    for k in order:
        if k == order[-1]:
            lines.append(f"  {'-' * (width + 14)}")
        sign = "" if k in (order[0], order[-1]) else "+"
        lines.append(f"  {names[k]:<{width}}  {amounts[k]:>{sign}12.5g}")
    base, score = amounts[-2:]
    terms = float(sum(amounts[:-2]))
    off = abs(base + terms - score)
    lines.append(
        f"  base {base:.6g} {'-' if terms < 0 else '+'} terms {abs(terms):.6g} = score "
        f"{score:.6g} (off by {off:.1g})"
    )
    return lines


def probability_line(classes: list[Any], shares: list[float]) -> str:
    """Return the probabilities, the likeliest class first, at most five."""
    ranked = sorted(zip(shares, classes, strict=True), key=lambda pair: -pair[0])[:5]
    text = ", ".join(f"{label} {100 * share:.1f} %" for share, label in ranked)
    return f"  probability: {text}"


def _name(term: object, value: object) -> str:
    return f"{term} = {value}" if str(value) else str(term)


def _class(classes: list[Any], wanted: str) -> Any:
    if not classes:
        raise ValueError("--class is for classifiers; this model predicts a number")
    for label in classes:
        if str(label) == wanted:
            return label
    raise ValueError(
        f"--class must be one of {list(map(str, classes))}, got {wanted!r}"
    )
