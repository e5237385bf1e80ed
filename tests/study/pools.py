"""Made-up explanations of a pool of rows."""

from __future__ import annotations

import numpy as np
import pandas as pd

from spam_core.explain import LocalExplanation


def explanation(values, base=0.0, classes=("no", "yes"), terms=None, **changes):
    """Return an explanation whose score is the sum of what it lists."""
    values = np.asarray(values, dtype=float)
    n, n_terms = values.shape[:2]
    start = np.broadcast_to(base, (n, *values.shape[2:])).astype(float)
    names = [f"c{k}" for k in range(n_terms)]
    made = {
        "values": values,
        "base": start,
        "score": start + values.sum(1),
        "terms": [(name,) for name in names] if terms is None else terms,
        "data": pd.DataFrame(np.zeros((n, n_terms)), columns=names),
        "classes": classes,
    }
    return LocalExplanation(**(made | changes))


def exact(n: int = 60, n_terms: int = 8, seed: int = 0, base: float = 0.0):
    """Return terms that are all there is to the score of a binary model."""
    rng = np.random.default_rng(seed)
    return explanation(rng.normal(size=(n, n_terms)), base)


def without_sense(model: LocalExplanation, seed: int = 1) -> LocalExplanation:
    """Return contributions of other rows under each row's own score."""
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(model))
    moved, base = model.values[rows], model.base[rows]
    rest = model.score - base - moved.sum(axis=1)
    return LocalExplanation(
        values=np.concatenate([moved, rest[:, None]], axis=1),
        base=base,
        score=model.score,
        terms=[*model.terms, ("…",)],
        data=model.data,
        classes=model.classes,
    )


def several(
    n: int = 90, n_terms: int = 6, n_classes: int = 3, seed: int = 0, **changes
):
    """Return terms of a model with several classes, whose bases differ."""
    values = np.random.default_rng(seed).normal(size=(n, n_terms, n_classes))
    base = 2.0 * np.arange(n_classes)
    return explanation(values, base, tuple("pqrstuvw"[:n_classes]), **changes)


def accuracies(played, reader: str, condition: str) -> list[float]:
    """Return the mean accuracy at each length."""
    place = played.conditions.index(condition), played.readers.index(reader)
    return played.accuracy[place].mean(axis=1).tolist()
