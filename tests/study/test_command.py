"""The command line: what it prints, writes and refuses."""

from __future__ import annotations

import argparse
import json
import re

import pytest

from spam_core.cli import simulate
from spam_core.estimators import fitting

QUICK = {
    "spam": {"n_members": 1, "max_epochs": 20, "rank": 2, "n_knots": 8},
    "spam-linear": {"n_members": 1, "max_epochs": 20},
    "dnn": {"hidden_units": (8,), "learning_rate": 0.03},
}
FEW = ["--samples", "60", "--draws", "50"]


@pytest.fixture(autouse=True)
def _quick_models(monkeypatch: pytest.MonkeyPatch) -> None:
    def fit(spec, table):
        params = dict(spec.params) | QUICK[spec.name]
        return fitting.fit(fitting.ModelSpec(spec.name, params), table)

    monkeypatch.setattr(simulate, "fit", fit)


def run(*words: str) -> int:
    parser = argparse.ArgumentParser()
    simulate.add_commands(parser.add_subparsers())
    arguments = parser.parse_args(["simulate", *words])
    return int(arguments.run(arguments))


@pytest.mark.parametrize("name", ["breast_cancer", "wine", "diabetes"])
def test_every_task_prints_accuracies_and_what_people_reached(capsys, name) -> None:
    assert run("--dataset", name, "--rows", "36", *FEW) == 0
    out, error = capsys.readouterr()
    for condition in ("SPAM", "linear", r"DNN \+ LIME", r"DNN \+ KernelSHAP"):
        lines = re.findall(
            rf"^{condition} +(?:[\d.]+ [\d.]+-[\d.]+ *){{6}}$", out, re.M
        )
        assert len(lines) == 2, condition
    assert "the sum reader" in out
    assert "the nearest reader" in out
    assert "with the base" in out
    assert "People, on another data set" in out
    assert "SPAM 0.71, linear 0.67, DNN + LIME 0.65" in out
    assert "explaining: DNN + KernelSHAP (4 of 4)" in error


def test_the_file_has_all_numbers(capsys, tmp_path) -> None:
    path = tmp_path / "simulated.json"
    words = ["--dataset", "breast_cancer", "--rows", "30", "--no-base", *FEW]
    assert run(*words, "--json", str(path)) == 0
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content["table"] == "breast_cancer"
    assert content["settings"]["base_shown"] is False
    assert content["settings"]["rows"] == 30
    assert len(content["accuracy"]) == 4 * 2 * 15
    assert len(content["pair_terms"]) == 4 * 15
    assert content["people_at_7_on_cub"]["SPAM"] == 0.71
    out = capsys.readouterr().out
    assert "without the base" in out
    line = content["accuracy"][6]
    assert (line["condition"], line["reader"], line["E"]) == ("SPAM", "sum", 7)
    assert f"{line['accuracy']:.3f} {line['low']:.3f}-{line['high']:.3f}" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--dataset", "wine", "--rows", "0"], "--rows must be at least 1"),
        (["--dataset", "wine", "--draws", "-1"], "--draws must be at least 1, got -1"),
        (["--dataset", "wine", "--samples", "25"], "twice the 13 columns, got 25"),
        (["--dataset", "wine", "--json", "/none/such/x.json"], "no folder /none/such"),
        ([], "give either --dataset"),
    ],
    ids=str,
)
def test_mistakes_are_refused_before_work(words, said) -> None:
    with pytest.raises(ValueError, match=said):
        run(*words)
