"""Linear and logistic regression, of columns alone or with all products of two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted

from spam_core.data.encoding import SCALINGS, Scaling, TableEncoder
from spam_core.data.sparse import SparseEncoder, SparseRows
from spam_core.estimators.glassbox import GlassBoxEstimator
from spam_core.estimators.gradient import (
    GradientClassifier,
    GradientRegressor,
    Training,
    is_integer,
    is_number,
)
from spam_core.estimators.sparse import train_sparse
from spam_core.explain.record import record_training
from spam_core.models.feature_maps import LinearMap
from spam_core.models.quadratic import QuadraticEnsemble, Standardisation
from spam_core.training.config import Callback
from spam_core.training.fit import (
    Problem,
    default_config,
    initial_bias,
    resolve_device,
)
from spam_core.training.loop import train
from spam_core.training.sparse import SparseSettings, sparse_config

STRENGTHS = (0.1, 1.0, 10.0, 100.0, 1000.0)
"""What ``l2="auto"`` tries."""
_UNCOMPARED = 1.0  # taken where no row can be held out
_MOST_COLUMNS = 3_000  # encoded ones, whose products are a full matrix
_MOST_WEIGHTS = 40_000_000  # of products, all members and strengths: about 1.5 GB


class _Linear(GlassBoxEstimator):
    """Parameters and fitting shared by both estimators; see `LinearRegressor`."""

    def __init__(
        self,
        order: int = 1,
        *,
        l1: float | Literal["auto"] = "auto",
        l2: float | Literal["auto"] = "auto",
        n_members: int = 4,
        scaling: Scaling = "minmax",
        special_values: Mapping[str, Sequence[float]] | None = None,
        weight_decay: float = 0.0,
        learning_rate: float | Literal["auto"] = "auto",
        batch_size: int | Literal["auto"] = "auto",
        max_epochs: int | Literal["auto"] = "auto",
        patience: int = 20,
        validation_fraction: float = 0.125,
        device: str = "auto",
        callbacks: Sequence[Callback] | None = None,
        random_state: Any = None,
    ) -> None:
        self.order = order
        self.l1 = l1
        self.l2 = l2
        self.n_members = n_members
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

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not is_integer(self.order) or self.order not in (1, 2):
            raise ValueError(f"order must be 1 or 2, got {self.order!r}")
        if self.l2 != "auto" and not (is_number(self.l2) and self.l2 >= 0):
            raise ValueError(f'l2 must be "auto" or a number >= 0, got {self.l2!r}')
        if self.scaling not in SCALINGS:
            raise ValueError(
                f"scaling must be one of {list(SCALINGS)}, got {self.scaling!r}"
            )

    def _takes_sparse(self) -> bool:
        return self.order == 1

    def _check_sparse(self) -> None:
        if not self._takes_sparse():
            raise TypeError(
                f"A sparse matrix needs order=1, got order={self.order!r}: products of "
                "its columns would be a full matrix. Or pass a dense table "
                "(X.toarray())."
            )

    def _make_encoder(self, sparse: bool) -> TableEncoder | SparseEncoder:
        if sparse:
            return SparseEncoder(self.scaling)
        return TableEncoder(
            scaling=self.scaling,
            special_values=self.special_values,
            fine_marginals=True,
        )

    def _train(
        self, problem: Problem, seed: int, offset: float, factor: float
    ) -> Training:
        if isinstance(problem.rows, SparseRows):
            return self._train_sparse(problem, seed, offset, factor)
        held = problem.held_out(self.n_members, self.validation_fraction, seed)
        strengths = STRENGTHS if self.l2 == "auto" else (float(self.l2),)
        if len(strengths) > 1 and not held.any():
            strengths = (_UNCOMPARED,)
        device = resolve_device(self.device)
        feature_map = LinearMap(problem.layout, rescale=False)
        members = self.n_members * len(strengths)
        if self.order == 2:
            _check_size(feature_map.n_columns, members * problem.n_outputs)
        ensemble = QuadraticEnsemble(
            feature_map,
            members,
            problem.n_outputs,
            Standardisation.of(
                feature_map, problem.rows, torch.from_numpy(problem.weight), self.order
            ),
            torch.tensor(strengths).repeat_interleave(self.n_members),
        )
        with torch.no_grad():
            ensemble.bias.add_(torch.from_numpy(initial_bias(problem)).float())
        ensemble.to(device)
        rate = self.learning_rate
        if rate == "auto":  # products have long tails, which take shorter steps
            rate = 0.02 if self.order == 1 else 0.01
        config = default_config(
            len(problem.target),
            least_epochs=40 if problem.task == "regression" else 25,
            learning_rate=rate,
            batch_size=self.batch_size,
            max_epochs=self.max_epochs,
            patience=self.patience,
            weight_decay=self.weight_decay,
            l1=0.0 if self.l1 == "auto" else self.l1,
        )
        result = train(
            ensemble,
            problem.training_data(np.tile(held, (1, len(strengths))), device),
            config,
            torch.Generator().manual_seed(seed),
            self.callbacks,
            n_groups=len(strengths),
        )
        first = result.group * self.n_members
        kept = slice(first, first + self.n_members)
        model = ensemble.freeze(problem.marginals, offset, factor, kept)
        levels = problem.layout.n_levels
        record = record_training(model, problem.rows, levels, problem.weight)
        return Training(
            model,
            result.history,
            result.validation_loss,
            {"l2_": strengths[result.group], "training_record_": record},
        )

    def _train_sparse(
        self, problem: Problem, seed: int, offset: float, factor: float
    ) -> Training:
        settings = SparseSettings(
            ranks={},
            n_members=self.n_members,
            l2=None if self.l2 == "auto" else float(self.l2),
            l1=None if self.l1 == "auto" else float(self.l1),
            validation_fraction=self.validation_fraction,
            rescale=False,
        )
        config = sparse_config(
            len(problem.target),
            learning_rate=self.learning_rate,
            batch_size=self.batch_size,
            max_epochs=self.max_epochs,
            weight_decay=self.weight_decay,
        )
        return train_sparse(
            problem, settings, config, seed, self.callbacks, offset, factor
        )

    @property
    def n_parameters_(self) -> int:
        """Weights of one member: of the constant, of columns and of products."""
        check_is_fitted(self)
        feature_map = self.model_.feature_map
        columns = feature_map.n_columns
        products = 0
        if self.order == 2:
            sizes = torch.bincount(feature_map.feature_of_column)
            products = (columns**2 - int((sizes**2).sum())) // 2
        return (1 + columns + products) * self.model_.n_outputs


def _check_size(columns: int, matrices: int) -> None:
    """Refuse products that are too many for a full matrix."""
    if columns > _MOST_COLUMNS:
        raise ValueError(
            f"order=2 has a weight for every product of two encoded columns, numbers "
            f"and levels: expected at most {_MOST_COLUMNS:,} of them, got {columns:,}."
        )
    weights = columns**2 * matrices
    if weights > _MOST_WEIGHTS:
        raise ValueError(
            f"order=2 would train {weights:,} weights ({columns:,} encoded columns "
            f"squared, times {matrices:,} members, strengths of l2 and classes), "
            f"expected at most {_MOST_WEIGHTS:,}: take fewer members, or one l2."
        )


_DOCUMENTATION = """{summary}

    A weight for each column, numbers and one-hot levels, and at order 2 for every
    product of two columns of different features: the paper's "Linear / Logistic
    Regression" (arXiv 2205.14108, section 4). It is trained as a SPAM is, by
    mini-batches of AdamW, and afterwards it is one: explanations, shapes and files are
    a SPAM's, and {identity}.

    Parameters
    ----------
    order : {{1, 2}}, default=1
        2 adds all products, at full rank.
    l1 : float or "auto"
        Proximal L1, by learning rate x l1 a step; makes exact zeros. Auto is 0, and for
        a sparse table 0.1 unless held-out rows speak against it.
    l2 : float or "auto"
        Quadratic penalty on the weights of standardised columns, divided by the number
        of rows. Auto compares 0.1, 1, 10, 100 and 1000 by the members' held-out
        rows; for a sparse table 0.03, 0.3 and 3, whose columns aren't standardised, and
        then trains one model on all rows.
    n_members : int, default=4
        Models trained side by side, each holding out other rows; their mean is one
        model of the same form, and their spread gives bands.
    scaling : {{"minmax", "quantile", "maxabs", "none"}}, default="minmax"
        Quantile and min-max clip values beyond the training range. A sparse table
        needs order 1 and keeps its zeros: there these two divide all of it by the root
        mean square of the cells that aren't 0.
    special_values : mapping of column to list of numbers, optional
        Codes that aren't quantities; each becomes a level.
    weight_decay : float, default=0.0
        Decoupled weight decay (AdamW).
    learning_rate : float or "auto"
        0.02, or 0.01 with products.
    batch_size, max_epochs : int or "auto"
        By the number of rows.
    patience : int, default=20
        Epochs without a lower validation loss until training stops; on a sparse table
        it doesn't.
    validation_fraction : float, default=0.125
        Share of the rows that each member holds out.
    device : {{"auto", "cpu", "cuda"}}
        Where to train; auto takes a GPU if there is one.
    callbacks : sequence of callable, optional
        Each is called with a `Progress` after every epoch; True stops training.
    random_state : int, RandomState or None
        With an int, two fits are equal bit for bit at one thread count.

    Attributes
    ----------
    l2_ : float
        The strength chosen, or given.
    l1_ : float
        The same, after a fit to a sparse table.

    Notes
    -----
    Weights are trained on standardised columns, so that descent is well conditioned and
    the penalties treat columns alike; the model holds them for plain columns. There is
    no product of a column with itself, so in the raw view each pair's term is exactly
    ``w_ij x_i x_j`` and the other terms are linear. With `l1`, zeros are those of the
    pairs and, in the pure view, of the columns alone. Order 2 costs time and memory in
    proportion to the square of the encoded columns.

    Examples
    --------
    >>> import numpy as np
    >>> from spam_core import {name}
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(200, 2))
    {example}
    """


class LinearRegressor(GradientRegressor, _Linear):  # noqa: D101 - written below
    __doc__ = _DOCUMENTATION.format(
        summary="Linear regression with shrinkage, and with products if wanted.",
        identity="base + terms = prediction, in the\n    target's units",
        name="LinearRegressor",
        example=""">>> y = 10 * X[:, 0] * X[:, 1]
    >>> model = LinearRegressor(order=2, random_state=0).fit(X, y)
    >>> bool(np.abs(model.predict(X) - y).mean() < 0.1)
    True""",
    )


class LinearClassifier(GradientClassifier, _Linear):  # noqa: D101 - written below
    __doc__ = _DOCUMENTATION.format(
        summary="Logistic regression with shrinkage, and with products if wanted.",
        identity="base + terms = the logit of ``classes_[1]``,\n    or the centred "
        "logit of each of several classes",
        name="LinearClassifier",
        example=""">>> y = np.where(X[:, 0] > X[:, 1], "yes", "no")
    >>> model = LinearClassifier(random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.95
    True""",
    )
