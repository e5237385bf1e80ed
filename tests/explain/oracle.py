"""The definitions themselves, by enumeration: slow, and obviously right.

Nothing here knows of generating functions. A model is a function of node positions; a
term is inclusion-exclusion over what the model says when some features are averaged
over the product of their marginals (pure) or absent at g = 0 (raw).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, combinations, product
from math import comb, factorial

import numpy as np
import torch

from spam_core.explain.nodes import NodeScores
from spam_core.explain.terms import TermAlgebra

Floats = np.ndarray


def subsets(items):
    items = tuple(items)
    return chain.from_iterable(combinations(items, k) for k in range(len(items) + 1))


@dataclass(frozen=True)
class Toy:
    """A small random model, its marginals and a few rows."""

    bias: Floats  # (C,)
    lam: dict[int, Floats]  # l -> (C, R)
    node_scores: dict[int, Floats]  # l -> (N, d, R)
    weights: Floats  # (N, d)
    row_scores: dict[int, Floats]  # l -> (n, d, R)
    known: np.ndarray  # (n, d)

    @property
    def d(self) -> int:
        return self.weights.shape[1]

    @property
    def degree(self) -> int:
        return max(self.lam)

    @property
    def n(self) -> int:
        return len(self.known)

    def mean(self, l: int) -> Floats:
        return np.einsum("nd,ndr->dr", self.weights, self.node_scores[l])

    def score(self, g: dict[int, Floats]) -> Floats:
        """Score of one row from its component scores, l -> (d, R)."""
        total = self.bias.copy()
        for l, lam in self.lam.items():
            total = total + lam @ g[l].sum(0) ** l
        return total

    def value(self, row: int, present: tuple[int, ...], view: str) -> Floats:
        """What the model says when only these features of a row are there."""
        present = tuple(i for i in present if self.known[row, i])
        if view == "raw":
            g = {l: np.zeros_like(v[row]) for l, v in self.row_scores.items()}
            for i in range(self.d):
                for l in g:
                    if not self.known[row, i]:
                        g[l][i] = self.mean(l)[i]
                    elif i in present:
                        g[l][i] = self.row_scores[l][row, i]
            return self.score(g)
        averaged = [i for i in range(self.d) if self.known[row, i] and i not in present]
        total = np.zeros_like(self.bias)
        for nodes in product(range(len(self.weights)), repeat=len(averaged)):
            g = {l: v[row].copy() for l, v in self.row_scores.items()}
            weight = 1.0
            for i, k in zip(averaged, nodes, strict=True):
                weight *= self.weights[k, i]
                for l in g:
                    g[l][i] = self.node_scores[l][k, i]
            if weight == 0.0:
                continue
            for i in range(self.d):
                if not self.known[row, i]:
                    for l in g:
                        g[l][i] = self.mean(l)[i]
            total = total + weight * self.score(g)
        return total

    def term(self, row: int, term: tuple[int, ...], view: str) -> Floats:
        """Inclusion-exclusion, word for word."""
        return sum(
            (-1) ** (len(term) - len(part)) * self.value(row, part, view)
            for part in subsets(term)
        )

    def shapley(self, row: int) -> Floats:
        """Shapley values of the game 'average what is absent': (d, C)."""
        d = self.d
        value = {s: self.value(row, s, "pure") for s in subsets(range(d))}
        phi = np.zeros((d, len(self.bias)))
        for i in range(d):
            others = [j for j in range(d) if j != i]
            for s in subsets(others):
                weight = factorial(len(s)) * factorial(d - len(s) - 1) / factorial(d)
                phi[i] += weight * (value[tuple(sorted((*s, i)))] - value[s])
        return phi

    def interaction(self, row: int, i: int, j: int) -> Floats:
        """Shapley interaction index of Grabisch and Roubens: (C,)."""
        d = self.d
        others = [k for k in range(d) if k not in (i, j)]
        total = np.zeros_like(self.bias)
        for s in subsets(others):
            weight = 1.0 / ((d - 1) * comb(d - 2, len(s)))

            def v(*more, s=s):
                return self.value(row, tuple(sorted((*s, *more))), "pure")

            total = total + weight * (v(i, j) - v(i) - v(j) + v())
        return total

    def algebra(self, view: str = "pure") -> TermAlgebra:
        return TermAlgebra(
            torch.from_numpy(self.bias),
            {l: torch.from_numpy(lam) for l, lam in self.lam.items()},
            NodeScores.of(tensors(self.node_scores), torch.from_numpy(self.weights)),
            view,
        )

    def at_nodes(self) -> Toy:
        """The same model with every combination of nodes as its rows."""
        grid = np.array(list(product(range(len(self.weights)), repeat=self.d)))
        columns = np.arange(self.d)
        rows = {l: v[grid, columns] for l, v in self.node_scores.items()}
        known = np.ones(grid.shape, dtype=bool)
        return Toy(self.bias, self.lam, self.node_scores, self.weights, rows, known)

    def grid_weights(self) -> Floats:
        """Probability of each row of `at_nodes`."""
        grid = np.array(list(product(range(len(self.weights)), repeat=self.d)))
        return self.weights[grid, np.arange(self.d)].prod(1)


def tensors(scores: dict[int, Floats]) -> dict[int, torch.Tensor]:
    return {l: torch.from_numpy(np.ascontiguousarray(g)) for l, g in scores.items()}


def toy(
    seed: int = 0,
    *,
    orders: tuple[int, ...] = (1, 2, 3),
    d: int = 4,
    n_outputs: int = 1,
    n_nodes: int = 3,
    n_rows: int = 4,
    unknown: bool = False,
) -> Toy:
    """Draw a model; node 0 of feature 0 is padding, with weight 0."""
    rng = np.random.default_rng(seed)
    ranks = {l: n_outputs if l == 1 else 2 + l for l in orders}
    lam = {
        l: np.eye(n_outputs) if l == 1 else rng.normal(size=(n_outputs, r))
        for l, r in ranks.items()
    }
    nodes = {l: rng.normal(0.3, 1.0, (n_nodes, d, r)) for l, r in ranks.items()}
    rows = {l: rng.normal(0.3, 1.0, (n_rows, d, r)) for l, r in ranks.items()}
    weights = rng.uniform(0.1, 1.0, (n_nodes, d))
    weights[0, 0] = 0.0
    weights /= weights.sum(0)
    known = np.ones((n_rows, d), dtype=bool)
    if unknown:
        known[1, 0] = known[2, 1] = known[2, 3] = False
        known[3] = False
    bias = rng.normal(size=n_outputs)
    made = Toy(bias, lam, nodes, weights, rows, known)
    for l in orders:
        mean = made.mean(l)
        rows[l][~known] = np.broadcast_to(mean, rows[l].shape)[~known]
    return made
