"""Pair surfaces of all three kinds, and the interaction matrix."""

from __future__ import annotations

import html

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from spam_core import plots
from spam_core.explain.explanation import Surface
from tests.plots.fakes import ODD_NAMES, pair, terms_of


def test_two_numeric_features_are_a_map_blank_without_support() -> None:
    support = np.array([[True, False], [True, True], [False, True]])
    value = pair([1.0, 2.0, 3.0], [10.0, 20.0], support=support)
    figure = plots.surface(value, "age", "income", scale="price")
    (heatmap,) = figure.data
    assert_allclose(heatmap.x, value.x)
    assert_allclose(heatmap.y, value.y)
    assert_array_equal(heatmap.z, np.where(support, value.z, np.nan).T)
    assert (heatmap.zmin, heatmap.zmid, heatmap.zmax) == (-2.0, 0.0, 2.0)
    assert figure.layout.xaxis.title.text == "age"
    assert figure.layout.yaxis.title.text == "income"
    assert heatmap.colorbar.title.text == "adds to price"
    assert "Blank where there are no training rows" in plots.alt_text(figure)
    frame = plots.table(figure)
    assert len(frame) == support.sum()
    assert frame.iloc[0].tolist() == [1.0, 10.0, -1.0]


@pytest.mark.parametrize("flip", [False, True])
def test_a_categorical_and_a_numeric_feature_are_one_line_per_level(flip) -> None:
    levels, numbers = np.array(["1", "2", "10"], dtype=object), np.arange(4.0)
    value = pair(levels, numbers) if flip else pair(numbers, levels)
    names = ("grade", "age") if flip else ("age", "grade")
    figure = plots.surface(value, *names, scale="price")
    assert [trace.name for trace in figure.data] == ["1", "2", "10"]
    for k, trace in enumerate(figure.data):
        assert_allclose(trace.x, numbers)
        assert_allclose(trace.y, value.z[k] if flip else value.z[:, k])
        lower = value.lower[k] if flip else value.lower[:, k]
        assert_allclose(np.array(trace.customdata)[:, 0], lower)
    assert figure.layout.xaxis.title.text == "age"
    assert figure.layout.yaxis.title.text == "adds to price"
    assert set(plots.table(figure)["grade"]) == {"1", "2", "10"}


def test_o19_two_categorical_features_are_a_grid_on_categorical_axes() -> None:
    value = pair(
        np.array(["1", "2", "10"], dtype=object),
        np.array(["2024-01", "2024-02"], dtype=object),
    )
    figure = plots.surface(value, "grade", "month", scale="price")
    (heatmap,) = figure.data
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "category"
    assert figure.layout.xaxis.categoryarray == ("1", "2", "10")
    assert figure.layout.yaxis.categoryarray == ("2024-01", "2024-02")
    assert_allclose(np.array(heatmap.z, dtype=float), value.z.T)
    frame = plots.table(figure)
    assert frame.loc[0, ["grade", "month"]].tolist() == ["1", "2024-01"]


def test_o01_missing_and_special_levels_of_numbers_are_strips_of_their_own() -> None:
    value = Surface(
        names=("age", "income"),
        x_kind="numeric",
        y_kind="numeric",
        x=np.array([1.0, 2.0, 3.0]),
        y=np.array([10.0, 20.0]),
        z=np.zeros((3, 2)),
        missing_x={"-9": np.array([0.1, 0.2]), "missing": np.array([0.3, 4.0])},
        missing_y={"missing": np.array([0.5, 0.6, 0.7])},
    )
    figure = plots.surface(value, scale="price")
    assert figure.layout.title.text == "age × income"
    _, right, below = figure.data
    assert right.x == ("-9", "missing")
    assert_allclose(np.array(right.z, dtype=float), [[0.1, 0.3], [0.2, 4.0]])
    assert below.y == ("missing",)
    assert_allclose(np.array(below.z, dtype=float), [[0.5, 0.6, 0.7]])
    assert figure.layout.xaxis2.type == figure.layout.yaxis3.type == "category"
    assert {trace.zmax for trace in figure.data} == {4.0}  # one scale for all
    frame = plots.table(figure)
    assert len(frame) == 6 + 4 + 3
    found = frame[(frame["age"] == "missing") & (frame["income"] == 20.0)]
    assert_allclose(found["adds to price"], [4.0])


def test_o13_pairs_open_on_the_bulk_too() -> None:
    wild = pair([1.0, 2.0, 1e8], [10.0, 20.0])
    figure = plots.surface(wild, "age", "income", bulk=((1.0, 2.0), None))
    assert_allclose(figure.layout.xaxis.range, [0.98, 2.02])
    assert_allclose(figure.layout.yaxis.range, [10.0, 20.0])
    lines = pair([1.0, 2.0, 1e8], np.array(["a", "b"], dtype=object))
    lines.z = np.array([[0.0, 0.5], [0.0, -0.5], [1e6, 1e6]])
    figure = plots.surface(lines, "age", "town", bulk=((1.0, 2.0), None))
    assert_allclose(figure.layout.xaxis.range, [0.98, 2.02])
    assert figure.layout.yaxis.range[1] < 1


@pytest.mark.parametrize("flip", [False, True])
def test_o01_missing_numbers_are_points_beside_the_lines(flip) -> None:
    levels, numbers = np.array(["a", "b"], dtype=object), np.array([1.0, 2.0, 3.0])
    value = pair(levels, numbers) if flip else pair(numbers, levels)
    beside = {"missing": np.array([0.5, -0.5])}
    setattr(value, "missing_y" if flip else "missing_x", beside)
    figure = plots.surface(value, *(("town", "age") if flip else ("age", "town")))
    points = [trace for trace in figure.data if trace.mode == "markers"]
    assert [trace.x for trace in points] == [("missing",), ("missing",)]
    assert_allclose([trace.y[0] for trace in points], [0.5, -0.5])
    assert figure.layout.xaxis2.type == "category"
    frame = plots.table(figure)
    assert frame.loc[frame["age"] == "missing", "town"].tolist() == ["a", "b"]


def test_one_class_of_several_is_drawn_and_must_be_named() -> None:
    z = np.arange(12.0).reshape(2, 2, 3)
    value = pair([1.0, 2.0], [1.0, 2.0], z=z, lower=z, upper=z)
    figure = plots.surface(
        value, "a", "b", scale="centred logit", classes=["x", "y", "z"], class_="y"
    )
    assert_allclose(np.array(figure.data[0].z, dtype=float), z[..., 1].T)
    assert figure.data[0].colorbar.title.text == "adds to the centred logit of y"
    with pytest.raises(ValueError, match=r"must be one of \['x', 'y', 'z'\], got None"):
        plots.surface(value, "a", "b", classes=["x", "y", "z"])


@pytest.mark.parametrize("name", ODD_NAMES)
def test_o05_names_and_levels_of_pairs_are_shown_literally(name: str) -> None:
    value = pair(
        np.array([name, "b"], dtype=object), np.array(["c", "d"], dtype=object)
    )
    figure = plots.surface(value, name, "other")
    assert html.unescape(figure.layout.xaxis.title.text) == name
    assert html.unescape(figure.data[0].x[0]) == name
    assert plots.table(figure)[name].iloc[0] == name


def test_the_matrix_is_symmetric_and_keeps_training_order() -> None:
    terms = terms_of(("b", "a", "c"))
    figure = plots.matrix(terms)
    (heatmap,) = figure.data
    # three singles come first: the pairs b-a, b-c, a-c have sizes 4, 5, 6
    expected = [[np.nan, 4, 5], [4, np.nan, 6], [5, 6, np.nan]]
    assert_array_equal(np.asarray(heatmap.z), expected)
    assert heatmap.x == heatmap.y == ("b", "a", "c")
    assert heatmap.zmin == 0.0
    assert heatmap.zmax == 6.0
    assert plots.alt_text(figure).endswith("Largest: a × c, 6.")
    assert len(plots.table(figure)) == 6


def test_the_matrix_shows_the_diagonal_sd_order_and_class_asked_for() -> None:
    terms = terms_of(("b", "a"), classes=["no", "yes"])
    figure = plots.matrix(
        terms, measure="sd", class_="yes", features=["a", "b"], diagonal=True
    )
    # importance of class yes is 2, 4, 6; sd is twice that; the order is turned round
    assert_allclose(np.asarray(figure.data[0].z), [[8, 12], [12, 4]])
    mean = plots.matrix(terms, diagonal=True)
    assert_allclose(np.asarray(mean.data[0].z), [[1.5, 5.5], [5.5, 3.5]])
    with pytest.raises(ValueError, match=r"features must be among \['b', 'a'\]"):
        plots.matrix(terms, features=["a", "nope"])
    with pytest.raises(ValueError, match="measure must be 'importance' or 'sd'"):
        plots.matrix(terms, measure="size")


def test_a_model_without_pairs_says_so() -> None:
    terms = terms_of(("a", "b"))
    terms.terms, terms.importance = terms.terms[:2], terms.importance[:2]
    assert "no pair terms" in plots.alt_text(plots.matrix(terms))


def test_cells_can_be_clicked() -> None:
    terms = terms_of(("<b>a</b>", "b", "c"))
    _, markers = plots.matrix(terms, clickable=True).data
    assert len(markers.x) == 6
    names = {tuple(map(html.unescape, cell[:2])) for cell in markers.customdata}
    assert ("<b>a</b>", "c") in names
    assert ("c", "<b>a</b>") in names
    names_200 = tuple(f"f{k}" for k in range(50))
    assert len(plots.matrix(terms_of(names_200), clickable=True).data) == 1


def test_the_matrix_of_200_features_stays_within_bounds() -> None:
    names = tuple(f"feature number {k}" for k in range(200))
    figure = plots.matrix(terms_of(names))
    assert figure.layout.height <= 900
    assert len(set(figure.data[0].x)) == 200


def test_o05_the_matrix_shows_names_literally() -> None:
    figure = plots.matrix(terms_of(ODD_NAMES))
    assert [html.unescape(label) for label in figure.data[0].x] == list(ODD_NAMES)
    assert set(plots.table(figure)["feature"]) == set(ODD_NAMES)
