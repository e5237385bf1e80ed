"""Shape plots: the numbers in the traces are those of the curve."""

from __future__ import annotations

import html

import numpy as np
import pytest
from numpy.testing import assert_allclose

from spam_core import plots
from tests.plots.fakes import ODD_NAMES, level_curve, numeric_curve


def by_name(figure, name):
    (trace,) = [t for t in figure.data if t.name == name]
    return trace


def test_a_numeric_shape_draws_curve_band_points_and_density() -> None:
    curve = numeric_curve()
    figure = plots.shape(curve, "age", scale="logit of yes")
    line = by_name(figure, "age")
    assert_allclose(line.x, curve.x)
    assert_allclose(line.y, curve.y)
    assert_allclose(by_name(figure, "lowest member").y, curve.lower)
    assert_allclose(by_name(figure, "spread of the members").y, curve.upper)
    assert by_name(figure, "spread of the members").fill == "tonexty"
    points = by_name(figure, "missing, special or never seen")
    assert points.x == ("missing", "-9", "never seen")
    assert_allclose(points.y, [0.4, -0.2, 0.0])
    assert_allclose(points.error_y.array, [0.2, 0.1, 0.0])
    assert_allclose(points.error_y.arrayminus, [0.1, 0.1, 0.0])
    rows = by_name(figure, "training rows")
    assert_allclose(rows.y, curve.density[1])
    assert_allclose(rows.x, np.arange(10) + 0.5)


def test_levels_that_look_like_numbers_are_on_a_categorical_axis() -> None:
    figure = plots.shape(numeric_curve(), "age", scale="logit of yes")
    assert figure.layout.xaxis2.type == "category"
    assert figure.layout.xaxis2.categoryarray == ("missing", "-9", "never seen")


def test_axes_name_feature_and_scale() -> None:
    figure = plots.shape(numeric_curve(), "age", scale="logit of yes")
    assert figure.layout.xaxis3.title.text == "age"
    assert figure.layout.yaxis.title.text == "adds to the logit of yes"


def test_o13_the_plot_opens_on_the_bulk_and_says_what_lies_outside() -> None:
    x = np.append(np.linspace(0.0, 10.0, 20), 1e8)
    wild = np.append(np.linspace(-1.0, 1.0, 20), 1e6)
    curve = numeric_curve(
        x=x, y=wild, lower=wild, upper=wild, bulk=(0.0, 10.0), n_outside=3
    )
    figure = plots.shape(curve, "age")
    assert_allclose(figure.layout.xaxis.range, [-0.2, 10.2])
    assert figure.layout.xaxis3.range == figure.layout.xaxis.range
    # what lies outside must not squash the rest of the curve either
    assert figure.layout.yaxis.range[1] < 2
    assert figure.layout.yaxis2.range == figure.layout.yaxis.range
    note = "3 training rows lie outside the range shown"
    assert figure.layout.title.subtitle.text.startswith(note)
    assert note in plots.alt_text(figure)
    # and yet it is there, for those who zoom out
    assert by_name(figure, "age").x[-1] == 1e8


def test_nothing_is_said_when_all_rows_are_shown() -> None:
    for curve in (numeric_curve(), numeric_curve(bulk=(0.0, 10.0), n_outside=0)):
        assert plots.shape(curve, "age").layout.title.subtitle.text == ""


def test_dates_are_on_a_date_axis() -> None:
    days = np.array(["2024-01-01", "2024-06-01", "2024-12-31"], dtype="datetime64[s]")
    curve = numeric_curve(
        x=days,
        y=np.array([0.0, 1.0, -1.0]),
        lower=None,
        upper=None,
        density=(days, np.array([3, 4])),
        bulk=(days[0], days[2]),
        missing={},
    )
    figure = plots.shape(curve, "when", scale="price")
    assert "from -1 at 2024-12-31 to +1 at 2024-06-01" in plots.alt_text(figure)
    assert figure.layout.xaxis.range[0].startswith("2023-12")
    curve.bulk = (19723.0, 20088.0)  # days since 1970 mean the same
    again = plots.shape(curve, "when").layout.xaxis.range
    assert [end[:10] for end in again] == [
        end[:10] for end in figure.layout.xaxis.range
    ]
    rows = by_name(figure, "training rows")
    assert rows.customdata[0] == ["2024-01-01", "2024-06-01"]
    assert_allclose(rows.width[0], 152 * 86_400_000)
    assert figure.to_json()


def test_o19_levels_are_bars_in_the_order_given() -> None:
    levels = ("1", "2", "10", "2024-01", "missing")
    curve = level_curve(levels)
    figure = plots.shape(curve, "grade", scale="price")
    bars = by_name(figure, "grade")
    assert bars.x == levels
    assert_allclose(bars.y, curve.y)
    assert_allclose(bars.error_y.array, np.full(5, 0.1))
    assert figure.layout.xaxis.type == "category"
    assert figure.layout.xaxis.categoryarray == levels
    assert bars.marker.pattern.shape == ("", "", "", "", "/")
    assert_allclose(by_name(figure, "training rows").y, [1, 2, 3, 4, 5])


def test_several_classes_are_one_line_each_or_the_one_asked_for() -> None:
    y = np.stack([np.arange(21.0), -np.arange(21.0), np.zeros(21)], axis=1)
    missing = {"missing": (np.array([1.0, 2.0, 3.0]),) * 3}
    curve = numeric_curve(y=y, lower=y, upper=y, missing=missing)
    every = plots.shape(curve, "age", scale="centred logit", classes=["a", "b", 3])
    assert_allclose(by_name(every, "b").y, y[:, 1])
    assert every.layout.showlegend
    one = plots.shape(
        curve, "age", scale="centred logit", classes=["a", "b", 3], class_=3
    )
    assert_allclose(by_name(one, "3").y, y[:, 2])
    assert one.layout.yaxis.title.text == "adds to the centred logit of 3"
    assert_allclose(by_name(one, "missing, special or never seen").y, [3.0, 0.0])
    with pytest.raises(ValueError, match=r"class_ must be one of \['a', 'b', 3\]"):
        plots.shape(curve, "age", classes=["a", "b", 3], class_="z")


def test_many_classes_need_a_choice() -> None:
    y = np.zeros((21, 9))
    curve = numeric_curve(y=y, lower=None, upper=None, missing={})
    with pytest.raises(ValueError, match="to draw one of 9 classes, got None"):
        plots.shape(curve, "age")


@pytest.mark.parametrize("name", ODD_NAMES)
def test_o05_names_and_levels_are_shown_literally(name: str) -> None:
    figure = plots.shape(level_curve((name, "other")), name)
    assert html.unescape(figure.layout.title.text) == name
    assert html.unescape(figure.layout.xaxis2.title.text) == name
    assert html.unescape(figure.data[0].x[0]) == name
    assert figure.data[0].x[0] == figure.layout.xaxis.categoryarray[0]
    assert plots.table(figure)[name].tolist() == [name, "other"]
    assert name in plots.alt_text(figure)


def test_o19_equal_shapes_make_equal_but_separate_figures() -> None:
    flat = numeric_curve(y=np.zeros(21), lower=None, upper=None, missing={})
    figures = [plots.shape(flat, name) for name in ("a", "b", "c")]
    assert len({figure.layout.title.text for figure in figures}) == 3
    for figure in figures:
        assert_allclose(figure.data[0].y, np.zeros(21))


def test_o03_a_constant_feature_has_a_note() -> None:
    curve = numeric_curve(
        x=np.empty(0), y=np.empty(0), lower=None, upper=None, density=None, missing={}
    )
    figure = plots.shape(curve, "c", scale="price")
    assert "constant in training" in figure.layout.annotations[0].text
    assert plots.alt_text(figure) == "c did not vary in training: it adds 0 to price."


def test_the_table_holds_what_is_drawn() -> None:
    curve = numeric_curve()
    frame = plots.table(plots.shape(curve, "age", scale="price"))
    assert list(frame) == [
        "age",
        "adds to price",
        "lowest member",
        "highest member",
    ]
    assert frame["age"].tolist() == [*curve.x, "missing", "-9", "never seen"]
    assert_allclose(frame["adds to price"], [*curve.y, 0.4, -0.2, 0.0])
    assert_allclose(frame["highest member"], [*curve.upper, 0.6, -0.1, 0.0])


def test_a_global_explanation_can_be_given_whole() -> None:
    class Explanation:
        scale = "logit of yes"
        classes = None
        feature_names = ("age", "income")

        def curve(self, feature):
            assert feature == 1
            return numeric_curve()

    figure = plots.shape(Explanation(), 1)
    assert figure.layout.title.text == "income"
    assert figure.layout.yaxis.title.text == "adds to the logit of yes"
    with pytest.raises(ValueError, match="feature must name a column"):
        plots.shape(Explanation())
