"""From interpret's model to tables that do without it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from spam_core.data.encoding import Encoded, Feature
from spam_core.estimators.trees import Floats, positions_of
from spam_core.models.tables import AdditiveTables, Bins, Places, locate


def tables_of(
    ebm: Any,
    features: Sequence[Feature],
    rows: Encoded,
    weight: Floats,
    offset: float = 0.0,
    factor: float = 1.0,
) -> AdditiveTables:
    """Turn interpret's model into tables over the encoder's numbers and levels.

    A level (a category, a special code, missing) gets what the model says where it
    lies. Values of several classes are centred over these.

    Parameters
    ----------
    ebm : ExplainableBoostingRegressor or ExplainableBoostingClassifier
        Fitted to ``matrix_of(features, rows)``.
    features : sequence of Feature
    rows : Encoded
        Training rows.
    weight : ndarray of shape (n,)
    offset, factor : float
        Undo the target's standardisation.
    """
    column = {i: c for c, i in enumerate(positions_of(features))}
    feature_of = {c: i for i, c in column.items()}
    nothing = np.empty(0)
    cuts, pair_cuts = [nothing] * len(features), [nothing] * len(features)
    for i, c in column.items():
        if features[i].kind == "numeric":
            own, few = ebm.bins_[c][0], ebm.bins_[c][-1]
            cuts[i], pair_cuts[i] = np.union1d(own, few), few
    n_levels = tuple(len(feature.levels) for feature in features)
    places = locate(rows, tuple(cuts), n_levels)
    weights = []
    for i, (edges, levels) in enumerate(zip(cuts, n_levels, strict=True)):
        mass = np.bincount(places[:, i], weight, len(edges) + 1 + levels)
        weights.append(mass / mass.sum())
    bins = Bins(tuple(cuts), tuple(pair_cuts), n_levels, tuple(weights))
    intercept = np.asarray(ebm.bagged_intercept_, dtype=np.float64)
    members = len(intercept)
    intercept = intercept.reshape(members, -1)
    n_outputs = intercept.shape[1]
    singles = [np.zeros((members, len(mass), n_outputs)) for mass in weights]
    pairs = {}
    for term, scores in zip(ebm.term_features_, ebm.bagged_scores_, strict=True):
        if not column:
            continue  # all that it saw was a column of zeros
        scores = np.asarray(scores).reshape(*scores.shape[: len(term) + 1], n_outputs)
        if len(term) == 1:
            i = feature_of[term[0]]
            singles[i] = scores[:, _bins_of(ebm, term[0], features[i], cuts[i], 0)]
            continue
        if term[0] > term[1]:
            term, scores = (term[1], term[0]), scores.swapaxes(1, 2)
        i, j = (feature_of[c] for c in term)
        first, second = (
            _bins_of(ebm, c, features[k], pair_cuts[k], -1)
            for c, k in zip(term, (i, j), strict=True)
        )
        pairs[i, j] = scores[:, first[:, None], second]
    tables = [intercept, *singles, *pairs.values()]
    if n_outputs > 1:
        tables = [table - table.mean(axis=-1, keepdims=True) for table in tables]
    # in one layout, whatever it was cut from, so that sums are equal bit for bit
    intercept, *rest = (np.ascontiguousarray(factor * table) for table in tables)
    return AdditiveTables(
        bins,
        intercept + offset,
        tuple(rest[: len(features)]),
        dict(zip(pairs, rest[len(features) :], strict=True)),
        ebm.bag_weights_ / ebm.bag_weights_.sum(),
    )


def _bins_of(ebm: Any, c: int, feature: Feature, cuts: Floats, level: int) -> Places:
    """Return interpret's bin of each of our bins: of numbers, then of levels.

    Its bin 0 is for missing values; those of numbers or categories start at 1.
    """
    theirs = ebm.bins_[c][level]
    if feature.kind != "numeric":
        codes = [
            0 if name is None else theirs[str(k)]
            for k, name in enumerate(feature.levels)
        ]
        return np.array([0, *codes])  # first the numbers, of which there are none
    numbers = 1 + np.append(0, np.searchsorted(theirs, cuts, side="right"))
    levels = [
        0 if value is None else 1 + np.searchsorted(theirs, value, side="right")
        for value in feature.levels
    ]
    return np.concatenate([numbers, levels]).astype(np.int64)
