"""The page Compare shows what the methods say, and what can be known of them."""

from __future__ import annotations

import re

import pytest
from numpy.testing import assert_allclose

from spam_core import load_dataset
from spam_core.explain import CostEstimate
from tests.app.helpers import DATASETS, ONE_QUICK, charts, open_app, texts
from ui import analysis, comparing, compute

TITLES = ["SPAM, exact", "LIME of SPAM", "KernelSHAP of SPAM"]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine must not make the page ask first."""
    monkeypatch.setattr(analysis, "cost", lambda *_: CostEstimate(1000, 0.1))


def panels(at) -> dict[str, dict[str, float]]:
    """Lines of each panel by name."""
    return {
        trace["name"]: {
            row[0]: amount
            for row, amount in zip(trace["customdata"], trace["x"], strict=True)
        }
        for trace in charts(at)[0]["data"]
    }


def found(dataset: str, row: int = 1, network: bool = False):
    """Return the comparison that the page has drawn."""
    table = load_dataset(dataset)
    label = table.classes[0] if table.task == "multiclass" else None
    models = [("SPAM", compute.model(dataset).path)]
    if network:
        models.append(("the neural network", compute.model(dataset, "dnn").path))
    return analysis.comparison(
        tuple(models),
        dataset,
        int(table.splits["test"][row - 1]),
        label,
    ), label


def measured(comparison, model: str, method: str, measure: str) -> float:
    means = comparison.summary().set_index(["model", "method", "measure"])["mean"]
    return float(means[model, method, measure])


@pytest.mark.parametrize("dataset", ONE_QUICK)
def test_the_panels_are_the_librarys_numbers(dataset) -> None:
    at = open_app(dataset, "compare.py")
    at.number_input(key="row").set_value(2).run()
    assert not at.exception
    comparison, label = found(dataset, row=2)
    methods = ("exact Shapley", "LIME", "KernelSHAP")
    shown = panels(at)
    assert list(shown) == TITLES
    wanted = [
        comparison.explanations["SPAM", method]
        .ledger(0, E=99, unit="feature", class_=label)
        .set_index("term")["contribution"]
        for method in methods
    ]
    largest = wanted[0][:-2].abs().nlargest(7).index
    for lines, values in zip(shown.values(), wanted, strict=True):
        names = [name for name in lines if name in values.index]
        assert names[:7] == list(largest)
        assert_allclose([lines[n] for n in names], values[names], rtol=1e-6)
        total = values["base"] + sum(lines.values())
        assert_allclose(total, values["score"], atol=1e-6)
    # the same background, so the same base
    assert_allclose(wanted[0]["base"], wanted[2]["base"], atol=1e-6)
    for method in methods[1:]:
        off = measured(comparison, "SPAM", method, "error")
        words = f"{100 * off:.1f} %" if off >= 0.001 else "less than 0.1 %"
        assert f"{method} is off by **{words}**" in texts(at)


@pytest.mark.parametrize("dataset", DATASETS)
def test_the_sentence_and_the_charts_are_the_tables_numbers(dataset) -> None:
    at = open_app(dataset, "compare.py")
    at.slider(key="E").set_value(2).run()
    assert not at.exception
    comparison = found(dataset)[0].at(E=2)
    (frame,) = [
        f.value
        for f in at.dataframe
        if "fidelity R2" in getattr(f.value, "columns", ())
    ]
    assert list(frame["method"]) == [method for _, method in comparison.explanations]
    assert_allclose(
        frame["same E over seeds"],
        [
            measured(comparison, "SPAM", method, "stability_jaccard")
            for method in frame["method"]
        ],
    )
    same = measured(comparison, "SPAM", "LIME", "agreement_jaccard")
    again = measured(comparison, "SPAM", "exact Shapley", "stability_jaccard")
    assert f"**LIME**: {100 * same:.1f} % of the 2 largest" in texts(at)
    assert f"**SPAM's own columns**: {100 * again:.1f} % stay" in texts(at)
    panel, agreement, removal, fidelity, budget = charts(at)
    assert [line["name"] for line in panel["data"]] == TITLES
    assert max(v for line in agreement["data"][0]["z"] for v in line if v) <= 1.0
    assert fidelity["layout"]["shapes"][0]["x0"] == 2
    means = comparison.fidelity
    lime = means[means["method"] == "LIME"]["mean"]
    (drawn,) = [t for t in fidelity["data"] if t["name"] == "LIME"]
    assert_allclose(drawn["y"], lime)
    assert {t["name"] for t in removal["data"]} > {"LIME", "random order"}
    assert budget["data"][-1]["name"] == "exact"


def test_the_length_cuts_every_panel() -> None:
    at = open_app("breast_cancer", "compare.py")
    at.slider(key="E").set_value(2).run()
    assert not at.exception
    lines = {name: list(panel) for name, panel in panels(at).items()}
    assert len({tuple(names[:2]) for names in lines.values()}) == 1
    assert [len(names) for names in lines.values()] == [3, 4, 3]
    assert lines["LIME of SPAM"][2:] == ["all others", "not explained"]


def test_each_panel_can_have_its_own_order() -> None:
    at = open_app("breast_cancer", "compare.py")
    at.segmented_control(key="compare_order").set_value("own").run()
    assert not at.exception
    for lines in panels(at).values():
        sizes = [abs(amount) for amount in list(lines.values())[:7]]
        assert sizes == sorted(sizes, reverse=True)


def test_of_a_network_of_many_columns_the_truth_is_not_known() -> None:
    at = open_app("breast_cancer", "compare.py")
    at.selectbox(key="model").select("dnn").run()
    assert not at.exception
    assert "truth is not known" in texts(at)
    assert "off by" not in texts(at)
    heads = [note["text"] for note in charts(at)[0]["layout"]["annotations"]][:3]
    assert "truth known" in heads[0]
    assert all("truth not known" in head for head in heads[1:])
    bases = {re.search(r"score (\S+?)<", head)[1] for head in heads}
    assert len(bases) == 2  # two models, two scores
    assert len(charts(at)) == 4  # without a truth there is no error to draw


def test_of_a_network_of_few_columns_every_combination_is_tried() -> None:
    at = open_app("gapminder", "compare.py")
    at.selectbox(key="model").select("dnn").run()
    assert not at.exception
    comparison, _ = found("gapminder", network=True)
    off = measured(comparison, "the neural network", "LIME", "error")
    said = texts(at)
    assert "every combination of them can be tried" in said
    assert f"LIME is off by **{100 * off:.1f} %**" in said
    heads = [note["text"] for note in charts(at)[0]["layout"]["annotations"]][:3]
    assert all("truth known" in head for head in heads)


@pytest.mark.parametrize("view", ["pure", "raw"])
def test_terms_have_their_pairs_and_their_view(view) -> None:
    at = open_app("gapminder", "compare.py")
    at.segmented_control(key="view").set_value(view).run()
    at.segmented_control(key="compare_unit").set_value("term").run()
    assert not at.exception
    own = list(panels(at)[f"SPAM, its {view} terms"])
    assert any("×" in name for name in own)
    assert not any("×" in name for name in panels(at)["LIME of SPAM"])
    said = {"pure": "independent of each other", "raw": "counts as zero"}[view]
    assert said in texts(at)


def test_another_class_is_another_comparison() -> None:
    at = open_app("wine", "compare.py")
    first = panels(at)
    at.selectbox(key="class").select("class_2").run()
    assert not at.exception
    assert panels(at) != first
    assert "class_2" in charts(at)[0]["layout"]["annotations"][-1]["text"]


def test_what_takes_long_is_asked_for_first(monkeypatch) -> None:
    slow = CostEstimate(123_456, 40.0)
    monkeypatch.setattr(analysis, "cost", lambda *_: slow)
    at = open_app("gapminder", "compare.py")
    assert "240 s" in at.info[0].value  # two methods, three seeds
    assert "740,736" in at.info[0].value
    assert list(panels(at)) == TITLES[:1]
    (button,) = [b for b in at.button if b.label == "Run LIME and KernelSHAP"]
    button.click().run()
    assert not at.exception
    assert list(panels(at)) == TITLES
    assert not at.info
    at.number_input(key="row").set_value(3).run()
    assert list(panels(at)) == TITLES[:1]


def test_what_a_method_refuses_is_said(monkeypatch) -> None:
    def refuse(*args, **kwargs):
        raise ImportError('LIME needs the package lime: pip install "x[lime]"')

    monkeypatch.setattr(comparing.analysis, "comparison", refuse)
    at = open_app("gapminder", "compare.py")
    assert not at.exception
    assert "LIME needs the package lime" in at.error[0].value
    assert list(panels(at)) == TITLES[:1]
