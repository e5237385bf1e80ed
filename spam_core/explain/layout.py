"""The dictionaries that ``interpret.show`` and its dashboards read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from spam_core.explain.frozen import REST, plain
from spam_core.explain.ledger import cell_text, check_row

if TYPE_CHECKING:
    from spam_core.explain.explanation import GlobalExplanation, LocalExplanation

Layout = dict[str, Any]


class RowData(pd.DataFrame):
    """The explained rows, in user units; called with a key, interpret's dictionary.

    ``explanation.data`` is a table of n rows and d columns, and ``explanation.data(0)``
    is what interpret expects of an explanation: two conventions share one name.
    """

    _metadata = ["_owner"]  # noqa: RUF012  (pandas declares it like this)
    _owner: LocalExplanation

    @classmethod
    def of(cls, frame: pd.DataFrame, owner: LocalExplanation) -> RowData:
        """Wrap a frame without copying its cells."""
        made = cls(frame.copy(deep=False))
        object.__setattr__(made, "_owner", owner)
        return made

    def __call__(self, key: int | None = None) -> Layout | None:
        """Return interpret's dictionary; see `local_layout`."""
        return local_layout(self._owner, key)


def local_layout(explanation: LocalExplanation, key: int | None) -> Layout | None:
    """Describe one row's terms; None describes all rows, which has no picture there."""
    if key is None:
        return None
    if key == -1:
        rows = range(len(explanation.base))
        return {
            "overall": None,
            "specific": [local_layout(explanation, row) for row in rows],
        }
    row = check_row(explanation, key)
    score = explanation.score[row]
    values = [
        " × ".join(cell_text(explanation, row, name) for name in term)
        if term != REST
        else ""
        for term in explanation.terms
    ]
    classes = explanation.classes
    layout: Layout = {
        "type": "univariate",
        "names": list(explanation.term_names),
        "scores": explanation.values[row].tolist(),
        "values": values,
        "extra": {
            "names": ["Intercept"],
            "scores": [explanation.base[row].tolist()],
            "values": [1],
        },
        "perf": {
            "is_classification": classes is not None,
            "predicted": _predicted(explanation, row),
            "predicted_score": float(np.max(score)),
            "actual": np.nan,
            "actual_score": np.nan,
        },
    }
    if classes is not None:
        layout["meta"] = {"label_names": [plain(c) for c in classes]}
    return layout


def local_selector(explanation: LocalExplanation) -> pd.DataFrame:
    """List the rows, so that interpret can offer them."""
    frame: dict[str, Any] = {"Row": [str(label) for label in explanation.data.index]}
    rows = range(len(explanation.base))
    if explanation.classes is not None:
        frame["Predicted"] = [
            str(explanation.classes[int(_predicted(explanation, row))]) for row in rows
        ]
    frame["Score"] = [float(np.max(explanation.score[row])) for row in rows]
    return pd.DataFrame(frame)


def _predicted(explanation: LocalExplanation, row: int) -> float:
    score = explanation.score[row]
    if explanation.classes is None:
        return float(score)
    return int(np.argmax(score)) if score.ndim else int(score > 0)


def global_layout(explanation: GlobalExplanation, key: int | None) -> Layout | None:
    """Describe the terms' importance, or one term's shape.

    Terms of three or more features have no picture: None.
    """
    if key is None:
        return {
            "type": "univariate",
            "names": list(explanation.term_names),
            "scores": explanation.importance.tolist(),
        }
    if key == -1:
        keys = range(len(explanation.terms))
        return {
            "overall": global_layout(explanation, None),
            "specific": [global_layout(explanation, k) for k in keys],
        }
    n_terms = len(explanation.terms)
    if not 0 <= key < n_terms:
        raise ValueError(f"key must be a term in 0..{n_terms - 1}, got {key}")
    term = explanation.terms[key]
    classes = explanation.classes
    meta = {} if classes is None else {"label_names": [plain(c) for c in classes]}
    if len(term) == 1:
        curve = explanation.curve(term[0])
        layout: Layout = {
            "type": "univariate",
            "names": curve.x.tolist(),
            "scores": curve.y.tolist(),
            "scores_range": _range(curve.y, curve.lower, curve.upper),
            "meta": meta,
        }
        if curve.lower is not None and curve.upper is not None:
            layout["lower_bounds"] = curve.lower.tolist()
            layout["upper_bounds"] = curve.upper.tolist()
        if curve.density is not None:
            edges, rows = curve.density
            layout["density"] = {"names": edges.tolist(), "scores": rows.tolist()}
        return layout
    if len(term) == 2:
        surface = explanation.surface(*term)
        return {
            "type": "interaction",
            "left_names": surface.x.tolist(),
            "right_names": surface.y.tolist(),
            "scores": surface.z.tolist(),
            "scores_range": _range(surface.z),
            "meta": meta,
        }
    return None


def global_selector(explanation: GlobalExplanation) -> pd.DataFrame:
    """List the terms, so that interpret can offer them."""
    kinds = dict(zip(explanation.feature_names, explanation.feature_kinds, strict=True))
    types = [
        kinds[term[0]] if len(term) == 1 else "interaction"
        for term in explanation.terms
    ]
    names = list(explanation.term_names)
    importance = explanation.importance
    pooled = importance if importance.ndim == 1 else importance.mean(1)
    return pd.DataFrame({"Name": names, "Type": types, "Importance": pooled})


def _range(*arrays: Any) -> tuple[float, float]:
    parts = [np.ravel(a) for a in arrays if a is not None and np.size(a)]
    if not parts:
        return 0.0, 0.0
    values = np.concatenate(parts)
    return float(values.min()), float(values.max())
