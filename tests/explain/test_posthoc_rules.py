"""Both post-hoc methods: repeatable, alone with their state, strict, counted."""

from __future__ import annotations

import re
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LinearRegression, LogisticRegression

from spam_core.explain import (
    estimate_cost,
    estimate_evaluations,
    explain_kernel_shap,
    kernel_shap,
    lime_,
    sample_background,
)
from tests.explain.posthoc_tools import (
    METHODS,
    Recorder,
    explain,
    flowers,
    global_state_unchanged,
    network,
)
from tests.explain.tables import table

both = pytest.mark.parametrize("method", METHODS)


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
