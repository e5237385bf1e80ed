"""The README's section on accuracy and speed says what the reports' files say."""

from __future__ import annotations

from pathlib import Path

import pytest

from spam_core.benchmark.accuracy import make_report as accuracy_report
from spam_core.benchmark.readme import BEGIN, END, rewrite, section
from spam_core.benchmark.speed import make_report as speed_report
from spam_core.benchmark.tuned import make_report as tuned_report
from spam_core.cli import main
from tests.benchmark.test_accuracy import a_fit, lower

ROOT = Path(__file__).resolve().parents[2]
REPORTS = ROOT / "assets" / "benchmarks"


def test_the_readme_is_what_the_files_say() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    wanted = rewrite(text, REPORTS)
    assert text == wanted, "run `python -m spam_core benchmark readme`"


def test_every_report_that_the_readme_links_is_there() -> None:
    for name in section(REPORTS).split("](assets/benchmarks/")[1:]:
        assert (REPORTS / name.partition(")")[0]).is_file()


def test_main_models_stand_beside_the_papers_best(tmp_path: Path) -> None:
    spam = {"label": "SPAM, order 2", "model": "spam"}
    fits = [
        a_fit(**spam, scores=lower(0.44)),
        a_fit(**spam, scores=lower(0.46), seed=1),
        a_fit(scores=lower(0.48)),
        a_fit(table="bike_sharing", label="XGBoost", scores=lower(39.4)),
        a_fit(table="heloc", note="over the limit of 60 seconds", scores=None),
    ]
    accuracy_report(fits).save(tmp_path)
    text = section(tmp_path)
    head = "|  | SPAM, order 2 | EBM 3x | XGBoost | the paper's best SPAM |"
    assert head in text
    line = "**0.4500 ± 0.0141** | 0.4800 (1 seed) | – | 0.4865 |"
    assert f"| california, RMSE ↓, 2 seeds | {line}" in text
    assert "| bike_sharing, RMSE ↓, 1 seed | – | – | **39.40** | – |" in text
    assert "heloc" not in text  # nothing was measured


def test_of_the_networks_the_best_is_shown(tmp_path: Path) -> None:
    small, large = "DNN 128-128-64-64-64", "DNN 1024-512-512"
    fits = [
        a_fit(label=small, scores=lower(0.50)),
        a_fit(label=large, scores=lower(0.45)),
        a_fit(label=small, table="bike_sharing", scores=lower(40.0)),
        a_fit(label=large, table="bike_sharing", scores=lower(41.0)),
        a_fit(label="XGBoost", table="bike_sharing", note="over", scores=None),
    ]
    accuracy_report(fits).save(tmp_path)
    text = section(tmp_path)
    assert "1 seed | – | **0.4500** (1024-512-512) | 0.4865 |" in text
    assert "1 seed | – | **40.00** | – |" in text


def test_speed_is_a_line_a_model(tmp_path: Path) -> None:
    fits = [
        a_fit(label="EBM 3x", seconds=60.0, scores=lower(0.5), epochs=0),
        a_fit(label="XGBoost", model="xgboost", seconds=2.0, epochs=0),
    ]
    speed_report(fits).save(tmp_path)
    assert "| california | XGBoost | 2.0 | 30 | – | – | 1 | 0.50 |" in section(tmp_path)


def test_tuned_models_stand_side_by_side(tmp_path: Path) -> None:
    searched = {"trials": 30, "complete": 9, "search_seconds": 4.0, "validation": 0.5}
    peer = {"label": "XGBoost, tuned", "model": "xgboost", **searched}
    spam = {"label": "SPAM, tuned", "model": "spam", **searched}
    fits = [
        a_fit(**spam, scores=lower(0.40)),
        a_fit(**peer, scores=lower(0.50)),
        a_fit(**peer, table="bike_sharing", scores=lower(39.4)),
    ]
    tuned_report(fits).save(tmp_path)
    text = section(tmp_path)
    assert "|  | SPAM, tuned | XGBoost, tuned | SPAM's error / XGBoost's |" in text
    assert "| california, RMSE ↓, 1 seed | **0.4000** | 0.5000 | 0.800 |" in text
    assert "| bike_sharing, RMSE ↓, 1 seed | – | **39.40** | – |" in text


def test_nothing_measured_is_said(tmp_path: Path) -> None:
    assert section(tmp_path) == "Nothing is measured yet."
    accuracy_report([a_fit(note="no", scores=None)]).save(tmp_path)
    assert section(tmp_path) == "No fit is measured yet."


def test_another_of_its_kind_stands_where_a_model_is_not_measured(
    tmp_path: Path,
) -> None:
    fits = [
        a_fit(label="SPAM, order 2", model="spam", scores=lower(0.44)),
        a_fit(table="bike_sharing", label="SPAM-Linear, order 2", scores=lower(39.4)),
        a_fit(label="SPAM, order 3", model="spam", scores=lower(0.45)),
        a_fit(table="bike_sharing", label="SPAM-Linear, order 3", scores=lower(39.5)),
    ]
    accuracy_report(fits).save(tmp_path)
    text = section(tmp_path)
    lines = [
        "| california, RMSE ↓, 1 seed | **0.4400** | 0.4500 | 0.4865 |",
        "| bike_sharing, RMSE ↓, 1 seed | **39.40** (linear map) | "
        "39.50 (linear map) | – |",
    ]
    assert all(line in text for line in lines)


def test_the_command_writes_between_the_marks(tmp_path: Path, capsys) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n\n{BEGIN}\nold\n{END}\n\nafter\n")
    words = ["benchmark", "readme", "--page", str(page), "--reports", str(tmp_path)]
    assert main(words) == 0
    assert "written anew" in capsys.readouterr().out
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")
    assert "old" not in text
    assert main(words) == 0
    assert "as it was" in capsys.readouterr().out
    assert page.read_text() == text


@pytest.mark.parametrize(
    "text", ["", BEGIN, f"{END}\n{BEGIN}", f"{BEGIN}\n{END}\n{BEGIN}"]
)
def test_a_page_without_the_marks_is_refused(text, tmp_path, capsys) -> None:
    page = tmp_path / "page.md"
    page.write_text(text)
    assert main(["benchmark", "readme", "--page", str(page)]) == 2
    assert "once each and in this order" in capsys.readouterr().err
    assert page.read_text() == text
