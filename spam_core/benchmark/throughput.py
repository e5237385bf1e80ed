"""Rows per second at inference: SPAM beside a NAM and networks, as in the paper."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from spam_core.benchmark.report import Column, Report
from spam_core.data.encoding import NUMBER, Encoded
from spam_core.models.baselines import DNN, DNN_ARCHITECTURES
from spam_core.models.ensemble import SPAMEnsemble
from spam_core.models.feature_maps import FeatureMap, Layout, LinearMap
from spam_core.models.networks import NeuralMap
from spam_core.models.spam import SPAM
from spam_core.models.spline import SplineMap

SHAPES = {"california": (8, 1), "heloc": (23, 1), "covertype": (54, 7)}
"""Columns and outputs of the paper's tables; newsgroups is sparse."""

_PAPER = {
    "NAM": (5e5, 1.2e5, 8e4),
    "SPAM-Linear, order 2": (6.1e7, 6.7e7, 6.1e7),
    "SPAM-Neural, order 2": (1.7e5, 7.9e3, 4.1e3),
    "SPAM-Linear, order 3": (3.2e7, 3.7e7, 3.9e7),
    "SPAM-Neural, order 3": (1.1e5, 5.3e3, 2.6e3),
    "DNN": (1.3e7, 1.3e7, 1.3e7),
}
_KNOTS = 64
_HIDDEN = (64, 64, 32)
_BATCHES = (1024, 8192, 65_536, 524_288)

_COLUMNS = (
    Column("table", "table"),
    Column("model", "model"),
    Column("rows_per_second", "rows a second", 3),
    Column("paper", "paper, on its GPU", 2),
    Column("against_dnn", "times the DNN", 2),
    Column("batch", "rows at once", 6),
    Column("multiply_adds", "multiply-adds a row", 4),
    Column("share_of_peak", "share of measured peak", 2),
)

_TEXT = (
    "Rows per second that a model scores, encoded rows in and scores out, in single "
    "precision on {device}, one model (no ensemble), random weights. For each the "
    "best of {batches} rows at once. Share of measured peak: the larger of its "
    "multiply-adds against a matrix product of 4,096 x 4,096, and of the bytes of its "
    "rows and scores against a copy in memory."
)


@dataclass(frozen=True)
class Candidate:
    """A model to time.

    Attributes
    ----------
    score : callable
        Encoded rows to scores.
    multiply_adds : int
        A row.
    """

    score: Callable[[Encoded], Tensor]
    multiply_adds: int


def throughput(
    tables: Sequence[str] = tuple(SHAPES),
    rank: int = 64,
    device: str = "cpu",
    seconds: float = 0.5,
    seed: int = 0,
    command: str = "",
    tell: Callable[[str], None] = lambda _: None,
) -> Report:
    """Time how many rows a second models score.

    Parameters
    ----------
    tables : sequence of str
        Names in `SHAPES`; only their sizes matter.
    rank : int
        Components of orders 2 and 3.
    device : {"cpu", "cuda"}
    seconds : float
        Time to spend on each measurement, at least.
    seed : int
        Of rows and weights.
    command, tell : see `explanation_speed`

    Returns
    -------
    Report

    Raises
    ------
    ValueError
        If a table is unknown.
    """
    unknown = [name for name in tables if name not in SHAPES]
    if unknown:
        raise ValueError(f"tables must be among {[*SHAPES]}, got {unknown}")
    place = torch.device(device)
    products, copied = _peaks(place, seconds)
    results: list[dict[str, Any]] = []
    for name in tables:
        d, n_outputs = SHAPES[name]
        found: list[dict[str, Any]] = []
        for title, candidate in _candidates(d, n_outputs, rank, seed, place):
            tell(f"{name}: {title}")
            rate, batch = _best_rate(candidate, d, place, seconds, seed)
            # a row is a number and a code for each column
            moved = 8 * d + 4 * n_outputs
            share = max(candidate.multiply_adds / products, moved / copied) * rate
            paper = _PAPER.get(title)
            found.append(
                {
                    "table": name,
                    "model": title,
                    "rows_per_second": rate,
                    "paper": None if paper is None else paper[[*SHAPES].index(name)],
                    "batch": batch,
                    "multiply_adds": candidate.multiply_adds,
                    "share_of_peak": share,
                }
            )
        own = next(r["rows_per_second"] for r in found if r["model"] == "DNN")
        results += [{**r, "against_dnn": r["rows_per_second"] / own} for r in found]
    return Report(
        name=f"throughput_{'cpu' if place.type == 'cpu' else 'gpu'}",
        title="Rows per second at inference",
        text=_TEXT.format(
            device="the processor" if place.type == "cpu" else "a GPU",
            batches=", ".join(f"{batch:,}" for batch in _BATCHES),
        ),
        command=command,
        columns=_COLUMNS,
        results=results,
        settings={
            "rank": rank,
            "seed": seed,
            "multiply_adds_per_second": f"{products:.3g}",
            "bytes_per_second": f"{copied:.3g}",
        },
    )


def _candidates(
    d: int, n_outputs: int, rank: int, seed: int, device: torch.device
) -> list[tuple[str, Candidate]]:
    def generator() -> torch.Generator:
        return torch.Generator().manual_seed(seed)

    def spam(feature_map: FeatureMap, order: int) -> SPAM:
        ranks = dict.fromkeys(range(2, order + 1), rank)
        ensemble = SPAMEnsemble(
            feature_map, ranks, 1, n_outputs, None, generator(), init_scale=0.1
        )
        return ensemble.freeze().to(device, torch.float32)

    knots = Layout((_KNOTS,) * d, (0,) * d)
    one = Layout((1,) * d, (0,) * d)
    weights = d * sum(a * b for a, b in pairwise([1, *_HIDDEN, 1]))

    def neural(order: int) -> NeuralMap:
        return NeuralMap(knots, range(1, order + 1), 1, generator(), 1, _HIDDEN)

    found = [("NAM", Candidate(spam(neural(1), 1).score, weights + d * n_outputs))]
    for order in (2, 3):
        model = spam(LinearMap(one), order)
        own = _products(model, d)
        found.append((f"SPAM-Linear, order {order}", Candidate(model.score, own)))
        # the centring of the spline adds a constant only: it is left out
        model = spam(_Uncentred(knots), order)
        found.append((f"SPAM (spline), order {order}", Candidate(model.score, 2 * own)))
        model = spam(neural(order), order)
        own = _products(model, d) + order * weights
        found.append((f"SPAM-Neural, order {order}", Candidate(model.score, own)))
    for k, hidden in enumerate(DNN_ARCHITECTURES):
        network = DNN(one, hidden, n_outputs, generator()).to(device).eval()
        own = sum(a * b for a, b in pairwise([d, *hidden, n_outputs]))
        title = "DNN" if k == 0 else f"DNN {'-'.join(map(str, hidden))}"
        found.append((title, Candidate(network, own)))
    return found


class _Uncentred(SplineMap):
    centred = False


def _products(model: SPAM, d: int) -> int:
    """Count multiply-adds of the components and of their powers."""
    total = 0
    for order, lam in model.lam.items():
        n_outputs, rank = lam.shape
        total += d * rank + (0 if order == 1 else rank * (order - 1 + n_outputs))
    return total


@torch.inference_mode()
def _best_rate(
    candidate: Candidate, d: int, device: torch.device, seconds: float, seed: int
) -> tuple[float, int]:
    """Rows a second and how many at once; what takes long isn't tried with more."""
    generator = torch.Generator().manual_seed(seed)
    best = (0.0, 0)
    for batch in _BATCHES:
        values = torch.rand(batch, d, generator=generator).to(device)
        codes = torch.full((batch, d), NUMBER, dtype=torch.int32, device=device)
        rows = Encoded(values, codes)
        each = _time(functools.partial(candidate.score, rows), device, seconds)
        best = max(best, (batch / each, batch))
        if each > seconds / 5:
            break
    return best


@torch.inference_mode()
def _peaks(device: torch.device, seconds: float) -> tuple[float, float]:
    """Measure multiply-adds and bytes a second of this device."""
    size = 4096
    square = torch.rand(size, size, device=device)
    product = torch.empty_like(square)
    products = size**3 / _time(
        lambda: torch.mm(square, square, out=product), device, seconds
    )
    source = torch.rand(1 << 26, device=device)
    target = torch.empty_like(source)
    copied = 8 * len(source) / _time(lambda: target.copy_(source), device, seconds)
    return products, copied


def _time(run: Callable[[], Any], device: torch.device, seconds: float) -> float:
    """Seconds of one run: the best of five stretches."""

    def stretch(times: int) -> float:
        started = time.perf_counter()
        for _ in range(times):
            run()
        if device.type == "cuda":
            torch.cuda.synchronize()
        return (time.perf_counter() - started) / times

    stretch(1)  # the first run sets things up
    times = max(1, int(seconds / 5 / max(stretch(1), 1e-7)))
    return min(stretch(times) for _ in range(5))
