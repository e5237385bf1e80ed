"""Any fitted model, asked for scores on the scale that a SPAM explains itself on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from spam_core.data.columns import to_numbers
from spam_core.data.encoding import NUMBER, Encoded, TableEncoder
from spam_core.explain.cells import Cells, Rows, read_table
from spam_core.explain.frozen import Floats, plain
from spam_core.explain.glassbox import scale_name


class Scorer(ABC):
    """A model as post-hoc methods see it.

    Attributes
    ----------
    names : tuple of d str
        Columns in training order.
    classes : tuple or None
        None for a regression.
    scale : str
        What scores are: ``"logit of yes"``, ``"centred logit"``, the target's name.
    n_outputs : int
        C; 1 for two classes.
    n_evaluations : int
        Rows scored so far.
    """

    names: tuple[str, ...]
    classes: tuple[Any, ...] | None
    scale: str

    def __init__(self) -> None:
        self.n_evaluations = 0

    @property
    def n_outputs(self) -> int:
        """C."""
        several = 0 if self.classes is None else len(self.classes)
        return several if several > 2 else 1

    def score(self, cells: Cells) -> Floats:
        """Scores of shape (n, C); logits of several classes are centred."""
        self.n_evaluations += len(cells)
        return self._score(cells)

    def score_rows(self, rows: Rows) -> Floats:
        """Scores of rows that the user gave, each as if it were alone.

        In a batch a network rounds the last bit of a row's score by what else is in it.
        """
        self.n_evaluations += len(rows)
        return np.concatenate(
            [self._score_given(rows[r : r + 1]) for r in range(len(rows))]
        )

    @abstractmethod
    def read(self, X: Any, what: str) -> Rows:
        """Read a table; `what` names it in errors."""

    @abstractmethod
    def varying(self, row: Cells, background: Cells) -> NDArray[np.bool_]:
        """Say which of the d features a background can change.

        Not those where all of the background holds what the row holds, and not those
        unknown in the row, which are constants for the model.
        """

    @abstractmethod
    def _score(self, cells: Cells) -> Floats:
        """Scores of shape (n, C)."""

    def _score_given(self, rows: Rows) -> Floats:
        """Scores of shape (n, C) of rows that needn't be put together from cells."""
        return self._score(rows.cells)


class EncodedScorer(Scorer):
    """An estimator of this library, which scores encoded rows."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model
        self.encoder: TableEncoder = model.encoder_
        self.names = self.encoder.feature_names
        classes = getattr(model, "classes_", None)
        self.classes = None if classes is None else tuple(plain(c) for c in classes)
        self.scale = scale_name(self.classes, model.target_name_)

    def read(self, X: Any, what: str) -> Rows:
        """Read a table through the model's encoder."""
        read_table(X, what)
        try:
            frame = self.encoder.align(X)
            encoded = self.encoder.transform(X)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{what}: {error}") from error
        codes = encoded.codes.numpy()
        numbers = np.full(codes.shape, np.nan)
        for i, feature in enumerate(self.encoder.features):
            if feature.kind == "numeric":
                here = codes[:, i] == NUMBER
                column = to_numbers(frame.iloc[:, i], feature.is_date)
                numbers[here, i] = column[here]
        return Rows(frame, Cells(numbers, codes))

    def varying(self, row: Cells, background: Cells) -> NDArray[np.bool_]:
        """Compare cells as the model sees them: beyond the training range all alike."""
        one, many = self._encode(row), self._encode(background)
        differs = (one.values != many.values) | (one.codes != many.codes)
        found: NDArray[np.bool_] = (differs.any(0) & ~one.unknown[0]).numpy()
        return found

    def _score(self, cells: Cells) -> Floats:
        scores: Floats = self.model._score_rows(self._encode(cells))
        return scores

    def _encode(self, cells: Cells) -> Encoded:
        values = np.zeros(cells.codes.shape)
        for i, feature in enumerate(self.encoder.features):
            if len(feature.knots):
                here = cells.codes[:, i] == NUMBER
                numbers = cells.numbers[here, i]
                values[here, i] = feature.to_scaled(numbers, self.encoder.scaling)
        return Encoded(torch.from_numpy(values), torch.from_numpy(cells.codes))
