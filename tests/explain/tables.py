"""A small table of every kind of column, and fitted models that explain it."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pandas as pd

from spam_core.estimators.spam import SPAMClassifier, SPAMRegressor

TASKS = ("regression", "binary", "multiclass")
MAPS = ("spline", "linear", "neural", "basis")
N = 160


def table(n: int = N, seed: int = 0) -> pd.DataFrame:
    """Return numbers, whole numbers, special codes, levels, booleans and dates."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.normal(50.0, 10.0, n),
            "rooms": rng.integers(1, 7, n),
            "months": rng.choice([3.0, 12.0, 24.5, -9.0], n),
            "city": rng.choice(["Ulm", "Köln", "Bonn"], n),
            "garden": rng.random(n) < 0.4,
            "same": 7.0,
        }
    )
    frame.loc[frame.index.isin([3, 40]), "size"] = np.nan
    frame.loc[frame.index == 5, "city"] = None
    return frame


def target(frame: pd.DataFrame, task: str) -> pd.Series:
    """Return something that depends on single columns and on pairs."""
    size = frame["size"].fillna(50.0)
    score = 0.1 * size + frame["rooms"] * (frame["city"] == "Ulm") - frame["garden"]
    if task == "regression":
        return (100.0 * score).rename("price")
    if task == "binary":
        return (score > score.median()).map({True: "yes", False: "no"}).rename("buys")
    return pd.cut(score, 3, labels=["low", "mid", "top"]).astype(str).rename("band")


@cache
def fitted(
    task: str = "regression", order: int = 2, feature_map: str = "spline", **_: object
) -> SPAMRegressor | SPAMClassifier:
    """Return a model fitted in a second; do not fit it again."""
    frame = table()
    kind = SPAMRegressor if task == "regression" else SPAMClassifier
    model = kind(
        order=order,
        rank=4,
        feature_map=feature_map,
        n_members=3,
        n_knots=8,
        special_values={"months": [-9.0]},
        regularization="light",
        hidden_units=(8,),
        max_epochs=3,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="These columns are constant")
        return model.fit(frame, target(frame, task))


def odd_rows() -> pd.DataFrame:
    """Return rows with missing, special and never seen cells."""
    frame = table(6, seed=1)
    frame.loc[0, "size"] = np.nan
    frame.loc[1, "city"] = "Rom"
    frame.loc[2, "rooms"] = np.nan  # training had none missing
    frame.loc[3, "months"] = -9.0
    frame.loc[4, "same"] = 8.0
    frame["garden"] = frame["garden"].astype("boolean")
    frame.loc[5, ["city", "rooms", "garden", "months"]] = None
    return frame
