"""How strongly a SPAM is smoothed, and the candidates that validation chooses from."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from spam_core.models.ensemble import SPAMEnsemble

_REFERENCE_CELLS = 16.0


@dataclass(frozen=True)
class Regularization:
    """Penalties and step lengths of one candidate.

    Attributes
    ----------
    shape_smoothness, basis_smoothness : float
        Numeric columns are scaled by ``min(1, 16 / K) ** smoothness`` at order 1 and
        above it; finer knots then take shorter steps and a dearer penalty.
    shape_penalty, basis_penalty : float
        Quadratic penalty on order 1's weights, and on bases and lambda, divided by the
        number of rows.
    shape_speed : float
        Step length at order 1 as a multiple of the learning rate.
    """

    shape_smoothness: float = 0.5
    basis_smoothness: float = 0.5
    shape_penalty: float = 0.3
    basis_penalty: float = 10.0
    shape_speed: float = 1.0


CANDIDATES: dict[str, Regularization] = {
    "light": Regularization(0.0, 0.5, 0.1, 10.0, 5.0),
    "rough": Regularization(0.5, 0.25, 0.3, 10.0, 1.0),
    "smooth": Regularization(0.5, 1.0, 0.3, 10.0, 1.0),
    "strong": Regularization(1.0, 1.0, 10.0, 50.0, 1.0),
}
"""What ``regularization="auto"`` tries; names are accepted as they are."""


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

    def columns(values: list[float]) -> Tensor:
        return torch.stack([ratio**value for value in values], dim=1)

    speed = torch.tensor([choice.shape_speed for choice in choices])
    first = columns([choice.shape_smoothness for choice in choices]) * speed
    rest = columns([choice.basis_smoothness for choice in choices])
    ensemble.set_scale(first, rest)
    # in units of the rescaled parameter, so that speed changes the step alone
    ensemble.set_penalty(
        torch.tensor([choice.shape_penalty for choice in choices]) * speed**2,
        torch.tensor([choice.basis_penalty for choice in choices]),
    )
