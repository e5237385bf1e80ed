"""Measures of values alone, against numbers worked out by hand or another way."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import spearmanr

from spam_core.explain import quality
from spam_core.explain.bootstrap import mean_interval
from spam_core.explain.measures import MAIN_MEASURES, MEASURES

# --- what is among the E largest -----------------------------------------------------


def test_the_largest_are_by_size_and_never_zero() -> None:
    values = [0.5, -3.0, 0.0, 2.0]
    assert quality.by_size(values).tolist() == [1, 3, 0, 2]
    assert quality.largest(values, 2) == {1, 3}
    assert quality.largest(values, 9) == {0, 1, 3}
    assert quality.largest([0.0, 0.0], 2) == set()


def test_rounding_errors_are_no_values() -> None:
    # an exact 0 of one method is 1e-16 of another
    noisy, clean = [1.0, 1e-16, -3e-17, 0.5], [1.0, 0.0, 0.0, 0.5]
    assert quality.largest(noisy, 3) == quality.largest(clean, 3)
    assert quality.rank_correlation(noisy, clean) == 1.0
    assert quality.seed_sign([noisy, clean], 4) == 1.0


def test_captured_mass_is_the_share_of_the_largest() -> None:
    assert quality.captured_mass([4.0, -3.0, 2.0, 1.0], 2) == 0.7
    assert quality.captured_mass([4.0, -3.0, 2.0, 1.0], 9) == 1.0
    assert math.isnan(quality.captured_mass([0.0, 0.0], 1))


# --- agreement -----------------------------------------------------------------------


def test_agreement_of_two_explanations_by_hand() -> None:
    reference = [5.0, -4.0, 3.0, 0.5]
    other = [5.0, 4.0, -0.1, 1.0]
    # {0, 1, 2} and {0, 1, 3}
    assert quality.jaccard(other, reference, 3) == 0.5
    # of 0, 1 and 2 the first alone has its sign
    assert_allclose(quality.sign_agreement(other, reference, 3), 1 / 3)
    # sizes 5 4 .1 1 and 5 4 3 .5: the two smallest change places
    assert_allclose(quality.rank_correlation(other, reference), 0.8)
    assert_allclose(quality.relative_error(other, reference), (8 + 3.1 + 0.5) / 12.5)


def test_rank_correlation_is_spearmans_of_the_sizes() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        ours, theirs = rng.normal(size=(2, 7)).round(1)  # with ties
        wanted = spearmanr(np.abs(ours), np.abs(theirs)).statistic
        assert_allclose(quality.rank_correlation(ours, theirs), wanted)


def test_a_sign_that_is_missing_is_not_the_same() -> None:
    assert quality.sign_agreement([0.0, 1.0], [2.0, 1.0], 2) == 0.5


def test_agreement_is_complete_with_itself_and_not_known_of_nothing() -> None:
    values, nothing = [1.0, -2.0, 3.0], [0.0, 0.0, 0.0]
    assert quality.jaccard(values, values, 2) == 1.0
    assert_allclose(quality.rank_correlation(values, values), 1.0)
    assert quality.sign_agreement(values, values, 2) == 1.0
    assert quality.relative_error(values, values) == 0.0
    assert quality.jaccard(nothing, nothing, 2) == 1.0
    assert math.isnan(quality.rank_correlation(values, nothing))
    assert math.isnan(quality.sign_agreement(values, nothing, 2))
    assert math.isnan(quality.relative_error(values, nothing))


# --- stability -----------------------------------------------------------------------


def test_stability_over_seeds_by_hand() -> None:
    runs = [[3.0, 2.0, 1.0], [3.0, -1.0, 2.0], [3.0, 2.0, 0.5]]
    # tops of two: {0, 1}, {0, 2}, {0, 1}
    assert_allclose(quality.seed_jaccard(runs, 2), (1 / 3 + 1 + 1 / 3) / 3)
    # all three are in some top; the second changes its sign
    assert_allclose(quality.seed_sign(runs, 2), 2 / 3)
    spread = np.mean([np.std(c, ddof=1) for c in np.transpose(runs)])
    assert_allclose(quality.seed_spread(runs), spread / np.mean(np.abs(runs)))


def test_equal_runs_are_stable_and_one_run_says_nothing() -> None:
    runs = [[3.0, -2.0]] * 3
    assert quality.seed_jaccard(runs, 1) == 1.0
    assert quality.seed_sign(runs, 1) == 1.0
    assert quality.seed_spread(runs) == 0.0
    for measured in (
        quality.seed_jaccard(runs[:1], 1),
        quality.seed_sign(runs[:1], 1),
        quality.seed_spread(runs[:1]),
        quality.seed_spread([[0.0], [0.0]]),
    ):
        assert math.isnan(measured)


# --- what E lines leave out ----------------------------------------------------------


@pytest.mark.parametrize(("E", "kept"), [(1, 0.0), (2, 1.0), (3, 1.0)])
def test_the_decision_of_one_score(E: int, kept: float) -> None:
    # 1 - 4 = -3, then 1 - 4 + 3.5 = 0.5, then 0.4
    values = np.array([[3.5], [-4.0], [-0.1]])
    base, score = np.array([1.0]), np.array([0.4])
    assert quality.decision_kept(values, base, score, 0, E) == kept


def test_a_regression_decides_by_its_mean() -> None:
    values, base, score = np.array([[2.0], [1.0]]), np.array([5.0]), np.array([8.0])
    assert quality.decision_kept(values, base, score, 0, 1, middle=7.5) == 0.0
    assert quality.decision_kept(values, base, score, 0, 1, middle=6.5) == 1.0


def test_several_classes_share_the_terms_of_the_explained_one() -> None:
    values = np.array([[3.0, 0.0, 0.0], [0.5, 4.0, 0.0]])
    base, score = np.zeros(3), np.array([3.5, 4.0, 0.0])
    # for the first class the first term counts, which alone would decide for it
    assert quality.decision_kept(values, base, score, 0, 1) == 0.0
    assert quality.decision_kept(values, base, score, 1, 1) == 1.0


def test_what_is_left_out_and_what_is_not_explained() -> None:
    values = np.array([1.0, -3.0])
    assert quality.truncation_error(values, 2.0, 0.0, 1, spread=0.5) == 2.0
    assert quality.truncation_error(values, 2.0, 0.0, 2, spread=0.5) == 0.0
    assert math.isnan(quality.truncation_error(values, 2.0, 0.0, 1, spread=0.0))
    assert quality.unexplained(values, 2.0, 0.0) == 0.0
    assert quality.unexplained(values, 2.0, 1.0) == 0.25
    assert math.isnan(quality.unexplained(np.zeros(2), 0.0, 1.0))


@pytest.mark.parametrize("measure", ["order", "unit"])
def test_measures_know_neither_order_nor_unit(measure: str) -> None:
    rng = np.random.default_rng(1)
    runs, reference = rng.normal(size=(3, 8)), rng.normal(size=8)

    def all_of(runs: np.ndarray, reference: np.ndarray) -> list[float]:
        return [
            quality.captured_mass(runs[0], 3),
            quality.jaccard(runs[0], reference, 3),
            quality.rank_correlation(runs[0], reference),
            quality.sign_agreement(runs[0], reference, 3),
            quality.relative_error(runs[0], reference),
            quality.seed_jaccard(runs, 3),
            quality.seed_sign(runs, 3),
            quality.seed_spread(runs),
        ]

    before = all_of(runs, reference)
    if measure == "order":
        order = rng.permutation(8)
        after = all_of(runs[:, order], reference[order])
    else:
        after = all_of(1e6 * runs, 1e6 * reference)
    assert_allclose(after, before)


# --- intervals -----------------------------------------------------------------------


def test_the_interval_is_that_of_resampled_rows() -> None:
    values = np.random.default_rng(2).exponential(size=30)
    found = mean_interval(values)
    rng = np.random.default_rng(3)
    means = [rng.choice(values, 30).mean() for _ in range(20_000)]
    assert found.mean == values.mean()
    assert found.n == 30
    # 1,000 resamples against 20,000
    spread = np.std(means)
    assert_allclose(found[1:3], np.quantile(means, [0.025, 0.975]), atol=0.2 * spread)
    assert mean_interval(values) == found
    wide = mean_interval(values, level=0.99)
    assert wide.low < found.low < found.mean < found.high < wide.high


def test_what_is_not_known_is_left_out_of_means() -> None:
    nan = float("nan")
    assert mean_interval([1.0, nan, 1.0]) == (1.0, 1.0, 1.0, 2)
    one = mean_interval([nan, 3.0])
    assert (one.mean, one.n) == (3.0, 1)
    assert math.isnan(one.low)
    assert math.isnan(one.high)
    none = mean_interval([nan])
    assert none.n == 0
    assert math.isnan(none.mean)


# --- the list ------------------------------------------------------------------------


def test_every_measure_says_what_it_is() -> None:
    assert set(MAIN_MEASURES) <= set(MEASURES)
    assert len({m.label for m in MEASURES.values()}) == len(MEASURES)
    for name, measure in MEASURES.items():
        assert measure.name == name
        assert measure.better in ("higher", "lower")
        assert measure.lowest < measure.highest
        assert measure.source
        assert measure.meaning.endswith(".")
