"""Models made of trees as a JSON header and tensors, and back.

An EBM is its tables, CART its arrays of nodes, and XGBoost the bytes that it saves
itself as, in UBJSON, which holds data only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from spam_core.data.encoding import TableEncoder
from spam_core.data.sparse import SparseEncoder
from spam_core.estimators.cart import DecisionTree
from spam_core.estimators.trees import is_nominal
from spam_core.estimators.xgboost_ import BoostedTrees
from spam_core.models.tables import AdditiveTables, Bins

TREE_MODELS = (AdditiveTables, BoostedTrees, DecisionTree)
"""Classes of models that are written here."""
TREE_KINDS = ("tables", "xgboost", "cart")
"""What their headers call them."""

_NODES = ("left", "right", "column", "threshold", "missing_left", "values")


def write_trees(
    model: AdditiveTables | BoostedTrees | DecisionTree, tensors: dict[str, Tensor]
) -> dict[str, Any]:
    """Put a model's numbers among `tensors`; return the rest."""
    if isinstance(model, BoostedTrees | DecisionTree) and model.units is not None:
        tensors["units"] = _tensor(model.units)
    if isinstance(model, BoostedTrees):
        tensors["xgboost"] = torch.frombuffer(bytearray(model.raw), dtype=torch.uint8)
        return {
            "kind": "xgboost",
            "n_outputs": model.n_outputs,
            "offset": model.offset,
            "factor": model.factor,
        }
    if isinstance(model, DecisionTree):
        for name in _NODES:
            tensors[f"tree.{name}"] = _tensor(getattr(model, name))
        for k, place in enumerate(model.ranks):
            tensors[f"ranks.{k}"] = _tensor(place)
        return {"kind": "cart", "columns": len(model.ranks)}
    bins = model.bins
    for i, table in enumerate(model.singles):
        tensors[f"cuts.{i}"] = _tensor(bins.cuts[i])
        tensors[f"pair_cuts.{i}"] = _tensor(bins.pair_cuts[i])
        tensors[f"weights.{i}"] = _tensor(bins.weights[i])
        tensors[f"single.{i}"] = _tensor(table)
    pairs = sorted(model.pairs)
    for i, j in pairs:
        tensors[f"pair.{i}.{j}"] = _tensor(model.pairs[i, j])
    tensors["intercept"] = _tensor(model.intercept)
    tensors["shares"] = _tensor(model.shares)
    return {"kind": "tables", "pairs": [list(pair) for pair in pairs]}


def read_trees(
    header: dict[str, Any],
    tensors: dict[str, Tensor],
    encoder: TableEncoder | SparseEncoder,
    n_jobs: int | None = None,
) -> AdditiveTables | BoostedTrees | DecisionTree:
    """Return the model that `write_trees` was given.

    Raises
    ------
    KeyError, ValueError
        If header and tensors aren't what it writes.
    """
    features = encoder.features
    arrays = {name: value.numpy() for name, value in tensors.items()}
    units = arrays.get("units")  # an older file has none: numbers as they are
    if units is not None and units.shape != (2, len(is_nominal(features))):
        raise ValueError(f"units of shape {units.shape}")
    if header["kind"] == "xgboost":
        return BoostedTrees(
            arrays["xgboost"].tobytes(),
            features,
            int(header["n_outputs"]),
            float(header["offset"]),
            float(header["factor"]),
            n_jobs,
            units,
        )
    if not isinstance(encoder, TableEncoder):
        raise ValueError(f"a {header['kind']} of a sparse table")
    if header["kind"] == "cart":
        ranks = tuple(arrays[f"ranks.{k}"] for k in range(int(header["columns"])))
        return DecisionTree(
            features,
            ranks,
            **{name: arrays[f"tree.{name}"] for name in _NODES},
            units=units,
        )
    d = len(features)
    bins = Bins(
        tuple(arrays[f"cuts.{i}"] for i in range(d)),
        tuple(arrays[f"pair_cuts.{i}"] for i in range(d)),
        tuple(len(feature.levels) for feature in features),
        tuple(arrays[f"weights.{i}"] for i in range(d)),
    )
    pairs = {(int(i), int(j)): arrays[f"pair.{i}.{j}"] for i, j in header["pairs"]}
    singles = tuple(arrays[f"single.{i}"] for i in range(d))
    return AdditiveTables(bins, arrays["intercept"], singles, pairs, arrays["shares"])


def _tensor(array: np.ndarray[Any, Any]) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(array))
