"""The ``.spam`` file: written whole, checked when read, and never run.

It is a safetensors file. Its header holds one JSON document: schema number, library
version, the estimator's class and parameters, the encoder's levels and the names of
everything else; numbers that must survive exactly are float64 tensors. No training rows
are inside. A checksum covers all of it. Pickles are never read.
"""

from __future__ import annotations

import hashlib
import json
import struct
import uuid
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

import spam_core
from spam_core.data.telling import warn_caller
from spam_core.persistence.estimator import read_estimator, write_estimator

SCHEMA = 2
"""Number of the file format; files of another are refused."""


class ModelFileError(ValueError):
    """A file isn't a model that this version can load."""


def save_model(model: Any, path: str | Path) -> None:
    """Write a fitted estimator to a ``.spam`` file.

    Parameters
    ----------
    model : estimator of this library
        Fitted.
    path : str or Path
        An existing file is replaced, and only once the new one is complete.

    Raises
    ------
    TypeError
        If the estimator is of another class, or a level or a label can't be written.
    sklearn.exceptions.NotFittedError
        If it isn't fitted.
    OSError
        If the folder doesn't exist or can't be written to.
    """
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a folder; expected a file's name")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {str(path.parent)!r} to save in")
    header, tensors = write_estimator(model)
    header = {"schema": SCHEMA, "version": spam_core.__version__, **header}
    text = json.dumps(header)
    tensors = {key: value.cpu().contiguous() for key, value in tensors.items()}
    checksum = _checksum(text, tensors)
    # shared memory isn't kept apart by safetensors, hence the copies
    data = save(
        {key: value.clone() for key, value in tensors.items()},
        metadata={"spam": text, "sha256": checksum},
    )
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def load_model(path: str | Path) -> Any:
    """Load what `save_model` wrote; predictions and terms are equal bit for bit.

    Parameters
    ----------
    path : str or Path
        A ``.spam`` file, also from an untrusted source: nothing in it is run.

    Returns
    -------
    The fitted estimator, on the CPU.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ModelFileError
        If it is something else, damaged, or of another schema.

    Warns
    -----
    UserWarning
        If another version of the library wrote it, with the same schema.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"No model file at {str(path)!r}")
    try:
        with safe_open(path, framework="pt", device="cpu") as file:
            metadata = file.metadata() or {}
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
        text = metadata["spam"]
        checksum = _checksum(text, tensors)
        header = json.loads(text)
        schema, version = header["schema"], header["version"]
    except (SafetensorError, KeyError, TypeError, ValueError, struct.error) as error:
        raise ModelFileError(
            f"{path.name!r} isn't a .spam model file: expected safetensors with a SPAM "
            "header, whole. Other formats, such as pickles, are never read, since "
            "loading them would run code."
        ) from error
    if schema != SCHEMA:
        raise ModelFileError(
            f"{path.name!r} has schema {schema} (written by spam_core {version}); this "
            f"is spam_core {spam_core.__version__}, which reads schema {SCHEMA}."
        )
    if metadata.get("sha256") != checksum:
        raise ModelFileError(
            f"{path.name!r} is damaged: its contents don't match its checksum. Copy or "
            "save it again."
        )
    if version != spam_core.__version__:
        warn_caller(
            f"{path.name!r} was written by spam_core {version}; this is spam_core "
            f"{spam_core.__version__}. The schema is the same."
        )
    try:
        return read_estimator(header, tensors)
    except (
        AttributeError,
        IndexError,
        KeyError,
        OverflowError,
        RuntimeError,
        TypeError,
        ValueError,
    ) as error:
        raise ModelFileError(f"{path.name!r} is damaged: {error}") from error


def _checksum(text: str, tensors: dict[str, Tensor]) -> str:
    """SHA-256 of the header and of all tensors, by name."""
    digest = hashlib.sha256(text.encode())
    for key, value in sorted(tensors.items()):
        digest.update(f"{key} {value.dtype} {tuple(value.shape)}".encode())
        digest.update(value.numpy().tobytes())
    return digest.hexdigest()
