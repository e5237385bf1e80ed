"""Which rows train, which validate and which test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import GroupShuffleSplit, train_test_split

IntArray = npt.NDArray[np.int64]
PARTS = ("train", "validation", "test")


def make_splits(
    n_rows: int,
    *,
    seed: int = 0,
    test_fraction: float = 0.2,
    validation_fraction: float = 0.1,
    labels: Sequence[Any] | npt.NDArray[Any] | None = None,
    groups: Sequence[Any] | npt.NDArray[Any] | None = None,
) -> dict[str, IntArray]:
    """Split rows at random, by class or by group.

    Without groups the test rows are those that scikit-learn's ``train_test_split``
    picks for this seed and fraction.

    Parameters
    ----------
    n_rows : int
    seed : int
    test_fraction, validation_fraction : float
        Shares of all rows (of all groups, if there are groups). A
        `validation_fraction` of 0 leaves that part empty.
    labels : array-like (n_rows,), optional
        Classes to keep in proportion. Classes of one row, and very small tables,
        are split without regard to it.
    groups : array-like (n_rows,), optional
        Rows of one group (a country, a patient) stay in one part.

    Returns
    -------
    dict of str to ndarray
        "train", "validation", "test": ascending positions, disjoint, together all.

    Raises
    ------
    ValueError
        If the fractions leave no training rows or do not lie in [0, 1).

    Examples
    --------
    >>> splits = make_splits(10)
    >>> {part: len(rows) for part, rows in splits.items()}
    {'train': 7, 'validation': 1, 'test': 2}
    """
    for name, fraction in (
        ("test_fraction", test_fraction),
        ("validation_fraction", validation_fraction),
    ):
        if not 0 <= fraction < 1:
            raise ValueError(f"{name} must lie in [0, 1), but is {fraction}.")
    if test_fraction + validation_fraction >= 1:
        raise ValueError(
            f"test_fraction + validation_fraction is "
            f"{test_fraction + validation_fraction}: no rows are left to train on."
        )
    label_array = None if labels is None else np.asarray(labels)
    group_array = None if groups is None else np.asarray(groups)
    rows = np.arange(n_rows, dtype=np.int64)
    rest, test = _cut(rows, test_fraction, seed, label_array, group_array)
    share = validation_fraction / (1 - test_fraction)
    train, validation = _cut(rest, share, seed, label_array, group_array)
    if len(train) == 0:
        raise ValueError(f"{n_rows} row(s) are too few to be split.")
    return {"train": train, "validation": validation, "test": test}


def official_split(
    train: npt.NDArray[np.bool_],
    labels: npt.NDArray[Any] | None = None,
    *,
    seed: int = 0,
    fraction: float = 1 / 8,
) -> dict[str, IntArray]:
    """Complete a published split: some of its training rows validate.

    Parameters
    ----------
    train : ndarray of bool (n,)
        The published training rows; all others test.
    labels : ndarray (n,), optional
        Classes to keep in proportion.
    seed : int
    fraction : float
        Share of the training rows that validate; the paper's 7:1 by default.

    Examples
    --------
    >>> splits = official_split(np.arange(10) < 8)
    >>> {part: len(rows) for part, rows in splits.items()}
    {'train': 7, 'validation': 1, 'test': 2}
    """
    rows = np.flatnonzero(train).astype(np.int64)
    kept, validation = _cut(rows, fraction, seed, labels, None)
    test = np.flatnonzero(~train).astype(np.int64)
    return {"train": kept, "validation": validation, "test": test}


def _cut(
    rows: IntArray,
    fraction: float,
    seed: int,
    labels: npt.NDArray[Any] | None,
    groups: npt.NDArray[Any] | None,
) -> tuple[IntArray, IntArray]:
    """Cut rows in two; the second part has this share of them."""
    n_second = math.ceil(fraction * len(rows) - 1e-9)
    if n_second == 0:
        return rows, rows[:0]
    if n_second >= len(rows):
        raise ValueError(f"{len(rows)} row(s) are too few to be split.")
    if groups is not None:
        names = groups[rows]
        if len(set(names.tolist())) < 2:
            raise ValueError("All rows belong to one group: they can't be split.")
        splitter = GroupShuffleSplit(1, test_size=fraction, random_state=seed)
        first, second = next(splitter.split(rows, groups=names))
    else:
        first, second = train_test_split(
            np.arange(len(rows)),
            test_size=n_second,
            random_state=seed,
            stratify=_strata(labels[rows], n_second) if labels is not None else None,
        )
    return np.sort(rows[first]), np.sort(rows[second])


def _strata(labels: npt.NDArray[Any], n_second: int) -> npt.NDArray[Any] | None:
    """Classes as numbers, those of one row joined to the largest; None if too many."""
    _, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    codes = np.where(counts[codes] < 2, counts.argmax(), codes)
    n_strata = len(np.unique(codes))
    if n_strata > min(n_second, len(labels) - n_second) or counts.max() < 2:
        return None
    return codes
