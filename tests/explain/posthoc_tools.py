"""Models and checks that the tests of both post-hoc methods share."""

from __future__ import annotations

import random
import warnings
from contextlib import contextmanager
from functools import cache

import numpy as np
import pandas as pd
import torch

from spam_core.estimators.dnn import DNNClassifier, DNNRegressor
from spam_core.explain import explain_kernel_shap, explain_lime
from tests.explain.tables import fitted, table, target

METHODS = {"lime": explain_lime, "kernel_shap": explain_kernel_shap}
FAST = {"lime": {"n_samples": 300}, "kernel_shap": {"max_background": 20}}
IGNORE_UNKNOWN = "ignore:Levels that training never saw"
IGNORE_CONSTANT = "ignore:These columns are constant"


@cache
def network(task: str = "regression") -> DNNRegressor | DNNClassifier:
    """Return a small network fitted to `table()`; do not fit it again."""
    kind = DNNRegressor if task == "regression" else DNNClassifier
    model = kind(
        (16, 8), special_values={"months": [-9.0]}, max_epochs=5, random_state=0
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="These columns are constant")
        return model.fit(table(), target(table(), task))


def our_models(task: str) -> list:
    return [fitted(task), network(task)]


def scores(model, X) -> np.ndarray:
    """What is explained: the decision function, or the prediction."""
    ask = getattr(model, "decision_function", model.predict)
    return np.asarray(ask(X))


def explain(method: str, model, X, background, **given):
    """Explain by a method's name, with settings that take no time."""
    return METHODS[method](model, X, background, **(FAST[method] | given))


@contextmanager
def global_state_unchanged():
    """Fail if random states or warning filters aren't what they were."""
    before = _state()
    yield
    assert _state() == before


def _state() -> tuple:
    name, keys, *rest = np.random.get_state()  # noqa: NPY002  (the state itself)
    return (
        (name, keys.tobytes(), *rest),
        random.getstate(),
        torch.get_rng_state().numpy().tobytes(),
        torch.is_grad_enabled(),
        list(warnings.filters),
        np.geterr(),
    )


def flowers(n_classes: int = 3) -> tuple[pd.DataFrame, pd.Series]:
    """Return three numbers and two or three classes."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(90, 3)), columns=["stem", "leaf", "root"])
    size = X["stem"] + X["leaf"] ** 2 + 0.5 * rng.normal(size=90)
    return X, pd.qcut(size, n_classes, labels=False).map({0: "a", 1: "b", 2: "c"})


class Recorder:
    """A regression that notes what it is asked."""

    def __init__(self, function) -> None:
        self.function, self.asked = function, []

    def predict(self, X) -> np.ndarray:
        self.asked.append(X)
        return np.asarray(self.function(X), dtype=float)

    @property
    def rows(self) -> pd.DataFrame:
        return pd.concat(self.asked, ignore_index=True)
