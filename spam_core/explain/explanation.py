"""Explanations as values: what every explainer returns and every panel prints."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spam_core.explain.frozen import REST, Floats, frozen, plain, term_name
from spam_core.explain.layout import RowData, local_selector
from spam_core.explain.ledger import Unit, check_row, make_ledger, share
from spam_core.explain.overall import (
    CancellingTerms,
    GlobalExplanation,
    ShapeSource,
)
from spam_core.explain.shapes import Curve, Surface

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = [
    "CancellingTerms",
    "Curve",
    "GlobalExplanation",
    "LocalExplanation",
    "ShapeSource",
    "Surface",
]

TOLERANCE = 1e-4
"""The identity holds within this times max(1, |score|)."""


@dataclass(frozen=True, eq=False)
class LocalExplanation:
    """Scores of some rows, each split into named contributions that add up to it.

    ``base + values.sum(axis=1) == score``, which is checked. Arrays are read-only.

    Attributes
    ----------
    values : ndarray of shape (n, T) or (n, T, C)
        Contributions; C outputs if there are more than two classes.
    base : ndarray of shape (n,) or (n, C)
        What is said before any feature is looked at; the row's own, since a feature
        that is unknown in a row is a constant there.
    score : ndarray of shape (n,) or (n, C)
        The model's score on `scale`.
    terms : tuple of T tuples of str
        Columns that each contribution is about, in training order, the same for all
        rows. A last term ``("…",)`` stands for all that isn't listed.
    data : DataFrame of shape (n, d)
        The rows in user units, columns in training order. Called with a row's position
        it gives the dictionary that interpret reads.
    classes : tuple or None
        Class labels; None for a regression. Two classes have one score, the logit of
        the second.
    scale : str
        What scores are: ``"logit of yes"``, ``"centred logit"``, the target's name.
    view : str
        ``"pure"``, ``"raw"`` or ``"shapley"``, or what a post-hoc method says it is.
    exact : bool
        Whether the contributions are exact, not estimated.
    seconds : float
        Time taken.
    n_evaluations : int
        Rows that the model scored for it.
    seed, background_size : int or None
        Of methods that draw, and of those that use a background table.
    interactions : ndarray of shape (n, d, d) or (n, d, d, C), or None
        Pair interaction indices, 0 on the diagonal.
    method : str
        Name of the explainer.
    n_left_out : int
        How many terms ``("…",)`` stands for; 0 there means that it is what the listed
        terms fail to explain.
    unknown : bool ndarray of shape (n, d), or None
        Cells that training never saw.
    local_fit : ndarray of shape (n,) or (n, C), or None
        R2 of a surrogate in the row's neighbourhood, for several classes of each.

    Raises
    ------
    ValueError
        If shapes disagree or contributions don't add up to the score.

    Examples
    --------
    >>> rows = pd.DataFrame({"age": [41], "income": [30e3]})
    >>> explanation = LocalExplanation(
    ...     values=[[0.5, -0.25, 0.125]],
    ...     base=[1.0],
    ...     score=[1.375],
    ...     terms=[("age",), ("income",), ("age", "income")],
    ...     data=rows,
    ...     scale="price",
    ... )
    >>> explanation.ledger(0, E=2)[["term", "value", "contribution", "total"]]
                    term  value  contribution  total
    0                age     41         0.500  0.500
    1             income  30000        -0.250  0.250
    2  the other 1 term                 0.125  0.375
    3               base                1.000  1.375
    4              score                1.375  1.375
    """

    values: Floats
    base: Floats
    score: Floats
    terms: tuple[tuple[str, ...], ...]
    data: RowData
    classes: tuple[Any, ...] | None = None
    scale: str = "prediction"
    view: str = "pure"
    exact: bool = True
    seconds: float = 0.0
    n_evaluations: int = 0
    seed: int | None = None
    background_size: int | None = None
    interactions: Floats | None = None
    method: str = "SPAM"
    n_left_out: int = 0
    unknown: NDArray[np.bool_] | None = None
    local_fit: Floats | None = None

    def __post_init__(self) -> None:
        def put(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        for name in ("values", "base", "score", "interactions", "local_fit"):
            value = getattr(self, name)
            if value is not None:
                put(name, frozen(value))
        put("terms", tuple(tuple(str(name) for name in term) for term in self.terms))
        put("data", RowData.of(self.data, self))
        if self.classes is not None:
            put("classes", tuple(self.classes))
        if self.unknown is not None:
            unknown = np.array(self.unknown, dtype=bool)
            unknown.flags.writeable = False
            put("unknown", unknown)
        self._check_shapes()
        self._check_sum()

    def _check_shapes(self) -> None:
        n, d = self.data.shape
        outputs = self.base.shape[1:]
        wanted: dict[str, tuple[int, ...]] = {
            "base": (n, *outputs),
            "score": (n, *outputs),
            "values": (n, len(self.terms), *outputs),
            "interactions": (n, d, d, *outputs),
            "unknown": (n, d),
            "local_fit": (n,),
        }
        if self.local_fit is not None and self.local_fit.ndim == 2:
            wanted["local_fit"] = (n, *outputs)  # a surrogate for each class
        for name, shape in wanted.items():
            value = getattr(self, name)
            if value is not None and value.shape != shape:
                raise ValueError(
                    f"Expected {name} of shape {shape} for {n} rows, {d} columns, "
                    f"{len(self.terms)} terms and base of shape {self.base.shape}, "
                    f"got {value.shape}"
                )
        several = 0 if self.classes is None else len(self.classes)
        if outputs != ((several,) if several > 2 else ()):
            raise ValueError(
                f"Expected base of shape (n,) or, for more than two classes, (n, C); "
                f"got {self.base.shape} for classes {self.classes}"
            )
        columns = set(self.feature_names)
        strangers = [
            name for t in self.terms if t != REST for name in t if name not in columns
        ]
        if strangers or REST in self.terms[:-1]:
            raise ValueError(
                "Terms must name columns of data, and only the last may be ('…',); got "
                f"{strangers or 'an earlier one'}"
            )

    def _check_sum(self) -> None:
        total = self.base + self.values.sum(axis=1)
        gap = np.abs(total - self.score)
        # written so that NaN fails as well
        bad = ~(gap <= TOLERANCE * np.maximum(1.0, np.abs(self.score)))
        if bad.any():
            where = np.argwhere(bad)[0]
            raise ValueError(
                f"base + values must add up to the score; in row {int(where[0])} they "
                f"give {total[tuple(where)]:.6g} and the score is "
                f"{self.score[tuple(where)]:.6g} ({int(bad.sum())} of {bad.size} wrong)"
            )

    def __deepcopy__(self, memo: dict[int, Any]) -> LocalExplanation:
        """Return itself: there is nothing in it that could change."""
        return self

    def __len__(self) -> int:
        return len(self.base)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The d columns in training order."""
        return tuple(str(name) for name in self.data.columns)

    @property
    def term_names(self) -> tuple[str, ...]:
        """The terms for display, such as ``age × income``."""
        return tuple(term_name(term) for term in self.terms)

    @property
    def has_rest(self) -> bool:
        """Whether the last term stands for what isn't listed."""
        return bool(self.terms) and self.terms[-1] == REST

    def share_by_feature(self, rows: slice = slice(None)) -> tuple[Floats, Floats]:
        """Share each term equally among its features.

        For pure terms that gives their Shapley values under the product of the
        training marginals; what isn't listed can't be shared and stands apart.

        Returns
        -------
        values : ndarray of shape (n, d) or (n, d, C)
        rest : ndarray of shape (n,) or (n, C)
        """
        shares, rest = share(self.terms, self.feature_names)
        values = self.values[rows]
        return (
            np.einsum("nt...,td->nd...", values, shares, optimize=True),
            np.einsum("nt...,t->n...", values, rest),
        )

    def ledger(
        self, row: int, E: int = 7, unit: Unit = "term", class_: object = None
    ) -> pd.DataFrame:
        """Return one row's explanation as lines that sum to its score.

        Parameters
        ----------
        row : int
            Position of the row.
        E : int, default=7
            Explanation length: how many terms to list, by size.
        unit : {"term", "feature"}
            Count terms (a pair is one), or columns with terms shared out equally.
        class_ : object, optional
            Class to explain. None: the second of two, the predicted of several.

        Returns
        -------
        DataFrame
            Columns ``kind`` (term, other, rest, base, score), ``term``, ``value`` (in
            user units), ``contribution``, ``total`` (running sum). The last two lines
            are the base and the score. ``attrs["scale"]`` names the scale.

        Raises
        ------
        ValueError
            If there is no such row or class, E < 0 or the unit is unknown.
        """
        return make_ledger(self, row, E, unit, class_)

    def to_frame(self) -> pd.DataFrame:
        """Return all contributions, a line a row (and class).

        Returns
        -------
        DataFrame
            Indexed like `data`, with several classes also by class. Columns
            ``(base)``, each term's name, ``(score)``: all but the last sum to it.
        """
        columns = ["(base)", *self.term_names, "(score)"]
        parts = [self.base[:, None], self.values, self.score[:, None]]
        table = np.concatenate(parts, axis=1)
        if self.base.ndim == 1:
            return pd.DataFrame(table, self.data.index, columns)
        classes = [plain(c) for c in self.classes or ()]
        index = pd.MultiIndex.from_arrays(
            [
                self.data.index.repeat(len(classes)),
                pd.Index(classes * len(self), dtype=object),
            ],
            names=[self.data.index.name, "class"],
        )
        lines = table.transpose(0, 2, 1).reshape(-1, len(columns))
        return pd.DataFrame(lines, index, columns)

    def to_shap(self) -> Any:
        """Return a ``shap.Explanation`` of per-feature values.

        Each term is shared equally among its features. What isn't listed has no
        feature: it is part of the base values, so that they still add up.
        """
        import shap

        values, rest = self.share_by_feature()
        shown = self.data.to_numpy(dtype=object)
        numbers = np.empty(shown.shape)
        for i, name in enumerate(self.data.columns):
            column = self.data[name]
            # shap colours points by number; levels get their position
            if pd.api.types.is_numeric_dtype(column.dtype):
                numbers[:, i] = column.to_numpy(dtype=np.float64, na_value=np.nan)
            else:
                numbers[:, i] = pd.factorize(column, sort=False)[0]
        names = self.classes
        several = self.base.ndim == 2 and names is not None
        return shap.Explanation(
            values=values,
            base_values=self.base + rest,
            data=numbers,
            display_data=shown,
            feature_names=list(self.feature_names),
            output_names=[str(plain(c)) for c in names or ()] if several else None,
            compute_time=self.seconds,
        )

    explanation_type = "local"  # what interpret reads

    @property
    def name(self) -> str:
        """Name for display."""
        return f"{self.method} ({self.view})"

    @property
    def selector(self) -> pd.DataFrame:
        """The rows that `visualize` can draw, as interpret lists them."""
        return local_selector(self)

    def visualize(self, key: int | None = None) -> Figure:
        """Draw one row's ledger, or for None the mean size of each term.

        Parameters
        ----------
        key : int, optional
            Position of the row.
        """
        from spam_core import plots

        if key is not None:
            lines = self.ledger(check_row(self, key), E=12)
            scale: str = lines.attrs["scale"]
            return plots.ledger(lines, scale=scale, title=self.name)
        sizes: Any = SimpleNamespace(
            terms=self.terms,
            importance=np.abs(self.values).mean(axis=0),
            scale=self.scale,
            classes=self.classes,
        )
        return plots.importance(sizes, E=15, title=f"{self.name}, {len(self)} rows")


def draw_global(explanation: GlobalExplanation, key: int | None) -> Figure | None:
    """Draw all terms' importances, or one term; None if it has no picture."""
    from spam_core import plots

    if key is None:
        return plots.importance(explanation, E=15)
    term = explanation.terms[key]
    classes = explanation.classes or ()
    if len(term) == 1:
        # a line for each class, as long as they can be told apart
        class_ = classes[0] if len(classes) > 8 else None
        return plots.shape(explanation, term[0], class_=class_)
    if len(term) == 2:
        class_ = classes[0] if len(classes) > 2 else None
        return plots.surface(explanation, *term, class_=class_)
    return None
