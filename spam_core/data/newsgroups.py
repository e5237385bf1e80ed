"""The 20 newsgroups: documents to a sparse table of word weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from spam_core.data.catalogue import DatasetInfo
from spam_core.data.readers import read_table
from spam_core.data.sparse import NamedCSR
from spam_core.data.splits import official_split
from spam_core.data.table import Table


def load_newsgroups(info: DatasetInfo, paths: list[Path]) -> Table:
    """Load the documents from their file."""
    frame = read_table(paths[0]).frame
    train = (frame["split"] == "train").to_numpy()
    return newsgroups_table(info, frame["text"], frame["label"], train)


def newsgroups_table(
    info: DatasetInfo,
    texts: pd.Series[Any],
    labels: pd.Series[Any],
    train: npt.NDArray[np.bool_],
) -> Table:
    """Make the newsgroups table.

    Vocabulary and document frequencies come from the earlier documents (train and
    validation) only, never from the test documents. Capitals are kept.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    documents = texts.tolist()
    earlier, later = np.flatnonzero(train), np.flatnonzero(~train)
    vectorizer = TfidfVectorizer(lowercase=False)
    parts = (
        vectorizer.fit_transform([documents[i] for i in earlier]),
        vectorizer.transform([documents[i] for i in later]),
    )
    order = np.argsort(np.concatenate([earlier, later]))
    words = tuple(map(str, vectorizer.get_feature_names_out()))
    X = NamedCSR(sparse.vstack(parts, format="csr")[order], feature_names=words)
    return Table(
        name=info.name,
        X=X,
        y=labels.rename(info.target),
        task=info.task,
        target=info.target,
        description=info.description,
        source=info.source,
        licence=info.licence,
        splits=official_split(train, labels.to_numpy()),
        split_note=info.split_note,
        feature_names=words,
        dropped={"doc_id": "identifies the row", "target": "the label as a number"},
        texts=texts,
        resplittable=False,
    )
