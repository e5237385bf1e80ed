"""Losses of every row and member, against torch's own."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from spam_core.training.losses import row_losses


def draw(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


def test_squared_error() -> None:
    scores, target = draw(7, 3, 1), draw(7)
    losses = row_losses(scores, target, "regression")
    expected = torch.stack([(scores[:, m, 0] - target) ** 2 for m in range(3)], 1)
    torch.testing.assert_close(losses, expected)


def test_log_loss_of_two_classes() -> None:
    scores, target = 5 * draw(7, 3, 1), (draw(7) > 0).float()
    losses = row_losses(scores, target, "binary")
    for m in range(3):
        expected = F.binary_cross_entropy_with_logits(
            scores[:, m, 0], target, reduction="none"
        )
        torch.testing.assert_close(losses[:, m], expected)


def test_log_loss_of_several_classes() -> None:
    scores, target = 5 * draw(7, 3, 4), torch.arange(7) % 4
    losses = row_losses(scores, target, "multiclass")
    for m in range(3):
        expected = F.cross_entropy(scores[:, m], target, reduction="none")
        torch.testing.assert_close(losses[:, m], expected)


def test_extreme_logits_stay_finite() -> None:
    scores = torch.tensor([[[1e4]], [[-1e4]]])
    losses = row_losses(scores, torch.tensor([0.0, 1.0]), "binary")
    torch.testing.assert_close(losses, torch.full((2, 1), 1e4))
