"""What estimators made of trees have in common: one matrix of numbers and codes.

Trees don't care how a number is scaled, so the encoder leaves it in user units. The
matrix that they are trained on and asked with is made from its rows:

- a number is itself, and so is a special code, which a tree can split off; beyond the
  training range it counts as the range's end, or a split that was meant for what is
  missing could take it;
- a category is the code of its level;
- a missing value, and whatever training never saw, is NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from spam_core.data.encoding import NUMBER, Encoded, Feature, TableEncoder
from spam_core.data.sparse import SparseEncoder, SparseRows
from spam_core.estimators.gradient import EncodedEstimator, is_integer, is_number

Floats = NDArray[np.float64]

_WIDEST = 1e30  # scikit-learn adds up all numbers in float32
_FAR = 1024.0  # spreads from 0: single precision keeps 14 bits of a column's bulk
_NARROW = 1e-3  # a spread of which 1e-7 is no small part


class TreeEstimator(EncodedEstimator):
    """An estimator that is trained on the matrix of `matrix_of`."""

    special_values: Any

    def _make_encoder(self, sparse: bool) -> TableEncoder | SparseEncoder:
        if sparse:
            return SparseEncoder("none")
        return TableEncoder(scaling="none", special_values=self.special_values)


def dense_rows(rows: Encoded | SparseRows) -> Encoded:
    """Return rows as what they are, of an estimator that refuses sparse tables."""
    assert isinstance(rows, Encoded)
    return rows


def positions_of(features: Sequence[Feature]) -> list[int]:
    """Return which features have a column of the matrix: those that vary."""
    return [i for i, feature in enumerate(features) if feature.kind != "constant"]


def is_nominal(features: Sequence[Feature]) -> list[bool]:
    """Say which columns of the matrix hold codes of levels."""
    return [features[i].kind != "numeric" for i in positions_of(features)] or [False]


def matrix_of(features: Sequence[Feature], rows: Encoded) -> Floats:
    """Make the matrix that trees see.

    Parameters
    ----------
    features : sequence of d Feature
        Of an encoder with ``scaling="none"``.
    rows : Encoded of n rows

    Returns
    -------
    ndarray of shape (n, p)
        A column for each feature that varies; a single one of zeros if none does.

    Examples
    --------
    >>> import pandas as pd
    >>> encoder = TableEncoder(scaling="none", special_values={"age": [-9]})
    >>> X = pd.DataFrame({"age": [41.5, -9, None], "sex": ["f", "m", None]})
    >>> matrix_of(encoder.fit(X).features, encoder.transform(X)).tolist()
    [[41.5, 0.0], [-9.0, 1.0], [nan, nan]]
    """
    values, codes = rows.values.numpy(), rows.codes.numpy()
    columns = []
    for i in positions_of(features):
        levels = features[i].levels
        of_code = np.full(len(levels) + 1, np.nan)  # the last: what has no level
        for k, level in enumerate(levels):
            if level is not None:
                of_code[k] = float(level) if features[i].kind == "numeric" else k
        code = np.where(codes[:, i] >= 0, codes[:, i], len(levels))
        number, knots = codes[:, i] == NUMBER, features[i].knots
        inside = values[:, i].clip(knots[0], knots[-1]) if len(knots) else 0.0
        columns.append(np.where(number, inside, of_code[code]))
    return np.stack(columns, axis=1) if columns else np.zeros((len(rows), 1))


def units_of(features: Sequence[Feature]) -> Floats:
    """Choose units in which single precision tells a column's numbers apart.

    It has seven digits: neighbouring seconds since 1970 are one number to it. And
    scikit-learn takes numbers that are closer than 1e-7 for equal. Most columns stay as
    they are.

    Parameters
    ----------
    features : sequence of d Feature
        Of an encoder with ``scaling="none"``.

    Returns
    -------
    ndarray of shape (2, p)
        What to subtract from each column of the matrix, and then to divide it by.

    Examples
    --------
    >>> X = {"ts": np.arange(1_700_000_000, 1_700_000_031), "x": np.arange(31.0)}
    >>> import pandas as pd
    >>> units_of(TableEncoder(scaling="none").fit(pd.DataFrame(X)).features).tolist()
    [[1700000015.0, 0.0], [1.0, 1.0]]
    """
    positions = positions_of(features)
    units = np.stack([np.zeros(len(positions) or 1), np.ones(len(positions) or 1)])
    for column, i in enumerate(positions):
        knots = features[i].knots.tolist()
        if len(knots) < 2:
            continue
        quarter = len(knots) // 4  # so that an outlier doesn't count
        spread = knots[-1 - quarter] - knots[quarter]
        middle = knots[len(knots) // 2]
        if abs(middle) > _FAR * spread:
            units[0, column] = middle
        if spread < _NARROW:
            units[1, column] = 2.0 ** np.floor(np.log2(spread))  # exact in binary
    return units


def to_float32(matrix: Floats, units: Floats | None = None) -> NDArray[np.float32]:
    """Cast to what XGBoost and scikit-learn compare; beyond 1e30 all are alike.

    Parameters
    ----------
    matrix : ndarray of shape (n, p)
    units : ndarray of shape (2, p), optional
        Of `units_of`; None leaves the numbers as they are.

    Examples
    --------
    >>> to_float32(np.array([0.5, 1e30])) == to_float32(np.array([0.5, 1e300]))
    array([ True,  True])
    """
    if units is not None:
        with np.errstate(over="ignore"):  # clipped below
            matrix = (matrix - units[0]) / units[1]
    return np.clip(matrix, -_WIDEST, _WIDEST).astype(np.float32)


def n_threads(n_jobs: int | None) -> int:
    """Return how many processor cores to use: -1 is all that this process may.

    Examples
    --------
    >>> n_threads(None), n_threads(2)
    (1, 2)
    """
    return int(effective_n_jobs(n_jobs))


def check_integers(model: Any, **least: int) -> None:
    """Refuse parameters that aren't integers of at least some value.

    Raises
    ------
    ValueError
        Names the parameter and what it was.
    """
    for name, low in least.items():
        value = getattr(model, name)
        if not (is_integer(value) and value >= low):
            raise ValueError(f"{name} must be an integer >= {low}, got {value!r}")


def check_numbers(model: Any, **least: float) -> None:
    """Refuse parameters that aren't numbers of at least some value.

    Raises
    ------
    ValueError
    """
    for name, low in least.items():
        value = getattr(model, name)
        if not (is_number(value) and value >= low):
            raise ValueError(f"{name} must be a number >= {low:g}, got {value!r}")


def check_rate(model: Any, name: str, most: float = np.inf) -> None:
    """Refuse a parameter that isn't a number above 0 and at most `most`.

    Raises
    ------
    ValueError
    """
    value = getattr(model, name)
    if not (is_number(value) and 0 < value <= most):
        wanted = "a number > 0" if most == np.inf else f"in (0, {most:g}]"
        raise ValueError(f"{name} must be {wanted}, got {value!r}")


def check_share(model: Any, name: str) -> None:
    """Refuse a share of rows that isn't in [0, 1).

    Raises
    ------
    ValueError
    """
    value = getattr(model, name)
    if not (is_number(value) and 0 <= value < 1):
        raise ValueError(f"{name} must be in [0, 1), got {value!r}")


def check_choice(model: Any, name: str, choices: Sequence[str]) -> None:
    """Refuse a parameter that is none of some words; they are named.

    Raises
    ------
    ValueError
    """
    value = getattr(model, name)
    if not (isinstance(value, str) and value in choices):
        raise ValueError(f"{name} must be one of {list(choices)}, got {value!r}")


def check_n_jobs(n_jobs: Any) -> None:
    """Refuse a number of cores that makes no sense.

    Raises
    ------
    ValueError
    """
    if n_jobs is not None and not (is_integer(n_jobs) and n_jobs != 0):
        raise ValueError(f"n_jobs must be an integer but 0, or None, got {n_jobs!r}")
