"""Neural additive models with a network for each pair of columns (NA2M)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import torch

from spam_core.data.encoding import TableEncoder
from spam_core.estimators.gradient import (
    GradientClassifier,
    GradientEstimator,
    GradientRegressor,
    Training,
)
from spam_core.estimators.na2m_tables import scaled_rows, tables_of
from spam_core.estimators.tables import TablesEstimator
from spam_core.estimators.trees import check_numbers, check_share, dense_rows
from spam_core.explain import additive
from spam_core.models.additive import PairNetworks
from spam_core.training.config import Callback
from spam_core.training.fit import (
    Problem,
    default_config,
    make_ready,
    resolve_device,
)
from spam_core.training.loop import train

MOST_PAIRS = 300
"""Pairs of columns, each with a network of its own: 25 columns have so many."""


class _NA2M(TablesEstimator, GradientEstimator):
    """Parameters and fitting shared by both; see `NA2MRegressor`."""

    explained_as = "NA2M"

    _in_single_precision = False  # the networks see quantiles, the tables are float64

    def __init__(
        self,
        hidden_units: Sequence[int] = (64, 64, 32),
        *,
        n_members: int = 4,
        output_penalty: float = 0.0,
        feature_dropout: float = 0.0,
        special_values: Mapping[str, Sequence[float]] | None = None,
        weight_decay: float = 0.0,
        learning_rate: float | Literal["auto"] = "auto",
        batch_size: int | Literal["auto"] = "auto",
        max_epochs: int | Literal["auto"] = "auto",
        patience: int = 6,
        validation_fraction: float = 0.125,
        device: str = "auto",
        callbacks: Sequence[Callback] | None = None,
        random_state: Any = None,
    ) -> None:
        self.hidden_units = hidden_units
        self.n_members = n_members
        self.output_penalty = output_penalty
        self.feature_dropout = feature_dropout
        self.special_values = special_values
        self.weight_decay = weight_decay
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.device = device
        self.callbacks = callbacks
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_numbers(self, output_penalty=0)
        check_share(self, "feature_dropout")

    def _make_encoder(self, sparse: bool) -> TableEncoder:
        assert not sparse, "_check_sparse refuses it"
        # tables are in user units; the networks see quantiles
        return TableEncoder(scaling="none", special_values=self.special_values)

    def _train(
        self, problem: Problem, seed: int, offset: float, factor: float
    ) -> Training:
        varying = sum(feature.kind != "constant" for feature in problem.features)
        n_pairs = varying * (varying - 1) // 2
        if n_pairs > MOST_PAIRS:
            raise ValueError(
                f"{type(self).__name__} trains a network for each pair of columns, at "
                f"most {MOST_PAIRS} of them, and {varying} columns make {n_pairs:,}."
            )
        device = resolve_device(self.device)
        generator = torch.Generator().manual_seed(seed)
        rows = dense_rows(problem.rows)
        inputs = replace(problem, rows=scaled_rows(rows, problem.features))
        networks = PairNetworks(
            problem.layout,
            self.hidden_units,
            self.n_members,
            problem.n_outputs,
            generator,
            output_penalty=self.output_penalty,
            feature_dropout=self.feature_dropout,
        )
        make_ready(networks, problem, device, seed)
        held = problem.held_out(self.n_members, self.validation_fraction, seed)
        config = default_config(
            len(problem.target),
            learning_rate=(
                0.003 if self.learning_rate == "auto" else self.learning_rate
            ),
            batch_size=self.batch_size,
            max_epochs=self.max_epochs,
            patience=self.patience,
            weight_decay=self.weight_decay,
        )
        data = inputs.training_data(held, device)
        result = train(networks, data, config, generator, self.callbacks)
        tables = tables_of(
            networks.cpu().double(),
            problem.features,
            rows,
            problem.weight,
            offset,
            factor,
        )
        record = additive.record_training(tables, rows, problem.weight)
        validation = result.validation_loss
        return Training(
            tables,
            result.history,
            validation if np.isfinite(validation) else None,
            {"training_record_": record},
        )


_DOCUMENTATION = """{summary}

    A neural additive model (Agarwal et al., 2021) with a small network for each column
    and one for each pair of columns (NA2M): the prediction is their sum. Several
    classes have shapes of their own. At most 300 pairs, so 25 columns.

    NOTE[DIFF]: what is kept of the trained networks are their values on a grid, 256
    cells a column and up to 128 x 128 a pair, as of an EBM. So they are scored, saved
    and explained exactly, by steps; a network would be asked for every term.

    Parameters
    ----------
    hidden_units : sequence of int, default=(64, 64, 32)
        Hidden layers of each network.
    n_members : int, default=4
        Models trained side by side, each holding out other rows; their mean is the
        model, and their spread gives bands.
    output_penalty : float, default=0.0
        Weight of the mean square of the networks' outputs in the loss.
    feature_dropout : float, default=0.0
        Probability that a network is left out for a row of a step.
    special_values : mapping of column to list of numbers, optional
        Codes that aren't quantities; each becomes a level.
    weight_decay : float, default=0.0
        Decoupled weight decay (AdamW).
    learning_rate : float or "auto"
        0.003.
    batch_size, max_epochs : int or "auto"
        By the number of rows.
    patience : int, default=6
        Epochs without a lower validation loss until training stops.
    validation_fraction : float, default=0.125
        Share of the rows that each member holds out.
    device : {{"auto", "cpu", "cuda"}}
        Where to train; auto takes a GPU if there is one.
    callbacks : sequence of callable, optional
        Each is called with a `Progress` after every epoch; True stops training.
    random_state : int, RandomState or None
        With an int, two fits are equal bit for bit at one thread count.

    References
    ----------
    Agarwal et al.: *Neural Additive Models*, NeurIPS 2021, arXiv 2004.13912.
    Radenovic, Dubey, Mahajan: *Neural Basis Models*, NeurIPS 2022, arXiv 2205.14120.

    Examples
    --------
    >>> import numpy as np
    >>> from spam_core import {name}
    >>> X = np.random.default_rng(0).uniform(size=(100, 2))
    >>> model = {name}((8,), n_members=2, max_epochs=2, random_state=0)
    >>> model.fit(X, {target}).explain_local(X[:1]).terms
    (('x0',), ('x1',), ('x0', 'x1'))
    """


class NA2MRegressor(GradientRegressor, _NA2M):  # noqa: D101 - written below
    __doc__ = _DOCUMENTATION.format(
        summary="Regression by a network for each column and each pair of columns.",
        name="NA2MRegressor",
        target="X[:, 0] * X[:, 1]",
    )


class NA2MClassifier(GradientClassifier, _NA2M):  # noqa: D101 - written below
    __doc__ = _DOCUMENTATION.format(
        summary="Classification by a network for each column and each pair of columns.",
        name="NA2MClassifier",
        target="X[:, 0] > X[:, 1]",
    )
