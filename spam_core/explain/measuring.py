"""All measures of all explanations of one model's rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from spam_core.explain import quality
from spam_core.explain.explanation import LocalExplanation
from spam_core.explain.faithfulness import (
    Answers,
    against_random,
    ask,
    fidelity,
    random_orders,
    size_order,
)
from spam_core.explain.frozen import Floats
from spam_core.explain.ledger import Unit
from spam_core.explain.lines import Lines, Outputs
from spam_core.explain.methods import OWN, Method, Subject

LONGEST = 15
"""Lengths up to which fidelity is followed."""

RANDOM = "random order"


@dataclass(frozen=True)
class Runs:
    """One method's explanations of all rows.

    Attributes
    ----------
    lines : tuple of Lines
        One a seed.
    seconds, evaluations : float
        Of one row, mean over seeds.
    """

    lines: tuple[Lines, ...]
    seconds: float
    evaluations: float

    @classmethod
    def of(cls, explanations: Sequence[LocalExplanation], unit: Unit) -> Runs:
        """Read one explanation a seed."""
        n = len(explanations[0])
        return cls(
            tuple(Lines.of(one, unit) for one in explanations),
            float(np.mean([one.seconds for one in explanations])) / n,
            float(np.mean([one.n_evaluations for one in explanations])) / n,
        )


@dataclass(frozen=True)
class RowMeasures:
    """What was measured of one method's explanation of one row.

    Attributes
    ----------
    method : str
        Or `RANDOM`, which has two curves only.
    row : int
    values : dict of str to float
        Measure -> value.
    curves : dict of str to sequence of float
        ``fidelity``: R2 with 1, 2, … lines; ``deletion`` and ``insertion``: distance
        from the score with 0, 1, … columns gone, or back.
    """

    method: str
    row: int
    values: Mapping[str, float]
    curves: Mapping[str, Floats]


@dataclass(frozen=True)
class Evidence:
    """All that one model was asked; measures of any length and unit come from it.

    Attributes
    ----------
    model : str
        Its name.
    explanations : mapping of method to tuple of LocalExplanation
        One a seed.
    truth : LocalExplanation or None
        Exact Shapley values, where they are known.
    answers : tuple of n Answers
        What it said of coalitions of each row.
    background : ndarray of shape (N, C)
        Its scores of the background rows.
    """

    model: str
    explanations: Mapping[Method, tuple[LocalExplanation, ...]]
    truth: LocalExplanation | None
    answers: tuple[Answers, ...]
    background: Floats


def gather(
    subject: Subject,
    explanations: Mapping[Method, tuple[LocalExplanation, ...]],
    truth: LocalExplanation | None,
    outputs: Outputs,
    *,
    n_coalitions: int,
    seed: int,
    tell: Callable[[], None],
) -> Evidence:
    """Ask a model about coalitions of each row's columns.

    Parameters
    ----------
    subject : Subject
    explanations, truth : see `Evidence`
    outputs : Outputs
    n_coalitions : int
    seed : int
        Of coalitions and random orders; each row starts from it anew.
    tell : callable
        Called after each row.
    """
    first = [Lines.of(runs[0], "feature") for runs in explanations.values()]
    answers = []
    for r, c in enumerate(outputs.column.tolist()):
        game = subject.game(r)
        orders = [size_order(lines.columns[r, :, c], game.varying) for lines in first]
        drawn = random_orders(game.varying, seed)
        answers.append(ask(game, np.stack([*orders, *drawn]), n_coalitions, seed))
        tell()
    scores = subject.scorer.score(subject.table)
    return Evidence(subject.name, explanations, truth, tuple(answers), scores)


def measure(
    evidence: Evidence, outputs: Outputs, E: int, unit: Unit
) -> Iterator[RowMeasures]:
    """Measure the explanations of one model at one length.

    Parameters
    ----------
    evidence : Evidence
    outputs : Outputs
    E : int
    unit : {"feature", "term"}

    Yields
    ------
    RowMeasures
        Row after row, of each method and at last of random orders.
    """
    # what a decision and a distance from the score are measured by
    scores = evidence.background
    middle = float(scores.mean()) if outputs.classes is None else None
    runs = {
        method: Runs.of(every, unit) for method, every in evidence.explanations.items()
    }
    truth = evidence.truth
    exact = None if truth is None else Lines.of(truth, unit)
    for r, c in enumerate(outputs.column.tolist()):
        answers = evidence.answers[r]
        removed = {
            "deletion": answers.deletion[:, :, c],
            "insertion": answers.insertion[:, :, c],
        }
        for k, (method, run) in enumerate(runs.items()):
            r2 = _fidelity(run.lines[0], r, c, answers)
            values = {
                **_of_one(run.lines[0], r, c, E, middle, float(scores[:, c].std())),
                **_over_seeds(run, r, c, E),
                "fidelity": r2[-1],
                "fidelity_top": r2[min(E, len(r2)) - 1],
                "seconds": run.seconds,
                "evaluations": run.evaluations,
            }
            for name, curves in removed.items():
                random = curves[len(runs) :]
                values[name] = against_random(curves[k], random, answers.n_varying)
            if exact is not None:
                values |= _against(exact, run, r, c, E, with_error=method != OWN)
            curves_here = {name: curves[k] for name, curves in removed.items()}
            yield RowMeasures(
                method, r, values, {"fidelity": r2[:LONGEST], **curves_here}
            )
        random_here = {n: c[len(runs) :].mean(axis=0) for n, c in removed.items()}
        yield RowMeasures(RANDOM, r, {}, random_here)


def compare_columns(ours: Floats, theirs: Floats, E: int) -> dict[str, float]:
    """Compare one value a column with a reference, both of shape (d,)."""
    return {
        "jaccard": quality.jaccard(ours, theirs, E),
        "rank_correlation": quality.rank_correlation(ours, theirs),
        "sign_agreement": quality.sign_agreement(ours, theirs, E),
        "relative_difference": quality.relative_error(ours, theirs),
    }


def _fidelity(lines: Lines, r: int, c: int, answers: Answers) -> Floats:
    """R2 with 1, 2, … and all lines."""
    values = lines.values[r, :, c]
    return fidelity(
        values,
        lines.members,
        float(lines.base[r, c]),
        answers.coalitions,
        answers.values[:, c],
    )


def _of_one(
    lines: Lines, r: int, c: int, E: int, middle: float | None, spread: float
) -> dict[str, float]:
    values = lines.values[r, :, c]
    base, score = float(lines.base[r, c]), float(lines.score[r, c])
    return {
        "captured_mass": quality.captured_mass(values, E),
        "decision_kept": quality.decision_kept(
            lines.values[r], lines.base[r], lines.score[r], c, E, middle
        ),
        "truncation_error": quality.truncation_error(values, base, score, E, spread),
        "unexplained": quality.unexplained(values, base, score),
    }


def _over_seeds(run: Runs, r: int, c: int, E: int) -> dict[str, float]:
    values = [one.values[r, :, c] for one in run.lines]
    return {
        "stability_jaccard": quality.seed_jaccard(values, E),
        "stability_sign": quality.seed_sign(values, E),
        "stability_spread": quality.seed_spread(values),
    }


def _against(
    truth: Lines, run: Runs, r: int, c: int, E: int, with_error: bool
) -> dict[str, float]:
    """Means over the seeds."""
    reference = truth.columns[r, :, c]
    found = [compare_columns(one.columns[r, :, c], reference, E) for one in run.lines]
    mean = {name: float(np.mean([one[name] for one in found])) for name in found[0]}
    values = {
        "agreement_jaccard": mean["jaccard"],
        "agreement_rank": mean["rank_correlation"],
        "agreement_sign": mean["sign_agreement"],
    }
    return values | ({"error": mean["relative_difference"]} if with_error else {})
