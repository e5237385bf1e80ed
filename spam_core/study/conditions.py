"""The paper's conditions: a model and how it is explained."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from spam_core.explain import LocalExplanation, explain_kernel_shap, explain_lime
from spam_core.explain.cells import check_count, check_seed

PEOPLE = {"SPAM": 0.71, "linear": 0.67, "DNN + LIME": 0.65}
"""Mean accuracy of the paper's participants at E = 7, by condition.

On five pairs of the classes of CUB-200 (section 5, study 1): SPAM is SPAM-Linear of
order 2. Those who got the first question wrong were left out.
"""

ROWS_A_CLASS = 5
"""Rows that `balanced_rows` takes of a class for each model before it takes more
classes: four to show and one to ask about."""

Callback = Callable[[str, int, int], object]


def explain_conditions(
    models: Mapping[str, Any],
    rows: Any,
    background: Any,
    *,
    lime_samples: int = 5000,
    shap_samples: int | Literal["auto"] = "auto",
    seed: int = 0,
    callback: Callback | None = None,
) -> dict[str, LocalExplanation]:
    """Explain the same rows of several models, each in the ways that suit it.

    A model that explains itself is one condition, by its terms in the pure view. Any
    other is two, by LIME and by KernelSHAP.

    Parameters
    ----------
    models : mapping of name to fitted estimator
        The paper has a SPAM of order 2, a linear model (a SPAM of order 1 with the
        linear map will do) and a network.
    rows : table of n rows
        The pool, in user units.
    background : table
        Training rows, which LIME and KernelSHAP draw from.
    lime_samples, shap_samples : int
        Of each row; see `explain_lime` and `explain_kernel_shap`.
    seed : int, default=0
        Of both.
    callback : callable, optional
        Called before each condition with its name, how many are done and how many
        there are.

    Returns
    -------
    dict of str to LocalExplanation
        ``"NAME"``, or ``"NAME + LIME"`` and ``"NAME + KernelSHAP"``.

    Raises
    ------
    ValueError, TypeError
        If a table can't be used, or two conditions would have one name.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from spam_core import SPAMRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame(rng.uniform(size=(60, 2)), columns=["a", "b"])
    >>> y = X["a"] * X["b"]
    >>> models = {
    ...     "SPAM": SPAMRegressor(n_members=1, max_epochs=1, random_state=0).fit(X, y),
    ...     "line": LinearRegression().fit(X, y),
    ... }
    >>> explained = explain_conditions(models, X[:3], X, lime_samples=50)
    >>> list(explained)
    ['SPAM', 'line + LIME', 'line + KernelSHAP']
    """
    if not models:
        raise ValueError("models must hold at least one model, got none")
    work: dict[str, Callable[[], LocalExplanation]] = {}
    for name, model in models.items():
        for condition, explain in _ways(
            name, model, rows, background, lime_samples, shap_samples, seed
        ):
            if condition in work:
                raise ValueError(f"Two conditions would be called {condition!r}")
            work[condition] = explain
    explained = {}
    for done, (condition, explain) in enumerate(work.items()):
        if callback is not None:
            callback(condition, done, len(work))
        explained[condition] = explain()
    return explained


def balanced_rows(
    decisions: Sequence[ArrayLike], n_rows: int, *, seed: int = 0
) -> NDArray[np.intp]:
    """Choose rows of which every model decides each class about equally often.

    Rows are drawn in turn: one that the first model decides as the first class, one
    that the second model does, and so on through models and classes; where there are
    none left, the others go on. No model is preferred.

    Parameters
    ----------
    decisions : sequence of array of n labels
        What each model decides.
    n_rows : int
        How many to choose.
    seed : int, default=0

    Returns
    -------
    ndarray of int
        Positions, increasing. Of many classes only so many are chosen from, at least
        two, as get `ROWS_A_CLASS` rows for each model: those that the model which
        decides so least often decides most often.

    Raises
    ------
    ValueError
        If there are no decisions or they differ in length.

    Examples
    --------
    >>> balanced_rows([["no"] * 10 + ["yes"] * 2], 4).tolist()
    [2, 9, 10, 11]
    """
    n_rows = check_count("n_rows", n_rows, 1)
    columns = [np.asarray(labels, dtype=object) for labels in decisions]
    if not columns or any(labels.shape != columns[0].shape for labels in columns):
        raise ValueError(
            f"Expected as many decisions of each model, got arrays of shapes "
            f"{[labels.shape for labels in columns]}"
        )
    codes, classes = pd.factorize(np.concatenate(columns), sort=False)
    parts = codes.reshape(len(columns), -1)
    fewest = np.min([np.bincount(p, minlength=len(classes)) for p in parts], axis=0)
    n_classes = max(2, n_rows // (ROWS_A_CLASS * len(columns)))
    kept = np.argsort(-fewest, kind="stable")[:n_classes]
    order = np.random.default_rng(check_seed(seed)).permutation(parts.shape[1])
    queues = [iter(order[part[order] == k].tolist()) for k in kept for part in parts]
    chosen: set[int] = set()
    while queues and len(chosen) < n_rows:
        queue = queues.pop(0)
        row = next((row for row in queue if row not in chosen), None)
        if row is not None:
            chosen.add(row)
            queues.append(queue)
    return np.array(sorted(chosen), dtype=np.intp)


def _ways(
    name: str,
    model: Any,
    rows: Any,
    background: Any,
    lime_samples: int,
    shap_samples: int | Literal["auto"],
    seed: int,
) -> list[tuple[str, Callable[[], LocalExplanation]]]:
    """Return the conditions that a model makes, and how to explain each."""
    if callable(getattr(model, "explain_local", None)):
        return [(name, lambda: model.explain_local(rows))]

    def lime() -> LocalExplanation:
        return explain_lime(model, rows, background, n_samples=lime_samples, seed=seed)

    def kernel_shap() -> LocalExplanation:
        return explain_kernel_shap(
            model, rows, background, n_samples=shap_samples, seed=seed
        )

    return [(f"{name} + LIME", lime), (f"{name} + KernelSHAP", kernel_shap)]
