"""Metrics with counts are scikit-learn's, and the bootstrap is what it says."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import metrics
from sklearn.dummy import DummyClassifier, DummyRegressor

from spam_core import load_dataset
from spam_core.estimators import fitting
from spam_core.evaluation import Predictions, predict, rank, statistic


def regression(seed: int = 0, n: int = 60) -> Predictions:
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=n)
    return Predictions("regression", truth, truth + rng.normal(size=n) * (1 + seed))


def classes(n_classes: int = 2, n: int = 80, seed: int = 0) -> Predictions:
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n)
    # one decimal: many ties
    shares = rng.dirichlet(np.ones(n_classes), size=n).round(1)
    shares[np.arange(n), truth] += 0.3
    shares = shares / shares.sum(axis=1, keepdims=True)
    task = "binary" if n_classes == 2 else "multiclass"
    return Predictions(task, truth, shares, tuple(f"c{k}" for k in range(n_classes)))


@pytest.mark.parametrize("seed", range(3))
def test_weighted_metrics_are_scikit_learns(seed) -> None:
    rng = np.random.default_rng(seed)
    found, weight = regression(seed), rng.integers(0, 4, size=60).astype(float)
    pair = (found.truth, found.predicted)
    for name, metric in (
        ("rmse", metrics.root_mean_squared_error),
        ("mae", metrics.mean_absolute_error),
        ("r2", metrics.r2_score),
    ):
        wanted = metric(*pair, sample_weight=weight)
        assert_allclose(statistic(found, name)(weight), wanted)
    for n_classes in (2, 4):
        found = classes(n_classes, seed=seed)
        weight = rng.integers(0, 4, size=len(found)).astype(float)
        truth, shares = found.truth, found.predicted
        area = (
            metrics.roc_auc_score(truth, shares[:, 1], sample_weight=weight)
            if n_classes == 2
            else np.mean(
                [
                    metrics.roc_auc_score(
                        truth == k, shares[:, k], sample_weight=weight
                    )
                    for k in range(n_classes)
                ]
            )
        )
        assert_allclose(statistic(found, "auc")(weight), area)
        assert_allclose(
            statistic(found, "log_loss")(weight),
            metrics.log_loss(truth, shares, sample_weight=weight),
        )
        assert_allclose(
            statistic(found, "accuracy")(weight),
            metrics.accuracy_score(truth, shares.argmax(1), sample_weight=weight),
        )


@pytest.mark.parametrize("dataset", ["diabetes", "breast_cancer", "wine", "gapminder"])
def test_unweighted_metrics_are_those_that_models_are_scored_by(dataset) -> None:
    table = load_dataset(dataset)
    regression = table.task == "regression"
    dummy = DummyRegressor() if regression else DummyClassifier(strategy="prior")
    model = dummy.fit(*fitting.rows_of(table, "train"))
    found, wanted = predict(model, table), fitting.score(model, table)
    assert set(wanted) == set(fitting.METRICS[table.task])
    for name, value in wanted.items():
        got = statistic(found, name)(np.ones(len(found)))
        assert_allclose(got, value, rtol=1e-12, atol=1e-12)


def test_a_class_that_training_never_saw_is_wrong_and_has_no_loss() -> None:
    shares = np.array([[0.9, 0.1], [0.1, 0.9], [0.5, 0.5]])
    found = Predictions("binary", np.array([0, 1, -1]), shares, ("a", "b"))
    ones = np.ones(3)
    assert_allclose(statistic(found, "accuracy")(ones), 2 / 3)
    assert_allclose(statistic(found, "auc")(ones), 1.0)
    assert_allclose(statistic(found, "log_loss")(ones), -np.log(0.9))


@pytest.mark.parametrize("metric", ["rmse", "auc"])
def test_what_rows_cannot_tell_is_not_a_number(metric) -> None:
    if metric == "auc":
        found = Predictions(
            "binary", np.zeros(3, int), np.full((3, 2), 0.5), ("a", "b")
        )
    else:
        found = Predictions("regression", np.zeros(3), np.array([0.0, np.nan, 1.0]))
    assert np.isnan(statistic(found, metric)(np.ones(3)))
    (score,) = rank({"m": found}, metric, "lower", n_resamples=20).scores
    assert np.isnan([score.value, score.low, score.high]).all()


def test_an_unknown_metric_is_refused_with_the_choices() -> None:
    with pytest.raises(ValueError, match=r"rmse.*got 'auc'"):
        statistic(regression(), "auc")


def test_the_interval_is_that_of_resampled_rows() -> None:
    one, two = regression(0), regression(1)
    ranking = rank({"one": one, "two": two}, "rmse", "lower", "one", n_resamples=4000)
    rng = np.random.default_rng(5)
    draws = []
    for _ in range(4000):
        rows = rng.integers(60, size=60)
        pair = [
            metrics.root_mean_squared_error(p.truth[rows], p.predicted[rows])
            for p in (one, two)
        ]
        draws.append([*pair, pair[1] - pair[0]])
    low, high = np.quantile(draws, [0.025, 0.975], axis=0)
    assert_allclose(
        [ranking["one"].low, ranking["one"].high], [low[0], high[0]], rtol=0.03
    )
    score = ranking["two"]
    assert_allclose(
        [score.difference_low, score.difference_high], [low[2], high[2]], atol=0.05
    )
    assert_allclose(score.difference, score.value - ranking["one"].value)
    assert [s.name for s in ranking.scores] == ["one", "two"]


def test_equal_models_differ_by_nothing() -> None:
    found = classes()
    ranking = rank({"a": found, "b": found}, "auc", "higher", "a", n_resamples=50)
    assert (ranking["b"].difference_low, ranking["b"].difference_high) == (0.0, 0.0)
    assert not ranking["b"].beyond_chance


def test_groups_are_drawn_together() -> None:
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(8), 25)
    error = rng.normal(size=8)[groups]  # one error a group: 8 values, not 200
    alone = Predictions("regression", np.zeros(200), error)
    together = Predictions("regression", np.zeros(200), error, groups=groups)
    spans = [rank({"m": p}, "mae", "lower")["m"] for p in (alone, together)]
    assert spans[1].high - spans[1].low > 3 * (spans[0].high - spans[0].low)
    assert rank({"m": together}, "mae", "lower", n_resamples=5).n_groups == 8


def test_a_single_row_has_no_interval() -> None:
    found = Predictions("regression", np.array([1.0]), np.array([2.0]))
    (score,) = rank({"m": found}, "rmse", "lower").scores
    assert score.value == 1.0
    assert np.isnan([score.low, score.high]).all()


def test_the_order_follows_the_metric_and_unknown_ones_come_last() -> None:
    shares = np.full((80, 2), np.nan)
    unknown = Predictions("binary", classes().truth, shares, ("c0", "c1"))
    some = {"nan": unknown, "good": classes(), "same": classes()}
    names = [s.name for s in rank(some, "auc", "higher", n_resamples=5).scores]
    assert names == ["good", "same", "nan"]


def test_what_cannot_be_ranked_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        rank({}, "rmse", "lower")
    with pytest.raises(ValueError, match="reference must be one of"):
        rank({"a": regression()}, "rmse", "lower", "b")
    with pytest.raises(ValueError, match="same 60 rows, got 10 of 'b'"):
        rank({"a": regression(), "b": regression(n=10)}, "rmse", "lower")
    with pytest.raises(KeyError):
        rank({"a": regression()}, "rmse", "lower", n_resamples=1)["b"]
