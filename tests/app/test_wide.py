"""A table of 200 columns: every page opens, and none tries to show everything."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tests.app.helpers import VIEWS, bring, charts, texts, train, use

COLUMNS = 200


@pytest.mark.slow
def test_every_page_opens_for_200_columns() -> None:
    rng = np.random.default_rng(0)
    names = [f"column {i}" for i in range(COLUMNS)]
    frame = pd.DataFrame(rng.normal(size=(150, COLUMNS)).round(3), columns=names)
    frame["y"] = frame["column 3"] + frame["column 5"] * frame["column 7"]
    at = bring("wide.csv", frame.to_csv(index=False).encode())
    use(at, "y")
    train(at)
    for view in (*VIEWS, "data.py"):
        at.switch_page(f"views/{view}").run()
        assert not at.exception
        assert not at.error
        assert charts(at), view
    at.switch_page("views/overview.py").run()
    assert f"{COLUMNS} columns" in texts(at)
    (figure,) = charts(at)
    assert len(figure["data"][0]["y"]) < 40  # the largest terms, and one for the rest
