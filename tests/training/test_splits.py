"""Which rows each member holds out."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spam_core.training.splits import held_out


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_members_hold_out_folds() -> None:
    mask = held_out(80, 8, 0.125, rng())
    np.testing.assert_array_equal(mask.sum(0), 10)
    np.testing.assert_array_equal(mask.sum(1), 1)  # every row by one member


def test_windows_overlap_where_the_share_is_larger() -> None:
    mask = held_out(100, 4, 0.5, rng())
    np.testing.assert_array_equal(mask.sum(0), 50)
    np.testing.assert_array_equal(mask.sum(1), 2)


def test_the_order_is_drawn() -> None:
    a, b, c = (held_out(50, 2, 0.2, rng(seed)) for seed in (0, 0, 1))
    np.testing.assert_array_equal(a, b)
    assert (a != c).any()


def test_every_window_has_its_share_of_each_class() -> None:
    strata = np.repeat([0, 1, 2], [600, 320, 80])
    mask = held_out(1000, 8, 0.125, rng(), strata)
    for stratum, size in ((0, 75), (1, 40), (2, 10)):
        np.testing.assert_allclose(mask[strata == stratum].sum(0), size, atol=1)


def test_rare_rows_are_on_both_sides_of_some_split() -> None:
    strata = np.zeros(1000, dtype=np.int64)
    strata[:10] = 1
    mask = held_out(1000, 8, 0.125, rng(), strata)
    held = mask[:10].sum(0)
    assert held.sum() == 10
    assert held.min() >= 1
    assert held.max() <= 9


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(0, 3), min_size=2, max_size=40),
    st.integers(1, 9),
    st.floats(0.02, 0.99),
    st.booleans(),
)
def test_no_member_trains_without_a_class(
    labels: list[int], members: int, fraction: float, stratified: bool
) -> None:
    strata = np.array(labels)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        mask = held_out(
            len(labels), members, fraction, rng(), strata if stratified else None
        )
    assert mask.shape == (len(labels), members)
    groups = [strata == k for k in set(labels)] if stratified else [strata >= 0]
    for group in groups:
        assert (~mask[group]).any(0).all()
    assert len(told) == (not mask.any())
    assert mask.any(1).sum() != 1


def test_a_class_of_one_row_is_never_held_out() -> None:
    strata = np.array([0] * 49 + [1])
    for seed in range(10):
        mask = held_out(50, 8, 0.125, rng(seed), strata)
        assert not mask[49].any()
        assert mask[:49].any(0).all()


def test_no_share_holds_nothing_out() -> None:
    assert not held_out(50, 8, 0.0, rng()).any()


@pytest.mark.parametrize(
    ("n_rows", "members", "fraction"), [(2, 8, 0.125), (5, 8, 0.1), (8, 1, 0.125)]
)
def test_too_few_rows_are_told(n_rows: int, members: int, fraction: float) -> None:
    message = (
        rf"{n_rows} rows are too few to hold out a share of {fraction:g} of them "
        r"\(validation_fraction\), so early stopping is off\.$"
    )
    with pytest.warns(UserWarning, match=message) as caught:
        mask = held_out(n_rows, members, fraction, rng())
    assert len(caught) == 1
    assert not mask.any()
