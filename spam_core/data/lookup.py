"""Find the files of a named data set, and check that they are the known ones."""

from __future__ import annotations

import hashlib
import os
import warnings
from pathlib import Path

from spam_core.data.catalogue import DatasetInfo

DATA_DIR_VARIABLE = "SPAM_DATA_DIR"

# SHA-256 of the versions that the numbers in the documents were made with.
CHECKSUMS: dict[str, tuple[str, ...]] = {
    "california/california_housing.parquet.brotli": (
        "5755ed8e5e21b13e715e79b9278bb3329fcb8f6a46fa0fff914915fe4ccf73bf",
    ),
    "bike_sharing/hour.csv": (
        "09b19f3873d9c4ff8773304aef3233470286bf9010f1f6966e1b02a709015952",
    ),
    "heloc/heloc_dataset_v1.csv": (
        "e5a914f742ad7f8472c5417902ec06b321ebc5de1d68ec13f136d62c87a7fbf3",
    ),
    "adult/adult.data": (
        "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    ),
    "adult/adult.test": (
        "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
    ),
    "credit_default/UCI_Credit_Card.csv": (
        "a0f0ab49d6326671d6cd83be5c88dcf18007025fe9a53ecd699119c871176ca1",
    ),
    "telco_churn/Telco-Customer-Churn.csv": (
        "16320c9c1ec72448db59aa0a26a0b95401046bef5d02fd3aeb906448e3055e91",
    ),
    "compas/compas-scores-two-years.csv": (
        # without names, birth dates and case numbers
        "a5e5c34bfd2d1f065bb12a44c0323421baf74b98b97d585915a0c2e1513ecaba",
        # as published
        "c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d",
    ),
    "support2/support2.csv": (
        "79621945edf2a5c8dc36359684ff356d3c6025e773ba4fefac26f865f7894c78",
    ),
    "mimic2_iac/full_cohort_data.csv": (
        "3cf0292c73bb881eaa4d0b773aef929478af9ebc19d29cd42dd9fdda8699b43e",
    ),
    "titanic/titanic3.csv": (
        "aa0ebf89f4cba5797f68e03e7e8d56be6bca48346be95bfa45b158322b8208c6",
    ),
    "higgs_lgbm/binary.train": (
        "41c42dc14f86960256bf872fc8ae6286c688b44f43b4057b29428787fc1e0444",
    ),
    "higgs_lgbm/binary.test": (
        "d99ebec91acd99638f00c727c251c947a1d17ddfcbea27bfef6b0dc5e5fb1db3",
    ),
    "covertype/covertype_109786.parquet": (
        "4f02efde584fa7e715b89b146edf77f0f56de664d208b9b241804abd9b0edfa1",
    ),
    "cub/cub_image_concepts_104.parquet": (
        "625c761439dff978e8b0ecb4c2026101be0fc374ecb96a48818acc1eb5f53435",
    ),
    "newsgroups/20news_bydate.parquet": (
        "a426809daafae5cf9faff88dfbb4e9b1baea0d690d3b0f98c3747ecfcd160d3e",
    ),
}


class DatasetNotFoundError(FileNotFoundError):
    """A data set's file is not there; the message says what to put where."""


def find_files(info: DatasetInfo, *, check: bool = True) -> list[Path] | None:
    """Return the files of a data set, or None if they are not all there.

    Parameters
    ----------
    info : DatasetInfo
    check : bool
        Compare the files with the versions known.

    Returns
    -------
    list of Path or None
        In the order of ``info.files``, from ``$SPAM_DATA_DIR/<name>/``.

    Warns
    -----
    UserWarning
        If a file is not one of the versions this library was checked with.

    Raises
    ------
    DatasetNotFoundError
        If the variable is set but is not a folder.
    """
    folder = os.environ.get(DATA_DIR_VARIABLE, "")
    if not folder:
        return None
    if not Path(folder).is_dir():
        raise DatasetNotFoundError(
            f"The environment variable {DATA_DIR_VARIABLE} is {folder!r}, which is no "
            "folder."
        )
    paths = [Path(folder, info.name, file) for file in info.files]
    if not all(path.is_file() for path in paths):
        return None
    for path in paths if check else ():
        _check(f"{info.name}/{path.name}", path)
    return paths


def _check(key: str, path: Path) -> None:
    known = CHECKSUMS.get(key, ())
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if known and found not in known:
        warnings.warn(
            f"{key} differs from the file that this library was checked with (SHA-256 "
            f"{found[:12]}... instead of {known[0][:12]}...). It is used all the same; "
            "numbers may differ.",
            UserWarning,
            stacklevel=4,  # whoever called load_dataset
        )


def describe_missing(info: DatasetInfo, reason: str = "") -> str:
    """Return what to put where so that a data set can be loaded.

    Examples
    --------
    >>> from spam_core.data.catalogue import CATALOGUE
    >>> print(describe_missing(CATALOGUE["titanic"]))
    Data set 'titanic' needs the file titanic3.csv. Set the environment variable
    SPAM_DATA_DIR to a folder and put it there as titanic/titanic3.csv
    (source: titanic3, Vanderbilt University; licence: none stated).
    """
    places = " and ".join(f"{info.name}/{file}" for file in info.files)
    noun = "file" if len(info.files) == 1 else "files"
    pronoun = "it" if len(info.files) == 1 else "them"
    return (
        f"Data set {info.name!r} needs the {noun} {' and '.join(info.files)}. Set the "
        f"environment variable {DATA_DIR_VARIABLE} to a folder and put {pronoun} there "
        f"as {places} (source: {info.source}; licence: {info.licence}).{reason}"
    )
