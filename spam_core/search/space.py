"""What a search draws from: the ranges of the paper's appendix, for every model.

Dubey, Radenovic and Mahajan, *Scalable Interpretability via Polynomials* (arXiv
2205.14108), appendix, "Hyperparameters". Ranges are the paper's where a model is the
paper's and has the setting; those of the spline SPAM are ours.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from spam_core.estimators import MODELS, make_model
from spam_core.estimators.fitting import refuse_settings, refuse_unknown_settings
from spam_core.models.baselines import DNN_ARCHITECTURES
from spam_core.training.regularization import CANDIDATES

if TYPE_CHECKING:
    import optuna


@dataclass(frozen=True)
class Range:
    """Numbers from `low` to `high`.

    Attributes
    ----------
    low, high : float
    log : bool
        Whether their logarithm is drawn evenly.
    """

    low: float
    high: float
    log: bool = True

    def __post_init__(self) -> None:
        """Refuse a range that holds nothing.

        Raises
        ------
        ValueError
            If the ends aren't finite numbers, low < high, or low > 0 where the
            logarithm is drawn.
        """
        if not (math.isfinite(self.low) and math.isfinite(self.high)):
            raise ValueError(f"a range needs finite ends, got {self.text}")
        if not self.low < self.high:
            raise ValueError(f"a range needs low < high, got {self.text}")
        if self.log and self.low <= 0:
            raise ValueError(f"a logarithmic range needs low > 0, got {self.text}")

    def draw(self, rng: np.random.Generator) -> float:
        """Draw a number."""
        if not self.log:
            return float(rng.uniform(self.low, self.high))
        logs = math.log(self.low), math.log(self.high)
        return float(min(max(math.exp(rng.uniform(*logs)), self.low), self.high))

    def stored(self, value: float) -> float:
        """Return what a study holds of a value: itself."""
        return value

    def suggest(self, trial: optuna.Trial, name: str) -> float:
        """Ask a study's trial for its value."""
        return trial.suggest_float(name, self.low, self.high, log=self.log)

    def value_of(self, stored: float) -> float:
        """Return the value that a study holds so: itself."""
        return stored

    @property
    def text(self) -> str:
        """As the command line writes it."""
        return f"{self.low:g}:{self.high:g}" + (":log" if self.log else "")


@dataclass(frozen=True)
class Choice:
    """One of some values, each as likely.

    Attributes
    ----------
    values : tuple
        Numbers, text, None, or lists of numbers.
    """

    values: tuple[Any, ...]

    def __post_init__(self) -> None:
        """Refuse nothing to choose from.

        Raises
        ------
        ValueError
            If there is no value, or one comes twice.
        """
        if not self.values:
            raise ValueError("a choice needs at least one value")
        texts = [label(value) for value in self.values]
        if len(set(texts)) < len(texts):
            raise ValueError(f"a choice names a value twice: {self.text}")

    def draw(self, rng: np.random.Generator) -> Any:
        """Draw a value."""
        return self.values[int(rng.integers(len(self.values)))]

    def stored(self, value: Any) -> str:
        """Return what a study holds of a value: a list is no category, its text is."""
        return label(value)

    def suggest(self, trial: optuna.Trial, name: str) -> Any:
        """Ask a study's trial for its value."""
        texts = [self.stored(value) for value in self.values]
        return self.value_of(trial.suggest_categorical(name, texts))

    def value_of(self, stored: str) -> Any:
        """Return the value that a study holds so."""
        return next(value for value in self.values if self.stored(value) == stored)

    @property
    def text(self) -> str:
        """As the command line writes it."""
        return ",".join(label(value) for value in self.values)


Setting = Range | Choice
Space = Mapping[str, Setting]


def label(value: Any) -> str:
    """Write a value as tables show it.

    Examples
    --------
    >>> label((64, 64, 32)), label("smooth"), label(None), label(0.1)
    ('[64, 64, 32]', 'smooth', 'null', '0.1')
    """
    return value if isinstance(value, str) else json.dumps(value)


_DRAWS = 20  # in which a value is to fit once
_DROPOUTS = Choice((0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9))
_RANKS = Choice((25, 50, 100, 200, 250, 400, 500, 750, 800, 1000, 1200, 1400, 1600))
_LINEAR: Space = {
    "learning_rate": Range(1e-5, 100.0),
    "weight_decay": Range(1e-13, 1.0),
    "l1": Range(1e-13, 1.0),
}
_SPAM_LINEAR: Space = {
    "learning_rate": Range(1e-7, 100.0),
    "weight_decay": Range(1e-13, 10.0),
    "basis_dropout": Range(0.0, 0.95, log=False),
    "rank": _RANKS,
}
_NAM: Space = {
    "learning_rate": Range(1e-5, 1.0),
    "weight_decay": Range(1e-9, 1.0),
    "output_penalty": Range(1e-6, 100.0),
    "feature_dropout": _DROPOUTS,
}
_EBM: Space = {
    "max_bins": Choice((8, 16, 32, 64, 128, 256, 512)),
    "learning_rate": Range(1e-6, 100.0),
    "max_rounds": Choice((1000, 2000, 4000, 8000, 16_000)),
    "min_samples_leaf": Choice((1, 2, 4, 8, 10, 15, 20, 25, 50)),
    # the paper's 1 is no tree
    "max_leaves": Choice((2, 4, 8, 10, 15, 20, 25, 50)),
    "binning": Choice(("quantile", "uniform", "rounded_quantile")),
    "inner_bags": Choice((1, 2, 4, 8, 16, 32, 64, 128)),
    "outer_bags": Choice((1, 2, 4, 8, 16, 32, 64, 128)),
}

_ANY_ROWS = tuple(name for name in CANDIDATES if name != "keen")  # "auto" tries it

SPACES: Mapping[str, Space] = {
    "spam": {
        "order": Choice((2, 3)),
        "rank": Choice((16, 32, 64, 128)),
        "learning_rate": Range(1e-3, 0.05),
        "regularization": Choice(("auto", *_ANY_ROWS)),
        "basis_dropout": Choice((0.0, 0.05, 0.1, 0.2)),
        "n_knots": Choice((32, 64, 128)),
        "batch_size": Choice((64, 128, 256, 512)),
    },
    "spam-linear": _SPAM_LINEAR,
    "spam-neural": {
        **_SPAM_LINEAR,
        "n_subnets": Choice((1, 2, 4, 8)),
        "units": Choice(("relu", "exu")),
    },
    "nbm-spam": _SPAM_LINEAR,
    "linear": _LINEAR,
    "linear-2": _LINEAR,
    "nam": {**_NAM, "units": Choice(("relu", "exu"))},
    "nam-2": _NAM,
    "dnn": {
        "hidden_units": Choice(tuple(list(units) for units in DNN_ARCHITECTURES)),
        "learning_rate": Range(1e-6, 10.0),
        "weight_decay": Range(1e-9, 1.0),
        "dropout": _DROPOUTS,
    },
    "ebm": _EBM,
    "ebm-2": {
        **_EBM,
        "interactions": Choice((0, 2, 4, 8, 16, 32, 64, 128, 256, 512)),
    },
    "xgboost": {
        "n_estimators": Choice((1, 2, 4, 8, 10, 20, 50, 100, 200, 250, 500, 1000)),
        # the paper's 0, "no limit", has no end on large tables
        "max_depth": Choice((2, 5, 10, 20, 25, 50, 100, 2000)),
        "learning_rate": Range(1e-3, 1.0),
        "subsample": Range(0.01, 1.0, log=False),
        "colsample_bytree": Range(0.01, 1.0, log=False),
    },
    "cart": {
        # the paper's criteria are for regression, and one for counts
        "splitter": Choice(("best", "random")),
        "min_samples_leaf": Choice((4, 8, 16, 32, 64, 128, 256)),
        "min_samples_split": Choice((4, 8, 16, 32, 64, 128, 256)),
        "max_depth": Choice((None, 2, 4, 8, 16, 32)),
    },
}
"""Ranges of every model of the registry, by the names of its settings."""


def make_space(model: str, changes: Mapping[str, Setting | Any] | None = None) -> Space:
    """Return a model's ranges, some of them changed.

    Parameters
    ----------
    model : str
        Name in the registry.
    changes : mapping of setting to Range, Choice or value, optional
        Another range, or a value that all trials share.

    Returns
    -------
    dict of str to Range or Choice

    Raises
    ------
    ValueError
        If the model is unknown, or has no such setting; the choices are named. If it
        would refuse a value in every trial.

    Examples
    --------
    >>> space = make_space("cart", {"max_depth": 3})
    >>> space["max_depth"].text, space["min_samples_leaf"].text
    ('3', '4,8,16,32,64,128,256')
    """
    if model not in MODELS:
        raise ValueError(f"There is no model {model!r}; choose from {list(MODELS)}")
    known = make_model(model, "regression").get_params(deep=False)
    refuse_unknown_settings(model, changes or (), known)
    found = dict(SPACES[model])
    for name, change in (changes or {}).items():
        found[name] = change if isinstance(change, Setting) else Choice((change,))
    for name in changes or ():
        _refuse_impossible(model, name, found)
    return found


def _refuse_impossible(model: str, name: str, space: Space) -> None:
    """Refuse a setting with a value that fits no draw of the others."""
    rng = np.random.default_rng(0)
    draws = [{n: s.draw(rng) for n, s in space.items()} for _ in range(_DRAWS)]
    setting = space[name]
    tried = [draws]
    if isinstance(setting, Choice):
        tried = [[{**draw, name: value} for draw in draws] for value in setting.values]
    for candidates in tried:
        messages = [_refusal(model, settings) for settings in candidates]
        if all(messages):
            raise ValueError(messages[0])


def _refusal(model: str, settings: Mapping[str, Any]) -> str:
    try:
        refuse_settings(model, settings)
    except (TypeError, ValueError) as error:
        return str(error)
    return ""


def parse_setting(text: str) -> Setting:
    """Read a range as the command line writes it.

    Parameters
    ----------
    text : str
        ``low:high``, ``low:high:log``, or values with commas between them; a list
        is written in JSON's brackets.

    Raises
    ------
    ValueError
        If it is none of these, or empty.

    Examples
    --------
    >>> parse_setting("1e-3:0.1:log")
    Range(low=0.001, high=0.1, log=True)
    >>> parse_setting("2,3").values, parse_setting("[64,32],[128]").values
    ((2, 3), ([64, 32], [128]))
    >>> parse_setting("relu,exu").values
    ('relu', 'exu')
    """
    parts = text.split(":")
    if len(parts) > 1:
        kind = parts[2:] or ["even"]
        if len(parts) > 3 or kind[0] not in ("log", "even"):
            raise ValueError(f"Expected low:high or low:high:log, got {text!r}")
        try:
            low, high = float(parts[0]), float(parts[1])
        except ValueError:
            raise ValueError(f"Expected numbers in low:high, got {text!r}") from None
        return Range(low, high, kind[0] == "log")
    if not text.strip():
        raise ValueError("Expected a range low:high or values, got nothing")
    try:
        return Choice(tuple(json.loads(f"[{text}]")))
    except json.JSONDecodeError:  # words needn't be quoted
        return Choice(tuple(_value(word) for word in text.split(",")))


def _value(word: str) -> Any:
    try:
        return json.loads(word)
    except json.JSONDecodeError:
        return word.strip()
