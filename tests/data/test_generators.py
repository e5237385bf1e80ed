"""What the made-up tables say is their truth is true."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from spam_core.data import (
    KnownTerm,
    Table,
    Truth,
    make_known_binary,
    make_known_multiclass,
    make_known_regression,
)

MAKERS = [make_known_regression, make_known_binary, make_known_multiclass]


def truth_of(table: Table) -> Truth:
    assert table.truth is not None
    return table.truth


def columns_of(values: np.ndarray) -> np.ndarray:
    return values if values.ndim == 2 else values[:, None]


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("under_rows", [False, True])
def test_base_and_terms_sum_to_the_score(
    maker: Callable[..., Table], under_rows: bool
) -> None:
    table = maker(300)
    truth = truth_of(table)
    reference = table.X.iloc[:120] if under_rows else None
    terms = truth.terms(table.X, reference)
    total = truth.base(reference) + sum(map(columns_of, terms.values()))
    np.testing.assert_allclose(total, columns_of(truth.score(table.X)), atol=1e-12)


def test_without_noise_the_target_is_the_score() -> None:
    table = make_known_regression(200, noise=0.0)
    np.testing.assert_allclose(truth_of(table).score(table.X), table.y, rtol=1e-12)


def test_the_formula_of_the_docstring() -> None:
    X = pd.DataFrame(
        {"x1": [0.5], "x2": [-1.0], "x3": [0.25], "x4": [1.0], "x5": [9.0]}
    ).assign(group="c")
    expected = 20 + 3 + 2 + 2 * 0.5 + 1.5 + 2.5 + 3 * -0.5 - 2 * 0.25
    score = truth_of(make_known_regression(10)).score(X)
    np.testing.assert_allclose(score, [expected], rtol=1e-12)


@pytest.mark.parametrize("maker", MAKERS)
def test_terms_have_mean_zero_over_each_feature_as_drawn(
    maker: Callable[..., Table],
) -> None:
    truth = truth_of(maker(10))
    # Gauss-Legendre on halves of [-1, 1], where every shape is smooth.
    nodes, weights = np.polynomial.legendre.leggauss(20)
    half = np.concatenate([(nodes - 1) / 2, (nodes + 1) / 2])
    half_weights = np.concatenate([weights, weights]) / 4
    for part in truth.parts:
        for name, factor in zip(part.features, part.factors, strict=True):
            if name == "group":
                mean = factor(np.array(["a", "b", "c"])) @ np.array([0.5, 0.3, 0.2])
            else:
                mean = factor(half) @ half_weights
            assert abs(mean) < 1e-12, (part.features, name)


@pytest.mark.parametrize("maker", MAKERS)
def test_terms_under_given_rows_are_the_anova_of_those_rows(
    maker: Callable[..., Table],
) -> None:
    """Inclusion-exclusion over conditional means, by enumerating all mixtures."""
    table = maker(10)
    truth = truth_of(table)
    rows = table.X.iloc[:4]
    point = table.X.iloc[5]
    involved = sorted({name for part in truth.parts for name in part.features})

    def mean_given(known: tuple[str, ...]) -> np.ndarray:
        free = [name for name in involved if name not in known]
        mixtures = list(itertools.product(range(len(rows)), repeat=len(free)))
        X = pd.DataFrame([point] * len(mixtures)).reset_index(drop=True)
        for k, name in enumerate(free):
            X[name] = rows[name].iloc[[m[k] for m in mixtures]].to_numpy()
        X = X.astype(table.X.dtypes.to_dict())
        return columns_of(truth.score(X)).mean(axis=0)

    np.testing.assert_allclose(truth.base(rows), mean_given(()), atol=1e-12)
    found = truth.terms(table.X.iloc[[5]], rows)
    for size in (1, 2):
        for chosen in itertools.combinations(list(table.X), size):
            expected = sum(
                (-1) ** (size - r) * mean_given(known)
                for r in range(size + 1)
                for known in itertools.combinations(chosen, r)
            )
            got = found.get(chosen, np.zeros((1, len(truth.constant))))
            np.testing.assert_allclose(columns_of(got)[0], expected, atol=1e-12)


def test_three_factors_leave_terms_of_every_size_under_given_rows() -> None:
    part = KnownTerm(("a", "b", "c"), (np.asarray,) * 3)
    truth = Truth((0.0,), (part,), "y")
    X = pd.DataFrame(np.random.default_rng(0).normal(1, 1, (5, 3)), columns=list("abc"))
    assert len(truth.terms(X, X)) == 7
    assert list(truth.terms(X)) == [("a", "b", "c")]


def test_a_wrong_truth_is_noticed() -> None:
    table = make_known_regression(200, noise=0.0)
    truth = truth_of(table)
    wrong = Truth((20.1,), truth.parts, truth.scale)
    assert np.abs(wrong.score(table.X) - table.y).min() > 0.09


def test_class_frequencies_follow_the_scores() -> None:
    table = make_known_multiclass(20000)
    scores = truth_of(table).score(table.X)
    np.testing.assert_allclose(scores.sum(axis=1), 0, atol=1e-12)
    expected = np.exp(scores)
    expected = (expected / expected.sum(axis=1, keepdims=True)).mean(axis=0)
    shares = table.y.value_counts(normalize=True)[list(table.classes)]
    np.testing.assert_allclose(shares, expected, atol=0.01)
    table = make_known_binary(20000)
    chance = 1 / (1 + np.exp(-truth_of(table).score(table.X)))
    assert abs((table.y == "yes").mean() - chance.mean()) < 0.01


@pytest.mark.parametrize("maker", MAKERS)
def test_a_seed_gives_one_table(maker: Callable[..., Table]) -> None:
    first, again, other = maker(50, seed=1), maker(50, seed=1), maker(50, seed=2)
    pd.testing.assert_frame_equal(first.X, again.X)
    pd.testing.assert_series_equal(first.y, again.y)
    assert not first.X.equals(other.X)


def test_bad_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="n_rows must be 10 or more, but is 3"):
        make_known_binary(3)
    with pytest.raises(ValueError, match="noise must be 0 or more"):
        make_known_regression(50, noise=-1)
