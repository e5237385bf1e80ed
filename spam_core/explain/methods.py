"""The methods that are compared, and a model as all of them see it."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from spam_core.explain.cells import Cells, Rows, check_count, check_seed
from spam_core.explain.enumeration import explain_by_enumeration
from spam_core.explain.explanation import LocalExplanation
from spam_core.explain.foreign import make_scorer
from spam_core.explain.kernel_shap import (
    Game,
    explain_kernel_shap,
    load_kernel_explainer,
)
from spam_core.explain.lime_ import explain_lime, load_explainer
from spam_core.explain.scoring import Scorer

Method = Literal["own terms", "exact Shapley", "LIME", "KernelSHAP"]
OWN: Method = "own terms"
EXACT: Method = "exact Shapley"
LIME: Method = "LIME"
KERNEL_SHAP: Method = "KernelSHAP"
METHODS: tuple[Method, ...] = (OWN, EXACT, LIME, KERNEL_SHAP)

MOST_VARYING = 12
"""With more columns that vary, a black box's exact values are out of reach."""


@dataclass(frozen=True, eq=False)
class Subject:
    """A model with the rows that are explained and the background they share.

    Attributes
    ----------
    name : str
    model : estimator
    X, background : table
        As the user gave them.
    scorer : Scorer
    rows : Rows
        `X`, read.
    table : Cells
        `background`, read.
    varying : bool ndarray of shape (n, d)
        Columns of each row that the background can change.
    """

    name: str
    model: Any
    X: Any
    background: Any
    scorer: Scorer
    rows: Rows
    table: Cells
    varying: NDArray[np.bool_]

    @classmethod
    def all(cls, models: Mapping[str, Any], X: Any, background: Any) -> list[Subject]:
        """Read the tables as each model does.

        Raises
        ------
        TypeError, ValueError
            If a model can't score, models differ, or a table doesn't fit one; names
            the model.
        """
        scorers: dict[str, Scorer] = {}
        for name, model in models.items():
            with _naming(name):
                scorers[name] = make_scorer(model, background)
        _check_same(scorers)
        return [
            cls._read(name, model, scorers[name], X, background)
            for name, model in models.items()
        ]

    @classmethod
    def _read(
        cls, name: str, model: Any, scorer: Scorer, X: Any, background: Any
    ) -> Subject:
        with _naming(name):
            table = scorer.read(background, "background").cells
            rows = scorer.read(X, "X")
        n = len(rows.frame)
        varying = [scorer.varying(rows.cells[r : r + 1], table) for r in range(n)]
        return cls(name, model, X, background, scorer, rows, table, np.array(varying))

    @property
    def glass_box(self) -> bool:
        """Whether the model explains itself as this library's do."""
        explain = getattr(self.model, "explain_local", None)
        return callable(explain) and "view" in inspect.signature(explain).parameters

    @property
    def truth_known(self) -> bool:
        """Whether exact Shapley values of all rows can be had."""
        return self.glass_box or int(self.varying.sum(axis=1).max()) <= MOST_VARYING

    def methods(self, wanted: Sequence[Method] = METHODS) -> tuple[Method, ...]:
        """Return those of the wanted methods that can explain this model."""
        possible = {OWN: self.glass_box, EXACT: self.truth_known}
        return tuple(method for method in wanted if possible.get(method, True))

    def explain(
        self,
        method: Method,
        seed: int,
        lime_samples: int = 5000,
        shap_samples: int | Literal["auto"] = "auto",
    ) -> LocalExplanation:
        """Explain all rows by one method; exact ones have no use for the seed."""
        if method == OWN:
            own: LocalExplanation = self.model.explain_local(self.X)
            return own
        if method == EXACT and self.glass_box:
            exact: LocalExplanation = self.model.explain_local(
                self.X, view="shapley", background=self.background
            )
            return exact
        asked = (self.model, self.X, self.background)
        size = len(self.table)  # all of it: it was drawn before
        if method == EXACT:
            return explain_by_enumeration(
                *asked, max_background=size, max_features=MOST_VARYING, seed=seed
            )
        if method == LIME:
            return explain_lime(*asked, n_samples=lime_samples, seed=seed)
        return explain_kernel_shap(
            *asked, n_samples=shap_samples, max_background=size, seed=seed
        )

    def game(self, row: int) -> Game:
        """Return what scores coalitions of one row's columns."""
        return Game(self.scorer, self.rows.cells[row : row + 1], self.table)


def load_packages(methods: Sequence[Method]) -> None:
    """Import what methods need, which isn't their time and may fail.

    Raises
    ------
    ImportError
        Says how to install it.
    """
    if LIME in methods:
        load_explainer()
    if KERNEL_SHAP in methods:
        load_kernel_explainer()


def check_models(models: Any) -> dict[str, Any]:
    """Return models by name; one alone is named after its class.

    Raises
    ------
    TypeError, ValueError
        If there is none, or a name isn't a text.
    """
    if not isinstance(models, Mapping):
        return {type(models).__name__: models}
    if not models:
        raise ValueError("There must be at least one model to explain")
    wrong = [name for name in models if not isinstance(name, str) or not name]
    if wrong:
        raise TypeError(f"Names of models must be texts, got {wrong}")
    return dict(models)


def check_methods(methods: Sequence[Method] | None) -> tuple[Method, ...]:
    """Return the methods to run, in their usual order.

    Raises
    ------
    ValueError
        If one isn't known, or there is none.
    """
    if methods is None:
        return METHODS
    asked = [methods] if isinstance(methods, str) else list(methods)
    unknown = [method for method in asked if method not in METHODS]
    if unknown or not asked:
        raise ValueError(f"methods must be among {[*METHODS]}, got {unknown or asked}")
    return tuple(method for method in METHODS if method in asked)


def check_seeds(seeds: Sequence[int]) -> tuple[int, ...]:
    """Return distinct seeds.

    Raises
    ------
    ValueError
        If there is none, one comes twice, or one isn't a possible seed.
    """
    if isinstance(seeds, str) or not isinstance(seeds, Iterable):
        raise ValueError(f"seeds must be a sequence of integers, got {seeds!r}")
    found = tuple(check_seed(seed) for seed in seeds)
    if not found or len(set(found)) < len(found):
        raise ValueError(f"seeds must be distinct, and at least one, got {[*found]}")
    return found


def check_coalitions(n_samples: int | Literal["auto"], n_features: int) -> None:
    """Refuse fewer coalitions than KernelSHAP can take.

    Raises
    ------
    ValueError
    """
    fewest = fewest_coalitions(n_features)
    if n_samples != "auto" and check_count("shap_samples", n_samples, 2) < fewest:
        raise ValueError(
            f"shap_samples must be at least {fewest} for {n_features} columns, got "
            f"{n_samples}"
        )


def fewest_coalitions(n_features: int) -> int:
    """Return how many coalitions KernelSHAP must score at least.

    Examples
    --------
    >>> fewest_coalitions(2), fewest_coalitions(20)
    (2, 40)
    """
    every: int = 2 ** min(n_features, 30) - 2
    return min(2 * n_features, every)


@contextmanager
def _naming(model: str) -> Iterator[None]:
    """Say in errors which model they are about."""
    try:
        yield
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{model}: {error}") from error


def _check_same(scorers: Mapping[str, Scorer]) -> None:
    """Refuse to compare models that don't answer the same question."""
    (first, ours), *others = scorers.items()
    for other, theirs in others:
        pair = f"{first} and {other}"
        if ours.names != theirs.names:
            only = [
                f"only {name} has {more}"
                for name, more in (
                    (first, [c for c in ours.names if c not in theirs.names]),
                    (other, [c for c in theirs.names if c not in ours.names]),
                )
                if more
            ]
            orders = f"they are {[*ours.names]} and {[*theirs.names]}"
            raise ValueError(
                f"{pair} must have the same columns in the same order: "
                f"{'; '.join(only) or orders}"
            )
        if ours.classes != theirs.classes:
            raise ValueError(
                f"{pair} must have the same classes, got {_classes(ours)} and "
                f"{_classes(theirs)}"
            )
        # a regression's is only the name of its target, which a model may not know
        if ours.classes is not None and ours.scale != theirs.scale:
            raise ValueError(
                f"{pair} must have scores on one scale, got {ours.scale!r} and "
                f"{theirs.scale!r}"
            )


def _classes(scorer: Scorer) -> str:
    return "none (a regression)" if scorer.classes is None else str([*scorer.classes])
