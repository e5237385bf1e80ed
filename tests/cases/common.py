"""What the cases share: small estimators of every name, and the identity."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from spam_core import make_model
from spam_core.estimators import MODELS

SMALL: dict[str, dict[str, Any]] = {
    "spam": {"rank": 3, "n_members": 2, "regularization": "light"},
    "spam-linear": {"rank": 3, "n_members": 2, "regularization": "light"},
    "spam-neural": {"rank": 3, "n_members": 2, "hidden_units": (8,)},
    "nbm-spam": {"rank": 3, "n_members": 2, "hidden_units": (8,)},
    "linear": {"n_members": 2},
    "linear-2": {"n_members": 2, "l2": 1.0},
    "nam": {"n_members": 2, "hidden_units": (8,)},
    "nam-2": {"n_members": 2, "hidden_units": (8,)},
    "dnn": {"hidden_units": (32, 16)},
    "ebm": {"outer_bags": 2, "max_rounds": 200, "n_jobs": 1},
    "ebm-2": {"outer_bags": 2, "max_rounds": 200, "interactions": 1, "n_jobs": 1},
    "xgboost": {"n_estimators": 100, "n_jobs": 1},
    "cart": {"min_samples_leaf": 2},
}
NETWORKS = ("spam-neural", "nbm-spam", "nam", "nam-2")
TREES = ("ebm", "ebm-2", "xgboost", "cart")
GLASS_BOXES = tuple(name for name in MODELS if MODELS[name].glass_box)
ALWAYS = ("spam", "dnn", "linear", "ebm", "xgboost")
"""What `make test` runs: ours, the black box, and a cheap one of each other kind."""


def kinds(names: Any = MODELS, always: Any = ALWAYS) -> list[Any]:
    """Return names of models as parameters of a test; most are slow."""
    slow = pytest.mark.slow
    return [
        pytest.param(name, marks=[] if name in always else slow, id=name)
        for name in names
    ]


KINDS = kinds()


def make(kind: str, task: Any, **settings: Any) -> Any:
    """Return a small unfitted estimator of a name in the registry.

    Settings of the training loop are left out where a model has no such loop.
    """
    model = make_model(kind, task, random_state=0, **SMALL[kind])
    if "validation_size" in model.get_params():  # what EBMs call it
        own = {"validation_fraction": "validation_size"}
        settings = {own.get(k, k): v for k, v in settings.items()}
    of_loop = {"max_epochs", "batch_size", "feature_map"} - set(model.get_params())
    return model.set_params(**{k: v for k, v in settings.items() if k not in of_loop})


def classifier(kind: str, **settings: Any) -> Any:
    """Return a small unfitted classifier."""
    return make(kind, "binary", **settings)


def regressor(kind: str, **settings: Any) -> Any:
    """Return a small unfitted regressor."""
    return make(kind, "regression", **settings)


def scores(model: Any, X: Any) -> np.ndarray:
    """Return what contributions add up to: logits, or predictions."""
    name = "decision_function" if hasattr(model, "classes_") else "predict"
    return getattr(model, name)(X)  # type: ignore[no-any-return]


def check_identity(model: Any, X: Any, rtol: float = 1e-4) -> None:
    """Check base + terms = score for every row and class, in every view."""
    if not hasattr(model, "explain_local"):
        return  # a black box has no terms
    expected = scores(model, X)
    assert np.isfinite(expected).all()
    for view in ("pure", "raw", "shapley"):
        explanation = model.explain_local(X, view=view)
        total = explanation.base + explanation.values.sum(1)
        gap = np.abs(total - expected)
        assert (gap <= rtol * np.maximum(1, np.abs(expected))).all(), (view, gap.max())
        np.testing.assert_allclose(explanation.score, expected, rtol=1e-9, atol=1e-9)


def check_fit(model: Any, X: Any) -> None:
    """Check that losses, predictions and contributions are finite and add up."""
    losses = [entry["train_loss"] for entry in model.history_]
    assert np.isfinite(losses).all()
    assert np.isfinite(scores(model, X)).all()
    if hasattr(model, "classes_"):
        probabilities = model.predict_proba(X)
        assert probabilities.shape == (len(X), len(model.classes_))
        np.testing.assert_allclose(probabilities.sum(1), 1, rtol=1e-12)
    check_identity(model, X)


def contributions(model: Any, X: Any, column: str, view: str = "pure") -> np.ndarray:
    """Return all contributions of terms that a column is part of, (n, T, ...)."""
    explanation = model.explain_local(X, view=view)
    own = [k for k, term in enumerate(explanation.terms) if column in term]
    assert own
    return explanation.values[:, own]  # type: ignore[no-any-return]


def kinds_of_missing() -> list[Any]:
    return [np.nan, None, pd.NA]
