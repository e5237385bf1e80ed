"""Both post-hoc methods with models that aren't ours, and odd tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC

from spam_core.estimators.dnn import DNNClassifier
from spam_core.explain import (
    explain_kernel_shap,
    explain_lime,
)
from tests.explain.contract import check_local
from tests.explain.posthoc_tools import (
    METHODS,
    Recorder,
    explain,
    flowers,
    scores,
)
from tests.explain.tables import table, target

both = pytest.mark.parametrize("method", METHODS)


class TestSklearn:
    @both
    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_logits_are_the_decision_function(self, method, n_classes):
        X, y = flowers(n_classes)
        model = LogisticRegression().fit(X, y)
        found = explain(method, model, X[:2], X)
        check_local(found, X[:2])
        wanted = model.decision_function(X[:2])
        if n_classes == 3:
            wanted = wanted - wanted.mean(1, keepdims=True)
        np.testing.assert_allclose(found.score, wanted)
        assert found.classes == ("a", "b", "c")[:n_classes]
        assert found.scale == ("logit of b" if n_classes == 2 else "centred logit")

    @both
    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_probabilities_become_finite_logits(self, method, n_classes):
        X, y = flowers(n_classes)
        model = RandomForestClassifier(5, random_state=0).fit(X, y)
        found = explain(method, model, X[:2], X)
        check_local(found, X[:2])
        p = np.clip(model.predict_proba(X[:2]), 1e-6, 1 - 1e-6)
        logs = np.log(p)
        wanted = logs[:, 1] - logs[:, 0]
        if n_classes == 3:
            wanted = logs - logs.mean(1, keepdims=True)
        np.testing.assert_allclose(found.score, wanted)
        assert found.scale.startswith("logit" if n_classes == 2 else "centred logit")

    @both
    def test_a_row_is_explained_alike_alone_and_among_others(self, method):
        X, _ = flowers(2)
        # as a network's last bits, which depend on the batch on most processors
        model = Recorder(lambda rows: rows["stem"] * rows["leaf"] + 1e-6 * len(rows))
        in_a_batch = model.predict(X)
        each = np.concatenate([model.predict(X[r : r + 1]) for r in range(90)])
        assert (in_a_batch != each).any()  # a batch decides about the last bits
        r = int((in_a_batch != each).argmax()) + 5
        together = explain(method, model, X[: r + 1], X)
        alone = explain(method, model, X[r : r + 1], X)
        np.testing.assert_array_equal(together.score[r], alone.score[0])
        np.testing.assert_array_equal(together.values[r], alone.values[0])

    @both
    def test_a_margin_is_not_called_a_logit(self, method):
        X, y = flowers(2)
        model = LinearSVC().fit(X, y)
        found = explain(method, model, X[:2], X)
        np.testing.assert_allclose(found.score, model.decision_function(X[:2]))
        assert found.scale == "decision function of b"

    def test_a_margin_beside_probabilities_gives_way_to_them(self):
        X, y = flowers(2)
        model = LogisticRegression().fit(X, y)

        class Odd:
            classes_ = model.classes_
            predict_proba = staticmethod(model.predict_proba)

            def decision_function(self, X):
                return 0.5 * model.decision_function(X)

        found = explain_kernel_shap(Odd(), X[:2], X)
        np.testing.assert_allclose(found.score, model.decision_function(X[:2]))
        assert found.scale == "logit of b"

    def test_scores_of_pairs_of_classes_are_refused(self):
        rng = np.random.default_rng(0)
        X = pd.DataFrame(rng.normal(size=(80, 2)), columns=["a", "b"])
        model = SVC(decision_function_shape="ovo").fit(X, rng.integers(0, 4, 80))
        with pytest.raises(TypeError, match="a number for each of 4 classes"):
            explain_lime(model, X[:1], X)

    @both
    def test_a_pipeline_gets_the_types_it_was_fitted_to(self, method):
        X = (
            table()
            .drop(columns="months")
            .assign(
                when=pd.date_range("2026-01-01", periods=160, tz="Europe/Berlin"),
                count=pd.array([*range(159), None], dtype="Int64"),
                city=lambda X: X["city"].astype("category"),
            )
        )
        asked = []

        class Watch(LogisticRegression):
            def fit(self, X, y):
                return super().fit(X, y)

        def remember(X):
            asked.append(X.dtypes)
            return X

        from sklearn.preprocessing import FunctionTransformer

        columns = make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore"), ["city", "garden"]),
            (StandardScaler(), ["rooms"]),
        )
        model = make_pipeline(FunctionTransformer(remember), columns, Watch()).fit(
            X, target(table(), "binary")
        )
        found = explain(method, model, X.iloc[[3, 5]], X)
        check_local(found, X.iloc[[3, 5]])
        np.testing.assert_allclose(found.score, scores(model, X.iloc[[3, 5]]))
        names = list(found.feature_names)
        noise = {"lime": 0.5, "kernel_shap": 1e-8}[method]
        for ignored in ("size", "when", "count"):
            assert np.abs(found.values[:, names.index(ignored)]).max() < noise
        kinds = {str(dtype) for dtypes in asked for dtype in [dtypes["when"]]}
        assert kinds == {str(X["when"].dtype)}
        assert {str(dtypes["city"]) for dtypes in asked} == {"category"}
        if method == "kernel_shap":
            assert all(dtypes.equals(X.dtypes) for dtypes in asked)

    @both
    def test_missing_values_and_categories_that_trees_take(self, method):
        X = table()[["size", "city"]].assign(
            city=lambda X: X["city"].astype("category")
        )
        y = target(table(), "binary")
        model = HistGradientBoostingClassifier(
            max_iter=5, categorical_features="from_dtype"
        ).fit(X, y)
        found = explain(method, model, X.iloc[[3]], X)
        check_local(found, X.iloc[[3]])
        lines = found.ledger(0).set_index("term")
        assert lines.loc["size", "value"] == "missing"
        assert lines.loc["size", "contribution"] != 0

    @both
    def test_arrays_and_labels_that_are_no_text(self, method):
        X, _ = flowers()
        y = X.sum(axis=1)
        from_frame = explain(method, LinearRegression().fit(X, y), X[:2], X)
        array = X.to_numpy()
        from_array = explain(method, LinearRegression().fit(array, y), array[:2], array)
        numbered = X.set_axis([0, 1, 2], axis=1)
        model = LinearRegression().fit(numbered, y)
        from_numbers = explain(method, model, numbered[:2], numbered)
        for other in (from_array, from_numbers):
            np.testing.assert_allclose(other.values, from_frame.values)
        assert from_array.feature_names == ("x0", "x1", "x2")
        assert from_numbers.feature_names == ("0", "1", "2")

    @both
    def test_columns_go_by_name(self, method):
        X, _ = flowers()
        for model in (
            LinearRegression().fit(X, X["stem"]),
            DNNClassifier((4,), max_epochs=1, random_state=0).fit(X, X["leaf"] > 0),
        ):
            straight = explain(method, model, X[:2], X)
            shuffled = X[["root", "stem", "leaf"]].assign(more=1)
            turned = explain(method, model, shuffled[:2], shuffled)
            np.testing.assert_array_equal(turned.values, straight.values)
            assert turned.feature_names == ("stem", "leaf", "root")


class TestOddTables:
    """Cases of tables that users bring."""

    @both
    def test_missing_values_of_every_kind(self, method):
        rng = np.random.default_rng(0)
        num = rng.normal(size=80)
        num[[3, 40]] = np.nan
        cat = rng.choice(["u", "v", "w"], 80).astype(object)
        cat[5] = None
        k = pd.array(rng.integers(0, 5, 80), dtype="Int64")
        k[7] = pd.NA
        flag = pd.array(rng.random(80) < 0.5, dtype="boolean")
        flag[9] = pd.NA
        X = pd.DataFrame({"num": num, "cat": cat, "k": k, "flag": flag})
        y = np.nan_to_num(num) > 0
        model = DNNClassifier((8,), max_epochs=5, random_state=0).fit(X, y)
        before = X.copy()
        rows = X.iloc[[3, 5, 7, 9]]
        found = explain(method, model, rows, X)
        check_local(found, rows)
        pd.testing.assert_frame_equal(X, before)
        for row, name in enumerate(X.columns):
            lines = found.ledger(row).set_index("term")
            assert lines.loc[name, "value"] == "missing"
            assert lines.loc[name, "contribution"] != 0
        spelled = X.astype({"k": "float64", "flag": object}).iloc[[3, 5, 7, 9]]
        again = explain(method, model, spelled, X)
        np.testing.assert_array_equal(again.values, found.values)

    @both
    @pytest.mark.filterwarnings("ignore:Levels that training never saw")
    def test_a_level_never_seen(self, method):
        rng = np.random.default_rng(0)
        X = pd.DataFrame(
            {
                "a": pd.Categorical(rng.choice(["x", "y"], 50), ["x", "y", "z"]),
                "b": rng.choice(["p", "q"], 50),
            }
        )
        model = DNNClassifier((8,), max_epochs=3, random_state=0).fit(X, X["a"] == "x")
        rows = pd.DataFrame(
            {"a": pd.Categorical(list("zxyxyx"), ["x", "y", "z"]), "b": [*"pwqpqp"]}
        )
        found = explain(method, model, rows, X)
        check_local(found, rows)
        assert found.values[0, 0] == 0
        assert found.values[1, 1] == 0
        assert (found.values[2:, :2] != 0).all()
        assert "z (never seen)" in found.ledger(0)["value"].tolist()

    @both
    @pytest.mark.filterwarnings("ignore:These columns are constant")
    def test_columns_that_never_vary(self, method):
        rng = np.random.default_rng(0)
        X = pd.DataFrame({"x": rng.normal(size=60), "c": 7.0, "s": "same", "n": np.nan})
        X["m"] = 0.5
        X.loc[20, "m"] = np.nan
        model = DNNClassifier((8,), max_epochs=3, random_state=0).fit(X, X["x"] > 0)
        rows = X.iloc[[0, 20]].assign(c=9.0)
        found = explain(method, model, rows, X)
        check_local(found, rows)
        assert (found.values[:, 1:4] == 0).all()
        assert (found.values[:, 0] != 0).all()
        assert found.terms[:5] == (("x",), ("c",), ("s",), ("n",), ("m",))

    @both
    def test_names_of_every_kind(self, method):
        names = [
            *("income [EUR]", "age<30", "x>y", "cost $ per $ unit", "price_$_net"),
            *("a*b_c", "größe", "收入", "p.value", "<b>bold</b>", "{{x}}"),
        ]
        rng = np.random.default_rng(0)
        X = pd.DataFrame(rng.normal(size=(60, 11)), columns=names)
        model = DNNClassifier((8,), max_epochs=1, random_state=0).fit(X, X["größe"] > 0)
        found = explain(method, model, X[:2], X)
        check_local(found, X[:2])
        assert [term[0] for term in found.terms[:11]] == names

    @both
    def test_whole_numbers_too_large_for_single_precision(self, method):
        times = 1_700_000_000 + np.repeat(np.arange(31), 10)
        X = pd.DataFrame({"ts": times, "other": np.tile([0, 1], 155)})
        model = DNNClassifier((8,), max_epochs=3, random_state=0).fit(X, X["ts"] % 2)
        found = explain(method, model, X.iloc[[0, 200]], X)
        check_local(found, X.iloc[[0, 200]])
        assert (found.values[:, 0] != 0).all()
