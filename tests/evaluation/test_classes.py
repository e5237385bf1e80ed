"""Curves, bins and confusions are scikit-learn's, or counted by hand."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import metrics

from spam_core.evaluation import (
    OneAgainstRest,
    Predictions,
    at_threshold,
    calibration,
    confusion,
    largest_errors,
    one_against_rest,
    precision_recall_curve,
    roc_curve,
    score_histogram,
)
from spam_core.evaluation.curves import MOST_POINTS


def case(n: int = 200, seed: int = 0, decimals: int = 8) -> OneAgainstRest:
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.3
    share = np.clip(0.4 * truth + rng.random(n) * 0.6, 0, 1).round(decimals)
    return OneAgainstRest("yes", "no", truth, share)


@pytest.mark.parametrize("decimals", [8, 1])
def test_curves_are_scikit_learns(decimals) -> None:
    one = case(decimals=decimals)
    roc, pr = roc_curve(one), precision_recall_curve(one)
    wanted = metrics.roc_curve(one.truth, one.share)
    assert_array_equal([roc.false_positive, roc.true_positive, roc.threshold], wanted)
    assert_allclose(metrics.auc(roc.false_positive, roc.true_positive), roc.auc)
    for precision, recall, threshold in zip(
        pr.precision[:-1], pr.recall[:-1], pr.threshold[:-1], strict=True
    ):
        found = at_threshold(one, threshold)
        assert_allclose([found.precision[1], found.recall[1]], [precision, recall])
    assert_allclose(pr.prevalence, one.truth.mean())
    assert_allclose(
        pr.average_precision, metrics.average_precision_score(one.truth, one.share)
    )


def test_long_curves_are_thinned_but_not_their_areas() -> None:
    one = case(20_000)
    roc = roc_curve(one)
    assert len(roc.threshold) <= MOST_POINTS + 1
    assert (roc.false_positive[0], roc.true_positive[-1]) == (0.0, 1.0)
    assert_allclose(roc.auc, metrics.roc_auc_score(one.truth, one.share))
    drawn = metrics.auc(roc.false_positive, roc.true_positive)
    assert_allclose(drawn, roc.auc, atol=1e-3)
    assert len(precision_recall_curve(one).threshold) <= MOST_POINTS + 1


@pytest.mark.parametrize("truth", [True, False])
def test_one_kind_of_rows_has_no_curve_and_says_so(truth) -> None:
    one = OneAgainstRest("yes", "no", np.full(5, truth), np.linspace(0, 1, 5))
    assert f"All rows (5) are {'yes' if truth else 'no'}" in one.lacking
    for curve in (roc_curve, precision_recall_curve):
        with pytest.raises(ValueError, match="takes rows of both"):
            curve(one)
    # what can be said is said
    assert calibration(one).observed.tolist() == [float(truth)] * 5
    assert score_histogram(one).of_class.sum() == 5 * truth
    assert at_threshold(one, 0.5).counts.sum() == 5


def test_no_rows_are_told() -> None:
    one = OneAgainstRest("yes", "no", np.array([], bool), np.array([]))
    assert one.lacking == "There are no rows to judge by."
    assert np.isnan(one.prevalence)
    with pytest.raises(ValueError, match="no rows"):
        calibration(one)
    assert np.isnan(at_threshold(one, 0.5).accuracy)


@pytest.mark.parametrize("decimals", [8, 1, 0])
@pytest.mark.parametrize("n", [3, 200])
def test_calibration_bins_hold_every_row_once(n, decimals) -> None:
    one = case(n, decimals=decimals)
    found = calibration(one)
    assert found.rows.sum() == n
    assert len(found.rows) <= min(10, n)
    # a bin's counts times its means is what all rows are
    assert_allclose(found.rows @ found.observed, one.truth.sum())
    assert_allclose(found.rows @ found.predicted, one.share.sum())
    assert (found.low <= found.observed + 1e-9).all()
    assert (found.observed <= found.high + 1e-9).all()
    assert_allclose(found.brier, ((one.share - one.truth) ** 2).mean())
    if decimals == 8:
        wanted = metrics.log_loss(one.truth, one.share, labels=[False, True])
        assert_allclose(found.log_loss, wanted)


def test_the_histogram_counts_every_row_once() -> None:
    one = case(decimals=1)
    found = score_histogram(one)
    assert found.of_class.sum() == one.truth.sum()
    assert found.of_rest.sum() == (~one.truth).sum()


def many(n_classes: int, n: int = 400, seed: int = 0) -> Predictions:
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n)
    shares = rng.dirichlet(np.ones(n_classes), size=n)
    shares[np.arange(n), truth] += 1.5 / n_classes
    shares /= shares.sum(axis=1, keepdims=True)
    names = tuple(f"c{k}" for k in range(n_classes))
    return Predictions("multiclass", truth, shares, names)


@pytest.mark.parametrize("n_classes", [3, 200])
def test_the_confusion_is_scikit_learns(n_classes) -> None:
    predictions = many(n_classes)
    found, labels = confusion(predictions), range(n_classes)
    truth, chosen = predictions.truth, predictions.chosen
    assert_array_equal(
        found.counts, metrics.confusion_matrix(truth, chosen, labels=labels)
    )
    wanted = metrics.precision_recall_fscore_support(
        truth, chosen, labels=labels, zero_division=np.nan
    )
    assert_allclose(found.precision, wanted[0])
    assert_allclose(found.recall, wanted[1])
    assert_allclose(found.f1, wanted[2])
    assert_allclose(found.accuracy, metrics.accuracy_score(truth, chosen))
    frame = found.per_class()
    assert sorted(frame["class"]) == sorted(found.classes)
    assert frame["recall"].dropna().is_monotonic_increasing
    assert_array_equal(np.isnan(found.shares).any(axis=1), found.counts.sum(1) == 0)


def test_the_most_confused_pairs_are_the_largest_counts() -> None:
    found = confusion(many(200))
    frame = found.most_confused(10)
    wrong = found.counts.copy()
    np.fill_diagonal(wrong, 0)
    assert frame["rows"].tolist() == sorted(wrong.ravel().tolist(), reverse=True)[:10]
    for line in frame.itertuples():
        a, b = found.classes.index(line.actual), found.classes.index(line.predicted)
        assert found.counts[a, b] == line.rows
        assert_allclose(line.share, line.rows / found.counts[a].sum())
    perfect = confusion(Predictions("binary", np.array([0, 1]), np.eye(2), ("a", "b")))
    assert perfect.most_confused().empty


def test_one_class_against_the_rest() -> None:
    predictions = many(3)
    one = one_against_rest(predictions, "c1")
    assert_array_equal(one.truth, predictions.truth == 1)
    assert_array_equal(one.share, predictions.predicted[:, 1])
    assert (one.name, one.rest) == ("c1", "not c1")
    with pytest.raises(ValueError, match=r"class_ must be one of \['c0', 'c1', 'c2'\]"):
        one_against_rest(predictions, "z")
    with pytest.raises(ValueError, match="got None"):
        one_against_rest(predictions)


def test_rows_that_cannot_be_judged_are_left_out_and_counted() -> None:
    shares = np.array([[0.2, 0.8], [np.nan, np.nan], [0.4, 0.6], [0.9, 0.1]])
    found = Predictions("binary", np.array([1, 0, -1, 1]), shares, ("a", "b"))
    one = one_against_rest(found)
    assert (len(one.truth), one.n_left_out) == (2, 2)
    assert confusion(found).n_left_out == 2
    assert confusion(found).counts.sum() == 2
    worst = largest_errors(found)
    assert worst["row"].tolist() == [3]
    assert worst["predicted"].tolist() == ["a"]
    nothing = Predictions("binary", np.array([-1]), shares[:1], ("a", "b"))
    assert confusion(nothing).counts.sum() == 0


def test_a_prediction_is_for_every_row_and_class() -> None:
    with pytest.raises(ValueError, match=r"shape \(2, 2\) for 2 rows, got \(2, 1\)"):
        Predictions("binary", np.array([0, 1]), np.zeros((2, 1)), ("a", "b"))
    found = Predictions("binary", np.array([0, 1]), np.eye(2), ("a", "b"))
    with pytest.raises(ValueError, match="read-only"):
        found.truth[0] = 1
