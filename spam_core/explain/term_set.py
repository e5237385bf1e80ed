"""Which terms are meant: sets of features as index tensors, in one fixed sequence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import comb

import torch
from torch import Tensor

Term = tuple[int, ...]
"""Positions of a term's features in training order, increasing."""


@dataclass(frozen=True)
class TermSet:
    """Terms in their one sequence: by number of features, then by position.

    Attributes
    ----------
    groups : tuple of Tensor of shape (T_s, s), int64
        Entry s - 1 holds the terms of s features, rows in lexicographic order.

    Examples
    --------
    >>> TermSet.all(3, 2).tuples()
    [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]
    """

    groups: tuple[Tensor, ...]

    def __len__(self) -> int:
        return sum(len(group) for group in self.groups)

    @classmethod
    def all(cls, n_features: int, order: int) -> TermSet:
        """Return every term of at most `order` features."""
        positions = torch.arange(n_features)
        return cls(
            tuple(
                torch.combinations(positions, s).reshape(-1, s)
                for s in range(1, order + 1)
            )
        )

    @classmethod
    def of(cls, terms: Iterable[Iterable[int]], n_features: int) -> TermSet:
        """Return the given terms, sorted and each once.

        Raises
        ------
        ValueError
            If a term is empty, names a feature twice or one that doesn't exist.
        """
        unique = {tuple(sorted(int(i) for i in term)) for term in terms}
        for term in unique:
            inside = all(0 <= i < n_features for i in term)
            if not term or len(set(term)) < len(term) or not inside:
                raise ValueError(
                    f"A term must name different features of 0..{n_features - 1}, "
                    f"got {term}"
                )
        largest = max((len(term) for term in unique), default=0)
        groups = []
        for s in range(1, largest + 1):
            rows = sorted(term for term in unique if len(term) == s)
            groups.append(torch.tensor(rows, dtype=torch.int64).reshape(-1, s))
        return cls(tuple(groups))

    def tuples(self) -> list[Term]:
        """Return the terms as tuples of feature positions."""
        return [tuple(row) for group in self.groups for row in group.tolist()]

    def features(self) -> Tensor:
        """Return the positions of the features that terms are about, increasing."""
        positions = torch.cat([group.flatten() for group in self.groups])
        different: Tensor = positions.unique(sorted=True)
        return different

    def among(self, features: Tensor) -> TermSet:
        """Return the terms with positions counted among `features`."""
        return TermSet(
            tuple(
                torch.searchsorted(features, group.contiguous())
                for group in self.groups
            )
        )

    def take(self, positions: Tensor) -> TermSet:
        """Return the terms at these positions of the sequence, sequence kept."""
        chosen = torch.zeros(len(self), dtype=torch.bool)
        chosen[positions] = True
        groups, start = [], 0
        for group in self.groups:
            groups.append(group[chosen[start : start + len(group)]])
            start += len(group)
        return TermSet(tuple(groups))


def count_terms(n_features: int, order: int) -> int:
    """Count the terms of at most `order` features.

    Examples
    --------
    >>> count_terms(8, 3)
    92
    """
    return sum(comb(n_features, s) for s in range(1, order + 1))


@dataclass(frozen=True)
class Prefixes:
    """Terms of one size, grouped by all but their last feature.

    Terms with one prefix share most of the work, and a block of prefixes times a block
    of last features is one matrix product.

    Attributes
    ----------
    prefixes : Tensor of shape (U, s - 1)
        The different prefixes, by their last feature.
    terms : Tensor of shape (T,)
        Positions of the terms in their group, by prefix.
    prefix : Tensor of shape (T,)
        Position in `prefixes` of each of `terms`; non-decreasing.
    last : Tensor of shape (T,)
        Last feature of each of `terms`.
    """

    prefixes: Tensor
    terms: Tensor
    prefix: Tensor
    last: Tensor

    @classmethod
    def of(cls, group: Tensor, n_features: int) -> Prefixes:
        """Group terms, an index tensor of shape (T, s) with s >= 2."""
        # mixed-radix key, most significant the prefix's last feature
        key = group[:, -2].clone()
        for column in range(group.shape[1] - 2):
            key = key * n_features + group[:, column]
        keys, prefix = torch.unique(key, return_inverse=True)
        terms = torch.argsort(prefix, stable=True)
        first = torch.full((len(keys),), len(group), dtype=torch.int64)
        first.scatter_reduce_(0, prefix, torch.arange(len(group)), "amin")
        return cls(group[first, :-1], terms, prefix[terms], group[terms, -1])

    def __len__(self) -> int:
        return len(self.prefixes)

    def shared_is_cheaper(self, n_features: int, n_outputs: int) -> bool:
        """Say whether matrix products beat handling the terms one by one.

        A number that is gathered, multiplied and added costs about as much as 100
        multiply-adds within a matrix product; a single term takes two of them.
        """
        products = len(self) * (100 + n_outputs * n_features)
        return products <= len(self.terms) * (200 + n_outputs)

    def block(self, start: int, stop: int) -> tuple[Tensor, Tensor, Tensor]:
        """Return `terms`, `prefix` - `start` and `last` of prefixes start..stop."""
        bounds = torch.searchsorted(self.prefix, torch.tensor([start, stop]))
        rows = slice(int(bounds[0]), int(bounds[1]))
        return self.terms[rows], self.prefix[rows] - start, self.last[rows]
