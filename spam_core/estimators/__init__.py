"""scikit-learn estimators, and the registry of every model by name."""

from spam_core.estimators.cart import CARTClassifier, CARTRegressor
from spam_core.estimators.dnn import DNNClassifier, DNNRegressor
from spam_core.estimators.ebm import EBMClassifier, EBMRegressor
from spam_core.estimators.linear import LinearClassifier, LinearRegressor
from spam_core.estimators.na2m import NA2MClassifier, NA2MRegressor
from spam_core.estimators.nam import NAMClassifier, NAMRegressor
from spam_core.estimators.registry import MODELS, make_model
from spam_core.estimators.spam import SPAMClassifier, SPAMRegressor
from spam_core.estimators.xgboost_ import XGBoostClassifier, XGBoostRegressor

__all__ = [
    "MODELS",
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
    "make_model",
]
