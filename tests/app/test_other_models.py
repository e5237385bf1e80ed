"""Every model of the registry can be trained and looked at; what one lacks is said."""

from __future__ import annotations

import time

import pytest
from conftest import ROOT
from streamlit.testing.v1 import AppTest

from spam_core.explain import CostEstimate
from tests.app.helpers import (
    TIMEOUT,
    VIEWS,
    bring,
    charts,
    open_app,
    texts,
    train,
    use,
    wait_until_trained,
)
from ui import analysis, kinds

FILE = (
    "a,b,c,y\n"
    + "".join(
        f"{i % 9}.5,{'xyz'[i % 3]},{i % 4},{'yes' if (i * 7) % 10 < 5 else 'no'}\n"
        for i in range(80)
    )
).encode()
GLASS = tuple(filter(kinds.glass_box, kinds.NAMES))
ORDER_1 = ("linear", "nam", "ebm")
TERMS = ("overview.py", "shapes.py", "interactions.py", "spectrum.py", "explain.py")
BLACK = ("dnn", "xgboost", "cart")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine must not make the page Compare ask first."""
    monkeypatch.setattr(analysis, "cost", lambda *_: CostEstimate(1000, 0.1))


def choose(at: AppTest, name: str, view: str) -> None:
    at.switch_page(f"views/{view}").run()
    at.selectbox(key="model").select(name).run()
    assert not at.exception, (name, view)
    assert not at.error, (name, view)


@pytest.mark.slow
def test_every_model_shows_what_it_can_on_every_page() -> None:
    at = bring("file.csv", FILE)
    use(at, "y")
    train(at, models=[*GLASS, *BLACK])
    assert set(at.selectbox(key="model").options) == {
        kinds.heading(name) for name in (*GLASS, *BLACK)
    }
    for name in GLASS:
        for view in TERMS:
            choose(at, name, view)
            silent = {
                "interactions.py": name in ORDER_1,
                "spectrum.py": name in ORDER_1 or not kinds.polynomial(name),
            }.get(view, False)
            assert bool(charts(at)) != silent, (name, view)
            if silent:
                assert at.info[0].value
    choose(at, "ebm-2", "compare.py")
    panels = [trace["name"] for trace in charts(at)[0]["data"]]
    assert panels == ["EB²M, exact", "LIME of EB²M", "KernelSHAP of EB²M"]
    assert "truth is known" in texts(at)
    at.segmented_control(key="view").set_value("raw").run()
    assert "tables as they were trained" in texts(at)
    at.segmented_control(key="compare_unit").set_value("term").run()
    assert not at.exception
    assert "the constant that its tables are added to" in texts(at)
    for name in BLACK:
        for view in TERMS:
            choose(at, name, view)
            assert "is no glass box" in at.info[0].value
            assert not charts(at)
    for view in set(VIEWS) - set(TERMS):
        choose(at, "xgboost", view)
        assert charts(at)
    at.switch_page("views/shapes.py").run()
    at.button(key="show_spam").click().run()
    assert at.selectbox(key="model").value == "spam"
    assert charts(at)


def test_a_black_box_alone_is_still_of_use() -> None:
    at = bring("file.csv", FILE)
    use(at, "y")
    train(at, models=["cart"])
    assert [metric.label for metric in at.metric] == ["CART: AUC on the test rows"]
    for view in VIEWS:
        at.switch_page(f"views/{view}").run()
        assert not at.exception
        assert not at.error
    at.switch_page("views/compare.py").run()
    panels = [trace["name"] for trace in charts(at)[0]["data"]]
    assert panels == ["LIME of CART", "KernelSHAP of CART"]
    assert not [b for b in at.button if b.key == "show_spam"]


def test_one_member_has_no_band_and_says_so() -> None:
    at = bring("file.csv", FILE)
    use(at, "y")
    train(at, models=["spam"], members=1)
    at.switch_page("views/shapes.py").run()
    assert "one member, so there is no band" in texts(at)
    assert "spread of the ensemble" in texts(open_app("wine", "shapes.py"))


def test_a_link_opens_another_model() -> None:
    open_app("wine")  # trained once, as by an earlier visitor
    at = AppTest.from_file(str(ROOT / "app" / "main.py"), default_timeout=TIMEOUT)
    at.query_params["dataset"] = "Wine cultivars"
    at.query_params["model"] = "Neural network"
    at.run()
    assert not at.exception
    assert at.selectbox(key="model").value == "dnn"
    assert at.metric[0].label == "Neural network: Accuracy"


def test_nothing_chosen_can_not_be_trained() -> None:
    at = open_app("wine", "train.py")
    at.multiselect(key="train_models").set_value([]).run()
    assert not at.exception
    assert at.button(key="start").disabled


def test_a_model_that_tells_nothing_is_shown_as_such_and_can_be_cancelled() -> None:
    at = open_app("gapminder", "train.py")
    at.multiselect(key="train_models").set_value(["ebm-2"]).run()
    at.button(key="start").click().run()
    deadline = time.monotonic() + 60
    while not at.get("status"):
        assert time.monotonic() < deadline
        time.sleep(0.1)
        at.run()
    told = [part.label for part in at.status]
    assert all("does not tell how far it is" in label for label in told)
    (training,) = at.session_state["workspace"].trainings["gapminder"]
    at.button(key="cancel").click().run()
    assert training.run.state == "cancelled"
    assert training.run._process.poll() is not None
    wait_until_trained(at)
    assert not at.exception
    assert "kept" in at.warning[0].value


@pytest.mark.parametrize("name", kinds.NAMES)
def test_the_settings_of_a_model_are_its_own(name) -> None:
    spam = {"order": 3, "rank": 7, "feature_map": "spline", "n_members": 2}
    params = kinds.parameters(name, 5, spam, {"max_epochs": 9, "learning_rate": 0.1})
    model = kinds.make_model(name, "binary", **params)
    assert model.random_state == 5
    usual = kinds.make_model(name, "binary")
    for key, value in kinds.MODELS[name].parameters.items():
        assert model.get_params()[key] == value  # what makes it what it is
    if not kinds.spam_family(name):
        assert not {"rank", "order", "n_members"} & set(params)
    if not kinds.tells_progress(name):
        assert model.get_params() == usual.set_params(random_state=5).get_params()
