"""A feature's axis: values worth looking at, in user units, and its training rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from spam_core.data.encoding import NUMBER, UNKNOWN, Encoded, Feature, TableEncoder
from spam_core.data.feature import spread_knots
from spam_core.explain.frozen import Floats, frozen
from spam_core.explain.shapes import AxisKind

_FEW = 60  # as many distinct values, and each is a point of the axis
_BINS = 30  # of the density over the bulk
_TAIL = 0.01  # share of the rows that may lie beyond each end of the bulk


@dataclass(frozen=True, eq=False)
class Axis:
    """Values of one feature.

    Attributes
    ----------
    feature : Feature
    kind : {"numeric", "categorical"}
    x : ndarray of shape (n,)
        User units: numbers, datetime64, or names of levels.
    values, codes : ndarray of shape (n + number of `levels`,)
        Encoded: first those of x, then the levels beside them.
    levels : tuple of str
        A numeric feature's special codes and ``missing``.
    """

    feature: Feature
    kind: AxisKind
    x: NDArray[Any]
    values: Floats
    codes: NDArray[np.int32]
    levels: tuple[str, ...] = ()

    def encoded(self, i: int, n_features: int) -> Encoded:
        """Return rows that hold these values in column i, and unknown elsewhere."""
        n = len(self.codes)
        values = torch.zeros(n, n_features, dtype=torch.float64)
        codes = torch.full((n, n_features), UNKNOWN, dtype=torch.int32)
        values[:, i] = torch.from_numpy(self.values)
        codes[:, i] = torch.from_numpy(self.codes)
        return Encoded(values, codes)


@dataclass(frozen=True, eq=False)
class Density:
    """Training rows along one feature.

    Attributes
    ----------
    edges : ndarray
        Bin edges in user units, or names of levels.
    rows : ndarray
        Rows in each bin, or of each level.
    level_rows : dict
        Rows of a numeric feature's other levels.
    bulk : (low, high) or None
        User units; the range but for far outliers.
    n_outside : int
        Rows outside the bulk.
    """

    edges: NDArray[Any]
    rows: Floats
    level_rows: dict[str, float]
    bulk: tuple[float, float] | None = None
    n_outside: int = 0


def make_axis(encoder: TableEncoder, i: int, n_points: int) -> Axis:
    """Choose about `n_points` values of feature i; its own where they are few."""
    feature = encoder.features[i]
    if feature.kind == "constant":
        empty = np.empty(0)
        return Axis(feature, "numeric", empty, empty, np.empty(0, dtype=np.int32))
    n_levels = len(feature.levels)
    level_codes = np.arange(n_levels, dtype=np.int32)
    if feature.kind != "numeric":
        names = np.array(feature.level_names, dtype=object)
        return Axis(feature, "categorical", names, np.zeros(n_levels), level_codes)
    scaled = _grid(encoder, i, n_points)
    user = feature.to_user(scaled, encoder.scaling)
    # distinct scaled values may round to one user value far from 0
    user, first = np.unique(user, return_index=True)
    scaled = scaled[first]
    codes = np.concatenate([np.full(len(user), NUMBER, dtype=np.int32), level_codes])
    return Axis(
        feature,
        "numeric",
        to_dates(user) if feature.is_date else user,
        np.concatenate([scaled, np.zeros(n_levels)]),
        codes,
        feature.level_names,
    )


def _number_nodes(encoder: TableEncoder, i: int) -> tuple[Floats, Floats]:
    """Scaled positions of a feature's numbers, increasing, and their weights."""
    marginals = encoder.marginals
    weights = marginals.weights[:, i].numpy()
    number = (marginals.nodes.codes[:, i].numpy() == NUMBER) & (weights > 0)
    values = marginals.nodes.values[:, i].numpy()[number]
    order = np.argsort(values, kind="stable")
    return values[order], weights[number][order]


def _is_discrete(encoder: TableEncoder, i: int, nodes: Floats) -> bool:
    """Whether training saw few distinct values, each a node of its own."""
    feature = encoder.features[i]
    if len(nodes) > _FEW:
        return False
    knots = feature.to_scaled(feature.knots, encoder.scaling)
    if encoder.scaling in ("quantile", "minmax"):  # within [0, 1], but for rounding
        nodes, knots = np.round(nodes, 9), np.round(knots, 9)
    return bool(np.isin(nodes, knots).all())


def _grid(encoder: TableEncoder, i: int, n_points: int) -> Floats:
    """Scaled values to look at; increasing."""
    feature = encoder.features[i]
    nodes, weights = _number_nodes(encoder, i)
    if len(nodes) < 2 or _is_discrete(encoder, i, nodes):
        return nodes
    knots = feature.to_scaled(feature.knots, encoder.scaling)
    if encoder.scaling in ("quantile", "minmax"):
        # knots are evenly spaced there, and every kink lies on one
        n_cells = feature.n_cells
        if n_points < n_cells:
            return np.linspace(0.0, 1.0, n_points)
        return np.linspace(0.0, 1.0, n_cells * max(1, round(n_points / n_cells)) + 1)
    # even in rows, and even in value: neither the bulk nor the tails are left bare
    level = np.cumsum(weights) / weights.sum()
    even = np.interp(np.linspace(0.0, 1.0, n_points // 2), level, nodes)
    ends = np.linspace(knots[0], knots[-1], n_points - len(even))
    return np.unique(np.concatenate([even, ends]))


def make_density(encoder: TableEncoder, i: int, n_rows: int) -> Density | None:
    """Count training rows along feature i, from its marginal; None for a constant."""
    feature = encoder.features[i]
    if feature.kind == "constant":
        return None
    marginals = encoder.marginals
    weights = marginals.weights[:, i].numpy() * n_rows
    codes = marginals.nodes.codes[:, i].numpy()
    is_level = codes >= 0
    at_levels = _rounded(_totals(codes[is_level], weights[is_level], feature.levels))
    level_rows = dict(zip(feature.level_names, at_levels.tolist(), strict=True))
    if feature.kind != "numeric":
        names = np.array(feature.level_names, dtype=object)
        return Density(names, at_levels, {})
    nodes, share = _number_nodes(encoder, i)
    if not len(nodes):
        return None
    user = feature.to_user(nodes, encoder.scaling)
    mass = share * n_rows
    with np.errstate(over="ignore"):  # the widest range is wider than any float
        low, high = _bulk(user, mass, feature.knots[0], feature.knots[-1])
    outside = round(float(mass[(user < low) | (user > high)].sum()))
    if _is_discrete(encoder, i, nodes):
        edges, rows = _around(user), mass
    else:
        bins = spread_knots(low, high, _BINS)
        edges = np.unique([feature.knots[0], *bins, feature.knots[-1]])
        rows = _spread(encoder, i, nodes, mass, edges)
    bulk = None if not low < high else (float(low), float(high))
    return Density(
        to_dates(edges) if feature.is_date else edges,
        _rounded(rows),
        level_rows,
        bulk,
        outside,
    )


def _bulk(
    user: Floats, mass: Floats, least: float, greatest: float
) -> tuple[float, float]:
    """Range from the smallest to the largest value, without tails that are long."""
    level = np.cumsum(mass) / mass.sum()
    low = user[int(np.searchsorted(level, _TAIL))]
    high = user[min(int(np.searchsorted(level, 1 - _TAIL)), len(user) - 1)]
    width = high - low
    # a tail as long as half the bulk would squeeze it
    if low - least <= 0.5 * width:
        low = least
    if greatest - high <= 0.5 * width:
        high = greatest
    return float(low), float(high)


def _around(user: Floats) -> Floats:
    """Edges halfway between values."""
    if len(user) == 1:
        return np.array([user[0] - 0.5, user[0] + 0.5])
    middle = user[1:] / 2 + user[:-1] / 2
    with np.errstate(over="ignore"):
        ends = [2 * user[0] - middle[0], 2 * user[-1] - middle[-1]]
    return frozen(np.nan_to_num(np.concatenate([ends[:1], middle, ends[1:]])))


def _spread(
    encoder: TableEncoder, i: int, nodes: Floats, mass: Floats, edges: Floats
) -> Floats:
    """Rows in each bin; those between two knots are spread evenly over the cell."""
    feature = encoder.features[i]
    knots = feature.knots
    if encoder.scaling not in ("quantile", "minmax"):
        user = feature.to_user(nodes, encoder.scaling)
        return frozen(np.histogram(user, edges, weights=mass)[0])
    position = nodes * feature.n_cells
    on_knot = np.abs(position - np.round(position)) < 1e-9
    spikes = knots[np.round(position[on_knot]).astype(np.int64)]
    rows = frozen(np.histogram(spikes, edges, weights=mass[on_knot])[0])
    cell = np.minimum(position[~on_knot].astype(np.int64), feature.n_cells - 1)
    inside = _totals(cell, mass[~on_knot], range(feature.n_cells))
    below = np.concatenate([[0.0], np.cumsum(inside)])
    return rows + frozen(np.diff(np.interp(edges, knots, below)))


def _totals(
    place: NDArray[np.integer[Any]], mass: Floats, places: Sequence[Any]
) -> Floats:
    """Sum of the mass at each of the places."""
    totals = np.bincount(place, weights=mass, minlength=len(places))
    return totals.astype(np.float64)


def _rounded(rows: Floats) -> Floats:
    return np.round(rows, 6)


def to_dates(days: Floats) -> NDArray[np.datetime64]:
    """Days since 1970-01-01 as datetime64, to the second."""
    return np.round(days * 86_400).astype("datetime64[s]")
