"""Files that aren't models, or not whole, or harmful: refused, and never run."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression

import spam_core
from spam_core import DNNRegressor, SPAMRegressor, load_model
from spam_core.persistence import ModelFileError, save_model
from spam_core.persistence.file import _checksum
from tests.persistence.people import QUICK, fit, fit_people, people, target


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "m.spam"
    fit().save(path)
    return path


@dataclass
class Contents:
    """What a file holds."""

    header: dict[str, Any]
    tensors: dict[str, torch.Tensor]


Change = Callable[[Contents], Any]


def rewrite(path: Path, change: Change, sign: bool = True) -> None:
    """Change a file's header and tensors, and sign it again."""
    with safe_open(path, framework="pt") as file:
        metadata = dict(file.metadata())
        tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
    contents = Contents(json.loads(metadata["spam"]), tensors)
    change(contents)
    metadata["spam"] = json.dumps(contents.header)
    if sign:
        metadata["sha256"] = _checksum(metadata["spam"], contents.tensors)
    save_file(contents.tensors, path, metadata=metadata)


@pytest.mark.parametrize("version", ["0.0.1", "99.0"])
def test_o20_another_version_of_the_library_is_told(saved: Path, version: str) -> None:
    expected = load_model(saved).predict(people())
    rewrite(saved, lambda f: f.header.update(version=version))
    message = (
        rf"^'m\.spam' was written by spam_core {version}; this is spam_core "
        rf"{spam_core.__version__}\. The schema is the same\.$"
    )
    with pytest.warns(UserWarning, match=message) as caught:
        model = load_model(saved)
    assert caught[0].filename == __file__
    np.testing.assert_array_equal(model.predict(people()), expected)


def test_o20_another_schema_is_refused_with_both_versions(saved: Path) -> None:
    rewrite(saved, lambda f: f.header.update(schema=7, version="99.0"))
    message = (
        r"^'m\.spam' has schema 7 \(written by spam_core 99\.0\); this is spam_core "
        rf"{spam_core.__version__}, which reads schema 2\.$"
    )
    with pytest.raises(ModelFileError, match=message):
        load_model(saved)


class Bomb:
    """Leaves a marker file when it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.marker,)


NOT_OURS = (
    r"^'m\.spam' isn't a \.spam model file: expected safetensors with a SPAM .*pick"
)


@pytest.mark.parametrize("writer", ["pickle", "torch"])
def test_o20_a_pickle_is_never_run(tmp_path: Path, writer: str) -> None:
    marker, path = tmp_path / "marker", tmp_path / "m.spam"
    if writer == "pickle":
        path.write_bytes(pickle.dumps(Bomb(marker)))
    else:
        torch.save({"weights": Bomb(marker)}, path)
    with pytest.raises(ModelFileError, match=NOT_OURS):
        load_model(path)
    assert not marker.exists()
    pickle.loads(pickle.dumps(Bomb(marker)))
    assert marker.exists()  # the bomb works


@pytest.mark.parametrize(
    "data", [b"", b"{}", b"a,b\n1,2\n", b"\x00" * 100, b"\xff" * 64]
)
def test_other_files_are_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "m.spam").write_bytes(data)
    with pytest.raises(ModelFileError, match=NOT_OURS):
        load_model(tmp_path / "m.spam")


def test_safetensors_of_others_are_refused(tmp_path: Path) -> None:
    tensors = {"w": torch.zeros(3, dtype=torch.bfloat16)}
    for metadata in (None, {"format": "pt"}, {"spam": "[1]"}, {"spam": "{"}):
        save_file(tensors, tmp_path / "m.spam", metadata=metadata)
        with pytest.raises(ModelFileError, match=NOT_OURS):
            load_model(tmp_path / "m.spam")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    for path in (tmp_path / "none.spam", tmp_path):
        with pytest.raises(FileNotFoundError, match=r"^No model file at "):
            load_model(path)


@pytest.mark.parametrize("share", [0.999, 0.5, 0.01, 0.0005])
def test_a_truncated_file_is_refused(saved: Path, share: float) -> None:
    data = saved.read_bytes()
    saved.write_bytes(data[: int(share * len(data))])
    with pytest.raises(ModelFileError, match=NOT_OURS):
        load_model(saved)


def test_every_flipped_bit_is_noticed(saved: Path) -> None:
    data = saved.read_bytes()
    rng = np.random.default_rng(0)
    for position in [*range(8), *rng.integers(8, len(data), 60)]:
        changed = bytearray(data)
        changed[position] ^= 4
        saved.write_bytes(changed)
        with pytest.raises(ModelFileError):
            load_model(saved)
    saved.write_bytes(data)
    load_model(saved)


def test_contents_that_do_not_match_the_checksum(saved: Path) -> None:
    rewrite(saved, lambda f: f.tensors["bias"].add_(1), sign=False)
    message = r"^'m\.spam' is damaged: its contents don't match its checksum\. Copy or "
    with pytest.raises(ModelFileError, match=message):
        load_model(saved)


DAMAGE: dict[str, Change] = {
    "no class": lambda f: f.header.pop("class"),
    "another class": lambda f: f.header.update({"class": "LinearRegression"}),
    "a parameter too many": lambda f: f.header["parameters"].update(trick=1),
    "parameters of no kind": lambda f: f.header.update(parameters=3),
    "no features": lambda f: f.header["encoder"].pop("features"),
    "levels of another type": lambda f: f.header["encoder"]["features"][2].update(
        levels=[["eval", "1"]]
    ),
    "a tensor too few": lambda f: f.tensors.pop("weights.2"),
    "weights of another size": lambda f: f.tensors.update(
        {"weights.2": f.tensors["weights.2"][:-1].clone()}
    ),
    "no knots": lambda f: f.tensors.pop("knots.0"),
    "a map unheard of": lambda f: f.header["model"].update(map="CubicMap"),
    "no history": lambda f: f.header["fitted"].pop("history_"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_signed_damage_is_refused(saved: Path, name: str) -> None:
    rewrite(saved, DAMAGE[name])
    with pytest.raises(ModelFileError, match=r"^'m\.spam' is damaged: "):
        load_model(saved)


NETWORK_DAMAGE: dict[str, Change] = {
    "a layer too few": lambda f: f.tensors.pop("network.layers.1.weight"),
    "a layer too large": lambda f: f.header["model"].update(hidden=[10**9, 4]),
    "a layer of another size": lambda f: f.header["model"].update(hidden=[4, 4]),
    "sizes of no kind": lambda f: f.header["model"].update(hidden="many"),
}


@pytest.mark.parametrize("name", NETWORK_DAMAGE)
def test_damaged_networks_are_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "m.spam"
    fit_people(DNNRegressor((8, 4), max_epochs=1), target("regression")).save(path)
    rewrite(path, NETWORK_DAMAGE[name])
    with pytest.raises(ModelFileError, match=r"^'m\.spam' is damaged: "):
        load_model(path)


def test_a_header_sets_no_other_attributes(saved: Path) -> None:
    rewrite(saved, lambda f: f.header["fitted"].update(predict="nothing", encoder_=3))
    model = load_model(saved)
    assert callable(model.predict)
    assert np.isfinite(model.predict(people())).all()


def test_what_cannot_be_saved(tmp_path: Path) -> None:
    path = tmp_path / "m.spam"
    message = r"^Expected one of \['SPAMRegressor', .*'CARTClassifier'\], got Linear"
    with pytest.raises(TypeError, match=message):
        save_model(LinearRegression(), path)

    class Mine(SPAMRegressor):
        pass

    with pytest.raises(TypeError, match=r"got Mine$"):
        fit_people(Mine(**QUICK), target("regression")).save(path)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        SPAMRegressor().save(path)
    model = fit("binary")
    model.classes_ = np.array(["2026-01-01", "2026-01-02"], dtype="datetime64[D]")
    message = r"^Labels must be text, numbers or booleans to be saved, got datetime64"
    with pytest.raises(TypeError, match=message):
        model.save(path)
    assert not list(tmp_path.iterdir())


def test_a_failed_save_leaves_the_earlier_file_and_nothing_else(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = saved.read_bytes()
    model = fit(max_epochs=1)

    def full(path: Path, data: bytes) -> int:
        with path.open("wb") as file:
            file.write(data[:100])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(OSError, match="No space left on device"):
            model.save(saved)
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == ["m.spam"]
    model.save(saved)
    assert saved.read_bytes() != before
    assert [path.name for path in saved.parent.iterdir()] == ["m.spam"]


def test_folders_that_are_none(saved: Path) -> None:
    model = load_model(saved)
    with pytest.raises(FileNotFoundError, match=r"^There is no folder .*nowhere"):
        model.save(saved.parent / "nowhere" / "m.spam")
    with pytest.raises(IsADirectoryError, match="is a folder; expected a file's name"):
        model.save(saved.parent)
