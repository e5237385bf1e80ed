"""What the cases share: small estimators, and the identity."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from spam_core import DNNClassifier, DNNRegressor, SPAMClassifier, SPAMRegressor

SPAM: dict[str, Any] = {"rank": 3, "n_members": 2, "random_state": 0}
DNN: dict[str, Any] = {"hidden_units": (32, 16), "random_state": 0}
KINDS = ("spam", "dnn")


def classifier(kind: str, **settings: Any) -> Any:
    """Return a small unfitted classifier: ``"spam"`` or ``"dnn"``."""
    if kind == "spam":
        return SPAMClassifier(**{**SPAM, **settings})
    return DNNClassifier(**{**DNN, **settings})


def regressor(kind: str, **settings: Any) -> Any:
    """Return a small unfitted regressor: ``"spam"`` or ``"dnn"``."""
    if kind == "spam":
        return SPAMRegressor(**{**SPAM, **settings})
    return DNNRegressor(**{**DNN, **settings})


def scores(model: Any, X: Any) -> np.ndarray:
    """Return what contributions add up to: logits, or predictions."""
    name = "decision_function" if hasattr(model, "classes_") else "predict"
    return getattr(model, name)(X)  # type: ignore[no-any-return]


def check_identity(model: Any, X: Any, rtol: float = 1e-4) -> None:
    """Check base + terms = score for every row and class, in every view."""
    if not hasattr(model, "explain_local"):
        return  # a network has no terms
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
