"""Training a SPAM: candidates, penalties, constraints, and interrupted fits."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from numpy.typing import NDArray

from spam_core import DNNClassifier, SPAMClassifier, SPAMRegressor, make_model
from spam_core.data.encoding import TableEncoder
from spam_core.models.ensemble import SPAMEnsemble
from spam_core.models.feature_maps import FeatureMapName, Layout, LinearMap
from spam_core.models.spline import SplineMap
from spam_core.training import fit
from spam_core.training.config import Progress
from spam_core.training.fit import SPAMSettings, candidates
from spam_core.training.regularization import (
    CANDIDATES,
    FEW_ROWS,
    MANY_ROWS,
    NETWORKS,
    Regularization,
    regularize,
)


def make_rows(n: int = 200) -> tuple[pd.DataFrame, NDArray[np.float64]]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(-1, 1, (n, 3)), columns=list("abc"))
    y = (X["a"] * X["b"]).to_numpy() + 0.05 * rng.normal(size=n)
    return X, y


SMALL: dict[str, Any] = {"rank": 3, "n_members": 2, "random_state": 0}


def bases(model: SPAMRegressor) -> torch.Tensor:
    return torch.cat([w.flatten() for w in model.model_.member_weights.values()])


@pytest.mark.parametrize("feature_map", ["spline", "linear", "neural", "basis"])
def test_l1_makes_exact_zeros(feature_map: str) -> None:
    X, y = make_rows()
    shares = []
    for l1 in (0.0, 0.3, 10.0):
        model = SPAMRegressor(
            feature_map=feature_map,
            l1=l1,
            regularization="smooth",
            max_epochs=15,
            n_knots=8,
            hidden_units=(8,),
            **SMALL,
        ).fit(X, y)
        used = model.model_.feature_map.feature_of_column >= 0
        weights = [w[used].flatten() for w in model.model_.member_weights.values()]
        shares.append((torch.cat(weights) == 0).double().mean().item())
        explanation = model.explain_local(X)
        total = explanation.base + explanation.values.sum(1)
        np.testing.assert_allclose(total, model.predict(X), rtol=1e-6)
    assert shares[0] == 0
    assert shares[1] > 0.1
    assert shares[2] == 1  # nothing is left, and the mean is predicted
    np.testing.assert_allclose(model.predict(X), y.mean(), atol=0.1)


@pytest.mark.parametrize("order", [2, 3])
def test_nonnegative_keeps_bases_and_lambda_nonnegative(order: int) -> None:
    X, y = make_rows()
    model = SPAMRegressor(
        order, feature_map="linear", scaling="minmax", nonnegative=True, **SMALL
    ).fit(X, -y)
    assert (bases(model) >= 0).all()
    for lam in model.model_.member_lam.values():
        assert (lam >= 0).all()
    assert (bases(model) > 0).any()


def test_weight_decay_shrinks_the_model() -> None:
    X, y = make_rows()
    spreads = []
    for decay in (0.0, 3.0, 30.0):
        model = SPAMRegressor(
            weight_decay=decay, regularization="smooth", validation_fraction=0, **SMALL
        )
        spreads.append(model.fit(X, y).predict(X).std())
    assert spreads[0] > 1.1 * spreads[1] > 5 * spreads[2]


def test_dropout_changes_the_fit_and_not_the_prediction() -> None:
    X, y = make_rows()
    plain, dropped = (
        SPAMRegressor(basis_dropout=p, **SMALL).fit(X, y) for p in (0.0, 0.5)
    )
    assert not np.allclose(plain.predict(X), dropped.predict(X))
    np.testing.assert_array_equal(dropped.predict(X), dropped.predict(X))


@pytest.mark.parametrize("name", CANDIDATES)
def test_candidates_may_be_named(name: str) -> None:
    X, y = make_rows(60)
    named = SPAMRegressor(regularization=name, max_epochs=3, **SMALL).fit(X, y)
    assert named.regularization_ == CANDIDATES[name]
    given = SPAMRegressor(regularization=CANDIDATES[name], max_epochs=3, **SMALL).fit(
        X, y
    )
    np.testing.assert_array_equal(named.predict(X), given.predict(X))


def test_the_best_candidate_is_chosen() -> None:
    X, y = make_rows(400)
    auto = SPAMRegressor(**SMALL).fit(X, y)
    losses = {
        name: SPAMRegressor(regularization=name, **SMALL).fit(X, y).validation_loss_
        for name in CANDIDATES
        if name != "loose"  # 400 rows aren't many
    }
    chosen = next(k for k, v in CANDIDATES.items() if v == auto.regularization_)
    # candidates trained side by side start from other draws than those trained alone
    assert losses[chosen] <= 1.5 * min(losses.values())


@pytest.mark.parametrize(
    ("feature_map", "n_rows", "left_out"),
    [
        ("spline", FEW_ROWS, {"loose"}),
        ("spline", FEW_ROWS + 1, {"loose", "keen"}),
        ("spline", MANY_ROWS - 1, {"loose", "keen"}),
        ("spline", MANY_ROWS, {"keen"}),
        ("linear", FEW_ROWS, {"loose", "rough"}),
        ("linear", MANY_ROWS, {"keen", "rough"}),
    ],
)
def test_candidates_suit_the_map_and_the_rows(
    feature_map: FeatureMapName, n_rows: int, left_out: set[str]
) -> None:
    settings = SPAMSettings({2: 4}, feature_map)
    names = [name for name in CANDIDATES if name not in left_out]
    assert candidates(settings, n_rows) == [CANDIDATES[name] for name in names]


def test_without_held_out_rows_the_most_cautious_candidate_is_taken() -> None:
    X, y = make_rows(60)
    model = SPAMRegressor(validation_fraction=0, max_epochs=1, **SMALL).fit(X, y)
    assert model.regularization_ == CANDIDATES["strong"]


def test_scales_and_penalties_of_candidates() -> None:
    layout = Layout((64, 16, 0), (0, 0, 3))
    X = pd.DataFrame(
        {"a": np.arange(80.0), "b": np.arange(80) % 17, "c": list("xyzx") * 20}
    )
    marginals = TableEncoder(64).fit(X).marginals
    generator = torch.Generator().manual_seed(0)
    ensemble = SPAMEnsemble(
        SplineMap(layout, marginals), {2: 4}, 2, 1, marginals, generator
    )
    choice = Regularization(4.0, 0.3, 5.0, 0.5, 10.0)
    regularize(ensemble, [choice, CANDIDATES["light"]])
    owner = ensemble.feature_map.feature_of_column
    first, rest = ensemble.scale_first[:, 0, 0], ensemble.scale_rest[:, 0, 0]
    assert set(first.tolist()) == {5.0}
    assert set(rest[owner == 0].tolist()) == {0.5}  # 16 of 64 cells
    for i in (1, 2):  # 16 cells are the reference; levels aren't scaled
        assert set(rest[owner == i].tolist()) == {1.0}
    torch.testing.assert_close(ensemble.penalty[0], torch.tensor([7.5, *[10.0] * 4]))
    assert ensemble.penalty_lam[0].item() == 10
    assert ensemble.variation[0].item() == 20  # of weights in steps of 5
    linear = SPAMEnsemble(LinearMap(layout), {2: 4}, 1, 1, marginals, generator)
    regularize(linear, [dataclasses.replace(choice, shape_speed=1.0)])
    assert (linear.scale_first == 1).all()


ESTIMATORS: list[Any] = [
    SPAMClassifier(n_members=2, rank=2, max_epochs=5, random_state=0),
    DNNClassifier((8,), max_epochs=5, random_state=0),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_an_interrupted_fit_changes_nothing(estimator: Any) -> None:
    X, y = make_rows()

    def interrupt(progress: Progress) -> None:
        if progress.epoch == 3:
            raise KeyboardInterrupt

    estimator.set_params(callbacks=[interrupt])
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(X, y > 0)
    assert not [name for name in vars(estimator) if name.endswith("_")]
    estimator.set_params(callbacks=None).fit(X, y > 0)
    state, before = set(vars(estimator)), estimator.predict_proba(X)
    estimator.set_params(callbacks=[interrupt])
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(X[["a"]], np.where(y > 0, "yes", "no"))
    assert set(vars(estimator)) == state
    np.testing.assert_array_equal(estimator.predict_proba(X), before)
    np.testing.assert_array_equal(estimator.classes_, [False, True])


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_a_callback_may_stop_training(estimator: Any) -> None:
    X, y = make_rows()
    told: list[Progress] = []

    def stop(progress: Progress) -> bool:
        told.append(progress)
        return len(told) == 2

    estimator.set_params(callbacks=[stop]).fit(X, y > 0)
    assert [p.epoch for p in told] == [1, 2]
    assert told[0].max_epochs == 5
    assert estimator.n_iter_ == len(estimator.history_) == 2
    assert np.isfinite(estimator.predict_proba(X)).all()


def test_large_tables_compare_candidates_on_a_few_members() -> None:
    X, y = make_rows(10_000)
    told: list[Progress] = []
    model = SPAMRegressor(
        rank=2,
        n_members=4,
        max_epochs=5,
        n_knots=8,
        callbacks=[told.append],
        random_state=0,
    ).fit(X, y)
    assert [p.epoch for p in told] == list(range(1, len(told) + 1))
    assert told[-1].epoch <= told[-1].max_epochs
    assert model.model_.n_members == 4
    assert model.regularization_ in CANDIDATES.values()
    stopped = SPAMRegressor(
        rank=2,
        n_members=4,
        max_epochs=5,
        n_knots=8,
        callbacks=[lambda _: True],
        random_state=0,
    ).fit(X, y)
    assert np.isfinite(stopped.predict(X)).all()


@pytest.mark.parametrize(("cells", "most"), [(60, 7), (10_000, 5)])
def test_so_do_wide_ones(cells: int, most: int, monkeypatch: Any) -> None:
    monkeypatch.setattr(fit, "_SCREEN_CELLS", cells)
    X, y = make_rows(60)
    told: list[Progress] = []
    SPAMRegressor(
        rank=2, n_members=4, max_epochs=5, callbacks=[told.append], random_state=0
    ).fit(X, y)
    assert told[-1].max_epochs == most


def test_an_offset_far_from_zero_is_undone_exactly() -> None:
    X, y = make_rows(60)
    model = SPAMRegressor(max_epochs=2, **SMALL)
    near, far = model.fit(X, y).predict(X), model.fit(X, y + 2.0**33).predict(X)
    np.testing.assert_allclose(far - 2.0**33, near, atol=1e-4)


@pytest.mark.parametrize("name", ["spam-neural", "nbm-spam", "nam"])
def test_no_network_is_held_by_a_total_variation(name: str) -> None:
    X, y = make_rows(60)
    settings = {"n_members": 1, "max_epochs": 1, "random_state": 0}
    model = make_model(name, "regression", hidden_units=(4,), **settings).fit(X, y)
    assert model.regularization_ == NETWORKS
    assert NETWORKS.shape_variation == 0
