"""Small value objects with the attributes that plots read."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

# Case O05: every character that plotly, HTML, TeX or a hover template reads.
ODD_NAMES = (
    "income [EUR]",
    "age<30",
    "x>y",
    "cost $ per $ unit",
    "price_$_net",
    "a*b_c",
    "größe",
    "收入",
    "p.value",
    "<b>bold</b>",
    "{{x}}",
    "100 %{y}",
    "R&amp;D",
)


def numeric_curve(**changes: Any) -> SimpleNamespace:
    x = np.linspace(0.0, 10.0, 21)
    y = np.sin(x)
    made = {
        "x": x,
        "y": y,
        "lower": y - 0.1,
        "upper": y + 0.2,
        "density": (np.linspace(0.0, 10.0, 11), np.arange(1, 11)),
        "missing": {"missing": (0.4, 0.3, 0.6), "-9": (-0.2, -0.3, -0.1)},
        "unseen": 0.0,
    }
    return SimpleNamespace(**(made | changes))


def level_curve(levels: tuple[str, ...], **changes: Any) -> SimpleNamespace:
    y = np.linspace(-1.0, 1.0, len(levels))
    made = {
        "x": np.array(levels, dtype=object),
        "y": y,
        "lower": y - 0.1,
        "upper": y + 0.1,
        "density": (np.array(levels, dtype=object), np.arange(len(levels)) + 1),
        "missing": {},
        "unseen": 0.0,
    }
    return SimpleNamespace(**(made | changes))


def pair(x: Any, y: Any, **changes: Any) -> SimpleNamespace:
    x, y = np.asarray(x), np.asarray(y)
    z = np.linspace(-1.0, 2.0, len(x) * len(y)).reshape(len(x), len(y))
    made: dict[str, Any] = {
        "x": x,
        "y": y,
        "z": z,
        "lower": z - 0.1,
        "upper": z + 0.1,
        "support": None,
        "x_kind": "numeric" if x.dtype.kind in "fiu" else "categorical",
        "y_kind": "numeric" if y.dtype.kind in "fiu" else "categorical",
    }
    return SimpleNamespace(**(made | changes))


def terms_of(names: tuple[str, ...], classes: Any = None) -> SimpleNamespace:
    terms: list[tuple[str, ...]] = [(name,) for name in names]
    terms += [(a, b) for k, a in enumerate(names) for b in names[k + 1 :]]
    size = (len(terms),) if classes is None else (len(terms), len(classes))
    values = np.arange(1.0, 1.0 + np.prod(size)).reshape(size)
    return SimpleNamespace(
        terms=terms,
        importance=values,
        sd=2 * values,
        scale="logit of yes" if classes is None else "centred logit",
        classes=classes,
        feature_names=names,
    )
