"""What is known of a model by its name in the registry. No Streamlit in here."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from spam_core.estimators.registry import MODELS, make_model

NAMES = tuple(MODELS)
"""Every model that can be trained, in the order of the registry."""

USUAL = "spam"
"""The model that pages are about unless another one is chosen."""


def heading(name: str) -> str:
    """Name a model where a name stands alone.

    Examples
    --------
    >>> heading("ebm"), heading("dnn")
    ('EBM', 'Neural network')
    """
    return "Neural network" if name == "dnn" else MODELS[name].title


def prose(name: str) -> str:
    """Name a model in the middle of a sentence.

    Examples
    --------
    >>> prose("ebm"), prose("dnn")
    ('EBM', 'the neural network')
    """
    return "the neural network" if name == "dnn" else MODELS[name].title


def in_prose(heading_: str) -> str:
    """Turn a name that stands alone into one in the middle of a sentence.

    Examples
    --------
    >>> in_prose("Neural network"), in_prose("EBM")
    ('the neural network', 'EBM')
    """
    return next((prose(name) for name in NAMES if heading(name) == heading_), heading_)


def capital(sentence: str) -> str:
    """Begin a sentence, whatever it begins with.

    Examples
    --------
    >>> capital("the neural network is best")
    'The neural network is best'
    """
    return sentence[:1].upper() + sentence[1:]


def glass_box(name: str) -> bool:
    """Whether a model's score is a sum of terms that it can show."""
    return MODELS[name].glass_box


def polynomial(name: str) -> bool:
    """Whether a model is a SPAM, whatever it is called: with orders and a spectrum."""
    return hasattr(MODELS[name].regressor, "spectrum")


def spam_family(name: str) -> bool:
    """Whether a model has the settings of a SPAM, such as its rank."""
    return "rank" in _settings(name)


def tells_progress(name: str) -> bool:
    """Whether training says how far it is, epoch by epoch."""
    return "callbacks" in _settings(name)


@functools.cache
def _settings(name: str) -> frozenset[str]:
    return frozenset(make_model(name, "regression").get_params(deep=False))


def parameters(
    name: str, seed: int, spam: Mapping[str, Any], epochs: Mapping[str, Any]
) -> dict[str, Any]:
    """Pick what a model has use for.

    Parameters
    ----------
    name : str
    seed : int
        For all models.
    spam : mapping
        Settings of the SPAM family. What makes a member of it what it is stays.
    epochs : mapping
        Settings of models that are trained in epochs.

    Examples
    --------
    >>> parameters("spam-linear", 3, {"rank": 8, "feature_map": "spline"}, {})
    {'rank': 8, 'random_state': 3}
    >>> parameters("cart", 3, {"rank": 8}, {"max_epochs": 5})
    {'random_state': 3}
    """
    wanted: dict[str, Any] = dict(spam) if spam_family(name) else {}
    wanted["random_state"] = seed
    if tells_progress(name):
        wanted |= epochs
    fixed, known = MODELS[name].parameters, _settings(name)
    return {k: v for k, v in wanted.items() if k in known and k not in fixed}
