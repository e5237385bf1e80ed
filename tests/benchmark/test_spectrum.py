"""Spectral decay: laws fitted to what SPAMs have learnt, and their sums over seeds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from spam_core.benchmark import variants
from spam_core.benchmark.child import Children, Job
from spam_core.benchmark.report import load_report
from spam_core.benchmark.spectrum import spectra_of, spectrum
from spam_core.cli import main
from spam_core.models import SPAM


def orthogonal(sizes: np.ndarray) -> SPAM:
    """Make a SPAM of order 2 whose eigenvalues are given, (C, R)."""
    n_outputs, rank = sizes.shape
    factors = {2: (torch.from_numpy(sizes), torch.eye(rank, dtype=torch.float64))}
    linear = torch.zeros(n_outputs, rank, dtype=torch.float64)
    return SPAM.from_factors(
        torch.zeros(n_outputs, dtype=torch.float64), linear, factors
    )


def test_the_constants_of_a_known_decay_are_found() -> None:
    j = np.arange(1.0, 13)
    law = np.exp(-0.006 * j**3)
    signs = np.where(j % 2 == 0, -1.0, 1.0)
    sizes = np.stack([5 * law * signs, 0.1 * law, np.zeros(12)])
    (found,) = spectra_of(orthogonal(sizes))
    assert (found["order"], found["metric"], found["outputs"]) == (2, "coefficient", 3)
    # over the largest of each output, and the output without pairs doesn't count
    assert found["gamma"] == pytest.approx(3.0, rel=1e-6)
    assert found["c2"] == pytest.approx(0.006, rel=1e-6)
    assert found["c1"] == pytest.approx(np.exp(0.006), rel=1e-6)
    assert found["r2"] == pytest.approx(1.0)
    assert found["exponential_share"] == 1.0
    shares = law / law.sum()
    entropy = -(shares * np.log(shares)).sum()
    assert found["effective_rank"] == pytest.approx(np.exp(entropy), rel=1e-6)
    np.testing.assert_allclose(found["middle"], law / law[0], 0.01)
    assert found["low"] == found["high"] == found["middle"]


def test_fewer_than_three_values_have_no_law() -> None:
    (found,) = spectra_of(orthogonal(np.array([[2.0, -1.0]])))
    assert found["gamma"] is found["polynomial_gamma"] is None
    assert found["exponential_share"] is None
    assert found["middle"] == [1.0, 0.5]


def test_lines_are_means_over_seeds(tmp_path: Path, monkeypatch: Any) -> None:
    def fake(self: Children, job: Job, limit: float) -> dict[str, Any]:
        assert job.spectrum
        if job.model == "spam-linear":
            return {"note": "refused"}
        (found,) = spectra_of(orthogonal(np.array([[2.0, 1.0, 0.1]])))
        return {
            "scores": {"rmse": 1.0},
            "seconds": 1.0 + job.seed,
            "spectrum": [{**found, "gamma": 1 + job.seed}],
        }

    monkeypatch.setattr(Children, "measure", fake)
    report = spectrum(tmp_path, ["diabetes"], ["spam", "spam-linear"], [0, 1])
    line, refused = report.results
    assert (line["gamma"], line["seconds"], line["rank_90"]) == (1.5, 1.5, 2.0)
    assert (refused["note"], refused["label"]) == ("refused", "SPAM-Linear, order 2")
    assert load_report(tmp_path / "spectrum.json").results == report.results


def test_the_command_fits_laws_to_a_real_model(
    tmp_path: Path, monkeypatch: Any
) -> None:

    settings = {"n_members": 2, "max_epochs": 3}
    small = variants.Variant("spam", "SPAM", "spam", settings)
    monkeypatch.setattr(variants, "VARIANTS", (small,))
    words = [
        "--tables",
        "diabetes",
        "--models",
        "spam",
        "--seeds",
        "1",
        "--threads",
        "1",
    ]
    assert main(["benchmark", "spectrum", *words, "--output", str(tmp_path)]) == 0
    report = load_report(tmp_path / "spectrum.json")
    assert [line["metric"] for line in report.results] == ["data", "coefficient"]
    for line in report.results:
        assert line["gamma"] >= 1
        assert line["effective_rank"] >= 1
    assert "γ = 3, C1 = 0.54, C2 = 0.006" in (tmp_path / "spectrum.md").read_text()


def test_what_has_no_spectrum_is_refused(tmp_path: Path, capsys: Any) -> None:
    words = ["--tables", "diabetes", "--models", "spam", "ebm"]
    assert main(["benchmark", "spectrum", *words, "--output", str(tmp_path)]) == 2
    assert "ebm has no spectrum; choose from spam" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
