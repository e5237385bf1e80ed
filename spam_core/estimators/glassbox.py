"""What a glass-box estimator says of itself: terms, shapes, spectrum."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from spam_core.data.sparse import SparseEncoder
from spam_core.estimators.gradient import GradientEstimator
from spam_core.explain.explanation import GlobalExplanation, LocalExplanation
from spam_core.explain.glassbox import (
    LocalView,
    check_request,
    explain_global,
    explain_local,
)
from spam_core.explain.record import TrainingRecord
from spam_core.explain.spectrum import Metric, Spectrum, spectrum_of, truncate
from spam_core.explain.terms import View
from spam_core.explain.words import explain_global_words, explain_words
from spam_core.models.spam import SPAM


class GlassBoxEstimator(GradientEstimator):
    """An estimator whose `model_` is a `SPAM`.

    Attributes
    ----------
    training_record_ : TrainingRecord or None
        Sizes of terms over the training rows.
    column_moments_ : dict of order to ndarray of shape (order, d)
        Of a model of a sparse table: what its explanations need of the training rows.
    """

    model_: SPAM
    training_record_: TrainingRecord | None
    column_moments_: dict[int, NDArray[np.float64]] = {}  # noqa: RUF012 - never changed

    def explain_local(
        self,
        X: Any,
        view: LocalView = "pure",
        top: int | None = None,
        background: Any = None,
    ) -> LocalExplanation:
        """Split the scores of some rows into terms, exactly.

        Parameters
        ----------
        X : table of n rows
            In user units.
        view : {"pure", "raw", "shapley"}, default="pure"
            Pure: each term has mean 0 over each of its features. Raw: the paper's
            importances. Shapley: one exact value a feature, and in `interactions` the
            Shapley interaction index of each pair, unless these would be more than 25
            million numbers or take seconds against the background.
        top : int, optional
            List the terms of largest training sd; the others make one last term.
        background : table, optional
            For Shapley values: rows that absent features are taken from, all together
            from one row. None: each by itself from the training distribution.

        Returns
        -------
        LocalExplanation
            With ``base + values.sum(1) == score``.

        Raises
        ------
        ValueError
            If columns are missing, the view is unknown, `top` isn't positive, or there
            is a background for another view.
        """
        check_is_fitted(self)
        if isinstance(self.encoder_, SparseEncoder) and view != "shapley":
            check_request(view, top, self._background_rows(background))
            return explain_words(
                self.model_,
                self.encoder_,
                X,
                self.column_moments_,
                classes=self._classes(),
                target=self.target_name_,
                view=view,
                top=top,
            )
        if isinstance(self.encoder_, SparseEncoder) and background is None:
            raise ValueError(
                "A sparse model keeps no marginals that Shapley values could be taken "
                "under: they need a background table of rows. Or "
                'take view="pure", whose terms a ledger shares among their columns '
                '(unit="feature").'
            )
        sparse = isinstance(self.encoder_, SparseEncoder)
        return explain_local(
            self.model_,
            self.encoder_,
            X if sparse else self._check_rows(X),
            rows=self._dense_rows(X) if sparse else None,
            classes=self._classes(),
            target=self.target_name_,
            view=view,
            top=top,
            record=self.training_record_,
            background=self._background_rows(background),
        )

    def explain_global(self, view: View = "pure") -> GlobalExplanation:
        """Sizes and shapes of all terms.

        Parameters
        ----------
        view : {"pure", "raw"}, default="pure"

        Returns
        -------
        GlobalExplanation

        Raises
        ------
        ValueError
            If the view is unknown, or a model of a sparse table was truncated.
        """
        check_is_fitted(self)
        if isinstance(self.encoder_, SparseEncoder):
            return explain_global_words(
                self.model_,
                self.encoder_,
                self.column_moments_,
                classes=self._classes(),
                target=self.target_name_,
                view=view,
                record=self.training_record_,
            )
        return explain_global(
            self.model_,
            self.encoder_,
            classes=self._classes(),
            target=self.target_name_,
            view=view,
            record=self.training_record_,
        )

    def spectrum(self, order: int = 2, metric: Metric = "data") -> Spectrum:
        """Sorted singular values of one order's weight tensor.

        Parameters
        ----------
        order : int, default=2
            2 or more, and in the model.
        metric : {"data", "coefficient"}, default="data"
            What makes bases comparable: their effect on the training distribution, or
            their coefficients (the paper's).

        Returns
        -------
        Spectrum

        Raises
        ------
        ValueError
            If the order isn't in the model, or the metric is unknown.
        """
        check_is_fitted(self)
        return spectrum_of(self.model_, order, metric)

    def truncate(self, rank: int | dict[int, int], metric: Metric = "data") -> Any:
        """Return a fitted copy with the largest components, without retraining.

        Parameters
        ----------
        rank : int, or dict of order to int
            Components to keep at every order above 1, or at those named.
        metric : {"data", "coefficient"}, default="data"

        Returns
        -------
        Estimator of the same class; this one isn't changed.

        Raises
        ------
        ValueError
            If a rank isn't a positive integer, or an order isn't in the model.
        """
        check_is_fitted(self)
        smaller = copy.copy(self)
        smaller.model_ = truncate(self.model_, rank, metric)
        # sizes of terms over the training rows are the whole model's
        record = self.training_record_
        smaller.training_record_ = (
            None if record is None else record.for_changed_model()
        )
        return smaller

    def saved_arrays(self) -> dict[str, NDArray[Any]]:
        """Sizes of terms over the training rows, and where pairs have rows."""
        record = self.training_record_
        arrays: dict[str, NDArray[Any]] = {}
        if record is not None:
            arrays.update(record.to_arrays())
        for order, moments in self.column_moments_.items():
            arrays[f"moments_{order}"] = moments
        return arrays

    def restore_arrays(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Take back what `saved_arrays` gave."""
        self.training_record_ = TrainingRecord.from_arrays(arrays) if arrays else None
        self.column_moments_ = {
            int(name.removeprefix("moments_")): moments
            for name, moments in arrays.items()
            if name.startswith("moments_")
        }
