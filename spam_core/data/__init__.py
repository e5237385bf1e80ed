"""Tables: read from files, by name, or made up with known terms."""

from __future__ import annotations

from spam_core.data.datasets import (
    DatasetInfo,
    DatasetNotFoundError,
    dataset_info,
    dataset_names,
    load_dataset,
)
from spam_core.data.describe import (
    check_target,
    describe_columns,
    suspicious_columns,
    target_counts,
)
from spam_core.data.encoding import (
    Encoded,
    Feature,
    Marginals,
    TableEncoder,
    UnknownLevelWarning,
)
from spam_core.data.frames import guess_task, make_table
from spam_core.data.generators import (
    make_known_binary,
    make_known_multiclass,
    make_known_regression,
)
from spam_core.data.leaks import telling_columns
from spam_core.data.readers import (
    DEFAULT_MISSING_VALUES,
    Detected,
    ReadError,
    ReadResult,
    read_table,
)
from spam_core.data.special import suggest_special_values
from spam_core.data.splits import make_splits
from spam_core.data.table import Split, Table
from spam_core.data.truth import KnownTerm, Truth

__all__ = [
    "DEFAULT_MISSING_VALUES",
    "DatasetInfo",
    "DatasetNotFoundError",
    "Detected",
    "Encoded",
    "Feature",
    "KnownTerm",
    "Marginals",
    "ReadError",
    "ReadResult",
    "Split",
    "Table",
    "TableEncoder",
    "Truth",
    "UnknownLevelWarning",
    "check_target",
    "dataset_info",
    "dataset_names",
    "describe_columns",
    "guess_task",
    "load_dataset",
    "make_known_binary",
    "make_known_multiclass",
    "make_known_regression",
    "make_splits",
    "make_table",
    "read_table",
    "suggest_special_values",
    "suspicious_columns",
    "target_counts",
    "telling_columns",
]
