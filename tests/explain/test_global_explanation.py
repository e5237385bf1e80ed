"""The value object of a whole model: what it refuses, ranks and draws."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from spam_core.explain.explanation import GlobalExplanation
from spam_core.explain.shapes import Curve, Surface
from tests.explain.test_contract import example
from tests.explain.test_explanation import small


class FakeShapes:
    """Shapes that say which were asked for."""

    def curve(self, feature):
        x = np.array([1.0, 2.0])
        return Curve(f"column {feature}", "numeric", x, x * feature)

    def surface(self, first, second):
        x = np.array([1.0, 2.0, 3.0])
        z = np.full((3, 3), 10.0 * first + second)
        return Surface((f"{first}", f"{second}"), "numeric", "numeric", x, x, z)


def overall(**changes):
    made = {
        "terms": (("a",), ("b",), ("c",), ("a", "b"), ("a", "b", "c")),
        "importance": [0.1, 0.5, 0.0, 0.3, 0.2],
        "sd": [0.2, 0.6, 0.0, 0.4, 0.3],
        "base": 1.5,
        "feature_names": ("a", "b", "c"),
        "feature_kinds": ("numeric", "categorical", "constant"),
        "source": FakeShapes(),
        "scale": "price",
    }
    return GlobalExplanation(**(made | changes))


class TestGlobal:
    def test_the_frame_is_ranked(self):
        frame = overall().to_frame()
        assert frame["term"].tolist() == ["b", "a × b", "a × b × c", "a", "c"]
        assert frame["n_features"].tolist() == [1, 2, 3, 1, 1]
        assert frame["sd"].tolist() == [0.6, 0.4, 0.3, 0.2, 0.0]

    def test_the_frame_of_several_classes_names_them(self):
        two = np.array([[0.1, 0.2], [0.5, 0.0], [0, 0], [0.3, 0.9], [0.2, 0.1]])
        explanation = overall(
            importance=two, sd=two, base=[1.0, 2.0], classes=("x", "y")
        )
        frame = explanation.to_frame()
        assert len(frame) == 10
        assert frame.iloc[0][["class", "term"]].tolist() == ["y", "a × b"]

    def test_features_go_by_name_or_position(self):
        explanation = overall()
        assert explanation.curve("b").name == explanation.curve(1).name == "column 1"
        assert explanation.curve(np.int64(1)).name == "column 1"
        assert explanation.surface("c", 0).z[0, 0] == 20.0

    @pytest.mark.parametrize("wrong", ["d", 3, -1, True])
    def test_features_that_do_not_exist_are_refused(self, wrong):
        with pytest.raises(ValueError, match="feature must be"):
            overall().curve(wrong)

    def test_a_pair_needs_two_columns(self):
        with pytest.raises(ValueError, match="needs two columns, got 'a' twice"):
            overall().surface("a", "a")
        with pytest.raises(ValueError, match="needs two columns"):
            overall().surface("a", 0)

    def test_shapes_must_agree(self):
        with pytest.raises(
            ValueError, match=r"Expected sd of shape \(5,\), got \(4,\)"
        ):
            overall(sd=[1.0] * 4)

    def test_arrays_are_read_only(self):
        explanation = overall()
        curve, surface = explanation.curve(1), explanation.surface(0, 1)
        arrays = [explanation.importance, explanation.sd, curve.x, curve.y, surface.z]
        assert not any(array.flags.writeable for array in arrays)
        with pytest.raises(dataclasses.FrozenInstanceError):
            explanation.scale = "other"  # type: ignore[misc]

    def test_interpret_reads_importance_curves_and_pairs(self):
        explanation = overall()
        assert explanation.explanation_type == "global"
        assert explanation.data()["scores"] == [0.1, 0.5, 0.0, 0.3, 0.2]
        assert explanation.data(1)["names"] == [1.0, 2.0]
        assert explanation.data(1)["scores_range"] == (1.0, 2.0)
        pair = explanation.data(3)
        assert pair["type"] == "interaction"
        assert np.shape(pair["scores"]) == (3, 3)
        assert explanation.data(4) is None
        assert len(explanation.data(-1)["specific"]) == 5
        with pytest.raises(ValueError, match=r"key must be a term in 0\.\.4"):
            explanation.data(5)
        selector = explanation.selector
        assert selector["Name"].tolist() == list(explanation.term_names)
        assert selector["Type"].tolist()[1:4] == [
            "categorical",
            "constant",
            "interaction",
        ]


class TestDrawing:
    """visualize() hands the right values to plots, which have tests of their own."""

    def test_a_row_is_a_ledger(self):
        figure = small().visualize(0)
        assert figure.data[0].type == "waterfall"
        assert figure.data[0].x[0] == 1.0
        assert figure.data[0].x[-1] == 0.875

    def test_all_rows_are_their_mean_sizes(self):
        explanation = example()
        figure = explanation.visualize()
        largest = np.abs(explanation.values).mean(axis=0).max()
        assert figure.data[0].x[0] == pytest.approx(largest)

    def test_terms_are_curves_and_surfaces(self):
        explanation = overall()
        assert explanation.visualize().data[0].type == "bar"
        assert "scatter" in {trace.type for trace in explanation.visualize(1).data}
        assert explanation.visualize(3).data[0].type == "heatmap"
        assert explanation.visualize(4) is None

    @pytest.mark.parametrize("n_classes", [2, 3, 12])
    def test_of_several_classes_one_is_drawn_where_there_must_be_one(self, n_classes):
        several = () if n_classes == 2 else (n_classes,)

        class Shapes(FakeShapes):
            def curve(self, feature):
                x = np.array([1.0, 2.0])
                return Curve("a", "numeric", x, np.ones((2, *several)))

            def surface(self, first, second):
                x = np.array([1.0, 2.0, 3.0])
                z = np.ones((3, 3, *several))
                return Surface(("a", "b"), "numeric", "numeric", x, x, z)

        sizes = np.ones((5, *several))
        explanation = overall(
            importance=sizes,
            sd=sizes,
            base=np.ones(several),
            classes=tuple(range(n_classes)),
            source=Shapes(),
        )
        for key in (None, 0, 3):
            assert explanation.visualize(key) is not None

    def test_interpret_shows_it(self):
        """What interpret.show does with an explanation, short of a browser."""
        from interpret.visual._inline import _build_viz_obj

        for explanation in (small(), overall()):
            shown = _build_viz_obj(explanation, [])
            assert shown["overall"]["type"] == "plotly"
            assert len(shown["specific"]) == len(explanation.selector)
            key = explanation.selector.iloc[0, 0]
            assert SimpleNamespace(**shown).selector["data"][0]
            assert isinstance(key, str)
