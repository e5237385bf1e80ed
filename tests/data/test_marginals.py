"""Knots, and the few nodes that stand for a column's training distribution."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spam_core.data.encoding import NUMBER, Scaling, TableEncoder
from spam_core.data.feature import spread_knots
from spam_core.data.marginals import choose_knots, gauss_nodes

EXAMPLES = 60

FINITE = st.floats(-1e6, 1e6, allow_nan=False, width=32)


def test_few_distinct_values_are_all_knots() -> None:
    values = np.array([3.0, 1.0, 1.0, 7.0, 3.0])
    np.testing.assert_array_equal(choose_knots(values, 8), [1.0, 3.0, 7.0])


def test_cells_hold_about_equally_many_rows() -> None:
    values = np.random.default_rng(0).lognormal(size=4000)
    knots = choose_knots(values, 16)
    assert len(knots) == 17
    counts = np.histogram(values, knots)[0]
    assert counts[1:-1].max() <= 1.1 * counts[1:-1].min()


@pytest.mark.parametrize("n_cells", [2, 4, 8, 64])
def test_spikes_get_knots_of_their_own(n_cells: int) -> None:
    rng = np.random.default_rng(1)
    values = np.concatenate(
        [np.zeros(5000), np.full(3000, 40.0), rng.normal(20, 5, 500)]
    )
    values[-2:] = [-60.0, 99.0]  # the ends are no spikes
    knots = choose_knots(values, n_cells)
    assert {values.min(), 0.0, values.max()} <= set(knots)
    if n_cells > 2:
        assert 40.0 in knots


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.lists(FINITE, min_size=1, max_size=60), st.integers(1, 12))
def test_knots_are_ordered_values_with_both_ends(
    values: list[float], n_cells: int
) -> None:
    column = np.array(values)
    knots = choose_knots(column, n_cells)
    assert len(knots) <= n_cells + 1
    assert np.all(np.diff(knots) > 0)
    assert set(knots) <= set(column)
    assert {column.min(), column.max()} <= set(knots)


@pytest.mark.parametrize(("low", "high"), [(-1e308, 1e308), (0.0, 5e-324), (2.0, 2.0)])
def test_equal_cells_over_any_range(low: float, high: float) -> None:
    knots = spread_knots(low, high, 4)
    assert np.isfinite(knots).all()
    assert (knots[0], knots[-1]) == (low, high)
    assert np.all(np.diff(knots) > 0)


@settings(max_examples=EXAMPLES, deadline=None)
@given(
    st.lists(st.tuples(st.floats(0, 3), st.floats(1e-6, 1e6)), min_size=1, max_size=60)
)
def test_nodes_have_the_moments_of_any_sample(rows: list[tuple[float, float]]) -> None:
    position, weight = np.array(rows).T
    nodes, mass = gauss_nodes(position, weight, 3)
    assert np.all(mass >= 0)
    assert position.min() <= nodes.min()
    assert nodes.max() <= position.max()
    for cell in range(4):
        inside = np.minimum(position.astype(int), 3) == cell
        mine = np.minimum(nodes.astype(int), 3) == cell
        # A node may be rounded onto the cell's upper end; it stands for this cell
        # still, so that moments are compared cell by cell only away from the ends.
        if np.isclose(nodes, cell + 1).any() or np.isclose(nodes, cell).any():
            continue
        total = weight[inside].sum()
        for power in range(6):
            expected = (weight[inside] * (position[inside] - cell) ** power).sum()
            got = (mass[mine] * (nodes[mine] - cell) ** power).sum()
            assert got == pytest.approx(expected, rel=1e-9, abs=1e-9 * total)
    for power in range(6):
        expected = (weight * position**power).sum()
        assert (mass * nodes**power).sum() == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("spread", [1e-3, 1e-9, 1e-13])
def test_nodes_of_a_tight_cluster(spread: float) -> None:
    position = 1.5 + spread * np.random.default_rng(0).normal(size=500)
    nodes, mass = gauss_nodes(position, np.full(500, 1 / 500), 3)
    assert len(nodes) == 3
    deviation = ((position - 1.5) ** 2).mean()
    assert (mass * (nodes - 1.5) ** 2).sum() == pytest.approx(deviation, rel=1e-3)


@pytest.mark.parametrize("size", [1e-300, 1e-320])
def test_nodes_of_values_that_would_underflow(size: float) -> None:
    position = size * np.arange(1, 9)
    nodes, mass = gauss_nodes(position, np.full(8, 1e-300), 3)
    assert np.isfinite(nodes).all()
    assert mass.sum() == pytest.approx(8e-300)
    assert (mass / mass.sum() * (nodes / size)).sum() == pytest.approx(4.5, rel=0.2)


def moments(frame: pd.DataFrame, weight: np.ndarray, encoder: TableEncoder) -> None:
    """Compare the marginals' moments with those of the training rows."""
    rows = encoder.transform(frame)
    share = weight / weight.sum()
    nodes, mass = encoder.marginals.nodes, encoder.marginals.weights.numpy()
    np.testing.assert_allclose(mass.sum(0), 1, rtol=1e-12)
    for i, feature in enumerate(encoder.features):
        codes, own_codes = rows.codes[:, i].numpy(), nodes.codes[:, i].numpy()
        for code in range(len(feature.levels)):
            expected = share[codes == code].sum()
            assert mass[own_codes == code, i].sum() == pytest.approx(
                expected, abs=1e-12
            )
        z, own = rows.values[:, i].numpy(), nodes.values[:, i].numpy()
        for power in range(6):
            expected = (share * z**power)[codes == NUMBER].sum()
            got = (mass[:, i] * own**power)[own_codes == NUMBER].sum()
            assert got == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("fine", [False, True])
@pytest.mark.parametrize("scaling", ["quantile", "minmax", "maxabs", "none"])
def test_marginals_are_the_weighted_training_distribution(
    scaling: Scaling, fine: bool
) -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "skewed": rng.lognormal(size=500),
            "spiky": np.where(rng.random(500) < 0.7, 0.0, rng.normal(size=500)),
            "coded": rng.choice([-9.0, 1.0, 2.5], 500),
            "city": rng.choice(["a", "b", "c"], 500),
        }
    )
    frame.loc[::7, "skewed"] = np.nan
    weight = rng.uniform(0.1, 5, 500)
    encoder = TableEncoder(16, scaling, {"coded": [-9]}, fine)
    moments(frame, weight, encoder.fit(frame, weight))


def test_cell_means_of_a_piecewise_linear_function_are_exact() -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=3000)
    encoder = TableEncoder(32).fit(pd.DataFrame({"x": x}))
    knots = np.linspace(0, 1, 33)
    heights = rng.normal(size=33)
    nodes, mass = encoder.marginals.nodes.values[:, 0], encoder.marginals.weights[:, 0]
    scaled = encoder.features[0].to_scaled(x, "quantile")
    for power in range(1, 6):
        expected = (np.interp(scaled, knots, heights) ** power).mean()
        got = (mass.numpy() * np.interp(nodes.numpy(), knots, heights) ** power).sum()
        assert got == pytest.approx(expected, rel=1e-10)
