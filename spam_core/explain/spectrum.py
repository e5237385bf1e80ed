"""Spectral decay: how fast the singular values of the weight tensors fall.

``(lambda, u)`` isn't identified: u times a with lambda times a**-l is the same model.
So values are taken after the bases are made comparable in one of two metrics:

- data: ``||u||^2 = sum_i E <u_i, phi_i>^2`` under the training marginals, the size of
  what a component does to rows like the training rows;
- coefficient: ``||u||^2`` of the numbers themselves, the paper's.

At order 2 values are the eigenvalues of ``W_c = U diag(lambda_c) U^T`` in the metric;
above it ``lambda ||u||^l``, since tensors of higher order have no eigenvalues to speak
of.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from spam_core.explain.decay import DecayFit, fit_decay
from spam_core.explain.frozen import Floats, frozen
from spam_core.models.spam import SPAM

Metric = Literal["data", "coefficient"]
METRICS: tuple[Metric, ...] = ("data", "coefficient")
_NEGLIGIBLE = 1e-12


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Sorted values of one order's weight tensor.

    Attributes
    ----------
    order : int
    metric : {"data", "coefficient"}
    values : ndarray of shape (C, R)
        Signed, sorted by size for each output; at odd orders none is negative.
    norms : ndarray of shape (C, R)
        Norm of the tensor made of the first 1, 2, .. R components.
    """

    order: int
    metric: Metric
    values: Floats
    norms: Floats

    @property
    def sizes(self) -> Floats:
        """Absolute values, (C, R)."""
        return np.abs(self.values)

    @property
    def energy(self) -> Floats:
        """Share of the tensor's squared norm in the first components, (C, R).

        Above order 2 components overlap, so it may pass 1 on the way.
        """
        total = self.norms[:, -1:]
        ratio = np.divide(
            self.norms, total, out=np.zeros_like(self.norms), where=total > 0
        )
        return ratio**2

    def effective_rank(self, output: int = 0) -> float:
        """Exponential of the entropy of the sizes' shares (Roy and Vetterli, 2007).

        Examples
        --------
        >>> flat = Spectrum(2, "data", np.ones((1, 4)), np.ones((1, 4)))
        >>> round(flat.effective_rank(), 6)
        4.0
        """
        sizes = self.sizes[output]
        total = sizes.sum()
        if total == 0:
            return 0.0
        shares = sizes[sizes > 0] / total
        return float(np.exp(-(shares * np.log(shares)).sum()))

    def rank_for(self, energy: float, output: int = 0) -> int:
        """Return how many components hold a share of the energy from there on.

        Examples
        --------
        >>> Spectrum(2, "data", np.ones((1, 4)), np.arange(1, 5)[None] / 4).rank_for(1)
        4
        """
        below = np.flatnonzero(self.energy[output] < energy)
        # above order 2 energy may pass the share on the way and fall back
        first = int(below[-1]) + 2 if len(below) else 1
        return min(first, int(self.values.shape[1]))

    def fits(self, output: int = 0) -> tuple[DecayFit, DecayFit]:
        """Fit both decay laws, the better one first.

        Raises
        ------
        ValueError
            With fewer than three values that aren't negligible.
        """
        sizes = self.sizes[output]
        laws = fit_decay(sizes)
        return laws if laws[0].r2 >= laws[1].r2 else (laws[1], laws[0])


def spectrum_of(model: SPAM, order: int = 2, metric: Metric = "data") -> Spectrum:
    """Return the sorted spectrum of one order.

    Parameters
    ----------
    model : SPAM
    order : int
        2 or more, and in the model.
    metric : {"data", "coefficient"}

    Raises
    ------
    ValueError
        If the order isn't in the model, the metric is unknown, or it is "data" and the
        model has no marginals.
    """
    gram, lam = gram_of(model, order, metric), model.lam[order]
    rows, norms = [], []
    for weights in lam:
        values = (
            _eigen(gram, weights)[0] if order == 2 else _sizes(gram, weights, order)
        )
        order_of = torch.argsort(values.abs(), descending=True, stable=True)
        rows.append(values[order_of])
        norms.append(
            _norms(gram, weights, order)
            if order > 2
            else (values[order_of] ** 2).cumsum(0).sqrt()
        )
    return Spectrum(
        order,
        metric,
        frozen(torch.stack(rows).numpy()),
        frozen(torch.stack(norms).numpy()),
    )


def gram_of(model: SPAM, order: int, metric: Metric) -> Tensor:
    """Inner products of the components' bases in a metric, (R, R)."""
    if order not in model.lam or order < 2:
        orders = [k for k in model.lam if k > 1]
        raise ValueError(f"The model has components at orders {orders}, not {order}")
    if metric not in METRICS:
        raise ValueError(f"metric must be one of {list(METRICS)}, got {metric!r}")
    if metric == "coefficient":
        return model.coefficient_gram(order)
    if model.marginals is None:
        raise ValueError(
            'metric="data" needs the training distribution, which this model '
            'doesn\'t have; use metric="coefficient".'
        )
    nodes, weights = model.marginals.nodes, model.marginals.weights
    gram = torch.zeros(2 * (model.lam[order].shape[1],), dtype=torch.float64)
    for start in range(0, len(nodes), 128):  # bounds the temporary
        rows = slice(start, start + 128)
        scores = model.component_scores(nodes[rows])[order]
        flat = (scores * weights[rows, :, None].sqrt()).flatten(0, 1)
        gram += flat.T @ flat
    return gram


def _root(gram: Tensor) -> tuple[Tensor, Tensor]:
    """L and its pseudo-inverse's transpose: ``L L^T = gram``, both (R, rank)."""
    values, vectors = torch.linalg.eigh(gram)
    kept = values > _NEGLIGIBLE * values[-1].clamp_min(1e-300)
    values, vectors = values[kept], vectors[:, kept]
    return vectors * values.sqrt(), vectors / values.sqrt()


def _eigen(gram: Tensor, lam: Tensor) -> tuple[Tensor, Tensor]:
    """Eigenvalues, and what combines the components into the eigenvectors, (R, R').

    Nonzero eigenvalues of ``S^1/2 U diag(lam) U^T S^1/2`` are those of
    ``L^T diag(lam) L`` where ``L L^T = U^T S U``.
    """
    root, inverse = _root(gram)
    values, vectors = torch.linalg.eigh(root.T @ (lam[:, None] * root))
    return values, inverse @ vectors


def _sizes(gram: Tensor, lam: Tensor, order: int) -> Tensor:
    """``lambda ||u||^l``; at odd orders u is flipped so that none is negative."""
    values = lam * gram.diagonal().clamp_min(0).sqrt() ** order
    return values.abs() if order % 2 else values


def _norms(gram: Tensor, lam: Tensor, order: int) -> Tensor:
    """Norms of the partial sums of ``lam u^(x l)``, largest components first."""
    sizes = _sizes(gram, lam, order).abs()
    kept = torch.argsort(sizes, descending=True, stable=True)
    product = lam[:, None] * gram**order * lam
    product = product[kept][:, kept]
    partial = product.cumsum(0).cumsum(1).diagonal()
    return partial.clamp_min(0).sqrt()


def truncate(model: SPAM, rank: int | dict[int, int], metric: Metric = "data") -> SPAM:
    """Return a smaller model that keeps the largest components, without retraining.

    Parameters
    ----------
    model : SPAM
    rank : int, or dict of order to int
        Components to keep at every order above 1, or at those named.
    metric : {"data", "coefficient"}

    Returns
    -------
    SPAM
        With one member. With one output, order 2 is the best approximation of its rank
        in the metric's Frobenius norm (not in predictions). Otherwise components are
        ranked by ``sqrt(sum_c lambda_c^2) ||u||^l``.

    Raises
    ------
    ValueError
        If a rank isn't a positive integer, or an order isn't in the model.
    """
    ranks = rank if isinstance(rank, dict) else {k: rank for k in model.lam if k > 1}
    for order, kept in ranks.items():
        if isinstance(kept, bool) or not isinstance(kept, int) or kept < 1:
            raise ValueError(f"rank must be a positive integer, got {kept!r}")
        gram_of(model, order, "coefficient")  # refuses orders that aren't there
    combine, lams = {}, {}
    for order, kept in ranks.items():
        gram, lam = gram_of(model, order, metric), model.lam[order]
        if order == 2 and len(lam) == 1:
            values, vectors = _eigen(gram, lam[0])
            best = torch.argsort(values.abs(), descending=True, stable=True)[:kept]
            combine[order], lams[order] = vectors[:, best], values[best][None]
        else:
            pooled = lam.square().sum(0).sqrt()
            sizes = _sizes(gram, pooled, order)
            best = torch.argsort(sizes.abs(), descending=True, stable=True)[:kept]
            eye = torch.eye(len(gram), dtype=gram.dtype)
            combine[order], lams[order] = eye[:, best], lam[:, best]
    return model.recombined(combine, lams)


@dataclass(frozen=True)
class BoundTerms:
    """Terms of Theorem 1 as printed; not a guarantee for this model.

    Attributes
    ----------
    estimation : float
        ``2 B_lambda (sum_l B_u^l sqrt(r_l)) sqrt(d / n)``.
    approximation : float
        ``C1 / C2 sum_{l >= 2} exp(-r_l^gamma)``, the printed tail.
    exact_tail : float
        The same law's tail, summed: what the printed one stands for.
    confidence : float
        ``5 sqrt(log(4 / delta) / n)``.
    """

    estimation: float
    approximation: float
    exact_tail: float
    confidence: float


def bound_terms(
    model: SPAM, n_rows: int, fit: DecayFit, delta: float = 0.05
) -> BoundTerms:
    """Evaluate the terms of Theorem 1 with unit bases.

    Parameters
    ----------
    model : SPAM
    n_rows : int
        Training rows.
    fit : DecayFit
        An exponential law.
    delta : float
        One minus the confidence.

    Raises
    ------
    ValueError
        If the law isn't exponential, or `delta` isn't in (0, 1].
    """
    if fit.law != "exponential":
        raise ValueError("Theorem 1 assumes the exponential law")
    if not 0 < delta <= 1:
        raise ValueError(f"delta must be in (0, 1], got {delta}")
    ranks = {order: lam.shape[1] for order, lam in model.lam.items() if order > 1}
    sizes = [
        _sizes(gram_of(model, order, "coefficient"), lam, order)
        for order in ranks
        for lam in model.lam[order]
    ]
    norm = math.sqrt(sum(float(s.square().sum()) for s in sizes))
    width = model.feature_map.n_features
    roots = 1.0 + sum(math.sqrt(rank) for rank in ranks.values())  # B_u = 1
    return BoundTerms(
        2 * norm * roots * math.sqrt(width / n_rows),
        fit.c1
        / fit.c2
        * sum(math.exp(-(float(r) ** fit.gamma)) for r in ranks.values()),
        sum(fit.tail(rank) for rank in ranks.values()),
        5 * math.sqrt(math.log(4 / delta) / n_rows),
    )
