"""A search for settings in a child process: what it tells. No Streamlit in here."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import Any, ClassVar

from spam_core.estimators.fitting import METRIC_NAMES
from spam_core.search import SearchResult, Trial
from ui.process import Process
from ui.text import score_text


@dataclass
class SearchRun(Process):
    """One stretch of a search, until it is done or stopped.

    Attributes
    ----------
    model, metric : str
    n_trials : int
        How many there are to be, those of earlier stretches included.
    trials : dict of int to Trial
        Those that are over, by draw.
    default : dict of metric to float or None
        Of the default settings on the validation rows; None while not known.
    since : float
        When the fit under way was begun; of ``time.monotonic``.
    """

    # A lock of its own: a search may take an hour, and others want to train meanwhile.
    command: ClassVar[str] = "search"
    noun: ClassVar[str] = "Search"
    turn: ClassVar[threading.Lock] = threading.Lock()

    model: str
    metric: str
    n_trials: int
    trials: dict[int, Trial] = field(default_factory=dict)
    default: dict[str, float | None] | None = None
    since: float = field(default_factory=time.monotonic)
    _default_known: bool = False

    def again(self, n_trials: int) -> SearchRun:
        """Return the stretch after this one, which knows what this one knew."""
        return SearchRun(
            self.folder,
            self.model,
            self.metric,
            n_trials,
            dict(self.trials),
            self.default,
            _default_known=self._default_known,
        )

    def hear(self, event: dict[str, Any]) -> None:
        """Note what the child says."""
        kind = event.pop("event", None)
        self.since = time.monotonic()
        if kind == "trial":
            trial = Trial(**event)
            self.trials[trial.draw] = trial
        elif kind == "default":
            self.default, self._default_known = event["scores"], True

    def progress(self) -> tuple[float | None, str]:
        """Share of the trials that are over, and one line about them."""
        if self.state == "waiting":
            return 0.0, "Waiting for another search to end"
        # another page may show this one while the thread hears of a new trial
        found = self.found()
        done = len(found.trials)
        share = min(1.0, done / self.n_trials)
        passed = f"{time.monotonic() - self.since:.0f} s so far"
        if not self._default_known:
            return (
                share,
                f"Default settings, to compare with: {passed}",
            )
        if done >= self.n_trials:
            return share, "Done"
        text = f"Trial {done + 1} of {self.n_trials}: {passed}"
        if found.ranked:
            best = score_text(found.best.scores[self.metric])
            text += f". Best so far: {METRIC_NAMES[self.metric]} {best}"
        return share, text

    def found(self) -> SearchResult:
        """Return the trials of now; which settings mattered isn't known yet."""
        trials = [self.trials[draw] for draw in sorted(self.trials)]
        return SearchResult(self.model, "", self.metric, trials, {})


@dataclass(frozen=True)
class Search:
    """What a visitor has searched with one model and one aim on one table.

    Attributes
    ----------
    dataset : str
    run : SearchRun
        The last stretch; its folder has the trials of all.
    """

    dataset: str
    run: SearchRun
