"""Estimators whose fitted model is a sum of tables: what they say of themselves."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from spam_core.data.encoding import TableEncoder
from spam_core.estimators.gradient import EncodedEstimator
from spam_core.explain import additive
from spam_core.explain.explanation import GlobalExplanation, LocalExplanation
from spam_core.explain.glassbox import LocalView
from spam_core.explain.record import TrainingRecord
from spam_core.explain.terms import View
from spam_core.models.tables import AdditiveTables


class TablesEstimator(EncodedEstimator):
    """An estimator whose `model_` is `AdditiveTables`, in user units.

    Attributes
    ----------
    explained_as : str
        What explanations call the model.
    training_record_ : TrainingRecord
        Sizes of terms over the training rows.
    """

    explained_as: str
    encoder_: TableEncoder
    model_: AdditiveTables
    training_record_: TrainingRecord

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
            Pure: each term has mean 0 over each of its features. Raw: the tables as
            they were trained. Shapley: one value a feature.
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
        return additive.explain_local(
            self.model_,
            self.encoder_,
            self._check_rows(X),
            classes=self._classes(),
            target=self.target_name_,
            view=view,
            top=top,
            background=self._background_rows(background),
            method=self.explained_as,
        )

    def explain_global(self, view: View = "pure") -> GlobalExplanation:
        """Sizes and shapes of all terms.

        Parameters
        ----------
        view : {"pure", "raw"}, default="pure"

        Returns
        -------
        GlobalExplanation
            Bands are the spread of the members.
        """
        check_is_fitted(self)
        return additive.explain_global(
            self.model_,
            self.encoder_,
            self.training_record_,
            classes=self._classes(),
            target=self.target_name_,
            view=view,
            method=self.explained_as,
        )

    @property
    def n_parameters_(self) -> int:
        """Numbers in the tables of the mean model."""
        check_is_fitted(self)
        return self.model_.n_parameters

    def saved_arrays(self) -> dict[str, NDArray[Any]]:
        """Sizes of terms over the training rows, and where pairs have rows."""
        return dict(self.training_record_.to_arrays())

    def restore_arrays(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Take back what `saved_arrays` gave."""
        self.training_record_ = TrainingRecord.from_arrays(arrays)
