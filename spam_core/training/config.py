"""Settings of the training loop, and what it reports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class TrainingConfig:
    """How long and how fast to train.

    Attributes
    ----------
    learning_rate : float
        Of Adam at the start; a cosine takes it to 0 over `max_epochs`.
    batch_size : int
        Rows a step. Halved when memory runs out.
    max_epochs : int
        At most this many passes over the rows.
    patience : int
        Stop after this many epochs without a lower validation loss.
    weight_decay : float
        Decoupled decay, per step, of every parameter (AdamW).
    l1 : float
        Proximal L1 on the bases: each step shrinks them by learning rate x l1.
    average : bool
        Validate and keep an exponential moving average of the parameters.
    """

    learning_rate: float = 0.01
    batch_size: int = 256
    max_epochs: int = 25
    patience: int = 6
    weight_decay: float = 0.0
    l1: float = 0.0
    average: bool = True


@dataclass(frozen=True)
class Progress:
    """What a callback is told after each epoch.

    Attributes
    ----------
    epoch, max_epochs : int
        Epochs done, counted from 1, and at most to come.
    train_loss, validation_loss : float
        Mean over members, squared error in units of the target's sd or log loss;
        validation is NaN without held-out rows.
    seconds : float
        Since training began.
    """

    epoch: int
    max_epochs: int
    train_loss: float
    validation_loss: float
    seconds: float


Callback = Callable[[Progress], bool | None]
Callbacks = Sequence[Callback] | None
