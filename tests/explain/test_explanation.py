"""Value objects: what they refuse, what they print, what other tools read."""

from __future__ import annotations

import copy
import dataclasses

import numpy as np
import pandas as pd
import pytest

from spam_core.explain.explanation import LocalExplanation
from tests.explain.test_contract import FRAME, example

ROWS = pd.DataFrame({"age": [41], "city": ["Ulm"], "income": [30_000.5]})


def small(**changes):
    made = {
        "values": [[0.5, -2.0, 0.25, 1.0, 0.125]],
        "base": [1.0],
        "score": [0.875],
        "terms": [("age",), ("city",), ("income",), ("age", "income"), ("…",)],
        "data": ROWS,
        "scale": "price",
        "n_left_out": 3,
    }
    return LocalExplanation(**(made | changes))


class TestConstruction:
    def test_values_that_do_not_add_up_are_refused(self):
        with pytest.raises(
            ValueError, match=r"give 0\.875 and the score is 1 \(1 of 1"
        ):
            small(score=[1.0])
        with pytest.raises(ValueError, match="must add up"):
            small(score=[np.nan])

    def test_the_tolerance_is_relative_above_one(self):
        small(values=[[1e6, 0, 0, 0, 0]], base=[0.0], score=[1e6 + 90])
        with pytest.raises(ValueError, match="must add up"):
            small(values=[[1e6, 0, 0, 0, 0]], base=[0.0], score=[1e6 + 110])
        with pytest.raises(ValueError, match="must add up"):
            small(score=[0.875 + 1.1e-4])

    @pytest.mark.parametrize(
        "changes",
        [
            {"values": [[0.5, -2.0]]},
            {"base": [1.0, 2.0]},
            {"score": [[0.875]]},
            {"interactions": np.zeros((1, 3, 2))},
            {"unknown": np.zeros((1, 2))},
            {"local_fit": np.zeros(2)},
            {"local_fit": np.zeros((1, 2))},
        ],
    )
    def test_shapes_that_disagree_are_refused(self, changes):
        name = next(iter(changes))
        with pytest.raises(ValueError, match=f"Expected {name} of shape"):
            small(**changes)

    def test_outputs_and_classes_must_agree(self):
        with pytest.raises(ValueError, match="for classes"):
            small(classes=("a", "b", "c"))
        with pytest.raises(ValueError, match="for classes None"):
            dataclasses.replace(example(("a", "b", "c")), classes=None)

    def test_terms_must_name_columns(self):
        terms = [("age",), ("town",), ("income",), ("age", "income"), ("…",)]
        with pytest.raises(ValueError, match="town"):
            small(terms=terms)
        with pytest.raises(ValueError, match="an earlier one"):
            small(terms=[("…",), *[("age",)] * 4])

    def test_callers_arrays_stay_theirs(self):
        values = np.array([[0.5, -2.0, 0.25, 1.0, 0.125]])
        explanation = small(values=values)
        values[0, 0] = 99.0
        assert explanation.values[0, 0] == 0.5
        assert values.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            explanation.values[0, 0] = 1.0

    def test_read_only_arrays_are_not_copied(self):
        values = np.array([[0.5, -2.0, 0.25, 1.0, 0.125]])
        values.flags.writeable = False
        assert small(values=values).values is values

    def test_copies_are_whole(self):
        explanation = small()
        assert copy.deepcopy(explanation) is explanation
        replaced = dataclasses.replace(explanation, scale="EUR")
        assert replaced.data(0)["names"] == explanation.data(0)["names"]
        assert replaced.scale == "EUR"


class TestLedger:
    def test_terms_by_size_then_the_others_then_base_and_score(self):
        ledger = small().ledger(0, E=2)
        assert ledger["term"].tolist() == [
            "city",
            "age × income",
            "the other 5 terms",
            "base",
            "score",
        ]
        assert ledger["value"].tolist() == ["Ulm", "41 × 30000.5", "", "", ""]
        assert ledger["contribution"].tolist() == [-2.0, 1.0, 0.875, 1.0, 0.875]
        assert ledger["total"].tolist() == [-2.0, -1.0, -0.125, 0.875, 0.875]
        assert ledger["kind"].tolist() == ["term", "term", "other", "base", "score"]
        assert ledger.attrs["scale"] == "price"

    def test_asking_for_more_than_there_is_gives_what_there_is(self):
        ledger = small().ledger(0, E=100)
        assert ledger["term"].tolist()[4:] == ["the other 3 terms", "base", "score"]
        everything = small(
            values=[[0.5, -2.0, 0.25, 1.125]],
            terms=[("age",), ("city",), ("income",), ("age", "income")],
            n_left_out=0,
        )
        assert everything.ledger(0, E=100)["kind"].tolist() == [
            *["term"] * 4,
            "base",
            "score",
        ]

    def test_by_feature_shares_pairs_equally(self):
        ledger = small().ledger(0, E=2, unit="feature")
        assert ledger["term"].tolist() == [
            "city",
            "age",
            "the other 1 feature",
            "3 terms that aren't listed",
            "base",
            "score",
        ]
        assert ledger["contribution"].tolist() == [-2.0, 1.0, 0.75, 0.125, 1.0, 0.875]

    def test_what_a_surrogate_fails_to_explain_has_its_own_line(self):
        ledger = small(n_left_out=0).ledger(0, E=10)
        assert ledger["term"].iloc[-3] == "not explained by these terms"
        assert ledger["contribution"].iloc[-3] == 0.125

    @pytest.mark.parametrize("E", [-1, 2.5, True, "3"])
    def test_a_length_that_makes_no_sense_is_refused(self, E):
        with pytest.raises(ValueError, match="E must be an integer >= 0"):
            small().ledger(0, E=E)

    def test_rows_units_and_classes_that_do_not_exist_are_refused(self):
        with pytest.raises(ValueError, match=r"row must be in 0\.\.0, got 1"):
            small().ledger(1)
        with pytest.raises(TypeError, match="integer position"):
            small().ledger("first")
        with pytest.raises(ValueError, match=r"unit must be one of \['term', 'feature"):
            small().ledger(0, unit="pair")
        with pytest.raises(ValueError, match="A regression has no classes"):
            small().ledger(0, class_="yes")
        message = r"class_ must be one of \['a', 'b', 'c'\], got 'd'"
        with pytest.raises(ValueError, match=message):
            example(("a", "b", "c")).ledger(0, class_="d")

    def test_the_first_of_two_classes_has_the_negative_logit(self):
        explanation = example(("no", "yes"), scale="logit of yes")
        yes = explanation.ledger(1)
        no = explanation.ledger(1, class_="no")
        assert yes.attrs["scale"] == "logit of yes"
        assert no.attrs["scale"] == "logit of no"
        np.testing.assert_array_equal(no["contribution"], -yes["contribution"])

    def test_of_several_classes_the_predicted_one_is_shown(self):
        explanation = example((1, 2, 3), scale="centred logit")
        best = int(explanation.score[2].argmax())
        ledger = explanation.ledger(2)
        assert ledger["contribution"].iloc[-1] == explanation.score[2, best]
        assert ledger.attrs["scale"] == f"centred logit of {best + 1}"
        # text from a command line or a URL
        other = explanation.ledger(2, class_="1")
        assert other["contribution"].iloc[-1] == explanation.score[2, 0]

    def test_missing_and_never_seen_cells_say_so(self):
        unknown = np.zeros((3, 3), dtype=bool)
        unknown[0, 1] = True
        explanation = example(unknown=unknown)
        shown = {}
        for row in range(3):
            ledger = explanation.ledger(row, E=10)
            shown[row] = dict(zip(ledger["term"], ledger["value"], strict=True))
        assert shown[0]["city"] == "Ulm (never seen)"
        assert shown[1]["city"] == "missing"
        assert shown[2]["age × x"] == "22 × missing"

    def test_a_row_counts_from_the_end_if_negative(self):
        explanation = example()
        pd.testing.assert_frame_equal(explanation.ledger(-1), explanation.ledger(2))


# shap 0.51 imports colour maps in a way that matplotlib 3.11 is about to deprecate
QUIET_SHAP = pytest.mark.filterwarnings(
    "ignore:The set_.* function will be deprecated:PendingDeprecationWarning"
)


class TestForOtherTools:
    @QUIET_SHAP
    def test_shap_gets_values_that_add_up(self):
        import shap

        explanation = example()
        made = explanation.to_shap()
        assert isinstance(made, shap.Explanation)
        total = made.base_values + made.values.sum(axis=1)
        np.testing.assert_allclose(total, explanation.score)
        assert made.feature_names == ["age", "city", "x"]
        # a pair goes half to each
        expected = explanation.values[:, 0] + explanation.values[:, 3] / 2
        np.testing.assert_allclose(made.values[:, 0], expected)
        assert made.display_data[0, 1] == "Ulm"
        assert made.data.dtype == np.float64

    @QUIET_SHAP
    def test_shap_gets_a_column_for_each_class(self):
        made = example(("a", "b", "c")).to_shap()
        assert made.values.shape == (3, 3, 3)
        assert list(made.output_names) == ["a", "b", "c"]

    def test_the_frame_has_a_line_for_each_row_and_class(self):
        explanation = example(("a", "b", "c"))
        table = explanation.to_frame()
        assert table.shape == (9, 7)
        line = table.loc[("second", "b")]
        assert line["(score)"] == explanation.score[1, 1]
        assert line["age × x"] == explanation.values[1, 3, 1]

    def test_a_frame_keeps_rows_apart_that_share_a_label(self):
        frame = FRAME.set_axis([7, 7, 7], axis=0)
        table = example(("a", "b", "c"), data=frame).to_frame()
        labels = table.index.get_level_values("class").tolist()
        assert labels == ["a", "b", "c"] * 3
        scores = example(("a", "b", "c")).score
        np.testing.assert_array_equal(table["(score)"], scores.ravel())

    def test_interpret_reads_the_perf_and_classes(self):
        layout = example(("no", "yes")).data(1)
        assert layout["perf"]["is_classification"]
        assert layout["meta"]["label_names"] == ["no", "yes"]
        assert layout["extra"]["names"] == ["Intercept"]

    def test_the_rows_stay_a_table(self):
        explanation = example()
        assert explanation.data["age"].tolist() == [41, 30, 22]
        assert type(explanation.data.iloc[:2]) is pd.DataFrame
