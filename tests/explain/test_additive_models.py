"""Explanations of fitted EBMs, as pages ask for them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from spam_core import EBMClassifier, EBMRegressor
from spam_core.explain import explain_kernel_shap
from spam_core.explain.enumeration import explain_by_enumeration
from tests.explain.contract import check_local
from tests.explain.tables import TASKS, odd_rows, table, target


@pytest.fixture(scope="module", params=TASKS)
def ebm(request):
    frame = table()
    kind = EBMRegressor if request.param == "regression" else EBMClassifier
    model = kind(
        "2x",
        outer_bags=3,
        max_rounds=60,
        special_values={"months": [-9.0]},
        n_jobs=1,
        random_state=0,
    )
    with pytest.warns(UserWarning, match="These columns are constant"):
        return model.fit(frame, target(frame, request.param))


def scores(model, X):
    name = "decision_function" if hasattr(model, "classes_") else "predict"
    return getattr(model, name)(X)


@pytest.mark.parametrize("view", ["pure", "raw", "shapley"])
def test_explanations_of_rows_hold_the_contract(ebm, view):
    frame = table()
    explanation = ebm.explain_local(frame, view=view)
    check_local(explanation, frame)
    total = explanation.base + explanation.values.sum(axis=1)
    gap = np.abs(total - scores(ebm, frame))
    assert (gap <= 1e-10 * np.maximum(1, np.abs(total))).all()
    assert explanation.name == f"EBM ({view})"
    assert explanation.exact
    assert (explanation.interactions is not None) == (view == "shapley")


@pytest.mark.parametrize("view", ["pure", "raw", "shapley"])
@pytest.mark.filterwarnings("ignore:Levels that training never saw")
def test_explanations_of_odd_rows(ebm, view):
    frame = odd_rows()
    explanation = ebm.explain_local(frame, view=view)
    total = explanation.base + explanation.values.sum(axis=1)
    np.testing.assert_allclose(total, scores(ebm, frame), rtol=1e-10, atol=1e-10)
    for row, column in ((1, "city"), (2, "rooms"), (5, "garden")):
        of_it = [k for k, term in enumerate(explanation.terms) if column in term]
        assert (explanation.values[row, of_it] == 0).all()
        assert explanation.unknown[row, list(frame.columns).index(column)]
    of_months = [k for k, term in enumerate(explanation.terms) if term == ("months",)]
    assert (explanation.values[3, of_months] != 0).any()  # a special code is known


def test_only_the_largest_terms(ebm):
    frame = table()
    whole, short = ebm.explain_local(frame), ebm.explain_local(frame, top=4)
    assert len(short.terms) == 5
    assert short.terms[-1] == ("…",)
    assert short.n_left_out == len(whole.terms) - 4
    listed = [whole.terms.index(term) for term in short.terms[:-1]]
    np.testing.assert_array_equal(short.values[:, :-1], whole.values[:, listed])
    sizes = (ebm.explain_global().sd.reshape(len(whole.terms), -1) ** 2).sum(axis=1)
    assert set(listed) == set(np.argsort(-sizes)[:4].tolist())
    total = short.base + short.values.sum(axis=1)
    np.testing.assert_allclose(total, whole.score, atol=1e-10)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"view": "clean"}, r"^view must be one of \['pure', 'raw', 'shapley'\]"),
        ({"top": 0}, r"^top must be a positive integer or None, got 0$"),
        ({"top": True}, r"^top must be a positive integer or None, got True$"),
        ({"background": table(5)}, r'^Only view="shapley" takes a background'),
    ],
    ids=["view", "top 0", "top True", "background"],
)
def test_requests_that_make_no_sense(ebm, arguments, message):
    with pytest.raises(ValueError, match=message):
        ebm.explain_local(table(5), **arguments)
    with pytest.raises(ValueError, match=r"^view must be one of \['pure', 'raw'\]"):
        ebm.explain_global(view="shapley")


def test_shares_of_pure_terms_are_the_shapley_values(ebm):
    frame = table()
    shared, rest = ebm.explain_local(frame).share_by_feature()
    values = ebm.explain_local(frame, view="shapley").values
    np.testing.assert_allclose(shared, values, atol=1e-10)
    assert (rest == 0).all()


def test_enumeration_finds_the_exact_values(ebm):
    rows, background = table(4, seed=2), table(30, seed=3)
    exact = ebm.explain_local(rows, view="shapley", background=background)
    found = explain_by_enumeration(ebm, rows, background)
    np.testing.assert_allclose(found.values, exact.values, atol=1e-9)
    np.testing.assert_allclose(found.interactions, exact.interactions, atol=1e-9)


def test_kernel_shap_with_all_coalitions_finds_the_exact_values(ebm):
    rows, background = table(4, seed=2), table(30, seed=3)
    exact = ebm.explain_local(rows, view="shapley", background=background)
    assert exact.background_size == 30
    estimate = explain_kernel_shap(ebm, rows, background, n_samples=2**5 - 2)
    np.testing.assert_allclose(estimate.values, exact.values, atol=1e-7)
    np.testing.assert_allclose(estimate.base, exact.base, atol=1e-9)


@pytest.mark.parametrize("view", ["pure", "raw"])
def test_curves_are_the_terms_of_rows(ebm, view):
    overall = ebm.explain_global(view)
    assert overall.name == f"EBM ({view})"
    frame = table().head(1)
    for name in ("size", "rooms", "months", "city", "garden"):
        curve = overall.curve(name)
        rows = pd.concat([frame] * len(curve.x), ignore_index=True)
        rows[name] = as_cells(name, curve.x)
        local = ebm.explain_local(rows, view=view)
        expected = local.values[:, local.terms.index((name,))]
        np.testing.assert_allclose(curve.y, expected, atol=1e-10)
        assert (curve.lower <= curve.y).all()
        assert (curve.y <= curve.upper).all()
        for level, (y, lower, upper) in curve.missing.items():
            row = frame.copy()
            row[name] = np.nan if level == "missing" else float(level)
            local = ebm.explain_local(row, view=view)
            expected = local.values[0, local.terms.index((name,))]
            np.testing.assert_allclose(y, expected, atol=1e-10)
            assert np.all((lower <= y) & (y <= upper))
    assert list(overall.curve("size").missing) == ["missing"]
    assert list(overall.curve("months").missing) == ["-9"]
    assert overall.curve("rooms").x.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


def as_cells(name, x):
    if name == "garden":
        return np.array([text == "True" for text in x])
    return np.where(x == "missing", None, x) if name == "city" else x


def test_a_curve_has_both_sides_of_every_step(ebm):
    curve = ebm.explain_global().curve("size")
    x = table()["size"].dropna()
    assert (np.diff(curve.x) > 0).all()
    assert curve.x[0] == pytest.approx(x.min())
    assert curve.x[-1] == pytest.approx(x.max())
    # nowhere else does anything change
    between = curve.x[:-1] / 2 + curve.x[1:] / 2
    rows = pd.concat([table().head(1)] * len(between), ignore_index=True)
    rows["size"] = between
    local = ebm.explain_local(rows)
    values = local.values[:, local.terms.index(("size",))]
    left, right = np.abs(values - curve.y[:-1]), np.abs(values - curve.y[1:])
    assert np.minimum(left, right).max() < 1e-10
    edges, counts = curve.density
    assert counts.sum() == pytest.approx(len(x))
    assert edges[0] <= x.min()


@pytest.mark.parametrize("view", ["pure", "raw"])
def test_surfaces_are_the_terms_of_rows(ebm, view):
    overall = ebm.explain_global(view)
    pairs = [term for term in overall.terms if len(term) == 2]
    assert len(pairs) == 10  # twice as many as columns that vary: all there are
    for first, second in pairs:
        surface = overall.surface(first, second)
        assert surface.support.shape == surface.z.shape[:2]
        a, b = (
            k.ravel()
            for k in np.meshgrid(
                np.arange(len(surface.x)), np.arange(len(surface.y)), indexing="ij"
            )
        )
        rows = pd.concat([table().head(1)] * len(a), ignore_index=True)
        rows[first] = as_cells(first, surface.x[a])
        rows[second] = as_cells(second, surface.y[b])
        local = ebm.explain_local(rows, view=view)
        expected = local.values[:, local.terms.index((first, second))]
        np.testing.assert_allclose(
            surface.z.reshape(expected.shape), expected, atol=1e-10
        )
        turned = overall.surface(second, first)
        np.testing.assert_array_equal(turned.z, np.swapaxes(surface.z, 0, 1))
        np.testing.assert_array_equal(turned.upper, np.swapaxes(surface.upper, 0, 1))
        np.testing.assert_array_equal(turned.support, surface.support.T)


def test_bands_are_the_bags(ebm):
    curve = ebm.explain_global().curve("size")
    places = np.searchsorted(ebm.model_.bins.cuts[0], curve.x, side="right")
    members = [ebm.model_.member(k).pure.singles[0][0, places] for k in range(3)]
    members = np.array(members).reshape(3, *curve.y.shape)
    np.testing.assert_allclose(members.min(axis=0), curve.lower, atol=1e-10)
    np.testing.assert_allclose(members.max(axis=0), curve.upper, atol=1e-10)
    assert (curve.lower < curve.upper).any()


def test_importance_is_over_the_training_rows(ebm):
    overall, local = ebm.explain_global(), ebm.explain_local(table())
    assert overall.terms == local.terms
    expected = np.abs(local.values).mean(axis=0)
    np.testing.assert_allclose(overall.importance, expected, atol=1e-10)
    np.testing.assert_allclose(overall.mean_score, local.score.mean(axis=0), atol=1e-10)
    np.testing.assert_allclose(overall.base, local.base[0], atol=1e-10)
    assert overall.importance_over == "training rows"
    k = overall.terms.index(("same",))
    assert (overall.importance[k] == 0).all()
    assert overall.curve("same").x.shape == (0,)
