"""How many pairs of columns a SPAM gives a weight."""

from __future__ import annotations

import numpy as np
import torch

from spam_core.models.spam import SPAM

_BLOCK = 4_000_000  # pairs of groups that are looked at at a time


def pair_share(model: SPAM) -> float | None:
    """Return the share of pairs of columns that order 2 gives a weight other than 0.

    A pair has one if a component of any member, whose lambda isn't 0, gives both of its
    columns a weight. Columns in the same components are counted as a group, and groups
    are compared block by block: a hundred thousand columns need no matrix of their
    pairs, but a minute or more if all are in components of their own.

    Parameters
    ----------
    model : SPAM of d columns

    Returns
    -------
    float or None
        None without order 2 or pairs.

    Examples
    --------
    >>> bases = torch.tensor([[1.0, 2.0, 0.0], [0.0, 0.0, 3.0]])
    >>> order_2 = {2: (torch.ones(1, 2), bases)}
    >>> model = SPAM.from_factors(torch.zeros(1), torch.zeros(1, 3), order_2)
    >>> round(pair_share(model), 3)
    0.333
    """
    weights = model.member_weights.get(2)
    if weights is None:
        return None
    used = (model.member_lam[2] != 0).any(1).flatten()  # (M * R,)
    active = (weights.flatten(1) != 0) & used
    owner = model.feature_map.feature_of_column
    d = len(model.feature_map.layout.n_cells)
    if d < 2:
        return None
    counts = torch.zeros(d, active.shape[1])
    counts.index_add_(0, owner.clamp(min=0), (active & (owner >= 0)[:, None]).float())
    packed = np.packbits((counts > 0).numpy(), axis=1)
    groups, sizes = np.unique(packed, axis=0, return_counts=True)
    used_at_all = groups.any(1)
    groups, size = groups[used_at_all], sizes[used_at_all].astype(np.float64)
    # a component is a bit: two groups meet if their words have one in common
    words = np.pad(groups, ((0, 0), (0, -groups.shape[1] % 8))).view(np.uint64)
    columns = np.ascontiguousarray(words.T)
    rows = max(1, _BLOCK // max(len(size), 1))
    # pairs within a group, then those of each group with the groups after it
    pairs = float((size * (size - 1)).sum()) / 2
    for start in range(0, len(size), rows):
        block = words[start : start + rows]
        meet = np.zeros((len(block), len(size) - start), dtype=bool)
        for word, column in enumerate(columns):
            meet |= (block[:, word, None] & column[None, start:]) != 0
        pairs += float(size[start : start + rows] @ (np.triu(meet, 1) @ size[start:]))
    return pairs / (d * (d - 1) / 2)
