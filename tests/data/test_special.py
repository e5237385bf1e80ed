"""Numbers that look like codes are suggested; quantities aren't."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from spam_core import SPAMRegressor, load_dataset
from spam_core.data import suggest_special_values

RNG = np.random.default_rng(0)
AGE = RNG.integers(18, 90, 500).astype(float)


def with_codes(numbers: np.ndarray, *codes: float, times: int = 5) -> np.ndarray:
    return np.r_[numbers, np.repeat(codes, times)]


CASES: dict[str, tuple[Any, tuple[float, ...]]] = {
    "negative codes": (with_codes(AGE, -9, -8, -7), (-9, -8, -7)),
    "a code beside 0": (with_codes(AGE - 18, -9), (-9,)),
    "far above": (with_codes(AGE, 999, 9999), (999, 9999)),
    "both ends": (with_codes(AGE, -99, 9999), (-99, 9999)),
    "with gaps": (with_codes(AGE, -9, np.nan), (-9,)),
    "a single outlier": (with_codes(AGE, 9999, times=1), ()),
    "-1 beside 0": (with_codes(AGE - 18, -1), ()),
    "no codes": (AGE, ()),
    "temperatures": (RNG.normal(0, 10, 500).round(), ()),
    "fractions": (with_codes(AGE, -9.5), ()),
    "the widest numbers": (np.array([-1e308, 0.0, 1e308] * 5), ()),
    "two values": (np.array([0.0, 1.0] * 50), ()),
    "constant": (np.full(20, 7.0), ()),
    "all missing": (np.full(20, np.nan), ()),
    "text": (["a", "b"] * 10, ()),
    "dates": (pd.date_range("2026-01-01", periods=20), ()),
}


@pytest.mark.parametrize("name", CASES)
def test_codes_are_suggested(name: str) -> None:
    cells, expected = CASES[name]
    found = suggest_special_values(pd.DataFrame({"x": cells}))
    assert found == ({"x": expected} if expected else {})


def test_estimators_take_what_is_suggested() -> None:
    X = pd.DataFrame({"months": with_codes(AGE, -9, -8), "other": np.arange(510.0)})
    codes = suggest_special_values(X)
    model = SPAMRegressor(
        rank=2, n_members=2, max_epochs=1, special_values=codes, random_state=0
    )
    model.fit(X, X["other"])
    assert model.encoder_.features[0].level_names == ("-9", "-8")


def test_the_codes_of_a_real_table_are_found(data_dir: Path) -> None:
    table = load_dataset("heloc")
    found = suggest_special_values(table.X)
    assert len(found) > 15
    for name, codes in found.items():
        assert set(codes) <= {-9.0, -8.0, -7.0}, name
