"""The README's section on accuracy and speed, written from the reports' files."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from spam_core.benchmark.paper import PAPER, paper_best
from spam_core.benchmark.report import Report, load_report, show
from spam_core.benchmark.tables import best_of, leader_of, markdown, score_text
from spam_core.benchmark.variants import (
    REFERENCE,
    Variant,
    find_variants,
    in_order,
)
from spam_core.data.datasets import dataset_info
from spam_core.estimators.fitting import METRIC_NAMES

BEGIN = "<!-- benchmarks: written by `python -m spam_core benchmark readme` -->"
END = "<!-- benchmarks: end -->"

Result = Mapping[str, Any]

_MODELS = ("spam", "spam-3", "linear", "ebm-2", "nam", "xgboost", "dnn-1")
# what stands in a model's column where that isn't measured, the first that is, and what
# is added there
_INSTEAD = {
    "spam": {"spam-linear": " (linear map)"},
    "spam-3": {"spam-3-wide": " (rank 128)", "spam-linear-3": " (linear map)"},
}
_RATES = ("SPAM-Linear, order 2", "SPAM (spline), order 2", "NAM", "DNN")


def rewrite(text: str, folder: Path) -> str:
    r"""Return a page with what stands between its two marks written anew.

    Parameters
    ----------
    text : str
        With `BEGIN` and `END`, each on a line of its own.
    folder : Path
        Of the reports; those that aren't there are left out.

    Raises
    ------
    ValueError
        If the marks aren't there once each, in this order.

    Examples
    --------
    >>> page = f"Before\n{BEGIN}\nold\n{END}\nafter\n"
    >>> rewrite(page, Path("no such folder")).splitlines()[2:4]
    ['', 'Nothing is measured yet.']
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end) or BEGIN in after or END in after or END in before:
        raise ValueError(
            f"The page must have the lines {BEGIN} and {END}, once each and in this "
            "order, for the benchmarks to stand between them."
        )
    return f"{before}{BEGIN}\n\n{section(folder)}\n\n{END}{after}"


def section(folder: Path) -> str:
    """Write what the reports in a folder say, in short."""
    writers: tuple[tuple[str, Callable[[Report], str]], ...] = (
        ("accuracy", _accuracy),
        ("tuned", _tuned),
        ("speed", _speed),
        ("explanations", _explanations),
        ("throughput_cpu", _throughput),
        ("throughput_gpu", _throughput),
    )
    parts = [
        write(load_report(folder / f"{name}.json"))
        for name, write in writers
        if (folder / f"{name}.json").exists()
    ]
    return "\n\n".join(parts) or "Nothing is measured yet."


def _accuracy(report: Report) -> str:
    """Write a line for each data set: the main models beside the paper's best SPAM."""
    variants = find_variants(_MODELS)
    found = {(r["table"], r["label"]): r for r in report.results}
    variants = [v for v in variants if any(key[1] == v.label for key in found)]
    rows = []
    for table in dict.fromkeys(r["table"] for r in report.results):
        columns = [_in_column(found, table, variant) for variant in variants]
        best, cells = _cells(columns)
        if best is None:
            continue
        number = paper_best(table, best["better"] == "lower")
        theirs = "–" if number is None else f"{number[1]:.4f}"
        if number is not None and PAPER[table].remark:
            theirs += " (other data)"
        rows.append([*cells, theirs])
    if not rows:
        return "No fit is measured yet."
    head = ("", *(variant.label for variant in variants), "the paper's best SPAM")
    return _block(
        "Errors on test rows, mean ± standard deviation over the seeds of a line; what "
        "has fewer seeds says so, and isn't to be compared closely. Bold: the best of "
        "those with the most seeds, unless one with fewer, two or more, has less error "
        "on them. A seed draws the split (70/10/20, or the official test rows) and is "
        "the model's `random_state`. Defaults, nothing tuned to a table but the rank "
        "of 128, and of the paper's networks the best; the paper's numbers are tuned "
        "and on splits of its own. All models and data sets, with what couldn't be run "
        f"and why: {_link('accuracy')}.",
        markdown(head, rows),
    )


def _tuned(report: Report) -> str:
    """Write a line for each data set: the models whose settings a search chose."""
    found = {(r["table"], r["label"]): r for r in report.results}
    labels = list(dict.fromkeys(label for _, label in found))
    rows = []
    for table in dict.fromkeys(r["table"] for r in report.results):
        mine = [found.get((table, label)) for label in labels]
        best, cells = _cells([(result, "") for result in mine])
        if best is None:
            continue
        ratio = next((r["ratio"] for r in mine if r and r["model"] == "spam"), None)
        rows.append([*cells, show(ratio, 3)])
    head = ("", *labels, "SPAM's error / XGBoost's")
    return _block(
        "Settings chosen by a random search of equal length on validation rows: "
        f"{_link('tuned')}.",
        markdown(head, rows),
    )


def _cells(
    columns: Sequence[tuple[Result | None, str]],
) -> tuple[Result | None, list[str]]:
    """Write a data set's line, its name first; return its best result too.

    Parameters
    ----------
    columns : sequence of (result or None, str)
        And what is added to its number.
    """
    known = [result for result, _ in columns if result is not None]
    best, leader = best_of(known), leader_of(known)
    if best is None:
        return None, []
    most = max(len(result["seeds"]) for result in known)
    arrow = "↓" if best["better"] == "lower" else "↑"
    name = f"{best['table']}, {METRIC_NAMES[best['metric']]} {arrow}, {_seeds(most)}"
    cells = [
        "–" if r is None else _bold(score_text(r), r is leader) + more + _fewer(r, most)
        for r, more in columns
    ]
    return best, [name, *cells]


def _seeds(n: int) -> str:
    return "1 seed" if n == 1 else f"{n} seeds"


def _fewer(result: Result, most: int) -> str:
    n = len(result["seeds"])
    return f" ({_seeds(n)})" if 0 < n < most else ""


def _bold(text: str, bold: bool) -> str:
    return f"**{text}**" if bold else text


def _in_column(
    found: Mapping[tuple[str, str], Result], table: str, variant: Variant
) -> tuple[Result | None, str]:
    """Return what stands in a model's column, and what is added to it."""
    if variant.name == "dnn":
        return _best_network(found, table, variant.label)
    for key, more in {variant.key: "", **_INSTEAD.get(variant.key, {})}.items():
        (one,) = find_variants([key])
        result = found.get((table, one.label))
        if result is not None:
            return result, more
    return None, ""


def _best_network(
    found: Mapping[tuple[str, str], Result], table: str, heading: str
) -> tuple[Result | None, str]:
    """Return the best of the networks, as the paper does, and which it is."""
    labels = [variant.label for variant in find_variants() if variant.name == "dnn"]
    best = best_of([found[table, label] for label in labels if (table, label) in found])
    if best is None or best["label"] == heading:
        return best, ""
    return best, f" ({best['label'].removeprefix('DNN ')})"


def _speed(report: Report) -> str:
    rows = [
        [
            str(result["table"]),
            str(result["label"]),
            show(result["seconds"], 2),
            show(result["times_as_fast"], 2),
            show(result["seconds_to_match"], 2),
            show(result["times_as_fast_to_match"], 2),
            _got_there(result),
            show(result["memory_gb"], 2),
        ]
        for result in report.results
    ]
    head = (
        "",
        "",
        "seconds to fit",
        f"times as fast as {REFERENCE}",
        f"seconds to {REFERENCE}'s error",
        "times as fast to it",
        "seeds (those that get there)",
        "GB",
    )
    return _block(
        f"Time to fit ({_machine(report)}; {report.settings['threads a fit']} threads "
        "or processes each, one fit at a time, medians over seeds "
        f"{report.settings['seeds']}), and until SPAM's error on the test rows is that "
        f"of {REFERENCE}: {_link('speed')}.",
        markdown(head, rows, texts=2),
    )


def _got_there(result: Result) -> str:
    some, total = result["n_matched"], result["n_seeds"]
    return str(total) if some is None else f"{total} ({some})"


def _explanations(report: Report) -> str:
    rows = [
        [
            str(result["model"]),
            str(result["method"]),
            show(result["rows_per_second"], 2),
            show(result["times_slower"], 2),
            show(result["error"], 2),
        ]
        for result in report.results
    ]
    head = ("", "", "rows a second", "times as long as exact", "error")
    return _block(
        f"Explanations of a SPAM with {report.settings['features']} columns "
        f"({_machine(report)}): {_link('explanations')}.",
        markdown(head, rows, texts=2),
    )


def _throughput(report: Report) -> str:
    """Write rows a second of the main models, a column for each data set."""
    rates = {(r["table"], r["model"]): r["rows_per_second"] for r in report.results}
    tables = list(dict.fromkeys(table for table, _ in rates))
    models = in_order([m for m in _RATES if any(m == k[1] for k in rates)], _RATES)
    rows = [
        [model, *(show(rates.get((table, model)), 2) for table in tables)]
        for model in models
    ]
    gpu = report.environment["gpu"]
    where = _machine(report) if report.name.endswith("cpu") else gpu
    widths = [f"{table} ({dataset_info(table).n_features} columns)" for table in tables]
    return _block(
        f"Rows scored a second, one model in single precision ({where}): "
        f"{_link(report.name)}.",
        markdown(("", *widths), rows),
    )


def _block(text: str, table: str) -> str:
    """Put a table under its text, which is wrapped as the rest of the page is."""
    lines = textwrap.wrap(text, 90, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines) + "\n\n" + table


def _machine(report: Report) -> str:
    known = report.environment
    return f"{known['cpu']}, {known['cores']} cores"


def _link(name: str) -> str:
    return f"[{name}.md](assets/benchmarks/{name}.md)"
