"""Words: user text made harmless, numbers made short, models made plain."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import pandas as pd

from spam_core.estimators.fitting import LOWER_IS_BETTER
from spam_core.plots.theme import number
from ui.kinds import capital, prose

__all__ = [
    "METRICS",
    "RAW_TABLES",
    "VIEW_HELP",
    "Ledger",
    "amount",
    "beside",
    "literal",
    "number",
    "percent",
    "quality",
    "score_text",
]

_PUNCTUATION = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~$&^=:@/\"'])")

METRICS = {
    "rmse": (
        "RMSE",
        "typical size of an error, in units of the target; lower is better",
    ),
    "mae": ("Mean absolute error", "in units of the target; lower is better"),
    "r2": ("R2", "share of the target's variation explained; 1 is perfect"),
    "auc": (
        "AUC",
        "chance that a case of the class gets a higher score than another; 0.5 is a "
        "coin, 1 is perfect",
    ),
    "log_loss": ("Log loss", "error of the probabilities; lower is better"),
    "accuracy": ("Accuracy", "share of cases put into the right class"),
}
"""Metric -> what to call it, and what it means in one line."""

RAW_TABLES = (
    "Raw: the tables as they were trained. The prediction is the same; it is only "
    "split differently."
)
"""What raw terms are of a model that is no polynomial."""

VIEW_HELP = {
    "pure": (
        "Pure: each term is what its columns add on average over the data, beyond what "
        "fewer of them say. Shifting a column's zero does not change it."
    ),
    "raw": (
        "Raw: the model's polynomial as it is written, where an absent column counts "
        "as zero. The prediction is the same; it is only split differently."
    ),
}


def literal(text: object) -> str:
    r"""Escape text so that Streamlit's Markdown shows it character for character.

    Examples
    --------
    >>> literal("cost $ per $ unit")
    'cost \\$ per \\$ unit'
    """
    escaped = _PUNCTUATION.sub(r"\\\1", " ".join(str(text).split()))
    # Emoji codes are replaced after backslashes are gone: an invisible word joiner
    # between the colon and the name keeps ":smile:" as it is.
    return re.sub(r"\\:(?=[\w+])", "\\:\u2060", escaped)


def beside(value: float, largest: float, unit: str) -> str:
    """Write a size that stands beside a larger one, without digits of noise.

    Examples
    --------
    >>> beside(0.25, 1.0, "years"), beside(4e-35, 1.0, "years")
    ('0.25 years', 'practically nothing')
    """
    return "practically nothing" if value < 1e-4 * largest else amount(value, unit)


def score_text(value: float | None) -> str:
    """Write a metric, or that there is none."""
    return "n/a" if value is None else number(float(value))


def amount(value: float | None, unit: str) -> str:
    r"""Write a quantity with its unit, escaped for Markdown.

    Examples
    --------
    >>> amount(6.5, "years"), amount(0.45, "$100,000"), amount(3.0, "")
    ('6.5 years', '0.45 × \\$100,000', '3')
    """
    if value is None or not unit:
        return score_text(value)
    # "0.45 $100,000" would read as two prices
    times = "" if unit[0].isalpha() else "× "
    return f"{number(value)} {times}{literal(unit)}"


def quality(task: str, report: dict[str, Any], unit: str, name: str) -> str:
    """Say in one sentence how good a model is, beside a guess and the best other."""
    metric = report["metrics"][0]
    scores = {key: found["scores"][metric] for key, found in report["models"].items()}
    own, guess = scores.pop(name), report["baseline"]["scores"][metric]
    known = {key: value for key, value in scores.items() if value is not None}
    choose = min if metric in LOWER_IS_BETTER else max
    other = choose(known, key=known.__getitem__) if known else None
    who = capital(prose(name))
    if task == "regression":
        rest = f"{prose(other)} by {amount(known[other], unit)}" if other else ""
        text = (
            f"On rows it has never seen, {prose(name)} is off by {amount(own, unit)} "
            "(root mean squared error); always guessing the mean is off by "
            f"{amount(guess, unit)}"
        )
    elif task == "binary":
        rest = f"{prose(other)} {percent(known[other])}" if other else ""
        text = (
            f"Of two cases it has never seen, one of each class, {prose(name)} ranks "
            f"them right {percent(own)} of the time (AUC); guessing does so 50 %"
        )
    else:
        rest = f"{prose(other)} for {percent(known[other])}" if other else ""
        text = (
            f"{who} puts {percent(own)} of the cases it has never seen into the right "
            f"class; always guessing the commonest is right for {percent(guess)}"
        )
    return f"{text}, {rest}." if rest else f"{text}."


def percent(share: float | None) -> str:
    """Write a share; 100 % only if it is that.

    Examples
    --------
    >>> percent(0.123), percent(0.9999), percent(1.0)
    ('12.3 %', 'over 99.9 %', '100.0 %')
    """
    if share is None:
        return "n/a"
    return "over 99.9 %" if 0.9995 <= share < 1 else f"{100 * share:.1f} %"


@dataclass(frozen=True)
class Ledger:
    """The sums of a ledger.

    Attributes
    ----------
    base, terms, score : float
        ``base + terms = score``.
    largest : float
        The largest of the terms.
    """

    base: float
    terms: float
    score: float
    largest: float = 0.0

    @classmethod
    def of(cls, frame: pd.DataFrame) -> Ledger:
        """Read a frame whose last two lines are base and score."""
        amounts = frame["contribution"].tolist()
        terms = amounts[:-2]
        largest = max(terms, key=abs, default=0.0)
        return cls(amounts[-2], sum(terms), amounts[-1], largest)

    @property
    def cancels(self) -> bool:
        """Whether the terms are far larger than what they add up to."""
        return abs(self.largest) > 3 * abs(self.terms)

    def sentence(self, scale: str) -> str:
        """Say that it adds up, with the numbers, and by how much it doesn't."""
        off = abs(self.base + self.terms - self.score)
        sign = "-" if self.terms < 0 else "+"
        exact = "exactly" if off < 1e-9 * max(1.0, abs(self.score)) else f"to {off:.1g}"
        return (
            f"Base {number(self.base)} {sign} terms {number(abs(self.terms))} = score "
            f"{number(self.score)} on the scale {literal(scale)}, {exact}."
        )


def duration(seconds: float) -> str:
    """Write a time with two digits that matter.

    Examples
    --------
    >>> duration(0.00123), duration(0.5), duration(83.2)
    ('1.2 ms', '500 ms', '83 s')
    """
    if seconds < 1:
        return (
            f"{1000 * seconds:.2g} ms" if seconds < 0.1 else f"{1000 * seconds:.0f} ms"
        )
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
