"""AdamW: the steps of torch's class, without the compiler that it imports."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

from spam_core.training.adamw import AdamW


@pytest.mark.parametrize("decay", [0.0, 0.01])
def test_steps_are_those_of_torch(decay: float) -> None:
    generator = torch.Generator().manual_seed(0)
    shapes = [(5, 3), (7,), ()]
    start = [torch.randn(shape, generator=generator) for shape in shapes]
    own, theirs = ([p.clone().requires_grad_() for p in start] for _ in range(2))
    optimizer = AdamW(own, 0.1, decay)
    peer = torch.optim.AdamW(theirs, lr=0.1, weight_decay=decay, fused=True)
    for step in range(1, 8):
        optimizer.rate = peer.param_groups[0]["lr"] = 0.1 / step
        for k, (p, q) in enumerate(zip(own, theirs, strict=True)):
            if k != 1 or step % 2:  # one has no gradient now and then
                p.grad = torch.randn(p.shape, generator=generator)
                q.grad = p.grad.clone()
        optimizer.step()
        peer.step()
        optimizer.zero_grad()
        peer.zero_grad()
        assert all(p.grad is None for p in own)
        for p, q in zip(own, theirs, strict=True):
            assert torch.equal(p, q)


def test_a_fit_does_not_import_torchs_compiler() -> None:
    code = (
        "import sys; from spam_core import SPAMRegressor\n"
        "SPAMRegressor(rank=2, n_members=1, max_epochs=1).fit([[0.0], [1.0]] * 20,"
        " [0.0, 1.0] * 20)\n"
        "print('torch._dynamo' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
