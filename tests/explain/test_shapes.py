"""Curves and surfaces of fitted models: axes in user units, bands, density, support."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from spam_core.data.encoding import TableEncoder
from spam_core.explain import explain_global
from spam_core.explain.axes import make_axis, make_density
from spam_core.explain.support import JointSupport
from tests.explain.tables import TASKS, fitted, table


@pytest.mark.parametrize("view", ["pure", "raw"])
@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("task", TASKS)
def test_a_curve_is_the_local_term_at_each_value(task, order, view):
    model = fitted(task, order)
    overall = model.explain_global(view=view)
    frame = table().head(1)
    for name in ("size", "rooms", "months", "city", "garden"):
        curve = overall.curve(name)
        rows = pd.concat([frame] * len(curve.x), ignore_index=True)
        values = curve.x
        if name == "garden":
            values = np.array([text == "True" for text in curve.x])
        if name == "city":
            values = np.where(curve.x == "missing", None, curve.x)
        rows[name] = values
        local = model.explain_local(rows, view=view)
        expected = local.values[:, list(local.terms).index((name,))]
        np.testing.assert_allclose(curve.y, expected, rtol=1e-8, atol=1e-9)
        assert curve.unseen == 0.0


@pytest.mark.parametrize("view", ["pure", "raw"])
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(
    "pair",
    [("size", "rooms"), ("city", "size"), ("garden", "city"), ("months", "size")],
)
def test_a_surface_is_the_local_term_at_each_pair(pair, task, view):
    model = fitted(task, 3)
    first, second = pair
    surface = model.explain_global(view=view).surface(first, second)
    a, b = np.meshgrid(
        np.arange(len(surface.x)), np.arange(len(surface.y)), indexing="ij"
    )
    rows = pd.concat([table().head(1)] * a.size, ignore_index=True)
    for name, axis, at in ((first, surface.x, a), (second, surface.y, b)):
        values = axis[at.ravel()]
        if name == "garden":
            values = np.array([text == "True" for text in values])
        if name == "city":
            values = np.where(values == "missing", None, values)
        rows[name] = values
    local = model.explain_local(rows, view=view)
    term = tuple(sorted(pair, key=list(rows.columns).index))
    expected = local.values[:, list(local.terms).index(term)]
    got = surface.z.reshape(expected.shape)
    np.testing.assert_allclose(got, expected, rtol=1e-8, atol=1e-9)


def test_a_surface_turned_round_is_its_transpose():
    overall = fitted("multiclass", 3).explain_global()
    one, other = overall.surface("size", "city"), overall.surface("city", "size")
    np.testing.assert_allclose(one.z, other.z.transpose(1, 0, 2), atol=1e-12)
    np.testing.assert_array_equal(one.support, other.support.T)
    assert (one.x_kind, one.y_kind) == ("numeric", "categorical")
    assert (other.x_kind, other.y_kind) == ("categorical", "numeric")
    for level, z in one.missing_x.items():
        np.testing.assert_allclose(z, other.missing_y[level], atol=1e-12)


@pytest.mark.parametrize("task", TASKS)
def test_bands_are_the_lowest_and_highest_member(task):
    model = fitted(task, 2)
    overall = model.explain_global()
    curve, surface = overall.curve("size"), overall.surface("size", "city")
    curves, surfaces = [], []
    for k in range(3):
        member = explain_global(
            model.model_.member(k), model.encoder_, classes=model._classes()
        )
        assert member.curve("size").lower is None
        curves.append(member.curve("size").y)
        surfaces.append(member.surface("size", "city").z)
    np.testing.assert_allclose(np.mean(curves, axis=0), curve.y, atol=1e-8)
    np.testing.assert_allclose(np.min(curves, axis=0), curve.lower, atol=1e-12)
    np.testing.assert_allclose(np.max(curves, axis=0), curve.upper, atol=1e-12)
    np.testing.assert_allclose(np.mean(surfaces, axis=0), surface.z, atol=1e-8)
    np.testing.assert_allclose(np.max(surfaces, axis=0), surface.upper, atol=1e-12)
    assert (curve.lower <= curve.y).all()
    assert (curve.y <= curve.upper).all()
    assert (curve.lower < curve.upper).any()


def test_missing_and_special_levels_are_points_of_their_own():
    overall = fitted("regression", 2).explain_global()
    assert list(overall.curve("size").missing) == ["missing"]
    assert list(overall.curve("months").missing) == ["-9"]
    y, lower, upper = overall.curve("size").missing["missing"]
    assert lower <= y <= upper
    assert overall.curve("size").level_rows == {"missing": 2.0}
    city = overall.curve("city")
    assert city.x.tolist() == ["Bonn", "Köln", "Ulm", "missing"]
    assert city.missing == {}
    surface = overall.surface("size", "months")
    assert list(surface.missing_x) == ["missing"]
    assert surface.missing_x["missing"].shape == (len(surface.y),)
    assert surface.missing_y["-9"].shape == (len(surface.x),)


def test_axes_are_in_user_units():
    overall = fitted("regression", 2).explain_global()
    size = overall.curve("size")
    assert size.x[0] == pytest.approx(table()["size"].min())
    assert size.x[-1] == pytest.approx(table()["size"].max())
    assert (np.diff(size.x) > 0).all()
    assert len(size.x) > 100
    # few distinct values are the axis itself
    assert overall.curve("rooms").x.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert overall.curve("months").x.tolist() == [3.0, 12.0, 24.5]


def test_a_constant_column_has_an_empty_curve():
    overall = fitted("regression", 2).explain_global()
    curve = overall.curve("same")
    assert curve.x.shape == curve.y.shape == (0,)
    assert curve.density is None
    surface = overall.surface("same", "rooms")
    assert surface.z.shape == (0, 6)


def test_densities_count_the_training_rows():
    overall = fitted("regression", 2).explain_global()
    frame = table()
    city = overall.curve("city")
    counts = frame["city"].value_counts()
    assert city.density[0].tolist() == city.x.tolist()
    assert city.density[1].tolist()[:3] == [counts[x] for x in city.x[:3]]
    rooms = overall.curve("rooms")
    edges, rows = rooms.density
    assert edges.tolist() == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5]
    expected = np.histogram(frame["rooms"], edges)[0]
    np.testing.assert_allclose(rows, expected)
    size = overall.curve("size")
    edges, rows = size.density
    assert len(edges) == len(rows) + 1
    assert rows.sum() == pytest.approx(158)
    # knots cut the rows evenly, so bins agree within a cell's rows
    expected = np.histogram(frame["size"].dropna(), edges)[0]
    assert np.abs(np.cumsum(rows - expected)).max() <= 158 / 8 + 1
    months = overall.curve("months")
    assert months.level_rows == {"-9": float((frame["months"] == -9).sum())}


def encode(values, **options):
    frame = pd.DataFrame({"x": values, "other": np.arange(len(values)) % 5})
    return TableEncoder(**options).fit(frame)


def test_a_far_outlier_is_outside_the_bulk():
    values = np.random.default_rng(0).normal(size=500)
    values[7] = 1e8
    density = make_density(encode(values), 0, 500)
    low, high = density.bulk
    assert low == values.min()
    assert high < 5
    # nodes stand for the rows of a cell, of which there are 4 in the tails
    assert abs(density.n_outside - (values > high).sum()) <= 4
    assert density.rows.sum() == pytest.approx(500)
    assert density.edges[-1] == 1e8
    assert (density.edges <= high).sum() > 25


def test_an_ordinary_column_opens_on_its_range():
    values = np.random.default_rng(0).uniform(size=500)
    density = make_density(encode(values), 0, 500)
    assert density.bulk == (values.min(), values.max())
    assert density.n_outside == 0


def test_spikes_stay_in_their_bin():
    rng = np.random.default_rng(0)
    values = np.where(rng.random(1000) < 0.9, 0.0, rng.uniform(1, 100, 1000))
    density = make_density(encode(values), 0, 1000)
    zero = np.searchsorted(density.edges, 0.0, side="right") - 1
    assert density.rows[zero] >= (values == 0).sum()
    assert density.rows.sum() == pytest.approx(1000)


def test_dates_have_date_axes():
    days = pd.date_range("2020-01-01", periods=200, freq="36h")
    encoder = encode(days)
    axis = make_axis(encoder, 0, 200)
    assert axis.x.dtype.kind == "M"
    assert axis.x[0] == np.datetime64("2020-01-01")
    assert make_density(encoder, 0, 200).edges.dtype.kind == "M"


@pytest.mark.parametrize("scaling", ["quantile", "minmax", "maxabs", "none"])
def test_every_scaling_has_an_axis(scaling):
    values = np.random.default_rng(0).lognormal(size=300)
    encoder = encode(values, scaling=scaling)
    axis = make_axis(encoder, 0, 200)
    assert axis.x[0] == pytest.approx(values.min())
    assert axis.x[-1] == pytest.approx(values.max())
    assert (np.diff(axis.x) > 0).all()
    assert 100 < len(axis.x) < 400
    rows = encoder.transform(pd.DataFrame({"x": axis.x, "other": 0}))
    np.testing.assert_allclose(rows.values[:, 0], axis.values, atol=1e-12)
    assert make_density(encoder, 0, 300).rows.sum() == pytest.approx(300)


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1e9, 1e307])
def test_any_magnitude_has_an_axis(scale):
    values = np.random.default_rng(0).uniform(-1, 1, 300) * scale
    encoder = encode(values)
    axis, density = make_axis(encoder, 0, 200), make_density(encoder, 0, 300)
    assert np.isfinite(axis.x).all()
    assert np.isfinite(density.edges).all()
    assert density.rows.sum() == pytest.approx(300)


def test_one_number_and_missing_is_a_point():
    values = np.full(50, 2.5)
    values[3] = np.nan
    encoder = encode(values)
    axis, density = make_axis(encoder, 0, 200), make_density(encoder, 0, 50)
    assert axis.x.tolist() == [2.5]
    assert axis.levels == ("missing",)
    assert density.rows.tolist() == [49.0]
    assert density.level_rows == {"missing": 1.0}
    assert density.bulk is None


class TestSupport:
    def make(self):
        rng = np.random.default_rng(0)
        x = rng.uniform(size=2000)
        frame = pd.DataFrame(
            {
                "x": x,
                "y": x + 0.05 * rng.normal(size=2000),
                "city": np.where(x < 0.5, "Ulm", "Bonn"),
            }
        )
        encoder = TableEncoder()
        rows = encoder.fit_transform(frame)
        levels = [len(feature.levels) for feature in encoder.features]
        return frame, encoder, rows, levels

    def test_training_rows_lie_where_there_is_support(self):
        _, _, rows, levels = self.make()
        support = JointSupport.of(rows, levels, [(0, 1), (0, 2)])
        for pair in [(0, 1), (1, 0), (0, 2), (2, 0)]:
            mask = support.mask(*pair, rows[:50], rows[:50])
            assert np.diag(mask).all()

    def test_empty_corners_have_none(self):
        frame, encoder, rows, levels = self.make()
        support = JointSupport.of(rows, levels, [(0, 1), (0, 2)])
        corner = frame.iloc[[0]].assign(x=0.02, y=0.98, city="Bonn")
        at = encoder.transform(corner)
        assert not support.mask(0, 1, at, at).any()
        assert not support.mask(0, 2, at, at).any()
        whole = support.cells[0, 1].mean()
        assert 0.05 < whole < 0.5

    def test_pairs_not_looked_at_are_not_known(self):
        _, _, rows, levels = self.make()
        support = JointSupport.of(rows, levels, [(0, 1)])
        assert support.mask(1, 2, rows[:2], rows[:2]) is None
        assert JointSupport.of(rows, levels, []).cells == {}
