"""Columns that by themselves give the target away."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spam_core.data.columns import column_kind, to_numbers
from spam_core.data.table import Task

_ROWS = 5000  # that are looked at; a column that gives it away does so in few
_COLUMNS = 300  # 20 to 100 ms each
_LEAST = {"AUC": 0.97, "R²": 0.9}


def telling_columns(X: pd.DataFrame, y: pd.Series[Any], task: Task) -> dict[str, str]:
    """Name the columns that predict the target nearly alone, with how well they do.

    Often such a column is known only after the outcome, as the number of a lifeboat
    is. A model that has it looks better than it will ever be. Each column is given to
    a tree of at most 16 leaves, which is scored on rows that it hasn't seen, out of at
    most 5,000. In a table of more than 300 columns none is looked for.

    Parameters
    ----------
    X : DataFrame of shape (n, d)
    y : Series of shape (n,)
        Rows where it is missing are passed over.
    task : {"regression", "binary", "multiclass"}

    Returns
    -------
    dict of str to str
        Column to score, best first: AUC of 0.97 or more (mean over classes against the
        rest), or R² of 0.9 or more.

    Examples
    --------
    >>> X = pd.DataFrame({"boat": ["3", None, "5", None] * 30, "age": range(120)})
    >>> telling_columns(X, pd.Series(["yes", "no"] * 60), "binary")
    {'boat': 'AUC 1.00'}
    """
    if X.shape[1] > _COLUMNS:
        return {}
    rows = np.flatnonzero(y.notna().to_numpy())
    rng = np.random.default_rng(0)
    rows = rng.permutation(rows)[:_ROWS]
    target = y.iloc[rows]
    if task != "regression":
        counts = target.value_counts()  # each part of the rows needs one of a class
        frequent = target.isin(counts.index[counts >= 3]).to_numpy()
        rows, target = rows[frequent], target[frequent]
    if target.nunique() < 2 or len(target) < 20:
        return {}
    name = "R²" if task == "regression" else "AUC"
    found = {
        str(column): _score(_numbers(X[column].iloc[rows]), target, task)
        for column in X.columns
    }
    ranked = sorted(found.items(), key=lambda item: -item[1])
    return {c: f"{name} {s:.2f}" for c, s in ranked if s >= _LEAST[name]}


def _numbers(column: pd.Series[Any]) -> NDArray[np.float64]:
    """Numbers as they are, and levels by their place, the most frequent first."""
    if column_kind(column) == "numeric":
        numbers = to_numbers(column)
        return np.where(np.isfinite(numbers), numbers, np.nan)
    order = {level: k for k, level in enumerate(column.value_counts().index)}
    return column.map(order).to_numpy(dtype=float, na_value=np.nan)


def _score(values: NDArray[np.float64], target: pd.Series[Any], task: Task) -> float:
    from sklearn.metrics import r2_score, roc_auc_score
    from sklearn.model_selection import cross_val_predict
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    size: Any = {"max_leaf_nodes": 16, "min_samples_leaf": 5, "random_state": 0}
    matrix = values[:, None]
    if task == "regression":
        numbers = to_numbers(target)
        tree = DecisionTreeRegressor(**size)
        return float(r2_score(numbers, cross_val_predict(tree, matrix, numbers, cv=3)))
    classes = pd.factorize(target, sort=True)[0]
    p = cross_val_predict(
        DecisionTreeClassifier(**size), matrix, classes, cv=3, method="predict_proba"
    )
    if p.shape[1] == 2:
        return float(roc_auc_score(classes, p[:, 1]))
    return float(roc_auc_score(classes, p, multi_class="ovr"))
