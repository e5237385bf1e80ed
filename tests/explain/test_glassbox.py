"""Explanations of fitted models: every task, map, order and view, and odd cells."""

from __future__ import annotations

import gc
import pickle
import weakref

import numpy as np
import pandas as pd
import pytest
import torch

from spam_core.data.encoding import Encoded, UnknownLevelWarning
from spam_core.estimators.spam import SPAMRegressor
from spam_core.explain import explain_global, explain_local, record_training
from spam_core.explain.of_model import algebra_of, double_scores
from spam_core.explain.record import TrainingRecord
from spam_core.explain.term_set import TermSet
from spam_core.models import SPAM
from tests.explain.contract import check_local
from tests.explain.tables import MAPS, TASKS, fitted, odd_rows, table

# Rows of `odd_rows` hold levels that training never saw, on purpose.
ODD = pytest.mark.filterwarnings("ignore::spam_core.data.encoding.UnknownLevelWarning")


def score_of(model, frame):
    scores = model.decision_function if hasattr(model, "classes_") else model.predict
    return scores(frame)


@ODD
@pytest.mark.parametrize("view", ["pure", "raw", "shapley"])
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(
    ("feature_map", "order"),
    [*[("spline", order) for order in (1, 2, 3, 4)], *[(m, 2) for m in MAPS[1:]]],
)
def test_every_explanation_holds_the_contract(feature_map, order, task, view):
    model = fitted(task, order, feature_map)
    frame = pd.concat([table().head(20), odd_rows()], ignore_index=True)
    explanation = model.explain_local(frame, view=view)
    check_local(explanation, frame)
    # and far more tightly than it asks
    score = score_of(model, frame)
    total = explanation.base + explanation.values.sum(axis=1)
    np.testing.assert_allclose(total, score, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(explanation.score, score, rtol=1e-9, atol=1e-9)
    assert explanation.view == view
    assert explanation.exact
    assert explanation.n_evaluations == len(frame)


@pytest.mark.parametrize(
    ("task", "scale"),
    [
        ("regression", "price"),
        ("binary", "logit of yes"),
        ("multiclass", "centred logit"),
    ],
)
def test_scales_are_named(task, scale):
    model = fitted(task)
    assert model.explain_local(table().head(2)).scale == scale
    assert model.explain_global().scale == scale


@ODD
@pytest.mark.parametrize("view", ["pure", "raw", "shapley"])
def test_unknown_cells_contribute_exactly_nothing(view):
    model = fitted("multiclass", 3)
    frame = odd_rows()
    explanation = model.explain_local(frame, view=view)
    unknown = {1: {"city"}, 2: {"rooms"}, 5: {"rooms", "garden", "months"}}
    for row in range(len(frame)):
        for k, term in enumerate(explanation.terms):
            if set(term) & unknown.get(row, set()):
                assert (explanation.values[row, k] == 0.0).all(), (row, term)
    assert explanation.unknown.sum() == 5
    shown = explanation.ledger(1, E=10**6)
    assert "Rom (never seen)" in shown["value"].tolist()
    # each row has its own base, for what is unknown there is a constant
    if view != "raw":
        assert len(np.unique(explanation.base[[0, 1, 2, 5], 0].round(12))) == 4


def test_missing_and_special_cells_are_levels_with_a_say():
    model = fitted("regression", 2)
    frame = table().iloc[[3]].assign(months=-9.0)
    ledger = model.explain_local(frame).ledger(0, E=10**6).set_index("term")
    assert ledger.loc["size", "value"] == "missing"
    assert ledger.loc["months", "value"] == "-9"
    assert ledger.loc[["size", "months"], "contribution"].abs().min() > 0


def test_constant_columns_are_listed_and_say_nothing():
    model = fitted("regression", 3)
    explanation = model.explain_local(table().head(4).assign(same=9.0))
    silent = [k for k, term in enumerate(explanation.terms) if "same" in term]
    assert len(silent) == 1 + 5 + 10
    assert (explanation.values[:, silent] == 0.0).all()
    overall = model.explain_global()
    assert (overall.importance[silent] == 0.0).all()
    assert (overall.sd[silent] == 0.0).all()


def test_shapley_values_are_pure_terms_shared_equally():
    frame = table().head(10)
    for task in TASKS:
        model = fitted(task, 3)
        shared, rest = model.explain_local(frame).share_by_feature()
        shapley = model.explain_local(frame, view="shapley")
        np.testing.assert_allclose(shapley.values, shared, rtol=1e-9, atol=1e-9)
        assert (rest == 0.0).all()
        assert shapley.terms == tuple((name,) for name in frame.columns)
        assert shapley.interactions is not None


def test_pair_indices_of_too_many_rows_are_left_out(monkeypatch):
    model, frame = fitted("regression", 3), table().head(10)
    expected = model.explain_local(frame, view="shapley")
    monkeypatch.setattr("spam_core.explain.glassbox.MOST_INDICES", 10 * 36 - 1)
    explanation = model.explain_local(frame, view="shapley")
    assert explanation.interactions is None
    np.testing.assert_allclose(explanation.values, expected.values, atol=1e-12)
    check_local(explanation, frame)


@pytest.mark.parametrize("task", TASKS)
def test_top_lists_the_terms_of_largest_sd_and_keeps_the_sum(task):
    model = fitted(task, 3)
    frame = table().head(8)
    everything = model.explain_local(frame)
    few = model.explain_local(frame, top=5)
    sd = model.explain_global().sd.reshape(len(everything.terms), -1)
    best = np.argsort(-(sd**2).sum(1), kind="stable")[:5]
    assert few.terms[:-1] == tuple(everything.terms[k] for k in sorted(best))
    assert few.terms[-1] == ("…",)
    assert few.n_left_out == len(everything.terms) - 5
    np.testing.assert_allclose(few.values[:, :-1], everything.values[:, sorted(best)])
    check_local(few, frame)
    # without what was kept from training the ranking is worked out anew
    again = explain_local(
        model.model_, model.encoder_, frame, top=5, classes=model._classes()
    )
    assert again.terms == few.terms


def test_asking_for_more_terms_than_exist_returns_what_exists():
    model = fitted("regression", 2)
    explanation = model.explain_local(table().head(2), top=10**6)
    assert len(explanation.terms) == 6 + 15
    assert not explanation.has_rest


def test_many_terms_are_cut_to_the_largest(monkeypatch):
    model = fitted("regression", 2)
    monkeypatch.setattr("spam_core.explain.glassbox.MOST_TERMS", 4)
    explanation = model.explain_local(table().head(2))
    assert len(explanation.terms) == 5
    assert explanation.n_left_out == 17


@pytest.mark.parametrize("top", [0, -3, 2.5, True, "all"])
def test_a_top_that_makes_no_sense_is_refused(top):
    with pytest.raises(ValueError, match="top must be a positive integer or None"):
        fitted().explain_local(table().head(1), top=top)


def test_views_that_do_not_exist_are_refused():
    with pytest.raises(ValueError, match=r"view must be one of \['pure', 'raw', 'sh"):
        fitted().explain_local(table().head(1), view="exact")
    with pytest.raises(ValueError, match=r"view must be one of \['pure', 'raw'\]"):
        fitted().explain_global(view="shapley")


@ODD
def test_one_row_equals_itself_in_a_batch():
    model = fitted("multiclass", 3)
    frame = pd.concat([table().head(300), odd_rows()], ignore_index=True)
    together = model.explain_local(frame)
    for row in (0, 100, len(frame) - 1):
        alone = model.explain_local(frame.iloc[[row]])
        np.testing.assert_allclose(alone.values[0], together.values[row], atol=1e-12)
        np.testing.assert_allclose(alone.base[0], together.base[row], atol=1e-12)


def test_columns_in_any_order_and_arrays_are_explained_alike():
    model = fitted("regression", 2)
    frame = table().head(5)
    expected = model.explain_local(frame)
    shuffled = model.explain_local(frame[frame.columns[::-1]].assign(extra=1))
    assert shuffled.terms == expected.terms
    np.testing.assert_array_equal(shuffled.values, expected.values)
    assert shuffled.feature_names == tuple(frame.columns)


def test_the_callers_frame_is_not_changed_and_not_followed():
    model = fitted("regression", 2)
    frame = table().head(3)
    before = frame.copy(deep=True)
    explanation = model.explain_local(frame)
    pd.testing.assert_frame_equal(frame, before)
    frame.loc[0, "rooms"] = 99
    assert explanation.data.loc[0, "rooms"] == before.loc[0, "rooms"]


@ODD
@pytest.mark.parametrize("task", TASKS)
def test_global_sizes_are_those_of_local_terms(task):
    """Importance is the mean absolute local term over the training rows."""
    model = fitted(task, 2)
    for view in ("pure", "raw"):
        local = model.explain_local(table(), view=view)
        overall = model.explain_global(view=view)
        assert overall.terms == local.terms
        assert overall.importance_over == "training rows"
        expected = np.abs(local.values).mean(axis=0)
        np.testing.assert_allclose(overall.importance, expected, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(overall.base, local.base[0], rtol=1e-9)


def test_without_a_record_importance_is_over_draws_and_says_so():
    model = fitted("regression", 2)
    kept = model.explain_global()
    drawn = explain_global(model.model_, model.encoder_)
    assert drawn.importance_over == "independent draws"
    assert drawn.scale == "prediction"
    np.testing.assert_allclose(drawn.sd, kept.sd)
    ranked = kept.to_frame()["term"].tolist()[:3]
    assert drawn.to_frame()["term"].tolist()[:3] == ranked
    again = explain_global(model.model_, model.encoder_)
    np.testing.assert_array_equal(again.importance, drawn.importance)
    assert drawn.curve("size").density is None
    # of a changed model the rows are still known, the sizes aren't
    record = model.training_record_.for_changed_model()
    changed = explain_global(model.model_, model.encoder_, record=record)
    assert changed.importance_over == "independent draws"
    assert changed.curve("size").density is not None
    assert changed.surface("size", "rooms").support is not None


def test_a_model_of_factors_alone_has_raw_terms():
    t = torch.tensor
    model = SPAM.from_factors(
        t([3.0]).double(),
        t([[1.0, 0.0]]).double(),
        {2: (t([[2.0]]).double(), t([[1.0, -1.0]]).double())},
    )
    algebra = algebra_of(model, "raw")
    # 3 + x0 + 2 (sqrt x0 - sqrt x1)^2 at (4, 1)
    rows = Encoded(t([[4.0, 1.0]]).double(), torch.full((1, 2), -1).int())
    base, values = algebra.terms(double_scores(model, rows), TermSet.all(2, 2))
    assert base.tolist() == [[3.0]]
    np.testing.assert_allclose(values[0, :, 0], [4.0 + 8.0, 2.0, -8.0])
    with pytest.raises(ValueError, match='view="raw" needs none'):
        algebra_of(model, "pure")


def test_what_was_kept_of_training_survives_as_plain_arrays():
    record = fitted("multiclass", 3).training_record_
    arrays = record.to_arrays()
    assert all(isinstance(array, np.ndarray) for array in arrays.values())
    assert all(array.dtype.kind in "iuf" for array in arrays.values())
    back = TrainingRecord.from_arrays(arrays)
    assert back.n_rows == record.n_rows == 160
    for view in ("pure", "raw"):
        ours, theirs = back.summaries[view], record.summaries[view]
        assert ours.terms == theirs.terms
        assert ours.n_rows == theirs.n_rows
        np.testing.assert_array_equal(ours.importance, theirs.importance)
        np.testing.assert_array_equal(ours.sd, theirs.sd)
        np.testing.assert_array_equal(ours.score_mean, theirs.score_mean)
        np.testing.assert_array_equal(ours.score_sd, theirs.score_sd)
        assert ours.cancelling == theirs.cancelling
    assert back.support is not None
    assert record.support is not None
    for pair, cells in record.support.cells.items():
        np.testing.assert_array_equal(back.support.cells[pair], cells)
    for ours, theirs in zip(back.support.cuts, record.support.cuts, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    empty = TrainingRecord.from_arrays(TrainingRecord(7).to_arrays())
    assert (empty.n_rows, dict(empty.summaries), empty.support) == (7, {}, None)


@pytest.mark.parametrize("task", TASKS)
def test_the_average_score_is_kept_beside_the_base(task):
    model = fitted(task, 2)
    overall = model.explain_global()
    expected = score_of(model, table()).mean(axis=0)
    np.testing.assert_allclose(overall.mean_score, expected, rtol=1e-9)
    assert explain_global(model.model_, model.encoder_).mean_score is None


def test_terms_that_cancel_are_named():
    """Two columns that are nearly one; the target is their difference."""
    rng = np.random.default_rng(0)
    north = rng.uniform(size=400)
    frame = pd.DataFrame(
        {
            "north": north,
            "east": north + 0.1 * rng.normal(size=400),
            "size": rng.uniform(size=400),
        }
    )
    settings = {"n_members": 2, "n_knots": 8, "max_epochs": 60, "patience": 60}
    model = SPAMRegressor(
        order=1, regularization="light", random_state=0, **settings
    ).fit(frame, 20 * (frame["north"] - frame["east"]) + frame["size"])
    overall = model.explain_global()
    worst = overall.cancelling[0]
    assert {worst.first, worst.second} == {("north",), ("east",)}
    assert worst.correlation < -0.9
    assert worst.class_ is None
    arrays = model.training_record_.to_arrays()
    back = TrainingRecord.from_arrays(arrays).summaries["pure"].cancelling
    assert back == model.training_record_.summaries["pure"].cancelling
    assert fitted("regression", 2).explain_global().cancelling == ()


def test_weights_count_in_importance():
    model = fitted("regression", 2)
    rows = model.encoder_.transform(table())
    levels = [len(feature.levels) for feature in model.encoder_.features]
    weight = np.zeros(160)
    weight[[3, 7]] = 1.0, 3.0
    record = record_training(model.model_, rows, levels, weight)
    local = np.abs(model.explain_local(table()).values)
    expected = (local[3] + 3 * local[7]) / 4
    np.testing.assert_allclose(record.summaries["pure"].importance[:, 0], expected)
    with pytest.raises(ValueError, match="at least one training row"):
        record_training(model.model_, rows[:0], levels)


def test_explanations_survive_pickling():
    overall = pickle.loads(pickle.dumps(fitted("binary", 2).explain_global()))
    expected = fitted("binary", 2).explain_global()
    np.testing.assert_array_equal(overall.curve("size").y, expected.curve("size").y)


def test_working_out_terms_keeps_no_model_alive():
    model = fitted("regression", 2).model_.member(0)
    algebra_of(model, "pure")
    algebra_of(model, "raw")
    assert algebra_of(model, "pure") is algebra_of(model, "pure")
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None


def test_unknown_levels_warn_once():
    with pytest.warns(UnknownLevelWarning) as caught:
        fitted("regression", 2).explain_local(odd_rows())
    assert len(caught) == 1
