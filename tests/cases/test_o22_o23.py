"""Cases O22 (identifiers) and O23: weights, imbalance, rows that go by position."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from spam_core.data.encoding import UnknownLevelWarning
from tests.cases.common import KINDS, NETWORKS, TREES, check_identity, make, scores

N = 120


def table() -> pd.DataFrame:
    rng = np.random.default_rng(30)
    X = pd.DataFrame(rng.uniform(-1, 1, (N, 2)), columns=["a", "b"])
    X["city"] = rng.choice(["Bonn", "Köln", "Ulm"], N)
    X.loc[[2, 3], "a"] = np.nan
    return X


def target(task: str) -> Any:
    X = table()
    score = X["a"].fillna(0) + 2 * X["b"] * (X["city"] == "Ulm")
    if task == "regression":
        return score.to_numpy()
    cuts = [0.1] if task == "binary" else [-0.3, 0.4]
    return np.array(["low", "mid", "top"])[np.digitize(score, cuts)]


@pytest.mark.parametrize("kind", KINDS)
def test_o22_an_identifier_is_noticed_and_left_out(kind: str) -> None:
    X, y = table(), target("regression")
    ids = X.assign(customer_id=[f"C-{7 * i:05d}" for i in range(N)])
    model = make(kind, "regression", max_epochs=5)
    message = (
        r"^These columns look like identifiers, having a different text in most rows, "
        rf"so they are left out: 'customer_id' \({N} texts in {N} rows\)$"
    )
    with pytest.warns(UserWarning, match=message) as caught:
        model.fit(ids, y)
    assert len(caught) == 1
    assert model.encoder_.features[3].kind == "constant"
    known = model.predict(ids)
    np.testing.assert_array_equal(model.predict(ids.assign(customer_id="new")), known)
    check_identity(model, ids)


TIPPED = {("ebm-2", "regression"), ("cart", "regression")}
"""Where rounded weights decide between splits that are equally good."""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("task", ["regression", "binary", "multiclass"])
def test_o23_weights_of_one_are_no_weights(kind: str, task: str) -> None:
    X, y = table(), target(task)

    def fitted(weight: Any) -> np.ndarray:
        model = make(kind, task, max_epochs=6)
        return scores(model.fit(X, y, sample_weight=weight), X)

    plain = fitted(None)
    for ones in (np.ones(N), 1.0, [1] * N):
        np.testing.assert_array_equal(fitted(ones), plain)
    weight = np.random.default_rng(0).uniform(0.2, 3, N)
    one = fitted(weight)
    assert not np.allclose(one, plain, atol=1e-3)
    # weights are brought to a mean of 1, where a power of two doesn't round
    np.testing.assert_array_equal(fitted(1024.0 * weight), one)
    if (kind, task) in TIPPED:
        return
    for factor in (1000.0, 1e-3):
        np.testing.assert_allclose(fitted(np.full(N, factor)), plain, atol=1e-4)
        np.testing.assert_allclose(fitted(factor * weight), one, atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_o23_rows_of_weight_zero_are_dropped(kind: str) -> None:
    X, y = table(), target("binary")
    weight = np.ones(N)
    weight[90:] = 0
    X.loc[100, "a"] = 1e6  # would move the knots
    y[110] = "new"  # would be a class
    weighted = make(kind, "binary", max_epochs=4).fit(X, y, sample_weight=weight)
    dropped = make(kind, "binary", max_epochs=4).fit(X[:90], y[:90])
    np.testing.assert_array_equal(scores(weighted, X), scores(dropped, X))
    assert weighted.classes_.tolist() == ["low", "mid"]


@pytest.mark.parametrize("kind", KINDS)
def test_o23_balanced_weights_raise_the_recall_of_a_rare_class(kind: str) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(1000, 2)))
    y = np.zeros(1000, dtype=int)
    y[rng.choice(np.flatnonzero(X[0] > 0.8), 10, replace=False)] = 1
    recalls = []
    for weight in (None, np.where(y == 1, 99.0, 1.0)):
        model = make(kind, "binary").set_params(**FOR_RARE.get(kind, {}))
        model.fit(X, y, sample_weight=weight)
        recalls.append((model.predict(X)[y == 1] == 1).mean())
    assert recalls[0] < 0.5 < recalls[1]


FOR_RARE: dict[str, dict[str, Any]] = {
    "cart": {"min_samples_leaf": 10},  # of one row each every tree is right at once
    # eight units don't find a thousandth of the rows
    **{name: {"hidden_units": (32, 16)} for name in NETWORKS},
}

WEIGHTS: list[tuple[Any, str]] = [
    (
        np.ones(N - 1),
        rf"^Expected one sample weight for each of {N} rows, got {N - 1}\.$",
    ),
    (
        np.r_[-1.0, np.ones(N - 1)],
        rf"^Sample weights must be finite and >= 0; 1 of {N} are negative\.$",
    ),
    (np.zeros(N), r"^Expected positive sample weights, got zero for every row\.$"),
    (
        np.r_[np.nan, np.inf, np.ones(N - 2)],
        rf"^Sample weights must be finite and >= 0; 2 of {N} are missing or infinite",
    ),
    (np.ones((N, 2)), "^Sample weights must be 1D array or scalar, got an array of "),
    (["heavy"] * N, "^Expected numbers as sample weights: could not convert string"),
    (
        (target("binary") == "low").astype(float),
        r"^A classifier needs at least 2 classes with positive weight, got only one "
        r"class: 'low'$",
    ),
]


@pytest.mark.parametrize(("weight", "message"), WEIGHTS, ids=range(len(WEIGHTS)))
@pytest.mark.parametrize("kind", KINDS)
def test_o23_weights_that_make_no_sense(kind: str, weight: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(kind, "binary").fit(table(), target("binary"), sample_weight=weight)


@pytest.mark.parametrize("kind", KINDS)
def test_o23_rows_go_by_position_whatever_the_index_says(kind: str) -> None:
    X, y = table(), pd.Series(target("binary"), name="band")
    rng = np.random.default_rng(1)
    weight = pd.Series(rng.uniform(0.5, 2, N))
    weight[7] = 0.0
    groups = pd.Series(rng.integers(0, 12, N))

    def fitted(X: Any, *others: Any) -> Any:
        y, weight, groups = others
        return make(kind, "binary", max_epochs=4).fit(X, y, weight, groups)

    expected = scores(fitted(X, *map(np.asarray, (y, weight, groups))), X)
    indexes = [
        pd.Index([f"row {i}" for i in rng.permutation(N)]),
        pd.Index(rng.integers(0, 3, N)),  # most of them many times
        pd.date_range("2026-01-01", periods=N)[::-1],
        pd.MultiIndex.from_arrays([np.arange(N) % 2, np.arange(N)]),
    ]
    for k, index in enumerate(indexes):
        table_ = X.set_axis(index)
        others = [
            part.set_axis(indexes[(k + j) % 4])
            for j, part in enumerate((y, weight, groups), start=1)
        ]
        model = fitted(table_, *others)
        np.testing.assert_array_equal(scores(model, table_), expected)
        with pytest.warns(UnknownLevelWarning, match=r"city: 'Rom' \(2 rows\)"):
            model.predict(table_.assign(city=["Rom", "Rom", *X["city"][2:]]))
        if hasattr(model, "explain_local"):
            found = model.explain_local(table_)
            plain = model.explain_local(X)
            np.testing.assert_array_equal(found.values, plain.values)
            pd.testing.assert_frame_equal(found.ledger(5), plain.ledger(5))
    assert kind not in TREES or len(np.unique(expected)) > 1
