"""From a table to tensors and back: levels, knots, unknown cells, errors by text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from spam_core.data.encoding import (
    NUMBER,
    UNKNOWN,
    Scaling,
    TableEncoder,
    UnknownLevelWarning,
)
from spam_core.data.feature import show_level

SCALINGS: list[Scaling] = ["quantile", "minmax", "maxabs", "none"]


def people() -> pd.DataFrame:
    """Seven columns of every kind, with gaps."""
    frame = pd.DataFrame(
        {
            "age": [20.0, 30.0, 40.0, 50.0, np.nan, 80.0],
            "months": [-9, -7, 3, 14, 14, 60],
            "city": ["b", "a", None, "b", "c", "a"],
            "size": pd.Categorical(list("SMLSML"), ["S", "M", "L", "XL"]),
            "member": pd.array([True, False, None, True, True, True], "boolean"),
            "since": pd.to_datetime(["2020-01-01"] * 3 + ["2021-06-01"] * 3),
            "children": pd.array([0, 1, 2, None, 1, 0], "Int64"),
        }
    )
    return frame


@pytest.fixture
def encoder() -> TableEncoder:
    return TableEncoder(special_values={"months": [-7, -8, -9]}).fit(people())


def test_features_as_fitted(encoder: TableEncoder) -> None:
    kinds = {f.name: (f.kind, f.levels) for f in encoder.features}
    assert kinds == {
        "age": ("numeric", (None,)),
        "months": ("numeric", (-9.0, -7.0)),
        "city": ("categorical", ("a", "b", "c", None)),
        "size": ("categorical", ("S", "M", "L")),
        "member": ("boolean", (False, True, None)),
        "since": ("numeric", ()),
        "children": ("numeric", (None,)),
    }
    by_name = {f.name: f for f in encoder.features}
    np.testing.assert_array_equal(by_name["age"].knots, [20, 30, 40, 50, 80])
    np.testing.assert_array_equal(by_name["months"].knots, [3, 14, 60])
    assert [f.name for f in encoder.features if f.is_date] == ["since"]
    integers = [f.name for f in encoder.features if f.is_integer]
    assert integers == ["age", "months", "since", "children"]
    assert by_name["months"].level_names == ("-9", "-7")
    assert by_name["city"].level_names == ("a", "b", "c", "missing")


def test_codes_and_values(encoder: TableEncoder) -> None:
    rows = encoder.transform(people())
    assert rows.values.dtype == torch.float64
    assert rows.codes.T.tolist() == [
        [NUMBER, NUMBER, NUMBER, NUMBER, 0, NUMBER],
        [0, 1, NUMBER, NUMBER, NUMBER, NUMBER],
        [1, 0, 3, 1, 2, 0],
        [0, 1, 2, 0, 1, 2],
        [1, 0, 2, 1, 1, 1],
        [NUMBER] * 6,
        [NUMBER, NUMBER, NUMBER, 0, NUMBER, NUMBER],
    ]
    assert rows.values[:, 0].tolist() == [0, 0.25, 0.5, 0.75, 0, 1]
    assert rows.values[:, 1].tolist() == [0, 0, 0, 0.5, 0.5, 1]


def test_what_training_never_saw_is_told_once(encoder: TableEncoder) -> None:
    frame = (
        people()
        .iloc[[0, 1, 2]]
        .assign(
            city=["z", "z", "y"],
            months=[-8, 3, 3],
            since=pd.to_datetime(["2020-01-01", None, "2022-01-01"]),
        )
    )
    frame["size"] = ["XL", "S", "S"]
    with pytest.warns(UnknownLevelWarning) as caught:
        rows = encoder.transform(frame)
    assert [str(w.message) for w in caught] == [
        "Levels that training never saw contribute 0: months: '-8' (1 rows); "
        "city: 'z', 'y' (3 rows); size: 'XL' (1 rows); since: 'missing' (1 rows)"
    ]
    unknown = [[i, j] for i, j in ((0, 1), (0, 2), (0, 3), (1, 2), (1, 5), (2, 2))]
    assert rows.unknown.nonzero().tolist() == unknown
    assert (rows.values[rows.unknown] == 0).all()


@pytest.mark.parametrize("n_rows", [1, 2, 5, 6, 100])
def test_blocks_are_the_whole_in_pieces(encoder: TableEncoder, n_rows: int) -> None:
    rows = people().assign(city=list("bxaxxy"), months=[-8, 3, -8, 14, 60, 3])
    with pytest.warns(UnknownLevelWarning) as told:
        whole = encoder.transform(rows)
    with pytest.warns(UnknownLevelWarning) as told_of_blocks:
        blocks = list(encoder.blocks(rows, n_rows))
    assert [str(w.message) for w in told_of_blocks] == [str(w.message) for w in told]
    assert [len(block) for block in blocks][:-1] == [n_rows] * (len(blocks) - 1)
    for name in ("values", "codes"):
        joined = torch.cat([getattr(block, name) for block in blocks])
        assert torch.equal(joined, getattr(whole, name))
    bad = rows.assign(age=[np.inf, 1, 2, 3, 4, -np.inf])
    with pytest.raises(ValueError, match="2 in column 'age'"):
        next(encoder.blocks(bad, n_rows))


@pytest.mark.parametrize("missing", [np.nan, None, pd.NA, pd.NaT])
@pytest.mark.parametrize("name", ["age", "city", "member", "children"])
def test_every_spelling_of_missing_is_one_level(
    encoder: TableEncoder, name: str, missing: Any
) -> None:
    frame = people().iloc[[0]].astype(object)
    frame[name] = pd.Series([missing], dtype=object, index=frame.index)
    i = encoder.feature_names.index(name)
    code = encoder.transform(frame).codes[0, i]
    assert encoder.features[i].levels[code] is None


def test_a_row_of_objects_equals_the_typed_row(encoder: TableEncoder) -> None:
    typed = encoder.transform(people())
    untyped = encoder.transform(people().astype(object))
    assert torch.equal(typed.codes, untyped.codes)
    assert torch.equal(typed.values, untyped.values)


def test_the_callers_frame_is_not_changed(encoder: TableEncoder) -> None:
    frame = people()
    kept, types = frame.copy(), frame.dtypes.copy()
    TableEncoder().fit(frame)
    encoder.transform(frame)
    pd.testing.assert_frame_equal(frame, kept)
    assert frame.dtypes.equals(types)
    array = np.arange(12.0).reshape(4, 3)
    array.flags.writeable = False
    TableEncoder().fit(array).transform(array)


def test_columns_align_by_name(encoder: TableEncoder) -> None:
    frame = people()
    expected = encoder.transform(frame)
    mixed = frame[frame.columns[::-1]].assign(zz="more")
    rows = encoder.transform(mixed)
    assert torch.equal(rows.codes, expected.codes)
    assert torch.equal(rows.values, expected.values)


def test_arrow_tables_encode_as_frames_do(encoder: TableEncoder) -> None:
    frame = people()
    table = pa.Table.from_pandas(frame)
    rows, expected = encoder.transform(table), encoder.transform(frame)
    assert torch.equal(rows.codes, expected.codes)
    assert torch.equal(rows.values, expected.values)
    fitted = TableEncoder().fit(pa.table({"a": [1.0, 2.0], "b": ["x", None]}))
    assert fitted.feature_names == ("a", "b")
    assert fitted.features[1].levels == ("x", None)


def test_labels_that_are_numbers_are_shown_as_text() -> None:
    array = np.random.default_rng(0).normal(size=(20, 2))
    labelled = TableEncoder(special_values={1: [0]}).fit(pd.DataFrame(array))
    assert labelled.feature_names == ("0", "1")
    bare = TableEncoder().fit(array)
    assert bare.feature_names == ("x0", "x1")
    assert torch.equal(bare.transform(array).values, labelled.transform(array).values)


@pytest.mark.parametrize("scaling", SCALINGS)
def test_numbers_come_back_in_user_units(scaling: Scaling) -> None:
    column = np.random.default_rng(0).lognormal(3, 2, size=300)
    encoder = TableEncoder(16, scaling).fit(pd.DataFrame({"x": column}))
    scaled = encoder.transform(pd.DataFrame({"x": column})).values[:, 0].numpy()
    np.testing.assert_allclose(
        encoder.features[0].to_user(scaled, scaling), column, rtol=1e-9
    )


@pytest.mark.parametrize("scaling", SCALINGS)
def test_values_beyond_the_training_range(scaling: Scaling) -> None:
    encoder = TableEncoder(4, scaling).fit(pd.DataFrame({"x": np.arange(-2.0, 9.0)}))
    values = encoder.transform(pd.DataFrame({"x": [-1e300, 3.0, 16.0]})).values[:, 0]
    expected = {
        "quantile": [0, 0.5, 1],
        "minmax": [0, 0.5, 1],
        "maxabs": [-1.25e299, 0.375, 2],
        "none": [-1e300, 3, 16],
    }
    assert values.tolist() == pytest.approx(expected[scaling])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=40),
    st.sampled_from(["quantile", "minmax"]),
    st.integers(1, 9),
)
def test_any_finite_numbers_scale_in_order(
    values: list[float], scaling: Scaling, n_knots: int
) -> None:
    column = np.array(values)
    column[0] = column[1] + 1.0 if abs(column[1]) < 1e15 else -column[1]
    frame = pd.DataFrame({"x": column, "y": np.arange(len(column))})
    encoder = TableEncoder(n_knots, scaling).fit(frame)
    scaled = encoder.transform(frame).values[:, 0].numpy()
    assert np.isfinite(scaled).all()
    assert scaled.min() == 0
    assert scaled.max() == 1
    assert np.all(np.diff(scaled[np.argsort(column)]) >= 0)
    back = encoder.features[0].to_user(scaled, scaling)
    assert np.isfinite(back).all()
    weights = encoder.marginals.weights
    assert torch.allclose(weights.sum(0), torch.ones(2, dtype=torch.float64))
    assert torch.isfinite(encoder.marginals.nodes.values).all()


def test_neighbouring_large_integers_stay_apart() -> None:
    stamps = pd.DataFrame(
        {"ts": np.repeat(np.arange(1_700_000_000, 1_700_000_031), 10)}
    )
    values = TableEncoder().fit(stamps).transform(stamps).values[:, 0]
    assert len(values.float().unique()) == 31


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ([7.0] * 4, "constant"),
        (["same"] * 4, "constant"),
        ([np.nan] * 4, "constant"),
        ([None] * 4, "constant"),
        ([True] * 4, "constant"),
        ([-9.0] * 4, "constant"),
        ([0.5, 0.5, np.nan, 0.5], "numeric"),
        (["same", "same", None, "same"], "categorical"),
        ([-9.0, -9.0, 2.0, 2.0], "numeric"),
    ],
)
def test_columns_that_hardly_vary(column: list[Any], kind: str) -> None:
    frame = pd.DataFrame({"x": np.arange(4.0), "c": column})
    encoder = TableEncoder(special_values={"x": [99]})
    if column[0] == -9.0:
        encoder.special_values = {"c": [-9]}
    if kind == "constant":
        with pytest.warns(UserWarning, match=r"constant or all missing.*: \['c'\]$"):
            encoder.fit(frame)
        anything = frame.assign(c=["new", 3, None, np.inf])
        assert (encoder.transform(anything).codes[:, 1] == NUMBER).all()
    else:
        encoder.fit(frame)
    assert encoder.features[1].kind == kind


def test_a_column_of_codes_alone_knows_no_numbers() -> None:
    frame = pd.DataFrame({"c": [-9.0, -7.0, -9.0, -7.0]})
    encoder = TableEncoder(special_values={"c": [-7, -9]}).fit(frame)
    with pytest.warns(UnknownLevelWarning, match=r"c: '3\.0' \(1 rows\)"):
        codes = encoder.transform(pd.DataFrame({"c": [3.0, -7.0]})).codes
    assert codes[:, 0].tolist() == [UNKNOWN, 1]


def test_o22_identifiers_are_left_out_and_named() -> None:
    frame = pd.DataFrame({"id": [f"c{i:04}" for i in range(300)], "x": np.arange(300)})
    message = (
        r"These columns look like identifiers, having a different text in most rows, "
        r"so they are left out: 'id' \(300 texts in 300 rows\)$"
    )
    with pytest.warns(UserWarning, match=message) as caught:
        encoder = TableEncoder().fit(frame)
    assert len(caught) == 1
    assert (encoder.features[0].kind, encoder.features[0].levels) == ("constant", ())
    unseen = encoder.transform(frame.assign(id="new"))
    assert not unseen.unknown.any()
    few = TableEncoder().fit(frame.iloc[:90])  # too few to tell
    assert len(few.features[0].levels) == 90


@pytest.mark.parametrize(
    ("trained", "given_", "expected"),
    [
        (["1", "2", "x"], [1, 2, 1], [0, 1, 0]),
        (["1", "2", "x"], [1.0, np.nan, 2.0], [0, UNKNOWN, 1]),
        (["1.0", "1", "x"], [1.0, 1, 1], [1, 1, 1]),
        ([1, 2, 3], ["x", 2.0, 3], [UNKNOWN, UNKNOWN, UNKNOWN]),
    ],
)
def test_levels_that_look_like_numbers(
    trained: list[Any], given_: list[Any], expected: list[int]
) -> None:
    encoder = TableEncoder().fit(pd.DataFrame({"a": pd.Categorical(trained)}))
    frame = pd.DataFrame({"a": pd.Series(given_)})
    if UNKNOWN in expected:
        with pytest.warns(UnknownLevelWarning):
            codes = encoder.transform(frame).codes
    else:
        codes = encoder.transform(frame).codes
    assert codes[:, 0].tolist() == expected


@pytest.mark.parametrize("given_", [[1.0, 0.0], [1, 0], ["yes", None]])
def test_booleans_may_come_as_numbers(given_: list[Any]) -> None:
    encoder = TableEncoder().fit(pd.DataFrame({"a": [True, False, None]}))
    frame = pd.DataFrame({"a": pd.Series(given_)})
    if given_[0] == "yes":
        with pytest.warns(UnknownLevelWarning, match="a: 'yes'"):
            codes = encoder.transform(frame).codes
        assert codes[:, 0].tolist() == [UNKNOWN, 2]
    else:
        assert encoder.transform(frame).codes[:, 0].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("level", "shown"),
    [
        (None, "missing"),
        (True, "True"),
        (-9.0, "-9"),
        (1234567.0, "1234567"),
        (1700000000.0, "1700000000"),
        (0.1234567, "0.1234567"),
        (2.5, "2.5"),
        (3, "3"),
        ("a", "a"),
    ],
)
def test_levels_as_shown(level: Any, shown: str) -> None:
    assert show_level(level) == shown


def test_weights_change_the_marginals_only() -> None:
    frame = people()
    plain = TableEncoder().fit(frame)
    weighted = TableEncoder().fit(frame, np.array([1.0, 1, 1, 1, 1, 5]))
    for a, b in zip(plain.features, weighted.features, strict=True):
        np.testing.assert_array_equal(a.knots, b.knots)
        assert a.levels == b.levels
    assert weighted.marginals.weights[4, 0] == pytest.approx(0.5)  # age 80
