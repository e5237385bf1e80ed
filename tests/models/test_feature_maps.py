"""Feature maps against phi written out, and their gradients."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch
from torch import Tensor

from spam_core import SPAMRegressor
from spam_core.data.encoding import Encoded, Marginals, TableEncoder
from spam_core.models.ensemble import SPAMEnsemble
from spam_core.models.feature_maps import (
    ColumnScale,
    FeatureMap,
    Layout,
    LinearMap,
)
from spam_core.models.networks import BasisMap, NeuralMap
from spam_core.models.spline import CentredTable, SplineMap

N = 40


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "long": rng.normal(size=N),
            "few": rng.integers(0, 3, N).astype(float),
            "city": rng.choice(["a", "b", "c"], N),
            "gap": rng.normal(size=N),
            "same": 1.0,
        }
    )
    frame.loc[[3, 9], "gap"] = np.nan
    return frame


@pytest.fixture(scope="module")
def encoder(table: pd.DataFrame) -> TableEncoder:
    with pytest.warns(UserWarning, match="constant.*'same'"):
        return TableEncoder(n_knots=5).fit(table)


def dense_phi(encoder: TableEncoder, rows: Encoded, order: int, kind: str) -> Tensor:
    """phi written out, columns in the map's order."""
    numeric: dict[int, Tensor] = {}
    levels = []
    for i, feature in enumerate(encoder.features):
        z, codes = rows.values[:, i], rows.codes[:, i]
        is_number = (codes == -1).double()
        if feature.n_cells and kind == "linear":
            root = z.sign() * z.abs() ** (1 / order)
            numeric[i] = (root * is_number)[:, None]
        elif feature.n_cells:
            k = torch.arange(feature.n_cells)
            increments = (feature.n_cells * z[:, None] - k).clamp(0, 1)
            size = 1 << (feature.n_cells - 1).bit_length()
            padded = torch.zeros(len(rows), size, dtype=torch.float64)
            if len(feature.levels):  # a level has the numbers' mean
                mean = increments[codes == -1].mean(0)
                increments = torch.where((codes == -1)[:, None], increments, mean)
            padded[:, : feature.n_cells] = increments
            numeric[i] = padded
        levels += [(codes == k).double()[:, None] for k in range(len(feature.levels))]
    ordered = sorted(numeric, key=lambda i: (numeric[i].shape[1], i))
    return torch.cat([*(numeric[i] for i in ordered), *levels], 1)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("kind", ["linear", "spline"])
def test_sums_and_scores_are_products_with_phi(
    encoder: TableEncoder, table: pd.DataFrame, kind: str, order: int
) -> None:
    rows = encoder.transform(table)
    feature_map = make_map(kind, encoder)
    weights = torch.randn(feature_map.n_columns, 2, 3, dtype=torch.float64)
    phi = dense_phi(encoder, rows, order, kind)
    assert phi.shape[1] == feature_map.n_columns
    expected = torch.einsum("np,pmq->nmq", phi, weights)
    lookup = feature_map.table(weights)
    torch.testing.assert_close(feature_map.sums(rows, order, lookup), expected)
    scores = feature_map.scores(rows, order, lookup)
    torch.testing.assert_close(scores.sum(1), expected)
    for i in range(len(encoder.features)):
        own = feature_map.feature_of_column == i
        part = torch.einsum("np,pmq->nmq", phi[:, own], weights[own])
        torch.testing.assert_close(scores[:, i], part)


def test_column_means_are_the_training_means(
    encoder: TableEncoder, table: pd.DataFrame
) -> None:
    feature_map = make_map("spline", encoder)
    phi = dense_phi(encoder, encoder.transform(table), 1, "spline")
    means = feature_map.column_means(encoder.marginals)
    # what levels have of the numeric columns is held in single precision
    torch.testing.assert_close(means, phi.mean(0), rtol=1e-7, atol=1e-9)


def test_gradient_of_the_centred_table() -> None:
    nodes = Encoded(torch.rand(6, 4, dtype=torch.float64), torch.full((6, 4), -1))
    nodes.codes[4:, 1] = torch.tensor([0, 1])
    marginals = Marginals(nodes, torch.full((6, 4), 1 / 6, dtype=torch.float64))
    feature_map = SplineMap(Layout((3, 1, 5, 0), (0, 2, 0, 0)), marginals)
    columns = feature_map.n_columns
    weights = torch.randn(columns, 2, 4, dtype=torch.float64, requires_grad=True)
    first, rest = torch.rand(2, columns, 2, 1, dtype=torch.float64)
    scale = ColumnScale(first, rest, 1)
    centre = torch.rand(columns, dtype=torch.float64)
    each = torch.arange(columns + 1)[:, None, None]
    assert torch.autograd.gradcheck(
        lambda w: CentredTable.apply(w, scale, centre, feature_map) * each,
        weights,
    )


def make_map(
    name: str, encoder: TableEncoder, generator: torch.Generator | None = None
) -> FeatureMap:
    layout = Layout.of(encoder.features)
    generator = generator or torch.Generator()
    if name == "linear":
        return LinearMap(layout)
    if name == "spline":
        return SplineMap(layout, encoder.marginals)
    maker = NeuralMap if name.startswith("neural") else BasisMap
    extra = {"units": "exu"} if name == "neural-exu" else {}
    return maker(layout, (1, 2, 3), 2, generator, 2, (8,), **extra)  # type: ignore[operator]


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("name", ["linear", "spline", "neural", "neural-exu", "basis"])
def test_frozen_model_scores_as_the_ensemble_did(
    encoder: TableEncoder, table: pd.DataFrame, name: str, shared: bool
) -> None:
    generator = torch.Generator().manual_seed(0)
    feature_map = make_map(name, encoder, generator)
    ensemble = SPAMEnsemble(
        feature_map,
        {2: 4, 3: 2},
        2,
        3,
        encoder.marginals,
        generator,
        shared_bases=shared,
        init_scale=0.5,
    )
    torch.nn.init.normal_(ensemble.bias, generator=generator)
    rows = encoder.transform(table)
    with torch.no_grad():
        trained = ensemble(rows.to("cpu", torch.float32)).double()
    trained = (trained - trained.mean(2, keepdim=True)).mean(1)
    model = ensemble.freeze()
    torch.testing.assert_close(model.score(rows), trained, rtol=1e-4, atol=1e-4)
    plain = model.score(rows, collapsed=False)
    torch.testing.assert_close(model.score(rows), plain, rtol=1e-9, atol=1e-9)
    members = torch.stack([model.member(m).score(rows) for m in range(2)]).mean(0)
    torch.testing.assert_close(members, plain, rtol=1e-9, atol=1e-9)
    assert model.score(rows).sum(1).abs().max() < 1e-9  # centred over classes


def test_centring_order_one_while_it_trains_is_undone_by_freezing(
    encoder: TableEncoder, table: pd.DataFrame
) -> None:
    generator = torch.Generator().manual_seed(0)
    feature_map = make_map("linear", encoder, generator)
    ensemble = SPAMEnsemble(feature_map, {2: 4}, 2, 1, encoder.marginals, generator)
    torch.nn.init.normal_(ensemble.weights, generator=generator)
    rows = encoder.transform(table)
    single = rows.to("cpu", torch.float32)
    with torch.no_grad():
        plain = ensemble(single)
        ensemble.centre_first(feature_map.column_means(encoder.marginals))
        trained = ensemble(single)
        first = ensemble.weights[:, :, :1]
        shift = torch.einsum("p,pmc->mc", ensemble.first_means, first)
    assert (shift.abs() > 0.1).any()
    torch.testing.assert_close(trained, plain - shift, rtol=1e-4, atol=1e-4)
    model = ensemble.freeze()
    score = model.score(rows)
    torch.testing.assert_close(score, trained.double().mean(1), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", ["linear", "spline", "neural"])
def test_unknown_cells_stand_at_the_training_mean(
    encoder: TableEncoder, table: pd.DataFrame, name: str
) -> None:
    generator = torch.Generator().manual_seed(0)
    feature_map = make_map(name, encoder, generator)
    ensemble = SPAMEnsemble(
        feature_map, {2: 4}, 2, 1, encoder.marginals, generator, init_scale=0.5
    )
    model = ensemble.freeze()
    rows = encoder.transform(table)
    known = model.component_scores(rows)
    rows.codes[:, 2] = -2  # city
    unknown = model.component_scores(rows)
    for order, scores in unknown.items():
        mean = known[order][:, 2].mean(0)  # the marginal's mean is the rows' mean
        torch.testing.assert_close(
            scores[:, 2], mean.expand_as(scores[:, 2]), rtol=1e-9, atol=1e-9
        )
        total = sum((s.sum(1) ** k) @ model.lam[k].T for k, s in unknown.items())
    torch.testing.assert_close(
        model.score(rows), model.bias + total, rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize(("seed", "other"), [(0, 0), (0, 1)])
def test_basis_dropout_comes_from_the_generator(
    encoder: TableEncoder, table: pd.DataFrame, seed: int, other: int
) -> None:
    rows = encoder.transform(table).to("cpu", torch.float32)

    def scores(dropout_seed: int) -> Tensor:
        generator = torch.Generator().manual_seed(5)
        ensemble = SPAMEnsemble(
            make_map("spline", encoder),
            {2: 16},
            2,
            1,
            encoder.marginals,
            generator,
            basis_dropout=0.5,
            init_scale=0.5,
        )
        generator.manual_seed(dropout_seed)
        return ensemble.train()(rows)  # type: ignore[no-any-return]

    assert torch.equal(scores(seed), scores(other)) == (seed == other)


def test_missing_values_do_not_bend_the_curve() -> None:
    rng = np.random.default_rng(0)
    income = rng.uniform(500, 4000, 3000)
    rent = 250 + 0.2 * income
    missing = rng.uniform(size=3000) < 0.2
    rent[missing] = 900.0  # far from what the lowest incomes pay
    X = pd.DataFrame({"income": np.where(missing, np.nan, income)})
    model = SPAMRegressor(1, n_members=2, random_state=0).fit(X, rent)
    low = pd.DataFrame({"income": [520.0, 800.0, np.nan]})
    predicted = model.predict(low)
    np.testing.assert_allclose(predicted, [354, 410, 900], atol=15)
