"""How strongly a SPAM is smoothed, and the candidates that validation chooses from."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from spam_core.models.ensemble import SPAMEnsemble

_REFERENCE_CELLS = 16.0


@dataclass(frozen=True)
class Regularization:
    """Penalties and step lengths of one candidate.

    Attributes
    ----------
    shape_variation : float
        Penalty on the sum of absolute weights of order 1, divided by the number of
        rows. With the spline map that sum is the shapes' total variation: steep where
        the rows ask for it, flat elsewhere (Tibshirani 2014, "Adaptive piecewise
        polynomial estimation via trend filtering").
    shape_penalty : float
        Quadratic penalty on order 1's weights, divided by the number of rows.
    shape_speed : float
        Step length at order 1 as a multiple of the learning rate; jumps need long ones.
    basis_smoothness : float
        Numeric columns of the bases are scaled by ``min(1, 16 / K) ** smoothness``;
        finer knots then take shorter steps and a dearer penalty.
    basis_penalty : float
        Quadratic penalty on bases and lambda, divided by the number of rows.
    basis_speed : float
        Step length and initial size of the bases, as a multiple; lambda is then held
        down by its square.
    """

    shape_variation: float = 10.0
    shape_penalty: float = 0.03
    shape_speed: float = 1.0
    basis_smoothness: float = 1.0
    basis_penalty: float = 10.0
    basis_speed: float = 1.0


CANDIDATES: dict[str, Regularization] = {
    "keen": Regularization(0.2, shape_speed=5.0, basis_penalty=1.0),
    "light": Regularization(shape_variation=0.6, shape_speed=5.0),
    "rough": Regularization(basis_smoothness=0.0),
    "loose": Regularization(3.0, basis_smoothness=0.5, basis_penalty=1.0),
    "smooth": Regularization(),
    "swift": Regularization(basis_speed=2.0),
    "strong": Regularization(shape_variation=5.0, basis_penalty=50.0),
}
"""What ``regularization="auto"`` tries; names are accepted as they are."""

FEW_ROWS = 5_000
"""Rows up to which "keen" is tried: where many levels are seen a few times each, few
rows ask for it (Titanic's cabins and places); larger tables never chose it."""

MANY_ROWS = 50_000
"""Rows from which on "loose" is tried: it needs many, and costs time on any."""

NETWORKS = Regularization(shape_variation=0.0, shape_penalty=0.3)
"""For feature maps of networks, whose weights have no total variation."""


def regularize(ensemble: SPAMEnsemble, choices: list[Regularization]) -> None:
    """Set each member's scales and penalties.

    Parameters
    ----------
    ensemble : SPAMEnsemble of M members
    choices : list of M Regularization
    """
    feature_map = ensemble.feature_map
    cells = torch.tensor(feature_map.layout.n_cells, dtype=torch.float32)
    owner = feature_map.feature_of_column.clamp(min=0)
    ratio = (_REFERENCE_CELLS / cells[owner].clamp_min(1)).clamp(max=1)
    ratio[feature_map.n_numeric :] = 1.0
    if not feature_map.centred:  # only a spline has a column a cell
        ratio[:] = 1.0
    speed = torch.tensor([choice.shape_speed for choice in choices])
    smoothness = torch.tensor([choice.basis_smoothness for choice in choices])
    rest = torch.tensor([choice.basis_speed for choice in choices])
    ensemble.set_scale(
        speed.expand(len(ratio), -1), rest * ratio[:, None] ** smoothness
    )
    # in units of the rescaled parameter, so that speed changes the step alone
    ensemble.set_penalty(
        torch.tensor([choice.shape_penalty for choice in choices]) * speed**2,
        torch.tensor([choice.basis_penalty for choice in choices]) * rest**2,
        torch.tensor([choice.shape_variation for choice in choices]) * speed,
    )
