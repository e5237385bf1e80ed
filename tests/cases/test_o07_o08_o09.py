"""Cases O07 to O09: labels, targets that cannot be learnt, targets of any size."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import DataConversionWarning

from tests.cases.common import KINDS, check_fit, check_identity, classifier, regressor

RNG = np.random.default_rng(7)
X90 = pd.DataFrame(RNG.normal(size=(90, 3)), columns=list("abc"))
TWO = (X90["a"] > 0).to_numpy().astype(int)
THREE = np.digitize(X90["a"], [-0.5, 0.5])


def spelled(values: Any, index: np.ndarray) -> Any:
    return np.array(values)[index]


TARGETS: dict[str, tuple[Any, list[Any]]] = {
    "ints": (TWO, [0, 1]),
    "ints 1 2 7": (spelled([1, 2, 7], THREE), [1, 2, 7]),
    "floats": (TWO + 1.0, [1.0, 2.0]),
    "booleans": (TWO == 1, [False, True]),
    "yes and no": (spelled(["no", "yes"], TWO), ["no", "yes"]),
    "low mid high": (spelled(["low", "mid", "high"], THREE), ["high", "low", "mid"]),
    "strings as objects": (spelled(["no", "yes"], TWO).astype(object), ["no", "yes"]),
    "str column": (pd.Series(spelled(["no", "yes"], TWO), name="y"), ["no", "yes"]),
    "categories": (
        pd.Series(pd.Categorical(spelled(["b", "a"], TWO), ["c", "b", "a"])),
        ["a", "b"],
    ),
    "Int64": (pd.Series(spelled([1, 2, 7], THREE), dtype="Int64"), [1, 2, 7]),
    "boolean": (pd.Series(TWO == 1, dtype="boolean"), [False, True]),
    "list": (spelled(["no", "yes"], TWO).tolist(), ["no", "yes"]),
    "arrow": (
        pd.Series(spelled(["no", "yes"], TWO)).astype("string[pyarrow]"),
        ["no", "yes"],
    ),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", TARGETS)
def test_o07_labels_come_back_as_they_were_given(kind: str, name: str) -> None:
    y, classes = TARGETS[name]
    epochs = {"spam": 8, "dnn": 40}.get(kind, 30)
    model = classifier(kind, max_epochs=epochs).fit(X90, y)
    assert model.classes_.tolist() == classes
    assert {type(c) for c in model.classes_.tolist()} == {type(classes[0])}
    check_fit(model, X90)
    predicted = model.predict(X90)
    assert set(predicted.tolist()) <= set(classes)
    assert {type(value) for value in predicted.tolist()} == {type(classes[0])}
    chosen = model.predict_proba(X90).argmax(1)
    np.testing.assert_array_equal(predicted, model.classes_[chosen])
    assert (predicted == np.asarray(y)).mean() > 0.6
    if hasattr(model, "explain_local"):
        explanation = model.explain_local(X90.iloc[:2])
        assert list(explanation.classes) == classes
        scale = f"logit of {classes[1]}" if len(classes) == 2 else "centred logit"
        assert explanation.scale == scale
        assert model.explain_global().scale == scale


@pytest.mark.parametrize("kind", KINDS)
def test_o07_spellings_in_the_same_order_fit_the_same_model(kind: str) -> None:
    groups = [
        ["ints", "floats", "booleans", "yes and no", "str column", "list", "boolean"],
        ["ints 1 2 7", "Int64"],
    ]
    for group in groups:
        fits = [
            classifier(kind, max_epochs=4).fit(X90, TARGETS[name][0]) for name in group
        ]
        for other in fits[1:]:
            np.testing.assert_array_equal(
                other.predict_proba(X90), fits[0].predict_proba(X90)
            )


@pytest.mark.parametrize("kind", KINDS)
def test_o07_spellings_in_another_order_are_as_accurate(kind: str) -> None:
    accuracy = [
        classifier(kind).fit(X90, y).score(X90, y)
        for y in (TARGETS["ints 1 2 7"][0], TARGETS["low mid high"][0])
    ]
    assert accuracy[0] > 0.85
    assert accuracy[1] == pytest.approx(accuracy[0], abs=0.06)


X50 = pd.DataFrame(np.random.default_rng(8).normal(size=(50, 2)), columns=["a", "b"])
HALF = np.arange(50) % 2


def with_gaps(values: Any, gaps: int) -> Any:
    cells = np.array(values, dtype=object)
    cells[:gaps] = None
    return cells


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("y", "message"),
    [
        (
            np.zeros(50),
            r"^A classifier needs samples of at least 2 classes in the data, but the "
            r"data contains only one class: 0\.0$",
        ),
        (
            np.where(np.arange(50) < 2, np.nan, HALF),
            r"^Input y contains NaN: 2 of 50 target values are missing\. Drop those "
            r"rows or fill them in\.$",
        ),
        (
            with_gaps(["a", "b"] * 25, 1),
            r"^Input y contains NaN: 1 of 50 target values are missing\. ",
        ),
        (
            pd.Series(HALF, dtype="Int64").where(np.arange(50) > 0),
            r"^Input y contains NaN: 1 of 50 target values are missing\. ",
        ),
        (np.linspace(0, 1, 50), r"Unknown label type: continuous"),
        (
            HALF[:49],
            r"^Found input variables with inconsistent numbers of samples: expected "
            r"one target for each of 50 rows, got 49\.$",
        ),
        (
            with_gaps(["a", 1] * 25, 0),
            r"^Expected labels of one type, got a mixture of \['int', 'str'\]\. "
            r"Convert them, for example with y\.astype\(str\)\.$",
        ),
        (None, r"requires y to be passed, but the target y is None"),
        (
            np.zeros((50, 2)),
            r"^Expected a target of shape \(n,\), got \(50, 2\): y should be a 1d ",
        ),
        (
            pd.DataFrame({"u": HALF, "v": HALF}),
            r"^Expected a target with one column, got 2: \['u', 'v'\]$",
        ),
        ("yes", r"^Expected a target of shape \(n,\), got the scalar 'yes'$"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_o08_targets_that_no_classifier_can_learn(
    kind: str, y: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        classifier(kind).fit(X50, y)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.where(HALF > 0, np.nan, 1.0), r"^Input y contains NaN: 25 of 50 target "),
        (
            np.where(HALF > 0, np.inf, 1.0),
            r"^Input y contains infinity: 25 target values are infinite\.$",
        ),
        (
            ["cheap", "dear"] * 25,
            r"^Expected a numeric target, got (object|str) values such as \['cheap', "
            r"'dear', 'cheap'\]\. For classes use a classifier\.$",
        ),
        (HALF[:49], r"^Found input variables with inconsistent numbers of samples"),
        (
            pd.Series(pd.date_range("2026-01-01", periods=50)),
            r"^Expected a numeric target, got datetime64\[.*\] values such as ",
        ),
    ],
    ids=["missing", "infinite", "text", "length", "dates"],
)
def test_o08_targets_that_no_regressor_can_learn(
    kind: str, y: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        regressor(kind).fit(X50, y)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", [0, 1])
def test_o08_too_few_rows(kind: str, rows: int) -> None:
    messages = [
        r"^Found array with 0 sample\(s\) \(shape=\(0, 2\)\) while a minimum of 1 is ",
        r"^Expected at least 2 rows, got n_samples=1$",
    ]
    with pytest.raises(ValueError, match=messages[rows]):
        regressor(kind).fit(X50.iloc[:rows], HALF[:rows])


@pytest.mark.parametrize("kind", KINDS)
def test_o08_a_class_with_a_single_row_fits_with_a_warning(kind: str) -> None:
    y = np.where(np.arange(50) == 17, "rare", np.where(HALF > 0, "a", "b"))
    for seed in range(3):
        model = classifier(kind, random_state=seed, max_epochs=8)
        message = r"^These classes have a single row each: \['rare'\]$"
        with pytest.warns(UserWarning, match=message) as caught:
            model.fit(X50, y)
        assert len(caught) == 1
        assert model.classes_.tolist() == ["a", "b", "rare"]
        check_fit(model, X50)
        assert np.isfinite([e["validation_loss"] for e in model.history_]).all()


@pytest.mark.parametrize("kind", KINDS)
def test_o08_a_constant_regression_target_is_predicted(kind: str) -> None:
    model = regressor(kind, max_epochs=2).fit(X50, np.full(50, 12.5))
    np.testing.assert_array_equal(model.predict(X50), 12.5)
    check_identity(model, X50)
    if hasattr(model, "explain_global"):
        overall = model.explain_global()
        assert (overall.importance == 0).all()
        assert (np.asarray(overall.curve("a").y) == 0).all()
    if kind == "cart":
        assert regressor(kind, ccp_alpha=0.1).fit(X50, np.ones(50)).n_leaves_ == 1


def large(n: int = 200) -> tuple[pd.DataFrame, pd.Series]:
    """O09: a target in thousands of millions."""
    rng = np.random.default_rng(9)
    X = pd.DataFrame(rng.uniform(size=(n, 2)), columns=["x0", "x1"])
    return X, (1e9 * (2 * X["x0"] - X["x1"]) + 5e9).rename("money")


@pytest.mark.parametrize("kind", KINDS)
def test_o09_large_targets(kind: str) -> None:
    X, y = large()
    model = regressor(kind).fit(X, y)
    assert np.isfinite([step["train_loss"] for step in model.history_]).all()
    assert model.score(X, y) >= 0.95
    predictions = model.predict(X)
    assert predictions.shape == (200,)
    assert predictions.mean() == pytest.approx(y.mean(), rel=0.01)
    check_identity(model, X, rtol=1e-5)
    if hasattr(model, "explain_local"):
        explanation = model.explain_local(X)
        assert explanation.scale == "money"
        assert explanation.base.mean() == pytest.approx(y.mean(), rel=0.05)
        curve = model.explain_global().curve("x0")
        slope = np.polyfit(curve.x, curve.y, 1)[0]
        assert slope == pytest.approx(2e9, rel=0.1)
        assert 0 <= curve.x.min() < curve.x.max() <= 1


@pytest.mark.parametrize("kind", KINDS)
def test_o09_four_spellings_of_a_target_are_one_model(kind: str) -> None:
    X, y = large(60)
    expected = regressor(kind, max_epochs=4).fit(X, y).predict(X)
    for flat in (y.to_numpy(), y.tolist(), y.to_numpy().astype(np.float32)):
        predicted = regressor(kind, max_epochs=4).fit(X, flat).predict(X)
        np.testing.assert_allclose(predicted, expected, rtol=1e-6)
    for column in (y.to_numpy()[:, None], y.to_frame()):
        model = regressor(kind, max_epochs=4)
        with pytest.warns(DataConversionWarning, match="column-vector y") as caught:
            model.fit(X, column)
        assert len(caught) == 1  # no broadcasting warning beside it
        assert caught[0].filename == __file__
        np.testing.assert_array_equal(model.predict(X), expected)
        assert model.predict(X).shape == (60,)
    assert model.target_name_ == "money"


@pytest.mark.parametrize("kind", KINDS)
def test_o09_tiny_targets(kind: str) -> None:
    X, y = large(120)
    ordinary = regressor(kind, max_epochs=20).fit(X, y / 1e9).predict(X)
    tiny = regressor(kind, max_epochs=20).fit(X, y / 1e9 * 1e-12).predict(X)
    np.testing.assert_allclose(tiny * 1e12, ordinary, rtol=1e-3)
