"""Every named data set has its shape, its split, no leaks, and says what it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from spam_core.data import (
    Table,
    dataset_info,
    dataset_names,
    load_dataset,
    read_table,
)
from spam_core.data.datasets import _is_available

# rows, features, (train, validation, test), as the data folder's list says
FROM_FILES = {
    "california": (20640, 8, (14448, 2064, 4128)),
    "heloc": (10459, 23, (7321, 1046, 2092)),
    "covertype": (109786, 54, (76849, 10979, 21958)),
    "newsgroups": (18846, 155448, (9899, 1415, 7532)),
    "cub": (11788, 104, (4796, 1198, 5794)),
    "compas": (7214, 16, (5049, 722, 1443)),
    "adult": (48842, 14, (28490, 4071, 16281)),
    "credit_default": (30000, 23, (21000, 3000, 6000)),
    "telco_churn": (7043, 19, (4929, 705, 1409)),
    "bike_sharing": (17379, 12, (12165, 1738, 3476)),
    "support2": (9105, 32, (6373, 911, 1821)),
    "mimic2_iac": (1776, 36, (1242, 178, 356)),
    "titanic": (1309, 9, (916, 131, 262)),
    "higgs_lgbm": (7500, 28, (6125, 875, 500)),
}
OFFLINE = {
    "gapminder": (1704, 4),
    "diabetes": (442, 10),
    "breast_cancer": (569, 30),
    "wine": (178, 13),
    "digits": (1797, 64),
    "known_regression": (2000, 6),
    "known_binary": (4000, 5),
    "known_multiclass": (4000, 4),
}
LEAKS = {
    "compas": "is_recid violent_recid is_violent_recid event start end in_custody "
    "out_custody id compas_screening_date r_offense_date vr_offense_date",
    "bike_sharing": "casual registered instant dteday",
    "support2": "d.time slos surv2m surv6m prg2m prg6m sfdm2 dnr dnrday charges death "
    "totcst totmcst avtisst",
    "mimic2_iac": "icu_exp_flg day_28_flg mort_day_censored censor_flg icu_los_day "
    "hospital_los_day",
    "titanic": "boat body name ticket",
    "telco_churn": "customerID",
    "credit_default": "ID",
    "covertype": "source",
    "cub": "image_id image class_name split cbm_val",
    "gapminder": "country iso_alpha iso_num",
}


@pytest.fixture(scope="session")
def tables(data_dir: Path) -> dict[str, Table]:
    """Return every table that comes from a file, loaded once."""
    return {name: load_dataset(name) for name in FROM_FILES}


def check_table(table: Table) -> None:
    """Check what holds for every table."""
    info = dataset_info(table.name)
    assert (info.n_rows, info.n_features) == table.X.shape
    assert (info.task, info.target) == (table.task, table.target)
    assert len(table.y) == table.n_rows
    assert table.y.name == table.target
    assert not table.y.isna().any()
    assert table.description.endswith(".")
    assert table.source
    assert table.licence
    assert table.split_note == info.split_note
    rows = np.concatenate(list(table.splits.values()))
    np.testing.assert_array_equal(np.sort(rows), np.arange(table.n_rows))
    assert min(map(len, table.splits.values())) > 0
    assert all(table.dropped.values())
    if isinstance(table.X, pd.DataFrame):
        assert list(table.X) == list(table.feature_names)
        assert not {table.target, *table.dropped} & set(table.X)
        assert set(table.columns) <= set(table.X)
        assert set(table.special_values) <= set(table.X)
        # pandas 3 strings, never object columns
        assert not any(map(pd.api.types.is_object_dtype, table.X.dtypes))
    if table.task == "regression":
        assert table.target_unit
        assert table.classes == ()
    else:
        for part, positions in table.splits.items():
            seen = set(table.y.iloc[positions])
            assert seen == set(table.classes), part
        assert len(table.class_names) == len(table.classes)
    assert (table.task == "binary") == (table.positive is not None)


def test_the_lists_above_are_complete() -> None:
    assert set(dataset_names()) == set(FROM_FILES) | set(OFFLINE)


@pytest.mark.parametrize("name", OFFLINE)
def test_sets_that_are_always_there(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPAM_DATA_DIR", raising=False)
    table = load_dataset(name)
    check_table(table)
    assert table.X.shape == OFFLINE[name]
    assert dataset_info(name).offline
    assert name in dataset_names(available=True)


@pytest.mark.parametrize("name", FROM_FILES)
def test_sets_from_files(tables: dict[str, Table], name: str) -> None:
    table = tables[name]
    check_table(table)
    n_rows, n_features, sizes = FROM_FILES[name]
    assert table.X.shape == (n_rows, n_features)
    assert tuple(len(table.splits[part]) for part in table.splits) == sizes
    assert not dataset_info(name).offline
    assert _is_available(name)


@pytest.mark.parametrize("name", LEAKS)
def test_leaks_and_identifiers_are_dropped_with_a_reason(
    name: str, request: pytest.FixtureRequest
) -> None:
    table = (
        load_dataset(name)
        if name in OFFLINE
        else request.getfixturevalue("tables")[name]
    )
    leaks = set(LEAKS[name].split())
    assert leaks <= set(table.dropped)
    assert not leaks & set(table.feature_names)


@pytest.mark.parametrize("name", ["heloc", "credit_default", "telco_churn", "compas"])
def test_random_splits_keep_the_share_of_classes(
    tables: dict[str, Table], name: str
) -> None:
    table = tables[name]
    share = (table.y == table.positive).mean()
    for rows in table.splits.values():
        part = (table.y.iloc[rows] == table.positive).mean()
        assert abs(part - share) < 1.5 / len(rows)


# --- one by one -----------------------------------------------------------------------


def test_california_rows(tables: dict[str, Table]) -> None:
    table = tables["california"]
    assert table.X.iloc[0, :2].tolist() == [8.3252, 41.0]
    assert table.y.iloc[0] == 4.526
    assert round(table.y.mean(), 4) == 2.0686
    assert table.target_unit == "$100,000"


def test_heloc_codes_and_class_of_interest(tables: dict[str, Table]) -> None:
    table = tables["heloc"]
    assert table.special_values == dict.fromkeys(table.X.columns, (-7, -8, -9))
    assert table.classes == ("Bad", "Good")
    assert table.positive == "Bad"
    assert (table.y == "Bad").sum() == 5459
    assert (table.X == -9).all(axis=1).sum() == 588


def test_adult_is_the_official_split_with_clean_labels(
    tables: dict[str, Table],
) -> None:
    table = tables["adult"]
    assert table.classes == ("<=50K", ">50K")
    np.testing.assert_array_equal(table.splits["test"], np.arange(32561, 48842))
    assert table.X.iloc[:32561].isna().sum().sum() == 4262
    assert not (table.X == "?").any().any()
    assert table.X["workclass"].iloc[0] == "State-gov"  # without the space before it


def test_credit_default_codes_are_names(tables: dict[str, Table]) -> None:
    table = tables["credit_default"]
    assert table.X["SEX"].value_counts().to_dict() == {"female": 18112, "male": 11888}
    assert table.X["MARRIAGE"].iloc[0] == "married"
    assert (table.X["EDUCATION"] == "undocumented 5").sum() == 280
    assert table.X["PAY_0"].dtype == np.int64
    assert round(table.y.mean(), 4) == 0.2212


def test_telco_blanks_are_missing_numbers(tables: dict[str, Table]) -> None:
    charges = tables["telco_churn"].X["TotalCharges"]
    assert charges.dtype == np.float64
    assert charges.isna().sum() == 11


def test_bike_sharing_keeps_its_twelve_numbers(tables: dict[str, Table]) -> None:
    table = tables["bike_sharing"]
    names = "season yr mnth hr holiday weekday workingday weathersit temp atemp hum"
    assert list(table.X) == [*names.split(), "windspeed"]
    assert all(pd.api.types.is_numeric_dtype(dtype) for dtype in table.X.dtypes)
    assert table.X["hr"].nunique() == 24


def test_compas_columns_that_stand_twice_are_dropped(tables: dict[str, Table]) -> None:
    table = tables["compas"]
    assert table.dropped["priors_count (2)"] == "the same column a second time"
    assert list(table.X).count("priors_count") == 1
    assert round(table.y.mean(), 3) == 0.451


def test_support2_missing_cells(tables: dict[str, Table], data_dir: Path) -> None:
    assert round(tables["support2"].y.mean(), 3) == 0.259
    detected = read_table(data_dir / "support2" / "support2.csv").detected
    assert detected.n_missing == 47110
    assert detected.n_columns == 47


def test_mimic2_line_ends(tables: dict[str, Table], data_dir: Path) -> None:
    path = data_dir / "mimic2_iac" / "full_cohort_data.csv"
    assert read_table(path).detected.line_end == "\r"
    table = tables["mimic2_iac"]
    assert "Friday" in set(table.X["day_icu_intime"])  # without the spaces after it
    assert round(table.y.mean(), 3) == 0.137


def test_titanic_has_no_empty_row(tables: dict[str, Table], data_dir: Path) -> None:
    table = tables["titanic"]
    assert table.X["pclass"].dtype == table.y.dtype == np.int64
    assert table.X["age"].isna().sum() == 263
    detected = read_table(data_dir / "titanic" / "titanic3.csv").detected
    assert detected.encoding == "utf-8-sig"
    assert "A row without a value" in detected.notes[0]


def test_covertype_keeps_its_groups_of_columns(tables: dict[str, Table]) -> None:
    table = tables["covertype"]
    for group, n in (("Wilderness_Area", 4), ("Soil_Type", 40)):
        columns = [c for c in table.X if c.startswith(group)]
        assert len(columns) == n
        assert (table.X[columns].sum(axis=1) == 1).all()
    assert table.classes == (1, 2, 3, 4, 5, 6, 7)
    assert table.class_names[6] == "Krummholz"


def test_cub_classes_have_names(tables: dict[str, Table]) -> None:
    table = tables["cub"]
    assert table.class_names[0] == "Black footed Albatross"
    assert len(table.classes) == 200
    assert set(np.unique(table.X)) == {0, 1}


def test_newsgroups_words_come_from_earlier_messages_only(
    tables: dict[str, Table],
) -> None:
    table = tables["newsgroups"]
    assert sparse.issparse(table.X)
    assert table.X.format == "csr"
    assert {"The", "the"} <= set(table.feature_names)  # capitals are kept
    earlier = np.concatenate([table.splits["train"], table.splits["validation"]])
    n_documents = table.X[earlier].getnnz(axis=0)
    assert n_documents.min() >= 1  # no word is known from test messages only
    # Row i of X is message i: the words of some messages are where they belong.
    assert table.texts is not None
    for i in (0, 9000, 18845):
        words = [table.feature_names[j] for j in table.X[i].indices]
        assert all(word in table.texts.iloc[i] for word in words)
    norms = sparse.linalg.norm(table.X[:100], axis=1)
    np.testing.assert_allclose(norms, 1, rtol=1e-12)


def test_newsgroups_refuses_to_be_split_anew(tables: dict[str, Table]) -> None:
    with pytest.raises(ValueError, match="test rows would leak"):
        tables["newsgroups"].resplit(1)
    parts = tables["newsgroups"].split()
    assert parts.X_valid.shape == (1415, 155448)


def test_higgs_is_the_given_split(tables: dict[str, Table]) -> None:
    table = tables["higgs_lgbm"]
    assert table.X.iloc[0, :3].tolist() == [0.869, -0.635, 0.226]
    np.testing.assert_array_equal(table.splits["test"], np.arange(7000, 7500))


def test_gapminder_countries_stay_together() -> None:
    table = load_dataset("gapminder")
    assert "CC BY" in table.licence
    assert "Gapminder" in table.source
    assert table.groups is not None
    for some in (table, table.resplit(3), table.resplit(4, 0.2, 0.1)):
        parts = [set(table.groups.iloc[rows]) for rows in some.splits.values()]
        assert sum(map(len, parts)) == 142
        assert len(set.union(*parts)) == 142


def test_breast_cancer_explains_malignant() -> None:
    table = load_dataset("breast_cancer")
    assert table.classes == ("benign", "malignant")
    assert (table.y == "malignant").sum() == 212
