"""Neural additive models: a small network for each feature, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import torch

from spam_core.data.encoding import Scaling
from spam_core.estimators.base import TabularEstimator
from spam_core.estimators.gradient import (
    GradientClassifier,
    GradientRegressor,
    Training,
)
from spam_core.estimators.spam import _SPAM
from spam_core.estimators.trees import check_numbers, check_share, dense_rows
from spam_core.explain.record import record_training
from spam_core.models.additive import AdditiveEnsemble
from spam_core.models.networks import NeuralMap, Units
from spam_core.training.config import Callback
from spam_core.training.fit import (
    Problem,
    default_config,
    make_ready,
    resolve_device,
)
from spam_core.training.loop import train
from spam_core.training.regularization import NETWORKS, regularize


class _NAM(_SPAM):
    """A SPAM-Neural of order 1; see `NAMRegressor`."""

    def __init__(
        self,
        hidden_units: Sequence[int] | None = None,
        *,
        units: Units = "relu",
        n_members: int = 8,
        output_penalty: float = 0.0,
        feature_dropout: float = 0.0,
        scaling: Scaling = "quantile",
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
        # The base class's __init__ isn't called: scikit-learn takes the parameters of
        # an estimator from its own signature, and the others are fixed below.
        self.hidden_units = hidden_units
        self.units = units
        self.n_members = n_members
        self.output_penalty = output_penalty
        self.feature_dropout = feature_dropout
        self.scaling = scaling
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

    order = 1
    rank = 1  # of no order above 1
    feature_map = "neural"
    n_knots = "auto"
    shared_bases = True
    nonnegative = False
    regularization = "auto"
    basis_dropout = 0.0
    l1 = 0.0
    n_subnets = 1

    # networks make every zero a number: the plain refusal, as of the trees
    _check_sparse = TabularEstimator._check_sparse

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_numbers(self, output_penalty=0)
        check_share(self, "feature_dropout")

    def _train(
        self, problem: Problem, seed: int, offset: float, factor: float
    ) -> Training:
        device = resolve_device(self.device)
        generator = torch.Generator().manual_seed(seed)
        held = problem.held_out(self.n_members, self.validation_fraction, seed)
        rows = dense_rows(problem.rows)
        feature_map = NeuralMap(
            problem.layout,
            (1,),
            self.n_members,
            generator,
            problem.n_outputs,  # each of several classes has shapes of its own
            self.hidden_units or ((64, 64, 32) if self.units == "relu" else (1024,)),
            self.units,
        )
        ensemble = AdditiveEnsemble(
            feature_map,
            self.n_members,
            problem.n_outputs,
            problem.marginals,
            generator,
            output_penalty=self.output_penalty,
            feature_dropout=self.feature_dropout,
        )
        regularize(ensemble, [NETWORKS] * self.n_members)
        make_ready(ensemble, problem, device, seed)
        config = default_config(
            len(problem.target),
            least_epochs=40 if problem.task == "regression" else 25,
            learning_rate=(
                0.003 if self.learning_rate == "auto" else self.learning_rate
            ),
            batch_size=self.batch_size,
            max_epochs=self.max_epochs,
            patience=self.patience,
            weight_decay=self.weight_decay,
        )
        data = problem.training_data(held, device)
        result = train(ensemble, data, config, generator, self.callbacks)
        model = ensemble.freeze(torch.tensor([offset], dtype=torch.float64), factor)
        record = record_training(model, rows, problem.layout.n_levels, problem.weight)
        return Training(
            model,
            result.history,
            result.validation_loss,
            {"regularization_": NETWORKS, "training_record_": record},
        )


_DOCUMENTATION = """{summary}

    A neural additive model (Agarwal et al., 2021) is a SPAM-Neural of order 1: each
    number passes a network of its own, levels have a weight each, and the prediction is
    their sum. With several classes each has shapes of its own. It is trained, explained
    and saved as a SPAM is.

    NOTE[DIFF]: the dropout of hidden units that the paper tunes for its NAM isn't
    offered, and its output penalty and feature dropout are off unless asked for: the
    quadratic penalty of SPAM-Neural stands in their place.

    Parameters
    ----------
    hidden_units : sequence of int, optional
        Hidden layers of each network; the default is (64, 64, 32), or (1024,) for ExU.
    units : {{"relu", "exu"}}, default="relu"
        Units of the first layer; ExU bend sharply, for jagged shapes.
    n_members : int, default=8
        Models trained side by side, each holding out other rows; their mean is the
        model, and their spread gives bands.
    output_penalty : float, default=0.0
        Weight of the mean square of the columns' terms in the loss.
    feature_dropout : float, default=0.0
        Probability that a column is left out for a row of a step.
    scaling : {{"quantile", "minmax", "maxabs", "none"}}, default="quantile"
        As in SPAM-Neural. Quantile and min-max clip values beyond the training range.
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

    Examples
    --------
    >>> import numpy as np
    >>> from spam_core import {name}
    >>> X = np.random.default_rng(0).uniform(size=(100, 2))
    {example}
    """


class NAMRegressor(GradientRegressor, _NAM):  # noqa: D101 - written below
    __doc__ = _DOCUMENTATION.format(
        summary="Regression by a network for each feature.",
        name="NAMRegressor",
        example=""">>> model = NAMRegressor((8,), n_members=2, random_state=0)
    >>> model.fit(X, X[:, 0]).predict(X[:3]).shape
    (3,)""",
    )


class NAMClassifier(GradientClassifier, _NAM):  # noqa: D101 - written below
    __doc__ = _DOCUMENTATION.format(
        summary="Classification by a network for each feature.",
        name="NAMClassifier",
        example=""">>> model = NAMClassifier((8,), n_members=2, random_state=0)
    >>> model.fit(X, X[:, 0] > 0.5).predict_proba(X[:3]).shape
    (3, 2)""",
    )
