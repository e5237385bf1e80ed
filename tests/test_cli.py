"""The command line: what it prints, and how it fails."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from spam_core import SPAMClassifier, load_dataset, load_model
from spam_core.cli import main
from spam_core.data import Table
from spam_core.data.sparse import NamedCSR

SMALL = ["--members", "2", "--rank", "2", "--epochs", "2", "--set", "n_knots=8"]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return a small saved model of each task."""
    folder = tmp_path_factory.mktemp("models")
    made = {}
    for name in ("gapminder", "breast_cancer", "wine"):
        made[name] = folder / f"{name}.spam"
        arguments = ["--no-compare", "--out", str(made[name])]
        assert main(["fit", "--dataset", name, *SMALL, *arguments]) == 0
    return made


@pytest.fixture(scope="module")
def row_files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return a CSV of twelve rows of each data set."""
    folder = tmp_path_factory.mktemp("rows")
    made = {}
    for name in ("gapminder", "breast_cancer", "wine"):
        made[name] = folder / f"{name}.csv"
        load_dataset(name).X.head(12).to_csv(made[name], index=False)
    return made


def fails(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run a command that must fail; return its one line on standard error."""
    try:
        status = main(list(arguments))
    except SystemExit as stop:  # argparse
        status = stop.code
    out, error = capsys.readouterr()
    assert status == 2
    assert "Traceback" not in out + error
    lines = [
        line for line in error.splitlines() if "error:" in line or "spam-core:" in line
    ]
    assert len(lines) == 1
    return lines[0]


# --- fit -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "first", "guess"),
    [
        ("gapminder", "RMSE", "mean of the target"),
        ("breast_cancer", "AUC", "class shares"),
        ("wine", "accuracy", "class shares"),
    ],
)
def test_fit_prints_scores_beside_the_network_and_a_guess(
    capsys, tmp_path, name, first, guess
) -> None:
    out = tmp_path / "m.spam"
    assert main(["fit", "--dataset", name, *SMALL, "--out", str(out)]) == 0
    printed, progress = capsys.readouterr()
    table = load_dataset(name)
    assert f"{name}: {table.n_rows:,} rows, {table.n_features} columns" in printed
    head, *rows = printed.split("test rows\n")[1].splitlines()[:4]
    assert head.split()[0] == first
    assert [row.split()[0] for row in rows] == ["SPAM", "DNN", guess.split()[0]]
    assert f"{len(table.splits['test']):,} test rows" in printed
    assert "training seconds" in head
    terms = re.findall(r"^ +(\d+) (.+?)  +(\S+)$", printed, flags=re.MULTILINE)
    n_terms = min(10, table.n_features * (table.n_features + 1) // 2)
    assert [int(place) for place, *_ in terms] == list(range(1, n_terms + 1))
    sizes = [float(size) for *_, size in terms]
    assert sizes == sorted(sizes, reverse=True)
    assert "epochs" in progress
    assert load_model(out).n_features_in_ == table.n_features


def test_the_printed_score_is_that_of_the_saved_model(capsys, models) -> None:
    del capsys
    table = load_dataset("gapminder")
    test = table.split()
    error = load_model(models["gapminder"]).predict(test.X_test) - test.y_test
    command = ["fit", "--dataset", "gapminder", *SMALL, "--no-compare"]
    again = subprocess.run(
        [sys.executable, "-m", "spam_core", *command],
        capture_output=True,
        text=True,
        check=True,
    )
    (line,) = [row for row in again.stdout.splitlines() if row.startswith("SPAM")]
    assert_allclose(float(line.split()[1]), (error**2).mean() ** 0.5, rtol=1e-3)


def test_fit_reads_a_file_and_tells_the_task(capsys, tmp_path) -> None:
    table = load_dataset("wine")
    data = tmp_path / "my wine.csv"
    table.X.assign(kind=table.y).to_csv(data, index=False)
    arguments = ["--data", str(data), "--target", "kind", *SMALL, "--no-compare"]
    assert main(["fit", *arguments]) == 0
    assert "my wine: 178 rows, 13 columns, target kind (multiclass)" in (
        capsys.readouterr().out
    )


def test_a_number_can_be_called_a_class(capsys, tmp_path) -> None:
    data = tmp_path / "t.csv"
    rows = [f"{k % 7},{k % 24}" for k in range(480)]
    data.write_text("\n".join(["a,y", *rows]), encoding="utf-8")
    fit = ["fit", "--data", str(data), "--target", "y", *SMALL, "--no-compare"]
    assert main([*fit, "--task", "classification"]) == 0
    assert "(multiclass)" in capsys.readouterr().out
    assert main([*fit, "--task", "regression"]) == 0
    assert "(regression)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit"], "give either --dataset NAME or --data FILE"),
        (["fit", "--dataset", "wine", "--data", "a.csv"], "give either"),
        (["fit", "--dataset", "wine", "--target", "y"], "--target goes with --data"),
        (["fit", "--dataset", "nope"], "There is no data set 'nope'. Known: "),
        (["fit", "--data", "nope.csv", "--target", "y"], "no file 'nope.csv'"),
        (["fit", "--data", "nope.csv"], "--data needs --target"),
        (["fit", "--dataset", "wine", "--order", "9"], "order must be"),
        (["fit", "--dataset", "wine", "--model", "x"], "No model is called 'x'"),
        (["fit", "--dataset", "wine", "--set", "a=1"], "spam has no setting 'a'"),
        (["fit", "--dataset", "wine", "--set", "a"], "expected NAME=VALUE, got 'a'"),
        (["fit", "--dataset", "wine", "--rank", "x"], "expected a number, or numbers"),
        (["fit", "--dataset", "wine", "--out", "no/m.spam"], "there is no folder"),
        (["fit", "--dataset", "wine", "--out", "."], "--out must be a file"),
        (["fit", "no.json"], "no.json: No such file"),
        (["fit", "no.json", "--dataset", "wine"], "either a job file or --dataset"),
        (["explain", "no.spam", "rows.csv"], "no.spam"),
        (["dance"], "invalid choice: 'dance'"),
        ([], "the following arguments are required: COMMAND"),
    ],
)
def test_a_mistake_is_one_plain_line(
    capsys, tmp_path, monkeypatch, arguments, message
) -> None:
    monkeypatch.chdir(tmp_path)
    assert message in fails(capsys, *arguments)


def test_target_faults_are_named(capsys, tmp_path) -> None:
    data = tmp_path / "t.csv"
    data.write_text("a,b,y\n1,2,\n2,3,1\n4,5,0\n", encoding="utf-8")
    assert "There is no column 'z'. Columns: a, b, y" in fails(
        capsys, "fit", "--data", str(data), "--target", "z"
    )
    assert "missing in 1 of 3 rows" in fails(
        capsys, "fit", "--data", str(data), "--target", "y"
    )


def test_datasets_lists_every_name(capsys) -> None:
    assert main(["datasets"]) == 0
    printed = capsys.readouterr().out
    for name in ("california", "gapminder", "breast_cancer", "wine"):
        assert re.search(rf"^{name} ", printed, flags=re.MULTILINE)


# --- explain -------------------------------------------------------------------------


def ledgers(printed: str) -> list[dict[str, float]]:
    """Read the ledgers back: line -> amount, with base first and score last."""
    found = []
    for block in printed.split("Row ")[1:]:
        lines = re.findall(r"^  (\S.*?)  +([+-]?[\d.e+-]+)$", block, flags=re.MULTILINE)
        found.append({name: float(amount) for name, amount in lines})
    return found


@pytest.mark.parametrize("view", ["pure", "raw"])
@pytest.mark.parametrize("name", ["gapminder", "breast_cancer", "wine"])
def test_the_printed_ledger_sums_to_the_prediction(
    capsys, models, row_files, name, view
) -> None:
    model = load_model(models[name])
    rows = load_dataset(name).X.head(12)
    command = ["explain", str(models[name]), str(row_files[name])]
    assert main([*command, "-E", "4", "--view", view]) == 0
    printed = capsys.readouterr().out
    found = ledgers(printed)
    assert len(found) == 10
    assert "2 more rows" in printed
    regression = not hasattr(model, "classes_")
    scores = model.predict(rows) if regression else model.decision_function(rows)
    for k, ledger in enumerate(found):
        names, amounts = list(ledger), list(ledger.values())
        assert names[0] == "base"
        assert names[-1] == "score"
        assert len(names) == 1 + 4 + 1 + 1
        assert_allclose(sum(amounts[:-1]), amounts[-1], rtol=1e-3, atol=1e-3)
        score = scores[k] if scores.ndim == 1 else scores[k].max()
        assert_allclose(amounts[-1], score, rtol=1e-4)
    assert len(re.findall(r"base .* terms .* = score", printed)) == 10
    assert ("probability: " in printed) == (name != "gapminder")


def test_one_row_one_class(capsys, models, row_files) -> None:
    command = ["explain", str(models["wine"]), str(row_files["wine"]), "--row", "11"]
    assert main([*command, "--class", "class_2", "-E", "3"]) == 0
    printed = capsys.readouterr().out
    (ledger,) = ledgers(printed)
    model = load_model(models["wine"])
    scores = model.decision_function(load_dataset("wine").X.iloc[[11]])
    assert_allclose(ledger["score"], scores[0, 2], rtol=1e-4)
    assert "of class_2" in printed
    assert printed.startswith("Row 11 of ")


def test_explain_names_what_is_wrong(capsys, models, row_files, tmp_path) -> None:
    model, rows = str(models["wine"]), str(row_files["wine"])
    assert "--row must be from 0 to 11" in fails(
        capsys, "explain", model, rows, "--row", "12"
    )
    assert "--class must be one of ['class_0', 'class_1', 'class_2'], got 'x'" in fails(
        capsys, "explain", model, rows, "--class", "x"
    )
    assert "-E must be at least 1" in fails(capsys, "explain", model, rows, "-E", "0")
    narrow = tmp_path / "narrow.csv"
    load_dataset("wine").X.drop(columns="alcohol").head(2).to_csv(narrow, index=False)
    assert "alcohol" in fails(capsys, "explain", model, str(narrow))
    gapminder = [str(models["gapminder"]), str(row_files["gapminder"])]
    assert "--class is for classifiers" in fails(
        capsys, "explain", *gapminder, "--class", "x"
    )
    pickled = tmp_path / "m.spam"
    pickled.write_bytes(b"\x80\x04not a model")
    assert "m.spam" in fails(capsys, "explain", str(pickled), rows)


def test_a_black_box_has_no_ledger(capsys, tmp_path, row_files) -> None:
    out = tmp_path / "dnn.spam"
    fit = ["fit", "--dataset", "wine", "--model", "dnn", "--epochs", "1"]
    assert main([*fit, "--out", str(out)]) == 0
    capsys.readouterr()
    assert "no glass-box" in fails(capsys, "explain", str(out), str(row_files["wine"]))


def test_a_sparse_model_explains_rows_of_a_named_set(
    capsys, monkeypatch, tmp_path
) -> None:
    words = tuple("abcdef")
    rng = np.random.default_rng(0)
    cells = rng.uniform(size=(60, 6)) * (rng.uniform(size=(60, 6)) < 0.5)
    X = NamedCSR(cells, feature_names=words)
    y = pd.Series(np.where(cells[:, 0] > cells[:, 1], "up", "down"))
    model = SPAMClassifier(feature_map="linear", n_members=1, max_epochs=2, rank=2)
    model.fit(X, y).save(tmp_path / "m.spam")
    table = Table(
        name="letters",
        X=X,
        y=y,
        task="binary",
        target="way",
        description="Letters.",
        source="made here",
        licence="none",
        splits={
            "train": np.arange(40),
            "validation": np.arange(40, 50),
            "test": np.arange(50, 60),
        },
        feature_names=words,
    )
    monkeypatch.setattr("spam_core.cli.explain.dataset_names", lambda: ("letters",))
    monkeypatch.setattr("spam_core.cli.explain.load_dataset", lambda _: table)
    command = ["explain", str(tmp_path / "m.spam"), "letters", "--row", "3"]
    assert main([*command, "--view", "raw"]) == 0
    (ledger,) = ledgers(capsys.readouterr().out)
    scores = model.decision_function(X[[53]])
    assert_allclose(ledger["score"], scores[0], rtol=1e-4)
    assert "--row must be from 0 to 9" in fails(capsys, *command[:-1], "10")
