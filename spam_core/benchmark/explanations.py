"""How long explanations take: exact Shapley values beside KernelSHAP and LIME."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from spam_core.benchmark.report import Column, Report
from spam_core.estimators import make_model
from spam_core.explain import explain_kernel_shap, explain_lime

COLUMNS = (
    Column("model", "model"),
    Column("method", "method"),
    Column("rows", "rows", 4),
    Column("seconds_per_row", "seconds a row", 2),
    Column("rows_per_second", "rows a second", 2),
    Column("evaluations_per_row", "model evaluations a row", 2),
    Column("times_slower", "times as long as exact", 2),
    Column("error", "error", 2),
)

_TEXT = (
    "Explanations of a model with {d} columns, against the same {background} "
    "background rows. *Exact*: Shapley values of the SPAM in closed form, for {rows:,} "
    "rows in one call, the median of {repeats} calls. *KernelSHAP* and *LIME*: with "
    "their default numbers of samples, for {posthoc} rows. Model evaluations of the "
    "exact values: the rows and the background once. Error: sum of absolute "
    "differences from the exact values over the sum of their sizes, mean over rows."
)


def explanation_speed(
    n_rows: int = 1000,
    n_features: int = 200,
    rank: int = 64,
    n_members: int = 8,
    n_background: int = 100,
    posthoc_rows: int = 2,
    repeats: int = 5,
    seed: int = 0,
    models: tuple[str, ...] = ("spam-linear", "spam"),
    command: str = "",
    tell: Callable[[str], None] = lambda _: None,
) -> Report:
    """Time explanations of SPAMs of order 2 on a made-up table.

    Parameters
    ----------
    n_rows, n_features : int
        Rows to explain at once, and columns.
    rank, n_members : int
        Of the SPAM.
    n_background, posthoc_rows, repeats, seed : int
        Background rows; rows for the post-hoc methods; how often the exact values are
        timed; seed of everything.
    models : tuple of str
        Names in the registry of glass boxes.
    command : str
        For the report.
    tell : callable
        Is told what is under way.

    Returns
    -------
    Report

    Notes
    -----
    What an explanation costs depends on sizes, not on how well the model is trained, so
    it is trained for two epochs.
    """
    X, y = _table(2 * n_rows + n_background, n_features, seed)
    background = X.iloc[-n_background:]
    rows = X.iloc[:n_rows]
    few = rows.iloc[:posthoc_rows]
    results: list[dict[str, Any]] = []
    for name in models:
        tell(f"{name}: training")
        model = make_model(
            name,
            "regression",
            order=2,
            rank=rank,
            n_members=n_members,
            max_epochs=2,
            random_state=seed,
        ).fit(X.iloc[: 2 * n_rows], y.iloc[: 2 * n_rows])
        tell(f"{name}: exact Shapley values of {n_rows:,} rows")
        times = []
        for _ in range(repeats + 1):  # the first call sets up what is kept
            started = time.perf_counter()
            exact = model.explain_local(rows, view="shapley", background=background)
            times.append(time.perf_counter() - started)
        seconds = float(np.median(times[1:])) / n_rows
        results.append(
            _result(name, "exact Shapley values", exact, n_rows, seconds, seconds, 0.0)
        )
        for method, explain in (
            ("KernelSHAP", explain_kernel_shap),
            ("LIME", explain_lime),
        ):
            tell(f"{name}: {method} of {posthoc_rows} rows")
            explain(model, few.iloc[:1], background, n_samples=2 * n_features)
            started = time.perf_counter()
            found = explain(model, few, background, seed=seed)
            each = (time.perf_counter() - started) / posthoc_rows
            truth = exact.values[:posthoc_rows]
            off = np.abs(found.values[:, :n_features] - truth).sum(1)
            error = float((off / np.abs(truth).sum(1)).mean())
            results.append(
                _result(name, method, found, posthoc_rows, each, seconds, error)
            )
    return Report(
        name="explanations",
        title="Time of explanations",
        text=_TEXT.format(
            d=n_features,
            background=n_background,
            rows=n_rows,
            repeats=repeats,
            posthoc=posthoc_rows,
        ),
        command=command,
        columns=COLUMNS,
        results=results,
        settings={
            "rows": n_rows,
            "features": n_features,
            "order": 2,
            "rank": rank,
            "members": n_members,
            "background": n_background,
            "seed": seed,
        },
    )


def _result(
    model: str,
    method: str,
    found: Any,
    n_rows: int,
    seconds: float,
    exact: float,
    error: float,
) -> dict[str, Any]:
    return {
        "model": model,
        "method": method,
        "rows": n_rows,
        "seconds_per_row": seconds,
        "rows_per_second": 1 / seconds,
        "evaluations_per_row": _whole(found.n_evaluations / n_rows),
        "times_slower": seconds / exact,
        "error": error,
    }


def _whole(number: float) -> float:
    """Return a whole number as one, so that it is written with all its digits."""
    return int(number) if number == int(number) else number


def _table(
    n_rows: int, n_features: int, seed: int
) -> tuple[pd.DataFrame, pd.Series[float]]:
    """Draw normal columns and a target in which several of them interact."""
    random = np.random.default_rng(seed)
    X = pd.DataFrame(
        random.normal(size=(n_rows, n_features)),
        columns=[f"x{i}" for i in range(n_features)],
    )
    weight = random.normal(size=n_features) / np.sqrt(n_features)
    a, b = (k % n_features for k in (0, 1))
    y = X @ weight + X.iloc[:, a] * X.iloc[:, b] + np.sin(X.iloc[:, -1])
    return X, y
