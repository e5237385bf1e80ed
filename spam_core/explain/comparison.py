"""Methods and models side by side: the same rows, class, scale, background and E."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd

from spam_core.explain.cells import check_count, sample_background
from spam_core.explain.comparison_frames import (
    agreement_frame,
    curves_frame,
    summarise,
    values_frame,
)
from spam_core.explain.explanation import LocalExplanation
from spam_core.explain.ledger import UNITS, Unit
from spam_core.explain.lines import Lines, Outputs
from spam_core.explain.measures import MAIN_MEASURES, MEASURES
from spam_core.explain.measuring import Evidence, gather, measure
from spam_core.explain.methods import (
    EXACT,
    KERNEL_SHAP,
    Method,
    Subject,
    check_coalitions,
    check_methods,
    check_models,
    check_seeds,
    load_packages,
)

Key = tuple[str, str]
"""Names of a model and of a method."""


@dataclass(frozen=True)
class ComparisonProgress:
    """How far a comparison has come.

    Attributes
    ----------
    done, total : int
        Steps: a run of a method on all rows, and the measures of a row.
    what : str
        What was done last.
    """

    done: int
    total: int
    what: str


Callback = Callable[[ComparisonProgress], object]


@dataclass(frozen=True, eq=False)
class Comparison:
    """Explanations of the same rows by several methods, and how good they are.

    Attributes
    ----------
    explanations : mapping of (model, method) to LocalExplanation
        Of all rows, with the first seed.
    truth_known : mapping of model to bool
        Whether its exact Shapley values are known, so that errors can be measured.
    values : DataFrame
        A line for each ``model``, ``method``, ``row`` (position), its ``class`` and
        ``measure`` (a name in `MEASURES`), with the ``value``; NaN if it isn't known.
    agreement : DataFrame
        All ordered pairs ``model_a``, ``method_a``, ``model_b``, ``method_b``, means
        over the rows of ``jaccard``, ``rank_correlation``, ``sign_agreement`` and
        ``relative_difference``; the second is the reference of the last two. Always one
        value a column, with the first seed.
    fidelity : DataFrame
        ``model``, ``method``, ``E``: R2 of base + the E largest, E = 1..15 at most, its
        ``mean`` over the rows with ``low`` and ``high``, and ``n`` rows.
    faithfulness : DataFrame
        ``model``, ``method`` (``"random order"`` is one), ``curve`` (deletion,
        insertion), ``k``: distance from the score with the k largest columns gone, or
        with these alone, on its scale; ``mean``, ``low``, ``high``, ``n``.
    E : int
    unit : {"feature", "term"}
    scale : str
        What scores are.
    classes : tuple of n labels, or None
        Class explained for each row; None for a regression.
    seeds : tuple of int
    background_size : int
    """

    explanations: Mapping[Key, LocalExplanation]
    truth_known: Mapping[str, bool]
    values: pd.DataFrame
    agreement: pd.DataFrame
    fidelity: pd.DataFrame
    faithfulness: pd.DataFrame
    E: int
    unit: Unit
    scale: str
    classes: tuple[object, ...] | None
    seeds: tuple[int, ...]
    background_size: int
    _evidence: tuple[Evidence, ...] = field(repr=False)
    _outputs: Outputs = field(repr=False)

    def at(self, E: int | None = None, unit: Unit | None = None) -> Comparison:
        """Return the same explanations measured at another length or unit.

        No model is asked again: it takes milliseconds.

        Parameters
        ----------
        E, unit : see `compare_explanations`
            None: as they are.

        Raises
        ------
        ValueError
            If E or the unit is impossible.
        """
        E = self.E if E is None else check_count("E", E, 1)
        return _measured(
            self._evidence,
            self._outputs,
            E,
            self.unit if unit is None else check_unit(unit),
            self.seeds,
            self.background_size,
        )

    def summary(self) -> pd.DataFrame:
        """Return the mean of each measure over the rows.

        Returns
        -------
        DataFrame
            ``model``, ``method``, ``measure``, ``mean``, ``low``, ``high`` and ``n``,
            the rows for which it is known. The interval is a 95 % percentile bootstrap
            over the rows: how far off the mean may be for other rows like these. It is
            NaN with one row, and for seconds and evaluations, which are taken for all
            rows together.
        """
        frame = summarise(self.values, ["model", "method", "measure"])
        together = frame["measure"].isin(["seconds", "evaluations"])
        frame.loc[together, ["low", "high"]] = np.nan
        return frame

    def table(self, measures: Sequence[str] = MAIN_MEASURES) -> pd.DataFrame:
        """Return means for reading, a line for each model and method.

        Parameters
        ----------
        measures : sequence of str
            Names in `MEASURES`; by default the main ones.

        Returns
        -------
        DataFrame
            Indexed by model and method; columns are the measures' labels.

        Raises
        ------
        ValueError
            If there is no such measure.
        """
        unknown = [name for name in measures if name not in MEASURES]
        if unknown:
            raise ValueError(f"measures must be among {[*MEASURES]}, got {unknown}")
        means = self.summary().set_index(["model", "method", "measure"])["mean"]
        return pd.DataFrame(
            {
                MEASURES[name].label: [means[(*key, name)] for key in self.explanations]
                for name in measures
            },
            index=pd.MultiIndex.from_tuples(
                self.explanations, names=["model", "method"]
            ),
        )


def compare_explanations(
    models: Any,
    X: Any,
    background: Any,
    E: int = 7,
    unit: Unit = "feature",
    seeds: Sequence[int] = (0, 1, 2),
    class_: object = None,
    *,
    methods: Sequence[Method] | None = None,
    n_coalitions: int = 256,
    max_background: int = 100,
    lime_samples: int = 5000,
    shap_samples: int | Literal["auto"] = "auto",
    callback: Callback | None = None,
) -> Comparison:
    """Explain rows by several methods and measure the explanations.

    Every model and method has the same rows, class, scale, background and length. A
    glass box gives its own terms and its exact Shapley values; LIME and KernelSHAP
    explain all models; a black box has exact values where at most 12 columns vary
    between the rows and the background. Exact values are the truth that the other
    methods of the same model are measured against.

    Parameters
    ----------
    models : fitted estimator, or mapping of name to fitted estimator
        Of this library, or anything with ``predict``, or ``decision_function`` or
        ``predict_proba`` and ``classes_``. All with the same columns and classes. One
        alone is named after its class.
    X : table of n rows
        To explain, in user units.
    background : table
        Training rows. At most `max_background` of them are drawn, once, for all.
    E : int, default=7
        Explanation length: how many columns or terms a reader is shown. Larger than
        there are is all.
    unit : {"feature", "term"}, default="feature"
        One value a column, a term shared equally among its columns; or a glass box's
        own terms as they are. Agreement and error always compare columns.
    seeds : sequence of int, default=(0, 1, 2)
        Every method runs with each, the exact ones too; with one seed stability isn't
        known. The first is also that of coalitions and random orders.
    class_ : object, optional
        Class to explain. None: the second of two; of several, the one that the first
        model predicts for each row.
    methods : sequence of str, optional
        Among "own terms", "exact Shapley", "LIME" and "KernelSHAP"; by default all.
        The truth is worked out where it can be, whether it is asked for or not.
    n_coalitions : int, default=256
        For fidelity; all are scored if there are no more.
    max_background : int, default=100
    lime_samples : int, default=5000
        Rows that LIME draws for each row.
    shap_samples : int or "auto"
        Coalitions that KernelSHAP scores for each row; auto is 2 d + 2,048.
    callback : callable, optional
        Called with a `ComparisonProgress` after each step. What it raises comes
        through, which is a way to stop.

    Returns
    -------
    Comparison
        What each number means stands in `MEASURES`.

    Raises
    ------
    ValueError, TypeError
        Before any work: if models differ in their columns, classes or scale (naming the
        difference), a table lacks columns or rows, or a parameter makes no sense.
    ImportError
        If lime or shap is needed and isn't installed.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> model = LinearRegression().fit(X, X @ [3.0, -2.0, 0.5])
    >>> comparison = compare_explanations(model, X[:2], X, E=2, seeds=(0, 1))
    >>> table = comparison.table(["agreement_jaccard", "error", "fidelity"])
    >>> print(table.round(2).to_string())
                                    same E as truth  error against truth  fidelity R2
    model            method
    LinearRegression exact Shapley              1.0                  0.0          1.0
                     LIME                       1.0                  0.0          1.0
                     KernelSHAP                 1.0                  0.0          1.0
    """
    E = check_count("E", E, 1)
    unit = check_unit(unit)
    seeds = check_seeds(seeds)
    check_count("n_coalitions", n_coalitions, 2)
    check_count("lime_samples", lime_samples, 2)
    wanted = check_methods(methods)
    background = sample_background(background, max_background)
    subjects = Subject.all(check_models(models), X, background)
    first = subjects[0]
    plans = {subject.name: subject.methods(wanted) for subject in subjects}
    idle = [name for name, plan in plans.items() if not plan]
    if idle:
        raise ValueError(f"None of the methods {[*wanted]} can explain {idle}")
    if KERNEL_SHAP in wanted:
        check_coalitions(shap_samples, len(first.scorer.names))
    scorer = first.scorer
    scores = scorer.score_rows(first.rows)
    outputs = Outputs.choose(scorer.classes, scores, scorer.scale, class_)
    load_packages(wanted)

    total = sum(len(p) * len(seeds) + len(scores) for p in plans.values())
    steps = _Steps(callback, total)
    evidence = []
    for subject in subjects:
        runs: dict[Method, tuple[LocalExplanation, ...]] = {}
        for method in plans[subject.name]:
            every = []
            for seed in seeds:
                every.append(subject.explain(method, seed, lime_samples, shap_samples))
                steps.tick(f"{subject.name}: {method}")
            runs[method] = tuple(every)
        truth = None
        if EXACT in runs:
            truth = runs[EXACT][0]
        elif subject.truth_known:
            truth = subject.explain(EXACT, seeds[0])
        evidence.append(
            gather(
                subject,
                runs,
                truth,
                outputs,
                n_coalitions=n_coalitions,
                seed=seeds[0],
                tell=functools.partial(steps.tick, f"{subject.name}: measures"),
            )
        )
    return _measured(tuple(evidence), outputs, E, unit, seeds, len(first.table))


def check_unit(unit: Unit) -> Unit:
    """Return what lines count, or refuse it.

    Raises
    ------
    ValueError
    """
    if unit not in UNITS:
        raise ValueError(f"unit must be one of {list(UNITS)}, got {unit!r}")
    return unit


def _measured(
    evidence: tuple[Evidence, ...],
    outputs: Outputs,
    E: int,
    unit: Unit,
    seeds: tuple[int, ...],
    background_size: int,
) -> Comparison:
    explanations: dict[Key, LocalExplanation] = {
        (one.model, method): every[0]
        for one in evidence
        for method, every in one.explanations.items()
    }
    lines: dict[Key, Lines] = {
        key: Lines.of(explanation, unit) for key, explanation in explanations.items()
    }
    found = [
        (one.model, row) for one in evidence for row in measure(one, outputs, E, unit)
    ]
    removal = curves_frame(found, ("deletion", "insertion"), start=0)
    fidelity = curves_frame(found, ("fidelity",), start=1)
    return Comparison(
        explanations=explanations,
        truth_known={one.model: one.truth is not None for one in evidence},
        values=values_frame(found, outputs.classes),
        agreement=agreement_frame(lines, outputs, E),
        fidelity=fidelity.drop(columns="curve").rename(columns={"k": "E"}),
        faithfulness=removal,
        E=E,
        unit=unit,
        scale=outputs.scale,
        classes=outputs.classes,
        seeds=seeds,
        background_size=background_size,
        _evidence=evidence,
        _outputs=outputs,
    )


class _Steps:
    """Counts steps and tells of them."""

    def __init__(self, callback: Callback | None, total: int) -> None:
        self._callback, self._total, self._done = callback, total, 0

    def tick(self, what: str) -> None:
        self._done += 1
        if self._callback is not None:
            self._callback(ComparisonProgress(self._done, self._total, what))
