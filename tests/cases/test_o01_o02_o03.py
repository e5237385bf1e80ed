"""Cases O01 to O03: gaps, levels that training never saw, columns that don't vary."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from spam_core import SPAMRegressor
from spam_core.data.encoding import UnknownLevelWarning
from tests.cases.common import (
    GLASS_BOXES,
    KINDS,
    TREES,
    check_fit,
    check_identity,
    classifier,
    contributions,
    kinds,
    kinds_of_missing,
    regressor,
    scores,
)


def gappy() -> tuple[pd.DataFrame, pd.Series]:
    """O01: 80 rows with four kinds of missing value."""
    rng = np.random.default_rng(1)
    num = rng.normal(size=80)
    X = pd.DataFrame(
        {
            "num": num,
            "cat": rng.choice(["r", "s", "t"], 80),
            "k": pd.array(rng.integers(0, 5, 80), dtype="Int64"),
            "flag": pd.array(rng.random(80) < 0.5, dtype="boolean"),
        }
    )
    X.loc[[3, 40], "num"] = np.nan
    X.loc[5, "cat"] = None
    X.loc[7, "k"] = pd.NA
    X.loc[9, "flag"] = pd.NA
    return X, pd.Series(num > 0)


@pytest.mark.parametrize("order", [2, 3])
@pytest.mark.parametrize("feature_map", ["spline", "linear"])
def test_o01_missing_values_fit_and_add_up(feature_map: str, order: int) -> None:
    X, y = gappy()
    before = X.copy()
    model = classifier("spam", feature_map=feature_map, order=order).fit(X, y)
    check_fit(model, X)
    pd.testing.assert_frame_equal(X, before)


@pytest.mark.parametrize("kind", KINDS)
def test_o01_every_model_fits_missing_values(kind: str) -> None:
    X, y = gappy()
    before = X.copy()
    check_fit(classifier(kind, max_epochs=10).fit(X, y), X)
    pd.testing.assert_frame_equal(X, before)


@pytest.mark.parametrize("kind", kinds(GLASS_BOXES))
def test_o01_missing_is_a_level_of_its_own(kind: str) -> None:
    X, y = gappy()
    model = classifier(kind, max_epochs=20).fit(X, y)
    for feature in model.encoder_.features:
        assert feature.level_names[-1] == "missing"
    overall = model.explain_global()
    for name in ("num", "k"):
        assert overall.curve(name).missing.keys() == {"missing"}
    for name in ("cat", "flag"):
        assert list(overall.curve(name).x)[-1] == "missing"
    curve = overall.curve("num")
    value = curve.missing["missing"][0]
    row = model.explain_local(X.iloc[[3]])
    assert row.values[0, row.terms.index(("num",))] == pytest.approx(value)
    # neither the mean's nor zero's contribution
    at_mean, at_zero = np.interp([np.nanmean(X["num"]), 0.0], curve.x, curve.y)
    assert abs(value - at_mean) > 1e-6
    assert abs(value - at_zero) > 1e-6
    ledger = row.ledger(0).set_index("term")
    assert ledger.loc["num", "value"] == "missing"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["num", "cat", "k", "flag"])
def test_o01_every_spelling_of_missing_predicts_the_same(kind: str, name: str) -> None:
    X, y = gappy()
    model = classifier(kind, max_epochs=5).fit(X, y)
    results = []
    for missing in kinds_of_missing():
        row = X.iloc[[0]].astype(object)
        row[name] = pd.Series([missing], index=row.index, dtype=object)
        results.append(scores(model, row))
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])
    if kind not in TREES:  # which may not look at a column for one gap
        assert results[0] != scores(model, X.iloc[[0]])


def unseen() -> tuple[pd.DataFrame, pd.Series, pd.DataFrame]:
    """O02: a declared category that doesn't occur, and one that is new."""
    rng = np.random.default_rng(2)
    a = pd.Categorical(rng.choice(["x", "y"], 50), categories=["x", "y", "z"])
    X = pd.DataFrame({"a": a, "b": rng.choice(["p", "q"], 50)})
    y = pd.Series((X["a"] == "x") ^ (X["b"] == "p") ^ (rng.random(50) < 0.1))
    test = X.iloc[:6].copy()
    test.loc[1, "a"] = "z"
    test.loc[4, "b"] = "w"
    return X, y, test


@pytest.mark.parametrize("kind", KINDS)
def test_o02_unseen_levels_warn_once_and_predict(kind: str) -> None:
    X, y, test = unseen()
    model = classifier(kind, max_epochs=20).fit(X, y)
    with pytest.warns(UnknownLevelWarning) as caught:
        probabilities = model.predict_proba(test)
    assert [str(w.message) for w in caught] == [
        "Levels that training never saw contribute 0: a: 'z' (1 rows); b: 'w' (1 rows)"
    ]
    assert caught[0].filename == __file__
    np.testing.assert_allclose(probabilities.sum(1), 1)
    known = [0, 2, 3, 5]
    expected = model.predict_proba(X.iloc[known])
    np.testing.assert_allclose(probabilities[known], expected, rtol=1e-12)
    all_unknown = test.assign(a="z", b=pd.Series(["w"] * 5 + ["v"]))
    with pytest.warns(UnknownLevelWarning, match=r"a: 'z' \(6 rows\); b: 'w', 'v'"):
        model.predict(all_unknown)


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("spam", {"order": 3}),
        ("spam", {"feature_map": "linear"}),
        ("spam", {"feature_map": "linear", "order": 3}),
        *(pytest.param(*p.values, {}, marks=p.marks) for p in kinds(GLASS_BOXES)),
    ],
)
@pytest.mark.filterwarnings("ignore::spam_core.data.encoding.UnknownLevelWarning")
def test_o02_an_unseen_level_contributes_exactly_nothing(
    kind: str, settings: dict[str, Any]
) -> None:
    X, y, test = unseen()
    X["c"], test["c"] = np.arange(50.0), np.arange(6.0)
    model = classifier(kind, max_epochs=20, **settings).fit(X, y)
    check_identity(model, test)
    for view in ("pure", "raw", "shapley"):
        for row, column in ((1, "a"), (4, "b")):
            assert (contributions(model, test, column, view)[row] == 0).all()
            others = contributions(model, test, "c", view)[row]
            assert kind in TREES or (others != 0).any()
    assert model.explain_global().curve("a").unseen == 0


def dull() -> tuple[pd.DataFrame, pd.Series]:
    """O03: constant, all-missing and nearly constant columns."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"x": rng.normal(size=60), "c": 7.0, "s": "same", "n": np.nan})
    X["m"] = 0.5
    X.loc[11, "m"] = np.nan
    return X, 3 * X["x"] + 1


TOLD = (
    r"^These columns are constant or all missing, so they can't contribute: "
    r"\['c', 's', 'n'\]$"
)


@pytest.mark.parametrize("kind", KINDS)
def test_o03_constant_columns_warn_once_and_never_matter(kind: str) -> None:
    X, y = dull()
    model = regressor(kind, max_epochs=20)
    with pytest.warns(UserWarning, match=TOLD) as caught:
        model.fit(X, y)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    check_fit(model, X)
    expected = model.predict(X)
    changed = X.assign(c=9.0, s="other", n=1.0)
    np.testing.assert_array_equal(model.predict(changed), expected)
    other = model.predict(X.assign(m=3.0).iloc[:5])  # m didn't vary but for a gap
    np.testing.assert_allclose(other, expected[:5], rtol=1e-12)


@pytest.mark.filterwarnings("ignore:These columns are constant:UserWarning")
@pytest.mark.parametrize("kind", kinds(GLASS_BOXES))
def test_o03_their_terms_are_exactly_zero(kind: str) -> None:
    X, y = dull()
    model = regressor(kind, max_epochs=5).fit(X, y)
    check_identity(model, X)
    for name in ("c", "s", "n"):
        for view in ("pure", "raw", "shapley"):
            assert (contributions(model, X, name, view) == 0).all()
        overall = model.explain_global()
        own = [k for k, term in enumerate(overall.terms) if name in term]
        if isinstance(model, SPAMRegressor) and model.order == 2:
            assert len(own) == 5  # listed still: alone and in four pairs
        assert (overall.importance[own] == 0).all()
        assert (overall.sd[own] == 0).all()
        curve = overall.curve(name)
        assert len(curve.x) == 0 or (np.asarray(curve.y) == 0).all()


@pytest.mark.filterwarnings("ignore:These columns are constant:UserWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_o03_a_table_of_nothing_but_constants_predicts_the_mean(kind: str) -> None:
    X = pd.DataFrame({"c": [7.0] * 40, "s": ["same"] * 40})
    y = np.repeat([1.0, 2.0, 3.0, 6.0], 10)
    model = regressor(kind).fit(X, y)
    np.testing.assert_allclose(model.predict(X), 3, atol=0.1)
    check_identity(model, X)
    labels = np.repeat(["a", "b", "a", "a"], 10)
    shares = classifier(kind).fit(X, labels).predict_proba(X)
    np.testing.assert_allclose(shares, [[0.75, 0.25]] * 40, atol=0.05)


@pytest.mark.parametrize("kind", KINDS)
def test_o03_a_column_that_is_constant_but_for_a_gap_varies(kind: str) -> None:
    X, y = dull()
    X = X[["x", "m"]]
    model = regressor(kind, max_epochs=20).fit(X, y)  # no warning
    assert model.encoder_.features[1].level_names == ("missing",)
    with_gap = model.predict(X.iloc[[11]])
    if kind not in TREES:  # which may not look at a column for one gap
        assert with_gap != model.predict(X.iloc[[11]].assign(m=0.5))
