"""Errors of a regression: bins, residuals and the worst rows, counted by hand."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from spam_core.evaluation import Predictions, errors, largest_errors


def predictions(n: int = 300, levels: int | None = None) -> Predictions:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=n)
    if levels is not None:
        truth = np.round(truth * levels)
    return Predictions("regression", truth, truth * 0.8 + rng.normal(size=n))


@pytest.mark.parametrize("of", ["actual", "predicted"])
@pytest.mark.parametrize("levels", [None, 1, 0])
def test_bins_hold_every_row_once_and_add_up(of, levels) -> None:
    found = errors(predictions(levels=levels))
    frame = found.by_quantile(of)
    assert frame["rows"].sum() == 300
    assert (frame["from"] <= frame["to"]).all()
    assert (frame["from"].iloc[1:].to_numpy() > frame["to"].iloc[:-1].to_numpy()).all()
    total = (frame["rows"] * frame["rmse"] ** 2).sum() / 300
    assert_allclose(total, (found.residual**2).mean())
    bias = (frame["rows"] * frame["mean_error"]).sum() / 300
    assert_allclose(bias, found.residual.mean())
    if levels is None:
        assert set(frame["rows"]) == {30}
    if levels == 0 and of == "actual":
        assert len(frame) == 1  # all the same


def test_the_histogram_and_the_sample_are_of_the_rows() -> None:
    found = errors(predictions())
    frame = found.histogram()
    assert frame["rows"].sum() == 300
    few = found.sample(50)
    assert len(few.actual) == 50
    assert_allclose(few.actual, found.actual[few.row])
    assert few.row.tolist() == sorted(set(few.row.tolist()))
    assert found.sample(300) is found


def test_the_largest_errors_are_the_largest() -> None:
    asked = predictions()
    frame = largest_errors(asked, 5)
    off = np.abs(asked.truth - asked.predicted)
    assert frame["row"].tolist() == np.argsort(-off)[:5].tolist()
    assert_allclose(frame["error"].abs(), np.sort(off)[::-1][:5])


def test_rows_without_a_prediction_are_left_out_and_counted() -> None:
    truth = np.arange(4.0)
    found = errors(Predictions("regression", truth, np.array([0, np.nan, 1, np.inf])))
    assert found.n_left_out == 2
    assert found.row.tolist() == [0, 2]
    frame = largest_errors(
        Predictions("regression", truth, np.array([0, np.nan, 1, np.inf]))
    )
    assert frame["row"].tolist() == [2, 0]
    with pytest.raises(ValueError, match="no rows with a finite"):
        errors(Predictions("regression", truth, np.full(4, np.nan)))


def test_classes_have_no_residuals() -> None:
    with pytest.raises(ValueError, match="Expected a regression, got a binary"):
        errors(Predictions("binary", np.array([0, 1]), np.eye(2), ("a", "b")))


def test_a_single_row_has_one_bin() -> None:
    found = errors(Predictions("regression", np.array([1.0]), np.array([3.0])))
    frame = found.by_quantile()
    assert frame["rows"].tolist() == [1]
    assert frame["mean_error"].tolist() == [-2.0]
    assert found.histogram()["rows"].sum() == 1
