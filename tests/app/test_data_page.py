"""The page Data: what a table is, and bringing one's own."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.app.helpers import (
    DATASETS,
    bring,
    charts,
    labelled,
    open_app,
    texts,
    use,
)
from ui import compute

GOOD = "a,b,y\n" + "".join(
    f"{i}.5,{'rgb'[i % 3]},{'yes' if i % 2 else 'no'}\n" for i in range(40)
)


def csv(frame: pd.DataFrame) -> bytes:
    return frame.to_csv(index=False).encode()


def numbers(n: int = 50) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame({"x": rng.normal(size=n), "z": rng.normal(size=n)})


def use_button(at):
    return labelled(at, "button", "Use this table")


@pytest.mark.parametrize("dataset", DATASETS)
def test_the_page_says_what_a_table_is(dataset) -> None:
    at = open_app(dataset, "data.py")
    assert not at.exception
    assert not at.error
    table = compute.table(dataset)
    (figure,) = charts(at)
    assert sum(figure["data"][0]["x" if table.classes else "y"]) == table.n_rows
    assert [metric.value for metric in at.metric] == [
        f"{table.n_rows:,}",
        str(table.n_features),
        f"{len(table.splits['test']):,}",
    ]
    columns = next(d.value for d in at.dataframe if "kind" in d.value)
    assert list(columns["column"]) == list(table.feature_names)
    assert "Licence:" in texts(at)
    assert all(name in texts(at) for name in ("Source", "To predict"))


def test_left_out_columns_are_named_with_their_reason() -> None:
    at = open_app("gapminder", "data.py")
    assert "Left out: country" in texts(at)


def test_a_good_file_becomes_the_data_set() -> None:
    at = bring("cases.csv", GOOD.encode())
    assert "CSV, utf\\-8, separator comma, decimal point; 40 rows" in texts(at)
    assert use_button_missing(at)
    key = use(at, "y")
    assert key.startswith("own-")
    assert "cases.csv (yours)" in at.selectbox(key="dataset").options
    assert [metric.value for metric in at.metric] == ["40", "2", "8"]
    assert "cases\\.csv is now your data set" in at.success[0].value


def use_button_missing(at) -> bool:
    return not [b for b in at.button if b.label == "Use this table"]


@pytest.mark.parametrize(
    ("content", "line", "first"),
    [
        (b"a;b;y\n1,5;2;0\n3,25;4;1\n", "separator semicolon, decimal comma", 1.5),
        (b"a\tb\ty\n1.5\t2\t0\n3.25\t4\t1\n", "separator tab", 1.5),
        (b"a|b|y\n1.5|2|0\n3.25|4|1\n", "separator pipe", 1.5),
        ("größe;b\n1,5;2\n3,5;4\n".encode("latin-1"), "cp1252", 1.5),
        (b"\xef\xbb\xbfid,b\n7,2\n8,4\n", "utf\\-8\\-sig", 7),
    ],
)
def test_o16_what_was_found_out_is_shown_with_a_preview(content, line, first) -> None:
    at = bring("file.csv", content)
    assert not at.exception
    assert not at.error
    assert line in texts(at)
    preview = at.dataframe[0].value
    assert preview.iloc[0, 0] == first
    assert preview.columns[0] in ("a", "größe", "id")


def workbook() -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/workbook.xml", "<workbook/>")
    return held.getvalue()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (bytes(range(256)) * 20, "text"),
        (b"a,b,y\n", "row"),
        (b"a,a,b\n1,2,3\n", "repeat"),
        (b"", "empty"),
        (workbook(), "Excel"),
        (b"PAR1 but then nothing of the kind", "Parquet"),
        (b"a,b\n1,2\n3,4,5\n", "cells"),
    ],
    ids=["undecodable", "header", "duplicates", "empty", "xlsx", "parquet", "ragged"],
)
def test_o16_what_cannot_be_read_is_refused_beside_the_control(content, words) -> None:
    at = bring("file.csv", GOOD.encode())
    key = use(at, "y")
    bring("other.csv", content, at)
    assert not at.exception
    (error,) = at.error
    assert words.lower() in error.value.lower()
    assert "Traceback" not in error.value
    assert at.selectbox(key="dataset").value == key
    assert "The data set in use is file\\.csv" in texts(at)


def test_o16_advice_names_the_control_and_not_an_argument() -> None:
    at = bring("adult.data", b"39,State-gov,13\n50,Private,9\n38,Private,11\n")
    words = at.error[0].value.replace("\\", "")
    assert "looks like data" in words
    assert "header=" not in words
    assert "change “The first line”" in words
    labelled(at, "selectbox", "The first line").select(False).run()
    assert not at.error
    assert list(at.dataframe[0].value) == ["column_1", "column_2", "column_3"]


def test_reading_can_be_corrected() -> None:
    at = bring("file.csv", b"a,a,b\n1,2,3\n4,5,6\n")
    assert at.error
    labelled(at, "checkbox", "Number columns whose names repeat").check().run()
    assert not at.error
    assert list(at.dataframe[0].value) == ["a", "a (2)", "b"]
    labelled(at, "selectbox", "Separator").select(";").run()
    assert not at.exception
    labelled(at, "selectbox", "Encoding").select("utf-16").run()
    assert not at.exception


def test_more_spellings_of_missing_are_read() -> None:
    at = bring("file.csv", GOOD.replace("\n3.5,", "\nunknown,").encode())
    labelled(at, "text_input", "More spellings").set_value("unknown").run()
    assert "'unknown'" in texts(at).replace("\\", "")
    assert at.dataframe[0].value["a"].dtype == np.float64


def test_o16_na_can_stay_text() -> None:
    at = bring("file.csv", b"country,y\nNA,1\nDE,2\n,3\nNA,4\n")
    assert at.dataframe[0].value["country"].isna().tolist() == [True, False, True, True]
    assert "'NA'" in texts(at).replace("\\", "")
    labelled(at, "checkbox", "NA, null, ?").check().run()
    assert at.dataframe[0].value["country"].tolist()[:2] == ["NA", "DE"]
    assert at.dataframe[0].value["country"].isna().sum() == 1
    assert "'NA'" not in texts(at).replace("\\", "")


def test_a_parquet_file_is_read() -> None:
    held = io.BytesIO()
    numbers().to_parquet(held)
    at = bring("file.parquet", held.getvalue())
    assert "Parquet; 50 rows" in texts(at)
    use(at, "z")
    assert at.metric[0].value == "50"


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (["same"] * 50, "1 distinct value"),
        ([None] * 49 + ["a"], "1 distinct value"),
        ([f"name {i}" for i in range(50)], "too many to be classes"),
    ],
    ids=["one class", "one value", "names"],
)
def test_o08_a_target_that_cannot_be_learnt_is_refused(target, words) -> None:
    at = bring("file.csv", csv(numbers().assign(y=target)))
    labelled(at, "selectbox", "Column to predict").select("y").run()
    assert not at.exception
    assert words in at.error[0].value.replace("\\", "")
    assert use_button(at).disabled


def test_o08_quantities_are_no_classes() -> None:
    at = bring("file.csv", csv(numbers()))
    labelled(at, "selectbox", "Column to predict").select("z").run()
    task = labelled(at, "radio", "It is")
    assert task.value == "regression"
    task.set_value("classification").run()
    assert "quantities, not classes" in at.error[0].value
    assert use_button(at).disabled
    labelled(at, "radio", "It is").set_value("regression").run()
    assert not at.error
    assert not use_button(at).disabled


def test_o08_words_are_no_number() -> None:
    at = bring("file.csv", GOOD.encode())
    labelled(at, "selectbox", "Column to predict").select("y").run()
    labelled(at, "radio", "It is").set_value("regression").run()
    assert "which is no number" in at.error[0].value


def test_o08_rows_without_a_target_are_counted_and_can_be_left_out() -> None:
    frame = numbers().assign(y=[None, None, *(["a", "b"] * 24)])
    at = bring("file.csv", csv(frame))
    labelled(at, "selectbox", "Column to predict").select("y").run()
    assert "y is missing in 2 of 50 rows" in at.warning[0].value
    assert use_button(at).disabled
    labelled(at, "checkbox", "Leave out these 2 rows").check().run()
    use_button(at).click().run()
    assert not at.exception
    assert at.metric[0].value == "48"


def test_a_column_can_be_left_out_and_identifiers_are() -> None:
    frame = numbers().assign(
        who=[f"customer {i}" for i in range(50)], row=range(1, 51), y=["a", "b"] * 25
    )
    at = bring("file.csv", csv(frame))
    labelled(at, "selectbox", "Column to predict").select("y").run()
    left_out = labelled(at, "multiselect", "Columns to leave out")
    assert left_out.value == ["who", "row"]
    left_out.set_value(["who", "row", "x", "z"]).run()
    assert at.error[0].value == "No column is left to predict from."
    assert use_button(at).disabled
    labelled(at, "multiselect", "Columns to leave out").set_value(
        ["who", "row", "x"]
    ).run()
    use_button(at).click().run()
    assert at.metric[1].value == "1"
    assert "Left out: who, nearly every row has a value of its own" in texts(at)


def test_a_column_that_gives_the_target_away_is_pointed_to() -> None:
    outcome = ["yes", "no", "no", "yes", "no"] * 10
    died = [3.0 if y == "yes" else None for y in outcome]
    at = bring("file.csv", csv(numbers().assign(died_on_day=died, y=outcome)))
    labelled(at, "selectbox", "Column to predict").select("y").run()
    (told,) = at.warning
    assert "each alone: died\\_on\\_day (AUC 1.00)" in told.value
    assert not use_button(at).disabled
    labelled(at, "multiselect", "Columns to leave out").set_value(["died_on_day"]).run()
    assert not at.warning


def test_codes_that_stand_for_no_value_go_where_they_occur() -> None:
    frame = numbers().round(1).assign(y=["a", "b"] * 25)
    frame.loc[:4, "x"] = -9
    at = bring("file.csv", csv(frame))
    labelled(at, "selectbox", "Column to predict").select("y").run()
    codes = labelled(at, "text_input", "Numbers that stand for no value")
    codes.set_value("nine").run()
    assert "Write numbers with commas" in at.error[0].value
    labelled(at, "text_input", "Numbers that").set_value("-77").run()
    assert "No column of numbers holds" in at.error[0].value
    labelled(at, "text_input", "Numbers that").set_value("-9, -8").run()
    assert not at.error
    assert labelled(at, "multiselect", "In these columns").value == ["x"]
    use_button(at).click().run()
    assert not at.exception
    columns = next(d.value for d in at.dataframe if "kind" in d.value)
    assert columns["special codes"].tolist() == [5, 0]


def test_o01_codes_are_suggested_and_taken_with_a_click() -> None:
    frame = numbers().round(1).assign(y=["a", "b"] * 25, age=np.arange(50) + 20)
    frame.loc[:4, "age"] = -9
    frame.loc[5:9, "age"] = -8
    at = bring("file.csv", csv(frame))
    labelled(at, "selectbox", "Column to predict").select("y").run()
    assert "look like codes: many rows of age hold one" in texts(at)
    labelled(at, "button", "Take").click().run()
    assert labelled(at, "text_input", "Numbers that").value == "-9, -8"
    assert labelled(at, "multiselect", "In these columns").value == ["age"]
    use_button(at).click().run()
    assert not at.exception
    columns = next(d.value for d in at.dataframe if "kind" in d.value)
    assert columns["special codes"].tolist() == [0, 0, 10]


NAMES = [
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


def test_o05_odd_names_are_shown_as_they_are() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, len(NAMES))), columns=NAMES)
    at = bring("odd $ names $.csv", csv(frame))
    assert list(at.dataframe[0].value) == NAMES
    use(at, "{{x}}")
    columns = next(d.value for d in at.dataframe if "kind" in d.value)
    assert list(columns["column"]) == NAMES[:-1]
    assert "\\{\\{x\\}\\}" in texts(at)


def test_an_own_table_can_be_removed() -> None:
    at = bring("file.csv", GOOD.encode())
    key = use(at, "y")
    path = Path(at.session_state["workspace"].tables[key].path)
    assert path.is_file()
    at.button(key="remove").click().run()
    assert not at.exception
    assert at.selectbox(key="dataset").value == "gapminder"
    assert not path.exists()
