"""SPAM as scikit-learn estimators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from sklearn.utils.validation import check_is_fitted

from spam_core.data.encoding import SCALINGS, Scaling, TableEncoder
from spam_core.data.sparse import SparseEncoder, SparseRows
from spam_core.estimators.glassbox import GlassBoxEstimator
from spam_core.estimators.gradient import (
    GradientClassifier,
    GradientRegressor,
    Training,
    is_integer,
)
from spam_core.estimators.sparse import train_sparse
from spam_core.explain.record import record_training
from spam_core.models.feature_maps import FEATURE_MAPS, FeatureMapName
from spam_core.models.networks import Units
from spam_core.models.polynomial import MAX_ORDER
from spam_core.training.config import Callback
from spam_core.training.fit import (
    Problem,
    SPAMSettings,
    default_config,
    fit_spam,
    resolve_device,
)
from spam_core.training.regularization import CANDIDATES, Regularization
from spam_core.training.sparse import SparseSettings, sparse_config


class _SPAM(GlassBoxEstimator):
    """Parameters and fitting shared by both estimators; see `SPAMRegressor`."""

    def __init__(
        self,
        order: int = 2,
        rank: int | Sequence[int] = 32,
        feature_map: FeatureMapName = "spline",
        *,
        n_members: int = 8,
        n_knots: int | Literal["auto"] = "auto",
        scaling: Scaling = "quantile",
        special_values: Mapping[str, Sequence[float]] | None = None,
        shared_bases: bool = True,
        nonnegative: bool = False,
        regularization: str | Regularization = "auto",
        basis_dropout: float = 0.0,
        l1: float | Literal["auto"] = "auto",
        weight_decay: float = 0.0,
        learning_rate: float | Literal["auto"] = "auto",
        batch_size: int | Literal["auto"] = "auto",
        max_epochs: int | Literal["auto"] = "auto",
        patience: int = 6,
        validation_fraction: float = 0.125,
        n_subnets: int = 1,
        hidden_units: Sequence[int] | None = None,
        units: Units = "relu",
        device: str = "auto",
        callbacks: Sequence[Callback] | None = None,
        random_state: Any = None,
    ) -> None:
        self.order = order
        self.rank = rank
        self.feature_map = feature_map
        self.n_members = n_members
        self.n_knots = n_knots
        self.scaling = scaling
        self.special_values = special_values
        self.shared_bases = shared_bases
        self.nonnegative = nonnegative
        self.regularization = regularization
        self.basis_dropout = basis_dropout
        self.l1 = l1
        self.weight_decay = weight_decay
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.n_subnets = n_subnets
        self.hidden_units = hidden_units
        self.units = units
        self.device = device
        self.callbacks = callbacks
        self.random_state = random_state

    def _ranks(self) -> dict[int, int]:
        orders = range(2, self.order + 1)
        if isinstance(self.rank, Sequence):
            if len(self.rank) != len(orders):
                raise ValueError(
                    f"rank must be one integer or one for each of the orders "
                    f"{list(orders)}, got {self.rank!r}"
                )
            ranks = dict(zip(orders, self.rank, strict=True))
        else:
            ranks = dict.fromkeys(orders, self.rank)
        if not all(is_integer(rank) and rank >= 1 for rank in ranks.values()):
            raise ValueError(f"rank must be a positive integer, got {self.rank!r}")
        return ranks

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not is_integer(self.order) or not 1 <= self.order <= MAX_ORDER:
            raise ValueError(
                f"order must be an integer in 1..{MAX_ORDER}, got {self.order!r}"
            )
        self._ranks()
        choices = [
            ("feature_map", FEATURE_MAPS),
            ("scaling", SCALINGS),
            ("units", ("relu", "exu")),
        ]
        for name, allowed in choices:
            if getattr(self, name) not in allowed:
                raise ValueError(
                    f"{name} must be one of {list(allowed)}, got "
                    f"{getattr(self, name)!r}"
                )
        if self.feature_map == "spline" and self.scaling not in ("quantile", "minmax"):
            raise ValueError(
                'feature_map="spline" needs scaling "quantile" or "minmax", got '
                f"{self.scaling!r}"
            )
        if self.nonnegative and (self.feature_map, self.scaling) != (
            "linear",
            "minmax",
        ):
            raise ValueError(
                'nonnegative=True needs feature_map="linear" and scaling="minmax", so '
                f"that inputs are >= 0; got {self.feature_map!r} and {self.scaling!r}"
            )
        if not isinstance(self.regularization, Regularization) and (
            self.regularization not in ("auto", *CANDIDATES)
        ):
            raise ValueError(
                f"regularization must be one of {['auto', *CANDIDATES]} or a "
                f"Regularization, got {self.regularization!r}"
            )

    def _takes_sparse(self) -> bool:
        return self.feature_map == "linear" and not self.nonnegative

    def _check_sparse(self) -> None:
        if self._takes_sparse() and self.regularization != "auto":
            raise TypeError(
                'A sparse matrix needs regularization="auto", which chooses a '
                "quadratic penalty; the named ones smooth shapes, got "
                f"{self.regularization!r}. Or pass a dense table (X.toarray())."
            )
        if not self._takes_sparse():
            raise TypeError(
                'A sparse matrix needs feature_map="linear", which keeps 0 at 0, and '
                f"nonnegative=False; got feature_map={self.feature_map!r} and "
                f"nonnegative={self.nonnegative!r}. Or pass a dense table "
                "(X.toarray())."
            )

    def _make_encoder(self, sparse: bool) -> TableEncoder | SparseEncoder:
        if sparse:
            return SparseEncoder(self.scaling)
        return TableEncoder(
            self.n_knots,
            self.scaling,
            self.special_values,
            fine_marginals=self.feature_map != "spline",
        )

    def _settings(self) -> SPAMSettings:
        regularization = self.regularization
        if isinstance(regularization, str) and regularization != "auto":
            regularization = CANDIDATES[regularization]
        return SPAMSettings(
            ranks=self._ranks(),
            feature_map=self.feature_map,
            n_members=self.n_members,
            shared_bases=self.shared_bases,
            nonnegative=self.nonnegative,
            basis_dropout=self.basis_dropout,
            regularization=regularization,  # type: ignore[arg-type]
            validation_fraction=self.validation_fraction,
            n_subnets=self.n_subnets,
            hidden=None if self.hidden_units is None else tuple(self.hidden_units),
            units=self.units,
        )

    def _train(
        self, problem: Problem, seed: int, offset: float, factor: float
    ) -> Training:
        if isinstance(problem.rows, SparseRows):
            return self._train_sparse(problem, seed, offset, factor)
        learning_rate = self.learning_rate
        if learning_rate == "auto":
            if self.feature_map in ("neural", "basis"):
                learning_rate = 0.003
            elif self.feature_map == "linear":
                learning_rate = 0.03  # columns that aren't centred need long steps
            else:
                learning_rate = 0.005 if problem.task == "regression" else 0.01
        config = default_config(
            len(problem.target),
            least_epochs=40 if problem.task == "regression" else 25,
            learning_rate=learning_rate,
            batch_size=self.batch_size,
            max_epochs=self.max_epochs,
            patience=self.patience,
            weight_decay=self.weight_decay,
            l1=0.0 if self.l1 == "auto" else self.l1,
        )
        fitted = fit_spam(
            problem,
            self._settings(),
            config,
            seed,
            resolve_device(self.device),
            self.callbacks,
            offset,
            factor,
        )
        record = record_training(
            fitted.model, problem.rows, problem.layout.n_levels, problem.weight
        )
        return Training(
            fitted.model,
            fitted.history,
            fitted.validation_loss,
            {"regularization_": fitted.regularization, "training_record_": record},
        )

    def _train_sparse(
        self, problem: Problem, seed: int, offset: float, factor: float
    ) -> Training:
        settings = SparseSettings(
            ranks=self._ranks(),
            n_members=self.n_members,
            l1=None if self.l1 == "auto" else float(self.l1),
            validation_fraction=self.validation_fraction,
            shared_bases=self.shared_bases,
            basis_dropout=self.basis_dropout,
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
        """Numbers in the fitted model, all members together."""
        check_is_fitted(self)
        return int(self.model_.n_parameters)


_DOCUMENTATION = """{summary}

    A polynomial of each feature's learnt shapes, of order up to 4, whose weight
    tensors are low-rank (arXiv 2205.14108). Every prediction is an exact sum of named
    terms: {identity}.

    Parameters
    ----------
    order : int, default=2
        Degree k of the polynomial, 1 to 4; terms hold up to k features.
    rank : int or sequence of int, default=32
        Components r_l of every order >= 2, or one for each.
    feature_map : {{"spline", "linear", "neural", "basis"}}, default="spline"
        How a number enters: piecewise-linear shapes; the paper's SPAM-Linear and
        SPAM-Neural; NBM-SPAM.
    n_members : int, default=8
        Models trained side by side, each holding out other rows; their mean is one
        SPAM, and their spread gives bands.
    n_knots : int or "auto"
        Cells a numeric column is cut into.
    scaling : {{"quantile", "minmax", "maxabs", "none"}}, default="quantile"
        The paper's is "minmax". Quantile and min-max clip values beyond the training
        range. A sparse table keeps its zeros: there these two divide all of it by the
        root mean square of the cells that aren't 0.
    special_values : mapping of column to list of numbers, optional
        Codes that aren't quantities, such as ``{{"months": [-9]}}``; each becomes a
        level.
    shared_bases : bool, default=True
        Classes share the bases and differ in lambda (paper, section 3.2).
    nonnegative : bool, default=False
        Keep bases and lambda >= 0; needs the linear map and min-max scaling.
    regularization : {{"auto", "light", "rough", ...}} or Regularization
        One of ``CANDIDATES`` by name; auto compares those that suit the table by the
        members' held-out rows. For a sparse table it compares quadratic penalties of
        0.03, 0.3 and 3, and then trains all members on all rows.
    basis_dropout : float, default=0.0
        Probability that a component is left out of a step.
    l1 : float or "auto"
        Proximal L1 on the bases; makes exact zeros. Auto is 0, and for a sparse table
        0.1 unless held-out rows speak against it.
    weight_decay : float, default=0.0
        Decoupled weight decay (AdamW).
    learning_rate : float or "auto"
        0.003 for networks, 0.03 for the linear map; else 0.005 for regression and 0.01
        for classes.
    batch_size, max_epochs : int or "auto"
        By the number of rows.
    patience : int, default=6
        Epochs without a lower validation loss until training stops; on a sparse table
        it doesn't.
    validation_fraction : float, default=0.125
        Share of the rows that each member holds out.
    n_subnets : int, default=1
        Outputs of each feature's network.
    hidden_units : sequence of int, optional
        Hidden layers of the networks; (64, 64, 32) or (1024,) for ExU.
    units : {{"relu", "exu"}}, default="relu"
        Units of a network's first layer.
    device : {{"auto", "cpu", "cuda"}}
        Where to train; auto takes a GPU if there is one.
    callbacks : sequence of callable, optional
        Each is called with a `Progress` after every epoch; True stops training.
    random_state : int, RandomState or None
        With an int, two fits are equal bit for bit at one thread count.

    Attributes
    ----------
    l2_, l1_ : float
        After a fit to a sparse table: the penalties chosen.

    Notes
    -----
    A sparse table (CSR, such as word counts) is never made dense. It needs the linear
    map and is trained on the CPU: a step touches only the columns that its rows hold.
    `weight_decay` and `l1` act on those alone. Give the table as a `NamedCSR` for terms
    to have names.

    Examples
    --------
    >>> import numpy as np
    >>> from spam_core import {name}
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(200, 2))
    {example}
    """

_REGRESSION = """>>> y = X[:, 0] * X[:, 1]
    >>> model = SPAMRegressor(n_members=2, random_state=0).fit(X, y)
    >>> explanation = model.explain_local(X[:1])
    >>> total = explanation.base + explanation.values.sum(1)
    >>> bool(np.isclose(total, model.predict(X[:1])).all())
    True"""

_CLASSIFICATION = """>>> y = np.where(X[:, 0] > X[:, 1], "yes", "no")
    >>> model = SPAMClassifier(n_members=2, random_state=0).fit(X, y)
    >>> explanation = model.explain_local(X[:1])
    >>> total = explanation.base + explanation.values.sum(1)
    >>> bool(np.isclose(total, model.decision_function(X[:1])).all())
    True"""


class SPAMRegressor(GradientRegressor, _SPAM):  # noqa: D101 - written below
    __doc__ = _DOCUMENTATION.format(
        summary="Glass-box regression.",
        identity="base + terms = prediction, in the target's units",
        name="SPAMRegressor",
        example=_REGRESSION,
    )


class SPAMClassifier(GradientClassifier, _SPAM):  # noqa: D101 - written below
    __doc__ = _DOCUMENTATION.format(
        summary="Glass-box classification.",
        identity="base + terms = the logit of ``classes_[1]``, or the centred logit of "
        "each of several classes",
        name="SPAMClassifier",
        example=_CLASSIFICATION,
    )
