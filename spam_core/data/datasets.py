"""Named data sets: what there is, and each of them as a `Table`."""

from __future__ import annotations

from collections.abc import Callable

from spam_core.data.builtin_loaders import BUILTIN_LOADERS, FETCHERS
from spam_core.data.catalogue import CATALOGUE, DatasetInfo
from spam_core.data.file_loaders import FILE_LOADERS
from spam_core.data.frames import guess_task, make_table
from spam_core.data.generators import (
    make_known_binary,
    make_known_multiclass,
    make_known_regression,
)
from spam_core.data.lookup import DatasetNotFoundError, describe_missing, find_files
from spam_core.data.table import Split, Table

__all__ = [
    "DatasetInfo",
    "DatasetNotFoundError",
    "Split",
    "Table",
    "dataset_info",
    "dataset_names",
    "guess_task",
    "load_dataset",
    "make_table",
]

_GENERATORS: dict[str, Callable[[], Table]] = {
    "known_regression": make_known_regression,
    "known_binary": make_known_binary,
    "known_multiclass": make_known_multiclass,
}
_GENERATED_TITLES = {
    "known_regression": "Made up, with known terms: a quantity",
    "known_binary": "Made up, with known terms: yes or no",
    "known_multiclass": "Made up, with known terms: three classes",
}


def dataset_names(*, available: bool = False) -> tuple[str, ...]:
    """Return the names that `load_dataset` knows.

    Parameters
    ----------
    available : bool
        Only those that can be loaded now without a download.

    Examples
    --------
    >>> "california" in dataset_names(), "wine" in dataset_names(available=True)
    (True, True)
    """
    names = (*CATALOGUE, *_GENERATORS)
    if not available:
        return names
    return tuple(name for name in names if _is_available(name))


def _is_available(name: str) -> bool:
    info = CATALOGUE.get(name)
    try:
        return info is None or info.offline or find_files(info, check=False) is not None
    except DatasetNotFoundError:  # SPAM_DATA_DIR is no folder
        return False


def dataset_info(name: str) -> DatasetInfo:
    """Return what is known about a data set without loading its file.

    Parameters
    ----------
    name : str

    Returns
    -------
    DatasetInfo

    Raises
    ------
    ValueError
        If there is no such data set.

    Examples
    --------
    >>> dataset_info("california").target_unit
    '$100,000'
    """
    if name in _GENERATORS:
        table = _GENERATORS[name]()  # made in milliseconds
        return DatasetInfo(
            name=name,
            title=_GENERATED_TITLES[name],
            task=table.task,
            target=table.target,
            n_rows=table.n_rows,
            n_features=table.n_features,
            description=table.description,
            source=table.source,
            licence=table.licence,
            split_note=table.split_note,
            target_unit=table.target_unit,
        )
    if name not in CATALOGUE:
        raise ValueError(
            f"There is no data set {name!r}. Known: {', '.join(dataset_names())}."
        )
    return CATALOGUE[name]


def load_dataset(name: str) -> Table:
    """Load a named data set.

    Looked for in the folder ``$SPAM_DATA_DIR/<name>/``; then by scikit-learn, which
    downloads california, covertype and newsgroups where it may. gapminder, diabetes,
    breast_cancer, wine, digits and the made-up tables need neither.

    Parameters
    ----------
    name : str
        See `dataset_names`.

    Returns
    -------
    Table
        A new object every time.

    Raises
    ------
    ValueError
        If there is no such data set.
    DatasetNotFoundError
        A FileNotFoundError: its file is not there; the message says what to put where.

    Warns
    -----
    UserWarning
        If a file differs from the one this library was checked with.

    Examples
    --------
    >>> table = load_dataset("wine")
    >>> table.X.shape, table.task, table.classes
    ((178, 13), 'multiclass', ('class_0', 'class_1', 'class_2'))
    """
    if name in _GENERATORS:
        return _GENERATORS[name]()
    info = dataset_info(name)
    if name in BUILTIN_LOADERS:
        return BUILTIN_LOADERS[name](info)
    paths = find_files(info)
    if paths is not None:
        return FILE_LOADERS[name](info, paths)
    if name not in FETCHERS:
        raise DatasetNotFoundError(describe_missing(info))
    try:
        return FETCHERS[name](info)
    except OSError as error:  # no network, a proxy, a broken download
        reason = f" scikit-learn could not download it either: {error}"
        raise DatasetNotFoundError(describe_missing(info, reason)) from error
