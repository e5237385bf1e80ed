"""Both post-hoc methods with models that aren't ours, odd tables and bad input."""

from __future__ import annotations

import re
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC

from spam_core.estimators.dnn import DNNClassifier
from spam_core.explain import (
    estimate_cost,
    estimate_evaluations,
    explain_kernel_shap,
    explain_lime,
    kernel_shap,
    lime_,
    sample_background,
)
from tests.explain.contract import check_local
from tests.explain.posthoc_tools import (
    METHODS,
    Recorder,
    explain,
    global_state_unchanged,
    network,
    scores,
)
from tests.explain.tables import table, target

both = pytest.mark.parametrize("method", METHODS)


def flowers(n_classes: int = 3) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(90, 3)), columns=["stem", "leaf", "root"])
    size = X["stem"] + X["leaf"] ** 2 + 0.5 * rng.normal(size=90)
    return X, pd.qcut(size, n_classes, labels=False).map({0: "a", 1: "b", 2: "c"})


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


class TestRepeatable:
    @both
    def test_in_any_order_of_calls(self, method):
        model, X = network("binary"), table()
        alone = explain(method, model, X.iloc[[10]], X)
        explain(method, model, X.iloc[[3]], X, seed=5)
        np.random.random(3)  # noqa: NPY002  (another's draws)
        together = explain(method, model, X.iloc[[3, 10]], X)
        again = explain(method, model, X.iloc[[10]], X)
        np.testing.assert_array_equal(again.values, alone.values)
        np.testing.assert_array_equal(together.values[1], alone.values[0])
        assert alone.seed == 0

    @both
    def test_another_seed_differs(self, method):
        rng = np.random.default_rng(0)
        X = pd.DataFrame(rng.normal(size=(50, 12)))
        model = Recorder(lambda X: np.sin(2 * X.sum(axis=1)))
        given = {"n_samples": 60}
        zero, one = (
            explain(method, model, X[:1], X[:20], seed=s, **given) for s in (0, 1)
        )
        assert np.abs(zero.values - one.values).max() > 1e-3

    @both
    def test_global_state_is_as_before(self, method):
        model, X = network(), table()
        explain(method, model, X[:1], X)  # loads the package
        np.random.random()  # noqa: NPY002  (so that a seed that is set would be seen)
        with global_state_unchanged():
            explain(method, model, X[:1], X)
        with global_state_unchanged(), pytest.raises(ZeroDivisionError):
            explain(method, Recorder(lambda _: 1 / 0), X[:1], X)

    def test_that_check_can_fail(self):
        with pytest.raises(AssertionError), global_state_unchanged():
            np.random.random()  # noqa: NPY002  (what must be seen)

    def test_threads_do_not_disturb_each_other(self):
        """Ten features of 20, sampled, while another thread draws and seeds."""
        rng = np.random.default_rng(0)
        X = pd.DataFrame(rng.normal(size=(30, 16)))
        model = Recorder(lambda X: np.sin(2 * X.sum(axis=1)))
        alone = {
            method: explain(method, model, X[:1], X, n_samples=200)
            for method in METHODS
        }
        found, stop = [], threading.Event()

        def work(method):
            for _ in range(3):
                made = explain(method, model, X[:1], X, n_samples=200)
                found.append((made.values == alone[method].values).all())

        def disturb():
            while not stop.is_set():
                np.random.seed(1)  # noqa: NPY002  (what others do)

        others = threading.Thread(target=disturb)
        workers = [
            threading.Thread(target=work, args=(m,)) for m in (*METHODS, *METHODS)
        ]
        for thread in (others, *workers):
            thread.start()
        for thread in workers:
            thread.join()
        stop.set()
        others.join()
        assert len(found) == 12
        assert all(found)

    def test_in_another_process(self, capsys):
        code = (
            "import numpy as np\n"
            "from spam_core.explain import explain_kernel_shap, explain_lime\n"
            "class Model:\n"
            "    def predict(self, X):\n"
            "        return np.sin(2 * X.sum(axis=1))\n"
            "X = np.random.default_rng(0).normal(size=(30, 14))\n"
            "for method in (explain_lime, explain_kernel_shap):\n"
            "    found = method(Model(), X[:1], X, n_samples=100)\n"
            "    print(found.values.tobytes().hex())\n"
        )
        there = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
        exec(code, {})
        here = capsys.readouterr().out
        assert there == here
        assert len(here.split()) == 2


class TestBadInput:
    @both
    @pytest.mark.parametrize(
        ("rows", "background", "error", "text"),
        [
            (table().iloc[0], table(), TypeError, r"X must be a table, got a Series"),
            (table()[:0], table(), ValueError, r"X: Found array with 0 sample"),
            (table()[:1], table()[:0], ValueError, r"background: Found array with 0"),
            (
                table()[:1],
                table().drop(columns="rooms"),
                ValueError,
                r"background: Expected the columns used in training; 1 are missing: "
                r"\['rooms'\]",
            ),
            (
                table()[:1].drop(columns=["rooms", "city"]),
                table(),
                ValueError,
                r"X: Expected .* 2 are missing: \['rooms', 'city'\]",
            ),
            (
                table()[:1].assign(size=np.inf),
                table(),
                ValueError,
                r"X: Expected finite .* 1 in column 'size'",
            ),
            (
                table()[:1].assign(size="large"),
                table(),
                TypeError,
                r"X: Column 'size' must hold numbers",
            ),
            (sp.eye(6).tocsr(), table(), TypeError, "X must be a dense table, got a"),
            (table()[:1], sp.eye(6).tocsr(), TypeError, "background must be a dense"),
        ],
    )
    def test_tables(self, method, rows, background, error, text):
        rooms = Recorder(lambda X: X["rooms"])
        rooms.feature_names_in_ = table().columns
        for model in (network(), rooms):
            with pytest.raises(error, match=text):
                METHODS[method](model, rows, background)

    @both
    @pytest.mark.parametrize(
        ("given", "text"),
        [
            ({"n_samples": 1}, "n_samples must be an integer >= 2, got 1"),
            ({"n_samples": 10.5}, "n_samples must be an integer >= 2, got 10.5"),
            ({"seed": -1}, "seed must be an integer >= 0, got -1"),
            ({"seed": None}, "seed must be an integer >= 0, got None"),
            ({"seed": 2**32}, r"seed must be below 2\*\*32"),
        ],
    )
    def test_numbers(self, method, given, text):
        with pytest.raises(ValueError, match=text):
            METHODS[method](network(), table()[:1], table(), **given)

    def test_too_few_coalitions(self):
        text = "n_samples must be at least twice the 6 features, got 11"
        with pytest.raises(ValueError, match=text):
            explain_kernel_shap(network(), table()[:1], table(), n_samples=11)

    def test_background_size(self):
        text = "max_rows must be an integer >= 1, got 0"
        with pytest.raises(ValueError, match=text):
            explain_kernel_shap(network(), table()[:1], table(), max_background=0)

    @both
    def test_models(self, method):
        X, y = flowers()
        with pytest.raises(TypeError, match="Expected a fitted model with predict"):
            explain(method, object(), X[:1], X)
        model = LinearRegression().fit(X, np.ones((90, 2)))
        with pytest.raises(
            ValueError, match=r"one prediction for each of \d+ rows, got"
        ):
            explain(method, model, X[:1], X)
        with pytest.raises(
            ValueError, match="X has 1 columns, but the model is expecting 3"
        ):
            explain(method, LinearRegression().fit(X, X["stem"]), [[1.0]], X)
        unfitted = LogisticRegression()
        with pytest.raises(ValueError, match="not fitted"):
            explain(method, unfitted, X[:1], X)
        model = LogisticRegression().fit(X, y)
        model.classes_ = model.classes_[:1]
        with pytest.raises(ValueError, match="two classes or more"):
            explain(method, model, X[:1], X)

    @pytest.mark.parametrize(
        ("load", "package"),
        [(kernel_shap.load_kernel_explainer, "shap"), (lime_.load_explainer, "lime")],
    )
    def test_packages_that_are_not_installed(self, monkeypatch, load, package):
        load.cache_clear()
        for name in [m for m in sys.modules if m.split(".")[0] == package]:
            monkeypatch.setitem(sys.modules, name, None)
        monkeypatch.setitem(sys.modules, package, None)
        wanted = re.escape(f'pip install "spam-core[{package}]"')
        with pytest.raises(ImportError, match=wanted):
            load()


class TestCost:
    def test_evaluations_are_counted_before_and_after(self):
        X = pd.DataFrame(np.random.default_rng(0).normal(size=(150, 9)))
        model = Recorder(lambda X: X.sum(axis=1))
        for method in METHODS:
            found = METHODS[method](model, X[:2], X)
            wanted = estimate_evaluations(method, 9, n_rows=2)
            assert 0.99 * wanted <= found.n_evaluations <= wanted
            cost = estimate_cost(model, X, method=method, n_rows=2)
            assert cost.n_evaluations == wanted
            assert cost.seconds > 0

    def test_the_model_is_asked_for_little(self):
        X = pd.DataFrame(np.random.default_rng(0).normal(size=(150, 20)))
        model = Recorder(lambda X: X.sum(axis=1))
        estimate_cost(model, X, method="kernel_shap")
        assert sum(len(asked) for asked in model.asked) < 5000

    def test_impossible_questions_are_refused(self):
        with pytest.raises(ValueError, match="method must be one of"):
            estimate_evaluations("lrp", 3)
        with pytest.raises(ValueError, match="n_features must be an integer >= 1"):
            estimate_evaluations("lime", 0)


class TestBackground:
    def test_real_rows_in_their_order(self):
        X = table()
        drawn = sample_background(X, 30, seed=1)
        assert len(drawn) == 30
        pd.testing.assert_frame_equal(drawn, X.loc[drawn.index])
        assert drawn.index.is_monotonic_increasing
        assert drawn.index.is_unique
        assert not sample_background(X, 30, seed=2).index.equals(drawn.index)
        assert sample_background(X, 160) is X

    def test_a_drawn_background_is_what_kernel_shap_draws(self):
        model, X = network(), table()
        whole = explain_kernel_shap(model, X[:1], X, max_background=20)
        shared = explain_kernel_shap(model, X[:1], sample_background(X, 20))
        np.testing.assert_array_equal(whole.values, shared.values)
