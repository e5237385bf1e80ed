"""What every explanation of rows must hold, whoever made it.

An explainer's own tests call `check_local` on what it returns; `test_contract` shows
that each check can fail.
"""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd

from spam_core.explain.explanation import LocalExplanation
from spam_core.explain.frozen import REST


def check_local(explanation: LocalExplanation, frame: pd.DataFrame) -> None:
    """Check an explanation of `frame`, whose columns are in training order."""
    for check in CHECKS:
        check(explanation, frame)


def check_shapes(e: LocalExplanation, frame: pd.DataFrame) -> None:
    n, d = frame.shape
    several = () if e.classes is None or len(e.classes) == 2 else (len(e.classes),)
    assert e.base.shape == (n, *several)
    assert e.score.shape == (n, *several)
    assert e.values.shape == (n, len(e.terms), *several)
    assert {e.values.dtype, e.base.dtype, e.score.dtype} == {np.dtype(np.float64)}
    if e.interactions is not None:
        assert e.interactions.shape == (n, d, d, *several)
    assert len(e) == n


def check_identity(e: LocalExplanation, frame: pd.DataFrame) -> None:
    gap = np.abs(e.base + e.values.sum(axis=1) - e.score)
    assert (gap <= 1e-4 * np.maximum(1.0, np.abs(e.score))).all(), gap.max()


def check_terms(e: LocalExplanation, frame: pd.DataFrame) -> None:
    names = list(frame.columns)
    assert list(e.feature_names) == names
    listed = [term for term in e.terms if term != REST]
    assert REST not in e.terms[:-1]
    assert len(set(listed)) == len(listed)
    for term in listed:
        positions = [names.index(name) for name in term]
        assert positions == sorted(set(positions))
    assert len(e.term_names) == len(e.terms)
    assert e.scale
    assert e.view


def check_data(e: LocalExplanation, frame: pd.DataFrame) -> None:
    assert e.data.shape == frame.shape
    pd.testing.assert_frame_equal(pd.DataFrame(e.data), frame)


def check_immutable(e: LocalExplanation, frame: pd.DataFrame) -> None:
    for array in (e.values, e.base, e.score, e.interactions, e.unknown, e.local_fit):
        assert array is None or not array.flags.writeable
    try:
        e.values = e.values  # type: ignore[misc]
    except AttributeError:  # dataclasses' FrozenInstanceError is one
        return
    raise AssertionError("attributes can be set")


def check_ledger(e: LocalExplanation, frame: pd.DataFrame) -> None:
    classes = [None] if e.classes is None else [None, *e.classes]
    for unit in ("term", "feature"):
        for E in (0, 2, 10**6):
            for class_ in classes:
                for row in (0, len(e) - 1):
                    _check_one_ledger(e, row, E, unit, class_)


def _check_one_ledger(e, row, E, unit, class_) -> None:
    ledger = e.ledger(row, E=E, unit=unit, class_=class_)
    assert list(ledger.columns) == ["kind", "term", "value", "contribution", "total"]
    assert ledger["term"].tolist()[-2:] == ["base", "score"]
    amounts = ledger["contribution"].to_numpy()
    score = amounts[-1]
    tolerance = 1e-4 * max(1.0, abs(score))
    assert abs(amounts[:-1].sum() - score) <= tolerance
    assert abs(ledger["total"].iloc[-2] - score) <= tolerance
    shown = ledger[ledger["kind"] == "term"]
    most = len(e.feature_names) if unit == "feature" else len(e.terms) - e.has_rest
    assert len(shown) == min(E, most)
    sizes = shown["contribution"].abs().to_numpy()
    assert (np.diff(sizes) <= 1e-12).all()
    if e.classes is None:
        wanted = e.score[row]
    elif e.score.ndim == 1:
        wanted = -e.score[row] if class_ == e.classes[0] else e.score[row]
    elif class_ is None:
        wanted = e.score[row].max()
    else:
        wanted = e.score[row, list(e.classes).index(class_)]
    assert abs(score - wanted) <= 1e-12 * max(1.0, abs(wanted))


def check_frame(e: LocalExplanation, frame: pd.DataFrame) -> None:
    table = e.to_frame()
    numbers = table.to_numpy()
    several = e.base.ndim == 2
    assert table.columns.tolist() == ["(base)", *e.term_names, "(score)"]
    if several:
        labels = list(dict.fromkeys(table.index.get_level_values("class")))
        assert labels == list(e.classes or ())
        n, C = e.base.shape
        numbers = numbers.reshape(n, C, -1).transpose(0, 2, 1)
        assert table.index.get_level_values(0)[::C].tolist() == frame.index.tolist()
    else:
        assert table.index.tolist() == frame.index.tolist()
    np.testing.assert_array_equal(numbers[:, 0], e.base)
    np.testing.assert_array_equal(numbers[:, 1:-1], e.values)
    np.testing.assert_array_equal(numbers[:, -1], e.score)


def check_shared(e: LocalExplanation, frame: pd.DataFrame) -> None:
    values, rest = e.share_by_feature()
    total = e.base + values.sum(axis=1) + rest
    gap = np.abs(total - e.score)
    assert (gap <= 1e-4 * np.maximum(1.0, np.abs(e.score))).all(), gap.max()
    if not e.has_rest:
        assert (rest == 0.0).all()


def check_interpret(e: LocalExplanation, frame: pd.DataFrame) -> None:
    """The layout that interpret.show reads, and its duck type."""
    assert e.explanation_type == "local"
    assert e.name
    assert len(e.selector) == len(e)
    one = e.data(0)
    assert one is not None
    assert one["type"] == "univariate"
    assert len(one["names"]) == len(one["scores"]) == len(one["values"])
    total = np.sum(one["scores"], axis=0) + np.array(one["extra"]["scores"][0])
    np.testing.assert_allclose(total, e.base[0] + e.values[0].sum(0), atol=1e-9)
    assert e.data(None) is None
    everything = e.data(-1)
    assert everything is not None
    assert len(everything["specific"]) == len(e)


def check_pickle(e: LocalExplanation, frame: pd.DataFrame) -> None:
    back = pickle.loads(pickle.dumps(e))
    np.testing.assert_array_equal(back.values, e.values)
    assert back.terms == e.terms
    assert back.data(0)["names"] == e.data(0)["names"]


CHECKS = (
    check_shapes,
    check_identity,
    check_terms,
    check_data,
    check_immutable,
    check_ledger,
    check_frame,
    check_shared,
    check_interpret,
    check_pickle,
)
