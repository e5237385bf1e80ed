"""Explanations of sparse models, such as those of texts, as the same value objects."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from spam_core.data.sparse import SparseEncoder, SparseRows
from spam_core.explain.explanation import GlobalExplanation, LocalExplanation
from spam_core.explain.frozen import REST, Floats, plain
from spam_core.explain.glassbox import check_request, one_output, scale_name
from spam_core.explain.orders import VIEWS, View
from spam_core.explain.record import TrainingRecord
from spam_core.explain.shapes import Curve, Surface
from spam_core.explain.summary import MOST_TERMS
from spam_core.explain.term_set import Term, TermSet, count_terms
from spam_core.explain.word_terms import Moments, WordAlgebra
from spam_core.models.spam import SPAM

_PAIRS = 200_000  # looked at together
_CURVE_POINTS = 50
_SURFACE_POINTS = 20


def explain_words(
    model: SPAM,
    encoder: SparseEncoder,
    X: Any,
    moments: Moments,
    *,
    classes: Sequence[Any] | None = None,
    target: str = "prediction",
    view: View = "pure",
    top: int | None = None,
) -> LocalExplanation:
    """Split the scores of some rows of a sparse table into terms, exactly.

    Parameters
    ----------
    model : SPAM
        Fitted to a sparse table.
    encoder : SparseEncoder
        That it was fitted with.
    X : sparse table of n rows
        In user units. If it has `feature_names` and the model none, they are used.
    moments : Moments
        Of the training rows; see `column_moments`.
    classes, target
        See `glassbox.explain_local`.
    view : {"pure", "raw"}
        See `WordAlgebra`.
    top : int, optional
        How many terms to list; None: 5,000.

    Returns
    -------
    LocalExplanation
        Terms of one or two columns that aren't 0 in a row: the `top` that are largest
        in any row, by the root mean square over outputs. A last term ``("…",)`` holds
        the others: terms of three and more columns, and in the pure view those of the
        columns that are 0 in the row. `data` has the columns that terms name.

    Raises
    ------
    ValueError
        If the view is unknown or `top` isn't a positive integer.
    """
    started = time.perf_counter()
    check_request(view, top, None)
    top = MOST_TERMS if top is None else int(top)
    rows = encoder.transform(X)
    algebra = WordAlgebra(model, moments, view)
    words = [_words(algebra, rows, k) for k in range(len(rows))]
    listed = _listed(algebra, rows, words, top)
    features = torch.tensor(sorted({i for term in listed for i in term}))
    features = features.to(torch.int64)  # also if there are none
    terms = TermSet.of(listed, rows.n_features).among(features)
    values = algebra.terms(algebra.phi(rows, features), features, terms).numpy()
    score = model.score(rows).numpy()
    base = np.tile(algebra.base.numpy(), (len(rows), 1))
    used = torch.cat([*words, features]).unique()
    everything = len(used) if view == "raw" else len(algebra.features)
    n_left_out = count_terms(everything, algebra.degree) - len(terms)
    if n_left_out:
        rest = score - base - values.sum(1)
        values = np.concatenate([values, rest[:, None]], axis=1)
    names = _names(encoder, X)
    named = [tuple(names[int(features[i])] for i in term) for term in terms.tuples()]
    return LocalExplanation(
        values=one_output(values),
        base=one_output(base),
        score=one_output(score),
        terms=(*named, *([REST] if n_left_out else [])),
        data=_user_units(encoder, rows, features, names),  # type: ignore[arg-type]
        classes=None if classes is None else tuple(plain(c) for c in classes),
        scale=scale_name(classes, target),
        view=view,
        seconds=time.perf_counter() - started,
        n_evaluations=len(rows),
        n_left_out=n_left_out,
    )


def _words(algebra: WordAlgebra, rows: SparseRows, row: int) -> Tensor:
    """Columns with a weight that a row holds, increasing."""
    columns = rows.columns[rows.start[row] : rows.start[row + 1]]
    known: Tensor = columns[algebra.column_of[columns] >= 0].unique()
    return known


def _listed(
    algebra: WordAlgebra, rows: SparseRows, words: Sequence[Tensor], top: int
) -> list[Term]:
    """Find the terms that are largest in any row.

    A term among the `top` of all rows is among the `top` of some row.
    """
    size_of: dict[Term, float] = {}
    for row, features in enumerate(words):
        if not len(features):
            continue
        phi = algebra.phi(rows[row : row + 1], features)
        kept: list[tuple[Tensor, Tensor]] = []
        for terms in _blocks(len(features), min(algebra.degree, 2)):
            values = algebra.terms(phi, features, terms)[0]
            sizes = values.square().mean(1).sqrt()
            best = sizes.topk(min(top, len(sizes))).indices
            # pairs and words in one form: a word is a pair with itself
            ends = torch.cat([group[:, [0, -1]] for group in terms.groups])
            kept.append((features[ends[best]], sizes[best]))
        ends = torch.cat([found for found, _ in kept])
        sizes = torch.cat([size for _, size in kept])
        best = sizes.topk(min(top, len(sizes))).indices
        for (i, j), size in zip(ends[best].tolist(), sizes[best].tolist(), strict=True):
            term = (i,) if i == j else (i, j)
            size_of[term] = max(size, size_of.get(term, 0.0))
    return sorted(size_of, key=lambda term: (-size_of[term], term))[:top]


def _blocks(n_words: int, largest: int) -> Iterator[TermSet]:
    """All words, then all pairs, some at a time."""
    places = torch.arange(n_words)
    yield TermSet((places[:, None],))
    if largest < 2:
        return
    step = max(1, _PAIRS // n_words)
    for start in range(0, n_words, step):
        first = places[start : start + step, None].expand(-1, n_words)
        second = places.expand(len(first), -1)
        pairs = torch.stack([first, second], 2)[first < second]
        if len(pairs):
            yield TermSet((torch.empty(0, 1, dtype=torch.int64), pairs))


def _names(encoder: SparseEncoder, X: Any) -> tuple[str, ...]:
    """Names of the columns: the model's, or else those that the rows bring."""
    given = getattr(X, "feature_names", None)
    if given is not None and not encoder.named:
        return tuple(given)
    return encoder.feature_names


def _user_units(
    encoder: SparseEncoder, rows: SparseRows, features: Tensor, names: Sequence[str]
) -> pd.DataFrame:
    """Write out some columns of some rows."""
    cells = rows.take(features).numpy()
    columns = features.numpy()
    cells = encoder.to_user(cells, np.broadcast_to(columns, cells.shape))
    return pd.DataFrame(cells, columns=[names[i] for i in columns.tolist()])


def explain_global_words(
    model: SPAM,
    encoder: SparseEncoder,
    moments: Moments,
    *,
    classes: Sequence[Any] | None = None,
    target: str = "prediction",
    view: View = "pure",
    record: TrainingRecord | None = None,
) -> GlobalExplanation:
    """Return the sizes and shapes of a sparse model's largest terms.

    Parameters
    ----------
    model, encoder, moments, classes, target, view
        See `explain_words`.
    record : TrainingRecord, optional
        Sizes over the training rows, from `summarise_words`.

    Returns
    -------
    GlobalExplanation
        The 100 columns and, up to order 2, the 100 pairs of largest sd in each class.
        Sizes are exact. A class's pairs are sought among its 4,096 strongest columns,
        which is where the largest are unless a weaker one makes up for it; see
        `word_summary.largest_pairs`.

    Raises
    ------
    ValueError
        If the view is unknown, or the model was changed after training, so that nothing
        is known of its terms' sizes.
    """
    if view not in VIEWS:
        raise ValueError(f"view must be one of {list(VIEWS)}, got {view!r}")
    if record is None or view not in record.summaries:
        raise ValueError(
            "explain_global needs the sizes of terms over the training rows, which a "
            "sparse model has from its fit and loses when it is truncated; explain its "
            "rows by explain_local(X)."
        )
    summary = record.summaries[view]
    algebra = WordAlgebra(model, moments, view)
    names = encoder.feature_names
    return GlobalExplanation(
        terms=tuple(tuple(names[i] for i in term) for term in summary.terms),
        importance=one_output(summary.importance),
        sd=one_output(summary.sd),
        base=one_output(algebra.base.numpy()),
        mean_score=one_output(summary.score_mean),
        feature_names=names,
        feature_kinds=tuple(feature.kind for feature in encoder.features),
        source=WordShapes(algebra, encoder),
        classes=None if classes is None else tuple(plain(c) for c in classes),
        scale=scale_name(classes, target),
        view=view,
        n_left_out=count_terms(len(algebra.features), algebra.degree)
        - len(summary.terms),
    )


@dataclass(frozen=True, eq=False)
class WordShapes:
    """Works out the shapes of a sparse model's terms when they are asked for."""

    algebra: WordAlgebra
    encoder: SparseEncoder

    def curve(self, feature: int) -> Curve:
        """Shape of one column's own term, from 0 to its largest number in training."""
        name = self.encoder.features[feature].name
        if self.algebra.column_of[feature] < 0:
            empty = np.empty(0)
            shape = (0, self.algebra.n_outputs)
            return Curve(name, "numeric", empty, one_output(np.empty(shape)))
        scaled = self._grid(feature, _CURVE_POINTS)
        y = self._terms(scaled[:, None], [feature])
        return Curve(name, "numeric", self._user(scaled, feature), y)

    def surface(self, first: int, second: int) -> Surface:
        """Shape of a pair's term."""
        features = self.encoder.features
        names = (features[first].name, features[second].name)
        grids = [
            self._grid(k, _SURFACE_POINTS if self.algebra.column_of[k] >= 0 else 0)
            for k in (first, second)
        ]
        x, y = (
            self._user(grid, k) for grid, k in zip(grids, (first, second), strict=True)
        )
        if not (len(x) and len(y)) or self.algebra.degree < 2:
            z = np.zeros((len(x), len(y), self.algebra.n_outputs))
            return Surface(names, "numeric", "numeric", x, y, one_output(z))
        cells = np.stack(np.meshgrid(*grids, indexing="ij"), 2).reshape(-1, 2)
        if first > second:
            cells, first, second = cells[:, ::-1], second, first
        flat = self._terms(cells, [first, second])
        z = flat.reshape(len(x), len(y), *flat.shape[1:])
        return Surface(names, "numeric", "numeric", x, y, z)

    def _terms(self, cells: Floats, features: list[int]) -> Floats:
        """Evaluate the term of all of these columns at scaled numbers, (n, m)."""
        algebra, columns = self.algebra, torch.tensor(features)
        terms = TermSet.of([range(len(features))], len(features))
        phi = algebra.rescaled(torch.from_numpy(np.ascontiguousarray(cells)))
        return one_output(algebra.terms(phi, columns, terms)[:, 0].numpy())

    def _grid(self, feature: int, n_points: int) -> Floats:
        most = float(self.encoder.largest[feature])
        scaled = most / float(self.encoder.to_user(np.ones(1), np.array([feature]))[0])
        return np.linspace(0.0, scaled, n_points)

    def _user(self, scaled: Floats, feature: int) -> Floats:
        return self.encoder.to_user(scaled, np.full(len(scaled), feature))
