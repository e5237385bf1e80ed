"""Terms of sparse models: against the dense algebra, and the rows they are about."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from spam_core import SPAMClassifier, SPAMRegressor, load_model
from spam_core.data.sparse import NamedCSR
from spam_core.explain.nodes import NodeScores
from spam_core.explain.spread import term_sd
from spam_core.explain.term_set import TermSet
from spam_core.explain.terms import TermAlgebra, View
from spam_core.explain.word_summary import largest_pairs
from spam_core.explain.word_terms import WordAlgebra

N, WORDS = 120, tuple("abcdefgh")
WEIGHT = np.random.default_rng(1).uniform(0.5, 2.0, N)
VIEWS: tuple[View, ...] = ("pure", "raw")


@lru_cache
def table() -> NamedCSR:
    rng = np.random.default_rng(0)
    cells = rng.normal(size=(N, len(WORDS))) * (rng.uniform(size=(N, 8)) < 0.4)
    cells[:, 5] = 0.0  # a word that no row has
    return NamedCSR(cells, feature_names=WORDS)


@lru_cache
def fitted(order: int, n_classes: int = 3) -> Any:
    cells = table().toarray()
    settings: dict[str, Any] = {
        "feature_map": "linear",
        "n_members": 2,
        "rank": 3,
        "max_epochs": 5,
        "random_state": 0,
    }
    target = cells[:, 0] + cells[:, 1] * cells[:, 2]
    if n_classes == 1:
        return SPAMRegressor(order, **settings).fit(table(), target, WEIGHT)
    cuts = [-0.2, 0.2] if n_classes == 3 else [0.0]
    y = np.digitize(target, cuts)
    return SPAMClassifier(order, **settings).fit(table(), y, WEIGHT)


def dense_algebra(
    model: Any, view: View
) -> tuple[TermAlgebra, dict[int, torch.Tensor]]:
    """The oracle: nodes are the training rows themselves, each column by itself."""
    rows = model.encoder_.transform(table()).dense()
    scores = model.model_.component_scores(rows)
    weight = torch.from_numpy(WEIGHT / WEIGHT.sum())[:, None].expand(-1, len(WORDS))
    nodes = NodeScores.of(scores, weight)
    return TermAlgebra(model.model_.bias, model.model_.lam, nodes, view), scores


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_terms_of_rows_are_those_of_the_dense_algebra(order: int, view: View) -> None:
    model = fitted(order)
    explanation = model.explain_local(table()[:6], view=view)
    algebra, scores = dense_algebra(model, view)
    terms = TermSet.all(len(WORDS), min(order, 2))
    some = {l: g[:6] for l, g in scores.items()}
    base, values = algebra.terms(some, terms)
    np.testing.assert_allclose(explanation.base, base, atol=1e-12)
    place = {tuple(WORDS[i] for i in term): k for k, term in enumerate(terms.tuples())}
    for k, term in enumerate(explanation.terms):
        if term != ("…",):
            expected = values[:, place[term]].numpy()
            np.testing.assert_allclose(explanation.values[:, k], expected, atol=1e-12)
    total = explanation.base + explanation.values.sum(1)
    np.testing.assert_allclose(total, model.decision_function(table()[:6]), atol=1e-10)


@pytest.mark.parametrize("n_classes", [1, 2])
@pytest.mark.parametrize("view", VIEWS)
def test_one_output_has_no_axis_for_it(view: View, n_classes: int) -> None:
    model = fitted(2, n_classes)
    explanation = model.explain_local(table()[:3], view=view)
    assert explanation.base.shape == (3,)
    total = model.explain_global(view)
    assert total.importance.shape == (len(total.terms),)


def test_only_words_of_the_row_count_in_the_raw_view() -> None:
    model = fitted(2)
    row = next(i for i in range(N) if table()[i].nnz == 3)
    words = tuple(WORDS[i] for i in sorted(table()[row].indices))
    explanation = model.explain_local(table()[row], view="raw")
    a, b, c = words
    assert explanation.terms == ((a,), (b,), (c,), (a, b), (a, c), (b, c))
    assert explanation.feature_names == words
    assert not explanation.has_rest
    np.testing.assert_allclose(explanation.data.to_numpy()[0], table()[row].data)
    assert f"{a} × {b}" in explanation.ledger(0)["term"].tolist()


def test_the_rest_holds_what_is_not_listed() -> None:
    model = fitted(2)
    whole = model.explain_local(table()[:9], view="raw")
    short = model.explain_local(table()[:9], view="raw", top=2)
    assert len(short.terms) == 3
    assert short.has_rest
    size = np.sqrt((whole.values**2).mean(2)).max(0)
    largest = {whole.terms[k] for k in np.argsort(-size)[:2]}
    assert set(short.terms[:2]) == largest
    assert short.n_left_out == len(whole.terms) + whole.n_left_out - 2


def test_a_row_without_words_is_the_base_alone() -> None:
    model = fitted(2)
    nothing = NamedCSR(np.zeros((1, len(WORDS))), feature_names=WORDS)
    explanation = model.explain_local(nothing, view="raw")
    assert explanation.terms == ()
    np.testing.assert_allclose(explanation.base, explanation.score)
    assert model.explain_local(nothing).terms == (("…",),)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("order", [1, 2, 3])
def test_sizes_are_exact_over_the_training_rows(order: int, view: View) -> None:
    model = fitted(order)
    found = model.explain_global(view)
    algebra, scores = dense_algebra(model, view)
    listed = [tuple(WORDS.index(word) for word in term) for term in found.terms]
    terms = TermSet.of(listed, len(WORDS))
    assert terms.tuples() == listed
    assert len(listed) == {1: 7, 2: 28, 3: 7}[order]  # 7 columns vary
    _, values = algebra.terms(scores, terms)
    share = torch.from_numpy(WEIGHT / WEIGHT.sum())
    importance = torch.einsum("n,ntc->tc", share, values.abs())
    np.testing.assert_allclose(found.importance, importance, atol=1e-12)
    np.testing.assert_allclose(found.sd, term_sd(algebra, terms), atol=1e-9)
    base, _ = algebra.terms(scores, TermSet(()))
    np.testing.assert_allclose(found.base, base[0], atol=1e-12)


@pytest.mark.parametrize("view", VIEWS)
def test_shapes_are_the_terms(view: View) -> None:
    model = fitted(2)
    found = model.explain_global(view)
    curve = found.curve("b")
    cells = np.zeros((1, len(WORDS)))
    cells[0, [1, 3]] = curve.x[-1], found.surface("d", "b").x[-1]
    explanation = model.explain_local(NamedCSR(cells, feature_names=WORDS), view=view)
    at = {term: explanation.values[0, k] for k, term in enumerate(explanation.terms)}
    np.testing.assert_allclose(curve.y[-1], at["b",], atol=1e-12)
    surface = found.surface("d", "b")
    np.testing.assert_allclose(surface.z[-1, -1], at["b", "d"], atol=1e-12)
    assert found.curve("f").x.size == 0
    assert found.surface("f", "b").z.size == 0
    assert found.visualize(0) is not None


def test_largest_pairs_are_those_of_a_full_search() -> None:
    model = fitted(2)
    algebra = WordAlgebra(model.model_, model.column_moments_, "pure")
    dense, _ = dense_algebra(model, "pure")
    terms = TermSet((torch.empty(0, 1).long(), TermSet.all(8, 2).groups[1]))
    sd = term_sd(dense, terms)
    wanted = {terms.tuples()[k] for c in range(3) for k in sd[:, c].topk(2).indices}
    pairs = algebra.features[largest_pairs(algebra, top=2)]
    assert {tuple(pair) for pair in pairs.tolist()} == wanted
    # fewer columns than hold the largest: the check would notice
    few = algebra.features[largest_pairs(algebra, top=2, most=3)]
    assert {tuple(pair) for pair in few.tolist()} != wanted


def test_names_come_with_the_table_or_with_the_rows(tmp_path: Path) -> None:
    model = fitted(2)
    assert model.feature_names_ == WORDS
    model.save(tmp_path / "m.spam")
    twin = load_model(tmp_path / "m.spam")
    assert twin.feature_names_ == WORDS
    for view in VIEWS:
        one, other = (m.explain_local(table()[:4], view=view) for m in (model, twin))
        assert one.terms == other.terms
        np.testing.assert_array_equal(one.values, other.values)
        np.testing.assert_array_equal(
            model.explain_global(view).sd, twin.explain_global(view).sd
        )
    nameless = SPAMRegressor(feature_map="linear", n_members=1, max_epochs=1)
    nameless.fit(table().tocoo(), np.arange(N))
    assert nameless.feature_names_[:2] == ("x0", "x1")
    explained = nameless.explain_local(table()[:2])
    assert set(explained.feature_names) <= set(WORDS)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a", "b"], "Expected a name for each of 3 columns, got 2"),
        (["a", "b", "a"], "Expected different names, got 1 more than once"),
    ],
)
def test_names_are_one_a_column(names: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        NamedCSR(np.eye(3), feature_names=names)


def test_what_cannot_be_explained_is_said() -> None:
    model = fitted(2)
    with pytest.raises(ValueError, match="view must be one of"):
        model.explain_global("odd")
    with pytest.raises(ValueError, match="top must be a positive integer"):
        model.explain_local(table()[:1], top=0)
    smaller = model.truncate(1, metric="coefficient")
    with pytest.raises(ValueError, match="loses when it is truncated"):
        smaller.explain_global()
    explanation = smaller.explain_local(table()[:3])
    np.testing.assert_allclose(
        explanation.score, smaller.decision_function(table()[:3]), atol=1e-12
    )
