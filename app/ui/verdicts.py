"""What the page Performance says about its numbers."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from spam_core.evaluation import Calibration, Confusion, Ranking, Score
from ui.kinds import capital, in_prose
from ui.text import METRICS, amount, literal, number, percent


def best(ranking: Ranking, unit: str) -> tuple[str, str]:
    """Say which model is best, and whether what it is ahead by may be chance.

    Parameters
    ----------
    ranking : Ranking
    unit : str
        Of the metric.

    Returns
    -------
    first, second : str
        A sentence that can be read alone, and what it rests on.
    """
    label, rows = metric_name(ranking.metric), f"{ranking.n_rows:,} test rows"
    known = [s for s in ranking.scores if not math.isnan(s.value)]
    if not known:
        return f"{capital(label)} can't be worked out on these {rows}.", ""
    first = known[0]
    told = f"{label} {amount(first.value, unit)} on {rows}"
    if len(known) == 1:
        return f"{_name(first, True)}: {told}, which it has never seen.", ""
    # the best beside the reference; if it is that itself, beside the next best
    other = next((s for s in known if s.name == ranking.reference), known[1])
    other = known[1] if other is first else other
    if other.value == first.value:
        both = f"{_name(first, True)} and {_name(other)} are equally good"
        return f"{both}: {told}.", ""
    pair = first if math.isnan(other.difference) else other
    theirs = amount(other.value, unit)
    if not pair.beyond_chance:
        return (
            f"{_name(first, True)} leads, but {_name(other)} may be as good: {told}, "
            f"where {_name(other)} has {theirs}.",
            _chance(pair, ranking, unit),
        )
    return (
        f"{_name(first, True)} is best: {told}, where {_name(other)} has {theirs}.",
        _chance(pair, ranking, unit),
    )


def _name(score: Score, begins: bool = False) -> str:
    name = literal(in_prose(score.name))
    return capital(name) if begins else name


def _chance(pair: Score, ranking: Ranking, unit: str) -> str:
    """Say whether a difference is larger than chance makes it."""
    gap = amount(rounded(abs(pair.difference)), unit)
    sign = -1.0 if pair.difference < 0 else 1.0
    ends = sorted((sign * pair.difference_low, sign * pair.difference_high))
    if not all(map(math.isfinite, ends)):
        return f"The difference is {gap}; too few rows to tell it from chance."
    low, high = (amount(rounded(end), unit) for end in ends)
    interval = f"between {low} and {high} ({100 * ranking.level:.0f} % interval)"
    if pair.beyond_chance:
        return (
            f"The difference of {gap} is **larger than chance explains**: had other "
            f"test rows been drawn, it would lie {interval}."
        )
    return (
        f"The difference of {gap} **may be chance**: had other test rows been drawn, "
        f"it would lie {interval}, so neither model can be called better."
    )


def rounded(value: float) -> float:
    """Keep the two digits of a difference that matter.

    Examples
    --------
    >>> rounded(0.0019487), rounded(1234.0)
    (0.0019, 1200.0)
    """
    return float(f"{value:.2g}")


def metric_name(metric: str) -> str:
    """Name a metric in the middle of a sentence."""
    name = METRICS[metric][0] if metric in METRICS else metric
    return name if name.isupper() else name[0].lower() + name[1:]


def table(
    ranking: Ranking, scores: dict[str, dict[str, Any]], metrics: list[str]
) -> pd.DataFrame:
    """List the models with the numbers behind the sentence, the best first.

    Parameters
    ----------
    ranking : Ranking
    scores : dict of name to dict
        All metrics of each model, and its training ``seconds``.
    metrics : list of str
        The main one first.
    """
    main, reference, lines = METRICS[metrics[0]][0], ranking.reference, []
    level = f"{100 * ranking.level:.0f} %"
    for score in ranking.scores:
        line = {
            "model": score.name,
            main: number(score.value),
            f"{level} interval": _ends(score.low, score.high),
        }
        if reference is not None and len(ranking.scores) > 1:
            own = score.name == reference
            difference = number(rounded(score.difference), signed=True)
            ends = _ends(
                rounded(score.difference_low), rounded(score.difference_high), True
            )
            line[f"beside {reference} ({level})"] = (
                "" if own else f"{difference} ({ends})"
            )
            line["beyond chance"] = (
                "" if own else "yes" if score.beyond_chance else "no"
            )
        for metric in metrics[1:]:
            value = scores[score.name].get(metric)
            line[METRICS[metric][0]] = number(math.nan if value is None else value)
        line["trained in"] = f"{scores[score.name]['seconds']:.1f} s"
        lines.append(line)
    return pd.DataFrame(lines)


def _ends(low: float, high: float, signed: bool = False) -> str:
    if not (math.isfinite(low) and math.isfinite(high)):
        return "n/a"
    return f"{number(low, signed)} to {number(high, signed)}"


def drawn(ranking: Ranking) -> str:
    """Say what the intervals are."""
    what = (
        "the test rows"
        if ranking.n_groups is None
        else f"the {ranking.n_groups:,} groups that test rows belong to"
    )
    told = (
        f"Intervals: {what} drawn again and again with replacement, the same draws for "
        "all models. They say how far other rows might move a number, not how far "
        "another training would."
    )
    if any(score.low == score.high for score in ranking.scores):
        told += (
            " One without width says no more than that all draws agree: so few rows "
            "can't show rare mistakes."
        )
    return told


def calibrated(found: Calibration, name: str) -> str:
    """Say how far probabilities are from what came true."""
    return (
        f"The probabilities of {literal(name)} are off by {percent(found.error)} on "
        "average from how often it came true. On the dotted line they would be right; "
        "below it they promise too much, above it too little."
    )


def threshold(found: Confusion) -> str:
    """Say what a threshold means for those on either side of it."""
    rest, name = map(literal, found.classes)
    missed, caught = (int(count) for count in found.counts[1])
    false = int(found.counts[0, 1])
    if not caught + missed:
        return f"None of these rows is {name}: {false:,} would be taken for it."
    if not caught + false:
        return f"No row is called {name}: all {missed:,} that are would be missed."
    return (
        f"Of {caught + false:,} rows called {name}, {caught:,} are; {false:,} are "
        f"{rest}. Of {caught + missed:,} that are {name}, {missed:,} are missed."
    )


def left_out(n: int) -> str:
    """Say how many rows can't be judged; nothing if all can."""
    if not n:
        return ""
    return (
        f"{n:,} test row{' is' if n == 1 else 's are'} left out below: of a class that "
        "training never saw, or without a prediction."
    )
