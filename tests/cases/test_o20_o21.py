"""Cases O20 and O21: files and copies; equal fits, and nothing global touched."""

from __future__ import annotations

import copy
import os
import pickle
import random
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from spam_core import load_model
from spam_core.estimators import MODELS
from spam_core.persistence import ModelFileError
from tests.cases.common import ALWAYS, KINDS, TREES, make, scores
from tests.persistence.test_file import rewrite


def rows(task: str = "multiclass") -> tuple[pd.DataFrame, Any]:
    """Return numbers with gaps, levels, a date, and a target of a task."""
    rng = np.random.default_rng(20)
    X = pd.DataFrame({"a": rng.normal(size=90), "b": rng.normal(size=90)})
    score = X["a"] * X["b"]
    X["c"] = rng.choice(["u", "v"], 90)
    X["day"] = pd.Timestamp("2026-01-01") + pd.to_timedelta(
        rng.integers(0, 50, 90), "D"
    )
    X.loc[5, "a"] = np.nan
    return X, score if task == "regression" else np.digitize(score, [-0.3, 0.3])


def odd(X: pd.DataFrame) -> pd.DataFrame:
    return X.iloc[:6].assign(a=[1e9, -1e9, np.nan, 0.0, 1.0, 2.0])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("task", ["regression", "multiclass"])
def test_o20_a_saved_model_says_the_same(kind: str, task: str, tmp_path: Path) -> None:
    X, y = rows(task)
    model = make(kind, task, max_epochs=3).fit(X, y)
    if "device" in model.get_params():
        model.set_params(device="cuda")  # as if it had been fitted on another machine
    path = tmp_path / "m.spam"
    model.save(path)
    twins = [load_model(path), copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    for version in ("0.0.1", "99.0"):
        rewrite(path, lambda file, v=version: file.header.update(version=v))
        with pytest.warns(UserWarning, match=rf"was written by spam_core {version}; t"):
            twins.append(load_model(path))
    for twin in twins:
        assert str(twin.get_params()) == str(model.get_params())
        for table in (X, odd(X)):
            np.testing.assert_array_equal(scores(twin, table), scores(model, table))
            if hasattr(model, "explain_local"):
                ours, theirs = model.explain_local(table), twin.explain_local(table)
                assert theirs.terms == ours.terms
                np.testing.assert_array_equal(theirs.values, ours.values)
                np.testing.assert_array_equal(theirs.base, ours.base)
    blank = clone(model)
    assert str(blank.get_params()) == str(model.get_params())
    with pytest.raises(NotFittedError):
        blank.predict(X)


@pytest.mark.parametrize("kind", ["xgboost", "cart"])
def test_o20_files_of_trees_without_units_are_read(kind: str, tmp_path: Path) -> None:
    X, y = rows()
    path = tmp_path / "m.spam"
    model = make(kind, "multiclass").fit(X, y)  # of ordinary numbers: units change none
    model.save(path)
    rewrite(path, lambda file: file.tensors.update(units=torch.zeros(2, 1)))
    with pytest.raises(ModelFileError, match="damaged"):
        load_model(path)
    rewrite(path, lambda file: file.tensors.pop("units"))
    np.testing.assert_array_equal(scores(load_model(path), X), scores(model, X))


def fitted_scores(kind: str, seed: Any = 0) -> bytes:
    X, y = rows()
    model = make(kind, "multiclass", max_epochs=3).set_params(random_state=seed)
    return scores(model.fit(X, y), X).tobytes()


@pytest.mark.parametrize("kind", KINDS)
def test_o21_fits_in_threads_are_those_in_turn(kind: str) -> None:
    before = list(warnings.filters)
    with ThreadPoolExecutor(2) as pool:
        at_once = list(pool.map(fitted_scores, [kind] * 4))
    assert warnings.filters == before
    assert at_once == [fitted_scores(kind)] * 4
    generator = np.random.default_rng(0)
    first, second = (fitted_scores(kind, generator) for _ in range(2))
    assert fitted_scores(kind, np.random.default_rng(0)) == first
    if kind not in ("cart", "ebm", "ebm-2"):  # which hold out other rows at most
        assert first != second


def global_state() -> dict[str, Any]:
    kind, keys, *rest = np.random.get_state()  # noqa: NPY002 - what is guarded
    return {
        "numpy": (kind, keys.tobytes(), rest),
        "torch": torch.get_rng_state().numpy().tobytes(),
        "python": random.getstate(),
        "threads": (torch.get_num_threads(), torch.get_num_interop_threads()),
        "torch settings": (
            torch.is_grad_enabled(),
            torch.get_default_dtype(),
            torch.are_deterministic_algorithms_enabled(),
        ),
        "warnings": list(warnings.filters),
        "numpy errors": np.geterr(),
        "environment": dict(os.environ),
    }


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [0, None])
def test_o21_nothing_global_is_touched(kind: str, seed: int | None) -> None:
    X, y = rows()
    make(kind, "multiclass", max_epochs=1).fit(X, y)  # loads what it needs
    np.random.random()  # noqa: NPY002 - so that a seed that is set would be seen
    before = global_state()
    model = make(kind, "multiclass", max_epochs=2).set_params(random_state=seed)
    model.fit(X, y).predict_proba(X)
    if hasattr(model, "explain_local"):
        model.explain_local(X[:2])
        model.explain_global()
    after = global_state()
    assert {name for name in before if before[name] != after[name]} == set()


def test_o21_that_check_can_fail() -> None:
    before = global_state()
    np.random.random()  # noqa: NPY002 - what must be seen
    assert global_state() != before


def test_every_name_has_small_settings() -> None:
    """A model that joins the registry joins the cases."""
    assert [p.values[0] for p in KINDS] == list(MODELS)
    assert set(ALWAYS) | set(TREES) <= set(MODELS)
