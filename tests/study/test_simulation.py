"""Readers are as right as explanations let them be, and no luckier."""

from __future__ import annotations

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from spam_core.study import NearestReader, SumReader, simulate
from tests.study.pools import (
    accuracies,
    exact,
    explanation,
    several,
    without_sense,
)


class Oracle:
    """Says the same always, and notes what it was shown."""

    def __init__(self, says: float = 1.0, name: str = "oracle") -> None:
        self.name, self.says, self.seen = name, says, []

    def answer(self, shown, training, labels, test):
        self.seen.append((shown, training, labels, test))
        return np.full(test.shape, self.says)


# --- what must come out ---------------------------------------------------------------


@pytest.mark.parametrize("base", [0.0, 1.5, -3.0])
def test_all_terms_and_the_base_tell_every_decision(base) -> None:
    pool = exact(base=base, n_terms=4, n=200)
    assert accuracies(simulate({"exact": pool}, E=4), "sum", "exact") == [1.0]
    hidden = simulate({"exact": pool}, E=4, base_shown=False)
    assert (accuracies(hidden, "sum", "exact") == [1.0]) == (base == 0.0)


def test_several_classes_are_told_by_the_difference_of_their_logits() -> None:
    pool = several()
    played = simulate({"exact": pool}, E=[1, 6], draws=300)
    one, every = accuracies(played, "sum", "exact")
    assert every == 1.0
    assert 0.5 < one < 1.0
    hidden = simulate({"exact": pool}, E=6, draws=300, base_shown=False)
    assert accuracies(hidden, "sum", "exact")[0] < 1.0
    assert set(played.pairs) == {("p", "q"), ("p", "r"), ("q", "r")}


def test_explanations_of_other_rows_leave_chance() -> None:
    made = []
    for seed in range(30):
        pool = exact(seed=seed)
        played = simulate({"moved": without_sense(pool, seed)}, E=[3, 8], draws=200)
        made.append([accuracies(played, r, "moved") for r in ("sum", "nearest")])
    # 30 pools of 60 rows: the mean is within 0.02 of its expectation
    assert_allclose(np.mean(made, axis=0), 0.5, atol=0.06)


def test_the_nearest_reader_is_right_where_classes_are_explained_differently() -> None:
    rng = np.random.default_rng(0)
    side = np.repeat([-1.0, 1.0], 20)
    values = rng.uniform(0.5, 1.0, size=(40, 4)) * side[:, None]
    # the sign tells, in other columns for each class: no sum is needed
    values[:20, 2:] = 0.0
    values[20:, :2] = 0.0
    played = simulate({"apart": explanation(values)}, E=[2, 4])
    assert accuracies(played, "nearest", "apart") == [1.0, 1.0]


def test_more_than_all_terms_is_all_terms() -> None:
    played = simulate({"exact": exact(n_terms=3)}, E=[3, 4, 50])
    for reader in ("sum", "nearest"):
        three, *more = accuracies(played, reader, "exact")
        assert more == [three, three]


def test_a_regression_decides_above_or_below_its_median() -> None:
    rng = np.random.default_rng(0)
    amounts = 100 + rng.normal(size=(41, 3))
    even, odd = (explanation(amounts[:n], 500.0, None, scale="price") for n in (40, 41))
    played = simulate({"exact": even}, E=3)
    assert played.pairs == (("at or below the median", "above the median"),)
    assert accuracies(played, "sum", "exact") == [1.0]
    # of 41 rows one is the median, and so not above it
    simulate({"exact": odd}, E=3, draws=2, n_training=38)
    with pytest.raises(ValueError, match="20 as 'above the median'"):
        simulate({"exact": odd}, E=3, n_training=40)


# --- what readers see -----------------------------------------------------------------


def test_the_largest_terms_are_shown_as_the_ledger_lists_them() -> None:
    pool = exact(n=20)
    reader = Oracle()
    simulate({"exact": pool}, E=3, draws=1, readers=[reader])
    ((shown, *_),) = reader.seen
    for row in range(20):
        listed = pool.ledger(row, E=3)["contribution"][:3]
        mine = shown.values[row][shown.values[row] != 0]
        assert_allclose(np.sort(mine), np.sort(listed))


def test_what_is_not_explained_is_never_shown() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(30, 3))
    values[:, 2] *= 1000.0
    data = exact(n=30, n_terms=3).data
    pool = explanation(values, terms=[("c0",), ("c1",), ("…",)], data=data)
    reader = Oracle()
    simulate({"lime": pool}, E=3, draws=1, readers=[reader])
    assert np.abs(reader.seen[0][0].values).max() < 10


def test_each_draw_has_four_of_each_class_and_five_others() -> None:
    pool = exact(n=30)
    reader = Oracle()
    simulate({"exact": pool}, E=1, draws=400, readers=[reader])
    ((_, training, labels, test),) = reader.seen
    positive = pool.score > 0
    assert training.shape == (400, 8)
    assert test.shape == (400, 5)
    assert_array_equal(positive[training], np.tile(labels > 0, (400, 1)))
    assert labels.tolist() == [-1.0] * 4 + [1.0] * 4
    for shown, asked in zip(training, test, strict=True):
        assert len(set(shown)) == 8
        assert not set(shown) & set(asked)
    assert set(np.unique(training)) == set(np.unique(test)) == set(range(30))
    assert_allclose(positive[test].mean(), 0.5, atol=0.05)


def test_pair_terms_are_counted_among_those_shown() -> None:
    values = np.random.default_rng(0).normal(size=(40, 3))
    values *= [1.0, 10.0, 0.01]
    values[:, 1] = np.sign(values[:, 1]) * (5 + np.abs(values[:, 1]))
    terms = [("c0",), ("c0", "c1"), ("c1",)]
    data = exact(n=40, n_terms=2).data
    pool = explanation(values, terms=terms, data=data)
    frame = simulate({"spam": pool}, E=[1, 2, 3], draws=20).pair_terms
    assert frame["pair_terms"].tolist() == [1.0, 1.0, 1.0]
    assert list(frame["E"]) == [1, 2, 3]
    single = simulate({"lime": exact()}, E=[1, 8], draws=20).pair_terms
    assert single["pair_terms"].tolist() == [0.0, 0.0]


def test_pair_terms_are_those_of_the_explanations_asked_about() -> None:
    terms = [("c0",), ("c0", "c1"), ("c1",), ("c1", "c2"), ("c2",), ("c0", "c1", "c2")]
    pool = several(terms=terms, data=exact(n=90, n_terms=3).data)
    reader = Oracle()
    played = simulate({"m": pool}, E=3, draws=60, readers=[reader])
    assert len(reader.seen) == len(played.pairs) == 3
    found = []
    for shown, _, _, test in reader.seen:
        assert shown.values.shape[1] == 6
        found += (shown.values[test][..., [1, 3, 5]] != 0).sum(-1).ravel().tolist()
    assert len(found) == 60 * 5
    assert played.pair_terms["pair_terms"].item() == pytest.approx(np.mean(found))


# --- chance ---------------------------------------------------------------------------


def unbalanced(n_yes: int = 5, n: int = 60):
    """Return a pool of which few rows are decided yes."""
    rng = np.random.default_rng(0)
    sign = np.where(np.arange(n) < n_yes, 1.0, -1.0)
    return explanation(np.abs(rng.normal(size=(n, 4))) * sign[:, None])


def test_saying_one_class_always_is_right_half_of_the_time_in_any_pool() -> None:
    readers = [Oracle(1.0, "yes"), Oracle(-1.0, "no"), Oracle(0.0, "coin")]
    played = simulate({"few": unbalanced()}, E=1, draws=2000, readers=readers)
    for name in ("yes", "no", "coin"):
        assert_allclose(accuracies(played, name, "few"), 0.5, atol=0.03)
    yes, no, coin = played.accuracy[0, :, 0]
    assert_allclose(yes + no, 1.0)
    assert_allclose(np.corrcoef(yes, coin)[0, 1], 0.0, atol=0.1)


def test_the_rows_of_a_small_class_come_again() -> None:
    pool, reader = unbalanced(), Oracle()
    simulate({"few": pool}, E=1, draws=300, readers=[reader])
    ((_, training, _, test),) = reader.seen
    asked = [
        set(row[pool.score[row] > 0]) - set(seen)
        for row, seen in zip(test, training, strict=True)
    ]
    assert max(map(len, asked)) == 1
    assert all(
        not set(row) & set(seen) for row, seen in zip(test, training, strict=True)
    )


def test_one_seed_gives_one_result() -> None:
    pool = {"a": exact(), "b": without_sense(exact())}
    one, same = simulate(pool, draws=50, seed=3), simulate(pool, draws=50, seed=3)
    assert_array_equal(one.accuracy, same.accuracy)
    assert one.table.equals(same.table)
    assert (simulate(pool, draws=50, seed=4).accuracy != one.accuracy).any()


def test_conditions_and_lengths_share_the_draws() -> None:
    """A condition's result is what it is alone, and two alike are always equal."""
    model = exact()
    both = simulate({"one": model, "two": model, "x": without_sense(model)}, draws=50)
    assert_array_equal(both.accuracy[0], both.accuracy[1])
    alone = simulate({"x": without_sense(model)}, E=7, draws=50)
    assert_array_equal(alone.accuracy[0, :, 0], both.accuracy[2, :, 6])
    gone = both.difference("one", "two")
    assert (gone[["difference", "low", "high"]] == 0).all(axis=None)


# --- the result -----------------------------------------------------------------------


def test_the_table_has_means_with_intervals_around_them() -> None:
    pool = {"a": exact(), "b": without_sense(exact())}
    played = simulate(pool, E=[1, 7], draws=300)
    frame = played.table
    assert list(frame) == [
        "condition",
        "reader",
        "E",
        "accuracy",
        "low",
        "high",
        "n_draws",
        "n_answers",
    ]
    assert len(frame) == 2 * 2 * 2
    assert (frame["low"] <= frame["accuracy"]).all()
    assert (frame["accuracy"] <= frame["high"]).all()
    assert set(frame["n_answers"]) == {1500}
    # as wide as a normal interval of the mean
    spread = played.accuracy.std(axis=-1).ravel() / np.sqrt(300)
    wide = (frame["high"] - frame["low"]).to_numpy()
    assert_allclose(wide, 2 * 1.96 * spread, rtol=0.1, atol=1e-9)
    each = played.by_draw.groupby(["condition", "reader", "E"], sort=False)["accuracy"]
    assert_allclose(each.mean(), frame["accuracy"])
    assert (each.size() == 300).all()


def test_draws_name_their_pair() -> None:
    played = simulate({"m": several()}, E=1, draws=40, readers=[SumReader()])
    frame = played.by_draw
    assert frame["draw"].tolist() == list(range(40))
    said = list(zip(frame["A"], frame["B"], strict=True))
    assert said == [played.pairs[k] for k in played.pair_of_draw]
    assert len(set(said)) == 3


def test_a_difference_is_of_the_same_draws() -> None:
    model = exact(n_terms=20)
    worse = without_sense(model)
    played = simulate({"a": model, "b": worse}, E=[1, 9], draws=200)
    frame = played.difference("a", "b")
    means = played.table.set_index(["condition", "reader", "E"])["accuracy"]
    for line in frame.itertuples():
        wanted = means["a", line.reader, line.E] - means["b", line.reader, line.E]
        assert line.difference == pytest.approx(wanted)
        assert line.low <= line.difference <= line.high
    turned = played.difference("b", "a")
    assert_allclose(turned["low"], -frame["high"])
    with pytest.raises(ValueError, match=r"one of \['a', 'b'\], got 'c'"):
        played.difference("a", "c")


def test_the_result_is_read_only_and_its_settings_are_json() -> None:
    played = simulate({"m": several()}, E=1, draws=5, pairs=[("r", "p")])
    assert not played.accuracy.flags.writeable
    assert not played.pair_of_draw.flags.writeable
    settings = json.loads(json.dumps(played.settings))
    assert settings["pairs"] == [["r", "p"]]
    assert settings["draws"] == 5
    assert settings["base_shown"] is True


# --- pairs and decisions --------------------------------------------------------------


def test_the_order_of_a_pair_does_not_matter_to_who_is_right() -> None:
    for pool, pairs in ((exact(), ("no", "yes")), (several(), ("p", "r"))):
        for pair in (pairs, pairs[::-1]):
            played = simulate({"m": pool}, E=8, draws=50, pairs=[pair])
            assert accuracies(played, "sum", "m") == [1.0]


def test_of_many_classes_the_pairs_with_most_rows_are_chosen() -> None:
    rng = np.random.default_rng(0)
    counts = dict(zip("pqrstuvw", (30, 20, 15, 12, 9, 8, 7, 4), strict=True))
    labels = np.repeat(list(counts), list(counts.values()))
    values = rng.normal(size=(len(labels), 3, 8))
    pool = explanation(values, classes=tuple(counts))
    played = simulate({"m": pool}, {"m": labels}, E=1, draws=50)
    assert len(played.pairs) == 10
    assert played.pairs[0] == ("p", "q")
    assert {label for pair in played.pairs for label in pair} == set("pqrst")
    few = simulate({"m": pool}, {"m": labels}, E=1, draws=50, pairs=[("u", "v")])
    assert few.pairs == (("u", "v"),)


def test_decisions_may_be_given() -> None:
    pool = exact()
    other = np.where(pool.score > 0, "no", "yes")
    played = simulate({"m": pool}, {"m": other}, E=8, draws=50)
    assert accuracies(played, "sum", "m") == [0.0]


# --- refusals -------------------------------------------------------------------------


def test_too_few_rows_name_class_and_counts() -> None:
    pool = {"SPAM": unbalanced(20), "DNN + LIME": unbalanced(4)}
    said = (
        r"of 60 rows 'DNN \+ LIME' decides 4 as 'yes' \(56 as 'no'\), but at least 5 "
        "of each class are needed: 4 to show and 1 to ask about"
    )
    with pytest.raises(ValueError, match=said):
        simulate(pool)
    with pytest.raises(ValueError, match=said):
        simulate(pool, pairs=[("no", "yes")])


def test_a_pool_without_any_pair_says_so() -> None:
    labels = ["p"] * 80 + ["q"] * 6 + ["r"] * 4
    pool = several()
    simulate({"m": pool}, {"m": labels}, E=1, draws=2)
    with pytest.raises(ValueError, match=r"no pair of classes .* decides 4 as 'r'"):
        simulate({"m": pool}, {"m": ["p"] * 83 + ["q"] * 3 + ["r"] * 4})


@pytest.mark.parametrize(
    ("changes", "error", "said"),
    [
        ({"explanations": {}}, ValueError, "at least one condition"),
        ({"explanations": {"a": 3}}, TypeError, "got int for 'a'"),
        ({"E": []}, ValueError, "at least one explanation length"),
        ({"E": [3, 0]}, ValueError, "E must be an integer >= 1, got 0"),
        ({"E": 2.5}, TypeError, "float"),
        ({"draws": 0}, ValueError, "draws must be an integer >= 1"),
        ({"n_training": 7}, ValueError, "n_training must be even"),
        ({"n_test": 0}, ValueError, "n_test must be"),
        ({"seed": -1}, ValueError, "seed must be"),
        ({"readers": []}, ValueError, "readers must have different names"),
        ({"readers": [SumReader(), SumReader()]}, ValueError, "different names"),
        ({"readers": [SumReader]}, TypeError, "objects with a name"),
        ({"readers": ["sum"]}, TypeError, "method answer"),
        ({"pairs": []}, ValueError, "at least one pair"),
        ({"pairs": [("no", "maybe")]}, ValueError, "'maybe'"),
        ({"pairs": [("no", "no")]}, ValueError, "two classes"),
        ({"pairs": ["no"]}, ValueError, "got 'no'"),
        ({"decisions": {"b": []}}, ValueError, r"decisions names \['b'\]"),
        ({"decisions": {"a": ["no"]}}, ValueError, "one decision for each of 60"),
        ({"decisions": {"a": ["?"] * 60}}, ValueError, "got '?'"),
    ],
    ids=str,
)
def test_bad_input_is_refused(changes, error, said) -> None:
    given = {"explanations": {"a": exact()}} | changes
    with pytest.raises(error, match=said):
        simulate(**given)


def test_conditions_must_explain_the_same_rows_and_classes() -> None:
    other = exact(n=59)
    with pytest.raises(ValueError, match="same rows: 'a' has 60, 'b' has 59"):
        simulate({"a": exact(), "b": other})
    moved = exact().data.set_axis(range(60, 120), axis=0)
    values = np.random.default_rng(0).normal(size=(60, 8))
    with pytest.raises(ValueError, match="index of 'b' differs"):
        simulate({"a": exact(), "b": explanation(values, data=moved)})
    with pytest.raises(ValueError, match="same classes"):
        simulate({"a": exact(), "b": explanation(values, classes=("no", "so"))})


def test_a_reader_must_answer_every_question() -> None:
    class Lazy(NearestReader):
        def answer(self, shown, training, labels, test):
            return np.ones(len(test))

    with pytest.raises(ValueError, match="'nearest' must answer each"):
        simulate({"a": exact()}, draws=3, readers=[Lazy()])
