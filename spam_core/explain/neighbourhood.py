"""How lime draws rows around one: its columns, and the way back to cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spam_core.data.encoding import NUMBER
from spam_core.explain.cells import Cells, Codes
from spam_core.explain.frozen import Floats


@dataclass(frozen=True)
class _Feature:
    """How one feature is drawn.

    A state is one cell, or "some number" (state 0 of a feature with `sd` > 0), which is
    then drawn from a normal distribution.
    """

    mean: float
    sd: float
    numbers: Floats  # (S,) what each state holds
    codes: Codes  # (S,)
    counts: Floats  # (S,) how many background rows have it
    row_state: int

    @property
    def free(self) -> bool:
        return self.sd > 0

    @property
    def n_states(self) -> int:
        return len(self.codes)


class Neighbourhood:
    """Columns that lime perturbs around one row.

    A feature that has numbers gets a column of standardised numbers; one that has
    several states gets a column of states, which lime turns into "the row's or not".

    Parameters
    ----------
    row : Cells of one row
    background : Cells of N rows
        Means, spreads and frequencies come from here.
    held : bool ndarray of shape (d,)
        Features that stay as they are in the row.

    Attributes
    ----------
    width : int
        Columns; 0 if nothing can change.
    row : ndarray of shape (width,)
        The row to explain.
    state_columns : list of int
        Which columns hold states.
    training_data : ndarray of shape (2, width)
        Two rows of the mean and spread that lime scales by: 0 and 1 throughout.
    statistics : dict
        Frequencies of the states.
    """

    def __init__(self, row: Cells, background: Cells, held: NDArray[np.bool_]) -> None:
        self.features = [
            _one_state(row, i) if held[i] else _describe(row, background, i)
            for i in range(len(held))
        ]
        place: list[float] = []
        self.number_column: dict[int, int] = {}
        self.state_column: dict[int, int] = {}
        for i, feature in enumerate(self.features):
            if feature.free:
                self.number_column[i] = len(place)
                number = row.numbers[0, i]
                at_number = row.codes[0, i] == NUMBER
                # at a level there's no number: the mean, whose contribution is 0
                z = (number - feature.mean) / feature.sd if at_number else 0.0
                place.append(float(z))
            if feature.n_states > 1:
                self.state_column[i] = len(place)
                place.append(float(feature.row_state))
        self.row = np.array(place)
        self.width = len(place)
        self.state_columns = list(self.state_column.values())
        self.training_data = np.tile([[-1.0], [1.0]], (1, self.width))
        names = ("means", "mins", "maxs", "stds")  # asked for, and not used
        self.statistics: dict[str, Any] = {
            **{name: {} for name in names},
            "feature_values": {
                j: list(range(self.features[i].n_states))
                for i, j in self.state_column.items()
            },
            "feature_frequencies": {
                j: self.features[i].counts.tolist()
                for i, j in self.state_column.items()
            },
        }

    def to_cells(self, drawn: Floats) -> Cells:
        """Return drawn rows of shape (n, width) as cells."""
        shape = (len(drawn), len(self.features))
        numbers, codes = np.empty(shape), np.empty(shape, dtype=np.int32)
        for i, feature in enumerate(self.features):
            state = np.zeros(len(drawn), dtype=np.intp)
            if i in self.state_column:
                state = drawn[:, self.state_column[i]].astype(np.intp)
            numbers[:, i], codes[:, i] = feature.numbers[state], feature.codes[state]
            if feature.free:
                z = drawn[:, self.number_column[i]]
                at_number = state == 0
                numbers[at_number, i] = feature.mean + feature.sd * z[at_number]
        return Cells(numbers, codes)

    def contributions(self, weights: Floats) -> Floats:
        """Coefficients of shape (width, C) times the scaled row: (d, C)."""
        result = np.zeros((len(self.features), weights.shape[1]))
        for i, j in self.number_column.items():
            result[i] += weights[j] * self.row[j]
        for i, j in self.state_column.items():
            result[i] += weights[j]  # the row has its own state: 1
        return result


def _one_state(row: Cells, i: int) -> _Feature:
    return _Feature(
        0.0, 0.0, row.numbers[:1, i], row.codes[:1, i], np.ones(1), row_state=0
    )


def _describe(row: Cells, background: Cells, i: int) -> _Feature:
    """Read how feature `i` is spread over the background."""
    number, code = row.numbers[0, i], row.codes[0, i]
    numbers, codes = background.numbers[:, i], background.codes[:, i]
    ordinary = numbers[codes == NUMBER]
    distinct, repeats = np.unique(ordinary, return_counts=True)
    levels, counts = np.unique(codes[codes >= 0], return_counts=True)
    mean, sd = 0.0, 0.0
    if len(distinct) > 1:
        mean, sd = float(ordinary.mean()), float(ordinary.std())
    if sd > 0 and np.isfinite(sd):
        distinct, repeats = np.array([np.nan]), np.array([len(ordinary)])
    else:
        sd = 0.0
    values = np.concatenate([distinct, np.full(len(levels), np.nan)])
    kinds = np.concatenate([np.full(len(distinct), NUMBER), levels]).astype(np.int32)
    how_many = np.concatenate([repeats, counts]).astype(np.float64)
    same = kinds == code
    if not sd:
        same &= (values == number) | (code != NUMBER)
    if not how_many.sum():
        return _one_state(row, i)
    if not same.any():  # the row has what the background hasn't: never drawn
        values, kinds = np.append(values, number), np.append(kinds, code)
        how_many, same = np.append(how_many, 0.0), np.append(same, True)
    return _Feature(mean, sd, values, kinds, how_many, int(np.argmax(same)))
