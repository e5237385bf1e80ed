"""What each setting of a SPAM is worth: one is varied, the others stay as they are."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from spam_core.benchmark.fits import (
    Fit,
    Plan,
    Store,
    by_variant,
    command,
    mean_and_spread,
    measure_fits,
    measured,
    settings_of,
    wanted,
)
from spam_core.benchmark.report import Column, Report
from spam_core.benchmark.variants import Variant, find_tables
from spam_core.estimators.fitting import refuse_settings
from spam_core.estimators.registry import MODELS

ABLATION_TABLES = ("covertype", "newsgroups", "cub", "bike_sharing")

AXES: Mapping[str, tuple[Any, ...]] = {
    "order": (1, 2, 3, 4),
    "rank": (1, 2, 4, 8, 16, 32, 64, 128),
    "l1": (0.0, 0.01, 0.03, 0.1, 0.3, 1.0),
    "n_members": (1, 2, 4, 8, 16),
    "n_knots": (4, 8, 16, 32, 64, 128),
}
"""Settings that are varied, and their values."""

COLUMNS = (
    Column("table", "table"),
    Column("label", "model"),
    Column("shared", "its other settings"),
    Column("axis", "setting"),
    Column("value", "value"),
    Column("metric", "metric"),
    Column("mean", "mean", 4),
    Column("spread", "spread", 2),
    Column("n_seeds", "seeds"),
    Column("pairs", "share of pairs with a weight", 3),
    Column("seconds", "seconds", 2),
    Column("note", "note"),
)

_TEXT = (
    "One setting of a SPAM is varied, the others stay as the line says. A seed draws "
    "the split as in the accuracy benchmark; scores are those of the test rows, mean "
    "and standard deviation over seeds. Share of pairs with a weight: of all pairs of "
    "columns, those that a component of order 2 gives a weight other than 0. L1 acts "
    "on the weights of all orders and not on lambda (as in the paper): a strong one "
    "holds order 1 down, components that all classes share take its place, and there "
    "can be more pairs again."
)


def ablation(
    folder: Path,
    tables: Sequence[str] | None = None,
    axes: Sequence[str] | None = None,
    model: str = "spam",
    parameters: Mapping[str, Any] | None = None,
    seeds: Sequence[int] = (0, 1, 2),
    plan: Plan | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Report:
    """Measure what isn't measured yet, and write it down after every fit.

    Parameters
    ----------
    folder : Path
        Of ``ablation.json`` and ``ablation.md``; what they hold is kept.
    tables : sequence of str, optional
        Data sets; by default those of `ABLATION_TABLES`.
    axes : sequence of str, optional
        Keys of `AXES`; by default all. A sparse table has no knots.
    model : {"spam", "spam-linear"}
        In the registry.
    parameters : mapping, optional
        Settings that all fits share.
    seeds, plan, tell
        See `accuracy`.

    Returns
    -------
    Report

    Raises
    ------
    ValueError
        If a table, an axis or a setting is unknown, or the model refuses a value;
        before any work.
    """
    names = find_tables(tables or ABLATION_TABLES)
    unknown = [axis for axis in axes or () if axis not in AXES]
    if unknown:
        raise ValueError(
            f"There is no setting {', '.join(map(repr, unknown))} to vary; choose from "
            f"{', '.join(AXES)}"
        )
    if model not in ("spam", "spam-linear"):
        raise ValueError(f'model must be "spam" or "spam-linear", got {model!r}')
    variants = [
        _variant(model, axis, value, parameters or {})
        for axis in axes or AXES
        for value in AXES[axis]
        if not (axis == "n_knots" and model == "spam-linear")
    ]
    store = Store(folder, make_report)
    for variant in variants:
        refuse_settings(model, variant.parameters)
    fits = [{**fit, "pairs": None} for fit in wanted(names, variants, seeds)]
    measure_fits(fits, plan or Plan(), store, tell)
    return store.report()


def _variant(
    model: str, axis: str, value: Any, parameters: Mapping[str, Any]
) -> Variant:
    key = f"{model}: {axis} = {value}"  # `_axis` reads it
    return Variant(key, key, model, {**parameters, axis: value})


def make_report(fits: Sequence[Fit]) -> Report:
    """Sum fits up.

    Parameters
    ----------
    fits : sequence
        Oldest first.
    """
    return Report(
        name="ablation",
        title="Ablations",
        text=_TEXT,
        command=" && ".join(_commands(fits)),
        columns=COLUMNS,
        results=summarise(fits),
        settings=settings_of(fits),
        fits=fits,
    )


def _commands(fits: Sequence[Fit]) -> list[str]:
    """Return commands that measure these fits: one for all that share settings."""
    together: dict[tuple[str, ...], list[Fit]] = {}
    for fit in fits:
        key = fit["table"], fit["model"], *map(shlex.quote, _shared(fit))
        together.setdefault(key, []).append(fit)
    commands = []
    for (table, model, *shared), same in together.items():
        axes = [axis for axis in AXES if axis in {_axis(fit) for fit in same}]
        more = {"set": [" --set ".join(shared)]} if shared else {}
        commands.append(
            command("ablation", same, tables=[table], axes=axes, model=[model], **more)
        )
    return commands


def _axis(fit: Fit) -> str:
    """Return the setting that was varied, which the label says."""
    return str(fit["label"].partition(": ")[2].partition(" = ")[0])


def _shared(fit: Fit) -> list[str]:
    """Return the settings that weren't varied and aren't defaults, as NAME=VALUE."""
    varied = _axis(fit)
    return [f"{k}={v}" for k, v in fit["parameters"].items() if k != varied]


def summarise(fits: Sequence[Fit]) -> list[dict[str, Any]]:
    """Sum up the fits of each table and value, by table, setting and value."""
    found = [_result(same) for same in by_variant(fits)]
    order = list(AXES)
    tables = list(dict.fromkeys(result["table"] for result in found))

    def place(result: Mapping[str, Any]) -> tuple[int, str, int, float]:
        axis = order.index(result["axis"])
        return tables.index(result["table"]), result["model"], axis, result["value"]

    return sorted(found, key=place)


def _result(fits: Sequence[Fit]) -> dict[str, Any]:
    axis = _axis(fits[0])
    pairs = [fit["pairs"] for fit in measured(fits) if fit["pairs"] is not None]
    return {
        **mean_and_spread(fits),
        "label": MODELS[fits[0]["model"]].title,
        "shared": ", ".join(_shared(fits[0])) or "defaults",
        "axis": axis,
        "value": fits[0]["parameters"][axis],
        "pairs": fmean(pairs) if pairs else None,
    }
