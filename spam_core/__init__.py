"""Scalable Polynomial Additive Models (SPAM).

A SPAM is a polynomial of low rank over one feature map per column. It predicts about
as well as a black box, and every prediction is a sum of terms about one, two or three
columns that can be read off exactly.

What this page names is loaded when it is first used, so ``import spam_core`` is cheap.

References
----------
Dubey, Radenovic, Mahajan: *Scalable Interpretability via Polynomials*,
arXiv 2205.14108.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spam_core import plots
    from spam_core.data import load_dataset
    from spam_core.estimators import (
        CARTClassifier,
        CARTRegressor,
        DNNClassifier,
        DNNRegressor,
        EBMClassifier,
        EBMRegressor,
        LinearClassifier,
        LinearRegressor,
        NA2MClassifier,
        NA2MRegressor,
        NAMClassifier,
        NAMRegressor,
        SPAMClassifier,
        SPAMRegressor,
        XGBoostClassifier,
        XGBoostRegressor,
        make_model,
    )
    from spam_core.persistence import load_model

__version__ = "0.1.0"

__all__ = [
    "CARTClassifier",
    "CARTRegressor",
    "DNNClassifier",
    "DNNRegressor",
    "EBMClassifier",
    "EBMRegressor",
    "LinearClassifier",
    "LinearRegressor",
    "NA2MClassifier",
    "NA2MRegressor",
    "NAMClassifier",
    "NAMRegressor",
    "SPAMClassifier",
    "SPAMRegressor",
    "XGBoostClassifier",
    "XGBoostRegressor",
    "__version__",
    "load_dataset",
    "load_model",
    "make_model",
    "plots",
]

# Public name -> the module that defines it (PEP 562: looked up on first use).
_HOME = {
    "CARTClassifier": "spam_core.estimators",
    "CARTRegressor": "spam_core.estimators",
    "DNNClassifier": "spam_core.estimators",
    "DNNRegressor": "spam_core.estimators",
    "EBMClassifier": "spam_core.estimators",
    "EBMRegressor": "spam_core.estimators",
    "LinearClassifier": "spam_core.estimators",
    "LinearRegressor": "spam_core.estimators",
    "NA2MClassifier": "spam_core.estimators",
    "NA2MRegressor": "spam_core.estimators",
    "NAMClassifier": "spam_core.estimators",
    "NAMRegressor": "spam_core.estimators",
    "SPAMClassifier": "spam_core.estimators",
    "SPAMRegressor": "spam_core.estimators",
    "XGBoostClassifier": "spam_core.estimators",
    "XGBoostRegressor": "spam_core.estimators",
    "load_dataset": "spam_core.data",
    "load_model": "spam_core.persistence",
    "make_model": "spam_core.estimators",
}


def __getattr__(name: str) -> object:
    """Load a public name on first use.

    Raises
    ------
    AttributeError
        If the package has no public name like this.
    """
    if name == "plots":
        value: object = import_module("spam_core.plots")
    elif name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
    else:
        msg = f"module 'spam_core' has no attribute {name!r}"
        raise AttributeError(msg)
    globals()[name] = value  # the next look-up doesn't come here
    return value


def __dir__() -> list[str]:
    """Return what is there, the names not yet loaded among them."""
    return sorted({*globals(), *__all__})
