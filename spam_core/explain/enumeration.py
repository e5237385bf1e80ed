"""Exact Shapley values of any model of few features, by scoring every coalition."""

from __future__ import annotations

import time
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spam_core.data.encoding import UNKNOWN
from spam_core.explain.cells import check_count, check_seed, sample_background
from spam_core.explain.explanation import LocalExplanation
from spam_core.explain.foreign import make_scorer
from spam_core.explain.frozen import Floats
from spam_core.explain.kernel_shap import Game


def explain_by_enumeration(
    model: Any,
    X: Any,
    background: Any,
    *,
    max_background: int = 100,
    max_features: int = 12,
    seed: int = 0,
) -> LocalExplanation:
    """Work out the Shapley values of some rows from all coalitions of features.

    What KernelSHAP estimates, as it is defined: the truth for any model with few
    features. For a SPAM, ``explain_local(X, view="shapley", background=...)`` gives the
    same with any number of them.

    Parameters
    ----------
    model : fitted estimator
        Of this library, or anything with ``predict``, or ``decision_function`` or
        ``predict_proba`` and ``classes_``.
    X : table of n rows
        To explain, in user units.
    background : table
        Training rows, which features absent from a coalition are taken from, all
        together from one row.
    max_background : int, default=100
        Of a larger background so many rows are drawn; never averages.
    max_features : int, default=12
        Most features that may vary in a row: v of them take 2**v times the background's
        rows to score, 409,600 at the defaults.
    seed : int, default=0
        Of the drawn background.

    Returns
    -------
    LocalExplanation
        One term for each of the d features, view ``"shapley"``, and in `interactions`
        the Shapley interaction indices of the pairs. Scores are logits, centred ones
        for more than two classes. A feature that the background can't change, or that
        is unknown to the model in that row, has exactly 0.

    Raises
    ------
    ValueError, TypeError
        If a table or a parameter can't be used, or more features vary than
        `max_features`; before any row is scored.

    References
    ----------
    Shapley: *A value for n-person games*, 1953. Grabisch and Roubens: *An axiomatic
    approach to the concept of interaction among players*, 1999.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> model = DecisionTreeRegressor().fit(X, X[:, 0] * X[:, 1])
    >>> explanation = explain_by_enumeration(model, X[3:], background=X)
    >>> explanation.base.tolist(), explanation.values.tolist()
    ([0.25], [[0.375, 0.375]])
    >>> explanation.interactions[0, 0, 1].item()
    0.25
    """
    check_count("max_features", max_features, 1)
    seed = check_seed(seed)
    background = sample_background(background, max_background, seed)
    started = time.perf_counter()
    scorer = make_scorer(model, background)
    table = scorer.read(background, "background").cells
    rows = scorer.read(X, "X")
    n, d = rows.cells.codes.shape
    games = [Game(scorer, rows.cells[r : r + 1], table) for r in range(n)]
    counts = [int(game.varying.sum()) for game in games]
    if max(counts) > max_features:
        worst = int(np.argmax(counts))
        raise ValueError(
            f"Expected at most max_features={max_features} features in which a row "
            f"differs from the background, got {counts[worst]} in row {worst}, which "
            f"make {2 ** counts[worst]:,} coalitions. explain_kernel_shap estimates "
            "the values from some of them."
        )
    score = scorer.score_rows(rows)
    base = np.empty((n, scorer.n_outputs))
    values = np.zeros((n, d, scorer.n_outputs))
    interactions = np.zeros((n, d, d, scorer.n_outputs))
    for r, game in enumerate(games):
        players = np.flatnonzero(game.varying)
        worth = game.value(_coalitions(players, d))
        base[r], values[r, players] = worth[0], shapley_values(worth)
        interactions[r][np.ix_(players, players)] = interaction_indices(worth)
    several = scorer.n_outputs > 1
    unknown = rows.cells.codes == UNKNOWN
    return LocalExplanation(
        values=values if several else values[..., 0],
        base=base if several else base[:, 0],
        score=score if several else score[:, 0],
        terms=tuple((name,) for name in scorer.names),
        data=rows.frame,  # type: ignore[arg-type]  # the constructor makes it callable
        classes=scorer.classes,
        scale=scorer.scale,
        view="shapley",
        seconds=time.perf_counter() - started,
        n_evaluations=scorer.n_evaluations,
        seed=seed,
        background_size=len(table),
        interactions=interactions if several else interactions[..., 0],
        method="enumeration",
        unknown=unknown if unknown.any() else None,
    )


def shapley_values(worth: Floats) -> Floats:
    """Weigh what each player adds to the coalitions without it.

    Parameters
    ----------
    worth : ndarray of shape (2**v, C)
        Of each coalition; player i is in number k if bit i of k is set.

    Returns
    -------
    ndarray of shape (v, C)

    Examples
    --------
    >>> shapley_values(np.array([[0.0], [1.0], [2.0], [6.0]])).ravel().tolist()
    [2.5, 3.5]
    """
    v, sizes = _sizes(worth)
    weights = np.array([1 / (v * comb(v - 1, s)) for s in range(v)])
    values = np.empty((v, worth.shape[1]))
    for i in range(v):
        without = _lacking(v, i)
        gain = worth[without | 1 << i] - worth[without]
        values[i] = weights[sizes[without]] @ gain
    return values


def interaction_indices(worth: Floats) -> Floats:
    """Weigh what each pair adds together beyond what both add by themselves.

    Parameters
    ----------
    worth : see `shapley_values`

    Returns
    -------
    ndarray of shape (v, v, C)
        Symmetric, 0 on the diagonal.

    Examples
    --------
    >>> interaction_indices(np.array([[0.0], [1.0], [2.0], [6.0]]))[0, 1].tolist()
    [3.0]
    """
    v, sizes = _sizes(worth)
    weights = np.array([1 / ((v - 1) * comb(v - 2, s)) for s in range(v - 1)])
    indices = np.zeros((v, v, worth.shape[1]))
    for i in range(v):
        for j in range(i):
            without = _lacking(v, i, j)
            one, other = without | 1 << i, without | 1 << j
            gain = worth[one | other] - worth[one] - worth[other] + worth[without]
            indices[i, j] = indices[j, i] = weights[sizes[without]] @ gain
    return indices


def _coalitions(players: NDArray[np.int64], n_features: int) -> NDArray[np.bool_]:
    """Every coalition of the players, a coalition a row: (2**v, d)."""
    present = np.zeros((2 ** len(players), n_features), dtype=bool)
    numbers = np.arange(len(present))
    present[:, players] = numbers[:, None] >> np.arange(len(players)) & 1
    return present


def _sizes(worth: Floats) -> tuple[int, NDArray[np.int64]]:
    """Count the players, and the members of each coalition."""
    v = len(worth).bit_length() - 1
    return v, _coalitions(np.arange(v), v).sum(axis=1)


def _lacking(v: int, *players: int) -> NDArray[np.int64]:
    """Numbers of the coalitions that have none of these players."""
    numbers = np.arange(2**v)
    none = numbers & sum(1 << i for i in players) == 0
    return np.flatnonzero(none)
