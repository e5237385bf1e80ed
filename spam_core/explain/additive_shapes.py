"""Curves and surfaces of an additive model made of tables: steps, exactly."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spam_core.data.encoding import NUMBER, TableEncoder
from spam_core.explain.axes import Axis, make_axis, make_density, to_dates
from spam_core.explain.frozen import Floats
from spam_core.explain.shapes import Curve, Surface
from spam_core.explain.support import JointSupport
from spam_core.models.tables import AdditiveTables, Places, locate

_POINTS = 200  # a column with half as many distinct values or more gets steps
_SECOND = 1 / 86_400  # of a day


@dataclass(frozen=True, eq=False)
class TableShapes:
    """Works out the shapes of a model's terms when they are asked for.

    Attributes
    ----------
    tables : AdditiveTables
        In one view.
    encoder : TableEncoder
        That its rows are encoded with; it keeps numbers as they are.
    n_rows : int
        Training rows.
    support : JointSupport or None
        Where pairs of features have training rows.
    """

    tables: AdditiveTables
    encoder: TableEncoder
    n_rows: int
    support: JointSupport | None = None

    def curve(self, feature: int) -> Curve:
        """Shape of one feature's own term."""
        bins = self.tables.bins
        axis = self._axis(feature, bins.cuts[feature])
        places = self._places(axis, feature, bins.cuts)
        y, lower, upper = self._band(self.tables.singles[feature][:, places])
        n = len(axis.x)
        density = make_density(self.encoder, feature, self.n_rows)
        curve = Curve(
            axis.feature.name,
            axis.kind,
            axis.x,
            y[:n],
            _part(lower, slice(n)),
            _part(upper, slice(n)),
            missing={
                level: (y[n + k], _part(lower, n + k), _part(upper, n + k))
                for k, level in enumerate(axis.levels)
            },
        )
        if density is None:
            return curve
        return replace(
            curve,
            density=(density.edges, density.rows),
            level_rows=density.level_rows,
            bulk=density.bulk,
            n_outside=density.n_outside,
        )

    def surface(self, first: int, second: int) -> Surface:
        """Shape of a pair's term; 0 without a table."""
        n_features = len(self.encoder.features)
        features = (first, second)
        cuts = self.tables.bins.pair_cuts
        axes = [self._axis(k, cuts[k]) for k in features]
        rows = [a.encoded(k, n_features) for a, k in zip(axes, features, strict=True)]
        places = [
            self._places(axis, k, cuts) for axis, k in zip(axes, features, strict=True)
        ]
        z, lower, upper = self._band(self._pair(first, second, *places))
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
            _part(lower, np.s_[:nx, :ny]),
            _part(upper, np.s_[:nx, :ny]),
            _part(support, np.s_[:nx, :ny]),
            {level: z[nx + k, :ny] for k, level in enumerate(x.levels)},
            {level: z[:nx, ny + k] for k, level in enumerate(y.levels)},
        )

    def _axis(self, i: int, cuts: Floats) -> Axis:
        """Values to look at: a column's own where they are few, else around its cuts.

        With a value on both sides of every cut, lines and cells are drawn as the steps
        that they are.
        """
        axis = make_axis(self.encoder, i, _POINTS)
        if axis.kind == "categorical" or len(axis.x) < _POINTS // 2:
            return axis
        feature = axis.feature
        low, high = float(feature.knots[0]), float(feature.knots[-1])
        cuts = cuts[(cuts > low) & (cuts <= high)]
        before = np.nextafter(cuts, -np.inf)
        if feature.is_date:
            before = cuts - _SECOND  # dates are shown to the second
        user = np.unique(np.concatenate([[low, high], before, cuts]))
        user = user[user >= low]
        n_levels = len(feature.levels)
        number = np.full(len(user), NUMBER, dtype=np.int32)
        return replace(
            axis,
            x=to_dates(user) if feature.is_date else user,
            values=np.concatenate([user, np.zeros(n_levels)]),
            codes=np.concatenate([number, np.arange(n_levels, dtype=np.int32)]),
        )

    def _places(self, axis: Axis, i: int, cuts: tuple[Floats, ...]) -> Places:
        rows = axis.encoded(i, len(cuts))
        return locate(rows, cuts, self.tables.bins.n_levels)[:, i]

    def _pair(self, first: int, second: int, x: Places, y: Places) -> Floats:
        """Values of each member, (M, nx, ny, C)."""
        tables = self.tables.pairs
        if (first, second) in tables:
            return tables[first, second][:, x[:, None], y]
        if (second, first) in tables:
            return tables[second, first][:, y, x[:, None]]
        return np.zeros((self.tables.n_members, len(x), len(y), self.tables.n_outputs))

    def _band(self, values: Floats) -> tuple[Floats, Floats | None, Floats | None]:
        """Return mean, lowest and highest member; drops the axis of a single output."""
        if values.shape[-1] == 1:
            values = values[..., 0]
        middle = np.tensordot(self.tables.shares, values, 1)
        if len(values) < 2:
            return middle, None, None
        # the mean is among them, but for rounding
        stack = np.concatenate([values, middle[None]])
        return middle, stack.min(axis=0), stack.max(axis=0)


def _part(array: Any, where: Any) -> Any:
    return None if array is None else array[where]
