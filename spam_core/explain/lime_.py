"""LIME for any model, by the package lime, repeatable and with missing values."""

from __future__ import annotations

import time
from functools import cache
from typing import Any

import numpy as np

from spam_core.data.encoding import UNKNOWN
from spam_core.explain.cells import check_count, check_seed
from spam_core.explain.explanation import LocalExplanation
from spam_core.explain.foreign import make_scorer
from spam_core.explain.frozen import REST, Floats
from spam_core.explain.neighbourhood import Neighbourhood
from spam_core.explain.optional import optional_import
from spam_core.explain.scoring import Scorer


def explain_lime(
    model: Any,
    X: Any,
    background: Any,
    *,
    n_samples: int = 5000,
    kernel_width: float | None = None,
    seed: int = 0,
) -> LocalExplanation:
    """Explain some rows by a linear model fitted to scores in each one's neighbourhood.

    Parameters
    ----------
    model : fitted estimator
        Of this library, or anything with ``predict``, or ``decision_function`` or
        ``predict_proba`` and ``classes_``.
    X : table of n rows
        To explain, in user units.
    background : table
        Training rows: means, spreads and frequencies of levels come from all of them.
    n_samples : int, default=5000
        Rows to draw and score for each explained row.
    kernel_width : float, optional
        Distance, in standard deviations, at which a drawn row still counts. None is
        lime's own choice: 0.75 times the square root of the number of columns.
    seed : int, default=0
        Each row starts from it anew, so that results depend on nothing else.

    Returns
    -------
    LocalExplanation
        One term for each of the d features: coefficient times the row's scaled value,
        which is the distance from the mean in standard deviations, or 1 for the row's
        level. `base` is the local model's intercept, so base + features is what the
        local model says; the last term ``("…",)``, "not explained by these terms", is
        what it lacks to the model's score. `local_fit` is its weighted R2 over the
        drawn rows, for several classes of each class. View ``"linear"``.

    Raises
    ------
    ValueError, TypeError
        If a table or a parameter can't be used; before any work.
    ImportError
        If lime isn't installed.

    Notes
    -----
    Scores are logits, centred ones for more than two classes. Numbers aren't cut into
    quartiles (``discretize_continuous=False``) and no feature is dropped. A missing
    value and a special code are levels: a column that has both numbers and levels is
    drawn as "number or which level" and, if a number, which; its two coefficients make
    one contribution. A feature that is constant, or unknown to the model in that row,
    is held and has exactly 0.

    References
    ----------
    Ribeiro, Singh and Guestrin: *"Why Should I Trust You?"*, 2016.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = LinearRegression().fit(X, 3.0 * X[:, 0] + X[:, 1])
    >>> explanation = explain_lime(model, X[:1], background=X)
    >>> [name for name in explanation.term_names]
    ['x0', 'x1', '…']
    >>> bool(explanation.local_fit[0] > 0.99)
    True
    """
    n_samples = check_count("n_samples", n_samples, 2)
    seed = check_seed(seed)
    if kernel_width is not None and not (
        isinstance(kernel_width, int | float | np.number) and kernel_width > 0
    ):
        raise ValueError(
            f"kernel_width must be a positive number or None, got {kernel_width!r}"
        )
    load_explainer()
    started = time.perf_counter()
    scorer = make_scorer(model, background)
    table = scorer.read(background, "background").cells
    rows = scorer.read(X, "X")
    score = scorer.score_rows(rows)
    n, d = rows.cells.codes.shape
    shape = (n, scorer.n_outputs)
    base, values, fit = np.empty(shape), np.zeros((n, d + 1, shape[1])), np.ones(shape)
    for r in range(n):
        row = rows.cells[r : r + 1]
        held = ~scorer.varying(row, table)
        around = Neighbourhood(row, table, held)
        if around.width:
            found = _fit_linear(scorer, around, n_samples, kernel_width, seed)
            base[r], values[r, :d], fit[r] = found
        else:  # nothing can change: the score is all there is
            base[r] = score[r]
    values[:, -1] = score - base - values.sum(axis=1)
    several = scorer.n_outputs > 1
    unknown = rows.cells.codes == UNKNOWN
    return LocalExplanation(
        values=values if several else values[..., 0],
        base=base if several else base[:, 0],
        score=score if several else score[:, 0],
        terms=(*((name,) for name in scorer.names), REST),
        data=rows.frame,  # type: ignore[arg-type]  # the constructor makes it callable
        classes=scorer.classes,
        scale=scorer.scale,
        view="linear",
        exact=False,
        seconds=time.perf_counter() - started,
        n_evaluations=scorer.n_evaluations,
        seed=seed,
        background_size=len(table),
        method="LIME",
        unknown=unknown if unknown.any() else None,
        local_fit=fit if several else fit[:, 0],
    )


def _fit_linear(
    scorer: Scorer,
    around: Neighbourhood,
    n_samples: int,
    kernel_width: float | None,
    seed: int,
) -> tuple[Floats, Floats, Floats]:
    """Let lime find one row's intercept (C,), contributions (d, C) and R2 (C,)."""
    scores: list[Floats] = []
    base, fit = np.empty(scorer.n_outputs), np.empty(scorer.n_outputs)
    weights = np.zeros((around.width, scorer.n_outputs))
    for c in range(scorer.n_outputs):

        def one_output(drawn: Floats, c: int = c) -> Floats:
            # the same seed draws the same rows for every class: score them once
            if not scores:
                scores.append(scorer.score(around.to_cells(drawn)))
            return scores[0][:, c]

        # an explainer that is used twice draws other rows the second time
        explainer = load_explainer()(
            around.training_data,
            mode="regression",
            feature_names=[str(j) for j in range(around.width)],
            categorical_features=around.state_columns,
            kernel_width=kernel_width,
            feature_selection="none",
            discretize_continuous=False,
            random_state=np.random.RandomState(seed),
            training_data_stats=around.statistics,
        )
        found = explainer.explain_instance(
            around.row, one_output, num_features=around.width, num_samples=n_samples
        )
        for column, weight in found.local_exp[1]:
            weights[column, c] = weight
        base[c], fit[c] = found.intercept[1], found.score
    return base, around.contributions(weights), fit


@cache
def load_explainer() -> Any:
    """Return lime's class, which takes seconds the first time.

    Raises
    ------
    ImportError
        Says how to install it.
    """
    with optional_import("LIME", "lime"):
        from lime.lime_tabular import LimeTabularExplainer
    return LimeTabularExplainer
