"""Fully connected networks as scikit-learn estimators."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import torch
from torch import Tensor

from spam_core.data.encoding import Encoded, TableEncoder
from spam_core.data.sparse import SparseEncoder, SparseRows
from spam_core.estimators.gradient import (
    GradientClassifier,
    GradientEstimator,
    GradientRegressor,
    Training,
)
from spam_core.models.baselines import DNN, DNN_ARCHITECTURES
from spam_core.training.config import Callback
from spam_core.training.fit import (
    Problem,
    default_config,
    make_ready,
    resolve_device,
)
from spam_core.training.loop import train

_BLOCK_ROWS = 8192


class ScoringDNN:
    """A trained network in float64, on the scale of the scores."""

    def __init__(self, network: DNN, offset: float, factor: float) -> None:
        self.network = network.requires_grad_(False)
        self.offset, self.factor = offset, factor

    @property
    def n_parameters(self) -> int:
        """Weights of the network."""
        return sum(p.numel() for p in self.network.parameters())

    def score(self, rows: Encoded | SparseRows) -> Tensor:
        """Scores of shape (n, C); logits of several classes are centred."""
        parts = []
        for start in range(0, len(rows), _BLOCK_ROWS):
            scores = self.network(rows[start : start + _BLOCK_ROWS])[:, 0]
            if scores.shape[1] > 1:
                scores = scores - scores.mean(1, keepdim=True)
            parts.append(scores * self.factor + self.offset)
        return torch.cat(parts)


class _DNN(GradientEstimator):
    def __init__(
        self,
        hidden_units: Sequence[int] = DNN_ARCHITECTURES[0],
        *,
        dropout: float = 0.1,
        special_values: Mapping[str, Sequence[float]] | None = None,
        weight_decay: float = 1e-4,
        learning_rate: float = 1e-3,
        batch_size: int | Literal["auto"] = "auto",
        max_epochs: int = 100,
        patience: int = 10,
        validation_fraction: float = 0.125,
        device: str = "auto",
        callbacks: Sequence[Callback] | None = None,
        random_state: Any = None,
    ) -> None:
        self.hidden_units = hidden_units
        self.dropout = dropout
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

    def _takes_sparse(self) -> bool:
        return True

    def _make_encoder(self, sparse: bool) -> TableEncoder | SparseEncoder:
        if sparse:
            return SparseEncoder("quantile")
        return TableEncoder(special_values=self.special_values)

    def _train(
        self, problem: Problem, seed: int, offset: float, factor: float
    ) -> Training:
        device = resolve_device(self.device)
        generator = torch.Generator().manual_seed(seed)
        network = DNN(
            problem.layout,
            self.hidden_units,
            problem.n_outputs,
            generator,
            self.dropout,
        )
        make_ready(network, problem, device, seed)
        held = problem.held_out(1, self.validation_fraction, seed)
        data = problem.training_data(held, device)
        config = default_config(
            len(problem.target),
            learning_rate=self.learning_rate,
            batch_size=self.batch_size,
            max_epochs=self.max_epochs,
            patience=self.patience,
            weight_decay=self.weight_decay,
        )
        result = train(network, data, config, generator, self.callbacks)
        final = copy.deepcopy(network).cpu().double()
        final.generator = torch.Generator()
        model = ScoringDNN(final, offset, factor)
        return Training(model, result.history, result.validation_loss)


class DNNRegressor(GradientRegressor, _DNN):
    """Regression by a fully connected ReLU network.

    A sparse table stays sparse, and its zeros 0.

    Parameters
    ----------
    hidden_units : sequence of int, default=(128, 128, 64, 64, 64)
        Hidden layers; `spam_core.models.baselines.DNN_ARCHITECTURES` has the paper's.
    dropout : float, default=0.1
        After each hidden layer.
    special_values : mapping of column to list of numbers, optional
        Codes that aren't quantities; each becomes a level.
    weight_decay, learning_rate : float
        Of AdamW; the learning rate falls to 0 by a cosine.
    batch_size : int or "auto"
        By the number of rows.
    max_epochs, patience : int
        At most so many epochs, and so many without a lower validation loss.
    validation_fraction : float, default=0.125
        Share of the rows held out to decide when to stop.
    device : {"auto", "cpu", "cuda"}
        Where to train.
    callbacks : sequence of callable, optional
        Each is called with a `Progress` after every epoch; True stops training.
    random_state : int, RandomState or None
        With an int, two fits are equal bit for bit at one thread count.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(size=(100, 2))
    >>> DNNRegressor((8,), random_state=0).fit(X, X[:, 0]).predict(X[:3]).shape
    (3,)
    """


class DNNClassifier(GradientClassifier, _DNN):
    """Classification by a fully connected ReLU network.

    Parameters are those of `DNNRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(size=(100, 2))
    >>> model = DNNClassifier((8,), random_state=0).fit(X, X[:, 0] > 0.5)
    >>> model.predict_proba(X[:3]).shape
    (3, 2)
    """
