"""From any frame and the name of its target to a `Table`."""

from __future__ import annotations

from typing import Any

import pandas as pd

from spam_core.data.splits import make_splits
from spam_core.data.table import Table, Task


def guess_task(y: pd.Series[Any], max_classes: int = 20) -> Task:
    """Tell from a target what there is to learn.

    Text, truth values and whole numbers with few distinct values are classes.

    Parameters
    ----------
    y : Series (n,)
        Missing values are left aside.
    max_classes : int
        Numbers with more distinct values than this are a quantity.

    Raises
    ------
    ValueError
        If the target has fewer than two distinct values.

    Examples
    --------
    >>> guess_task(pd.Series([0, 1, 1])), guess_task(pd.Series([0.5, 1.5, 2.0]))
    ('binary', 'regression')
    """
    values = y.dropna()
    n_distinct = values.nunique()
    if n_distinct < 2:
        raise ValueError(
            f"Target {str(y.name)!r} has {n_distinct} distinct value(s); there is "
            "nothing to learn."
        )
    if pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values):
        whole = bool((values % 1 == 0).all())
        if not whole or n_distinct > max_classes:
            return "regression"
    return "binary" if n_distinct == 2 else "multiclass"


def make_table(
    frame: pd.DataFrame,
    target: str,
    *,
    task: Task | None = None,
    name: str = "table",
    dropped: dict[str, str] | None = None,
    seed: int = 0,
    drop_missing_target: bool = False,
    **attributes: Any,
) -> Table:
    """Make a table of any frame and the name of its target.

    Parameters
    ----------
    frame : DataFrame
        It is not changed.
    target : str
        Column to predict.
    task : str, optional
        None: guessed by `guess_task`.
    name : str
    dropped : dict of str to str, optional
        Columns to leave out, with the reason.
    seed : int
        Seed of the 70/10/20 split.
    drop_missing_target : bool
        Leave out the rows without a target instead of raising.
    **attributes
        Other attributes of `Table`.

    Raises
    ------
    ValueError
        If the target or a column to drop is not there, target cells are missing, or
        nothing is left to learn from or to learn.

    Examples
    --------
    >>> frame = pd.DataFrame({"size": range(20), "price": [0.5 * i for i in range(20)]})
    >>> table = make_table(frame, "price")
    >>> table.task, table.feature_names, len(table.splits["test"])
    ('regression', ('size',), 4)
    """
    dropped = dict(dropped or {})
    repeated = frame.columns[frame.columns.duplicated()].unique().tolist()
    if repeated:
        raise ValueError(f"Column names must differ, but these repeat: {repeated}.")
    for column in (target, *dropped):
        if column not in frame.columns:
            shown = ", ".join(map(str, frame.columns[:12]))
            raise ValueError(f"There is no column {column!r}. Columns: {shown}.")
    lost = int(frame[target].isna().sum())
    if lost and not drop_missing_target:
        raise ValueError(
            f"Target {target!r} is missing in {lost} of {len(frame)} rows; such rows "
            "can't be learnt from. Leave them out (drop_missing_target=True)."
        )
    frame = frame[frame[target].notna()].reset_index(drop=True)
    X = frame.drop(columns=[target, *dropped])
    if X.shape[1] == 0:
        raise ValueError("No column is left to predict from.")
    y = frame[target].rename(target)
    task = task or guess_task(y)
    splits = attributes.pop("splits", None) or make_splits(
        len(X), seed=seed, labels=None if task == "regression" else y.to_numpy()
    )
    given = {"description": "", "source": "", "licence": "", **attributes}
    return Table(
        name=name,
        X=X,
        y=y,
        task=task,
        target=target,
        splits=splits,
        dropped=dropped,
        **given,
    )
