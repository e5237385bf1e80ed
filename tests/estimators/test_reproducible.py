"""Equal seeds give equal models, wherever and beside whatever they are fitted."""

from __future__ import annotations

import hashlib
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from spam_core import DNNClassifier, SPAMClassifier, SPAMRegressor

MODELS: dict[str, Any] = {
    "spline": lambda seed: SPAMRegressor(
        3, rank=3, n_members=2, max_epochs=6, basis_dropout=0.2, random_state=seed
    ),
    "multiclass": lambda seed: SPAMClassifier(
        rank=3, n_members=2, max_epochs=6, shared_bases=False, random_state=seed
    ),
    "neural": lambda seed: SPAMRegressor(
        rank=3,
        feature_map="neural",
        hidden_units=(8,),
        n_members=2,
        max_epochs=4,
        random_state=seed,
    ),
    "dnn": lambda seed: DNNClassifier((16, 8), max_epochs=6, random_state=seed),
}


def rows() -> tuple[pd.DataFrame, pd.Series]:
    """Return a table with a gap, levels and three classes."""
    rng = np.random.default_rng(20)
    X = pd.DataFrame({"a": rng.normal(size=120), "b": rng.normal(size=120)}).assign(
        c=rng.choice(["u", "v"], 120)
    )
    y = pd.Series(np.digitize(X["a"] * X["b"], [-0.3, 0.3]))
    X.loc[5, "a"] = np.nan
    return X, y


def fingerprint(name: str, seed: Any = 0) -> str:
    """Fit, and return a digest of what the model predicts."""
    X, y = rows()
    model = MODELS[name](seed).fit(X, y)
    method = "decision_function" if hasattr(model, "classes_") else "predict"
    return hashlib.sha256(getattr(model, method)(X).tobytes()).hexdigest()


@pytest.mark.parametrize("name", MODELS)
def test_o21_two_fits_are_equal_bit_for_bit(name: str) -> None:
    assert fingerprint(name) == fingerprint(name)
    assert fingerprint(name) != fingerprint(name, 1)


def test_o21_a_new_process_fits_the_same_models() -> None:
    code = (
        "import torch; torch.set_num_threads(1)\n"
        "from tests.estimators.test_reproducible import MODELS, fingerprint\n"
        "print(*map(fingerprint, MODELS))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [fingerprint(name) for name in MODELS]


def test_o21_threads_that_fit_at_once_do_not_disturb_each_other() -> None:
    names = [*MODELS, *MODELS]
    with ThreadPoolExecutor(4) as pool:
        at_once = list(pool.map(fingerprint, names))
    assert at_once == [fingerprint(name) for name in names]


@pytest.mark.parametrize("name", ["spline", "dnn"])
def test_o21_without_a_seed_fits_vary(name: str) -> None:
    assert fingerprint(name, None) != fingerprint(name, None)


@pytest.mark.parametrize("name", ["spline", "dnn"])
def test_o21_generators_as_seeds_go_on_and_repeat(name: str) -> None:
    for make in (np.random.RandomState, np.random.default_rng):
        one, other = make(3), make(3)
        first, second = fingerprint(name, one), fingerprint(name, one)
        assert first != second
        assert fingerprint(name, other) == first


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("seed", [0, None])
def test_o21_global_random_states_are_neither_read_nor_changed(
    name: str, seed: int | None
) -> None:
    def states() -> tuple[Any, ...]:
        kind, keys, *rest = np.random.get_state()  # noqa: NPY002 - what is guarded
        return (
            kind,
            keys.tobytes(),
            rest,
            torch.get_rng_state().numpy().tobytes(),
            random.getstate(),
        )

    before = states()
    expected = fingerprint(name, seed)
    assert states() == before
    torch.manual_seed(123)
    np.random.seed(123)  # noqa: NPY002
    random.seed(123)
    assert (fingerprint(name, seed) == expected) == (seed == 0)


def test_o21_predicting_and_explaining_are_repeatable() -> None:
    X, y = rows()
    model = MODELS["spline"](0).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), model.predict(X))
    one, other = model.explain_local(X), model.explain_local(X)
    np.testing.assert_array_equal(one.values, other.values)
    np.testing.assert_array_equal(
        model.explain_global().importance, model.explain_global().importance
    )
