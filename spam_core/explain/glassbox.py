"""A fitted SPAM's own explanations: exact terms, locally and overall."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from spam_core.data.encoding import Encoded, TableEncoder
from spam_core.data.sparse import SparseEncoder, SparseRows
from spam_core.explain.background import Background
from spam_core.explain.explanation import GlobalExplanation, LocalExplanation
from spam_core.explain.frozen import REST, plain
from spam_core.explain.interventional import (
    MOST_PRODUCTS,
    count_products,
    table_backgrounds,
)
from spam_core.explain.model_shapes import ModelShapes
from spam_core.explain.of_model import Polynomial, algebra_of, double_scores
from spam_core.explain.overall import CancellingTerms
from spam_core.explain.record import TrainingRecord
from spam_core.explain.shapley import MarginalBackground
from spam_core.explain.summary import (
    MOST_TERMS,
    TermSummary,
    known_of,
    largest_terms,
    summarise,
)
from spam_core.explain.term_set import TermSet, count_terms
from spam_core.explain.terms import VIEWS, TermAlgebra, View

LocalView = Literal["pure", "raw", "shapley"]

DRAWS = "independent draws"
"""What importance is taken over if no training rows were looked at."""

MOST_INDICES = 25_000_000
"""More pair indices than this (200 MB) aren't worked out for a table of rows; see
`interventional.MOST_PRODUCTS` for a second limit against a background."""

_N_DRAWS = 2_000  # rows drawn where no training rows were looked at


def explain_local(
    model: Polynomial,
    encoder: TableEncoder | SparseEncoder,
    X: Any,
    *,
    rows: Encoded | None = None,
    classes: Sequence[Any] | None = None,
    target: str = "prediction",
    view: LocalView = "pure",
    top: int | None = None,
    record: TrainingRecord | None = None,
    background: Encoded | None = None,
) -> LocalExplanation:
    """Split the scores of some rows into terms, exactly.

    Parameters
    ----------
    model : SPAM
        Fitted.
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
        Pure: functional ANOVA under the product of the training marginals. Raw: the
        paper's, with absent features at 0. Shapley: one value a feature, and pair
        indices unless these are more than 25 million numbers or, against a background,
        take more than 20 billion multiplications (a second or two).
    top : int, optional
        How many terms to list: those of largest training sd. None: all up to 5,000.
    record : TrainingRecord, optional
        Spares ranking the terms again.
    background : Encoded, optional
        For Shapley values, rows that absent features are taken from, together. None:
        each from its training marginal, which makes a value the sum of the pure terms
        with that feature, each shared equally among its features.

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
    d = frame.shape[1]
    if rows is None and (view == "shapley" or isinstance(encoder, SparseEncoder)):
        encoded = encoder.transform(X)
        rows = encoded.dense() if isinstance(encoded, SparseRows) else encoded
    if view == "shapley":
        assert rows is not None, "encoded above"
        parts, unknown = _shapley(model, rows, background), rows.unknown.numpy()
        terms, n_left_out = TermSet.all(d, 1), 0
    else:
        blocks = [rows] if rows is not None else encoder.blocks(X)  # type: ignore[union-attr]
        algebra = algebra_of(model, view)
        terms = _listed(algebra, d, view, top, record)
        n_left_out = count_terms(d, algebra.degree) - len(terms)
        parts, unknown = _terms(
            model, algebra, blocks, len(frame), terms, bool(n_left_out)
        )
    base, values, score, interactions = (
        None if part is None else one_output(part) for part in parts
    )
    assert base is not None, "only interactions may be missing"
    assert values is not None, "only interactions may be missing"
    assert score is not None, "only interactions may be missing"
    names = encoder.feature_names
    listed = [tuple(names[i] for i in term) for term in terms.tuples()]
    return LocalExplanation(
        values=values,
        base=base,
        score=score,
        terms=(*listed, *([REST] if n_left_out else [])),
        data=frame,  # type: ignore[arg-type]  # the constructor makes it callable
        classes=None if classes is None else tuple(plain(c) for c in classes),
        scale=scale_name(classes, target),
        view=view,
        seconds=time.perf_counter() - started,
        n_evaluations=len(frame) + (0 if background is None else len(background)),
        background_size=None if background is None else len(background),
        interactions=interactions,
        n_left_out=n_left_out,
        unknown=unknown if unknown.any() else None,
    )


def check_request(view: str, top: object, background: Encoded | None) -> None:
    """Refuse what no explanation of rows can be.

    Raises
    ------
    ValueError
        If the view is unknown, `top` isn't a positive integer, or there is a background
        for another view.
    """
    if view not in (*VIEWS, "shapley"):
        raise ValueError(f"view must be one of {[*VIEWS, 'shapley']}, got {view!r}")
    if top is not None and (
        isinstance(top, bool) or not isinstance(top, int | np.integer) or top < 1
    ):
        raise ValueError(f"top must be a positive integer or None, got {top!r}")
    if background is not None and view != "shapley":
        raise ValueError(f'Only view="shapley" takes a background, not {view!r}')


def explain_global(
    model: Polynomial,
    encoder: TableEncoder,
    *,
    classes: Sequence[Any] | None = None,
    target: str = "prediction",
    view: View = "pure",
    record: TrainingRecord | None = None,
) -> GlobalExplanation:
    """Return the sizes and shapes of a model's terms.

    Parameters
    ----------
    model, encoder, classes, target : see `explain_local`
    view : {"pure", "raw"}
    record : TrainingRecord, optional
        Sizes over the training rows. Without it (for a model that was truncated, say)
        importance is taken over 2,000 seeded draws from the product of the marginals,
        and the explanation says so.

    Raises
    ------
    ValueError
        If the view is unknown.
    """
    algebra = algebra_of(model, view)
    d = len(encoder.features)
    if record is not None and view in record.summaries:
        summary = record.summaries[view]
        over = "training rows"
        if summary.n_rows < record.n_rows:
            over = f"{summary.n_rows:,} of {record.n_rows:,} training rows"
    else:
        summary, over = summarise([algebra], model, _draw(encoder))[0], DRAWS
    names = encoder.feature_names
    several = algebra.n_outputs > 1
    trained = over != DRAWS
    outside = {o.degree: algebra.outside_series(o) for o in algebra.orders}
    base = algebra.base(outside, 1)[0].numpy()
    return GlobalExplanation(
        terms=tuple(tuple(names[i] for i in term) for term in summary.terms),
        importance=summary.importance if several else summary.importance[:, 0],
        sd=summary.sd if several else summary.sd[:, 0],
        base=base if several else base[0],
        mean_score=_mean(summary, several) if trained else None,
        feature_names=names,
        feature_kinds=tuple(feature.kind for feature in encoder.features),
        source=ModelShapes(
            model,
            encoder,
            view,
            None if record is None else record.n_rows,
            None if record is None else record.support,
        ),
        classes=None if classes is None else tuple(plain(c) for c in classes),
        scale=scale_name(classes, target),
        view=view,
        importance_over=over,
        cancelling=cancelling_terms(summary, names, classes) if trained else (),
        n_left_out=count_terms(d, algebra.degree) - len(summary.terms),
    )


def _mean(summary: TermSummary, several: bool) -> NDArray[np.float64]:
    return summary.score_mean if several else summary.score_mean[0]


def cancelling_terms(
    summary: TermSummary, names: Sequence[str], classes: Sequence[Any] | None
) -> tuple[CancellingTerms, ...]:
    """Name the pairs of large terms that cancel over the training rows."""
    several = summary.sd.shape[1] > 1
    return tuple(
        CancellingTerms(
            tuple(names[i] for i in found.first),
            tuple(names[i] for i in found.second),
            found.correlation,
            plain(classes[found.output]) if several and classes is not None else None,
        )
        for found in summary.cancelling
    )


def scale_name(classes: Sequence[Any] | None, target: str) -> str:
    """Name what scores are.

    Examples
    --------
    >>> scale_name(["no", "yes"], ""), scale_name(None, "MedHouseVal")
    ('logit of yes', 'MedHouseVal')
    """
    if classes is None:
        return target
    return f"logit of {plain(classes[1])}" if len(classes) == 2 else "centred logit"


Parts = tuple[
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64] | None,
]
"""base (n, C), values (n, T, C), score (n, C) and pair indices (n, d, d, C)."""


def _terms(
    model: Polynomial,
    algebra: TermAlgebra,
    blocks: Iterable[Encoded],
    n: int,
    terms: TermSet,
    has_rest: bool,
) -> tuple[Parts, NDArray[np.bool_]]:
    """Terms of n rows that come block by block, and which cells are unknown."""
    n_outputs = algebra.n_outputs
    base, score = np.empty((n, n_outputs)), np.empty((n, n_outputs))
    values = np.empty((n, len(terms) + has_rest, n_outputs))
    unknown, start = [], 0
    for rows in blocks:
        unknown.append(rows.unknown.numpy())
        step = algebra.rows_per_block(rows.codes.shape[1])
        for first in range(0, len(rows), step):
            block = rows[first : first + step]
            here = slice(start, start + len(block))
            start = here.stop
            scores = double_scores(model, block)
            base_here, values_here = algebra.terms(scores, terms, known_of(block))
            score_here = algebra.score(scores)
            base[here], score[here] = base_here.numpy(), score_here.numpy()
            values[here, : len(terms)] = values_here.numpy()
            if has_rest:
                left_out = score_here - base_here - values_here.sum(1)
                values[here, -1] = left_out.numpy()
    return (base, values, score, None), np.concatenate(unknown)


def _shapley(model: Polynomial, rows: Encoded, table: Encoded | None) -> Parts:
    n, d = rows.codes.shape
    n_outputs = len(model.bias)
    base, values = np.empty((n, n_outputs)), np.empty((n, d, n_outputs))
    wanted = n * d * d * n_outputs <= MOST_INDICES
    backgrounds: Iterable[tuple[Tensor, Background]]
    if table is None:
        backgrounds = [(torch.arange(n), MarginalBackground(model, wanted))]
    else:
        wanted = wanted and count_products(model, rows, table) <= MOST_PRODUCTS
        backgrounds = table_backgrounds(model, rows, table, wanted)
    interactions = np.empty((n, d, d, n_outputs)) if wanted else None
    for chosen, background in backgrounds:
        for block in chosen.split(background.rows_per_block(d)):
            base_here, values_here, indices = background.share(rows[block])
            base[block], values[block] = base_here.numpy(), values_here.numpy()
            if interactions is not None and indices is not None:
                interactions[block] = indices.numpy()
    with torch.no_grad():
        score = model.score(rows).double().numpy()
    return base, values, score, interactions


def one_output(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Drop the axis of a single output, and make the array read-only."""
    # a view, so that what it is taken from stays as it is
    values = values[..., 0] if values.shape[-1] == 1 else values.view()
    values.flags.writeable = False
    return values


def _listed(
    algebra: TermAlgebra,
    n_features: int,
    view: View,
    top: int | None,
    record: TrainingRecord | None,
) -> TermSet:
    """Return the terms to list."""
    most = MOST_TERMS if top is None else int(top)
    if count_terms(n_features, algebra.degree) <= most:
        return TermSet.all(n_features, algebra.degree)
    summary: TermSummary | None = None
    if record is not None:
        summary = record.summaries.get(view)
    if summary is not None and most <= len(summary.terms):
        return summary.largest(most)
    return largest_terms(algebra, most)


def _draw(encoder: TableEncoder) -> Encoded:
    """Draw rows of independent features from the marginals' nodes, seeded."""
    nodes, weights = encoder.marginals.nodes, encoder.marginals.weights
    generator = torch.Generator().manual_seed(0)
    chosen = torch.multinomial(
        weights.T, _N_DRAWS, replacement=True, generator=generator
    ).T
    return Encoded(nodes.values.gather(0, chosen), nodes.codes.gather(0, chosen))
