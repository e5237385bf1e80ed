"""Figures of performance show what they are given, in traces, words and table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from spam_core import evaluation, plots
from spam_core.evaluation import OneAgainstRest, Predictions, Ranking, Score

NAN = float("nan")


def case(n: int = 300) -> OneAgainstRest:
    rng = np.random.default_rng(0)
    truth = rng.random(n) < 0.4
    share = np.clip(0.3 * truth + 0.7 * rng.random(n), 0, 1)
    return OneAgainstRest("<b>yes</b>", "no $x$", truth, share)


def ranking(*scores: Score) -> Ranking:
    return Ranking("rmse", "lower", scores, "SPAM", 1234)


def test_the_leaderboard_has_a_mark_and_a_bar_for_each_model() -> None:
    scores = (
        Score("SPAM", 0.5, 0.4, 0.7),
        Score("XGBoost", 0.6, 0.5, 0.8, 0.1, -0.1, 0.2),
        Score("CART", NAN, NAN, NAN),
    )
    names = ["XGBoost", "SPAM", "CART"]
    figure = plots.leaderboard(ranking(*scores), "RMSE", unit="years", names=names)
    one, two, none = figure.data
    assert (one.x, one.y) == ((0.5,), ("SPAM",))
    assert_allclose([*one.error_x.array, *one.error_x.arrayminus], [0.2, 0.1])
    assert none.x == (None,)
    assert not none.error_x.visible
    # colours are those of the names, whoever leads
    again = plots.leaderboard(ranking(*scores[::-1]), "RMSE", names=names)
    assert again.data[2].marker.color == one.marker.color
    assert two.marker.color != one.marker.color
    assert "lower is better" in figure.layout.xaxis.title.text
    assert "SPAM 0.5 (0.4 to 0.7)" in plots.alt_text(figure)
    frame = plots.table(figure)
    assert frame["model"].tolist() == ["SPAM", "XGBoost", "CART"]
    assert frame["RMSE (years)"].tolist()[:2] == [0.5, 0.6]


RESULTS = [
    {
        "label": "SPAM",
        "better": "higher",
        "mean": 0.8,
        "spread": 0.01,
        "scores": [0.79, 0.81],
        "paper": 0.805,
    },
    {
        "label": "EBM",
        "better": "higher",
        "mean": None,
        "spread": None,
        "scores": [],
        "paper": 0.9,
    },
    {
        "label": "CART",
        "better": "higher",
        "mean": 0.85,
        "spread": None,
        "scores": [0.85],
        "paper": None,
    },
]


def test_reruns_show_seeds_means_and_the_paper() -> None:
    figure = plots.reruns(RESULTS, "AUC")
    seeds, means, paper = figure.data
    assert list(zip(seeds.y, seeds.x, strict=True)) == [
        ("CART", 0.85),
        ("SPAM", 0.79),
        ("SPAM", 0.81),
    ]
    assert means.x == (0.85, 0.8)
    assert list(means.error_x.array) == [0.0, 0.01]
    assert list(zip(paper.y, paper.x, strict=True)) == [("SPAM", 0.805), ("EBM", 0.9)]
    # the best on top, what wasn't measured at the bottom
    assert figure.layout.yaxis.categoryarray == ("EBM", "SPAM", "CART")
    assert "SPAM 0.8, sd 0.01, paper 0.805" in plots.alt_text(figure)
    assert set(plots.table(figure)["what"]) == {"one seed", "mean", "paper"}
    lower = plots.reruns([r | {"better": "lower"} for r in RESULTS], "RMSE")
    assert lower.layout.yaxis.categoryarray == ("EBM", "CART", "SPAM")
    with pytest.raises(ValueError, match="at least one result"):
        plots.reruns([RESULTS[1] | {"paper": None}], "AUC")


def test_curves_are_drawn_as_they_are_and_names_are_harmless() -> None:
    one = case()
    roc = evaluation.roc_curve(one)
    figure = plots.roc({"SPAM": roc}, one.name, names=["DNN", "SPAM"])
    assert_allclose(figure.data[0].x, roc.false_positive)
    assert_allclose(figure.data[0].y, roc.true_positive)
    assert figure.data[0].customdata[0][0] is None  # an infinite threshold
    assert figure.data[0].line.color == plots.theme.COLOURS[1]
    assert "&lt;b&gt;yes" in figure.layout.title.text
    assert "<b>yes</b>" in plots.alt_text(figure)
    both = evaluation.precision_recall_curve(one)
    figure = plots.precision_recall({"SPAM": both, "DNN": both}, one.name)
    assert_allclose(figure.data[1].y, both.precision)
    assert figure.data[-1].y == (one.prevalence,) * 2
    assert len(plots.table(figure)) == 2 * len(both.recall)


def test_calibration_has_its_counts_and_intervals() -> None:
    one = case()
    found = evaluation.calibration(one)
    figure = plots.calibration(found, one.name)
    (points, _) = figure.data
    assert_allclose(points.x, found.predicted)
    assert_allclose(points.y, found.observed)
    assert_allclose(np.add(points.y, points.error_y.array), found.high)
    assert plots.table(figure)["rows"].sum() == 300
    note = figure.layout.title.subtitle.text
    assert "10 bins of 30 rows" in note
    assert f"Brier score {plots.theme.number(found.brier)}" in note


@pytest.mark.parametrize("threshold", [None, 0.1, 0.9])
def test_the_distribution_of_scores_is_by_class(threshold) -> None:
    one = case()
    found = evaluation.score_histogram(one)
    figure = plots.score_distribution(found, threshold=threshold)
    rest, of_class = figure.data
    assert (sum(rest.y), sum(of_class.y)) == ((~one.truth).sum(), one.truth.sum())
    lines = [shape.x0 for shape in figure.layout.shapes]
    assert lines == ([] if threshold is None else [threshold])
    frame = plots.table(figure)
    assert frame.groupby("class")["rows"].sum()["<b>yes</b>"] == one.truth.sum()


def confusion(n: int) -> evaluation.Confusion:
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 5, size=(n, n))
    counts[0] = 0  # a class that doesn't occur
    names = tuple(f"class {k} <i>" for k in range(n))
    return evaluation.Confusion(names, counts)


@pytest.mark.parametrize("n", [2, 13, 40])
def test_the_matrix_shows_shares_and_counts(n) -> None:
    found = confusion(n)
    figure = plots.confusion(found)
    assert_allclose(np.asarray(figure.data[0].z, float), found.shares)
    assert (figure.data[0].texttemplate is None) == (n > 20)
    assert "<i>" not in "".join(figure.data[0].x)
    frame = plots.table(figure)
    assert frame["rows"].sum() == found.counts.sum()
    assert (frame["actual"] != "class 0 <i>").all()
    right, wrong = np.trace(found.counts), found.counts.sum() - np.trace(found.counts)
    assert f"{right:,} rows right, {wrong:,} wrong" in plots.alt_text(figure)
    if n == 2:
        share = found.counts[1, 0] / found.counts[1].sum()
        assert figure.data[0].text[1][0].endswith(f"{share:.0%}")
        assert figure.data[0].text[0] == ["", ""]


def test_the_worst_pairs_and_classes_of_many() -> None:
    found = confusion(200)
    pairs = found.most_confused(5)
    figure = plots.most_confused(pairs)
    assert list(figure.data[0].x) == pairs["rows"].tolist()
    assert plots.table(figure)["actual"].tolist() == pairs["actual"].tolist()
    frame = found.per_class()
    figure = plots.per_class(frame, most=25)
    recall, precision = figure.data
    assert_allclose(recall.x, frame["recall"][:25])
    assert_allclose(precision.x, frame["precision"][:25])
    assert "The 25 of least recall" in figure.layout.title.subtitle.text
    assert len(plots.table(figure)) == 50
    few = plots.per_class(confusion(3).per_class())
    assert "least recall" not in few.layout.title.subtitle.text
    assert few.data[0].x[-1] is None  # no rows, no recall


def errors(n: int) -> evaluation.Errors:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=n)
    return evaluation.errors(
        Predictions("regression", truth, truth + rng.normal(size=n))
    )


@pytest.mark.parametrize("n", [1, 50, 4000])
def test_errors_are_drawn_row_by_row_and_in_bins(n) -> None:
    off = errors(n)
    figure = plots.predicted_actual(off, "price", unit="$")
    shown = off.sample(3000)
    assert_allclose(figure.data[0].x, shown.predicted)
    assert_allclose(figure.data[0].y, shown.actual)
    note = figure.layout.title.subtitle.text
    assert ("3,000 of 4,000 test rows" in (note or "")) == (n == 4000)
    assert plots.table(figure)["test row"].tolist() == (shown.row + 1).tolist()
    bins = off.by_quantile("predicted")
    figure = plots.residuals(off, bins, "price")
    assert_allclose(figure.data[0].y, shown.residual)
    assert_allclose(figure.data[1].y, bins["mean_error"])
    bins = off.by_quantile()
    figure = plots.error_bins(bins, "price")
    bars, marks = figure.data
    assert_allclose(bars.x, bins["rmse"])
    assert_allclose(marks.x, bins["mean_error"])
    assert len(set(bars.y)) == len(bins)
    assert isinstance(plots.table(figure), pd.DataFrame)
    assert "RMSE by actual price" in plots.alt_text(figure)
