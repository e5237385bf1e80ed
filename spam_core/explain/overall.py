"""What a model says overall: the size and the shape of its terms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import pandas as pd

from spam_core.explain.frozen import Floats, frozen, plain, term_name
from spam_core.explain.layout import Layout, global_layout, global_selector
from spam_core.explain.shapes import Curve, Surface

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


class ShapeSource(Protocol):
    """Works out shapes on demand for a `GlobalExplanation`."""

    def curve(self, feature: int) -> Curve:
        """Shape of one feature's own term."""

    def surface(self, first: int, second: int) -> Surface:
        """Shape of a pair's term."""


@dataclass(frozen=True)
class CancellingTerms:
    """Two large terms of which one mostly takes back what the other adds.

    That happens where features go together (longitude and latitude along a coast), so
    neither term should be read without the other.

    Attributes
    ----------
    first, second : tuple of str
        Columns of the terms.
    correlation : float
        Of their contributions over the training rows; near -1.
    class_ : object
        In whose score; None if there is one.
    """

    first: tuple[str, ...]
    second: tuple[str, ...]
    correlation: float
    class_: object = None


@dataclass(frozen=True, eq=False)
class GlobalExplanation:
    """What a model says overall: the size of every term, and its shape.

    Attributes
    ----------
    terms : tuple of T tuples of str
        Columns of each term, in training order.
    importance : ndarray of shape (T,) or (T, C)
        Mean absolute contribution; see `importance_over`.
    sd : ndarray of shape (T,) or (T, C)
        Standard deviation under the product of the training marginals, exact.
    base : ndarray of shape () or (C,)
        Constant of the view. The pure one is the mean under independent features, not
        the average prediction.
    feature_names, feature_kinds : tuple of d str
        Columns in training order, and whether each is numeric, categorical, boolean or
        constant.
    source : ShapeSource
        Works out curves and surfaces.
    mean_score : ndarray of shape () or (C,), or None
        Average score over the training rows; None if that isn't known.
    classes, scale, view : see `LocalExplanation`
    exact : bool
        True: no sampling is involved in shapes and sd.
    importance_over : str
        What the mean is taken over: ``"training rows"``, or ``"independent draws"``
        from the marginals for a model that was changed after training.
    cancelling : tuple of CancellingTerms
        Large terms that cancel each other over the training rows, the worst first.
    n_left_out : int
        Terms that aren't listed; those of least sd.
    method : str
        Name of the model's kind.
    """

    terms: tuple[tuple[str, ...], ...]
    importance: Floats
    sd: Floats
    base: Floats
    feature_names: tuple[str, ...]
    feature_kinds: tuple[str, ...]
    source: ShapeSource
    mean_score: Floats | None = None
    classes: tuple[Any, ...] | None = None
    scale: str = "prediction"
    view: str = "pure"
    exact: bool = True
    importance_over: str = "training rows"
    cancelling: tuple[CancellingTerms, ...] = ()
    n_left_out: int = 0
    method: str = "SPAM"

    def __post_init__(self) -> None:
        for name in ("importance", "sd", "base"):
            object.__setattr__(self, name, frozen(getattr(self, name)))
        if self.mean_score is not None:
            object.__setattr__(self, "mean_score", frozen(self.mean_score))
        shape = (len(self.terms), *self.base.shape)
        for name in ("importance", "sd"):
            if getattr(self, name).shape != shape:
                raise ValueError(
                    f"Expected {name} of shape {shape}, got {getattr(self, name).shape}"
                )

    @property
    def term_names(self) -> tuple[str, ...]:
        """The terms for display, such as ``age × income``."""
        return tuple(term_name(term) for term in self.terms)

    def curve(self, feature: int | str) -> Curve:
        """Return the shape of one feature's own term.

        Parameters
        ----------
        feature : int or str
            Position in training order, or name.

        Raises
        ------
        ValueError
            If there is no such column.
        """
        return self.source.curve(self._position(feature))

    def surface(self, first: int | str, second: int | str) -> Surface:
        """Return the shape of a pair's term, listed or not.

        Parameters
        ----------
        first, second : int or str
            Positions in training order, or names; x and y of the surface.

        Raises
        ------
        ValueError
            If there is no such column, or both are the same.
        """
        i, j = self._position(first), self._position(second)
        if i == j:
            raise ValueError(f"A pair needs two columns, got {first!r} twice")
        return self.source.surface(i, j)

    def to_frame(self) -> pd.DataFrame:
        """Return the terms by importance, largest first.

        Returns
        -------
        DataFrame
            Columns term, n_features, importance, sd; with several classes also class,
            and a line for each term and class.
        """
        if self.importance.ndim == 1:
            frame = self._frame(self.importance, self.sd)
        else:
            parts = []
            for k, label in enumerate(self.classes or ()):
                part = self._frame(self.importance[:, k], self.sd[:, k])
                part.insert(0, "class", [plain(label)] * len(part))
                parts.append(part)
            frame = pd.concat(parts)
        return frame.sort_values(
            "importance", ascending=False, kind="stable", ignore_index=True
        )

    def _frame(self, importance: Floats, sd: Floats) -> pd.DataFrame:
        sizes = [len(term) for term in self.terms]
        columns = {"term": list(self.term_names), "n_features": sizes}
        return pd.DataFrame({**columns, "importance": importance, "sd": sd})

    def _position(self, feature: int | str) -> int:
        names: Sequence[str] = self.feature_names
        if isinstance(feature, str):
            if feature not in names:
                raise ValueError(
                    f"feature must be one of {list(names)}, got {feature!r}"
                )
            return names.index(feature)
        if isinstance(feature, bool) or not 0 <= feature < len(names):
            raise ValueError(f"feature must be in 0..{len(names) - 1}, got {feature!r}")
        return int(feature)

    explanation_type = "global"  # what interpret reads

    @property
    def name(self) -> str:
        """Name for display."""
        return f"{self.method} ({self.view})"

    @property
    def selector(self) -> pd.DataFrame:
        """The terms that `visualize` can draw, as interpret lists them."""
        return global_selector(self)

    def data(self, key: int | None = None) -> Layout | None:
        """Return the dictionary that interpret reads: of all terms, or of one."""
        return global_layout(self, key)

    def visualize(self, key: int | None = None) -> Figure | None:
        """Draw the importances, or one term; None for terms of three features."""
        from spam_core.explain.explanation import draw_global

        return draw_global(self, key)
