"""Tables and settings that the encoder refuses, and in which words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from spam_core.data.encoding import (
    TableEncoder,
)

TWO = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": ["x", "y", "x"]})


@pytest.mark.parametrize(
    ("frame", "error", "message"),
    [
        (
            TWO.assign(a=[np.inf, 1, -np.inf], c=[1.0, np.inf, 2]),
            ValueError,
            r"Expected finite numbers or missing values \(NaN\), got infinite cells "
            r"\(inf\): 2 in column 'a', 1 in column 'c'\.$",
        ),
        (
            TWO.assign(**{f"c{i}": np.inf for i in range(13)}),
            ValueError,
            r"3 in column 'c9' and in 3 more columns\.$",
        ),
        (TWO.iloc[:0], ValueError, r"Found array with 0 sample\(s\)"),
        (TWO[[]], ValueError, r"Found array with 0 feature\(s\)"),
    ],
)
def test_tables_that_cannot_be_fitted(
    frame: pd.DataFrame, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        TableEncoder().fit(frame)


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        ({"scaling": "log"}, r"scaling must be one of \['quantile', 'minmax', "),
        ({"n_knots": 0}, r'n_knots must be "auto" or a positive integer, got 0'),
        ({"n_knots": 2.5}, r'n_knots must be "auto" or a positive integer, got 2\.5'),
        (
            {"special_values": {"z": [1]}},
            r"special_values names columns that the table doesn't have: \['z'\]",
        ),
        (
            {"special_values": {"b": [1]}},
            r"special_values needs a numeric column; 'b' is categorical",
        ),
        (
            {"special_values": {"a": ["none"]}},
            r"special_values must map each column to a list of numbers, got "
            r"\{'a': \['none'\]\}",
        ),
        (
            {"special_values": {"a": -9}},
            r"special_values must map each column to a list of numbers, got ",
        ),
    ],
)
def test_settings_that_make_no_sense(settings_: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TableEncoder(**settings_).fit(TWO)


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (
            TWO.rename(columns={"b": "c"}),
            ValueError,
            r"Expected the columns used in training; 1 are missing: \['b'\]\. Got "
            r"columns \['a', 'c'\]\.",
        ),
        (
            np.ones((2, 3)),
            ValueError,
            "X has 3 features, but the model is expecting 2 features as input",
        ),
        (
            TWO.assign(a=["one", "2", "3"]),
            TypeError,
            r"Column 'a' must hold numbers, as in training; got 3 cells that don't",
        ),
        (
            TWO.assign(a=pd.to_datetime("2020-01-01")),
            TypeError,
            "Column 'a' must hold numbers, as in training; got dates",
        ),
        (TWO.assign(a=np.inf), ValueError, "infinite cells .inf.: 3 in column 'a'"),
        (TWO.assign(b=[[1], "x", "y"]), TypeError, "Column 'b' has 1 cells that are"),
    ],
)
def test_tables_that_do_not_fit_the_training_table(
    X: Any, error: type[Exception], message: str
) -> None:
    encoder = TableEncoder().fit(TWO)
    with pytest.raises(error, match=message):
        encoder.transform(X)
