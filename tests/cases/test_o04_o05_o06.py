"""Cases O04 to O06: labels of columns, odd names, columns that moved or went."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from spam_core import load_model
from tests.cases.common import KINDS, check_fit, check_identity, regressor

RNG = np.random.default_rng(4)
THREE = RNG.normal(size=(40, 3))
Y = THREE[:, 0] - THREE[:, 1] * THREE[:, 2]


@pytest.mark.parametrize("kind", KINDS)
def test_o04_duplicate_labels_are_named(kind: str) -> None:
    X = pd.DataFrame(THREE, columns=["a", "a", "b"])
    message = r"^Column labels must be unique; these occur more than once: \['a'\]$"
    with pytest.raises(ValueError, match=message):
        regressor(kind).fit(X, Y)
    good = X.set_axis(["a", "b", "c"], axis=1)
    with pytest.raises(ValueError, match=message):
        regressor(kind, max_epochs=2).fit(good, Y).predict(X)


@pytest.mark.parametrize("kind", KINDS)
def test_o04_numbers_as_labels_are_shown_as_text(kind: str) -> None:
    X = pd.DataFrame(THREE)
    model = regressor(kind, max_epochs=3).fit(X, Y)
    assert model.feature_names_ == ("0", "1", "2")
    assert model.n_features_in_ == 3
    twin = regressor(kind, max_epochs=3).fit(THREE, Y)
    assert twin.feature_names_ == ("x0", "x1", "x2")
    assert not hasattr(twin, "feature_names_in_")
    for table in (X, THREE):
        np.testing.assert_array_equal(model.predict(table), twin.predict(X))
    if hasattr(model, "explain_local"):
        terms = model.explain_local(X.iloc[:2]).terms
        assert terms[:3] == (("0",), ("1",), ("2",))
        assert set(terms[3:]) <= {("0", "1"), ("0", "2"), ("1", "2")}
        assert twin.explain_global().curve("x2").name == "x2"


@pytest.mark.parametrize("kind", KINDS)
def test_o04_mixed_labels_are_refused_with_a_remedy(kind: str) -> None:
    X = pd.DataFrame(THREE, columns=["a", 1, "b"])
    message = (
        r"^Column labels must be all strings or all of one other type, got a mixture: "
        r"\[1\] beside strings\. Convert them with X\.columns = "
        r"X\.columns\.astype\(str\)\.$"
    )
    with pytest.raises(TypeError, match=message):
        regressor(kind).fit(X, Y)
    X.columns = X.columns.astype(str)
    assert regressor(kind, max_epochs=2).fit(X, Y).feature_names_ == ("a", "1", "b")


ODD_NAMES = [
    "income [EUR]",
    "age<30",
    "x>y",
    "cost $ per $ unit",
    "price_$_net",
    "a*b_c",
    "größe",
    "收入",
    "p.value",
    "<b>bold</b>",
    "{{x}}",
]


@pytest.mark.parametrize("kind", KINDS)
def test_o05_names_come_back_character_for_character(kind: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    X = pd.DataFrame(rng.normal(size=(60, len(ODD_NAMES))), columns=ODD_NAMES)
    model = regressor(kind, max_epochs=5).fit(X, X["größe"] * X["<b>bold</b>"])
    check_fit(model, X)
    model.save(tmp_path / "m.spam")
    for fitted in (model, load_model(tmp_path / "m.spam")):
        assert list(fitted.feature_names_) == ODD_NAMES
        assert fitted.feature_names_in_.tolist() == ODD_NAMES
    if hasattr(model, "explain_local"):
        explanation = model.explain_local(X)
        singles = [term[0] for term in explanation.terms if len(term) == 1]
        assert singles == ODD_NAMES
        if kind in ("spam", "nam-2"):
            assert ("größe", "<b>bold</b>") in explanation.terms
        assert [
            c for c in explanation.to_frame().columns if c in ODD_NAMES
        ] == ODD_NAMES
        shown = set(explanation.ledger(0, E=100)["term"])
        assert set(ODD_NAMES) <= shown
        overall = model.explain_global()
        for name in ODD_NAMES:
            assert overall.curve(name).name == name


def scaled_columns() -> tuple[pd.DataFrame, pd.Series]:
    """O06: three columns on very different scales."""
    rng = np.random.default_rng(6)
    X = pd.DataFrame(rng.normal(size=(80, 3)) * [1, 1e3, 1e6], columns=["a", "b", "c"])
    return X, X["a"] + X["b"] / 1e3 + X["c"] / 1e6


@pytest.fixture(scope="module", params=KINDS)
def aligned(request: pytest.FixtureRequest) -> tuple[Any, pd.DataFrame]:
    X, y = scaled_columns()
    return regressor(request.param, max_epochs=10).fit(X, y), X


def test_o06_reordered_columns_predict_the_same(
    aligned: tuple[Any, pd.DataFrame],
) -> None:
    model, X = aligned
    turned = X[["c", "b", "a"]]
    np.testing.assert_array_equal(model.predict(turned), model.predict(X))
    check_identity(model, turned)
    if hasattr(model, "explain_local"):
        ours, theirs = model.explain_local(X), model.explain_local(turned)
        assert ours.terms == theirs.terms  # training order
        np.testing.assert_array_equal(ours.values, theirs.values)
        pd.testing.assert_frame_equal(pd.DataFrame(theirs.data), X)


@pytest.mark.parametrize("change", ["missing", "renamed"])
def test_o06_missing_columns_are_named(
    aligned: tuple[Any, pd.DataFrame], change: str
) -> None:
    model, X = aligned
    bad = X.drop(columns="b") if change == "missing" else X.rename(columns={"b": "B"})
    got = "'a', 'c'" if change == "missing" else "'a', 'B', 'c'"
    message = (
        r"^Expected the columns used in training; 1 are missing: \['b'\]\. Got columns "
        rf"\[{got}\]\.$"
    )
    with pytest.raises(ValueError, match=message):
        model.predict(bad)
    if hasattr(model, "explain_local"):
        with pytest.raises(ValueError, match=message):
            model.explain_local(bad)


def test_o06_extra_columns_are_ignored(aligned: tuple[Any, pd.DataFrame]) -> None:
    model, X = aligned
    more = X.assign(zz="anything")[["zz", "c", "a", "b"]]
    np.testing.assert_array_equal(model.predict(more), model.predict(X))


def test_o06_arrays_of_another_width_are_counted(
    aligned: tuple[Any, pd.DataFrame],
) -> None:
    model, X = aligned
    message = (
        rf"^X has 2 features, but {type(model).__name__} is expecting 3 features as "
        r"input\.$"
    )
    with pytest.raises(ValueError, match=message):
        model.predict(X.to_numpy()[:, :2])
    np.testing.assert_array_equal(model.predict(X.to_numpy()), model.predict(X))
