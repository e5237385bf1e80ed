"""What a model says about rows whose truth is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

if TYPE_CHECKING:
    from spam_core.data import Table

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predictions beside the truth, row by row. Arrays are read-only.

    Attributes
    ----------
    task : {"regression", "binary", "multiclass"}
    truth : ndarray of shape (n,)
        The target, or the position of the true class; -1 for a class that the model
        never saw.
    predicted : ndarray of shape (n,) or (n, C)
        The target, or the probability of each class.
    classes : tuple of C str
        What the classes are called; empty for a regression.
    groups : ndarray of shape (n,) or None
        Rows with one number belong together; None if each stands for itself.
    """

    task: str
    truth: NDArray[Any]
    predicted: Floats
    classes: tuple[str, ...] = ()
    groups: Integers | None = None

    def __post_init__(self) -> None:
        kind = np.float64 if self.task == "regression" else np.int64
        n = len(self.truth)
        wanted = (n,) if self.task == "regression" else (n, len(self.classes))
        if self.predicted.shape != wanted:
            raise ValueError(
                f"Expected predictions of shape {wanted} for {n} rows, got "
                f"{self.predicted.shape}"
            )
        for name, dtype in (("truth", kind), ("predicted", np.float64)):
            array = np.array(getattr(self, name), dtype=dtype)
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    def __len__(self) -> int:
        return len(self.truth)

    @property
    def usable(self) -> NDArray[np.bool_]:
        """Rows with a finite prediction, of a class that the model knows."""
        if self.task == "regression":
            known: NDArray[np.bool_] = np.isfinite(self.truth + self.predicted)
        else:
            known = np.isfinite(self.predicted).all(axis=1) & (self.truth >= 0)
        return known

    @property
    def chosen(self) -> Integers:
        """Position of the most probable class of each row."""
        places: Integers = self.predicted.argmax(axis=1)
        return places


def predict(model: Any, table: Table, part: str = "test") -> Predictions:
    """Ask a fitted model about one part of a table.

    Parameters
    ----------
    model : fitted estimator
        With ``predict``, or for classes ``predict_proba`` and ``classes_``.
    table : Table
    part : {"train", "validation", "test"}, default="test"

    Returns
    -------
    Predictions
        In the order of ``table.splits[part]``.

    Examples
    --------
    >>> from sklearn.dummy import DummyRegressor
    >>> from spam_core import load_dataset
    >>> table = load_dataset("diabetes")
    >>> parts = table.split()
    >>> found = predict(DummyRegressor().fit(parts.X_train, parts.y_train), table)
    >>> len(found), found.predicted.shape
    (89, (89,))
    """
    rows = table.splits[part]
    # the words of a text are a sparse matrix, which has no iloc
    X, y = getattr(table.X, "iloc", table.X)[rows], table.y.iloc[rows]
    groups = None
    if table.groups is not None:
        groups = pd.factorize(table.groups.iloc[rows])[0].astype(np.int64)
    if table.task == "regression":
        return Predictions(
            table.task,
            y.to_numpy(dtype=np.float64),
            np.asarray(model.predict(X), dtype=np.float64),
            groups=groups,
        )
    labels = np.asarray(model.classes_).tolist()
    names = dict(zip(table.classes, table.class_names, strict=True))
    place = {label: k for k, label in enumerate(labels)}
    return Predictions(
        table.task,
        np.array([place.get(label, -1) for label in y.tolist()], dtype=np.int64),
        np.asarray(model.predict_proba(X), dtype=np.float64),
        tuple(names.get(label, str(label)) for label in labels),
        groups,
    )


@dataclass(frozen=True, eq=False)
class OneAgainstRest:
    """One class against all others: whether a row is of it, and how probable that was.

    Attributes
    ----------
    name, rest : str
        What the class and the others are called.
    truth : bool ndarray of shape (n,)
    share : ndarray of shape (n,)
        Probability of the class.
    n_left_out : int
        Rows without a finite prediction, or of a class that the model never saw.
    """

    name: str
    rest: str
    truth: NDArray[np.bool_]
    share: Floats
    n_left_out: int = 0

    @property
    def prevalence(self) -> float:
        """Share of the rows that are of the class; NaN without rows."""
        return float(self.truth.mean()) if len(self.truth) else float("nan")

    @property
    def lacking(self) -> str:
        """Why nothing can be said of the two apart, in a sentence; empty if it can.

        Examples
        --------
        >>> OneAgainstRest("yes", "no", np.array([True]), np.array([0.5])).lacking
        'All rows (1) are yes: it takes rows of both to judge how they are told apart.'
        """
        if not len(self.truth):
            return "There are no rows to judge by."
        if 0 < self.truth.sum() < len(self.truth):
            return ""
        which = self.name if self.truth[0] else self.rest
        return (
            f"All rows ({len(self.truth):,}) are {which}: it takes rows of both to "
            "judge how they are told apart."
        )

    def check(self) -> None:
        """Refuse rows that are all of one kind.

        Raises
        ------
        ValueError
            Says what is lacking.
        """
        if self.lacking:
            raise ValueError(self.lacking)


def one_against_rest(
    predictions: Predictions, class_: str | None = None
) -> OneAgainstRest:
    """Look at one class alone.

    Parameters
    ----------
    predictions : Predictions
        Of classes.
    class_ : str, optional
        Its name; of two classes the second by default.

    Raises
    ------
    ValueError
        If there is no such class; the choices are named.

    Examples
    --------
    >>> shares = np.array([[0.9, 0.1], [0.2, 0.8]])
    >>> found = Predictions("binary", np.array([0, 1]), shares, ("no", "yes"))
    >>> one_against_rest(found).share, one_against_rest(found, "no").share
    (array([0.1, 0.8]), array([0.9, 0.2]))
    """
    names = list(predictions.classes)
    if class_ is None and len(names) == 2:
        class_ = names[1]
    if class_ not in names:
        raise ValueError(f"class_ must be one of {names}, got {class_!r}")
    place, usable = names.index(class_), predictions.usable
    others = [name for name in names if name != class_]
    return OneAgainstRest(
        class_,
        others[0] if len(others) == 1 else f"not {class_}",
        predictions.truth[usable] == place,
        predictions.predicted[usable, place],
        int((~usable).sum()),
    )
