"""LIME: equal to the package where that can be used, and what it does beyond it."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from spam_core.explain import explain_lime
from spam_core.explain.lime_ import load_explainer
from tests.explain.contract import check_local
from tests.explain.posthoc_tools import (
    IGNORE_UNKNOWN,
    Recorder,
    network,
    our_models,
    scores,
)
from tests.explain.tables import TASKS, odd_rows, table


def numbers(n: int = 200, d: int = 4) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    spread = 10.0 ** np.arange(d)
    return pd.DataFrame(
        5 + spread * rng.normal(size=(n, d)), columns=list("abcdefg")[:d]
    )


def curved(X) -> np.ndarray:
    return np.sin(X["a"]) + 0.1 * X["b"] * (X["c"] > 0) + 1e-3 * X["d"]


def test_numeric_tables_get_what_the_package_gives():
    X = numbers()
    mine = explain_lime(Recorder(curved), X.iloc[[7]], X, n_samples=500, seed=3)
    explainer = load_explainer()(
        X.to_numpy(),
        mode="regression",
        discretize_continuous=False,
        feature_selection="none",
        random_state=3,
    )
    found = explainer.explain_instance(
        X.iloc[7].to_numpy(),
        lambda rows: curved(pd.DataFrame(rows, columns=X.columns)).to_numpy(),
        num_features=4,
        num_samples=500,
    )
    weights = np.array([weight for _, weight in sorted(found.local_exp[1])])
    scaled = ((X.iloc[7] - X.mean()) / X.std(ddof=0)).to_numpy()
    np.testing.assert_allclose(mine.values[0, :4], weights * scaled, atol=1e-9)
    np.testing.assert_allclose(mine.base[0], found.intercept[1], atol=1e-9)
    np.testing.assert_allclose(mine.local_fit[0], found.score, atol=1e-9)
    local = mine.base[0] + mine.values[0, :4].sum()
    np.testing.assert_allclose(local, found.local_pred[0], atol=1e-9)


def test_a_linear_model_is_found():
    X = numbers()
    model = LinearRegression().fit(X, X @ [1.0, 0.5, -0.02, 0.003])
    found = explain_lime(model, X.iloc[:3], X)
    shares = (X.iloc[:3] - X.mean()).to_numpy() * model.coef_
    np.testing.assert_allclose(found.values[:, :4], shares, atol=0.05)
    np.testing.assert_allclose(found.base, model.predict(X).mean(), atol=0.05)
    assert (found.local_fit > 0.999).all()
    assert (np.abs(found.values[:, -1]) < 0.05).all()


def test_the_last_term_is_what_the_local_model_lacks():
    X = numbers()
    found = explain_lime(Recorder(curved), X.iloc[:2], X)
    assert found.terms[-1] == ("…",)
    assert found.n_left_out == 0
    local = found.base + found.values[:, :-1].sum(1)
    np.testing.assert_allclose(found.values[:, -1], curved(X.iloc[:2]) - local)
    lines = found.ledger(0, E=2)
    assert lines["kind"].tolist() == ["term", "term", "other", "rest", "base", "score"]
    assert lines["term"].tolist()[3] == "not explained by these terms"
    assert ((found.local_fit > 0) & (found.local_fit < 1)).all()


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.filterwarnings(IGNORE_UNKNOWN)
def test_contract(task):
    for model in our_models(task):
        for rows in (table().iloc[:2], odd_rows()):
            found = explain_lime(model, rows, table(), n_samples=200)
            check_local(found, rows)
            np.testing.assert_allclose(found.score, scores(model, rows), atol=1e-12)
            several = (3,) if task == "multiclass" else ()
            assert found.local_fit.shape == (len(rows), *several)
            assert found.n_evaluations == 201 * len(rows)
            assert found.background_size == 160
            assert found.method == "LIME"
            assert found.view == "linear"
            assert not found.exact


def test_classes_share_one_neighbourhood_and_sum_to_nought():
    found = explain_lime(network("multiclass"), table().iloc[:2], table())
    for part in (found.base, found.values, found.score):
        np.testing.assert_allclose(part.sum(-1), 0, atol=1e-9)


@pytest.mark.filterwarnings(IGNORE_UNKNOWN)
def test_constant_and_unknown_features_have_exactly_none():
    found = explain_lime(network(), odd_rows(), table())
    names = list(found.feature_names)
    values = found.values[:, :-1]
    assert (values[:, names.index("same")] == 0).all()
    assert (values[found.unknown] == 0).all()
    others = ~found.unknown
    others[:, names.index("same")] = False
    assert (values[others] != 0).all()


def test_unknown_cells_are_warned_of_once():
    with pytest.warns(UserWarning, match="Levels that training never saw") as caught:
        explain_lime(network(), odd_rows().iloc[[1, 1]], table(), n_samples=50)
    assert len(caught) == 1


def test_only_levels_that_occur_are_drawn_and_missing_is_one_of_them():
    X = pd.DataFrame(
        {
            "num": [1.0, np.nan, 3.0, 4.0] * 10,
            "city": pd.Categorical(
                ["Ulm", "Köln", None, "Ulm"] * 10, ["Ulm", "Köln", "Rom"]
            ),
            "flag": pd.array([True, False, None, True] * 10, dtype="boolean"),
        }
    )

    def score(X):
        return 2.0 * X["num"].isna() + (X["city"] == "Ulm") - 3.0 * X["flag"].isna()

    model = Recorder(score)
    found = explain_lime(model, X.iloc[[1, 2]], X, n_samples=2000)
    asked = model.rows
    assert set(asked["city"].dropna()) == {"Ulm", "Köln"}
    assert asked["city"].isna().mean() == pytest.approx(0.25, abs=0.05)
    assert asked["num"].isna().mean() == pytest.approx(0.25, abs=0.05)
    assert asked["num"].nunique() > 1000
    assert asked.dtypes.equals(X.dtypes)
    # the number does nothing in this model, but "missing" against "a number" does
    np.testing.assert_allclose(found.values[:, 0], [2.0, -2.0], atol=0.2)
    assert found.values[1, 2] < -2.5
    lines = found.ledger(0, E=3).set_index("term")
    assert lines.loc["num", "value"] == "missing"


def test_special_codes_are_levels_not_numbers():
    X = table()
    model = network()
    is_code = X["months"] == -9
    found = explain_lime(model, X[is_code].iloc[:1], X)
    assert found.values[0, list(X.columns).index("months")] != 0
    # drawn numbers come from the ordinary ones: 3, 12 and 24.5, not from their mix
    model = Recorder(lambda X: X["months"])
    plain = X.loc[~is_code, ["months", "rooms"]]
    explain_lime(model, plain[:1], plain, n_samples=4000)
    drawn = model.rows["months"]
    assert drawn.mean() == pytest.approx(plain["months"].mean(), abs=0.5)


def test_a_seed_decides_and_nothing_else():
    model, X = network(), table()
    alone = explain_lime(model, X.iloc[[10]], X, n_samples=300)
    explain_lime(model, X.iloc[[3]], X, n_samples=300)
    for rows, position in (([10], 0), ([3, 10], 1), ([10, 3], 0)):
        again = explain_lime(model, X.iloc[rows], X, n_samples=300)
        np.testing.assert_array_equal(again.values[position], alone.values[0])
        assert again.local_fit[position] == alone.local_fit[0]
    other = explain_lime(model, X.iloc[[10]], X, n_samples=300, seed=1)
    assert np.abs(other.values - alone.values).max() > 1e-6
    assert (alone.seed, other.seed) == (0, 1)


def test_a_narrow_kernel_looks_closer():
    X = numbers()
    wide, narrow = (
        explain_lime(Recorder(curved), X.iloc[:1], X, kernel_width=width)
        for width in (None, 0.5)
    )
    assert abs(narrow.values[0, -1]) < abs(wide.values[0, -1])
    with pytest.raises(ValueError, match="kernel_width must be a positive number"):
        explain_lime(Recorder(curved), X.iloc[:1], X, kernel_width=0)


def test_where_nothing_can_change_the_score_is_the_base():
    X = numbers().iloc[:1]
    found = explain_lime(Recorder(curved), X, X)
    np.testing.assert_array_equal(found.base, found.score)
    assert (found.values == 0).all()


def test_a_level_that_the_background_lacks_is_never_drawn():
    X = pd.DataFrame({"city": ["Ulm", "Köln"] * 20, "a": np.arange(40.0)})
    row = pd.DataFrame({"city": ["Rom"], "a": [3.0]})
    model = Recorder(lambda X: X["a"] + 2.0 * (X["city"] == "Rom"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = explain_lime(model, row, X, n_samples=500)
    check_local(found, row)
    assert (model.rows["city"] == "Rom").sum() == 2  # the row itself, twice
