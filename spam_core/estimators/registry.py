"""Every model that the app and the benchmarks can name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from spam_core.estimators import ebm, xgboost_
from spam_core.estimators.cart import CARTClassifier, CARTRegressor
from spam_core.estimators.dnn import DNNClassifier, DNNRegressor
from spam_core.estimators.ebm import EBMClassifier, EBMRegressor
from spam_core.estimators.linear import LinearClassifier, LinearRegressor
from spam_core.estimators.na2m import NA2MClassifier, NA2MRegressor
from spam_core.estimators.nam import NAMClassifier, NAMRegressor
from spam_core.estimators.spam import SPAMClassifier, SPAMRegressor
from spam_core.estimators.xgboost_ import XGBoostClassifier, XGBoostRegressor
from spam_core.training.losses import Task


@dataclass(frozen=True)
class ModelEntry:
    """One model by name.

    Attributes
    ----------
    title : str
        As shown to people.
    regressor, classifier : callable
        Make an unfitted estimator.
    parameters : dict
        Set before the caller's own.
    glass_box : bool
        Whether it explains itself exactly.
    needs : tuple of str
        What it can't be fitted without: arguments of `optional_import`, or nothing.
    """

    title: str
    regressor: Callable[..., Any]
    classifier: Callable[..., Any]
    parameters: dict[str, Any] = field(default_factory=dict)
    glass_box: bool = True
    needs: tuple[str, ...] = ()


MODELS: dict[str, ModelEntry] = {
    "spam": ModelEntry("SPAM", SPAMRegressor, SPAMClassifier),
    "spam-linear": ModelEntry(
        "SPAM-Linear",
        SPAMRegressor,
        SPAMClassifier,
        {"feature_map": "linear", "scaling": "minmax"},
    ),
    "spam-neural": ModelEntry(
        "SPAM-Neural", SPAMRegressor, SPAMClassifier, {"feature_map": "neural"}
    ),
    "nbm-spam": ModelEntry(
        "NBM-SPAM", SPAMRegressor, SPAMClassifier, {"feature_map": "basis"}
    ),
    "linear": ModelEntry("Linear (Order 1)", LinearRegressor, LinearClassifier),
    "linear-2": ModelEntry(
        "Linear (Order 2)", LinearRegressor, LinearClassifier, {"order": 2}
    ),
    "nam": ModelEntry("NAM", NAMRegressor, NAMClassifier),
    "nam-2": ModelEntry("NA²M", NA2MRegressor, NA2MClassifier),
    "dnn": ModelEntry("DNN", DNNRegressor, DNNClassifier, glass_box=False),
    "ebm": ModelEntry("EBM", EBMRegressor, EBMClassifier, needs=ebm.NEEDS),
    "ebm-2": ModelEntry(
        "EB²M", EBMRegressor, EBMClassifier, {"interactions": "3x"}, needs=ebm.NEEDS
    ),
    "xgboost": ModelEntry(
        "XGBoost",
        XGBoostRegressor,
        XGBoostClassifier,
        glass_box=False,
        needs=xgboost_.NEEDS,
    ),
    "cart": ModelEntry("CART", CARTRegressor, CARTClassifier, glass_box=False),
}


def make_model(name: str, task: Task, **parameters: Any) -> Any:
    """Make an unfitted estimator by name.

    Parameters
    ----------
    name : str
        A key of `MODELS`.
    task : {"regression", "binary", "multiclass"}
        What it is for.
    **parameters
        Passed on to the estimator.

    Raises
    ------
    ValueError
        If the name or the task is unknown; the choices are named.

    Examples
    --------
    >>> make_model("spam", "regression", order=3)
    SPAMRegressor(order=3)
    """
    if name not in MODELS:
        raise ValueError(f"No model is called {name!r}; choose one of {list(MODELS)}")
    entry = MODELS[name]
    if task not in ("regression", "binary", "multiclass"):
        raise ValueError(
            'task must be "regression", "binary" or "multiclass", got ' + repr(task)
        )
    make = entry.regressor if task == "regression" else entry.classifier
    return make(**{**entry.parameters, **parameters})
