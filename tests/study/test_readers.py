"""What the two readers say, beside a plain loop."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from spam_core.study import NearestReader, Shown, SumReader

LABELS = np.array([-1.0, -1.0, 1.0, 1.0])
NONE = np.zeros((1, 0), dtype=int)


def ask(reader, values, base=None, training=NONE, labels=LABELS[:0], test=None):
    values = np.asarray(values, dtype=float)
    base = np.zeros(len(values)) if base is None else np.asarray(base, dtype=float)
    test = np.array([range(len(values))]) if test is None else np.asarray(test)
    return reader.answer(Shown(values, base), np.asarray(training), labels, test)


def test_the_sum_reader_adds_up_terms_and_base() -> None:
    values = [[1.0, 2.0], [-1.0, 0.5], [0.0, 0.0]]
    assert ask(SumReader(), values).tolist() == [[1.0, -1.0, 0.0]]
    assert ask(SumReader(), values, base=[-4.0, 1.0, 0.1]).tolist() == [[-1, 1, 1]]


def test_a_sum_that_is_0_but_for_rounding_cannot_be_told() -> None:
    values = np.array([[0.1, 0.2, -0.3], [1e-9, 0.0, 0.0]])
    assert values[0].sum() != 0
    assert ask(SumReader(), values).tolist() == [[0.0, 1.0]]


def nearest_by_loop(values, training, labels, test):
    """Compare one question with one example at a time."""
    answers = np.zeros(test.shape)
    for draw, questions in enumerate(test):
        for q, row in enumerate(questions):
            likeness = []
            for other in training[draw]:
                size = np.sqrt((values[row] ** 2).sum() * (values[other] ** 2).sum())
                likeness.append((values[row] * values[other]).sum() / size)
            answers[draw, q] = labels[int(np.argmax(likeness))]
    return answers


def test_the_nearest_reader_takes_the_label_of_the_most_similar() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(12, 5))
    places = np.array([rng.permutation(12) for _ in range(30)])
    training, test = places[:, :4], places[:, 4:7]
    answers = ask(NearestReader(), values, None, training, LABELS, test)
    assert_array_equal(answers, nearest_by_loop(values, training, LABELS, test))
    assert set(np.unique(answers)) == {-1.0, 1.0}


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ([2.0, 0.0, 0.0], -1.0),  # two of A and one of B are equally near
        ([0.0, 0.0, 5.0], 0.0),  # shares no term with any: as many of each
        ([0.0, 0.0, 0.0], 0.0),  # shows nothing
        ([-1.0, 0.0, 0.0], 1.0),  # opposite to three; nothing shared beats that
    ],
    ids=["majority", "no overlap", "nothing shown", "opposite"],
)
def test_ties_of_the_nearest_reader(question, said) -> None:
    values = [[1.0, 0, 0], [3.0, 0, 0], [0.5, 0, 0], [0, 1.0, 0], question]
    answers = ask(NearestReader(), values, None, [[0, 1, 2, 3]], LABELS, [[4]])
    assert answers.tolist() == [[said]]


def test_the_nearest_reader_does_not_look_at_the_base() -> None:
    values = [[1.0, 0], [0, 1.0], [1.0, 0.1]]
    for base in ([0, 0, 0], [9, -9, -9]):
        answers = ask(NearestReader(), values, base, [[0, 1]], LABELS[1:3], [[2]])
        assert answers.tolist() == [[-1.0]]
