"""Cases O11 to O13: few rows, few bits, far outliers."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import pytest

from tests.cases.common import (
    KINDS,
    TREES,
    check_fit,
    check_identity,
    classifier,
    regressor,
)


def few(n: int) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(11)
    X = pd.DataFrame({"a": rng.normal(size=n), "b": rng.choice(["u", "v"], n)})
    return X, np.arange(n) % 2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [5, 33, 64])
def test_o11_odd_last_batches_fit(kind: str, n: int) -> None:
    X, y = few(n)
    settings = {"batch_size": 32, "validation_fraction": 0.1, "max_epochs": 6}
    for make, target in ((classifier, y), (regressor, y + X["a"])):
        model = make(kind, **settings)
        if n == 5:
            message = (
                r"^5 rows are too few to hold out a share of 0\.1 of them "
                r"\(validation_(fraction|size)\), so early stopping is off\.$"
            )
            with pytest.warns(UserWarning, match=message) as caught:
                model.fit(X, target)
            assert len(caught) == 1
            assert caught[0].filename == __file__
            assert kind in TREES or model.n_iter_ == 6
        else:
            model.fit(X, target)
        check_fit(model, X)


@pytest.mark.parametrize("n", [2, 3, 8, 9, 17])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore:.*too few to hold out:UserWarning")
@pytest.mark.filterwarnings("ignore:These columns are constant:UserWarning")
def test_o11_any_few_rows_fit_with_default_settings(kind: str, n: int) -> None:
    X, y = few(n)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="These classes have a single row")
        check_fit(classifier(kind, max_epochs=4).fit(X, y), X)
    check_fit(regressor(kind, max_epochs=4).fit(X, y * 2.0), X)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("classes", [2, 3])
def test_o11_one_row_equals_the_same_row_in_a_batch(kind: str, classes: int) -> None:
    X, _ = few(64)
    model = classifier(kind, max_epochs=4).fit(X, np.arange(64) % classes)
    for i in (0, 17):
        row = X.iloc[[i]]
        assert model.predict(row).shape == (1,)
        assert model.predict_proba(row).shape == (1, classes)
        width = () if classes == 2 else (classes,)
        assert model.decision_function(row).shape == (1, *width)
        np.testing.assert_allclose(
            model.predict_proba(row)[0], model.predict_proba(X)[i], rtol=1e-6
        )
        if hasattr(model, "explain_local"):
            one, all_rows = model.explain_local(row), model.explain_local(X)
            assert one.values.shape == (1, len(one.terms), *width)
            assert one.terms == all_rows.terms
            np.testing.assert_allclose(one.values[0], all_rows.values[i], rtol=1e-6)
            np.testing.assert_allclose(one.base[0], all_rows.base[i], rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_o11_one_dimensional_input_is_told_to_reshape(kind: str) -> None:
    X = np.random.default_rng(0).normal(size=(40, 3))
    model = regressor(kind, max_epochs=2).fit(X, X[:, 0])
    message = (
        "^Expected 2D array, got 1D array instead. Reshape your data either using "
    )
    calls = [model.predict, lambda row: regressor(kind).fit(row, [1.0, 2.0, 3.0])]
    if hasattr(model, "explain_local"):
        calls.append(model.explain_local)
    for call in calls:
        with pytest.raises(ValueError, match=re.escape("array.reshape(-1, 1)")):
            call(X[0])
        with pytest.raises(ValueError, match=message):
            call(X[0])
    with pytest.raises(ValueError, match=r"^Expected a table with columns, got a Ser"):
        model.predict(pd.Series(X[0]))


def seconds() -> tuple[pd.DataFrame, np.ndarray]:
    """O12: 31 neighbouring integers that are one float32 number."""
    stamps = np.repeat(np.arange(1_700_000_000, 1_700_000_031), 10)
    assert len(np.unique(stamps.astype(np.float32))) == 1
    return pd.DataFrame({"ts": stamps}), (stamps >= 1_700_000_021).astype(int)


@pytest.mark.parametrize("kind", KINDS)
def test_o12_neighbouring_large_integers_are_told_apart(kind: str) -> None:
    X, y = seconds()
    model = classifier(kind).fit(X, y)
    assert model.score(X, y) >= 0.95
    if hasattr(model, "explain_local"):
        check_identity(model, X)
        x = model.explain_global().curve("ts").x
        assert (x.min(), x.max()) == (1_700_000_000, 1_700_000_030)
        assert len(np.unique(x)) >= 31
        shown = model.explain_local(X.iloc[[300]]).data
        assert shown["ts"].iloc[0] == 1_700_000_030


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("offset", "scale"),
    [
        (1e9, 1e-3),
        (0.0, 1e-9),
        pytest.param(-3e9, 1.0, marks=pytest.mark.slow),
        pytest.param(5.0, 1e-12, marks=pytest.mark.slow),
    ],
)
def test_o12_any_offset_and_scale_is_learnt(
    kind: str, offset: float, scale: float
) -> None:
    steps = np.random.default_rng(12).integers(0, 40, size=(200, 2))
    X = pd.DataFrame(offset + scale * steps, columns=["a", "b"])
    y = steps[:, 0] + 0.5 * steps[:, 1] > 30
    model = classifier(kind).fit(X, y)
    assert model.score(X, y) >= 0.9
    plain = classifier(kind).fit(pd.DataFrame(steps, columns=["a", "b"]), y)
    expected = plain.predict_proba(pd.DataFrame(steps, columns=["a", "b"]))
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=0.05)


@pytest.mark.parametrize("scaling", ["none", "maxabs", "quantile", "minmax"])
def test_o12_numbers_that_single_precision_would_blur_are_named(scaling: str) -> None:
    X = pd.DataFrame({"stamp": 1e9 + np.arange(60.0), "size": np.arange(60.0)})
    model = regressor("spam-linear", scaling=scaling, max_epochs=1)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model.fit(X, X["size"])
    words = [str(warning.message) for warning in told]
    assert len(words) == (scaling in ("none", "maxabs")), words
    assert all(text.endswith("keep them apart: ['stamp']") for text in words)


@pytest.mark.parametrize("kind", KINDS)
def test_o12_dtypes_of_a_table_do_not_matter(kind: str) -> None:
    whole = np.random.default_rng(12).integers(-50, 50, size=(120, 3))
    y = whole[:, 0] - whole[:, 1] * whole[:, 2] / 20
    predictions = []
    for dtype in ("float64", "float32", "int64", "int32"):
        X = whole.astype(dtype)
        model = regressor(kind, max_epochs=4).fit(X, y.astype("float32"))
        predictions += [model.predict(X), model.predict(whole.astype("float64"))]
    scale = np.abs(y).max()
    for other in predictions[1:]:
        np.testing.assert_allclose(other, predictions[0], atol=1e-5 * scale)


def spiked() -> tuple[pd.DataFrame, np.ndarray]:
    """O13: a normal column with one cell of 1e8."""
    x = np.random.default_rng(13).normal(size=500)
    y = x > 0
    x[7], y[7] = 1e8, True
    return pd.DataFrame({"x": x}), y


@pytest.mark.parametrize("kind", KINDS)
def test_o13_one_outlier_does_not_squeeze_the_rest(kind: str) -> None:
    X, y = spiked()
    model = classifier(kind).fit(X, y)
    rest = np.arange(500) != 7
    assert model.score(X[rest], y[rest]) >= 0.9
    far = pd.DataFrame({"x": [2e8, -1e8, 1e300]})
    beyond = model.decision_function(far)
    assert np.isfinite(beyond).all()
    # the rule: numbers beyond the training range count as its ends
    ends = pd.DataFrame({"x": [1e8, X["x"].min(), 1e8]})
    np.testing.assert_allclose(beyond, model.decision_function(ends), rtol=1e-12)
    check_identity(model, far)
    if hasattr(model, "explain_local"):
        curve = model.explain_global().curve("x")
        assert curve.bulk is not None
        low, high = curve.bulk
        assert -5 < low < -2
        assert 2 < high < 5
        if model.encoder_.scaling == "minmax":
            assert max(curve.x) < 5  # such a cell is at the end of the others' range
        else:
            assert 1 <= curve.n_outside <= 10


def test_o13_min_max_scaling_clips_too() -> None:
    X, y = spiked()
    model = classifier(
        "spam", feature_map="linear", scaling="minmax", max_epochs=3
    ).fit(X, y)
    far, ends = (pd.DataFrame({"x": x}) for x in ([2e8, -1e8], [1e8, X["x"].min()]))
    np.testing.assert_array_equal(
        model.decision_function(far), model.decision_function(ends)
    )


@pytest.mark.parametrize("kind", KINDS)
def test_o13_the_scale_is_that_of_the_training_rows(kind: str) -> None:
    X, y = spiked()
    model = classifier(kind, max_epochs=2).fit(X.iloc[8:], y[8:])
    assert model.encoder_.features[0].knots.max() == X["x"].iloc[8:].max()


@pytest.mark.parametrize("kind", KINDS)
def test_o13_infinite_cells_are_counted_by_column(kind: str) -> None:
    X, y = spiked()
    X["z"] = np.arange(500.0)
    bad = X.copy()
    bad.loc[[3, 4], "x"] = [np.inf, -np.inf]
    bad.loc[9, "z"] = np.inf
    message = (
        r"^Expected finite numbers or missing values \(NaN\), got infinite cells "
        r"\(inf\): 2 in column 'x', 1 in column 'z'\.$"
    )
    with pytest.raises(ValueError, match=message):
        classifier(kind).fit(bad, y)
    model = classifier(kind, max_epochs=2).fit(X, y)
    with pytest.raises(ValueError, match=message):
        model.predict_proba(bad)
    if hasattr(model, "explain_local"):
        with pytest.raises(ValueError, match=message):
            model.explain_local(bad)
