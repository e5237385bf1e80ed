"""KernelSHAP for any model, by the package shap, without what makes it unreliable."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from types import FunctionType, MethodType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from spam_core.data.encoding import UNKNOWN
from spam_core.explain.cells import Cells, check_count, check_seed, sample_background
from spam_core.explain.explanation import LocalExplanation
from spam_core.explain.foreign import make_scorer
from spam_core.explain.frozen import Floats
from spam_core.explain.optional import optional_import
from spam_core.explain.scoring import Scorer

BLOCK_ROWS = 16_384
BLOCK_CELLS = 2_000_000
"""Rows, and cells, scored at once: enough to be fast, few enough for little memory."""


def explain_kernel_shap(
    model: Any,
    X: Any,
    background: Any,
    *,
    n_samples: int | Literal["auto"] = "auto",
    max_background: int = 100,
    seed: int = 0,
) -> LocalExplanation:
    """Estimate Shapley values of some rows from sampled coalitions of features.

    Parameters
    ----------
    model : fitted estimator
        Of this library, or anything with ``predict``, or ``decision_function`` or
        ``predict_proba`` and ``classes_``.
    X : table of n rows
        To explain, in user units.
    background : table
        Training rows, which features absent from a coalition are taken from.
    n_samples : int or "auto"
        Coalitions to score for each row; auto is 2 d + 2,048. With 2**d - 2 or more
        every coalition is scored once, and the values are exact for the background.
        At least 2 d, if there are so many.
    max_background : int, default=100
        Of a larger background so many rows are drawn; never averages.
    seed : int, default=0
        Of the coalitions and of the background rows. Each row starts from it anew, so
        that results depend on nothing else.

    Returns
    -------
    LocalExplanation
        One term for each of the d features, view ``"shapley"``. Scores are logits,
        centred ones for more than two classes. A feature that the background can't
        change, or that is unknown to the model in that row, has exactly 0.

    Raises
    ------
    ValueError, TypeError
        If a table or a parameter can't be used; before any work.
    ImportError
        If shap isn't installed.

    Notes
    -----
    No feature selection (``l1_reg=0``): shap's default keeps ten features. The random
    numbers are this call's own; NumPy's global generator is neither used nor set.

    References
    ----------
    Lundberg and Lee: *A Unified Approach to Interpreting Model Predictions*, 2017.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> X = np.array([[0.0, 1.0], [2.0, 1.0], [4.0, 7.0]])
    >>> model = LinearRegression().fit(X, 3.0 * X[:, 0] + X[:, 1])
    >>> explanation = explain_kernel_shap(model, X[:1], background=X)
    >>> explanation.values.round(6).tolist(), explanation.base.round(6).tolist()
    ([[-6.0, -2.0]], [9.0])
    """
    if n_samples != "auto":
        n_samples = check_count("n_samples", n_samples, 2)
    seed = check_seed(seed)
    background = sample_background(background, max_background, seed)
    load_kernel_explainer()
    started = time.perf_counter()
    scorer = make_scorer(model, background)
    table = scorer.read(background, "background").cells
    rows = scorer.read(X, "X")
    n, d = rows.cells.codes.shape
    if n_samples != "auto" and n_samples < min(2 * d, 2 ** min(d, 30) - 2):
        raise ValueError(
            f"n_samples must be at least twice the {d} features, got {n_samples}: "
            "fewer coalitions don't determine their values"
        )
    score = scorer.score_rows(rows)
    base, values = np.empty((n, scorer.n_outputs)), np.empty((n, d, scorer.n_outputs))
    for r in range(n):
        game = Game(scorer, rows.cells[r : r + 1], table)
        base[r], values[r] = _solve(game, n_samples, seed)
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
        exact=False,
        seconds=time.perf_counter() - started,
        n_evaluations=scorer.n_evaluations,
        seed=seed,
        background_size=len(table),
        method="KernelSHAP",
        unknown=unknown if unknown.any() else None,
    )


class Game:
    """What a model says, on average over a background, when it knows some features.

    Parameters
    ----------
    scorer : Scorer
    row : Cells of one row
    background : Cells of N rows
    """

    def __init__(self, scorer: Scorer, row: Cells, background: Cells) -> None:
        self.scorer, self.row, self.background = scorer, row, background
        self.varying = scorer.varying(row, background)

    def value(self, present: NDArray[np.bool_]) -> Floats:
        """Mean scores of coalitions.

        Parameters
        ----------
        present : bool ndarray of shape (m, d)
            Where a coalition has a feature, all of the background holds the row's cell.

        Returns
        -------
        ndarray of shape (m, C)
        """
        # what can't vary is the row's own; so is what is unknown in it
        present = present | ~self.varying
        size = len(self.background)
        most = min(BLOCK_ROWS, BLOCK_CELLS // present.shape[1])
        step = max(1, most // size)
        parts = []
        for start in range(0, len(present), step):
            own = present[start : start + step, None]
            shape = (-1, present.shape[1])
            mixed = Cells(
                np.where(own, self.row.numbers, self.background.numbers).reshape(shape),
                np.where(own, self.row.codes, self.background.codes).reshape(shape),
            )
            scores = self.scorer.score(mixed)
            parts.append(scores.reshape(-1, size, scores.shape[1]).mean(axis=1))
        return np.concatenate(parts)


def _solve(
    game: Game, n_samples: int | Literal["auto"], seed: int
) -> tuple[Floats, Floats]:
    """Let shap estimate one row's base (C,) and Shapley values (d, C).

    shap is given a background of one row, all features absent: averaging over the real
    background is the game's work, a block at a time, in any type of column. That is the
    same mean, and memory doesn't grow with the background.
    """
    d = len(game.varying)
    absent, present = np.zeros((1, d)), game.varying[None].astype(np.float64)
    ends = game.value(np.concatenate([absent, present]) > 0.5)
    # shap sets what is smaller than 1e-10 to 0, whatever the target's unit is
    unit = np.abs(ends).max(axis=0)
    unit[unit == 0] = 1.0

    def value(masks: Floats) -> Floats:
        scaled: Floats = game.value(masks > 0.5) / unit
        return scaled

    explainer = load_kernel_explainer()(value, absent)
    explain = with_own_random(explainer.explain, np.random.RandomState(seed))
    values: Floats = explain(present, nsamples=n_samples, l1_reg=0)
    return explainer.fnull * unit, values * unit


@cache
def load_kernel_explainer() -> Any:
    """Return shap's class, which takes seconds the first time.

    Raises
    ------
    ImportError
        Says how to install it.
    """
    with optional_import("KernelSHAP", "shap"):
        from shap import KernelExplainer
    return KernelExplainer


def with_own_random(method: Any, random: np.random.RandomState) -> Callable[..., Any]:
    """Return a bound method whose ``np.random`` is a generator of its own.

    shap draws coalitions from NumPy's global generator. To seed and restore that would
    be seen by other threads, and their draws would change what is drawn here: so the
    method gets a copy of its module's names in which ``np`` is another object.

    Examples
    --------
    >>> class Draw:
    ...     def one(self):
    ...         return np.random.randint(1000)
    >>> one = with_own_random(Draw().one, np.random.RandomState(0))
    >>> one(), one()
    (684, 559)
    """
    function = method.__func__
    own = FunctionType(
        function.__code__,
        {**function.__globals__, "np": _NumPy(random)},
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    own.__kwdefaults__ = function.__kwdefaults__
    return MethodType(own, method.__self__)


class _NumPy:
    """NumPy with another ``random``."""

    def __init__(self, random: np.random.RandomState) -> None:
        self.random = random

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)
