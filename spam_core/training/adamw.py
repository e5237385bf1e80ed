"""AdamW by torch's own kernel, without what its class brings along."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.optim.adamw import adamw

BETAS, EPSILON = (0.9, 0.999), 1e-8  # torch's


class AdamW:
    """`torch.optim.AdamW` of one group of parameters, fused; the same bit for bit.

    The class imports torch's compiler when the first one is made, which takes every
    process that trains one and a half seconds and 70 MB; its function doesn't.

    Parameters
    ----------
    parameters : sequence of Tensor
        A parameter without a gradient is left as it is.
    weight_decay : float

    Attributes
    ----------
    rate : float
        Step length, to be set before each step.

    References
    ----------
    Loshchilov and Hutter, *Decoupled Weight Decay Regularization*, 2019.

    Examples
    --------
    >>> weight = torch.ones(2, requires_grad=True)
    >>> optimizer = AdamW([weight], 0.1)
    >>> (weight * torch.tensor([3.0, -3.0])).sum().backward()
    >>> optimizer.step()
    >>> weight.detach()
    tensor([0.9000, 1.1000])
    """

    def __init__(
        self, parameters: Sequence[Tensor], rate: float, weight_decay: float = 0.0
    ) -> None:
        self.parameters = list(parameters)
        self.rate, self.weight_decay = rate, weight_decay
        self._means = [torch.zeros_like(p) for p in self.parameters]
        self._squares = [torch.zeros_like(p) for p in self.parameters]
        self._steps = [torch.zeros((), device=p.device) for p in self.parameters]

    @torch.no_grad()
    def step(self) -> None:
        """Take one step along the gradients."""
        moved = [k for k, p in enumerate(self.parameters) if p.grad is not None]
        adamw(
            [self.parameters[k] for k in moved],
            [self.parameters[k].grad for k in moved],  # type: ignore[misc]
            [self._means[k] for k in moved],
            [self._squares[k] for k in moved],
            [],
            [self._steps[k] for k in moved],
            fused=True,
            amsgrad=False,
            beta1=BETAS[0],
            beta2=BETAS[1],
            lr=self.rate,
            weight_decay=self.weight_decay,
            eps=EPSILON,
            maximize=False,
        )

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for parameter in self.parameters:
            parameter.grad = None
