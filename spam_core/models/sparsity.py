"""How many pairs of columns a SPAM gives a weight."""

from __future__ import annotations

import numpy as np
import torch

from spam_core.models.spam import SPAM

_MOST_GROUPS = 20_000


def pair_share(model: SPAM) -> float | None:
    """Return the share of pairs of columns that order 2 gives a weight other than 0.

    A pair has one if a component of any member, whose lambda isn't 0, gives both of its
    columns a weight. Columns in the same components are counted as a group, so that a
    table of a hundred thousand columns needs no matrix of their pairs.

    Parameters
    ----------
    model : SPAM of d columns

    Returns
    -------
    float or None
        None without order 2 or pairs, or if columns differ too much to be grouped.

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
    if len(groups) > _MOST_GROUPS:
        return None
    member = torch.from_numpy(np.unpackbits(groups, axis=1)).float()
    meet = ((member @ member.T) > 0).double()
    size = torch.from_numpy(sizes).double()
    # ordered pairs of groups, less each column with itself
    ordered = size @ meet @ size - meet.diagonal() @ size
    return float(ordered / (d * (d - 1)))
