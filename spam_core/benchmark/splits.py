"""How a seed splits a data set: as the paper does, or as its publishers did."""

from __future__ import annotations

import numpy as np

from spam_core.data.datasets import load_dataset
from spam_core.data.splits import PARTS, make_splits
from spam_core.data.table import Table

OFFICIAL = (
    "Where a data set has an official split, a seed changes the model and what it "
    "holds out, never the test rows."
)


def load_split(name: str, seed: int) -> Table:
    """Load a data set with the split of a seed.

    Seed 0 is the stored split. Further seeds split anew where that one is random, 70,
    10 and 20 % of the rows, by class or group; a published split stays.

    Examples
    --------
    >>> first, second = (load_split("wine", seed).splits["test"] for seed in (0, 1))
    >>> len(first) == len(second), (first == second).all().item()
    (True, False)
    """
    table = load_dataset(name)
    if seed == 0 or not is_random(table):
        return table
    return table.resplit(seed, 0.2, 0.1)


def is_random(table: Table) -> bool:
    """Whether the stored split is the random one of seed 0, and not a published one.

    Examples
    --------
    >>> from spam_core import load_dataset
    >>> is_random(load_dataset("gapminder"))
    True
    """
    if not table.resplittable:
        return False
    made = make_splits(
        table.n_rows,
        labels=None if table.task == "regression" else table.y.to_numpy(),
        groups=None if table.groups is None else table.groups.to_numpy(),
    )
    return all(np.array_equal(made[part], table.splits[part]) for part in PARTS)
