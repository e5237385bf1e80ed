"""scikit-learn estimators, and the registry of every model by name."""

from spam_core.estimators.dnn import DNNClassifier, DNNRegressor
from spam_core.estimators.registry import MODELS, make_model
from spam_core.estimators.spam import SPAMClassifier, SPAMRegressor

__all__ = [
    "MODELS",
    "DNNClassifier",
    "DNNRegressor",
    "SPAMClassifier",
    "SPAMRegressor",
    "make_model",
]
