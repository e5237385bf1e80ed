"""The polynomial against brute force, and its equivalent forms against each other."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch import Tensor

from spam_core.data.encoding import Encoded
from spam_core.models import SPAM
from spam_core.models.polynomial import power, signed_root

Factors = dict[int, tuple[Tensor, Tensor]]


def random_factors(
    order: int, outputs: int, seed: int
) -> tuple[Tensor, Tensor, Factors]:
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    factors = {k: (draw(outputs, 3), draw(3, 4)) for k in range(2, order + 1)}
    return draw(outputs), draw(outputs, 4), factors


def expanded(x: list[float], bias: Tensor, linear: Tensor, factors: Factors) -> Tensor:
    """The paper's equation 3, every product written out, in Python floats."""
    result = []
    for c in range(len(bias)):
        total = float(bias[c])
        total += sum(float(linear[c, i]) * x[i] for i in range(4))
        for order, (lam, basis) in factors.items():
            root = [abs(v) ** (1 / order) * (1 if v > 0 else -1) for v in x]
            for index in itertools.product(range(4), repeat=order):
                for r in range(len(basis)):
                    product = float(lam[c, r])
                    for i in index:
                        product *= float(basis[r, i]) * root[i]
                    total += product
        result.append(total)
    return torch.tensor(result, dtype=torch.float64)


ROWS = [[0.2, 0.5, 0.7, 0.9], [0.2, -0.5, 0.7, 0.9], [0.0, 0.5, 0.7, 0.9], [0.0] * 4]


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("order", [2, 3, 4])
def test_from_factors_is_the_papers_formula(order: int, outputs: int) -> None:
    bias, linear, factors = random_factors(order, outputs, seed=order)
    model = SPAM.from_factors(bias, linear, factors)
    truth = torch.stack([expanded(x, bias, linear, factors) for x in ROWS])
    rows = torch.tensor(ROWS, dtype=torch.float64)
    for collapsed in (True, False):
        scores = model.score(rows, collapsed=collapsed)
        torch.testing.assert_close(scores, truth, rtol=1e-10, atol=1e-10)


def test_from_factors_keeps_the_dtype() -> None:
    bias, linear, factors = random_factors(3, 2, seed=0)
    single = {k: (lam.float(), basis.float()) for k, (lam, basis) in factors.items()}
    model = SPAM.from_factors(bias.float(), linear.float(), single)
    assert model.score(torch.tensor(ROWS)).dtype == torch.float32


@pytest.mark.parametrize("outputs", [1, 3])
def test_component_scores_sum_to_the_score(outputs: int) -> None:
    bias, linear, factors = random_factors(4, outputs, seed=1)
    model = SPAM.from_factors(bias, linear, factors)
    rows = torch.tensor(ROWS, dtype=torch.float64)
    total = model.bias
    for order, scores in model.component_scores(rows).items():
        total = total + scores.sum(1) ** order @ model.lam[order].T
    torch.testing.assert_close(total, model.score(rows), rtol=1e-12, atol=1e-12)


def test_order_two_collapses_to_as_many_components_as_columns() -> None:
    generator = torch.Generator().manual_seed(0)
    lam = torch.randn(1, 400, generator=generator, dtype=torch.float64)
    basis = torch.randn(400, 8, generator=generator, dtype=torch.float64)
    zeros = torch.zeros(1, 8, dtype=torch.float64)
    model = SPAM.from_factors(zeros[:, 0], zeros, {2: (lam, basis)})
    rows = torch.rand(50, 8, generator=generator, dtype=torch.float64)
    assert model.lam[2].shape == (1, 8)
    whole = model.score(rows, collapsed=False)
    torch.testing.assert_close(model.score(rows), whole, rtol=1e-10, atol=1e-8)


def test_gradient_at_zero_and_below_is_finite() -> None:
    x = torch.tensor([[-0.5, 0.0, 0.7]], dtype=torch.float64, requires_grad=True)
    power(signed_root(x, 3), 3).sum().backward()
    assert x.grad is not None
    torch.testing.assert_close(x.grad, torch.tensor([[1.0, 0.0, 1.0]]).double())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"bias": torch.zeros(2)}, r"Expected a bias of shape \(1,\), got \(2,\)"),
        ({"order": 5}, r"Orders must be in 2\.\.4, got 5"),
        ({"basis": torch.zeros(3, 5)}, r"Expected U of shape \(r, 4\) at order 2"),
        ({"lam": torch.zeros(1, 2)}, r"Expected lam of shape \(1, 3\) at order 2"),
    ],
)
def test_factors_that_disagree_are_refused(change: dict, message: str) -> None:
    lam, basis = change.get("lam", torch.zeros(1, 3)), torch.zeros(3, 4)
    factors = {change.get("order", 2): (lam, change.get("basis", basis))}
    with pytest.raises(ValueError, match=message):
        SPAM.from_factors(
            change.get("bias", torch.zeros(1)), torch.zeros(1, 4), factors
        )


def test_only_the_linear_map_can_be_built_from_factors() -> None:
    with pytest.raises(ValueError, match='from_factors needs feature_map="linear"'):
        SPAM.from_factors(torch.zeros(1), torch.zeros(1, 2), {}, feature_map="spline")


def test_rows_must_have_two_dimensions() -> None:
    model = SPAM.from_factors(torch.zeros(1), torch.zeros(1, 2), {})
    with pytest.raises(ValueError, match=r"shape \(n, d\), got \(2,\)"):
        model.score(torch.zeros(2))


def test_a_block_boundary_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    bias, linear, factors = random_factors(3, 1, seed=2)
    model = SPAM.from_factors(bias, linear, factors)
    rows = torch.rand(64, 4, dtype=torch.float64)
    whole = model.score(rows)
    monkeypatch.setattr("spam_core.models.spam._BLOCK", 20)
    torch.testing.assert_close(model.score(rows), whole, rtol=1e-14, atol=1e-14)
    assert len(model.score(Encoded(rows[:0], torch.zeros(0, 4).int()))) == 0
