"""Odd frames: whatever the columns hold, terms add up and gaps follow one rule."""

from __future__ import annotations

import os
import string
import warnings
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spam_core.data.encoding import NUMBER, TableEncoder
from tests.cases.common import check_identity, kinds, make, scores

FRAMES = int(os.environ.get("SPAM_ODD_FRAMES", "25"))

NUMBERS = st.one_of(
    st.floats(-1e3, 1e3),
    st.integers(-3, 3).map(float),
    st.floats(allow_nan=False, allow_infinity=False),
    st.none(),
)
COLUMNS: dict[str, st.SearchStrategy[Any]] = {
    "numbers": NUMBERS,
    "spikes": st.sampled_from([0.0, 0.0, 0.0, -9.0, 1e8]),
    "Int64": st.one_of(st.integers(-5, 5), st.none()),
    "texts": st.one_of(st.text("ab ", max_size=2), st.none()),
    "category": st.one_of(st.sampled_from(["low", "mid", "high"]), st.none()),
    "boolean": st.one_of(st.booleans(), st.none()),
    "dates": st.one_of(
        st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)), st.none()
    ),
    "constant": st.just(7.0),
    "missing": st.none(),
    "objects": st.one_of(st.integers(0, 3), st.text(string.ascii_letters, max_size=2)),
}
DTYPES = {"Int64": "Int64", "boolean": "boolean", "numbers": "float64"}


@st.composite
def frames(draw: st.DrawFn) -> pd.DataFrame:
    """Draw a frame of 2 to 30 rows and up to five columns of any kind."""
    n = draw(st.integers(2, 30))
    kinds = draw(st.lists(st.sampled_from(list(COLUMNS)), min_size=1, max_size=5))
    series = {}
    for i, kind in enumerate(kinds):
        cells = draw(st.lists(COLUMNS[kind], min_size=n, max_size=n))
        if kind == "category":
            levels = ["low", "mid", "high", "never"]
            column = pd.Series(pd.Categorical(cells, levels, ordered=True))
        else:
            column = pd.Series(cells, dtype=DTYPES.get(kind, "object"))
        series[f"{kind} {i}"] = column if kind != "dates" else pd.to_datetime(column)
    return pd.DataFrame(series)


ODD = settings(
    max_examples=FRAMES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@ODD
@given(frames())
@pytest.mark.filterwarnings("ignore:These columns are constant:UserWarning")
def test_any_frame_encodes(frame: pd.DataFrame) -> None:
    before = frame.copy()
    encoder = TableEncoder(4)
    train = encoder.fit_transform(frame)
    rows = encoder.transform(frame)
    pd.testing.assert_frame_equal(frame, before)
    assert torch.equal(rows.values, train.values)
    assert torch.equal(rows.codes, train.codes)
    assert not rows.unknown.any()
    assert ((rows.values >= 0) & (rows.values <= 1)).all()
    weights, nodes = encoder.marginals.weights, encoder.marginals.nodes
    torch.testing.assert_close(weights.sum(0), torch.ones_like(weights.sum(0)))
    for i, feature in enumerate(encoder.features):
        codes = rows.codes[:, i]
        assert ((codes >= NUMBER) & (codes < len(feature.levels))).all()
        number = codes == NUMBER
        mean = (weights[:, i] * nodes.values[:, i])[nodes.codes[:, i] == NUMBER].sum()
        expected = rows.values[number, i].sum() / len(frame)
        torch.testing.assert_close(mean, expected, rtol=1e-9, atol=1e-12)
    as_objects = encoder.transform(frame.astype(object))
    assert torch.equal(as_objects.codes, rows.codes)
    torch.testing.assert_close(as_objects.values, rows.values)
    order = np.arange(len(frame))[::-1]
    turned = encoder.transform(frame.iloc[order, ::-1])
    assert torch.equal(turned.codes, rows.codes[order.copy()])


FAMILIES: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "spam": [("spam", {"n_knots": 4}), ("spam", {"order": 3, "n_knots": 4})],
    "spam-linear": [("spam-linear", {}), ("spam-linear", {"order": 3})],
    "networks": [("spam-neural", {}), ("nbm-spam", {})],
    "linear": [("linear", {}), ("linear-2", {})],
    "nam": [("nam", {}), ("nam-2", {})],
    "dnn": [("dnn", {})],
    "ebm": [("ebm", {"max_rounds": 3}), ("ebm-2", {"max_rounds": 3})],
    "trees": [("xgboost", {"n_estimators": 20}), ("cart", {})],
}


@ODD
@given(frame=frames())
@pytest.mark.parametrize(
    "family", kinds(FAMILIES, ("spam", "spam-linear", "linear", "ebm", "trees"))
)
def test_any_frame_fits_and_adds_up(family: str, frame: pd.DataFrame) -> None:
    n = len(frame)
    y = np.arange(n) % 2 + 0.1 * np.arange(n)
    labels = np.arange(n) % (3 if n >= 3 else 2)
    for name, given_settings in FAMILIES[family]:
        for task, wanted in (("regression", y), ("multiclass", labels)):
            model = make(name, task, max_epochs=1, **given_settings)
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="These columns are constant")
                warnings.filterwarnings("ignore", message=".*too few to hold out")
                warnings.filterwarnings("ignore", message="These classes have a single")
                model.fit(frame, wanted)
            check_identity(model, frame, rtol=1e-6)
            if not hasattr(model, "explain_global"):
                assert np.isfinite(scores(model, frame)).all()
                continue
            overall = model.explain_global()
            for column in frame.columns:
                assert np.isfinite(overall.curve(column).y).all()
            for pair in [term for term in overall.terms if len(term) == 2][:3]:
                assert np.isfinite(overall.surface(*pair).z).all()
