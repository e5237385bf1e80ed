"""How far apart two explanations are, and what can't be compared."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from spam_core.explain import LocalExplanation, relative_difference

DATA = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})


def of(values, terms=(("a",), ("b",)), data=DATA, **changes) -> LocalExplanation:
    array = np.asarray(values, dtype=float)
    base = np.zeros((array.shape[0], *array.shape[2:]))
    return LocalExplanation(array, base, array.sum(1), terms, data, **changes)


def test_the_row_asked_for_is_compared() -> None:
    reference = of([[1.0, -1.0], [2.0, 2.0]])
    other = of([[1.5, -2.0], [2.0, 1.0]])
    assert relative_difference(other, reference) == 0.75
    assert relative_difference(other, reference, row=1) == 0.25
    assert relative_difference(other, reference, row=-1) == 0.25
    assert relative_difference(reference, reference) == 0.0


def test_pairs_are_shared_out_and_what_is_not_explained_is_left_out() -> None:
    pair = of([[1.0, 1.0], [0.0, 0.0]], terms=(("a",), ("a", "b")))
    same = of([[1.5, 0.5], [0.0, 0.0]])
    assert relative_difference(pair, same) == 0.0
    rest = of([[1.5, 0.5, 9.0]], terms=(("a",), ("b",), ("…",)), data=DATA[:1])
    assert relative_difference(rest, same) == 0.0


def test_the_class_asked_for_is_compared() -> None:
    values = np.array([[[1.0, 0.0, 2.0], [1.0, 0.0, 2.0]]])
    classes = ("p", "q", "r")
    reference = of(values, data=DATA[:1], classes=classes)
    other = of(np.add(values, [0.5, 0.0, 0.0]), data=DATA[:1], classes=classes)
    assert relative_difference(other, reference, class_="p") == 0.5
    assert relative_difference(other, reference) == 0.0  # the likeliest: r
    assert math.isnan(relative_difference(other, reference, class_="q"))


def test_what_cannot_be_compared_is_refused() -> None:
    renamed = of(
        [[1.0, 1.0]], terms=(("c",),) * 2, data=DATA[:1].set_axis(["c", "d"], axis=1)
    )
    with pytest.raises(ValueError, match="same feature_names"):
        relative_difference(renamed, of([[1.0, 1.0]], data=DATA[:1]))
