"""Ablations: one setting varied, sums over seeds, and the share of pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from spam_core import SPAMRegressor, load_dataset
from spam_core.benchmark import ablation as module
from spam_core.benchmark.ablation import AXES, ablation
from spam_core.benchmark.child import Children, Job, run
from spam_core.cli import main
from spam_core.models import sparsity
from spam_core.models.spam import SPAM
from spam_core.models.sparsity import pair_share


def fake(self: Children, job: Job, limit: float) -> dict[str, Any]:
    rank = job.parameters.get("rank", 32)
    return {
        "scores": {"rmse": 100.0 / rank + job.seed, "mae": 1.0, "r2": 0.5},
        "seconds": float(rank),
        "epochs": 3,
        "pairs": 0.25 * (job.seed + 1),
        "memory_gb": 0.5,
    }


def test_one_setting_is_varied_and_the_others_are_shared(
    tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(Children, "measure", fake)
    shared = {"max_epochs": 3}
    report = ablation(tmp_path, ["diabetes"], ["rank"], "spam", shared, [0, 1])
    assert [result["value"] for result in report.results] == list(AXES["rank"])
    first = report.results[0]
    assert (first["mean"], first["seconds"], first["pairs"]) == (100.5, 1.0, 0.375)
    assert first["spread"] == pytest.approx(0.5**0.5)
    assert {fit["parameters"]["max_epochs"] for fit in report.fits} == {3}
    line = "| diabetes | SPAM | max_epochs=3 | rank | 1 | rmse | 100.5 |"
    assert line in report.table()
    # nothing is measured a second time, and another setting joins in its place
    monkeypatch.setattr(Children, "measure", None)
    again = ablation(tmp_path, ["diabetes"], ["rank"], "spam", shared, [0, 1])
    assert again.results == report.results
    monkeypatch.setattr(Children, "measure", fake)
    both = ablation(tmp_path, ["diabetes"], ["order"], "spam", shared, [0])
    command = "python -m spam_core benchmark ablation --tables diabetes --axes order"
    shared = "--model spam --set max_epochs=3 --seeds 2 --threads 1"
    assert both.command == f"{command} rank {shared}"
    axes = [result["axis"] for result in both.results]
    assert axes == ["order"] * 4 + ["rank"] * len(AXES["rank"])


def test_a_real_fit_gives_all_that_a_line_holds(
    tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(module, "AXES", {"order": (1, 2)})
    words = ["--tables", "diabetes", "--seeds", "1", "--threads", "1"]
    words += ["--set", "n_members=2", "--set", "max_epochs=3"]
    assert main(["benchmark", "ablation", *words, "--output", str(tmp_path)]) == 0
    assert "--set max_epochs=3" in (tmp_path / "ablation.md").read_text()
    first, second = ablation(
        tmp_path, ["diabetes"], None, "spam", {"n_members": 2, "max_epochs": 3}, [0]
    ).results
    assert first["pairs"] is None
    assert second["pairs"] == 1.0
    assert first["mean"] > 0


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--axes", "depth"], "no setting 'depth' to vary; choose from order, rank"),
        (["--tables", "mnist"], "mnist"),
        (["--set", "depth=3"], "spam has no setting 'depth'; it has"),
        (["--set", "n_members=0"], "n_members must be"),
    ],
)
def test_mistakes_are_told_before_any_fit(
    words: list[str], text: str, tmp_path: Path, capsys: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr(Children, "measure", None)
    words = ["--tables", "diabetes", *words]
    assert main(["benchmark", "ablation", *words, "--output", str(tmp_path)]) == 2
    assert text in capsys.readouterr().err


def test_a_setting_that_the_model_refuses_is_a_note() -> None:
    job = Job("diabetes", "spam", {"rank": -1, "max_epochs": 1})
    assert "rank must be" in run(job)["note"]


# --- the share of pairs --------------------------------------------------------------


def brute(model: SPAM) -> float:
    """Share of pairs by looking at each."""
    weights, lam = model.member_weights[2], model.member_lam[2]
    owner = model.feature_map.feature_of_column
    d = len(model.feature_map.layout.n_cells)
    found = set()
    for m in range(weights.shape[1]):
        for r in range(weights.shape[2]):
            if not (lam[m, :, r] != 0).any():
                continue
            used = {int(owner[p]) for p in torch.nonzero(weights[:, m, r])[:, 0]}
            found |= {(i, j) for i in used for j in used if 0 <= i < j}
    return len(found) / (d * (d - 1) / 2)


@pytest.mark.parametrize("zeros", [0.0, 0.7, 0.95, 1.0])
@pytest.mark.parametrize("block", [1, 12, 4_000_000])
def test_the_share_of_pairs_is_that_of_a_count(
    zeros: float, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sparsity, "_BLOCK", block)
    table = load_dataset("diabetes")
    model = SPAMRegressor(2, 3, n_members=2, max_epochs=1, random_state=0)
    model.fit(table.X.head(80), table.y.head(80))
    polynomial = model.model_
    generator = torch.Generator().manual_seed(0)
    weights = polynomial.member_weights[2]
    owner = polynomial.feature_map.feature_of_column.clamp(min=0)
    d = len(polynomial.feature_map.layout.n_cells)
    drawn = torch.rand((d, *weights.shape[1:]), generator=generator)
    weights[(drawn < zeros)[owner]] = 0.0
    polynomial.member_lam[2][0, :, 0] = 0.0
    assert pair_share(polynomial) == pytest.approx(brute(polynomial))


def test_many_components_and_columns_are_counted() -> None:
    """More components than a word has bits, and each column a group of its own."""
    drawn = torch.rand(150, 300, generator=torch.Generator().manual_seed(0)) < 0.02
    bases = drawn.double()
    model = SPAM.from_factors(
        torch.zeros(1), torch.zeros(1, 300), {2: (torch.ones(1, 150), bases)}
    )
    meet = (bases.T @ bases > 0).sum() - (bases.sum(0) > 0).sum()
    assert pair_share(model) == pytest.approx(float(meet) / (300 * 299))


def test_no_pairs_without_order_two_or_a_second_column() -> None:
    def made(columns: int, order: int) -> SPAM:
        factors = {order: (torch.ones(1, 1), torch.ones(1, columns))}
        return SPAM.from_factors(torch.zeros(1), torch.zeros(1, columns), factors)

    assert pair_share(made(3, 3)) is None
    assert pair_share(made(1, 2)) is None
    assert pair_share(made(2, 2)) == 1.0
