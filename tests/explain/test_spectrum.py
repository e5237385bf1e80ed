"""Spectra against eigenvalues of the written-out matrix, and what truncation keeps."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch
from torch import Tensor

from spam_core import SPAMClassifier, SPAMRegressor
from spam_core.explain.decay import fit_decay
from spam_core.explain.spectrum import (
    bound_terms,
    gram_of,
    spectrum_of,
    truncate,
)
from spam_core.models import SPAM


def hand_made(rank: int = 6) -> tuple[SPAM, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    lam = torch.randn(1, rank, generator=generator, dtype=torch.float64)
    basis = torch.randn(rank, 9, generator=generator, dtype=torch.float64)
    zeros = torch.zeros(1, 9, dtype=torch.float64)
    model = SPAM.from_factors(zeros[:, 0], zeros, {2: (lam, basis), 3: (lam, basis)})
    return model, lam[0], basis


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(150, 3)), columns=list("abc"))
    frame["d"] = rng.choice(["x", "y", "z"], 150)
    frame.loc[::9, "c"] = np.nan
    return frame


@pytest.fixture(scope="module", params=["spline", "linear", "neural"])
def regressor(request: pytest.FixtureRequest, rows: pd.DataFrame) -> SPAMRegressor:
    y = rows["a"] * rows["b"] + rows["a"] ** 3
    model = SPAMRegressor(
        3,
        5,
        request.param,
        n_members=2,
        n_knots=6,
        max_epochs=4,
        regularization="smooth",
        hidden_units=(4,) if request.param == "neural" else None,
        random_state=0,
    )
    return model.fit(rows, y)


def test_order_two_has_the_eigenvalues_of_w() -> None:
    model, lam, basis = hand_made()
    truth = torch.linalg.eigvalsh(basis.T @ (lam[:, None] * basis))
    truth = truth[truth.abs().argsort(descending=True)][:6].numpy()
    spectrum = spectrum_of(model, 2, "coefficient")
    np.testing.assert_allclose(spectrum.values[0], truth, rtol=1e-9)
    np.testing.assert_allclose(spectrum.energy[0, -1], 1.0)


@pytest.mark.parametrize("rank", [3, 9, 40])
def test_values_do_not_change_when_bases_are_rescaled(rank: int) -> None:
    model, lam, basis = hand_made(rank)
    stretch = torch.linspace(0.5, 3.0, rank, dtype=torch.float64)
    zeros = torch.zeros(1, 9, dtype=torch.float64)
    twin = SPAM.from_factors(
        zeros[:, 0],
        zeros,
        {
            2: (lam[None] / stretch**2, basis * stretch[:, None]),
            3: (lam[None] / stretch**3, basis * stretch[:, None]),
        },
    )
    for order in (2, 3):
        ours = spectrum_of(model, order, "coefficient").values
        theirs = spectrum_of(twin, order, "coefficient").values
        np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-9)


def test_order_three_is_unit_norm_lambda_and_the_whole_tensors_norm() -> None:
    model, lam, basis = hand_made()
    spectrum = spectrum_of(model, 3, "coefficient")
    truth = (lam.abs() * basis.norm(dim=1) ** 3).sort(descending=True).values
    np.testing.assert_allclose(spectrum.values[0], truth.numpy(), rtol=1e-10)
    tensor = torch.einsum("r,ri,rj,rk->ijk", lam, basis, basis, basis)
    np.testing.assert_allclose(spectrum.norms[0, -1], float(tensor.norm()), rtol=1e-9)


def test_data_metric_is_the_components_second_moment(
    regressor: SPAMRegressor, rows: pd.DataFrame
) -> None:
    encoded = regressor.encoder_.transform(rows)
    scores = regressor.model_.component_scores(encoded)[2]
    truth = torch.einsum("ndr,nds->rs", scores, scores) / len(rows)
    gram = gram_of(regressor.model_, 2, "data")
    torch.testing.assert_close(gram, truth, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("metric", ["data", "coefficient"])
def test_truncation_to_full_rank_is_the_model(
    regressor: SPAMRegressor, rows: pd.DataFrame, metric: str
) -> None:
    whole = regressor.truncate(10_000, metric)
    np.testing.assert_allclose(
        whole.predict(rows), regressor.predict(rows), rtol=1e-7, atol=1e-9
    )
    explanation = whole.explain_local(rows)
    total = explanation.base + explanation.values.sum(1)
    np.testing.assert_allclose(total, regressor.predict(rows), rtol=1e-7, atol=1e-9)
    assert whole.explain_global().importance_over == "independent draws"


def test_truncation_keeps_the_leading_values(regressor: SPAMRegressor) -> None:
    before = regressor.spectrum(2).values[0, :3]
    after = regressor.truncate({2: 3}).spectrum(2).values[0]
    np.testing.assert_allclose(after[:3], before, rtol=1e-6)
    assert regressor.truncate({2: 3}).model_.lam[2].shape[1] == 3
    orders = regressor.model_.lam
    assert regressor.truncate({2: 3}).model_.lam[3].shape == orders[3].shape


def test_no_other_matrix_of_the_rank_is_nearer() -> None:
    model, lam, basis = hand_made(9)
    w = basis.T @ (lam[:, None] * basis)
    small = truncate(model, {2: 2}, "coefficient")
    kept = small.member_weights[2][:, 0]
    approximation = kept @ (small.lam[2][0][:, None] * kept.T)
    values = torch.linalg.eigvalsh(w).abs().sort(descending=True).values
    best = float(values[2:].norm())  # Eckart and Young
    np.testing.assert_allclose(float((w - approximation).norm()), best, rtol=1e-8)


def test_several_classes_share_components(rows: pd.DataFrame) -> None:
    y = np.digitize(rows["a"] * rows["b"], [-0.3, 0.3])
    model = SPAMClassifier(2, 6, n_members=2, max_epochs=3, random_state=0).fit(rows, y)
    spectrum = model.spectrum()
    assert spectrum.values.shape[0] == 3
    assert (np.diff(spectrum.sizes, axis=1) <= 1e-12).all()
    small = model.truncate(4)
    assert small.model_.lam[2].shape == (3, 4)
    whole = model.truncate(10_000).decision_function(rows)
    np.testing.assert_allclose(whole, model.decision_function(rows), rtol=1e-7)


def test_both_laws_are_recovered() -> None:
    j = np.arange(1.0, 60)
    exponential, _ = fit_decay(0.54 * np.exp(-0.006 * j**1.7))
    assert exponential.r2 > 1 - 1e-9
    np.testing.assert_allclose(
        [exponential.c1, exponential.c2, exponential.gamma],
        [0.54, 0.006, 1.7],
        rtol=1e-3,
    )
    _, polynomial = fit_decay(2 * j**-2.5)
    np.testing.assert_allclose([polynomial.c1, polynomial.gamma], [2, 1.5], rtol=1e-8)
    np.testing.assert_allclose(exponential(j[:3]), 0.54 * np.exp(-0.006 * j[:3] ** 1.7))


def test_the_papers_printed_tail_is_not_the_true_one() -> None:
    j = np.arange(1.0, 200)
    fit, _ = fit_decay(0.54 * np.exp(-0.006 * j**3)[:8])
    model, *_ = hand_made(5)
    terms = bound_terms(model, 1000, fit)
    assert fit.c1 / fit.c2 * np.exp(-(5.0**3)) < 1e-50
    truth = 0.54 * np.exp(-0.006 * j[5:] ** 3).sum()  # 0.25
    np.testing.assert_allclose(fit.tail(5), truth, rtol=1e-6)
    np.testing.assert_allclose(terms.exact_tail, 2 * fit.tail(5))
    assert terms.estimation > 0
    np.testing.assert_allclose(terms.confidence, 5 * np.sqrt(np.log(80) / 1000))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: spectrum_of(m, 4), r"components at orders \[2, 3\], not 4"),
        (lambda m: spectrum_of(m, 2, "other"), "metric must be one of"),
        (lambda m: spectrum_of(m, 2, "data"), 'use metric="coefficient"'),
        (lambda m: truncate(m, 0), "rank must be a positive integer, got 0"),
        (lambda m: truncate(m, {5: 1}), r"orders \[2, 3\], not 5"),
        (lambda _: fit_decay(np.ones(2)), "needs 3 values or more, got 2"),
    ],
)
def test_what_makes_no_sense_is_refused(call, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=message):
        call(hand_made()[0])


def test_what_is_practically_zero_does_not_decide_a_law() -> None:
    j = np.arange(1.0, 13)
    paper = 0.54 * np.exp(-0.006 * j**3)
    tail = 1e-9 * np.arange(300.0, 0, -1)
    for sizes in (paper, np.append(paper, tail)):
        law, _ = fit_decay(sizes)
        np.testing.assert_allclose(
            [law.c1, law.c2, law.gamma], [0.54, 0.006, 3.0], 1e-6
        )
    # three values are fitted even where one holds all
    law, _ = fit_decay(np.array([1.0, 1e-3, 1e-6]))
    np.testing.assert_allclose([law.c2, law.gamma], [np.log(1e3), 1.0], 1e-6)
