"""Made-up tables whose true terms are known, to test and to teach with.

All features are independent, so that the truth has one decomposition only, and every
table has a feature that plays no part.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pandas as pd

from spam_core.data.splits import make_splits
from spam_core.data.table import Table
from spam_core.data.truth import FloatArray, KnownTerm, Truth

_LICENCE = "made up by this library (Apache-2.0)"
_SOURCE = "spam_core.data.generators"
_GROUP_LEVELS = ("a", "b", "c")
_GROUP_SHARES = (0.5, 0.3, 0.2)


# --- shapes: each has mean 0 under the distribution its feature is drawn from ---------


def _identity(x: npt.NDArray[np.generic]) -> FloatArray:
    return x.astype(np.float64)


def _wave(x: npt.NDArray[np.generic]) -> FloatArray:
    return np.sin(math.pi * _identity(x))


def _bowl(x: npt.NDArray[np.generic]) -> FloatArray:
    return 1.5 * _identity(x) ** 2 - 0.5  # E x^2 = 1/3 on [-1, 1]


def _roof(x: npt.NDArray[np.generic]) -> FloatArray:
    return 1.0 - 2.0 * np.abs(_identity(x))


def _by_level(effects: dict[str, float], x: npt.NDArray[np.generic]) -> FloatArray:
    return np.array([effects[str(level)] for level in x.tolist()], dtype=np.float64)


def _group_effect(x: npt.NDArray[np.generic]) -> FloatArray:
    return _by_level({"a": -1.0, "b": 0.0, "c": 2.5}, x)


def _group_contrast(x: npt.NDArray[np.generic]) -> FloatArray:
    return _by_level({"a": 1.0, "b": -1.0, "c": -1.0}, x)


# --- tables ---------------------------------------------------------------------------


def make_known_regression(
    n_rows: int = 2000, *, noise: float = 0.5, seed: int = 0
) -> Table:
    r"""Make a regression table with five main effects and two interactions.

    With x1 ... x5 uniform on [-1, 1], group in {a, b, c} (shares .5, .3, .2) and
    normal noise e, ::

        y = 20 + 3 sin(pi x1) + 2 (3 x2^2 - 1) / 2 + 2 (1 - 2 |x3|) + 1.5 x4
            + effect(group) + 3 x1 x2 + 2 contrast(group) x3 + noise * e

    where effect is -1, 0, 2.5 and contrast 1, -1, -1. x5 plays no part.

    Parameters
    ----------
    n_rows : int
    noise : float
        Standard deviation of the noise, in units of y.
    seed : int

    Returns
    -------
    Table
        ``truth`` holds the pure terms.

    Raises
    ------
    ValueError
        If there are fewer than 10 rows or the noise is negative.

    Examples
    --------
    >>> table = make_known_regression(100, noise=0.0)
    >>> np.allclose(table.truth.score(table.X), table.y)
    True
    """
    _check(n_rows, noise)
    rng = np.random.default_rng(seed)
    X = _uniform(rng, n_rows, 5)
    X["group"] = pd.Series(rng.choice(_GROUP_LEVELS, n_rows, p=_GROUP_SHARES))
    truth = Truth(
        constant=(20.0,),
        parts=(
            KnownTerm(("x1",), (_wave,), (3.0,)),
            KnownTerm(("x2",), (_bowl,), (2.0,)),
            KnownTerm(("x3",), (_roof,), (2.0,)),
            KnownTerm(("x4",), (_identity,), (1.5,)),
            KnownTerm(("group",), (_group_effect,)),
            KnownTerm(("x1", "x2"), (_identity, _identity), (3.0,)),
            KnownTerm(("x3", "group"), (_identity, _group_contrast), (2.0,)),
        ),
        scale="y",
    )
    y = truth.score(X) + noise * rng.standard_normal(n_rows)
    return Table(
        name="known_regression",
        X=X,
        y=pd.Series(y, name="y"),
        task="regression",
        target="y",
        target_unit="points",
        description=(
            "Made-up measurements: y, in points, is a sum of five effects of single "
            "columns and two interactions, plus noise; x5 plays no part."
        ),
        source=_SOURCE,
        licence=_LICENCE,
        splits=make_splits(n_rows, seed=seed),
        split_note="random 70/10/20",
        truth=truth,
    )


def make_known_binary(n_rows: int = 4000, *, seed: int = 0) -> Table:
    """Make a two-class table with a pair that has no main effects.

    With x1 ... x5 uniform on [-1, 1] the logit of "yes" is ::

        -0.5 + 2 x1 + 1.5 (3 x2^2 - 1) / 2 + 4 x3 x4

    so x3 and x4 matter together only, and x5 not at all.

    Parameters
    ----------
    n_rows, seed : int

    Returns
    -------
    Table
        ``truth`` holds the pure terms of the logit.

    Raises
    ------
    ValueError
        If there are fewer than 10 rows.

    Examples
    --------
    >>> table = make_known_binary(100)
    >>> table.classes, table.truth.term_features
    (('no', 'yes'), (('x1',), ('x2',), ('x3', 'x4')))
    """
    _check(n_rows)
    rng = np.random.default_rng(seed)
    X = _uniform(rng, n_rows, 5)
    truth = Truth(
        constant=(-0.5,),
        parts=(
            KnownTerm(("x1",), (_identity,), (2.0,)),
            KnownTerm(("x2",), (_bowl,), (1.5,)),
            KnownTerm(("x3", "x4"), (_identity, _identity), (4.0,)),
        ),
        scale="logit of yes",
    )
    chance = 1.0 / (1.0 + np.exp(-truth.score(X)))
    y = pd.Series(np.where(rng.random(n_rows) < chance, "yes", "no"), name="answer")
    return Table(
        name="known_binary",
        X=X,
        y=y,
        task="binary",
        target="answer",
        positive="yes",
        description=(
            "Made-up yes/no answers: the chance of yes depends on x1, on x2, and on "
            "x3 and x4 together; x5 plays no part."
        ),
        source=_SOURCE,
        licence=_LICENCE,
        splits=make_splits(n_rows, seed=seed, labels=y.to_numpy()),
        split_note="random 70/10/20, by class",
        truth=truth,
    )


def make_known_multiclass(n_rows: int = 4000, *, seed: int = 0) -> Table:
    """Make a three-class table with one interaction.

    With x1 ... x4 uniform on [-1, 1] the logits of bronze, gold and silver are ::

        (0.2, 0.0, -0.2) + (2, -2, 0) x1 + (-2, 1, 1) (3 x2^2 - 1) / 2
            + (2, 2, -4) x2 x3

    They sum to 0 over the classes, as centred logits do. x4 plays no part.

    Parameters
    ----------
    n_rows, seed : int

    Returns
    -------
    Table
        ``truth`` holds the pure terms of the centred logits, (n, 3).

    Raises
    ------
    ValueError
        If there are fewer than 10 rows.

    Examples
    --------
    >>> table = make_known_multiclass(100)
    >>> table.truth.score(table.X).shape
    (100, 3)
    """
    _check(n_rows)
    rng = np.random.default_rng(seed)
    X = _uniform(rng, n_rows, 4)
    truth = Truth(
        constant=(0.2, 0.0, -0.2),
        parts=(
            KnownTerm(("x1",), (_identity,), (2.0, -2.0, 0.0)),
            KnownTerm(("x2",), (_bowl,), (-2.0, 1.0, 1.0)),
            KnownTerm(("x2", "x3"), (_identity, _identity), (2.0, 2.0, -4.0)),
        ),
        scale="centred logit",
    )
    # The largest of logit + Gumbel noise is a draw from the softmax.
    drawn = (truth.score(X) + rng.gumbel(size=(n_rows, 3))).argmax(axis=1)
    names = np.array(["bronze", "gold", "silver"])
    y = pd.Series(names[drawn], name="medal")
    return Table(
        name="known_multiclass",
        X=X,
        y=y,
        task="multiclass",
        target="medal",
        description=(
            "Made-up medals: which of three it is depends on x1, on x2, and on x2 and "
            "x3 together; x4 plays no part."
        ),
        source=_SOURCE,
        licence=_LICENCE,
        splits=make_splits(n_rows, seed=seed, labels=y.to_numpy()),
        split_note="random 70/10/20, by class",
        truth=truth,
    )


def _uniform(rng: np.random.Generator, n_rows: int, d: int) -> pd.DataFrame:
    values = rng.uniform(-1.0, 1.0, (n_rows, d))
    return pd.DataFrame(values, columns=[f"x{i + 1}" for i in range(d)])


def _check(n_rows: int, noise: float = 0.0) -> None:
    if n_rows < 10:
        raise ValueError(f"n_rows must be 10 or more, but is {n_rows}.")
    if not noise >= 0:
        raise ValueError(f"noise must be 0 or more, but is {noise}.")
