"""Progress of a training in phases, told as that of one."""

from __future__ import annotations

from dataclasses import replace

from spam_core.training.config import Callbacks, Progress


class Phases:
    """Passes progress on, counting epochs and seconds through all phases.

    Parameters
    ----------
    callbacks : sequence of callable, optional
    total : int
        Epochs of all phases together, at most.

    Attributes
    ----------
    stopped : bool
        Whether a callback asked to stop.
    """

    def __init__(self, callbacks: Callbacks, total: int) -> None:
        self.callbacks, self.total = list(callbacks or ()), total
        self.epochs, self.seconds, self.stopped = 0, 0.0, False

    def next_phase(self, epochs: int, seconds: float, left: int) -> None:
        """Count on from a phase that is over, and may have needed fewer epochs.

        Parameters
        ----------
        epochs : int
        seconds : float
            Of the phase that is over.
        left : int
            Epochs of those to come, at most.
        """
        self.epochs += epochs
        self.seconds += seconds
        self.total = self.epochs + left

    def __call__(self, progress: Progress) -> bool:
        """Tell all callbacks; return whether one says stop."""
        told = replace(
            progress,
            epoch=progress.epoch + self.epochs,
            max_epochs=self.total,
            seconds=progress.seconds + self.seconds,
        )
        # every callback hears of the epoch, also when an earlier one says stop
        answers = [callback(told) for callback in self.callbacks]
        self.stopped = any(answer is True for answer in answers)
        return self.stopped
