"""Methods and models side by side: what is compared and measured."""

from __future__ import annotations

import pickle
from functools import cache

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

from spam_core.explain import LocalExplanation, relative_difference
from spam_core.explain.comparison import (
    Comparison,
    ComparisonProgress,
)
from spam_core.explain.lines import Lines
from spam_core.explain.measures import MAIN_MEASURES, MEASURES
from spam_core.explain.methods import EXACT, KERNEL_SHAP, LIME, METHODS, OWN
from tests.explain.comparison_tools import ROWS, compare, wide
from tests.explain.posthoc_tools import flowers, network, scores
from tests.explain.tables import fitted, table


@cache
def both(task: str = "regression", unit: str = "feature") -> Comparison:
    """Return a SPAM beside a network."""
    return compare({"SPAM": fitted(task), "DNN": network(task)}, unit=unit)


def mean(comparison: Comparison, model: str, method: str, measure: str) -> float:
    frame = comparison.summary().set_index(["model", "method", "measure"])
    return float(frame.loc[(model, method, measure), "mean"])


# --- what is compared ----------------------------------------------------------------


@pytest.mark.parametrize("task", ["regression", "binary", "multiclass"])
def test_every_model_is_explained_by_every_method_it_can_have(task: str) -> None:
    found = both(task)
    assert [*found.explanations] == [
        *(("SPAM", method) for method in METHODS),
        *(("DNN", method) for method in (EXACT, LIME, KERNEL_SHAP)),
    ]
    assert found.truth_known == {"SPAM": True, "DNN": True}
    assert found.background_size == 20
    assert found.seeds == (0, 1, 2)
    for explanation in found.explanations.values():
        assert len(explanation) == 3
        pd.testing.assert_index_equal(
            pd.DataFrame(explanation.data).index, table().iloc[ROWS].index
        )
    views = [found.explanations["SPAM", method].view for method in METHODS]
    assert views == ["pure", "shapley", "linear", "shapley"]
    exact = found.explanations["DNN", EXACT]
    assert exact.exact
    assert_allclose(exact.score, scores(network(task), table().iloc[ROWS]), rtol=1e-5)


def test_shapley_values_and_kernel_shap_share_one_background() -> None:
    found = both()
    kernel, exact = (found.explanations["SPAM", m] for m in (KERNEL_SHAP, EXACT))
    assert_allclose(kernel.base, exact.base, rtol=1e-6)
    # 5 columns vary: every coalition is scored, so both are exact
    assert_allclose(kernel.values, exact.values, atol=1e-6 * np.abs(exact.values).max())
    assert relative_difference(kernel, exact) < 1e-6


def test_a_large_background_is_drawn_once() -> None:
    found = compare(fitted(), background=table(), max_background=7, seeds=(5,))
    bases = {m: e.base for (_, m), e in found.explanations.items() if m != LIME}
    assert found.background_size == 7
    assert_allclose(bases[KERNEL_SHAP], bases[EXACT], rtol=1e-6)


def test_one_model_is_named_after_its_class() -> None:
    found = compare(fitted(), methods=[LIME, OWN], seeds=[4])
    assert [*found.explanations] == [("SPAMRegressor", OWN), ("SPAMRegressor", LIME)]
    # the truth is worked out all the same
    assert mean(found, "SPAMRegressor", LIME, "error") > 0
    assert found.explanations["SPAMRegressor", LIME].seed == 4


def test_a_black_box_of_many_columns_has_no_truth() -> None:
    model, X = wide()
    found = compare(model, X=X[:2], background=X, seeds=(0, 1), shap_samples=40)
    assert found.truth_known == {"LinearRegression": False}
    assert [method for _, method in found.explanations] == [LIME, KERNEL_SHAP]
    frame = found.values.set_index("measure")["value"]
    for name in ("agreement_jaccard", "agreement_rank", "agreement_sign", "error"):
        assert frame[name].isna().all()
    assert frame["fidelity"].notna().all()
    # columns that the background holds fixed don't count
    few = np.where(np.arange(14) < 12, X, X[0])
    known = compare(model, X=few[:1], background=few, methods=[LIME], seeds=(0,))
    assert known.truth_known == {"LinearRegression": True}


# --- what is measured ----------------------------------------------------------------


@pytest.mark.parametrize("task", ["regression", "multiclass"])
def test_exact_values_have_no_error_and_no_spread_as_measured(task: str) -> None:
    found = both(task)
    for model in ("SPAM", "DNN"):
        assert mean(found, model, EXACT, "error") == 0.0
        assert mean(found, model, EXACT, "stability_jaccard") == 1.0
        assert mean(found, model, EXACT, "stability_sign") == 1.0
        assert mean(found, model, EXACT, "stability_spread") == 0.0
        assert mean(found, model, EXACT, "agreement_jaccard") == 1.0
        assert mean(found, model, LIME, "stability_spread") > 0.0
        assert mean(found, model, LIME, "error") > 0.01
        assert mean(found, model, LIME, "unexplained") > 1e-4
        assert mean(found, model, EXACT, "unexplained") < 1e-6
    assert np.isnan(mean(found, "SPAM", OWN, "error"))
    assert mean(found, "SPAM", OWN, "agreement_rank") > 0.5


def test_stability_is_not_known_with_one_seed() -> None:
    found = compare(fitted(), methods=[LIME], seeds=(0,))
    frame = found.values.set_index("measure")["value"]
    assert (
        frame[["stability_jaccard", "stability_sign", "stability_spread"]].isna().all()
    )


def test_errors_are_those_of_relative_difference() -> None:
    found = compare(fitted(), seeds=(3,), methods=[EXACT, LIME])
    lime, exact = (found.explanations["SPAMRegressor", m] for m in (LIME, EXACT))
    frame = found.values.query("method == @LIME and measure == 'error'")
    wanted = [relative_difference(lime, exact, row) for row in range(3)]
    assert_allclose(frame["value"], wanted)
    pairs = found.agreement.set_index(["method_a", "method_b"])["relative_difference"]
    assert_allclose(pairs[LIME, EXACT], np.mean(wanted))
    other_way = [relative_difference(exact, lime, row) for row in range(3)]
    assert_allclose(pairs[EXACT, LIME], np.mean(other_way))


def test_frames_are_tidy_and_complete() -> None:
    found = both()
    n_methods, n_rows, d = 7, 3, 6
    assert list(found.values) == ["model", "method", "row", "class", "measure", "value"]
    assert len(found.values) == n_methods * n_rows * len(MEASURES)
    summary = found.summary()
    assert list(summary) == ["model", "method", "measure", "mean", "low", "high", "n"]
    assert len(summary) == n_methods * len(MEASURES)
    known = summary[summary["low"].notna()]
    slack = 1e-9 * known["mean"].abs()
    assert (known["low"] <= known["mean"] + slack).all()
    assert (known["mean"] <= known["high"] + slack).all()
    # taken for all rows together, they have no interval
    times = summary[summary["measure"].isin(["seconds", "evaluations"])]
    assert times["low"].isna().all()
    assert (times["mean"] > 0).all()
    assert len(found.agreement) == n_methods * (n_methods - 1)
    assert {"SPAM", "DNN"} == set(found.agreement["model_b"])
    assert list(found.fidelity) == ["model", "method", "E", "mean", "low", "high", "n"]
    assert len(found.fidelity) == n_methods * d
    assert len(found.faithfulness) == (n_methods + 2) * 2 * (d + 1)
    assert "random order" in set(found.faithfulness["method"])


def test_every_value_is_within_its_range() -> None:
    for found in (both(), both("binary"), both("multiclass", "term")):
        for name, frame in found.values.groupby("measure"):
            values = frame["value"].dropna()
            assert (values >= MEASURES[name].lowest - 1e-12).all(), name
            assert (values <= MEASURES[name].highest + 1e-12).all(), name


def test_curves_agree_with_the_measures_of_all_lines() -> None:
    found = both()
    curve = found.fidelity.query("model == 'SPAM' and method == @EXACT")
    assert_allclose(curve["mean"].iloc[-1], mean(found, "SPAM", EXACT, "fidelity"))
    assert_allclose(curve["mean"].iloc[2], mean(found, "SPAM", EXACT, "fidelity_top"))
    frame = found.faithfulness.query("model == 'SPAM'")
    ends = frame.query("curve == 'deletion'").groupby("method")["mean"].last()
    assert_allclose(ends, ends.iloc[0])  # without any column all are the same
    assert (frame.query("curve == 'deletion' and k == 0")["mean"] == 0).all()
    assert_allclose(
        frame.query("curve == 'insertion' and k == 6")["mean"], 0, atol=1e-9
    )


def test_ratios_are_means_of_curves_over_those_of_random_orders() -> None:
    found = compare(fitted(), X=table().iloc[[10]], methods=[LIME], seeds=(0,))
    curves = found.faithfulness.query("k <= 5")  # the sixth column is constant
    means = curves.groupby(["curve", "method"])["mean"].mean()
    for name in ("deletion", "insertion"):
        ratio = means[name, LIME] / means[name, "random order"]
        assert_allclose(mean(found, "SPAMRegressor", LIME, name), ratio)


def test_a_regression_is_decided_by_the_mean_of_the_background() -> None:
    X, background = table().iloc[10:40], table().iloc[60:80]
    found = compare(fitted(), E=1, X=X, methods=[EXACT], seeds=(0,))
    exact = found.explanations["SPAMRegressor", EXACT]
    background_scores = scores(fitted(), background)
    largest = np.take_along_axis(
        exact.values, np.abs(exact.values).argmax(1)[:, None], axis=1
    )[:, 0]
    cut, middle = exact.base + largest, background_scores.mean()
    frame = found.values.set_index("measure")["value"]
    kept = (cut > middle) == (exact.score > middle)
    assert 0 < kept.mean() < 1
    assert_allclose(frame["decision_kept"], kept)
    left_out = np.abs(exact.score - cut) / background_scores.std()
    assert_allclose(frame["truncation_error"], left_out, rtol=1e-6)


def test_lines_are_terms_or_columns() -> None:
    data = pd.DataFrame({"a": [1.0], "b": [2.0], "c": [3.0]})
    explanation = LocalExplanation(
        values=[[1.0, 4.0, 0.5]],
        base=[2.0],
        score=[7.5],
        terms=[("b",), ("a", "c"), ("…",)],
        data=data,
    )
    terms, columns = (Lines.of(explanation, unit) for unit in ("term", "feature"))
    assert terms.members.tolist() == [[False, True, False], [True, False, True]]
    assert terms.values[..., 0].tolist() == [[1.0, 4.0]]
    assert columns.members.tolist() == np.eye(3, dtype=bool).tolist()
    for lines in (terms, columns):
        assert lines.columns[..., 0].tolist() == [[2.0, 1.0, 2.0]]
    assert columns.values.tolist() == columns.columns.tolist()


def test_the_table_is_for_reading() -> None:
    frame = both().table()
    assert list(frame.columns) == [MEASURES[name].label for name in MAIN_MEASURES]
    assert list(frame.index) == [*both().explanations]
    assert frame.loc[("SPAM", EXACT), "error against truth"] == 0.0
    with pytest.raises(ValueError, match=r"measures must be among .*, got \['speed'\]"):
        both().table(["speed"])


def test_a_comparison_repeats_and_can_be_stored() -> None:
    again = compare({"SPAM": fitted(), "DNN": network()})
    clocks = ["seconds"]
    ours, theirs = (
        one.values[~one.values["measure"].isin(clocks)] for one in (both(), again)
    )
    pd.testing.assert_frame_equal(ours, theirs)
    pd.testing.assert_frame_equal(again.agreement, both().agreement)
    stored = pickle.loads(pickle.dumps(again))
    pd.testing.assert_frame_equal(stored.summary(), again.summary())


def test_one_row_gives_no_intervals() -> None:
    found = compare(fitted(), X=table().iloc[[10]], methods=[EXACT], seeds=(0,))
    assert found.summary()["low"].isna().all()
    assert found.fidelity["high"].isna().all()
    assert (found.summary()["n"] <= 1).all()


# --- classes -------------------------------------------------------------------------


def test_of_several_classes_the_first_models_prediction_is_explained() -> None:
    X = table().iloc[60:66]
    models = {"DNN": network("multiclass"), "SPAM": fitted("multiclass")}
    found = compare(models, X=X, methods=[EXACT], seeds=(0,))
    assert list(found.classes) == models["DNN"].predict(X).tolist()
    other = dict(reversed(models.items()))
    swapped = compare(other, X=X, methods=[EXACT], seeds=(0,))
    assert list(swapped.classes) == models["SPAM"].predict(X).tolist()
    rows = found.values.query("model == 'SPAM' and measure == 'error'")
    assert list(rows["class"]) == list(found.classes)


def test_the_class_asked_for_is_explained() -> None:
    found = compare(fitted("multiclass"), class_="top", methods=[EXACT], seeds=(0,))
    assert found.classes == ("top",) * 3
    exact = found.explanations["SPAMClassifier", EXACT]
    sizes = np.sort(np.abs(exact.values[..., 2]), axis=1)[:, ::-1]
    frame = found.values.query("measure == 'captured_mass'")
    assert_allclose(frame["value"], sizes[:, :3].sum(1) / sizes.sum(1))


def test_both_of_two_classes_are_measured_alike() -> None:
    yes, no = (
        compare(fitted("binary"), class_=c, methods=[EXACT, LIME], seeds=(0,))
        for c in (None, "no")
    )
    assert yes.classes == ("yes",) * 3
    assert (yes.scale, no.scale) == ("logit of yes", "logit of no")
    values = (f.values.query("measure != 'seconds'")["value"] for f in (yes, no))
    assert_allclose(*values, atol=1e-9)


# --- terms ---------------------------------------------------------------------------


def test_own_terms_stay_whole_where_terms_are_counted() -> None:
    terms, columns = both(unit="term"), both()
    own = terms.explanations["SPAM", OWN]
    sizes = np.sort(np.abs(own.values), axis=1)[:, ::-1]
    frame = terms.values.query("method == @OWN and measure == 'captured_mass'")
    assert_allclose(frame["value"], sizes[:, :3].sum(1) / sizes.sum(1))
    assert len(own.terms) == 21
    lengths = terms.fidelity.groupby("method")["E"].max()
    assert (lengths[OWN], lengths[LIME]) == (15, 6)
    # agreement is between columns always, and other methods have no terms
    pd.testing.assert_frame_equal(terms.agreement, columns.agreement)
    for method in (EXACT, LIME, KERNEL_SHAP):
        for name in ("fidelity", "captured_mass", "agreement_jaccard"):
            assert mean(terms, "SPAM", method, name) == mean(
                columns, "SPAM", method, name
            )


def test_a_length_beyond_what_there_is_is_all_of_it() -> None:
    found = compare(fitted(), E=99, methods=[EXACT, LIME], seeds=(0,))
    assert mean(found, "SPAMRegressor", EXACT, "captured_mass") == 1.0
    assert mean(found, "SPAMRegressor", EXACT, "truncation_error") < 1e-6
    assert mean(found, "SPAMRegressor", EXACT, "decision_kept") == 1.0
    assert mean(found, "SPAMRegressor", LIME, "fidelity_top") == mean(
        found, "SPAMRegressor", LIME, "fidelity"
    )


# --- models of others ----------------------------------------------------------------


def test_models_that_are_not_ours_stand_beside_each_other() -> None:
    X, y = flowers(2)
    one, other = (LogisticRegression(C=c).fit(X, y) for c in (1.0, 0.01))
    models = {"one": one, "other": other}
    found = compare(models, X=X[:2], background=X[:20], seeds=(0,))
    # a linear logit is the sum of its columns
    for model in models:
        assert_allclose(mean(found, model, EXACT, "fidelity"), 1.0)
        assert mean(found, model, KERNEL_SHAP, "error") < 1e-9


# --- progress ------------------------------------------------------------------------


def test_every_step_is_told_and_a_callback_may_stop() -> None:
    told: list[ComparisonProgress] = []
    compare(fitted(), seeds=(0, 1), callback=told.append)
    assert [p.done for p in told] == [*range(1, told[0].total + 1)]
    assert told[0].total == 4 * 2 + 3
    assert told[-1].what == "SPAMRegressor: measures"

    class Stopped(Exception):
        pass

    def stop(progress: ComparisonProgress) -> None:
        if progress.done == 2:
            raise Stopped

    with pytest.raises(Stopped):
        compare(fitted(), callback=stop)


# --- another length ------------------------------------------------------------------


@pytest.mark.parametrize(("E", "unit"), [(2, "feature"), (3, "term"), (99, "term")])
def test_another_length_is_what_a_new_comparison_says(E: int, unit: str) -> None:
    models = {"SPAM": fitted("multiclass")}
    again = compare(models).at(E=E, unit=unit)
    new = compare(models, E=E, unit=unit)
    assert (again.E, again.unit) == (E, unit)
    for name in ("values", "fidelity", "faithfulness", "agreement"):
        ours, theirs = getattr(again, name), getattr(new, name)
        if name == "values":  # a clock says something else each time
            ours, theirs = (f[f["measure"] != "seconds"] for f in (ours, theirs))
        pd.testing.assert_frame_equal(ours, theirs)


def test_another_length_asks_no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    found = both()

    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("a model was asked")

    for model in (fitted("regression"), network("regression")):
        monkeypatch.setattr(type(model), "_score_rows", forbidden)
    assert found.at(E=1).E == 1
    with pytest.raises(ValueError, match="E must be"):
        found.at(E=0)
    with pytest.raises(ValueError, match="unit must be"):
        found.at(unit="word")
