"""Terms, Shapley values and sizes of terms of an additive model made of tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spam_core.data.encoding import Encoded
from spam_core.explain.frozen import Floats
from spam_core.explain.summary import LARGE, TermSummary, find_cancelling
from spam_core.explain.term_set import Term
from spam_core.models.tables import BLOCK_ROWS, AdditiveTables, Pair, Places


def terms_of(model: AdditiveTables) -> tuple[Term, ...]:
    """Return the terms: every feature's own, then the model's pairs."""
    return (*((i,) for i in range(len(model.bins))), *sorted(model.pairs))


@dataclass(frozen=True)
class Located:
    """Rows as bins of a model.

    Attributes
    ----------
    places : ndarray of shape (n, d)
    coarse : list of d ndarrays of shape (n,)
        In bins of the pairs.
    known : bool ndarray of shape (n, d)
    """

    places: Places
    coarse: list[Places]
    known: NDArray[np.bool_]

    @classmethod
    def of(cls, model: AdditiveTables, rows: Encoded) -> Located:
        """Look up the bins of some rows."""
        places = model.bins.locate(rows)
        return cls(places, model.bins.locate_pairs(places), ~rows.unknown.numpy())


def contributions(model: AdditiveTables, rows: Encoded) -> tuple[Floats, Floats]:
    """Split scores into the terms of `terms_of`.

    A feature that is unknown in a row is a constant there: what pairs say of it
    belongs to the other feature alone.

    Returns
    -------
    base : ndarray of shape (n, C)
    values : ndarray of shape (n, T, C)
    """
    at = Located.of(model, rows)
    d, pairs = len(model.bins), sorted(model.pairs)
    base = np.repeat(model.mean.intercept, len(rows), axis=0)
    values = np.zeros((len(rows), d + len(pairs), model.n_outputs))
    for i in range(d):
        here, value = at.known[:, i], model.single(i, at.places[:, i])
        values[here, i] = value[here]
        base[~here] += value[~here]
    for k, (i, j) in enumerate(pairs, start=d):
        value = model.pair((i, j), at.coarse[i], at.coarse[j])
        first, second = at.known[:, i], at.known[:, j]
        both, neither = first & second, ~(first | second)
        values[both, k] = value[both]
        values[first & ~second, i] += value[first & ~second]
        values[second & ~first, j] += value[second & ~first]
        base[neither] += value[neither]
    return base, values


@dataclass(frozen=True)
class Reference:
    """What absent features are taken from, as far as tables of pairs need to know it.

    Attributes
    ----------
    shares : list of d ndarrays of shape (B_i + 1,)
        Share of the background in each bin; the last is what training never saw.
    pair_shares : list of d ndarrays of shape (b_i + 1,)
    joint : mapping of (i, j) to ndarray of shape (C,)
        Mean of the pair's table over the background.
    """

    shares: list[Floats]
    pair_shares: list[Floats]
    joint: Mapping[Pair, Floats]

    @classmethod
    def of_marginals(cls, model: AdditiveTables) -> Reference:
        """Take each absent feature from its training distribution, by itself."""
        shares = [np.append(weight, 0.0) for weight in model.bins.weights]
        pair_shares = [np.append(weight, 0.0) for weight in model.bins.pair_weights]
        joint = {
            (i, j): np.einsum("a,abc,b->c", pair_shares[i], table, pair_shares[j])
            for (i, j), table in model.padded[1].items()
        }
        return cls(shares, pair_shares, joint)

    @classmethod
    def of_rows(cls, model: AdditiveTables, table: Encoded) -> Reference:
        """Take all absent features from the same row of a table."""
        at, n = Located.of(model, table), len(table)

        def count(places: Places, size: int) -> Floats:
            return np.bincount(places, minlength=size).astype(np.float64) / n

        shares = [
            count(at.places[:, i], len(weight) + 1)
            for i, weight in enumerate(model.bins.weights)
        ]
        pair_shares = [
            count(at.coarse[i], len(weight) + 1)
            for i, weight in enumerate(model.bins.pair_weights)
        ]
        joint = {
            (i, j): model.pair((i, j), at.coarse[i], at.coarse[j]).mean(axis=0)
            for i, j in model.pairs
        }
        return cls(shares, pair_shares, joint)


def shapley(
    model: AdditiveTables, rows: Encoded, reference: Reference, with_indices: bool
) -> tuple[Floats, Floats, Floats | None]:
    r"""Return exact interventional Shapley values, in closed form.

    A feature's own table gives :math:`f_i(x_i) - E f_i(b_i)`. A pair is a game of two:

    .. math::

        \phi_i = \tfrac12 E [f(x_i, x_j) - f(b_i, x_j) + f(x_i, b_j) - f(b_i, b_j)]

    and its interaction index is :math:`E [f(x_i, x_j) - f(b_i, x_j) - f(x_i, b_j) +
    f(b_i, b_j)]`. A feature that is unknown in a row is no player.

    Returns
    -------
    base : ndarray of shape (n, C)
    values : ndarray of shape (n, d, C)
    interactions : ndarray of shape (n, d, d, C), or None
    """
    at = Located.of(model, rows)
    n, d, C = len(rows), len(model.bins), model.n_outputs
    base = np.repeat(model.mean.intercept, n, axis=0)
    values = np.zeros((n, d, C))
    indices = np.zeros((n, d, d, C)) if with_indices else None
    singles, pairs = model.padded
    for i, table in enumerate(singles):
        value, mean = table[at.places[:, i]], reference.shares[i] @ table
        known = at.known[:, i, None]
        values[:, i] += np.where(known, value - mean, 0.0)
        base += np.where(known, mean, value)
    for (i, j), table in pairs.items():
        a, b = at.coarse[i], at.coarse[j]
        value = table[a, b]
        without_i = np.tensordot(reference.pair_shares[i], table, 1)[b]
        without_j = np.einsum("b,abc->ac", reference.pair_shares[j], table)[a]
        joint = np.broadcast_to(reference.joint[i, j], value.shape)
        # an unknown feature stays as it is, whoever else is absent
        first, second = at.known[:, i, None], at.known[:, j, None]
        absent_i = np.where(first, without_i, value)
        absent_j = np.where(second, without_j, value)
        absent = np.where(first & second, joint, np.where(first, absent_i, absent_j))
        values[:, i] += (value - absent_i + absent_j - absent) / 2
        values[:, j] += (value - absent_j + absent_i - absent) / 2
        base += absent
        if indices is not None:
            indices[:, i, j] = value - absent_i - absent_j + absent
            indices[:, j, i] = indices[:, i, j]
    return base, values, indices


def term_sd(model: AdditiveTables) -> Floats:
    """Return each term's standard deviation under the training marginals, (T, C)."""
    bins, mean = model.bins, model.mean
    spreads = []
    for weight, table in zip(bins.weights, mean.singles, strict=True):
        spreads.append(_spread(weight, table[0]))
    for i, j in sorted(model.pairs):
        weight = np.outer(bins.pair_weights[i], bins.pair_weights[j]).ravel()
        table = mean.pairs[i, j][0]
        spreads.append(_spread(weight, table.reshape(len(weight), -1)))
    return np.stack(spreads)


def _spread(weight: Floats, values: Floats) -> Floats:
    return np.sqrt(weight @ (values - weight @ values) ** 2)


def summarise(
    model: AdditiveTables, rows: Encoded, weight: NDArray[np.float64] | None = None
) -> TermSummary:
    """Work out the sizes of all terms over the training rows.

    Parameters
    ----------
    model : AdditiveTables
        In one view.
    rows : Encoded
        Training rows; all are looked at.
    weight : ndarray of shape (n,), optional
    """
    terms, sd = terms_of(model), term_sd(model)
    large = np.sort(np.argsort(-(sd**2).sum(axis=1), kind="stable")[:LARGE])
    share = np.ones(len(rows)) if weight is None else weight
    share = share / share.sum()
    size = np.zeros((len(terms), model.n_outputs))
    mean = np.zeros((len(large) + 1, model.n_outputs))
    square = np.zeros((model.n_outputs, len(large) + 1, len(large) + 1))
    for start in range(0, len(rows), BLOCK_ROWS):
        here = slice(start, start + BLOCK_ROWS)
        base, values = contributions(model, rows[here])
        size += np.einsum("n,ntc->tc", share[here], np.abs(values))
        total = (base + values.sum(axis=1))[:, None]
        # centred for the sake of accuracy; the exact mean is taken off below
        kept = np.concatenate([values[:, large], total - model.mean.intercept], axis=1)
        mean += np.einsum("n,nkc->kc", share[here], kept)
        square += np.einsum("n,nac,nbc->cab", share[here], kept, kept, optimize=True)
    covariance = square - np.einsum("ac,bc->cab", mean, mean)
    # what doesn't vary may come out a little below 0
    diagonal = np.einsum("caa->ca", covariance)
    np.maximum(diagonal, 0, out=diagonal)
    return TermSummary(
        terms,
        size,
        sd,
        mean[-1] + model.mean.intercept[0],
        np.sqrt(covariance[:, -1, -1]),
        find_cancelling([terms[k] for k in large.tolist()], covariance),
        len(rows),
    )
