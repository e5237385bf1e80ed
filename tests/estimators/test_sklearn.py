"""scikit-learn's own checks of what an estimator owes its callers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from spam_core import DNNClassifier, DNNRegressor, SPAMClassifier, SPAMRegressor

QUICK: dict[str, Any] = {"rank": 2, "n_members": 2, "max_epochs": 20, "random_state": 0}

ESTIMATORS = [
    SPAMRegressor(**QUICK),
    SPAMClassifier(**QUICK),
    DNNRegressor(random_state=0),
    DNNClassifier(random_state=0),
]


def exceptions(estimator: Any) -> dict[str, str]:
    """Checks that fail by design, and why; any other failure is a fault."""
    batches = (
        "a row of weight 2 and the same row twice make other mini-batches, so the fits "
        "agree in distribution and not bit for bit"
    )
    return {
        "check_sample_weight_equivalence_on_dense_data": batches,
        "check_sample_weight_equivalence_on_sparse_data": batches,
    }


def without(left_out: str, checks: pytest.MarkDecorator) -> pytest.MarkDecorator:
    """Return a parametrization without one check."""
    names, cases = checks.args

    def name_of(case: Any) -> str:
        check = getattr(case, "values", case)[1]  # a plain pair, or pytest.param
        return getattr(check, "func", check).__name__  # type: ignore[no-any-return]

    kept = [case for case in cases if name_of(case) != left_out]
    return pytest.mark.parametrize(names, kept, **checks.kwargs)


@pytest.mark.filterwarnings(
    # The checks fit tiny tables, on purpose, and constant columns; both are told.
    "ignore:.*too few to hold out:UserWarning",
    "ignore:These columns are constant:UserWarning",
    "ignore:These classes have a single row:UserWarning",
)
@without(
    # It runs only where SciPy's array API is switched on for the whole process, to see
    # that other libraries' arrays are taken; these estimators take tables.
    "check_array_api_input",
    parametrize_with_checks(ESTIMATORS, expected_failed_checks=exceptions),
)
def test_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
