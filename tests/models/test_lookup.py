"""Weighted sums of table rows, against PyTorch's embedding bag and its gradient."""

from __future__ import annotations

import pytest
import torch
from torch.nn.functional import embedding_bag

from spam_core.models.lookup import look_up, look_up_bags


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_sums_and_gradient_are_those_of_torch(dtype: torch.dtype) -> None:
    index = torch.randint(0, 9, (40, 5))  # rows of the table come up again in a bag
    weight = torch.randn(40, 5, dtype=dtype)
    table = torch.randn(12, 2, 3, dtype=dtype, requires_grad=True)
    each = torch.randn(40, 2, 3, dtype=dtype)
    sums = look_up(index, weight, table)
    (gradient,) = torch.autograd.grad((sums * each).sum(), table)
    flat = table.flatten(1)
    expected = embedding_bag(index, flat, mode="sum", per_sample_weights=weight)
    torch.testing.assert_close(sums, expected.reshape(40, 2, 3))
    (wanted,) = torch.autograd.grad((expected.reshape(40, 2, 3) * each).sum(), table)
    torch.testing.assert_close(gradient, wanted)
    assert (gradient[9:] == 0).all()  # rows that no bag holds


@pytest.mark.parametrize("lengths", [[2, 0, 3, 0], [0, 0, 0, 0]])
def test_empty_bags_sum_to_zero(lengths: list[int]) -> None:
    ends = torch.tensor(lengths).cumsum(0)
    start = torch.cat([torch.zeros(1, dtype=torch.long), ends[:-1]])
    place = torch.randint(0, 4, (sum(lengths),))
    weight = torch.rand(sum(lengths), dtype=torch.float64)
    table = torch.randn(4, 1, 2, dtype=torch.float64, requires_grad=True)
    sums = look_up_bags(place, start, weight, table)
    assert (sums[torch.tensor(lengths) == 0] == 0).all()
    assert torch.autograd.gradcheck(
        lambda t: look_up_bags(place, start, weight, t), table
    )


def test_no_entries_and_no_rows() -> None:
    table = torch.randn(4, 2, 2, requires_grad=True)
    none = torch.zeros(3, 0, dtype=torch.long)
    assert (look_up(none, none.float(), table) == torch.zeros(3, 2, 2)).all()
    no_rows = torch.zeros(0, 5, dtype=torch.long)
    assert look_up(no_rows, no_rows.float(), table).shape == (0, 2, 2)


def test_weights_that_are_trained_get_their_gradient() -> None:
    index = torch.randint(0, 4, (3, 2))
    weight = torch.rand(3, 2, dtype=torch.float64, requires_grad=True)
    table = torch.randn(4, 1, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda w, t: look_up(index, w, t), (weight, table))
