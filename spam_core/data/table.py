"""A table with a task: features, target, split and where it comes from."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from spam_core.data.splits import PARTS, IntArray, make_splits

if TYPE_CHECKING:
    from spam_core.data.truth import Truth

Task: TypeAlias = Literal["regression", "binary", "multiclass"]
TASKS: tuple[Task, ...] = ("regression", "binary", "multiclass")


class Split(NamedTuple):
    """The three parts of a table, rows in the order of the file."""

    X_train: Any
    y_train: pd.Series[Any]
    X_valid: Any
    y_valid: pd.Series[Any]
    X_test: Any
    y_test: pd.Series[Any]


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Features and target of one data set, with what has to be known about it.

    Attributes
    ----------
    name : str
    X : DataFrame (n, d) or scipy CSR matrix (n, d)
        Leaks and identifiers are gone. Text is a CSR matrix of word weights.
    y : Series (n,)
    task : {"regression", "binary", "multiclass"}
    target : str
        Name of the target column.
    description : str
        One sentence for somebody who does not know the data.
    source, licence : str
        Where it comes from and on what terms; to be shown where it is used.
    splits : dict of str to ndarray
        "train", "validation", "test": positions of rows, disjoint, together all.
    split_note : str
        How the rows were split.
    feature_names : tuple of str, length d
    target_unit : str
        Unit of a regression target; empty for classes.
    classes : tuple
        Sorted labels, as ``classes_`` of a fitted classifier; empty for regression.
    class_names : tuple of str
        What to call the classes in text, in the same order.
    positive : object
        The class of interest of a binary table. A binary explanation is about
        ``classes[1]`` always; where that is the other class, its logit is the
        negative of the one of interest.
    dropped : dict of str to str
        Columns left out, with the reason.
    special_values : dict of str to tuple
        Codes that stand for no value, by column; give it to the estimator.
    columns : dict of str to str
        What the columns mean, with units, where that is known.
    groups : Series (n,) or None
        Rows of one group never fall into two parts.
    truth : Truth or None
        The true terms of a generated table.
    texts : Series (n,) or None
        The documents that a CSR matrix was made from.
    resplittable : bool
        Whether `resplit` is allowed; it is not where `X` was fitted on the
        training rows.
    """

    name: str
    X: Any
    y: pd.Series[Any]
    task: Task
    target: str
    description: str
    source: str
    licence: str
    splits: dict[str, IntArray]
    split_note: str = ""
    feature_names: tuple[str, ...] = ()
    target_unit: str = ""
    classes: tuple[Any, ...] = ()
    class_names: tuple[str, ...] = ()
    positive: Any = None
    dropped: dict[str, str] = field(default_factory=dict)
    special_values: dict[str, tuple[float, ...]] = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)
    groups: pd.Series[Any] | None = None
    truth: Truth | None = None
    texts: pd.Series[Any] | None = None
    resplittable: bool = True

    def __post_init__(self) -> None:
        """Fill what follows from the rest and check that it all fits.

        Raises
        ------
        ValueError
            If rows, splits, task and classes don't belong together.
        """
        n = self.X.shape[0]
        if self.task not in TASKS:
            raise ValueError(f"task must be one of {TASKS}, but is {self.task!r}.")
        if len(self.y) != n:
            raise ValueError(f"X has {n} rows, but y has {len(self.y)}.")
        if not self.feature_names:
            object.__setattr__(self, "feature_names", tuple(map(str, self.X.columns)))
        if len(self.feature_names) != self.X.shape[1]:
            raise ValueError(
                f"X has {self.X.shape[1]} columns, but there are "
                f"{len(self.feature_names)} feature names."
            )
        if self.task != "regression":
            self._fill_classes()
        _check_splits(self.splits, n)

    def _fill_classes(self) -> None:
        classes = tuple(np.unique(self.y.to_numpy()).tolist())
        object.__setattr__(self, "classes", classes)
        if not self.class_names:
            object.__setattr__(self, "class_names", tuple(map(str, classes)))
        if len(self.class_names) != len(classes):
            raise ValueError(
                f"y has {len(classes)} classes, but {len(self.class_names)} are named."
            )
        if self.task == "binary":
            if len(classes) != 2:
                raise ValueError(f"A binary target has 2 classes, not {len(classes)}.")
            if self.positive is None:
                object.__setattr__(self, "positive", classes[1])
            if self.positive not in classes:
                raise ValueError(f"{self.positive!r} is none of the classes {classes}.")

    def __repr__(self) -> str:
        """Return the facts, not the rows."""
        return (
            f"Table({self.name!r}, {self.n_rows} rows x {self.n_features} features, "
            f"{self.task} target {self.target!r})"
        )

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns of `X`."""
        return int(self.X.shape[1])

    def split(self, seed: int | None = None) -> Split:
        """Return the three parts.

        Parameters
        ----------
        seed : int, optional
            None: the stored split. Else 70/10/20 anew, by class or group.

        Returns
        -------
        Split
            ``X_train, y_train, X_valid, y_valid, X_test, y_test``.
        """
        table = self if seed is None else self.resplit(seed, 0.2, 0.1)
        parts: list[Any] = []
        for part in PARTS:
            rows = table.splits[part]
            is_frame = isinstance(self.X, pd.DataFrame)
            parts += [self.X.iloc[rows] if is_frame else self.X[rows]]
            parts += [self.y.iloc[rows]]
        return Split(*parts)

    def resplit(
        self,
        seed: int,
        test_fraction: float = 0.2,
        validation_fraction: float = 0.0,
    ) -> Table:
        """Return the same table with a new random split.

        Classes keep their shares, groups stay together.

        Parameters
        ----------
        seed : int
        test_fraction : float
            Share of all rows.
        validation_fraction : float
            Share of all rows; 0, the default, leaves no validation rows, for
            estimators that take their own from the training rows.

        Raises
        ------
        ValueError
            If the features were fitted on the given training rows (newsgroups), or
            the fractions do not leave training rows.
        """
        if not self.resplittable:
            raise ValueError(
                f"{self.name!r} can't be split anew: its features were made from the "
                "training rows of the given split, so test rows would leak into them."
            )
        splits = make_splits(
            self.n_rows,
            seed=seed,
            test_fraction=test_fraction,
            validation_fraction=validation_fraction,
            labels=None if self.task == "regression" else self.y.to_numpy(),
            groups=None if self.groups is None else self.groups.to_numpy(),
        )
        note = f"random, {test_fraction:.0%} test, seed {seed}"
        return dataclasses.replace(self, splits=splits, split_note=note)


def _check_splits(splits: dict[str, IntArray], n: int) -> None:
    if set(splits) != set(PARTS):
        raise ValueError(f"splits must have the parts {PARTS}, but has {set(splits)}.")
    rows: npt.NDArray[np.int64] = np.concatenate([splits[part] for part in PARTS])
    if not np.array_equal(np.sort(rows), np.arange(n)):
        raise ValueError(
            f"The parts of the split must hold each of the {n} rows exactly once."
        )
