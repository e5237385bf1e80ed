"""Case O22, wide and long tables: memory, each measured in a process of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

GIGABYTE = 1024**2  # in the kilobytes that Linux counts

MEASURE = """
import resource, time
import numpy as np, pandas as pd
from spam_core import SPAMClassifier, SPAMRegressor, XGBoostRegressor, EBMRegressor

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

rng = np.random.default_rng(0)
small = rng.normal(size=(200, 3))
SPAMRegressor(max_epochs=1, random_state=0).fit(small, small[:, 0])  # loads it all
def table(n, d):
    names = [f"x{i}" for i in range(d)]
    return pd.DataFrame(rng.standard_normal((n, d), dtype=np.float64), columns=names)
"""

WIDE = """
X = table({rows}, {columns})
y = X["x0"] + X["x1"] + 2 * X["x0"] * X["x1"]
before, started = peak(), time.perf_counter()
model = SPAMRegressor(rank=8, random_state=0).fit(X, y)
print("seconds", round(time.perf_counter() - started, 1))
print("kilobytes", peak() - before)
overall = model.explain_global()
pairs = [k for k, term in enumerate(overall.terms) if len(term) == 2]
print("terms", len(overall.terms))
print("first", "-".join(overall.terms[max(pairs, key=lambda k: overall.sd[k])]))
few = model.explain_local(X[:5], top=20)
assert few.values.shape == (5, 21)
"""

LONG = """
X = table(1_000_000, 50)
train = X[:2000]
model = {make}.fit(train, train["x0"] + train["x1"] * train["x2"])
before, started = peak(), time.perf_counter()
predicted = model.predict(X)
print("seconds", round(time.perf_counter() - started, 1))
print("kilobytes", peak() - before)
explanation = model.explain_local(X, top=20)
print("seconds until explained", round(time.perf_counter() - started, 1))
print("kilobytes explained", peak() - before)
assert explanation.values.shape == (1_000_000, 21)
np.testing.assert_allclose(explanation.score, predicted, rtol=1e-9, atol=1e-9)
some = [0, 65_535, 65_536, 999_999]
one = model.explain_local(X.iloc[some], top=20)
assert one.terms == explanation.terms
np.testing.assert_allclose(one.values, explanation.values[some], rtol=1e-9, atol=1e-12)
"""


def run(code: str) -> dict[str, str]:
    """Run code after `MEASURE`, print what it prints, and return it by name."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE + code],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    sys.stdout.write(done.stdout)  # pytest -rP shows it
    return dict(re.findall(r"^(.*) (\S+)$", done.stdout, re.MULTILINE))


@pytest.mark.parametrize(("rows", "columns"), [(300, 1200), (3000, 1200), (3000, 30)])
def test_o22_wide_tables_fit_in_little_memory(rows: int, columns: int) -> None:
    found = run(WIDE.format(rows=rows, columns=columns))
    assert int(found["kilobytes"]) < GIGABYTE
    assert int(found["terms"]) <= 5000  # never all 719,400 pairs
    if columns == 30:
        assert found["first"] == "x0-x1"


@pytest.mark.parametrize(
    "make",
    [
        "SPAMRegressor(rank=8, n_members=4, max_epochs=3, random_state=0)",
        "EBMRegressor(outer_bags=2, max_rounds=50, n_jobs=1, random_state=0)",
    ],
)
def test_o22_long_tables_are_explained_in_blocks(make: str) -> None:
    found = run(LONG.format(make=make))
    assert int(found["kilobytes"]) < GIGABYTE
    assert int(found["kilobytes explained"]) < GIGABYTE
