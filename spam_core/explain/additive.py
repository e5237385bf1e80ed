"""Exact explanations of additive models made of tables, locally and overall.

What `spam_core.explain.glassbox` is to a SPAM: the same value objects come out.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spam_core.data.encoding import Encoded, TableEncoder
from spam_core.explain.additive_shapes import TableShapes
from spam_core.explain.additive_terms import (
    Reference,
    contributions,
    shapley,
    summarise,
    term_sd,
    terms_of,
)
from spam_core.explain.explanation import GlobalExplanation, LocalExplanation
from spam_core.explain.frozen import REST, Floats, plain
from spam_core.explain.glassbox import (
    MOST_INDICES,
    LocalView,
    cancelling_terms,
    check_request,
    one_output,
    scale_name,
)
from spam_core.explain.record import TrainingRecord
from spam_core.explain.summary import MOST_TERMS, TermSummary
from spam_core.explain.support import JointSupport
from spam_core.explain.terms import VIEWS, View
from spam_core.models.tables import AdditiveTables


def record_training(
    model: AdditiveTables, rows: Encoded, weight: Floats | None = None
) -> TrainingRecord:
    """Look at the training rows once, after the fit.

    Parameters
    ----------
    model : AdditiveTables
    rows : Encoded
        Training rows.
    weight : ndarray of shape (n,), optional
    """
    summaries: dict[str, TermSummary] = {
        view: summarise(_in_view(model, view), rows, weight) for view in VIEWS
    }
    support = JointSupport.of(rows, model.bins.n_levels, sorted(model.pairs))
    return TrainingRecord(len(rows), summaries, support)


def explain_local(
    model: AdditiveTables,
    encoder: TableEncoder,
    X: Any,
    *,
    rows: Encoded | None = None,
    classes: Sequence[Any] | None = None,
    target: str = "prediction",
    view: LocalView = "pure",
    top: int | None = None,
    background: Encoded | None = None,
    method: str = "EBM",
) -> LocalExplanation:
    """Split the scores of some rows into terms, exactly.

    Parameters
    ----------
    model : AdditiveTables
    encoder : TableEncoder
        That it was fitted with.
    X : table of n rows
        In user units.
    rows : Encoded, optional
        `X` encoded, if that is at hand.
    classes : sequence, optional
        Class labels; None for a regression.
    target : str
        Name of a regression's target.
    view : {"pure", "raw", "shapley"}
        Pure: functional ANOVA under the product of the training marginals, see
        `AdditiveTables.pure`. Raw: the tables as they were trained. Shapley: one value
        a column, with pair indices unless these are more than 25 million numbers.
    top : int, optional
        How many terms to list: those of largest training sd. None: all up to 5,000.
    background : Encoded, optional
        For Shapley values, rows that absent features are taken from, together. None:
        each from its training marginal.
    method : str
        Name of the model's kind.

    Returns
    -------
    LocalExplanation
        A last term ``("…",)`` holds what isn't listed.

    Raises
    ------
    ValueError
        If the view is unknown, `top` isn't a positive integer, or there is a background
        for another view.
    """
    started = time.perf_counter()
    check_request(view, top, background)
    frame = encoder.align(X)
    names, n_left_out, indices = encoder.feature_names, 0, None
    terms = terms_of(model)
    if view == "shapley":
        rows = encoder.transform(X) if rows is None else rows
        unknown, score = rows.unknown.numpy(), model.score(rows).numpy()
        terms = terms[: len(names)]
        reference = (
            Reference.of_marginals(model)
            if background is None
            else Reference.of_rows(model, background)
        )
        wanted = len(rows) * len(names) ** 2 * model.n_outputs <= MOST_INDICES
        base, values, indices = shapley(model, rows, reference, wanted)
    else:
        seen = _in_view(model, view)
        listed, hidden = np.arange(len(terms)), np.empty(0, dtype=np.int64)
        most = MOST_TERMS if top is None else int(top)
        if most < len(terms):
            order = np.argsort(-(term_sd(seen) ** 2).sum(axis=1), kind="stable")
            listed, hidden = np.sort(order[:most]), order[most:]
            terms, n_left_out = tuple(terms[k] for k in listed), len(hidden)
        parts = [
            (*_listed(seen, block, listed, hidden), block.unknown, model.score(block))
            for block in (encoder.blocks(X) if rows is None else [rows])
        ]
        base, values, unknown, score = map(np.concatenate, zip(*parts, strict=True))
    named = [tuple(names[i] for i in term) for term in terms]
    return LocalExplanation(
        values=one_output(values),
        base=one_output(base),
        score=one_output(score),
        terms=(*named, *([REST] if n_left_out else [])),
        data=frame,  # type: ignore[arg-type]  # the constructor makes it callable
        classes=None if classes is None else tuple(plain(c) for c in classes),
        scale=scale_name(classes, target),
        view=view,
        seconds=time.perf_counter() - started,
        n_evaluations=len(frame) + (0 if background is None else len(background)),
        background_size=None if background is None else len(background),
        interactions=None if indices is None else one_output(indices),
        method=method,
        n_left_out=n_left_out,
        unknown=unknown if unknown.any() else None,
    )


def _listed(
    model: AdditiveTables,
    rows: Encoded,
    listed: NDArray[np.int64],
    hidden: NDArray[np.int64],
) -> tuple[Floats, Floats]:
    """Return the base and the listed terms; the hidden ones make a last one."""
    base, values = contributions(model, rows)
    if len(hidden):
        rest = values[:, hidden].sum(axis=1, keepdims=True)
        values = np.concatenate([values[:, listed], rest], axis=1)
    return base, values


def explain_global(
    model: AdditiveTables,
    encoder: TableEncoder,
    record: TrainingRecord,
    *,
    classes: Sequence[Any] | None = None,
    target: str = "prediction",
    view: View = "pure",
    method: str = "EBM",
) -> GlobalExplanation:
    """Return the sizes and shapes of a model's terms.

    Parameters
    ----------
    model, encoder, classes, target, method : see `explain_local`
    record : TrainingRecord
        Sizes over the training rows.
    view : {"pure", "raw"}

    Raises
    ------
    ValueError
        If the view is unknown.
    """
    if view not in VIEWS:
        raise ValueError(f"view must be one of {list(VIEWS)}, got {view!r}")
    seen, summary, names = (
        _in_view(model, view),
        record.summaries[view],
        encoder.feature_names,
    )
    return GlobalExplanation(
        terms=tuple(tuple(names[i] for i in term) for term in summary.terms),
        importance=one_output(summary.importance),
        sd=one_output(summary.sd),
        base=one_output(seen.mean.intercept[0]),
        mean_score=one_output(summary.score_mean),
        feature_names=names,
        feature_kinds=tuple(feature.kind for feature in encoder.features),
        source=TableShapes(seen, encoder, record.n_rows, record.support),
        classes=None if classes is None else tuple(plain(c) for c in classes),
        scale=scale_name(classes, target),
        view=view,
        cancelling=cancelling_terms(summary, names, classes),
        method=method,
    )


def _in_view(model: AdditiveTables, view: str) -> AdditiveTables:
    return model.pure if view == "pure" else model
