"""scikit-learn's own checks of the estimators that are made of trees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from spam_core import (
    CARTClassifier,
    CARTRegressor,
    EBMClassifier,
    EBMRegressor,
    XGBoostClassifier,
    XGBoostRegressor,
)
from tests.estimators.test_sklearn import without

EBM: dict[str, Any] = {
    "outer_bags": 2,
    "max_rounds": 100,
    "n_jobs": 1,
    "random_state": 0,
}
XGBOOST: dict[str, Any] = {"n_estimators": 100, "n_jobs": 1, "random_state": 0}

ESTIMATORS = [
    EBMRegressor(2, **EBM),
    EBMClassifier(2, **EBM),
    XGBoostRegressor(**XGBOOST),
    XGBoostClassifier(**XGBOOST),
    CARTRegressor(random_state=0),
    CARTClassifier(random_state=0),
]


def exceptions(estimator: Any) -> dict[str, str]:
    """Checks that fail by design, and why; any other failure is a fault."""
    held_out = (
        "a row of weight 2 is held out whole, of two equal rows one may be, so other "
        "rows decide when to stop or how much to prune"
    )
    found = {"check_sample_weight_equivalence_on_dense_data": held_out}
    if isinstance(estimator, XGBoostRegressor | XGBoostClassifier):
        found["check_sample_weight_equivalence_on_sparse_data"] = held_out
    return found


@pytest.mark.filterwarnings(
    # The checks fit tiny tables, on purpose, and constant columns; both are told.
    "ignore:.*too few to hold out:UserWarning",
    "ignore:These columns are constant:UserWarning",
    "ignore:These classes have a single row:UserWarning",
)
@without(
    "check_array_api_input",  # see test_sklearn.py
    parametrize_with_checks(ESTIMATORS, expected_failed_checks=exceptions),
)
def test_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
