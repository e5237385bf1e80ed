"""What the estimators that take sparse tables do alike with one."""

from __future__ import annotations

from spam_core.data.sparse import SparseRows
from spam_core.estimators.gradient import Training
from spam_core.explain.record import TrainingRecord
from spam_core.explain.word_summary import summarise_words
from spam_core.explain.word_terms import column_moments
from spam_core.training.config import Callbacks, TrainingConfig
from spam_core.training.fit import Problem
from spam_core.training.sparse import SparseSettings, fit_sparse


def train_sparse(
    problem: Problem,
    settings: SparseSettings,
    config: TrainingConfig,
    seed: int,
    callbacks: Callbacks,
    offset: float,
    factor: float,
) -> Training:
    """Train on sparse rows; see `fit_sparse`."""
    fitted = fit_sparse(problem, settings, config, seed, callbacks, offset, factor)
    assert isinstance(problem.rows, SparseRows)
    moments = column_moments(
        problem.rows, fitted.model.orders, problem.weight, settings.rescale
    )
    summaries = summarise_words(fitted.model, problem.rows, moments, problem.weight)
    return Training(
        fitted.model,
        fitted.history,
        fitted.validation_loss,
        {
            "l2_": fitted.penalty.l2,
            "l1_": fitted.penalty.l1,
            "column_moments_": moments,
            "training_record_": TrainingRecord(len(problem.rows), summaries),
        },
    )
