"""A single decision tree, pruned by held-out rows.

Breiman, Friedman, Olshen, Stone: *Classification and Regression Trees*, 1984.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from torch import Tensor

from spam_core.data.encoding import Encoded, Feature
from spam_core.estimators.base import ClassificationTarget, RegressionTarget
from spam_core.estimators.gradient import Training
from spam_core.estimators.trees import (
    Floats,
    TreeEstimator,
    check_choice,
    check_integers,
    check_numbers,
    check_share,
    dense_rows,
    is_nominal,
    matrix_of,
    to_float32,
    units_of,
)
from spam_core.training.fit import Problem

_PENALTIES = 25  # that are tried
_EDGE = 1e-6  # probabilities are kept so far from 0 and 1, for the sake of their logits

Rows = NDArray[np.bool_] | slice


@dataclass(frozen=True, eq=False)
class DecisionTree:
    """A binary tree as arrays, one entry a node; the root is node 0.

    Attributes
    ----------
    features : tuple of Feature
        Of the encoder.
    ranks : tuple of p ndarrays
        Place of each level in the sequence of a nominal column; empty for numbers.
    left, right : int ndarray of shape (N,)
        Children, later in the sequence than their parent; -1 at a leaf.
    column : int ndarray of shape (N,)
        That a node looks at.
    threshold : ndarray of shape (N,)
        Not greater goes left.
    missing_left : bool ndarray of shape (N,)
        Whether what is missing goes left.
    values : ndarray of shape (N, C)
        Scores.
    units : ndarray of shape (2, p), optional
        Of `units_of`, in which the thresholds are.

    Raises
    ------
    ValueError
        If sizes disagree, or a child doesn't come after its parent.
    """

    features: tuple[Feature, ...]
    ranks: tuple[Floats, ...]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    column: NDArray[np.int64]
    threshold: Floats
    missing_left: NDArray[np.bool_]
    values: Floats
    units: Floats | None = None

    def __post_init__(self) -> None:
        n = len(self.values)
        arrays = (self.left, self.right, self.column, self.threshold, self.missing_left)
        if n == 0 or any(array.shape != (n,) for array in arrays):
            raise ValueError(f"Expected {n} nodes, got {[a.shape for a in arrays]}")
        inner = self.left >= 0
        for child in (self.left[inner], self.right[inner]):
            # so that every walk ends
            if ((child <= np.flatnonzero(inner)) | (child >= n)).any():
                raise ValueError("Expected children after their parents")
        nominal = is_nominal(self.features)
        if (
            len(self.ranks) != len(nominal)
            or not np.isin(self.column[inner], np.arange(len(nominal))).all()
        ):
            raise ValueError(f"Expected nodes of {len(nominal)} columns")

    def score(self, rows: Encoded) -> Tensor:
        """Scores of shape (n, C)."""
        plain = ranked(matrix_of(self.features, rows), self.ranks)
        matrix = to_float32(plain, self.units)
        node = np.zeros(len(rows), dtype=np.int64)
        below = np.arange(len(rows))
        while len(below := below[self.left[node[below]] >= 0]):
            here = node[below]
            value = matrix[below, self.column[here]]
            goes_left = np.where(
                np.isnan(value), self.missing_left[here], value <= self.threshold[here]
            )
            node[below] = np.where(goes_left, self.left[here], self.right[here])
        return torch.from_numpy(self.values[node])


class _CART(TreeEstimator):
    def __init__(
        self,
        max_depth: int | None = None,
        *,
        min_samples_leaf: int = 10,
        min_samples_split: int = 2,
        splitter: Literal["best", "random"] = "best",
        ccp_alpha: float | Literal["auto"] = "auto",
        validation_fraction: float = 0.125,
        special_values: Mapping[str, Sequence[float]] | None = None,
        random_state: Any = None,
    ) -> None:
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.min_samples_split = min_samples_split
        self.splitter = splitter
        self.ccp_alpha = ccp_alpha
        self.validation_fraction = validation_fraction
        self.special_values = special_values
        self.random_state = random_state

    def _check_parameters(self) -> None:
        if self.max_depth is not None:
            check_integers(self, max_depth=1)
        check_integers(self, min_samples_leaf=1, min_samples_split=2)
        check_choice(self, "splitter", ("best", "random"))
        if self.ccp_alpha != "auto":
            check_numbers(self, ccp_alpha=0)
        check_share(self, "validation_fraction")

    def _train(
        self, problem: Problem, seed: int, offset: float, factor: float
    ) -> Training:
        alpha, loss = self.ccp_alpha, None
        if alpha == "auto":
            alpha = 0.0
            held = problem.held_out(1, self.validation_fraction, seed)[:, 0]
            if held.any():
                alpha, loss = self._choose(problem, held, seed)
        elif problem.task == "regression":
            # it is in units of the target's variance here
            alpha = alpha / (factor or 1.0) ** 2
        tree = self._grow(problem, slice(None), alpha, seed, offset, factor)
        size = {"ccp_alpha_": float(alpha), "n_leaves_": int((tree.left < 0).sum())}
        return Training(tree, [], loss, {**size, "n_iter_": 1})

    def _tree(self, task: str, alpha: float, seed: int) -> Any:
        kind = DecisionTreeRegressor if task == "regression" else DecisionTreeClassifier
        return kind(
            max_depth=self.max_depth,
            min_samples_leaf=self.min_samples_leaf,
            min_samples_split=self.min_samples_split,
            splitter=self.splitter,
            ccp_alpha=alpha,
            random_state=seed,
        )

    def _grow(
        self,
        problem: Problem,
        rows: Rows,
        alpha: float,
        seed: int,
        offset: float = 0.0,
        factor: float = 1.0,
        added: float = 0.0,
    ) -> DecisionTree:
        """Grow and prune a tree on some rows; leaves get `added` rows of each class."""
        matrix = matrix_of(problem.features, dense_rows(problem.rows))[rows]
        ranks = order_levels(problem, matrix, rows, self.min_samples_leaf)
        units = units_of(problem.features)
        fitted = self._tree(problem.task, alpha, seed).fit(
            to_float32(ranked(matrix, ranks), units),
            problem.target[rows],
            problem.weight[rows],
        )
        tree = fitted.tree_
        values = tree.value[:, 0]
        if problem.task != "regression":
            mass = tree.weighted_n_node_samples[:, None]
            values = values * mass + added
            values = _logits(values / values.sum(axis=1, keepdims=True))
        return DecisionTree(
            tuple(problem.features),
            ranks,
            tree.children_left.astype(np.int64),
            tree.children_right.astype(np.int64),
            tree.feature.astype(np.int64),
            tree.threshold.astype(np.float64),
            tree.missing_go_to_left.astype(bool),
            factor * values + offset,
            units,
        )

    def _choose(
        self, problem: Problem, held: NDArray[np.bool_], seed: int
    ) -> tuple[float, float]:
        """Return the penalty with the least loss on held-out rows, and that loss.

        Each leaf has one row more of every class meanwhile (Laplace's correction, as in
        Provost, Domingos, *Tree induction for probability-based ranking*, 2003). Else
        the few held-out rows whose class their leaf hasn't decide, and of many classes
        hardly a leaf is left.
        """
        matrix = matrix_of(problem.features, dense_rows(problem.rows))[~held]
        ranks = order_levels(problem, matrix, ~held, self.min_samples_leaf)
        path = self._tree(problem.task, 0.0, seed).cost_complexity_pruning_path(
            to_float32(ranked(matrix, ranks), units_of(problem.features)),
            problem.target[~held],
            problem.weight[~held],
        )
        penalties = np.unique(np.clip(path.ccp_alphas, 0.0, None))
        if len(penalties) > _PENALTIES:
            # evenly by size: most of them are tiny, and all alike
            positive = penalties[penalties > 0]
            wanted = np.geomspace(positive[0], positive[-1], _PENALTIES - 1)
            near = np.searchsorted(positive, wanted).clip(max=len(positive) - 1)
            penalties = np.unique(np.append(positive[near], 0.0))
        rows = dense_rows(problem.rows)[torch.from_numpy(held)]
        losses = []
        for penalty in penalties.tolist():
            tree = self._grow(problem, ~held, penalty, seed, added=1.0)
            losses.append(_loss(tree.score(rows).numpy(), problem, held))
        best = int(np.argmin(losses))
        return float(penalties[best]), losses[best]


def order_levels(
    problem: Problem, matrix: Floats, rows: Rows, n_least: int
) -> tuple[Floats, ...]:
    """Put each nominal column's levels in the sequence in which a tree cuts them.

    By the mean of the target, for which the best cut in two is found (Breiman et al.,
    theorem 4.5); of several classes by the first principal component of their shares
    (Coppersmith, Hong, Hosking, 1999). A level of fewer than `n_least` rows has no
    place: ordered by their targets, hundreds of rare levels look like a perfect column.

    Returns
    -------
    tuple of p ndarrays
        Place of each level, NaN without one; empty for numbers.
    """
    target, weight = problem.target[rows], problem.weight[rows]
    if problem.task == "multiclass":
        wanted = np.eye(problem.n_outputs)[target.astype(np.int64)]
    else:
        wanted = target[:, None].astype(np.float64)
    wanted = wanted - np.average(wanted, axis=0, weights=weight)
    ranks = []
    for k, nominal in enumerate(is_nominal(problem.features)):
        column = matrix[:, k]
        known = ~np.isnan(column)
        if not nominal or not known.any():
            ranks.append(np.empty(0))
            continue
        codes = column[known].astype(np.int64)
        common = np.bincount(codes) >= n_least
        mass = np.bincount(codes, weight[known])
        sums = [np.bincount(codes, weight[known] * part[known]) for part in wanted.T]
        means = np.stack(sums, axis=1) / np.maximum(mass, 1e-300)[:, None]
        position = means[:, 0]
        if means.shape[1] > 1:
            _, _, directions = np.linalg.svd(np.sqrt(mass)[:, None] * means)
            position = means @ directions[0]
        place = np.full(len(position), np.nan)
        sequence = np.argsort(position, kind="stable")
        place[sequence[common[sequence]]] = np.arange(common.sum())
        ranks.append(place)
    return tuple(ranks)


def ranked(matrix: Floats, ranks: Sequence[Floats]) -> Floats:
    """Replace codes of levels by their places; levels without one are missing.

    Examples
    --------
    >>> ranked(np.array([[0.0], [1.0], [np.nan], [2.0]]), [np.array([1.0, 0.0])])
    array([[ 1.],
           [ 0.],
           [nan],
           [nan]])
    """
    result = matrix.copy()
    for k, place in enumerate(ranks):
        if len(place):
            known = matrix[:, k] < len(place)  # not where it is NaN
            result[:, k] = np.nan
            result[known, k] = place[matrix[known, k].astype(np.int64)]
    return result


def _logits(shares: Floats) -> Floats:
    """Logit of the second of two classes, or centred logarithms of several."""
    logs = np.log(np.clip(shares, _EDGE, 1 - _EDGE))
    if shares.shape[1] == 2:
        return logs[:, 1:] - logs[:, :1]
    centred: Floats = logs - logs.mean(axis=1, keepdims=True)
    return centred


def _loss(scores: Floats, problem: Problem, rows: NDArray[np.bool_]) -> float:
    """Weighted squared error, or log loss, of some rows."""
    target, weight = problem.target[rows], problem.weight[rows]
    if problem.task == "regression":
        losses = (scores[:, 0] - target) ** 2
    elif problem.task == "binary":
        losses = np.logaddexp(0.0, np.where(target == 1, -scores[:, 0], scores[:, 0]))
    else:
        own = scores[np.arange(len(scores)), target.astype(np.int64)]
        losses = np.logaddexp.reduce(scores, axis=1) - own
    return float(np.average(losses, weights=weight))


_DOCUMENTATION = """{summary}

    Levels of a category are put in the sequence of their mean target (for several
    classes, of the first principal component of their shares) and cut like numbers;
    special codes are numbers; missing values, levels of fewer rows than a leaf and
    levels that training never saw go where scikit-learn sends what is missing.

    Parameters
    ----------
    max_depth : int, optional
        Splits from the root to a leaf, at most.
    min_samples_leaf : int, default=10
        Rows in a leaf, at least.
    min_samples_split : int, default=2
        Rows of a node that is split, at least.
    splitter : {{"best", "random"}}
        Whether the best cut of each column is looked for, or the best of one random cut
        a column.
    ccp_alpha : float or "auto"
        Penalty of each leaf (minimal cost-complexity pruning). Auto: the one with the
        least loss on held-out rows; the tree is then grown anew on all rows.
    validation_fraction : float, default=0.125
        Share of the rows held out for that, whole groups if there are any.
    special_values : mapping of column to list of numbers, optional
        Codes that aren't quantities. A tree can split them off, so they stay numbers;
        one that training never saw counts as missing.
    random_state : int, RandomState or None
        Decides which rows are held out, and between splits that are equally good.

    Attributes
    ----------
    ccp_alpha_ : float
        Penalty used, for a regression in units of the target's variance.
    n_leaves_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from spam_core import {name}
    >>> X = np.random.default_rng(0).uniform(size=(100, 2))
    >>> {name}(random_state=0).fit(X, {target}).predict(X[:3]).shape
    (3,)
    """


class CARTRegressor(RegressionTarget, _CART):  # noqa: D101 - written below
    __doc__ = _DOCUMENTATION.format(
        summary="Regression by a pruned decision tree.",
        name="CARTRegressor",
        target="X[:, 0]",
    )


class CARTClassifier(ClassificationTarget, _CART):  # noqa: D101 - written below
    __doc__ = _DOCUMENTATION.format(
        summary="Classification by a pruned decision tree; logits are kept within 14.",
        name="CARTClassifier",
        target="X[:, 0] > 0.5",
    )
