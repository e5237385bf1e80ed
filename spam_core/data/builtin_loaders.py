"""The named data sets that come with a library, or are downloaded by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from spam_core.data.catalogue import DatasetInfo
from spam_core.data.file_loaders import covertype_table, finish
from spam_core.data.newsgroups import newsgroups_table
from spam_core.data.splits import make_splits
from spam_core.data.table import Table


def _gapminder(info: DatasetInfo) -> Table:
    # The rows of a country are alike: in two parts they would flatter the score.
    import plotly.data

    frame = plotly.data.gapminder()
    countries = frame["country"]
    dropped = {
        "country": "identifies the group of rows",
        "iso_alpha": "identifies the group of rows",
        "iso_num": "identifies the group of rows",
    }
    return finish(
        info,
        frame,
        dropped=dropped,
        groups=countries,
        splits=make_splits(len(frame), groups=countries.to_numpy()),
    )


def _from_sklearn(name: str, info: DatasetInfo, labels: dict[int, str]) -> Table:
    from sklearn import datasets

    frame = getattr(datasets, f"load_{name}")(as_frame=True).frame
    frame = frame.rename(columns={"target": info.target})
    if labels:
        frame[info.target] = frame[info.target].map(labels).astype("str")
    return finish(info, frame)


def _diabetes(info: DatasetInfo) -> Table:
    return _from_sklearn("diabetes", info, {})


def _breast_cancer(info: DatasetInfo) -> Table:
    # Labels in words: sorted, malignant is the second, the one that is explained.
    return _from_sklearn("breast_cancer", info, {0: "malignant", 1: "benign"})


def _wine(info: DatasetInfo) -> Table:
    return _from_sklearn("wine", info, {i: f"class_{i}" for i in range(3)})


def _digits(info: DatasetInfo) -> Table:
    return _from_sklearn("digits", info, {})


BUILTIN_LOADERS: dict[str, Callable[[DatasetInfo], Table]] = {
    "gapminder": _gapminder,
    "diabetes": _diabetes,
    "breast_cancer": _breast_cancer,
    "wine": _wine,
    "digits": _digits,
}


# --- downloads by scikit-learn --------------------------------------------------------


def _fetch_california(info: DatasetInfo) -> Table:
    from sklearn.datasets import fetch_california_housing

    return finish(info, fetch_california_housing(as_frame=True, n_retries=1).frame)


def _fetch_covertype(info: DatasetInfo) -> Table:
    from sklearn.datasets import fetch_covtype

    frame = fetch_covtype(as_frame=True, n_retries=1).frame
    return covertype_table(info, frame.rename(columns=_count_from_one))


def _count_from_one(column: str) -> str:
    """Name one-hot columns as the files do: Soil_Type_0 becomes Soil_Type1."""
    for group in ("Wilderness_Area", "Soil_Type"):
        if column.startswith(f"{group}_"):
            return f"{group}{int(column.removeprefix(f'{group}_')) + 1}"
    return column


def _fetch_newsgroups(info: DatasetInfo) -> Table:
    from sklearn.datasets import fetch_20newsgroups

    parts: list[Any] = [
        fetch_20newsgroups(subset=subset, shuffle=False, n_retries=1)
        for subset in ("train", "test")
    ]
    texts = pd.Series([text for part in parts for text in part.data], name="text")
    labels = pd.Series(
        np.concatenate([np.array(p.target_names)[p.target] for p in parts]).tolist()
    )
    return newsgroups_table(
        info, texts, labels, np.arange(len(texts)) < len(parts[0].data)
    )


FETCHERS: dict[str, Callable[[DatasetInfo], Table]] = {
    "california": _fetch_california,
    "covertype": _fetch_covertype,
    "newsgroups": _fetch_newsgroups,
}
