"""What a search has found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from spam_core.estimators.fitting import LOWER_IS_BETTER, ModelSpec
from spam_core.search.space import Space, label

if TYPE_CHECKING:
    import optuna

COMPLETE, PRUNED, FAILED = "complete", "pruned", "failed"


@dataclass(frozen=True)
class Trial:
    """One set of settings that was tried.

    Attributes
    ----------
    draw : int
        Its place in the search, from 0.
    state : {"complete", "pruned", "failed"}
    settings : mapping of str to value
        As the model takes them.
    scores : mapping of metric to float
        On the validation rows; empty unless it is complete.
    seconds : float
        Of the fit.
    error : str or None
        Why it failed.
    """

    draw: int
    state: str
    settings: Mapping[str, Any]
    scores: Mapping[str, float]
    seconds: float
    error: str | None = None

    @classmethod
    def of(cls, trial: optuna.trial.FrozenTrial, space: Space) -> Trial:
        """Read a trial that is over."""
        states = {"COMPLETE": COMPLETE, "PRUNED": PRUNED, "FAIL": FAILED}
        settings = {
            name: space[name].value_of(found) for name, found in trial.params.items()
        }
        told = trial.user_attrs
        return cls(
            told["draw"],
            states[trial.state.name],
            settings,
            told.get("scores", {}),
            told.get("seconds", 0.0),
            told.get("error"),
        )


def is_lost(trial: optuna.trial.FrozenTrial) -> bool:
    """Whether a trial ended with its process, or was stopped: it is to be redone."""
    return trial.state.name == "FAIL" and "error" not in trial.user_attrs


def read_trials(study: optuna.Study, space: Space) -> tuple[Trial, ...]:
    """Return the trials that are over, by draw; one that was redone counts once."""
    found = {}
    for trial in study.get_trials(deepcopy=False):
        over = trial.state.is_finished() and not is_lost(trial)
        if "draw" in trial.user_attrs and over:
            found[trial.user_attrs["draw"]] = Trial.of(trial, space)
    return tuple(found[draw] for draw in sorted(found))


@dataclass(frozen=True)
class SearchResult:
    """Trials of a search, the best of them, and which settings mattered.

    Attributes
    ----------
    model : str
        Name in the registry.
    table : str
        What was learnt from.
    metric : str
        What was to be best, on the validation rows.
    trials : tuple of Trial
    importance : mapping of setting to float
        Share of the metric's variance among the trials that each setting explains
        (functional ANOVA: Hutter, Hoos and Leyton-Brown 2014), largest first; empty
        while too few are complete to tell.
    """

    model: str
    table: str
    metric: str
    trials: Sequence[Trial]
    importance: Mapping[str, float]

    @property
    def ranked(self) -> list[Trial]:
        """Complete trials, the best first."""
        sign = 1 if self.metric in LOWER_IS_BETTER else -1
        done = [trial for trial in self.trials if trial.state == COMPLETE]
        return sorted(done, key=lambda trial: sign * trial.scores[self.metric])

    @property
    def best(self) -> Trial:
        """The best trial.

        Raises
        ------
        ValueError
            If none is complete; it says why the last one isn't.
        """
        ranked = self.ranked
        if not ranked:
            errors = [t.error for t in self.trials if t.error is not None]
            why = f"; the last one failed: {errors[-1]}" if errors else ""
            raise ValueError(
                f"None of {len(self.trials)} trials of {self.model} is complete{why}"
            )
        return ranked[0]

    def spec(self, seed: int = 0) -> ModelSpec:
        """Return the best settings, to be fitted on training and validation rows."""
        return ModelSpec(self.model, {**self.best.settings, "random_state": seed})

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each trial: state, scores, seconds and settings."""
        rows = [
            {
                "trial": trial.draw,
                "state": trial.state,
                **{name: trial.scores.get(name) for name in self._metrics()},
                "seconds": trial.seconds,
                **{name: _cell(value) for name, value in trial.settings.items()},
                "error": trial.error,
            }
            for trial in self.trials
        ]
        return pd.DataFrame(rows)

    def _metrics(self) -> list[str]:
        found = [name for trial in self.trials for name in trial.scores]
        return list(dict.fromkeys([self.metric, *found]))


def _cell(value: Any) -> Any:
    """Return what a column can hold: of a list, its text."""
    return label(value) if isinstance(value, list | tuple) else value
