"""What an estimate's accuracy costs: error against the number of evaluations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from spam_core.explain.cells import check_count, sample_background
from spam_core.explain.lines import Lines, Outputs
from spam_core.explain.methods import (
    EXACT,
    KERNEL_SHAP,
    LIME,
    MOST_VARYING,
    Subject,
    check_seeds,
    fewest_coalitions,
    load_packages,
)
from spam_core.explain.quality import relative_error

BUDGETS = (32, 64, 128, 256, 512, 1024, 2048)


def error_by_budget(
    model: Any,
    row: Any,
    background: Any,
    budgets: Sequence[int] = BUDGETS,
    seeds: Sequence[int] = (0, 1, 2),
    class_: object = None,
    *,
    max_background: int = 100,
) -> pd.DataFrame:
    """Measure how far LIME and KernelSHAP are from the truth as they ask for more.

    Parameters
    ----------
    model : fitted estimator
        Whose exact Shapley values are known: a SPAM, or any in which at most 12 columns
        vary between the row and the background.
    row : table of one row
    background : table
        Training rows, of which at most `max_background` are drawn, once for all.
    budgets : sequence of int
        Rows that LIME draws, and coalitions that KernelSHAP scores. What KernelSHAP
        can't take, below 2 d, is left to LIME; what is above all coalitions of the
        columns that vary is these, with which it is exact.
    seeds : sequence of int, default=(0, 1, 2)
    class_ : object, optional
        As `compare_explanations` takes it.
    max_background : int, default=100

    Returns
    -------
    DataFrame
        ``method``, ``samples`` (the budget), ``evaluations`` (rows scored by the
        model), ``seed``, ``error`` (sum of absolute differences from the exact values
        over the sum of their sizes) and ``seconds``. ``attrs`` has the ``evaluations``
        and ``seconds`` of the exact values. LIME answers another question, so its error
        doesn't go to 0.

    Raises
    ------
    ValueError, TypeError
        If the truth isn't known, there isn't exactly one row, or a table or parameter
        can't be used.
    ImportError
        If lime or shap isn't installed.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> model = LinearRegression().fit(X, X @ [3.0, -2.0, 0.5])
    >>> frame = error_by_budget(model, X[:1], X, budgets=(6, 100), seeds=(0,))
    >>> frame[["method", "samples", "evaluations"]]
           method  samples  evaluations
    0        LIME        6            7
    1        LIME      100          101
    2  KernelSHAP        6         1001
    >>> bool(frame["error"].iloc[-1] < 1e-9)
    True
    """
    seeds = check_seeds(seeds)
    wanted = sorted({check_count("budgets", budget, 2) for budget in budgets})
    if not wanted:
        raise ValueError("budgets must hold at least one number")
    background = sample_background(background, max_background)
    [subject] = Subject.all({type(model).__name__: model}, row, background)
    n_rows = len(subject.rows.frame)
    if n_rows != 1:
        raise ValueError(f"row must be a table of one row, got {n_rows}")
    n_varying = int(subject.varying.sum())
    if not subject.truth_known:
        raise ValueError(
            f"The truth of {subject.name} isn't known: {n_varying} columns vary, and "
            f"all coalitions of more than {MOST_VARYING} aren't scored"
        )
    scorer = subject.scorer
    outputs = Outputs.choose(
        scorer.classes, scorer.score_rows(subject.rows), scorer.scale, class_
    )
    load_packages((LIME, KERNEL_SHAP))
    exact = subject.explain(EXACT, seeds[0])
    truth = Lines.of(exact, "feature")
    c = int(outputs.column[0])
    plans = {
        LIME: wanted,
        KERNEL_SHAP: _coalitions(wanted, len(scorer.names), n_varying),
    }
    lines = []
    for method, sizes in plans.items():
        for size in sizes:
            for seed in seeds:
                found = subject.explain(method, seed, size, size)
                values = Lines.of(found, "feature").columns
                error = relative_error(values[0, :, c], truth.columns[0, :, c])
                lines.append(
                    (method, size, found.n_evaluations, seed, error, found.seconds)
                )
    frame = pd.DataFrame(
        lines,
        columns=["method", "samples", "evaluations", "seed", "error", "seconds"],
    )
    frame.attrs = {"evaluations": exact.n_evaluations, "seconds": exact.seconds}
    return frame


def _coalitions(budgets: Sequence[int], n_features: int, n_varying: int) -> list[int]:
    """Return the budgets that KernelSHAP can take, up to all coalitions.

    Examples
    --------
    >>> _coalitions([8, 32, 256, 512], n_features=8, n_varying=8)
    [32, 254]
    """
    fewest = fewest_coalitions(n_features)
    every = max(2 ** min(n_varying, 62) - 2, fewest, 2)
    return sorted({min(budget, every) for budget in budgets if budget >= fewest})
