"""What a comparison found, as tidy frames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations

import numpy as np
import pandas as pd

from spam_core.explain.bootstrap import Interval, mean_interval
from spam_core.explain.lines import Lines, Outputs
from spam_core.explain.measures import MEASURES
from spam_core.explain.measuring import RANDOM, RowMeasures, compare_columns

Found = Sequence[tuple[str, RowMeasures]]
"""Name of a model, and what was measured of one of its explanations of one row."""


def values_frame(found: Found, classes: Sequence[object] | None) -> pd.DataFrame:
    """Return a line for each model, method, row and measure; NaN where not known."""
    lines = [
        (
            model,
            one.method,
            one.row,
            None if classes is None else classes[one.row],
            name,
            one.values.get(name, np.nan),
        )
        for model, one in found
        if one.method != RANDOM
        for name in MEASURES
    ]
    return pd.DataFrame(
        lines, columns=["model", "method", "row", "class", "measure", "value"]
    )


def curves_frame(found: Found, names: Iterable[str], start: int) -> pd.DataFrame:
    """Return means of curves over the rows, with intervals.

    Parameters
    ----------
    found : sequence of (str, RowMeasures)
    names : iterable of str
        Curves to take.
    start : int
        The k of their first point.
    """
    lines = [
        (model, one.method, name, k, value)
        for model, one in found
        for name in names
        if name in one.curves
        for k, value in enumerate(one.curves[name].tolist(), start)
    ]
    frame = pd.DataFrame(lines, columns=["model", "method", "curve", "k", "value"])
    return summarise(frame, ["model", "method", "curve", "k"])


def summarise(frame: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Return the mean of ``value`` in each group, its interval and its n."""
    groups = frame.groupby(by, sort=False)["value"]
    lines = [(*key, *mean_interval(values)) for key, values in groups]
    return pd.DataFrame(lines, columns=[*by, *Interval._fields])


def agreement_frame(
    lines: Mapping[tuple[str, str], Lines], outputs: Outputs, E: int
) -> pd.DataFrame:
    """Compare all ordered pairs of explanations, means over the rows."""
    columns = {
        key: [one.columns[r, :, c] for r, c in enumerate(outputs.column)]
        for key, one in lines.items()
    }
    names = ["model_a", "method_a", "model_b", "method_b"]
    found = []
    for a, b in permutations(columns, 2):
        rows = pd.DataFrame(
            compare_columns(ours, theirs, E)
            for ours, theirs in zip(columns[a], columns[b], strict=True)
        )
        found.append({**dict(zip(names, (*a, *b), strict=True)), **rows.mean()})
    empty = [*names, *compare_columns(np.ones(2), np.ones(2), 1)]
    return pd.DataFrame(found, columns=None if found else empty)
