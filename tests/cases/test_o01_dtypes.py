"""Case O01, all dtypes and libraries: one table, however it is stored, is one model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tests.cases.common import KINDS, TREES, check_fit, classifier, scores

DAYS = pd.date_range("2024-01-30", periods=60, freq="37h")


def visits() -> tuple[pd.DataFrame, np.ndarray]:
    """Return a float, a text, a boolean and a date column, with gaps, and a target."""
    rng = np.random.default_rng(101)
    X = pd.DataFrame(
        {
            "size": rng.normal(size=60),
            "city": pd.Series(rng.choice(["Ulm", "Bonn"], 60), dtype="str"),
            "member": pd.array(rng.random(60) < 0.5, dtype="boolean"),
            "since": DAYS[rng.permutation(60)],
        }
    )
    y = ((X["size"] > 0) ^ (X["city"] == "Ulm")).to_numpy().astype(int)
    X.loc[3, ["size", "city", "member", "since"]] = None
    return X, y


SPELLINGS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "objects": lambda X: X.astype(object),
    "nullable": lambda X: X.convert_dtypes(),
    "arrow": lambda X: X.convert_dtypes(dtype_backend="pyarrow"),
    "string": lambda X: X.astype({"city": "string", "since": "datetime64[us]"}),
    "category": lambda X: X.astype({"city": "category", "since": "datetime64[s]"}),
    "zone": lambda X: X.assign(since=X["since"].dt.tz_localize("UTC")),
}


@pytest.mark.parametrize("kind", KINDS)
def test_o01_every_dtype_of_a_column_is_one_model(kind: str) -> None:
    X, y = visits()
    model = classifier(kind, max_epochs=3).fit(X, y)
    expected = scores(model, X)
    for name, spell in SPELLINGS.items():
        other = spell(X)
        np.testing.assert_array_equal(scores(model, other), expected, err_msg=name)
        twin = classifier(kind, max_epochs=3).fit(other, y)
        np.testing.assert_array_equal(scores(twin, X), expected, err_msg=name)


class Exporter:
    """A table of some library that only hands out Arrow data."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


class Converter:
    """A table of some library that can become a frame."""

    def __init__(self, table: pa.Table) -> None:
        self.columns, self.to_pandas = table.column_names, table.to_pandas


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "library", [lambda table: table, pl.from_arrow, Exporter, Converter]
)
def test_o01_tables_of_other_libraries(kind: str, library: Any) -> None:
    X, y = visits()
    model = classifier(kind, max_epochs=3).fit(X, y)
    table = library(pa.Table.from_pandas(X))
    twin = classifier(kind, max_epochs=3).fit(table, pa.chunked_array([y]))
    assert twin.feature_names_in_.tolist() == list(X.columns)
    turned = library(pa.Table.from_pandas(X[X.columns[::-1]]))
    np.testing.assert_array_equal(scores(twin, turned), scores(model, X))
    if hasattr(model, "explain_local"):
        ours, theirs = model.explain_local(X), twin.explain_local(turned)
        assert theirs.terms == ours.terms
        np.testing.assert_array_equal(theirs.values, ours.values)


@pytest.mark.parametrize("kind", KINDS)
def test_o01_booleans_are_two_levels_and_dates_are_days(kind: str) -> None:
    X, y = visits()
    model = classifier(kind, max_epochs=3).fit(X.drop(index=3), np.delete(y, 3))
    member, since = model.encoder_.features[2:]
    assert member.level_names == ("False", "True")
    assert since.is_date
    days = (DAYS - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)
    assert (since.knots.min(), since.knots.max()) == (min(days), max(days))
    row = X.iloc[[0]].astype({"since": object})
    found = []
    for date in (row["since"].iloc[0], str(row["since"].iloc[0])):
        found.append(scores(model, row.assign(since=date)))
    for truth in (row["member"].iloc[0], int(row["member"].iloc[0])):
        found.append(scores(model, row.assign(member=truth)))
    assert len(np.unique(found)) == 1
    with pytest.raises(TypeError, match=r"^Column 'since' must hold dates such as 2"):
        model.predict(row.assign(since="soon"))


def codes() -> tuple[pd.DataFrame, np.ndarray]:
    """Return months with codes -9 and -8 that mean the opposite of few months."""
    rng = np.random.default_rng(102)
    months = rng.integers(0, 60, 300).astype(float)
    y = (months > 30).astype(int)
    coded = rng.random(300) < 0.3
    months[coded], y[coded] = rng.choice([-9.0, -8.0], coded.sum()), 1
    return pd.DataFrame({"months": months, "other": rng.normal(size=300)}), y


@pytest.mark.parametrize("kind", KINDS)
def test_o01_special_values_are_levels_of_their_own(kind: str) -> None:
    X, y = codes()
    model = classifier(kind, special_values={"months": [-9, -8, -7]}).fit(X, y)
    check_fit(model, X)
    assert model.score(X, y) > 0.9
    assert model.encoder_.features[0].level_names == ("-9", "-8")
    if hasattr(model, "explain_local"):
        curve = model.explain_global().curve("months")
        assert curve.missing.keys() == {"-9", "-8"}
        assert min(curve.x) >= 0
        assert (
            model.explain_local(X[X["months"] == -9][:1])
            .ledger(0)["value"]
            .tolist()
            .count("-9")
        )
    with pytest.warns(UserWarning, match=r"months: '-7.0' \(1 rows\)"):
        model.predict(X[:1].assign(months=-7.0))
    message = r"^special_values names columns that the table doesn't have: \['month'\]$"
    with pytest.raises(ValueError, match=message):
        classifier(kind, special_values={"month": [-9]}).fit(X, y)
    if kind not in TREES:  # whose codes are numbers while they train
        numbers = model.encoder_.features[0].knots
        assert (numbers >= 0).all()
