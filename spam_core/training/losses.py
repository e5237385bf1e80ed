"""Losses per row and member."""

from __future__ import annotations

from typing import Literal

from torch import Tensor
from torch.nn import functional as F

Task = Literal["regression", "binary", "multiclass"]


def row_losses(scores: Tensor, target: Tensor, task: Task) -> Tensor:
    """Squared error or log loss of every row and member.

    Parameters
    ----------
    scores : Tensor of shape (n, M, C)
    target : Tensor of shape (n,)
        Float for regression and binary (0 or 1), class index for multiclass.
    task : {"regression", "binary", "multiclass"}

    Returns
    -------
    Tensor of shape (n, M)

    Examples
    --------
    >>> import torch
    >>> row_losses(torch.zeros(1, 2, 1), torch.ones(1), "binary")
    tensor([[0.6931, 0.6931]])
    """
    if task == "regression":
        return (scores[:, :, 0] - target[:, None]).square()
    if task == "binary":
        logits = scores[:, :, 0]
        return F.softplus(logits) - logits * target[:, None]
    picked = scores.gather(2, target[:, None, None].expand(-1, scores.shape[1], 1))
    return scores.logsumexp(2) - picked[:, :, 0]
