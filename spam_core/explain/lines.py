"""An explanation as measures see it: plain arrays, one unit, the asked class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spam_core.explain.explanation import LocalExplanation
from spam_core.explain.frozen import Floats, class_position, plain
from spam_core.explain.ledger import Unit, share


@dataclass(frozen=True)
class Outputs:
    """Which score of each row is explained.

    Attributes
    ----------
    column : ndarray of shape (n,)
        Of C outputs.
    classes : tuple of n labels, or None
        None for a regression. Two classes have one score, the logit of the second, and
        no measure depends on its sign: what is measured is the same for both.
    scale : str
        What scores are.
    """

    column: NDArray[np.intp]
    classes: tuple[object, ...] | None
    scale: str

    @classmethod
    def choose(
        cls, classes: Sequence[object] | None, score: Floats, scale: str, class_: object
    ) -> Outputs:
        """Choose a class for each row.

        Parameters
        ----------
        classes : sequence or None
            Of the models.
        score : ndarray of shape (n, C)
            Of the model whose prediction counts.
        scale : str
        class_ : object
            None: the second of two, the predicted one of several.

        Raises
        ------
        ValueError
            If there is no such class.
        """
        n = len(score)
        first = np.zeros(n, dtype=np.intp)
        if classes is None:
            if class_ is not None:
                raise ValueError(f"A regression has no classes, got class_={class_!r}")
            return cls(first, None, scale)
        if len(classes) == 2:
            place = 1 if class_ is None else class_position(classes, class_)
            label = plain(classes[place])
            return cls(first, (label,) * n, f"{scale.split(' of ')[0]} of {label}")
        if class_ is None:
            column = score.argmax(axis=1)
        else:
            column = first + class_position(classes, class_)
        return cls(column, tuple(plain(classes[k]) for k in column), scale)


@dataclass(frozen=True)
class Lines:
    """Explanations of n rows in one unit.

    Attributes
    ----------
    values : ndarray of shape (n, T, C)
    members : bool ndarray of shape (T, d)
        Columns of each of the T lines.
    columns : ndarray of shape (n, d, C)
        One value a column: each term shared equally.
    base, score : ndarray of shape (n, C)
    """

    values: Floats
    members: NDArray[np.bool_]
    columns: Floats
    base: Floats
    score: Floats

    @classmethod
    def of(cls, explanation: LocalExplanation, unit: Unit) -> Lines:
        """Read an explanation; what isn't listed is no line."""
        n = len(explanation)
        columns = explanation.share_by_feature()[0]
        if unit == "feature":
            values, members = columns, np.eye(columns.shape[1], dtype=bool)
        else:
            listed = len(explanation.terms) - explanation.has_rest
            values = explanation.values[:, :listed]
            shares = share(explanation.terms[:listed], explanation.feature_names)[0]
            members = shares > 0
        return cls(
            values.reshape(*values.shape[:2], -1),
            members,
            columns.reshape(*columns.shape[:2], -1),
            explanation.base.reshape(n, -1),
            explanation.score.reshape(n, -1),
        )
