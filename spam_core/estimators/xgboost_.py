"""Gradient-boosted trees by XGBoost: the black box that tables are hard to beat with.

Chen, Guestrin: *XGBoost*, arXiv 1603.02754.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from spam_core.data.encoding import Encoded, Feature
from spam_core.data.sparse import SparseRows
from spam_core.estimators.base import ClassificationTarget, RegressionTarget
from spam_core.estimators.gradient import Training
from spam_core.estimators.trees import (
    Floats,
    TreeEstimator,
    check_integers,
    check_n_jobs,
    check_numbers,
    check_rate,
    check_share,
    is_nominal,
    matrix_of,
    n_threads,
    to_float32,
    units_of,
)
from spam_core.explain.optional import optional_import
from spam_core.training.fit import Problem

NEEDS = ("XGBoost", "xgboost")  # of optional_import
_ROUNDS = 100  # of boosting where no rows can be held out to say when to stop
_OBJECTIVES = {
    "regression": ("reg:squarederror", "rmse"),
    "binary": ("binary:logistic", "logloss"),
    "multiclass": ("multi:softprob", "mlogloss"),
}


class BoostedTrees:
    """XGBoost's trees, kept as the bytes that it saves itself as.

    Parameters
    ----------
    raw : bytes
        In UBJSON, which holds data only.
    features : sequence of Feature
    n_outputs : int
    offset, factor : float
        Undo the target's standardisation.
    n_jobs : int or None
        Threads that score.
    units : ndarray of shape (2, p), optional
        Of `units_of`, in which the trees were trained.
    """

    def __init__(
        self,
        raw: bytes,
        features: Sequence[Feature],
        n_outputs: int,
        offset: float = 0.0,
        factor: float = 1.0,
        n_jobs: int | None = None,
        units: Floats | None = None,
    ) -> None:
        self.units = units
        self.raw, self.features, self.n_outputs = raw, tuple(features), n_outputs
        self.offset, self.factor, self.n_jobs = offset, factor, n_jobs

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "booster"}

    @cached_property
    def booster(self) -> Any:
        """XGBoost's own object."""
        with optional_import(*NEEDS):
            import xgboost
        booster = xgboost.Booster()
        booster.load_model(bytearray(self.raw))
        booster.set_param({"nthread": n_threads(self.n_jobs)})
        return booster

    def score(self, rows: Encoded | SparseRows) -> Tensor:
        """Scores of shape (n, C); logits of several classes are centred."""
        booster = self.booster
        matrix = _matrix(self.features, rows, self.units)
        data = _data(self.features, matrix, self.n_jobs)
        margin = booster.predict(data, output_margin=True).astype(np.float64)
        scores = margin.reshape(len(rows), self.n_outputs)
        if self.n_outputs > 1:
            scores -= scores.mean(axis=1, keepdims=True)
        return torch.from_numpy(self.factor * scores + self.offset)


class _XGBoost(TreeEstimator):
    def __init__(
        self,
        n_estimators: int = 5000,
        *,
        max_depth: int = 6,
        learning_rate: float = 0.05,
        subsample: float = 0.8,
        colsample_bytree: float = 0.8,
        min_child_weight: float = 1.0,
        reg_lambda: float = 1.0,
        early_stopping_rounds: int | None = 50,
        validation_fraction: float = 0.125,
        special_values: Mapping[str, Sequence[float]] | None = None,
        n_jobs: int | None = -1,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.learning_rate = learning_rate
        self.subsample = subsample
        self.colsample_bytree = colsample_bytree
        self.min_child_weight = min_child_weight
        self.reg_lambda = reg_lambda
        self.early_stopping_rounds = early_stopping_rounds
        self.validation_fraction = validation_fraction
        self.special_values = special_values
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _takes_sparse(self) -> bool:
        return True

    def _check_parameters(self) -> None:
        check_integers(self, n_estimators=1, max_depth=1)
        check_rate(self, "learning_rate")
        check_rate(self, "subsample", 1)
        check_rate(self, "colsample_bytree", 1)
        check_numbers(self, min_child_weight=0, reg_lambda=0)
        if self.early_stopping_rounds is not None:
            check_integers(self, early_stopping_rounds=1)
        check_share(self, "validation_fraction")
        check_n_jobs(self.n_jobs)

    def _train(
        self, problem: Problem, seed: int, offset: float, factor: float
    ) -> Training:
        with optional_import(*NEEDS):
            import xgboost
        objective, metric = _OBJECTIVES[problem.task]
        parameters = {
            "objective": objective,
            "eval_metric": metric,
            "max_depth": self.max_depth,
            "eta": self.learning_rate,
            "subsample": self.subsample,
            "colsample_bytree": self.colsample_bytree,
            "min_child_weight": self.min_child_weight,
            "lambda": self.reg_lambda,
            "tree_method": "hist",
            "seed": seed,
            "nthread": n_threads(self.n_jobs),
            "verbosity": 0,
        }
        if problem.n_outputs > 1:
            parameters["num_class"] = problem.n_outputs
        sparse = isinstance(problem.rows, SparseRows)
        units = None if sparse else units_of(problem.features)
        matrix = _matrix(problem.features, problem.rows, units)

        def data(rows: NDArray[np.bool_] | slice) -> Any:
            made = _data(problem.features, matrix[rows], self.n_jobs)
            made.set_info(label=problem.target[rows], weight=problem.weight[rows])
            return made

        rounds, loss = self.n_estimators, None
        history: list[dict[str, float]] = []
        if self.early_stopping_rounds is not None:
            held = problem.held_out(1, self.validation_fraction, seed)[:, 0]
            if held.any():
                history = _follow(
                    xgboost,
                    parameters,
                    (data(~held), data(held)),
                    rounds,
                    self.early_stopping_rounds,
                )
                losses = [step["validation_loss"] for step in history]
                rounds, loss = int(np.argmin(losses)) + 1, min(losses)
            else:
                rounds = min(rounds, _ROUNDS)
        booster = xgboost.train(parameters, data(slice(None)), rounds)
        model = BoostedTrees(
            bytes(booster.save_raw("ubj")),
            problem.features,
            problem.n_outputs,
            offset,
            factor,
            self.n_jobs,
            units,
        )
        return Training(model, history, loss, {"n_iter_": rounds})


def _follow(
    xgboost: Any,
    parameters: dict[str, Any],
    data: tuple[Any, Any],
    most: int,
    wait: int,
) -> list[dict[str, float]]:
    """Boost on the first part until the second gets no better; return all losses."""
    seconds: list[float] = []
    started = time.perf_counter()

    class Clock(xgboost.callback.TrainingCallback):
        def after_iteration(self, *_: Any) -> bool:
            seconds.append(time.perf_counter() - started)
            return False

    losses: dict[str, dict[str, list[float]]] = {}
    xgboost.train(
        parameters,
        data[0],
        most,
        evals=[(data[0], "train"), (data[1], "validation")],
        early_stopping_rounds=wait,
        evals_result=losses,
        verbose_eval=False,
        callbacks=[Clock()],
    )
    metric = parameters["eval_metric"]
    power = 2 if metric == "rmse" else 1  # squared error, as other histories have it
    steps = zip(
        losses["train"][metric], losses["validation"][metric], seconds, strict=True
    )
    return [
        {
            "epoch": k,
            "train_loss": own**power,
            "validation_loss": other**power,
            "seconds": time,
        }
        for k, (own, other, time) in enumerate(steps, start=1)
    ]


def _matrix(
    features: Sequence[Feature], rows: Encoded | SparseRows, units: Floats | None
) -> Any:
    """Numbers and codes in single precision; of sparse rows what isn't 0."""
    if not isinstance(rows, SparseRows):
        return to_float32(matrix_of(features, rows), units)
    parts = (rows.values, rows.columns, rows.start)
    numbers, columns, start = (part.numpy() for part in parts)
    shape = len(rows), rows.n_features
    return sp.csr_matrix((to_float32(numbers), columns, start), shape)


def _data(features: Sequence[Feature], matrix: Any, n_jobs: int | None) -> Any:
    """Return rows as XGBoost takes them."""
    with optional_import(*NEEDS):
        import xgboost
    if sp.issparse(matrix):  # whose zeros go where it sends what is missing
        return xgboost.DMatrix(matrix, nthread=n_threads(n_jobs))
    return xgboost.DMatrix(
        matrix,
        feature_types=["c" if nominal else "q" for nominal in is_nominal(features)],
        enable_categorical=True,
        nthread=n_threads(n_jobs),
    )


_DOCUMENTATION = """{summary}

    Missing values and levels that training never saw go where XGBoost sends what is
    missing, and so do the zeros of a sparse table; categories are its own kind of
    category; special codes are numbers.
    Sample weights are brought to a mean of 1, so that `min_child_weight` and
    `reg_lambda` mean the same whatever their scale.

    Parameters
    ----------
    n_estimators : int, default=5000
        At most so many trees (of each class).
    max_depth : int, default=6
        Splits from the root to a leaf.
    learning_rate : float, default=0.05
        Share of each tree that is added.
    subsample, colsample_bytree : float, default=0.8
        Shares of rows and columns that a tree sees.
    min_child_weight : float, default=1.0
        Least sum of second derivatives in a leaf.
    reg_lambda : float, default=1.0
        L2 penalty of leaves.
    early_stopping_rounds : int or None, default=50
        Rounds without a lower loss on held-out rows until boosting stops; all rows are
        then used for the best number of trees. None: `n_estimators` trees. Where no
        rows can be held out, at most 100.
    validation_fraction : float, default=0.125
        Share of the rows held out for that, whole groups if there are any.
    special_values : mapping of column to list of numbers, optional
        Codes that aren't quantities. A tree can split them off, so they stay numbers;
        one that training never saw counts as missing.
    n_jobs : int or None, default=-1
        Threads; -1 is one for each core, None is 1.
    random_state : int, RandomState or None
        With an int, two fits are equal bit for bit at one number of threads.

    Examples
    --------
    >>> import numpy as np
    >>> from spam_core import {name}
    >>> X = np.random.default_rng(0).uniform(size=(100, 2))
    >>> model = {name}(n_jobs=1, random_state=0).fit(X, {target})
    >>> model.predict(X[:3]).shape
    (3,)
    """


class XGBoostRegressor(RegressionTarget, _XGBoost):  # noqa: D101 - written below
    __doc__ = _DOCUMENTATION.format(
        summary="Regression by gradient-boosted trees.",
        name="XGBoostRegressor",
        target="X[:, 0]",
    )


class XGBoostClassifier(ClassificationTarget, _XGBoost):  # noqa: D101 - written below
    __doc__ = _DOCUMENTATION.format(
        summary="Classification by gradient-boosted trees.",
        name="XGBoostClassifier",
        target="X[:, 0] > 0.5",
    )
