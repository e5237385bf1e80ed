"""How fast the spectra of trained SPAMs fall: the paper's Assumption 1, tested.

The paper trains a SPAM-Linear of order 2 on CUB-200 and fits one exponential law to the
spectra of its 200 classes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from spam_core.benchmark.fits import (
    Fit,
    Plan,
    Store,
    by_variant,
    command_of,
    first_note,
    measure_fits,
    measured,
    settings_of,
    wanted,
)
from spam_core.benchmark.paper import DECAY
from spam_core.benchmark.report import Column, Report
from spam_core.benchmark.variants import find_tables, find_variants
from spam_core.estimators.registry import MODELS
from spam_core.estimators.spam import SPAMRegressor
from spam_core.explain.decay import fit_decay
from spam_core.explain.spectrum import METRICS, Metric, spectrum_of

if TYPE_CHECKING:
    from spam_core.models.spam import SPAM

SPECTRUM_TABLES = ("california", "bike_sharing", "heloc", "covertype", "cub")
SPECTRUM_MODELS = ("spam", "spam-3", "spam-linear", "spam-linear-3")

COLUMNS = (
    Column("table", "table"),
    Column("label", "model"),
    Column("order", "order"),
    Column("metric", "metric"),
    Column("outputs", "outputs"),
    Column("gamma", "γ", 3),
    Column("c1", "C1", 3),
    Column("c2", "C2", 2),
    Column("r2", "R² of it", 3),
    Column("polynomial_gamma", "polynomial γ", 3),
    Column("polynomial_r2", "R² of it", 3),
    Column("exponential_share", "exponential fits better", 3),
    Column("effective_rank", "effective rank", 3),
    Column("rank_90", "values with 90 % of the energy", 3),
    Column("n_seeds", "seeds"),
    Column("seconds", "seconds", 2),
    Column("note", "note"),
)

_MEANS = (
    "gamma",
    "c1",
    "c2",
    "r2",
    "polynomial_gamma",
    "polynomial_r2",
    "exponential_share",
    "effective_rank",
    "rank_90",
)

_TEXT = (
    "Of each output (a class, or the one score) the sizes of an order's sorted values, "
    "over the largest. The laws are fitted to their mean over outputs, by least "
    "squares on logs, over the values that hold 99.99 % of the energy: exponential, "
    "C1 exp(-C2 j^γ) with γ >= 1 (the paper's Assumption 1), and polynomial, "
    "C1 j^(-γ-1) (its appendix). *Exponential fits better*: share of outputs whose own "
    "spectrum that law explains better than the other. Effective rank (exponential of "
    "the entropy of the sizes' shares) and the number of values with 90 % of the "
    "energy: means over outputs. Metric: bases are of length one in their effect on "
    "the training rows (data), or in their numbers (coefficient, as in the paper). "
    "Numbers are means over seeds. The paper's fit to the 200 classes of its CUB-200, "
    "SPAM-Linear of order 2: γ = {gamma}, C1 = {c1}, C2 = {c2}."
)


def spectrum(
    folder: Path,
    tables: Sequence[str] | None = None,
    models: Sequence[str] | None = None,
    seeds: Sequence[int] = (0,),
    plan: Plan | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Report:
    """Measure what isn't measured yet, and write it down after every fit.

    Parameters
    ----------
    folder : Path
        Of ``spectrum.json`` and ``spectrum.md``; what they hold is kept.
    tables : sequence of str, optional
        Data sets; by default those of `SPECTRUM_TABLES`.
    models : sequence of str, optional
        Keys of `VARIANTS` that are SPAMs; by default `SPECTRUM_MODELS`.
    seeds, plan, tell
        See `accuracy`.

    Returns
    -------
    Report

    Raises
    ------
    ValueError
        If a table or model is unknown, or a model is no SPAM; before any work.
    """
    names = find_tables(tables or SPECTRUM_TABLES)
    variants = find_variants(models or SPECTRUM_MODELS)
    others = [v.key for v in variants if not is_spam(v.name)]
    if others:
        raise ValueError(
            f"{', '.join(others)} has no spectrum; choose from "
            f"{', '.join(v.key for v in find_variants() if is_spam(v.name))}"
        )
    fits = [{**fit, "spectrum": None} for fit in wanted(names, variants, seeds)]
    store = Store(folder, make_report)
    measure_fits(fits, plan or Plan(), store, tell)
    return store.report()


def is_spam(name: str) -> bool:
    """Whether a model of the registry is a SPAM.

    Examples
    --------
    >>> is_spam("nbm-spam"), is_spam("ebm")
    (True, False)
    """
    return MODELS[name].regressor is SPAMRegressor


def make_report(fits: Sequence[Fit]) -> Report:
    """Sum fits up.

    Parameters
    ----------
    fits : sequence
        Oldest first.
    """
    return Report(
        name="spectrum",
        title="Spectral decay",
        text=_TEXT.format(**DECAY),
        command=command_of("spectrum", fits),
        columns=COLUMNS,
        results=[line for same in by_variant(fits) for line in _results(same)],
        settings=settings_of(fits),
        fits=fits,
    )


def _results(fits: Sequence[Fit]) -> list[dict[str, Any]]:
    """One line for each order and metric of a table and model, means over seeds."""
    done = measured(fits)
    about = {
        "table": fits[0]["table"],
        "label": fits[0]["label"],
        "n_seeds": len(done),
        "seconds": fmean(fit["seconds"] for fit in done) if done else None,
        "note": first_note(fits),
    }
    if not done:
        return [about]
    lines = []
    for place, first in enumerate(done[0]["spectrum"]):
        same = [fit["spectrum"][place] for fit in done]
        means = {key: _mean([one[key] for one in same]) for key in _MEANS}
        fixed = {key: first[key] for key in ("order", "metric", "outputs")}
        lines.append({**about, **fixed, **means})
    return lines


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def spectra_of(model: SPAM) -> list[dict[str, Any]]:
    """Sum up the spectra of a model, one entry for each order above 1 and metric.

    Returns
    -------
    list of dict
        ``order``, ``metric``, ``outputs``; the constants of both laws (None where
        there are fewer than three values); ``exponential_share``, ``effective_rank``
        and ``rank_90``; and of the sizes over the largest ``low``, ``middle`` and
        ``high``: their 10, 50 and 90 % quantiles over outputs, one number for each j.

    Examples
    --------
    >>> import torch
    >>> from spam_core.models import SPAM
    >>> factors = {2: (torch.tensor([[2.0, 0.5]]), torch.eye(2))}
    >>> model = SPAM.from_factors(torch.zeros(1), torch.zeros(1, 2), factors)
    >>> [(one["metric"], one["middle"]) for one in spectra_of(model)]
    [('coefficient', [1.0, 0.25])]
    """
    metrics = [m for m in METRICS if m != "data" or model.marginals is not None]
    return [
        _sum_up(model, order, metric)
        for order in model.lam
        if order > 1
        for metric in metrics
    ]


def _sum_up(model: SPAM, order: int, metric: Metric) -> dict[str, Any]:
    found = spectrum_of(model, order, metric)
    alive = np.flatnonzero(found.sizes[:, 0] > 0)
    sizes = found.sizes[alive] / found.sizes[alive, :1]
    laws: dict[str, Any] = dict.fromkeys(_MEANS)
    better = []
    for output in alive:
        try:
            better.append(found.fits(int(output))[0].law == "exponential")
        except ValueError:  # fewer than three values: nothing to compare
            continue
    try:
        exponential, polynomial = fit_decay(sizes.mean(axis=0))
        laws.update({k: v for k, v in asdict(exponential).items() if k in laws})
        laws["polynomial_gamma"] = polynomial.gamma
        laws["polynomial_r2"] = polynomial.r2
    except ValueError:
        pass
    kept = int((sizes.max(axis=0, initial=0.0) > 1e-6).sum())
    quantiles = np.quantile(sizes[:, :kept], [0.1, 0.5, 0.9], axis=0)
    return {
        "order": order,
        "metric": metric,
        "outputs": len(found.values),
        **laws,
        "exponential_share": float(np.mean(better)) if better else None,
        "effective_rank": _mean([found.effective_rank(int(k)) for k in alive]),
        "rank_90": _mean([float(found.rank_for(0.9, int(k))) for k in alive]),
        **{
            name: [float(f"{value:.3g}") for value in row]
            for name, row in zip(("low", "middle", "high"), quantiles, strict=True)
        },
    }
