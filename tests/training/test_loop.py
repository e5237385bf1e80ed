"""The training loop: learning, stopping, memory, and what it promises to callbacks."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from spam_core.data.encoding import Encoded
from spam_core.training.config import Progress, TrainingConfig
from spam_core.training.fit import default_config
from spam_core.training.loop import TrainingData, TrainingResult, evaluate, train
from spam_core.training.losses import Task
from tests.training.toys import TRUTH, Forgetful, Linear, make_data

QUICK = TrainingConfig(learning_rate=0.1, batch_size=32, max_epochs=20, patience=20)


def run(
    model: Linear, data: TrainingData, config: TrainingConfig = QUICK, **more: Any
) -> TrainingResult:
    generator = torch.Generator().manual_seed(0)
    return train(model, data, config, generator, **more)


@pytest.mark.parametrize("task", ["regression", "binary", "multiclass"])
@pytest.mark.parametrize("average", [False, True])
def test_network_learns(task: Task, average: bool) -> None:
    model = Linear(outputs=3 if task == "multiclass" else 1)
    result = run(model, make_data(task=task), replace(QUICK, average=average))
    first, last = result.history[0], result.history[-1]
    assert last["train_loss"] < 0.5 * first["train_loss"]
    assert last["validation_loss"] < 0.7 * first["validation_loss"]
    if task == "regression":
        assert last["train_loss"] < 0.01 * first["train_loss"]
        for member in model.weight.detach():
            torch.testing.assert_close(member[:, 0], TRUTH, atol=0.05, rtol=0)


def test_history_has_one_entry_an_epoch() -> None:
    result = run(Linear(), make_data())
    assert [entry["epoch"] for entry in result.history] == list(range(1, 21))
    keys = {"epoch", "seconds", "train_loss", "validation_loss"}
    assert all(entry.keys() == keys for entry in result.history)
    seconds = [entry["seconds"] for entry in result.history]
    assert seconds == sorted(seconds)


def test_the_best_epochs_parameters_are_kept() -> None:
    data = make_data(noise=3.0, n=60)  # a large step overfits
    model = Linear()
    result = run(model, data, replace(QUICK, learning_rate=0.5, average=False))
    losses = [entry["validation_loss"] for entry in result.history]
    assert losses[-1] > min(losses)
    assert result.validation_loss == min(losses)
    kept = evaluate(model, data, data.validation).mean()
    assert kept.item() == pytest.approx(min(losses), rel=1e-6)


@pytest.mark.parametrize("patience", [1, 3])
def test_training_stops_after_so_many_epochs_without_gain(patience: int) -> None:
    data = make_data(noise=3.0, n=60)
    config = replace(QUICK, learning_rate=0.5, patience=patience, average=False)
    losses = [e["validation_loss"] for e in run(Linear(), data, config).history]
    assert len(losses) < 20
    assert len(losses) - (losses.index(min(losses)) + 1) == patience


def test_without_held_out_rows_all_epochs_run_and_the_last_is_kept() -> None:
    data = make_data(held=0.0)
    model = Linear()
    result = run(model, data, replace(QUICK, patience=1, average=False))
    assert len(result.history) == 20
    assert all(math.isnan(entry["validation_loss"]) for entry in result.history)
    assert result.validation_loss == math.inf
    torch.testing.assert_close(model.weight[0, :, 0].detach(), TRUTH, atol=0.05, rtol=0)


def test_a_member_without_held_out_rows_leaves_the_others_to_decide() -> None:
    data = make_data()
    data.validation[:, 1] = 0
    result = run(Linear(), data)
    assert all(math.isfinite(entry["validation_loss"]) for entry in result.history)


def test_the_best_group_is_kept() -> None:
    data = make_data(members=4)

    class Stuck(Linear):
        def project(self) -> None:
            with torch.no_grad():
                self.weight[:2] = 0  # the first group never learns

    model = Stuck(members=4)
    result = run(model, data, n_groups=2)
    assert result.group == 1
    first, last = result.history[0], result.history[-1]
    assert last["validation_loss"] < 0.5 * first["validation_loss"]
    torch.testing.assert_close(model.weight[2, :, 0].detach(), TRUTH, atol=0.05, rtol=0)


def test_every_callback_hears_of_every_epoch() -> None:
    told: list[Progress] = []
    others: list[int] = []

    def stop(progress: Progress) -> bool:
        told.append(progress)
        return progress.epoch == 4

    result = run(
        Linear(), make_data(), callbacks=[stop, lambda p: others.append(p.epoch)]
    )
    assert [p.epoch for p in told] == others == [1, 2, 3, 4]
    assert len(result.history) == 4
    assert {p.max_epochs for p in told} == {20}
    assert [p.train_loss for p in told] == [e["train_loss"] for e in result.history]
    seconds = [p.seconds for p in told]
    assert seconds == sorted(seconds)


def test_only_true_stops() -> None:
    assert len(run(Linear(), make_data(), callbacks=[lambda _: 1]).history) == 20  # type: ignore[list-item, return-value]


def test_memory_that_runs_out_halves_the_batch() -> None:
    model = Forgetful(most=10)
    result = run(model, make_data(n=100, held=0.0), replace(QUICK, batch_size=64))
    assert model.batches[:4] == [64, 32, 16, 8]
    assert max(model.batches[4:]) == 8
    assert sum(model.batches[3:]) == 100 * 20  # every row once an epoch
    assert result.history[-1]["train_loss"] < 0.05 * result.history[0]["train_loss"]


def test_memory_that_runs_out_while_evaluating_halves_the_rows() -> None:
    data = make_data()
    model, roomy = Forgetful(200, most_scored=7), Forgetful(200)
    losses = evaluate(model, data, data.validation)
    torch.testing.assert_close(losses, evaluate(roomy, data, data.validation))
    assert roomy.scored == [50]
    assert model.scored == [50, 25, 12, *[6] * 8, 2]
    with pytest.raises(torch.OutOfMemoryError, match="1 rows"):
        evaluate(Forgetful(200, most_scored=0), data, data.validation)


def test_memory_that_does_not_suffice_for_one_row_raises() -> None:
    with pytest.raises(torch.OutOfMemoryError, match="1 rows"):
        run(Forgetful(most=0), make_data())


def test_a_loss_that_is_not_finite_raises() -> None:
    class Exploding(Linear):
        def forward(self, rows: Encoded) -> Tensor:
            return super().forward(rows) * (math.inf if len(self.batches) > 9 else 1)

    message = (
        r"The training loss became .* in epoch 2; a smaller learning_rate may help"
    )
    with pytest.raises(FloatingPointError, match=message):
        run(Exploding(), make_data())


def test_rows_of_weight_zero_are_never_seen() -> None:
    data = make_data(held=0.0)
    data.train[50:] = 0
    data.target[50:] = math.nan
    model = Linear()
    run(model, data, replace(QUICK, max_epochs=2))
    assert sum(model.batches) == 100


def test_weights_count_rows() -> None:
    data = make_data(n=40, held=0.0, noise=2.0)
    doubled = torch.arange(40) < 10
    index = torch.cat([torch.arange(40), torch.arange(40)[doubled]])
    twice = TrainingData(
        data.rows[index],
        data.target[index],
        data.train[index],
        data.validation[index],
        "regression",
    )
    data.train[doubled] = 2
    config = replace(QUICK, batch_size=64)  # all rows in one step
    models = Linear(), Linear()
    for model, rows in zip(models, (data, twice), strict=True):
        run(model, rows, config)
    torch.testing.assert_close(models[0].weight, models[1].weight)


def test_members_do_not_depend_on_how_many_there_are() -> None:
    models = Linear(members=1), Linear(members=5)
    for model in models:
        run(model, make_data(members=len(model.weight)))
    torch.testing.assert_close(models[0].weight[0], models[1].weight[3])


def test_l1_steps_follow_the_learning_rate() -> None:
    model = Linear()
    run(model, make_data(), replace(QUICK, l1=0.5, average=False))
    assert len(model.shrunk) == model.projected == 20 * 5
    assert model.shrunk[0] == pytest.approx(0.1 * 0.5)
    assert model.shrunk == sorted(model.shrunk, reverse=True)
    assert model.shrunk[-1] < 0.001 * model.shrunk[0]


def test_penalties_are_relative_to_the_noise() -> None:
    model, data = Linear(), make_data()
    run(model, data, replace(QUICK, batch_size=150, max_epochs=1))
    squares = data.target[:150].square().mean()  # the loss at zero weights
    torch.testing.assert_close(model.factors[0], (2 * squares / 150).expand(2))
    model = Linear()
    run(model, make_data(task="binary"), replace(QUICK, max_epochs=1))
    torch.testing.assert_close(model.factors[0], torch.full((2,), 1 / 150))


@pytest.mark.parametrize(
    ("n_rows", "batch", "epochs"),
    [(2, 16, 100), (150, 16, 80), (20_000, 256, 25), (200_000, 512, 25)],
)
def test_batches_and_epochs_by_the_number_of_rows(
    n_rows: int, batch: int, epochs: int
) -> None:
    config = default_config(n_rows)
    assert (config.batch_size, config.max_epochs) == (batch, epochs)
    given = default_config(n_rows, batch_size=10, max_epochs=3, learning_rate="auto")
    assert (given.batch_size, given.max_epochs) == (10, 3)
    assert given.learning_rate == TrainingConfig().learning_rate
