"""Explainable boosting machines, trained by interpret and kept as plain tables.

Nori, Jenkins, Koch, Caruana: *InterpretML*, arXiv 1909.09223. What comes out of the
training is turned into `AdditiveTables` at once, so a fitted model needs interpret no
more: it scores, is saved and explains itself by the tables.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from spam_core.estimators.base import ClassificationTarget, RegressionTarget
from spam_core.estimators.ebm_tables import tables_of
from spam_core.estimators.gradient import Training
from spam_core.estimators.tables import TablesEstimator
from spam_core.estimators.trees import (
    TreeEstimator,
    check_choice,
    check_integers,
    check_n_jobs,
    check_rate,
    dense_rows,
    is_nominal,
    matrix_of,
)
from spam_core.explain import additive
from spam_core.explain.optional import optional_import, quiet
from spam_core.training.fit import Problem
from spam_core.training.splits import warn_of_few

BINNINGS = ("quantile", "rounded_quantile", "uniform")
NEEDS = ("EBM", "interpret", "ebm")  # of optional_import
_ROUNDS = 100  # of boosting where no rows can be held out to say when to stop


class _EBM(TablesEstimator, TreeEstimator):
    """Parameters, fitting and explanations shared by both; see `EBMRegressor`."""

    explained_as = "EBM"

    def __init__(
        self,
        interactions: int | str = 0,
        *,
        max_bins: int = 1024,
        outer_bags: int = 14,
        learning_rate: float | Literal["auto"] = "auto",
        max_rounds: int = 50_000,
        min_samples_leaf: int = 4,
        max_leaves: int = 2,
        inner_bags: int = 0,
        binning: Literal["quantile", "rounded_quantile", "uniform"] = "quantile",
        validation_size: float = 0.15,
        special_values: Mapping[str, Sequence[float]] | None = None,
        n_jobs: int | None = -1,
        random_state: Any = None,
    ) -> None:
        self.interactions = interactions
        self.max_bins = max_bins
        self.outer_bags = outer_bags
        self.learning_rate = learning_rate
        self.max_rounds = max_rounds
        self.min_samples_leaf = min_samples_leaf
        self.max_leaves = max_leaves
        self.inner_bags = inner_bags
        self.binning = binning
        self.validation_size = validation_size
        self.special_values = special_values
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_integers(self, max_bins=3, outer_bags=1, max_rounds=1, min_samples_leaf=1)
        check_integers(self, max_leaves=2, inner_bags=0)
        check_choice(self, "binning", BINNINGS)
        if isinstance(self.interactions, str):
            if not re.fullmatch(r"\d+(\.\d+)?x", self.interactions):
                raise ValueError(
                    'interactions must be an integer >= 0, or such as "3x" for three '
                    f"pairs a column, got {self.interactions!r}"
                )
        else:
            check_integers(self, interactions=0)
        if self.learning_rate != "auto":
            check_rate(self, "learning_rate")
        check_rate(self, "validation_size", 0.5)
        check_n_jobs(self.n_jobs)

    def _train(
        self, problem: Problem, seed: int, offset: float, factor: float
    ) -> Training:
        ebm, rows = self._boost(problem, seed), dense_rows(problem.rows)
        tables = tables_of(ebm, problem.features, rows, problem.weight, offset, factor)
        record = additive.record_training(tables, rows, problem.weight)
        return Training(
            tables,
            [],
            None,
            {"training_record_": record, "n_iter_": int(ebm.best_iteration_.max())},
        )

    def _boost(self, problem: Problem, seed: int) -> Any:
        """Train interpret's model on the matrix of some rows."""
        with optional_import(*NEEDS):
            from interpret.glassbox import (
                ExplainableBoostingClassifier,
                ExplainableBoostingRegressor,
            )
        regression = problem.task == "regression"
        kind = (
            ExplainableBoostingRegressor
            if regression
            else ExplainableBoostingClassifier
        )
        bags, n = None, len(problem.target)
        held_any = int(n * self.validation_size) >= 1
        if problem.groups is not None:
            held = problem.held_out(self.outer_bags, self.validation_size, seed)
            bags, held_any = np.where(held, -1, 1).astype(np.int8), bool(held.any())
        elif not held_any:
            warn_of_few(n, self.validation_size, "validation_size")
        settings: dict[str, Any] = {}
        if self.learning_rate != "auto":
            settings["learning_rate"] = self.learning_rate
        ebm = kind(
            feature_types=[
                "nominal" if nominal else self.binning
                for nominal in is_nominal(problem.features)
            ],
            interactions=self.interactions,
            max_bins=self.max_bins,
            outer_bags=self.outer_bags,
            max_rounds=self.max_rounds if held_any else min(self.max_rounds, _ROUNDS),
            min_samples_leaf=self.min_samples_leaf,
            max_leaves=self.max_leaves,
            inner_bags=self.inner_bags,
            validation_size=self.validation_size,
            n_jobs=self.n_jobs,
            random_state=seed,
            **settings,
        )
        # that it can't draw missing values, or pairs of several classes: we can
        with quiet(module="interpret"):
            ebm.fit(
                matrix_of(problem.features, dense_rows(problem.rows)),
                problem.target,
                sample_weight=problem.weight,
                bags=bags,
            )
        return ebm


_DOCUMENTATION = """{summary}

    Trained by the package interpret and kept as tables, which need it no more: a sum of
    one step function per column and, with `interactions`, one table per chosen pair.
    Every prediction is an exact sum of named terms, as a SPAM's is.

    Parameters
    ----------
    interactions : int or str, default=0
        How many pairs: a number, or such as ``"3x"`` for three times the number of
        columns.
    max_bins : int, default=1024
        Bins of a numeric column; pairs have at most 64.
    outer_bags : int, default=14
        Models, each holding out other rows, whose mean it is; their spread gives bands.
    learning_rate : float or "auto"
        Auto: interpret's own, {rate}.
    max_rounds : int, default=50_000
        At most so many rounds of boosting; held-out rows end it sooner. Where none can
        be held out, 100.
    min_samples_leaf : int, default=4
        Rows in a leaf.
    max_leaves : int, default=2
        Of each tree.
    inner_bags : int, default=0
        Samples of rows, drawn within each bag, whose trees are averaged; 0 takes all.
    binning : {{"quantile", "rounded_quantile", "uniform"}}
        How a numeric column is cut: evenly by rows, the same at rounder numbers, or
        evenly by value.
    validation_size : float, default=0.15
        Share of the rows that each bag holds out.
    special_values : mapping of column to list of numbers, optional
        Codes that aren't quantities, such as ``{{"months": [-9]}}``. They are numbers
        while training, which cuts them off, and levels in explanations.
    n_jobs : int or None, default=-1
        Processes that train bags; -1 is one for each core, None is 1. The result is
        the same.
    random_state : int, RandomState or None
        With an int, two fits are equal bit for bit.

    Attributes
    ----------
    model_ : AdditiveTables
    n_iter_ : int
        Tables that the longest bag changed in one stage, one after the other.

    Notes
    -----
    A value that training never saw contributes the average of its tables over the
    training rows. interpret counts 0 there, which is the same but for pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from spam_core import {name}
    >>> X = np.random.default_rng(0).uniform(size=(100, 2))
    >>> model = {name}(outer_bags=2, max_rounds=50, n_jobs=1, random_state=0)
    >>> explanation = model.fit(X, {target}).explain_local(X[:1])
    >>> explanation.terms
    (('x0',), ('x1',))
    """


class EBMRegressor(RegressionTarget, _EBM):  # noqa: D101 - written below
    __doc__ = _DOCUMENTATION.format(
        summary="Regression by an explainable boosting machine.",
        name="EBMRegressor",
        rate=0.04,
        target="X[:, 0]",
    )


class EBMClassifier(ClassificationTarget, _EBM):  # noqa: D101 - written below
    __doc__ = _DOCUMENTATION.format(
        summary="Classification by an explainable boosting machine.",
        name="EBMClassifier",
        rate=0.015,
        target="X[:, 0] > 0.5",
    )
