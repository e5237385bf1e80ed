"""LIME and KernelSHAP: explanations of any model from outside, and what they cost."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from spam_core.explain.cells import (
    Cells,
    check_count,
    check_seed,
    read_table,
    sample_background,
)
from spam_core.explain.foreign import make_scorer
from spam_core.explain.kernel_shap import BLOCK_ROWS, explain_kernel_shap
from spam_core.explain.lime_ import explain_lime

__all__ = [
    "CostEstimate",
    "estimate_cost",
    "estimate_evaluations",
    "explain_kernel_shap",
    "explain_lime",
    "sample_background",
]

Method = Literal["lime", "kernel_shap"]
METHODS: tuple[Method, ...] = ("lime", "kernel_shap")

_PROBE_ROWS = 4096
# seconds of the packages' own work, beside the model's, on one core
_PER_COALITION = 3e-5
_PER_DRAWN_CELL = 2e-7


@dataclass(frozen=True)
class CostEstimate:
    """What an explanation will cost.

    Attributes
    ----------
    n_evaluations : int
        Rows that the model will score, at most.
    seconds : float
        On this machine, as busy as it is now; without the first import of the package.
    """

    n_evaluations: int
    seconds: float


def estimate_evaluations(
    method: Method,
    n_features: int,
    *,
    n_rows: int = 1,
    n_background: int = 100,
    n_samples: int | Literal["auto"] = "auto",
) -> int:
    """Count the rows that a model will score at most, without doing anything.

    Parameters
    ----------
    method : {"lime", "kernel_shap"}
    n_features : int
        d. Features that the background can't change make KernelSHAP cheaper.
    n_rows : int, default=1
        Rows to explain.
    n_background : int, default=100
        Rows of the background that KernelSHAP averages over.
    n_samples : int or "auto"
        As the method takes it: drawn rows (auto: 5,000), or coalitions
        (auto: 2 d + 2,048).

    Raises
    ------
    ValueError
        If the method is unknown or a number is impossible.

    Examples
    --------
    >>> estimate_evaluations("lime", 20)
    5001
    >>> estimate_evaluations("kernel_shap", 20)
    209201
    >>> estimate_evaluations("kernel_shap", 8)
    25801
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {list(METHODS)}, got {method!r}")
    check_count("n_features", n_features, 1)
    check_count("n_rows", n_rows, 1)
    check_count("n_background", n_background, 1)
    if n_samples != "auto":
        check_count("n_samples", n_samples, 2)
    if method == "lime":
        return n_rows * (1 + (5000 if n_samples == "auto" else n_samples))
    coalitions = 2 * n_features + 2048 if n_samples == "auto" else n_samples
    if n_features <= 30:
        coalitions = min(coalitions, 2**n_features - 2)
    # no and all features, once for shap and once for the scale
    return n_rows * ((coalitions + 4) * n_background + 1)


def estimate_cost(
    model: Any,
    background: Any,
    *,
    method: Method,
    n_rows: int = 1,
    n_samples: int | Literal["auto"] = "auto",
    max_background: int = 100,
) -> CostEstimate:
    """Estimate evaluations and seconds before running, from a short trial.

    Parameters
    ----------
    model, background, n_samples, max_background
        As `explain_lime` or `explain_kernel_shap` will take them.
    method : {"lime", "kernel_shap"}
    n_rows : int, default=1
        Rows to explain.

    Returns
    -------
    CostEstimate

    Raises
    ------
    ValueError, TypeError
        If a table or a parameter can't be used.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = LinearRegression().fit(X, X[:, 0])
    >>> estimate_cost(model, X, method="kernel_shap").n_evaluations
    601
    """
    check_seed(0)
    n_background = min(len(read_table(background, "background")[0]), max_background)
    background = sample_background(background, max_background)
    scorer = make_scorer(model, background)
    table = scorer.read(background, "background").cells
    n_evaluations = estimate_evaluations(
        method,
        len(scorer.names),
        n_rows=n_rows,
        n_background=n_background,
        n_samples=n_samples,
    )
    size = min(_PROBE_ROWS, BLOCK_ROWS, n_evaluations)
    chosen = np.resize(np.arange(len(table)), size)
    trial = Cells(table.numbers[chosen], table.codes[chosen])
    scorer.score(trial[:1])  # what a first call sets up isn't timed
    started = time.perf_counter()
    scorer.score(trial)
    seconds = (time.perf_counter() - started) / size * n_evaluations
    if method == "lime":
        seconds += (
            n_evaluations * len(scorer.names) * scorer.n_outputs * _PER_DRAWN_CELL
        )
    else:
        seconds += n_evaluations / n_background * _PER_COALITION
    return CostEstimate(n_evaluations, seconds)
