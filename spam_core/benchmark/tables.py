"""The results of the accuracy benchmark as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from spam_core.benchmark.paper import PAPER, paper_best
from spam_core.benchmark.report import show
from spam_core.benchmark.variants import REFERENCE
from spam_core.data.datasets import dataset_info
from spam_core.estimators.fitting import METRIC_NAMES

Result = Mapping[str, Any]


def error_of(result: Result) -> float | None:
    """Return what is to be small: the mean itself, or what it lacks of 1.

    Examples
    --------
    >>> error_of({"mean": 0.75, "better": "higher"})
    0.25
    """
    mean: float | None = result["mean"]
    if mean is None:
        return None
    return mean if result["better"] == "lower" else 1 - mean


def best_of(results: Sequence[Result]) -> Result | None:
    """Return the result with the least error, if any was measured."""
    measured = [(e, r) for r in results if (e := error_of(r)) is not None]
    return min(measured, key=lambda pair: pair[0])[1] if measured else None


def score_text(result: Result) -> str:
    """Write mean and spread with as many digits as the paper has.

    Examples
    --------
    >>> score_text({"mean": 0.45678, "spread": 0.00321, "better": "lower"})
    '0.4568 ± 0.0032'
    >>> score_text({"mean": 39.512, "spread": None, "better": "lower"})
    '39.51'
    >>> score_text({"mean": 1.0, "spread": 0.0, "better": "higher"})
    '1.0000 ± 0.0000'
    """
    mean, spread = result["mean"], result["spread"]
    if mean is None:
        return "–"
    # shares have four decimals; numbers in units of their own have four digits
    share = result["better"] == "higher" or abs(mean) < 1
    places = 4 if share else max(0, 4 - len(str(int(abs(mean)))))
    text = f"{mean:,.{places}f}"
    return text if spread is None else f"{text} ± {spread:,.{places}f}"


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]], texts: int = 1) -> str:
    """Write a table, its first `texts` columns to the left and the others right.

    Examples
    --------
    >>> print(markdown(["model", "error"], [["SPAM", "0.45"]]))
    | model | error |
    |---|---:|
    | SPAM | 0.45 |
    """
    rule = ["---" if k < texts else "---:" for k in range(len(head))]
    lines = ["| " + " | ".join(row) + " |" for row in (head, *rows)]
    lines.insert(1, "|" + "|".join(rule) + "|")
    return "\n".join(lines)


def accuracy_tables(results: Sequence[Result]) -> str:
    """Write one table for each data set, with its remarks below."""
    tables = dict.fromkeys(result["table"] for result in results)
    parts = [
        _one_table([result for result in results if result["table"] == table])
        for table in tables
    ]
    return "\n\n".join(parts) or "Nothing is measured yet."


def _one_table(results: Sequence[Result]) -> str:
    info = dataset_info(results[0]["table"])
    metric = METRIC_NAMES[results[0]["metric"]]
    unit = f" ({info.target_unit})" if info.target_unit and metric == "RMSE" else ""
    reference = next((r for r in results if r["label"] == REFERENCE), None)
    base = None if reference is None else error_of(reference)
    best = best_of(results)
    rows, notes = [], []
    for result in results:
        error = error_of(result)
        ratio = None if error is None or not base else error / base
        text = score_text(result)
        rows.append(
            [
                result["label"],
                f"**{text}**" if result is best else text,
                show(len(result["seeds"]), 1),
                show(ratio and round(ratio, 3), 3),
                show(result["paper"], 4),
                show(result["seconds"], 2),
                show(result["memory_gb"], 2),
            ]
        )
        if result["note"] is not None:
            notes.append(f"- {result['label']}: {result['note']}")
    head = (
        "model",
        f"{metric}{unit}",
        "seeds",
        f"error / {REFERENCE}",
        "paper",
        "seconds",
        "GB",
    )
    known = f"{info.n_rows:,} rows, {info.n_features:,} columns; {info.split_note}."
    parts = [
        f"## {info.title} (`{info.name}`)",
        known + _about_paper(info.name, results[0]["better"] == "lower"),
        markdown(head, rows),
    ]
    if notes:
        parts.append("\n".join(notes))
    return "\n\n".join(parts)


def _about_paper(table: str, lower: bool) -> str:
    best = paper_best(table, lower)
    if best is None:
        return ""
    column = PAPER[table]
    remark = f"; {column.remark}" if column.remark else ""
    kind = best[0].removeprefix("SPAM ")
    return f" The paper's best SPAM on {column.name} {kind} has {best[1]}{remark}."
