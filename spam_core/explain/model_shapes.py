"""Curves and surfaces of a fitted SPAM, with its members' bands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from spam_core.data.encoding import Encoded, TableEncoder
from spam_core.explain.axes import make_axis, make_density
from spam_core.explain.frozen import Floats
from spam_core.explain.of_model import Polynomial, algebra_of, double_scores
from spam_core.explain.shapes import Curve, Point, Surface
from spam_core.explain.support import JointSupport
from spam_core.explain.terms import TermAlgebra, View

Evaluate = Callable[[Polynomial, TermAlgebra], Tensor]

_CURVE_POINTS = 200
_SURFACE_POINTS = 40


@dataclass(frozen=True, eq=False)
class ModelShapes:
    """Works out the shapes of a model's terms when they are asked for.

    Attributes
    ----------
    model : SPAM
    encoder : TableEncoder
        That its rows are encoded with.
    view : {"pure", "raw"}
    n_rows : int or None
        Training rows, for densities; None leaves those out.
    support : JointSupport or None
        Where pairs of features have training rows.
    """

    model: Polynomial
    encoder: TableEncoder
    view: View = "pure"
    n_rows: int | None = None
    support: JointSupport | None = None

    def __post_init__(self) -> None:
        # made once, so that what is worked out for each member is kept with this object
        object.__setattr__(self, "_members", [])

    def curve(self, feature: int) -> Curve:
        """Shape of one feature's own term."""
        axis = make_axis(self.encoder, feature, _CURVE_POINTS)
        rows = axis.encoded(feature, len(self.encoder.features))
        y, lower, upper = self._band(
            lambda model, algebra: algebra.single(
                feature, scores_of(model, algebra, rows, feature)
            )
        )
        n = len(axis.x)
        density = make_density(self.encoder, feature, self.n_rows or 1)
        counted = density is not None and self.n_rows is not None
        return Curve(
            axis.feature.name,
            axis.kind,
            axis.x,
            y[:n],
            None if lower is None else lower[:n],
            None if upper is None else upper[:n],
            (density.edges, density.rows) if density and counted else None,
            {
                level: _point(y, lower, upper, n + k)
                for k, level in enumerate(axis.levels)
            },
            density.level_rows if density and counted else {},
            bulk=None if density is None else density.bulk,
            n_outside=density.n_outside if density and counted else 0,
        )

    def surface(self, first: int, second: int) -> Surface:
        """Shape of a pair's term."""
        n_features = len(self.encoder.features)
        axes = [make_axis(self.encoder, k, _SURFACE_POINTS) for k in (first, second)]
        rows = [
            axis.encoded(k, n_features)
            for axis, k in zip(axes, (first, second), strict=True)
        ]

        def pair(model: Polynomial, algebra: TermAlgebra) -> Tensor:
            return algebra.pair(
                first,
                second,
                scores_of(model, algebra, rows[0], first),
                scores_of(model, algebra, rows[1], second),
            )

        z, lower, upper = self._band(pair)
        x, y = axes
        nx, ny = len(x.x), len(y.x)
        support = None
        if self.support is not None:
            support = self.support.mask(first, second, *rows)
        return Surface(
            (x.feature.name, y.feature.name),
            x.kind,
            y.kind,
            x.x,
            y.x,
            z[:nx, :ny],
            None if lower is None else lower[:nx, :ny],
            None if upper is None else upper[:nx, :ny],
            None if support is None else support[:nx, :ny],
            {level: z[nx + k, :ny] for k, level in enumerate(x.levels)},
            {level: z[:nx, ny + k] for k, level in enumerate(y.levels)},
        )

    def _band(self, evaluate: Evaluate) -> tuple[Floats, Floats | None, Floats | None]:
        """Evaluate the model and its members; drop the axis of a single output."""
        middle = self._values(self.model, evaluate)
        if self.model.n_members < 2:
            return middle, None, None
        each = [self._values(member, evaluate) for member in self.members]
        # the model is the members' mean, but for rounding
        stack = np.stack([*each, middle])
        return middle, stack.min(axis=0), stack.max(axis=0)

    @property
    def members(self) -> list[Polynomial]:
        """The members, as models of their own."""
        members: list[Polynomial] = self._members  # type: ignore[attr-defined]
        while len(members) < self.model.n_members:
            members.append(self.model.member(len(members)))
        return members

    def _values(self, model: Polynomial, evaluate: Evaluate) -> Floats:
        with torch.no_grad():
            values = evaluate(model, algebra_of(model, self.view)).numpy()
        return values[..., 0] if values.shape[-1] == 1 else values


def scores_of(
    model: Polynomial, algebra: TermAlgebra, rows: Encoded, feature: int
) -> dict[int, Tensor]:
    """Component scores of one feature, (n, R_l), a block of rows at a time."""
    step = algebra.rows_per_block(rows.codes.shape[1])
    parts = [
        {
            l: g[:, feature].clone()
            for l, g in double_scores(model, rows[start : start + step]).items()
        }
        for start in range(0, max(len(rows), 1), step)
    ]
    return {l: torch.cat([part[l] for part in parts]) for l in parts[0]}


def _point(y: Floats, lower: Floats | None, upper: Floats | None, k: int) -> Point:
    return (
        y[k],
        None if lower is None else lower[k],
        None if upper is None else upper[k],
    )
