"""Which data sets and which models the benchmarks measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from spam_core.data.datasets import dataset_names
from spam_core.models.baselines import DNN_ARCHITECTURES

TABLES = (
    "california",
    "bike_sharing",
    "heloc",
    "adult",
    "credit_default",
    "telco_churn",
    "compas",
    "support2",
    "mimic2_iac",
    "titanic",
    "covertype",
    "cub",
    "newsgroups",
)
"""Data sets that are measured unless others are named; reports keep this order."""


@dataclass(frozen=True)
class Variant:
    """A model with the settings that are measured.

    Attributes
    ----------
    key : str
        What the command line calls it.
    label : str
        What reports call it.
    name : str
        In the registry of models.
    parameters : mapping
        Settings that differ from the model's defaults.
    paper : str or None
        What the paper calls it.
    only : tuple of str
        Data sets that it is measured on; empty for all.
    """

    key: str
    label: str
    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    paper: str | None = None
    only: tuple[str, ...] = ()


VARIANTS = (
    Variant("spam", "SPAM, order 2", "spam"),
    Variant("spam-3", "SPAM, order 3", "spam", {"order": 3}),
    Variant(
        "spam-3-wide",
        "SPAM, order 3, rank 128",
        "spam",
        {
            "order": 3,
            "rank": 128,
            "regularization": "loose",
            "basis_dropout": 0.1,
            "learning_rate": 0.004,
            "batch_size": 512,
            "max_epochs": 18,
        },
        only=("covertype",),
    ),
    Variant(
        "spam-linear",
        "SPAM-Linear, order 2",
        "spam-linear",
        {},
        "SPAM (Linear, Order 2)",
    ),
    Variant(
        "spam-linear-3",
        "SPAM-Linear, order 3",
        "spam-linear",
        {"order": 3},
        "SPAM (Linear, Order 3)",
    ),
    Variant(
        "spam-neural",
        "SPAM-Neural, order 2",
        "spam-neural",
        {"n_subnets": 8},
        "SPAM (Neural, Order 2)",
    ),
    Variant("nbm-spam", "NBM-SPAM, order 2", "nbm-spam"),
    Variant("linear", "Linear, order 1", "linear", {}, "Linear (Order 1)"),
    Variant("linear-2", "Linear, order 2", "linear-2", {}, "Linear (Order 2)"),
    Variant("nam", "NAM", "nam", {}, "NAM"),
    Variant("nam-2", "NAM, order 2", "nam-2"),
    Variant("ebm", "EBM", "ebm", {}, "EBMs (Order 1)"),
    Variant("ebm-2", "EBM 3x", "ebm-2", {}, "EB2Ms (Order 2)"),
    Variant("xgboost", "XGBoost", "xgboost", {}, "XGBoost"),
    Variant("cart", "CART", "cart"),
    # the paper's number is that of the best of its three networks
    *(
        Variant(
            f"dnn-{k}",
            f"DNN {'-'.join(map(str, hidden))}",
            "dnn",
            {"hidden_units": list(hidden)},
            "DNN",
        )
        for k, hidden in enumerate(DNN_ARCHITECTURES, start=1)
    ),
)
"""Models that are measured unless some are named; reports keep this order."""

REFERENCE = "EBM 3x"
"""Whose error the others' are divided by."""


def find_variants(keys: Sequence[str] | None = None) -> list[Variant]:
    """Return the variants of these keys, or all.

    Raises
    ------
    ValueError
        If a key is unknown; the choices are named.

    Examples
    --------
    >>> [variant.label for variant in find_variants(["spam-3", "ebm-2"])]
    ['SPAM, order 3', 'EBM 3x']
    """
    known = {variant.key: variant for variant in VARIANTS}
    refuse_unknown("model", keys or (), list(known))
    return [known[key] for key in dict.fromkeys(keys or known)]


def find_tables(names: Sequence[str] | None = None) -> list[str]:
    """Return data sets whose files are here: those named, or of `TABLES`.

    Raises
    ------
    ValueError
        If a name is unknown, or its file isn't here.

    Examples
    --------
    >>> find_tables(["wine", "diabetes", "wine"])
    ['wine', 'diabetes']
    """
    here = dataset_names(available=True)
    if names is None:
        found = [name for name in TABLES if name in here]
        if not found:
            raise ValueError(
                "None of the benchmark's data sets is here: set SPAM_DATA_DIR, or name "
                f"tables out of {', '.join(here)}."
            )
        return found
    refuse_unknown("data set", names, list(dataset_names()))
    absent = [name for name in names if name not in here]
    if absent:
        raise ValueError(
            f"The files of {', '.join(absent)} aren't here (SPAM_DATA_DIR names their "
            f"folder). Here are: {', '.join(here)}."
        )
    return list(dict.fromkeys(names))


def refuse_unknown(kind: str, names: Sequence[str], known: Sequence[str]) -> None:
    """Refuse names that aren't known; the choices are named.

    Raises
    ------
    ValueError
    """
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(
            f"There is no {kind} {', '.join(map(repr, unknown))}; choose from "
            f"{', '.join(known)}."
        )


def in_order(names: Sequence[str], order: Sequence[str]) -> list[str]:
    """Sort names as they stand in `order`; others come last, as they came.

    Examples
    --------
    >>> in_order(["wine", "heloc", "california"], TABLES)
    ['california', 'heloc', 'wine']
    """
    place = {name: k for k, name in enumerate(order)}
    return sorted(dict.fromkeys(names), key=lambda name: place.get(name, len(place)))
