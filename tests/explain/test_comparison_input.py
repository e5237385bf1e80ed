"""What a comparison refuses, before any work."""

from __future__ import annotations

import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import LinearSVC

from spam_core.explain.comparison import ComparisonProgress
from spam_core.explain.methods import EXACT, OWN
from tests.explain.comparison_tools import compare, wide
from tests.explain.posthoc_tools import flowers
from tests.explain.tables import fitted, table


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"E": 0}, "E must be an integer >= 1, got 0"),
        ({"E": 2.5}, "E must be an integer >= 1"),
        ({"unit": "pair"}, "unit must be one of ['term', 'feature'], got 'pair'"),
        ({"seeds": ()}, "seeds must be distinct, and at least one, got []"),
        (
            {"seeds": (1, 2, 1)},
            "seeds must be distinct, and at least one, got [1, 2, 1]",
        ),
        ({"seeds": (0.5,)}, "seed must be an integer >= 0, got 0.5"),
        ({"seeds": (-1,)}, "seed must be an integer >= 0, got -1"),
        ({"seeds": 3}, "seeds must be a sequence of integers, got 3"),
        ({"methods": ["SHAP"]}, "methods must be among"),
        ({"methods": []}, "methods must be among"),
        ({"methods": "lime"}, "got ['lime']"),
        ({"n_coalitions": 1}, "n_coalitions must be an integer >= 2, got 1"),
        ({"max_background": 0}, "max_rows must be an integer >= 1, got 0"),
        ({"lime_samples": 1}, "lime_samples must be an integer >= 2, got 1"),
        ({"shap_samples": 5}, "shap_samples must be at least 12 for 6 columns, got 5"),
        ({"class_": "yes"}, "A regression has no classes, got class_='yes'"),
        ({"X": table().iloc[:0]}, "SPAMRegressor: X: Found array with 0 sample(s)"),
        ({"X": table().iloc[3]}, "X must be a table, got a Series"),
        ({"X": table()[["size"]]}, "SPAMRegressor: X: Expected the columns used in"),
        ({"background": table().drop(columns="city")}, "are missing: ['city']"),
    ],
)
def test_what_makes_no_sense_is_refused(given: dict, message: str) -> None:
    told: list[ComparisonProgress] = []
    with pytest.raises((ValueError, TypeError)) as caught:
        compare(fitted(), callback=told.append, **given)
    assert message in str(caught.value)
    assert not told


def test_a_class_that_is_not_there_is_named() -> None:
    with pytest.raises(ValueError, match=r"must be one of .*'top'.*, got 'high'"):
        compare(fitted("multiclass"), class_="high")


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ({}, "There must be at least one model"),
        ({1: "regression"}, "Names of models must be texts, got [1]"),
        ({"a": LinearRegression()}, "a: This LinearRegression instance is not fitted"),
        ({"a": object()}, "a: Expected a fitted model with predict"),
        ({"a": "regression", "b": "binary"}, "a and b must have the same classes"),
        (
            {"a": "binary", "b": "multiclass"},
            "got ['no', 'yes'] and ['low', 'mid', 'top']",
        ),
    ],
)
def test_models_that_do_not_belong_together_are_refused(models, message: str) -> None:
    made = {k: fitted(m) if isinstance(m, str) else m for k, m in models.items()}
    with pytest.raises((ValueError, TypeError)) as caught:
        compare(made)
    assert message in str(caught.value)


def test_other_columns_orders_and_scales_are_named() -> None:
    X, y = flowers(2)
    first = LogisticRegression().fit(X, y)
    for other, message in (
        (LogisticRegression().fit(X.iloc[:, :2], y), "only a has ['root']"),
        (LogisticRegression().fit(X.iloc[:, ::-1], y), "['root', 'leaf', 'stem']"),
        (LinearSVC().fit(X, y), "'logit of b' and 'decision function of b'"),
    ):
        with pytest.raises(ValueError, match="a and b must have") as caught:
            compare({"a": first, "b": other}, X=X[:2], background=X)
        assert message in str(caught.value)


def test_a_method_that_explains_no_model_is_refused() -> None:
    model, X = wide()
    with pytest.raises(ValueError, match=r"\['own terms', 'exact Shapley'\] can expl"):
        compare(model, X=X[:1], background=X, methods=[OWN, EXACT])
