"""Which conditions models make, and which rows are chosen."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from spam_core import DNNClassifier, DNNRegressor, SPAMClassifier, SPAMRegressor
from spam_core.explain import explain_lime
from spam_core.study import balanced_rows, explain_conditions, simulate
from tests.explain.posthoc_tools import IGNORE_CONSTANT, flowers, network
from tests.explain.tables import fitted, table

FEW = {"lime_samples": 60, "shap_samples": 20}
CLASSES = {"regression": None, "binary": 2, "multiclass": 3}


def trained(task: str, X: pd.DataFrame, y: pd.Series) -> dict:
    """Return the paper's three models, good enough to decide every class."""
    kind, net = SPAMClassifier, DNNClassifier
    if task == "regression":
        kind, net = SPAMRegressor, DNNRegressor
    quick = {"n_members": 1, "max_epochs": 30, "rank": 4, "random_state": 0}
    return {
        "SPAM": kind(**quick).fit(X, y),
        "linear": kind(order=1, feature_map="linear", **quick).fit(X, y),
        "DNN": net((16,), learning_rate=0.03, random_state=0).fit(X, y),
    }


@pytest.mark.parametrize("task", ["regression", "binary", "multiclass"])
def test_the_papers_conditions_can_be_played(task) -> None:
    X, y = flowers(CLASSES[task] or 3)
    models = trained(task, X, X["stem"] * X["leaf"] if task == "regression" else y)
    rows, heard = X[:60], []
    explained = explain_conditions(
        models, rows, X, **FEW, callback=lambda *told: heard.append(told)
    )
    assert list(explained) == ["SPAM", "linear", "DNN + LIME", "DNN + KernelSHAP"]
    assert [told[0] for told in heard] == list(explained)
    assert [told[1:] for told in heard] == [(k, 4) for k in range(4)]
    assert [e.method for e in explained.values()] == [
        "SPAM",
        "SPAM",
        "LIME",
        "KernelSHAP",
    ]
    assert {len(term) for term in explained["SPAM"].terms} == {1, 2}
    assert {len(term) for term in explained["linear"].terms} == {1}
    assert explained["SPAM"].view == "pure"
    played = simulate(explained, E=[3, 100], draws=50, n_training=2)
    sums = played.table.query("reader == 'sum' and E == 100")
    means = dict(zip(sums["condition"], sums["accuracy"], strict=True))
    for exact in ("SPAM", "linear", "DNN + KernelSHAP"):
        assert means[exact] == 1.0


@pytest.mark.filterwarnings(IGNORE_CONSTANT)
def test_seed_and_numbers_of_samples_are_passed_on() -> None:
    model, rows = network(), table()[:2]
    explained = explain_conditions({"net": model}, rows, table(), **FEW, seed=5)
    lime = explain_lime(model, rows, table(), n_samples=60, seed=5)
    assert_array_equal(explained["net + LIME"].values, lime.values)
    assert explained["net + KernelSHAP"].seed == 5
    other = explain_conditions({"net": model}, rows, table(), **FEW, seed=6)
    assert (other["net + LIME"].values != lime.values).any()


def test_what_cannot_be_explained_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one model"):
        explain_conditions({}, table()[:2], table())
    models = {"net": network(), "net + LIME": fitted()}
    with pytest.raises(ValueError, match=r"would be called 'net \+ LIME'"):
        explain_conditions(models, table()[:2], table())


# --- which rows -----------------------------------------------------------------------


def counts(labels, chosen) -> dict:
    return pd.Series(np.asarray(labels)[chosen]).value_counts().to_dict()


def test_rows_are_balanced_and_a_rare_class_is_filled_up() -> None:
    labels = ["no"] * 90 + ["yes"] * 10
    assert counts(labels, balanced_rows([labels], 16)) == {"no": 8, "yes": 8}
    assert counts(labels, balanced_rows([labels], 40)) == {"no": 30, "yes": 10}
    assert len(balanced_rows([labels], 500)) == 100


def test_chosen_rows_are_different_sorted_and_seeded() -> None:
    labels = ["no", "yes"] * 50
    chosen = balanced_rows([labels], 20, seed=1)
    assert (np.diff(chosen) > 0).all()
    assert_array_equal(chosen, balanced_rows([labels], 20, seed=1))
    assert (chosen != balanced_rows([labels], 20, seed=2)).any()


def test_of_many_classes_some_are_chosen_that_all_models_decide() -> None:
    first = np.repeat(list("pqrst"), 20)
    other = np.where(first == "p", "q", first)  # never decides p
    chosen = balanced_rows([first, other], 40)
    assert set(other[chosen]) == set("qrst")
    assert set(other[balanced_rows([first, other], 20)]) == set("qr")
    assert set(first[balanced_rows([first], 20)]) == set("pqrs")


def test_each_model_decides_each_chosen_class_often_enough() -> None:
    rng = np.random.default_rng(0)
    decisions = rng.choice(list("pqrstuvw"), size=(3, 400))  # agree by chance only
    for seed in range(5):
        chosen = balanced_rows(decisions, 60, seed=seed)
        assert len(chosen) == 60
        often = [pd.Series(labels[chosen]).value_counts() for labels in decisions]
        enough = [set(count.index[count >= 5]) for count in often]
        assert len(set.intersection(*enough)) >= 4


def test_decisions_must_belong_to_the_same_rows() -> None:
    with pytest.raises(ValueError, match="as many decisions"):
        balanced_rows([["a", "b"], ["a"]], 2)
    with pytest.raises(ValueError, match="as many decisions"):
        balanced_rows([], 2)
    with pytest.raises(ValueError, match="n_rows must be"):
        balanced_rows([["a", "b"]], 0)
