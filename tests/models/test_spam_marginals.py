"""A SPAM built by hand explains itself once it knows its columns' distribution."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch

from spam_core.data import TableEncoder
from spam_core.explain import explain_local
from spam_core.models import SPAM


def tensor(values: list) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


COLUMNS = pd.DataFrame({"a": [0.0, 1.0, 4.0, 9.0], "b": [-1.0, -4.0, 1.0, 1.0]})
FACTORS = (
    tensor([0.5]),
    tensor([[1.0, -2.0]]),
    {2: (tensor([[3.0]]), tensor([[1.0, 0.5]]))},
)


def encoder_of(frame: pd.DataFrame) -> TableEncoder:
    return TableEncoder(scaling="none", fine_marginals=True).fit(frame)


def test_pure_terms_are_those_written_out() -> None:
    encoder = encoder_of(COLUMNS)
    model = SPAM.from_factors(*FACTORS, marginals=encoder.marginals)
    explanation = explain_local(model, encoder, COLUMNS)
    a, b = COLUMNS["a"].to_numpy(), COLUMNS["b"].to_numpy()
    g = np.sqrt(a), 0.5 * np.sign(b) * np.sqrt(np.abs(b))
    h = [part - part.mean() for part in g]
    v = [(part**2).mean() for part in h]
    total = sum(part.mean() for part in g)
    expected = [
        f - f.mean() + 3 * (2 * total * h[i] + h[i] ** 2 - v[i])
        for i, f in enumerate((a, -2 * b))
    ]
    expected.append(3 * 2 * h[0] * h[1])
    assert explanation.terms == (("a",), ("b",), ("a", "b"))
    np.testing.assert_allclose(explanation.values.T, expected, atol=1e-12)
    base = 0.5 + a.mean() - 2 * b.mean() + 3 * (total**2 + sum(v))
    np.testing.assert_allclose(explanation.base, base, atol=1e-12)
    score = 0.5 + a - 2 * b + 3 * (g[0] + g[1]) ** 2
    np.testing.assert_allclose(explanation.score, score, atol=1e-12)


def test_without_marginals_there_are_raw_terms_alone() -> None:
    model, encoder = SPAM.from_factors(*FACTORS), encoder_of(COLUMNS)
    raw = explain_local(model, encoder, COLUMNS, view="raw")
    np.testing.assert_allclose(raw.values[1], [1 + 3, 8 + 3, 2 * 3 * 1 * -1])
    with pytest.raises(ValueError, match='view="raw" needs none'):
        explain_local(model, encoder, COLUMNS, view="pure")


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (COLUMNS[["a"]], "Expected marginals of 2 columns, got 1"),
        (
            COLUMNS.assign(b=["x", "y", "x", "y"]),
            "marginals of numbers alone, but 1 of 2 columns have levels",
        ),
    ],
)
def test_marginals_of_another_table_are_refused(
    frame: pd.DataFrame, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        SPAM.from_factors(*FACTORS, marginals=encoder_of(frame).marginals)


def test_marginals_need_double_factors() -> None:
    bias, linear, factors = FACTORS
    lam, basis = factors[2]
    with pytest.raises(ValueError, match=r"must be float64, got torch\.float32"):
        SPAM.from_factors(
            bias.float(),
            linear.float(),
            {2: (lam.float(), basis.float())},
            marginals=encoder_of(COLUMNS).marginals,
        )
