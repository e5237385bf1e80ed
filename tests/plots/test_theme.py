"""Names are shown literally, stay different when cut, and scales centre on 0."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spam_core.plots import theme
from tests.plots.fakes import ODD_NAMES


@pytest.mark.parametrize("name", ODD_NAMES)
def test_o05_a_name_is_shown_character_for_character(name: str) -> None:
    shown = theme.literal(name)
    assert html.unescape(shown) == name
    # nothing is left that plotly would read as a tag, as TeX or as a placeholder
    assert not re.search(r"[<>$%]", shown)


@given(st.text(max_size=80))
def test_escaping_can_always_be_undone(name: str) -> None:
    # the entity of a character that HTML forbids has no way back; escape makes none
    assert html.unescape(theme.literal(name)) == name


def test_o19_two_long_names_stay_distinguishable() -> None:
    start, end = "customer " * 8, " measured in the year 2024" * 3
    long = [f"{start}income{end}", f"{start}expenses{end}"]
    assert all(len(name) > 140 for name in long)
    short = theme.shorten(long)
    assert len(set(short)) == 2
    assert all(len(name) <= theme.LABEL_WIDTH for name in short)
    assert "income" in short[0]
    assert "expenses" in short[1]


@given(st.lists(st.text(alphabet="ab ", max_size=60), max_size=12))
def test_labels_are_never_the_same(names: list[str]) -> None:
    short = theme.shorten(names, width=10)
    assert len(set(short)) == len(names)


def test_short_names_are_left_alone() -> None:
    assert theme.shorten(ODD_NAMES) == list(ODD_NAMES)


def test_the_signed_scale_is_symmetric_around_0() -> None:
    scale = theme.signed_scale([-1.0, 3.0, float("nan")])
    assert (scale["zmin"], scale["zmid"], scale["zmax"]) == (-3.0, 0.0, 3.0)
    assert scale["colorscale"][2][0] == 0.5


def test_all_zero_values_still_have_a_scale() -> None:
    assert theme.signed_scale([0.0, 0.0])["zmax"] == 1.0
    assert theme.size_scale([])["zmax"] == 1.0


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (1234567.0, "1,234,567"),
        (-0.12345, "-0.1235"),
        (1e9, "1e+09"),
        (2e-7, "2e-07"),
        (float("inf"), "n/a"),
    ],
)
def test_numbers_are_short(value: float, text: str) -> None:
    assert theme.number(value) == text


def test_a_class_is_found_by_its_value_before_its_text() -> None:
    assert theme.class_index([1, "1"], "1") == 1
    assert theme.class_index([1, 2], "2") == 1
