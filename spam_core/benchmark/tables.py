"""The results of the accuracy benchmark as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from spam_core.benchmark.paper import PAPER, paper_best
from spam_core.benchmark.report import show
from spam_core.benchmark.variants import REFERENCE
from spam_core.data.datasets import dataset_info
from spam_core.estimators.fitting import METRIC_NAMES

Result = Mapping[str, Any]


def errors_of(result: Result) -> dict[int, float]:
    """Return what is to be small, by seed: the score, or what it lacks of 1.

    Examples
    --------
    >>> errors_of({"seeds": [0, 2], "scores": [0.75, 0.5], "better": "higher"})
    {0: 0.25, 2: 0.5}
    """
    by_seed = zip(result["seeds"], result["scores"], strict=True)
    lower = result["better"] == "lower"
    return {seed: score if lower else 1 - score for seed, score in by_seed}


def ratio_to(reference: Result | None, result: Result) -> float | None:
    """Return the mean error over the reference's, on the seeds that both have.

    Seeds differ in their splits, so means over different seeds can't be compared.

    Examples
    --------
    >>> one = {"seeds": [0, 1], "scores": [3.0, 8.0], "better": "lower"}
    >>> other = {"seeds": [0], "scores": [2.0], "better": "lower"}
    >>> ratio_to(one, other), ratio_to(None, other)
    (0.6666666666666666, None)
    """
    if reference is None:
        return None
    own, base = errors_of(result), errors_of(reference)
    both = own.keys() & base.keys()
    whole = sum(base[seed] for seed in both)
    return sum(own[seed] for seed in both) / whole if whole else None


def best_of(results: Sequence[Result]) -> Result | None:
    """Return the result with the least error of those measured on the most seeds."""
    most = max((len(result["seeds"]) for result in results), default=0)
    complete = [result for result in results if len(result["seeds"]) == most > 0]
    return min(
        complete, key=lambda result: fmean(errors_of(result).values()), default=None
    )


def leader_of(results: Sequence[Result]) -> Result | None:
    """Return `best_of`, or None if one with fewer seeds has less error on those.

    Means over other splits don't say who is ahead: neither is, until both have the same
    seeds. A rival's single seed says too little to doubt it.

    Examples
    --------
    >>> seeds = {"seeds": [0, 1, 2], "scores": [3.0, 8.0, 1.0], "better": "lower"}
    >>> fewer = {"seeds": [0, 1], "scores": [3.0, 7.0], "better": "lower"}
    >>> leader_of([seeds, fewer]) is None, leader_of([seeds]) is seeds
    (True, True)
    """
    best = best_of(results)
    rivals = [r for r in results if len(r["seeds"]) > 1]
    ratios = [ratio_to(best, rival) for rival in rivals]
    ahead = any(ratio is not None and ratio < 1 for ratio in ratios)
    return None if ahead else best


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
    leader = leader_of(results)
    rows, notes = [], []
    for result in results:
        ratio = ratio_to(reference, result)
        text = score_text(result)
        rows.append(
            [
                result["label"],
                f"**{text}**" if result is leader else text,
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
