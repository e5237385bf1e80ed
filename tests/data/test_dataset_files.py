"""Where the files of named data sets are looked for, and what is said without."""

from __future__ import annotations

import shutil
import sys
import types
from pathlib import Path
from urllib.error import URLError

import numpy as np
import pandas as pd
import pytest

from spam_core.data import (
    DatasetNotFoundError,
    dataset_info,
    dataset_names,
    load_dataset,
)
from spam_core.data.lookup import CHECKSUMS
from tests.data.test_datasets import FROM_FILES


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"no data set 'iris'. Known: california, "):
        load_dataset("iris")


def test_without_its_file_a_set_says_what_to_put_where(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for folder in ("", str(tmp_path)):
        monkeypatch.setenv("SPAM_DATA_DIR", folder)
        with pytest.raises(
            DatasetNotFoundError, match=r"adult\.data and adult\.test"
        ) as e:
            load_dataset("adult")
        assert "adult/adult.data and adult/adult.test" in str(e.value)
        assert "SPAM_DATA_DIR" in str(e.value)
        assert "CC BY 4.0" in str(e.value)
        assert "adult" not in dataset_names(available=True)


def test_a_data_folder_that_is_none_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SPAM_DATA_DIR", str(tmp_path / "nowhere"))
    with pytest.raises(DatasetNotFoundError, match="is no folder"):
        load_dataset("titanic")
    assert "titanic" not in dataset_names(available=True)


@pytest.mark.parametrize(
    ("name", "fetcher"),
    [
        ("california", "fetch_california_housing"),
        ("covertype", "fetch_covtype"),
        ("newsgroups", "fetch_20newsgroups"),
    ],
)
def test_without_a_network_the_download_fails_clearly(
    name: str, fetcher: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**_: object) -> None:
        raise URLError("no network")

    monkeypatch.delenv("SPAM_DATA_DIR", raising=False)
    monkeypatch.setattr(f"sklearn.datasets.{fetcher}", fail)
    assert dataset_info(name).fetcher == fetcher
    with pytest.raises(
        DatasetNotFoundError, match=r"could not download it.*no network"
    ):
        load_dataset(name)


def test_downloads_become_the_same_tables(
    monkeypatch: pytest.MonkeyPatch, data_dir: Path
) -> None:
    california, covertype = load_dataset("california"), load_dataset("covertype")
    monkeypatch.delenv("SPAM_DATA_DIR")
    bunch = types.SimpleNamespace(frame=california.X.assign(MedHouseVal=california.y))
    monkeypatch.setattr("sklearn.datasets.fetch_california_housing", lambda **_: bunch)
    pd.testing.assert_frame_equal(load_dataset("california").X, california.X)

    names = [
        f"{c[:15]}_{int(c[15:]) - 1}"
        if c.startswith("Wilderness")
        else (f"{c[:9]}_{int(c[9:]) - 1}" if c.startswith("Soil") else c)
        for c in covertype.X
    ]
    frame = covertype.X.set_axis(names, axis=1).assign(Cover_Type=covertype.y)
    bunch = types.SimpleNamespace(frame=frame)
    monkeypatch.setattr("sklearn.datasets.fetch_covtype", lambda **_: bunch)
    pd.testing.assert_frame_equal(load_dataset("covertype").X, covertype.X)


def test_downloaded_newsgroups(monkeypatch: pytest.MonkeyPatch) -> None:
    def fetch(subset: str, **_: object) -> types.SimpleNamespace:
        n = 160 if subset == "train" else 40
        return types.SimpleNamespace(
            data=[f"{subset} word{i % 20} Word" for i in range(n)],
            target=np.arange(n) % 20,
            target_names=[f"group{i:02}" for i in range(20)],
        )

    monkeypatch.delenv("SPAM_DATA_DIR", raising=False)
    monkeypatch.setattr("sklearn.datasets.fetch_20newsgroups", fetch)
    table = load_dataset("newsgroups")
    assert table.X.shape == (200, 22)
    assert "test" not in table.feature_names  # a word of test messages only
    assert len(table.splits["validation"]) == 20
    assert table.y.iloc[21] == "group01"


def test_a_changed_file_is_used_with_a_warning(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, data_dir: Path
) -> None:
    source = data_dir / "titanic" / "titanic3.csv"
    target = tmp_path / "titanic" / source.name
    target.parent.mkdir()
    shutil.copy(source, target)
    target.chmod(0o644)
    with target.open("ab") as file:
        file.write(b"\r\n")
    monkeypatch.setenv("SPAM_DATA_DIR", str(tmp_path))
    with pytest.warns(UserWarning, match="titanic/titanic3.csv differs") as record:
        table = load_dataset("titanic")
    assert table.n_rows == 1309
    assert record[0].filename == __file__


def test_every_file_has_a_checksum() -> None:
    keys = {
        f"{name}/{file}" for name in FROM_FILES for file in dataset_info(name).files
    }
    assert set(CHECKSUMS) == keys
    assert all(len(s) == 64 for sums in CHECKSUMS.values() for s in sums)


def test_a_loaded_table_is_nobody_elses() -> None:
    first = load_dataset("wine")
    first.X.iloc[0, 0] = -1.0
    assert load_dataset("wine").X.iloc[0, 0] != -1.0


def test_importing_the_data_package_loads_no_plotting() -> None:
    import subprocess

    code = "import spam_core.data, sys; print('plotly' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
