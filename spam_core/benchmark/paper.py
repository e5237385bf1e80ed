"""What the paper says: its tables of accuracy, in its own words.

Dubey, Radenovic and Mahajan, *Scalable Interpretability via Polynomials* (arXiv
2205.14108): "Evaluation of SPAM on benchmarks against prior work" (RMSE, AUC and
accuracy, means of 10 trials with tuned settings) and "additional benchmarks" (AUC).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class PaperColumn:
    """One data set in the paper.

    Attributes
    ----------
    name : str
        What the paper calls it.
    table : str
        LaTeX label of the paper's table.
    numbers : mapping of str to float
        The paper's name of a model -> its number, by the first metric of the task.
    remark : str
        How the paper's data differ from ours; empty if they don't.
    """

    name: str
    table: str
    numbers: Mapping[str, float]
    remark: str = ""


_MAIN, _MORE = "tab:tabular_benchmark_comparison", "tab:additional_experiments"

PAPER: dict[str, PaperColumn] = {
    "california": PaperColumn(
        "CH",
        _MAIN,
        {
            "Linear (Order 1)": 0.7354,
            "Linear (Order 2)": 0.7293,
            "EBMs (Order 1)": 0.5586,
            "EB2Ms (Order 2)": 0.4919,
            "NAM": 0.5721,
            "XGBoost": 0.4428,
            "DNN": 0.5014,
            "SPAM (Linear, Order 2)": 0.6474,
            "SPAM (Neural, Order 2)": 0.4914,
            "SPAM (Linear, Order 3)": 0.6410,
            "SPAM (Neural, Order 3)": 0.4865,
        },
    ),
    "heloc": PaperColumn(
        "FICO",
        _MAIN,
        {
            "Linear (Order 1)": 0.7909,
            "Linear (Order 2)": 0.7910,
            "EBMs (Order 1)": 0.7985,
            "EB2Ms (Order 2)": 0.7998,
            "NAM": 0.7993,
            "XGBoost": 0.7925,
            "DNN": 0.7936,
            "SPAM (Linear, Order 2)": 0.7940,
            "SPAM (Neural, Order 2)": 0.8011,
            "SPAM (Linear, Order 3)": 0.7945,
            "SPAM (Neural, Order 3)": 0.8024,
        },
    ),
    "covertype": PaperColumn(
        "CovType",
        _MAIN,
        {
            "Linear (Order 1)": 0.7254,
            "Linear (Order 2)": 0.7601,
            "EBMs (Order 1)": 0.7392,
            "NAM": 0.7359,
            "XGBoost": 0.8860,
            "DNN": 0.9694,
            "SPAM (Linear, Order 2)": 0.7732,
            "SPAM (Neural, Order 2)": 0.7770,
            "SPAM (Linear, Order 3)": 0.8066,
            "SPAM (Neural, Order 3)": 0.8857,
        },
        "the paper has all 581,012 rows, five times as many as here",
    ),
    "newsgroups": PaperColumn(
        "News",
        _MAIN,
        {
            "Linear (Order 1)": 0.8238,
            "XGBoost": 0.7677,
            "DNN": 0.8494,
            "SPAM (Linear, Order 2)": 0.8472,
            "SPAM (Linear, Order 3)": 0.8520,
        },
        "the paper has 146,016 words",
    ),
    "cub": PaperColumn(
        "CUB",
        _MAIN,
        {
            "Linear (Order 1)": 0.7451,
            "Linear (Order 2)": 0.7617,
            "NAM": 0.7632,
            "XGBoost": 0.7186,
            "DNN": 0.7684,
            "SPAM (Linear, Order 2)": 0.7786,
            "SPAM (Neural, Order 2)": 0.7762,
            "SPAM (Linear, Order 3)": 0.7741,
            "SPAM (Neural, Order 3)": 0.7753,
        },
        "the paper's columns are 278 features predicted from the pictures, here they "
        "are 104 that people saw",
    ),
    "compas": PaperColumn(
        "COMPAS",
        _MORE,
        {
            "NAM": 0.7368,
            "XGBoost": 0.7440,
            "SPAM (Linear, Order 2)": 0.7426,
            "SPAM (Neural, Order 2)": 0.7411,
        },
        "the paper has the columns and the split of the NAM paper",
    ),
}
"""Data sets of ours that the paper has numbers for."""


DECAY = {"gamma": 3, "c1": 0.54, "c2": 0.006}
"""Exponential law of the spectra of CUB-200's classes (the paper's section 4.4)."""


def paper_number(table: str, row: str | None) -> float | None:
    """Return the paper's number for a data set and a model, or None.

    Parameters
    ----------
    table : str
        Our name of the data set.
    row : str or None
        The paper's name of the model.

    Examples
    --------
    >>> paper_number("heloc", "NAM"), paper_number("heloc", "CART")
    (0.7993, None)
    """
    column = PAPER.get(table)
    return None if column is None or row is None else column.numbers.get(row)


def paper_best(table: str, lower: bool) -> tuple[str, float] | None:
    """Return the paper's best SPAM on a data set and its number, or None.

    Examples
    --------
    >>> paper_best("california", lower=True)
    ('SPAM (Neural, Order 3)', 0.4865)
    """
    column = PAPER.get(table)
    if column is None:
        return None
    spams = [(k, v) for k, v in column.numbers.items() if k.startswith("SPAM")]
    return (min if lower else max)(spams, key=lambda pair: pair[1])
