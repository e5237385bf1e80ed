"""NAM of order 2: networks of pairs, kept as tables that explain themselves."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.metrics import root_mean_squared_error
from sklearn.utils.estimator_checks import parametrize_with_checks

from spam_core import NA2MClassifier, NA2MRegressor, load_model, make_model
from spam_core.estimators.na2m_tables import _cuts, scaled_rows
from spam_core.models import additive
from spam_core.models.additive import PairNetworks, drop_terms
from tests.estimators.test_parameters import COMMON_ERRORS, case_id, check
from tests.estimators.test_sklearn import exceptions, without
from tests.explain.contract import check_local
from tests.explain.tables import TASKS, odd_rows, table, target

QUICK: dict[str, Any] = {
    "hidden_units": (8,),
    "n_members": 2,
    "max_epochs": 3,
    "random_state": 0,
}
CODES = {"months": [-9.0]}

pytestmark = pytest.mark.filterwarnings(
    "ignore:These columns are constant:UserWarning",
    "ignore:Levels that training never saw:UserWarning",
)


def product(X: np.ndarray) -> np.ndarray:
    return X[:, 0] * X[:, 1]


@pytest.mark.parametrize("task", TASKS)
def test_terms_add_up_and_files_keep_all(task: Any, tmp_path: Path) -> None:
    frame, y = table(), target(table(), task)
    model = make_model("nam-2", task, special_values=CODES, **QUICK).fit(frame, y)
    terms = model.explain_global().terms
    assert sum(len(term) == 2 for term in terms) == 10  # of the five that vary
    path = tmp_path / "model.spam"
    model.save(path)
    loaded = load_model(path)
    score = "predict" if task == "regression" else "decision_function"
    expected = getattr(model, score)(odd_rows())
    np.testing.assert_array_equal(getattr(loaded, score)(odd_rows()), expected)
    for view in ("pure", "raw", "shapley"):
        explanation = loaded.explain_local(frame, view=view)
        check_local(explanation, frame)
        assert explanation.name == f"NA2M ({view})"
        explanation = loaded.explain_local(odd_rows(), view=view)
        total = explanation.base + explanation.values.sum(1)
        np.testing.assert_allclose(total, expected, rtol=1e-9, atol=1e-9)
    assert loaded.get_params() == model.get_params()


def test_tables_are_the_networks_where_each_value_has_a_cell(monkeypatch) -> None:
    frame, y = table(), target(table(), "regression")
    trained: list[Any] = []
    init = PairNetworks.__init__

    def keep(self: PairNetworks, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        trained.append(self)

    monkeypatch.setattr(PairNetworks, "__init__", keep)
    model = NA2MRegressor(special_values=CODES, **QUICK).fit(frame, y)
    rows = model.encoder_.transform(frame)
    scaled = scaled_rows(rows, model.encoder_.features)
    with torch.no_grad():
        scores = trained[0](scaled).mean(1).numpy()
    spread = float(np.std(y))
    found = (model.predict(frame) - y.mean()) / spread
    # sizes differ in each row, and pairs have at most 128 cells for 158 of them
    np.testing.assert_allclose(found, scores[:, 0], atol=0.02)


def test_a_product_is_learnt_and_seen_in_its_surface() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (800, 3))
    model = NA2MRegressor((32, 16), n_members=2, random_state=0)
    model.fit(X, product(X))
    new = rng.uniform(-0.9, 0.9, (200, 3))
    error = root_mean_squared_error(product(new), model.predict(new))
    assert error < 0.1  # its standard deviation is 0.33
    overall = model.explain_global()
    largest = overall.terms[int(np.argmax(overall.importance))]
    assert largest == ("x0", "x1")
    surface = overall.surface("x0", "x1")
    truth = np.outer(surface.x, surface.y)
    assert np.corrcoef(surface.z.ravel(), truth.ravel())[0, 1] > 0.97
    assert surface.lower is not None
    assert (surface.lower <= surface.z).all()


def test_many_columns_are_refused_in_one_sentence() -> None:
    X = np.random.default_rng(0).random((40, 26))
    with pytest.raises(ValueError, match=re.escape("26 columns make 325.")) as told:
        NA2MRegressor(**QUICK).fit(X, X[:, 0])
    assert "at most 300" in str(told.value)
    X[:, 0] = 1.0  # constant: 25 vary, whose pairs are 300
    NA2MRegressor((2,), n_members=1, max_epochs=1, random_state=0).fit(X, X[:, 1])


def test_scoring_in_blocks_changes_nothing(monkeypatch) -> None:
    frame = table()
    model = NA2MRegressor(**QUICK).fit(frame, target(frame, "regression"))
    monkeypatch.setattr(additive, "_BLOCK", 1)
    again = NA2MRegressor(**QUICK).fit(frame, target(frame, "regression"))
    np.testing.assert_allclose(model.predict(frame), again.predict(frame), rtol=1e-5)


def test_the_output_penalty_makes_terms_smaller() -> None:
    frame, y = table(), target(table(), "regression")
    free, held = (
        NA2MRegressor(**{**QUICK, "max_epochs": 20}, output_penalty=weight)
        .fit(frame, y)
        .explain_global("raw")
        .importance.sum()
        for weight in (0.0, 10.0)
    )
    assert held < 0.5 * free


def test_feature_dropout_keeps_the_mean_and_is_off_after_training() -> None:
    generator = torch.Generator().manual_seed(0)
    outputs = torch.ones(2, 50, 400, 3)
    kept = drop_terms(outputs, 0.25, generator)
    assert kept.unique().tolist() == pytest.approx([0.0, 4 / 3])
    assert kept.mean().item() == pytest.approx(1.0, abs=0.02)
    assert (kept == kept[..., :1]).all()  # all outputs of a term together
    frame, y = table(), target(table(), "binary")
    model = NA2MClassifier(feature_dropout=0.3, **QUICK).fit(frame, y)
    np.testing.assert_array_equal(
        model.predict_proba(frame), model.predict_proba(frame)
    )


@pytest.mark.parametrize(
    ("numbers", "cells", "cuts"),
    [
        ([3.0, 3.0], 4, []),
        ([], 4, []),
        ([0.0, 1.0, 4.0], 4, [0.5, 2.5]),
        ([1.0, np.nextafter(1.0, 2.0)], 4, [np.nextafter(1.0, 2.0)]),
    ],
)
def test_cuts_lie_between_values(numbers, cells, cuts) -> None:
    assert _cuts(np.array(numbers), cells).tolist() == cuts


@pytest.mark.parametrize("seed", range(3))
def test_cells_of_many_values_are_about_equally_full(seed: int) -> None:
    numbers = np.random.default_rng(seed).exponential(size=5000)
    cuts = _cuts(numbers, 64)
    assert 60 <= len(cuts) <= 63
    counts = np.bincount(np.searchsorted(cuts, numbers, side="right"))
    assert counts.min() > 50
    assert counts.max() < 120
    # many zeros are a cell of their own
    cuts = _cuts(np.concatenate([np.zeros(20_000), numbers]), 64)
    assert len(cuts) > 8
    assert cuts[0] < np.sort(numbers)[0]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"output_penalty": -1}, "output_penalty must be a number >= 0, got -1"),
        ({"feature_dropout": 1.0}, "feature_dropout must be in [0, 1), got 1.0"),
        *COMMON_ERRORS,
    ],
    ids=case_id,
)
def test_parameters(parameters: dict[str, Any], message: str) -> None:
    check(NA2MRegressor(), parameters, message)


@pytest.mark.slow
@pytest.mark.filterwarnings(
    # The checks fit tiny tables, on purpose; they are told.
    "ignore:.*too few to hold out:UserWarning",
    "ignore:These classes have a single row:UserWarning",
)
@without(
    "check_array_api_input",  # see test_sklearn
    parametrize_with_checks(
        [
            NA2MRegressor((32, 16), n_members=2, random_state=0),
            NA2MClassifier((32, 16), n_members=2, random_state=0),
        ],
        expected_failed_checks=exceptions,
    ),
)
def test_checks_of_scikit_learn(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
