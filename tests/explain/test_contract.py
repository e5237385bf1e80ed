"""The contract accepts a right explanation, and each of its checks can fail."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

from spam_core.explain.explanation import LocalExplanation
from tests.explain import contract

FRAME = pd.DataFrame(
    {"age": [41, 30, 22], "city": ["Ulm", None, "Köln"], "x": [0.5, 1.5, np.nan]},
    index=["first", "second", "third"],
)
TERMS = (("age",), ("city",), ("x",), ("age", "x"), ("…",))


def example(classes=None, seed=0, **changes):
    """A right explanation with all fields set."""
    rng = np.random.default_rng(seed)
    several = () if classes is None or len(classes) == 2 else (len(classes),)
    values = rng.normal(size=(3, len(TERMS), *several))
    base = rng.normal(size=(3, *several))
    made = {
        "values": values,
        "base": base,
        "score": base + values.sum(axis=1),
        "terms": TERMS,
        "data": FRAME,
        "classes": classes,
        "scale": "score",
        "interactions": rng.normal(size=(3, 3, 3, *several)),
        "unknown": np.zeros((3, 3), dtype=bool),
        "local_fit": np.ones(3),
        "n_left_out": 12,
    }
    return LocalExplanation(**(made | changes))


CASES = [None, ("no", "yes"), ("a", "b", "c")]


@pytest.mark.parametrize("classes", CASES)
def test_a_right_explanation_passes(classes):
    contract.check_local(example(classes), FRAME)


def broken(**changes):
    """Break an explanation behind its constructor's back."""
    explanation = example(("a", "b", "c"))
    for name, value in changes.items():
        object.__setattr__(explanation, name, value)
    return explanation


def perturbed(array, amount=0.01):
    changed = array.copy()
    changed.flat[0] += amount
    changed.flags.writeable = False
    return changed


GOOD = example(("a", "b", "c"))
BREAKS = {
    "check_shapes": {"base": GOOD.base[:, 0]},
    "check_identity": {"values": perturbed(GOOD.values)},
    "check_terms": {"terms": (*TERMS[:3], ("x", "age"), ("…",))},
    "check_data": {"data": FRAME[["x", "city", "age"]]},
    "check_immutable": {"values": GOOD.values.copy()},
    "check_ledger": {"score": perturbed(GOOD.score, 5.0)},
    "check_frame": {"classes": ("a", "c", "b")},
    "check_shared": {"base": perturbed(GOOD.base)},
    "check_interpret": {"explanation_type": "global"},
    "check_pickle": {"data": pd.DataFrame(FRAME)},
}


def test_every_check_has_its_counterexample():
    assert set(BREAKS) == {check.__name__ for check in contract.CHECKS}


@pytest.mark.parametrize("name", BREAKS)
def test_each_check_can_fail(name):
    check = getattr(contract, name)
    check(example(("a", "b", "c")), FRAME)
    if name == "check_frame":
        # labels that disagree with the frame's
        explanation = example(("a", "b", "c"))
        table = explanation.to_frame()
        object.__setattr__(explanation, "to_frame", lambda: table * 1.001)
    else:
        explanation = broken(**BREAKS[name])
    with pytest.raises((AssertionError, TypeError, AttributeError)):
        check(explanation, FRAME)


def test_a_perturbed_explanation_fails_the_whole_contract():
    explanation = broken(values=perturbed(GOOD.values))
    with pytest.raises(AssertionError):
        contract.check_local(explanation, FRAME)


def test_a_perturbed_explanation_cannot_even_be_made():
    for name in ("values", "base", "score"):
        wrong = perturbed(getattr(GOOD, name))
        with pytest.raises(ValueError, match="must add up to the score; in row 0"):
            dataclasses.replace(GOOD, **{name: wrong})
