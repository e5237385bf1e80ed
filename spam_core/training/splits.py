"""Which rows each member holds out to decide when to stop."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spam_core.data.telling import warn_caller


def held_out(
    n_rows: int,
    n_members: int,
    fraction: float,
    rng: np.random.Generator,
    strata: NDArray[np.int64] | None = None,
    groups: NDArray[np.int64] | None = None,
) -> NDArray[np.bool_]:
    """Mark the rows that each member holds out for validation.

    Rows are put in a random order and member m takes the window of `fraction` of them
    that starts at m / `n_members`; with ``fraction = 1 / n_members`` these are folds.

    Parameters
    ----------
    n_rows, n_members : int
        Sizes.
    fraction : float
        Share of the rows that a member holds out, in [0, 1).
    rng : numpy Generator
        Draws the order.
    strata : ndarray of shape (n_rows,), optional
        Classes; each is spread evenly over the order, so that every window has its
        share of each, and a class with one row is never wholly held out.
    groups : ndarray of shape (n_rows,), optional
        Rows that belong together, such as a person's visits: all are held out or none
        is. Classes are then not spread evenly.

    Returns
    -------
    ndarray of shape (n_rows, n_members)
        All False, with a warning, if all members together hold out less than two rows.

    Examples
    --------
    >>> held_out(8, 4, 0.25, np.random.default_rng(0)).sum(0)
    array([2, 2, 2, 2])
    """
    order = rng.permutation(n_rows)
    place = np.empty(n_rows)
    if groups is not None:
        _, group, size = np.unique(groups, return_inverse=True, return_counts=True)
        shuffled = rng.permutation(len(size))
        middle = np.empty(len(size))
        middle[shuffled] = np.cumsum(size[shuffled]) - size[shuffled] / 2
        place = middle[group] / n_rows
    elif strata is None:
        place[order] = (np.arange(n_rows) + 0.5) / n_rows
    else:
        for stratum in np.unique(strata):
            rows = order[strata[order] == stratum]
            # a random start keeps small classes from all falling into one window
            start = rng.random()
            place[rows] = (np.arange(len(rows)) + start) / len(rows)
    mask = np.zeros((n_rows, n_members), dtype=bool)
    if fraction <= 0:
        return mask
    for member in range(n_members):
        mask[:, member] = (place - member / n_members) % 1.0 < fraction
    classes = np.zeros(n_rows, dtype=np.int64) if strata is None else strata
    for label in np.unique(classes):
        rows = np.flatnonzero(classes == label)
        lost = mask[rows].all(0)  # members that would train without the class
        mask[np.ix_(rows, lost)] = False
    if round(fraction * n_rows) < 1 or mask.any(1).sum() < 2:
        mask[:] = False
        warn_of_few(n_rows, fraction)
    return mask


def warn_of_few(
    n_rows: int, fraction: float, parameter: str = "validation_fraction"
) -> None:
    """Warn that no rows are held out, since there are too few."""
    warn_caller(
        f"{n_rows} rows are too few to hold out a share of {fraction:g} of them "
        f"({parameter}), so early stopping is off."
    )
