"""Ranges: the paper's for every model, and those a user gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from spam_core.estimators import MODELS, make_model
from spam_core.search import SPACES, Choice, Range, make_space, parse_setting
from spam_core.search.space import label


def test_every_model_has_ranges_of_settings_that_it_has() -> None:
    assert set(SPACES) == set(MODELS)
    rng = np.random.default_rng(0)
    for model, space in SPACES.items():
        for task in ("regression", "binary"):
            drawn = {name: setting.draw(rng) for name, setting in space.items()}
            assert (
                make_model(model, task, **drawn).get_params().items() >= drawn.items()
            )


def test_draws_cover_a_range_and_stay_within_it() -> None:
    rng = np.random.default_rng(0)
    logs = np.array([Range(1e-7, 100.0).draw(rng) for _ in range(2000)])
    assert 1e-7 <= logs.min() < 1e-6
    assert 10 < logs.max() <= 100
    assert 0.4 < (logs < 10**-2.5).mean() < 0.6  # half of the decades
    even = np.array([Range(0.0, 1.0, log=False).draw(rng) for _ in range(2000)])
    assert 0.45 < even.mean() < 0.55
    assert {Choice((1, "a", None)).draw(rng) for _ in range(100)} == {1, "a", None}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,2", (1, 2)),
        ("0.5", (0.5,)),
        ("relu, exu", ("relu", "exu")),
        ("smooth,null", ("smooth", None)),
        ("[64, 32],[128]", ([64, 32], [128])),
        ('"a,b",c', None),
    ],
)
def test_choices_are_read_as_written(text: str, values: tuple[object, ...]) -> None:
    found = parse_setting(text)
    assert isinstance(found, Choice)
    if values is not None:
        assert found.values == values
        again = parse_setting(",".join(label(value) for value in values))
        assert again == found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "got nothing"),
        ("1:1", "low < high, got 1:1"),
        ("2:1", "low < high, got 2:1"),
        ("0:1:log", "needs low > 0"),
        ("1:inf", "finite ends"),
        ("nan:1", "finite ends"),
        ("a:b", "Expected numbers in low:high"),
        ("1:2:square", "low:high:log"),
        ("1:2:log:3", "low:high:log"),
        ("3,3", "names a value twice"),
    ],
)
def test_bad_ranges_are_told(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_setting(text)


def test_an_empty_choice_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one value"):
        Choice(())


def test_unknown_names_are_told_with_the_choices() -> None:
    with pytest.raises(ValueError, match=r"no model 'gam'; choose from \['spam'"):
        make_space("gam")
    with pytest.raises(ValueError, match=r"no setting 'depth'; it has .*max_depth"):
        make_space("cart", {"depth": 3})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"order": Choice((2, 7))}, r"order must be an integer in 1\.\.4, got 7"),
        ({"order": 7}, r"order must be an integer in 1\.\.4, got 7"),
        ({"rank": Range(8.0, 64.0)}, "rank must be a positive integer"),
        ({"units": "tanh"}, "units must be"),
        ({"nonnegative": True}, "nonnegative"),  # with the spline map of all trials
    ],
)
def test_values_that_fit_no_trial_are_told(
    changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        make_space("spam", changes)


def test_values_that_fit_some_trials_are_kept() -> None:
    maps = {"feature_map": Choice(("spline", "linear")), "scaling": "minmax"}
    space = make_space("spam", {**maps, "nonnegative": Choice((True, False))})
    assert space["nonnegative"] == Choice((True, False))
    # a uniform draw is never the end that the model refuses
    make_space("xgboost", {"subsample": Range(0.0, 1.0, log=False)})


@pytest.mark.parametrize("name", SPACES)
def test_every_value_of_a_space_fits_some_trial(name: str) -> None:
    assert make_space(name, SPACES[name]) == SPACES[name]


def test_a_value_is_the_same_in_all_trials() -> None:
    space = make_space("spam", {"max_epochs": 3, "rank": Choice((4, 8))})
    assert space["max_epochs"] == Choice((3,))
    assert space["rank"] == Choice((4, 8))
    assert space["order"] == SPACES["spam"]["order"]
