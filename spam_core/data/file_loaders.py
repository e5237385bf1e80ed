"""The named data sets that are read from files.

Columns stay as they are published, but for these: leaks, identifiers and constants
are dropped with the reason; text and "?" become what the reader makes of them; codes
that only name things (sex, education and marital status in ``credit_default``) become
their names. Whole numbers that have an order (hour, month, months late) stay numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from spam_core.data.catalogue import DatasetInfo
from spam_core.data.frames import make_table
from spam_core.data.glossary import COVER_TYPES, CREDIT_CODES, GLOSSARY
from spam_core.data.newsgroups import load_newsgroups
from spam_core.data.readers import read_table
from spam_core.data.splits import official_split
from spam_core.data.table import Table

Loader = Callable[[DatasetInfo, list[Path]], Table]

_IDENTIFIER = "identifies the row"
_LATER = "known only after the outcome"

_ADULT_NAMES = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
)

# LightGBM's files have no names; values and order are those of the UCI table.
_HIGGS_NAMES = (
    "signal",
    "lepton_pT",
    "lepton_eta",
    "lepton_phi",
    "missing_energy_magnitude",
    "missing_energy_phi",
    *(f"jet_{j}_{part}" for j in range(1, 5) for part in ("pt", "eta", "phi", "b_tag")),
    *("m_jj", "m_jjj", "m_lv", "m_jlv", "m_bb", "m_wbb", "m_wwbb"),
)

_COMPAS_DROPPED = {
    **dict.fromkeys(
        ("id", "name", "first", "last", "dob", "c_case_number"),
        "identifies the person",
    ),
    **dict.fromkeys(("r_case_number", "vr_case_number"), "identifies the person"),
    **dict.fromkeys(
        ("is_recid", "violent_recid", "is_violent_recid", "event", "start", "end"),
        "says whether and when there was a new crime",
    ),
    **dict.fromkeys(
        ("r_charge_degree", "r_days_from_arrest", "r_offense_date", "r_charge_desc"),
        "about the new crime",
    ),
    **dict.fromkeys(
        ("r_jail_in", "r_jail_out", "vr_charge_degree", "vr_offense_date"),
        "about the new crime",
    ),
    "vr_charge_desc": "about the new crime",
    **dict.fromkeys(("in_custody", "out_custody"), _LATER),
    **dict.fromkeys(
        ("compas_screening_date", "screening_date", "v_screening_date"),
        "a date, close to an identifier",
    ),
    **dict.fromkeys(
        ("c_jail_in", "c_jail_out", "c_offense_date", "c_arrest_date"),
        "a date, close to an identifier",
    ),
    **dict.fromkeys(
        ("type_of_assessment", "v_type_of_assessment"), "the same in every row"
    ),
    "decile_score (2)": "the same column a second time",
    "priors_count (2)": "the same column a second time",
}


def finish(info: DatasetInfo, frame: pd.DataFrame, **attributes: Any) -> Table:
    """Make the table of a catalogue entry from its frame."""
    dropped = attributes.pop("dropped", {})
    known = GLOSSARY.get(info.name, {})
    return make_table(
        frame,
        info.target,
        task=info.task,
        name=info.name,
        dropped={c: why for c, why in dropped.items() if c in frame.columns},
        description=info.description,
        source=info.source,
        licence=info.licence,
        split_note=info.split_note,
        target_unit=info.target_unit,
        columns={c: text for c, text in known.items() if c in frame.columns},
        **attributes,
    )


def _california(info: DatasetInfo, paths: list[Path]) -> Table:
    return finish(info, read_table(paths[0]).frame)


def _bike_sharing(info: DatasetInfo, paths: list[Path]) -> Table:
    frame = read_table(paths[0], separator=",", decimal=".", thousands=None).frame
    dropped = {
        **dict.fromkeys(("casual", "registered"), "the two sum to the target"),
        "instant": _IDENTIFIER,
        "dteday": "the date, close to an identifier",
    }
    return finish(info, frame, dropped=dropped)


def _heloc(info: DatasetInfo, paths: list[Path]) -> Table:
    # Labels stay "Bad" and "Good". The class of interest is Bad, but classes[1] is
    # Good, so a binary explanation is on the logit of Good.
    frame = read_table(paths[0], separator=",", decimal=".", thousands=None).frame
    features = [column for column in frame.columns if column != info.target]
    codes = dict.fromkeys(features, (-7, -8, -9))
    return finish(info, frame, special_values=codes, positive="Bad")


def _adult(info: DatasetInfo, paths: list[Path]) -> Table:
    parts = [
        read_table(
            path, separator=",", header=False, names=_ADULT_NAMES, skip_rows=skip
        ).frame
        # The first line of the test file is no row.
        for path, skip in zip(paths, (0, 1), strict=True)
    ]
    frame = pd.concat(parts, ignore_index=True)
    frame[info.target] = frame[info.target].str.rstrip(".")
    return finish(
        info,
        frame,
        positive=">50K",
        splits=official_split(
            np.arange(len(frame)) < len(parts[0]), frame[info.target].to_numpy()
        ),
    )


def _credit_default(info: DatasetInfo, paths: list[Path]) -> Table:
    frame = read_table(paths[0], separator=",", decimal=".", thousands=None).frame
    for column, names in CREDIT_CODES.items():
        unknown = {c: f"undocumented {c}" for c in set(frame[column]) - set(names)}
        frame[column] = frame[column].map({**names, **unknown}).astype("str")
    return finish(
        info,
        frame,
        dropped={"ID": _IDENTIFIER},
        class_names=("paid", "defaulted"),
    )


def _telco_churn(info: DatasetInfo, paths: list[Path]) -> Table:
    frame = read_table(paths[0], separator=",", decimal=".", thousands=None).frame
    return finish(info, frame, dropped={"customerID": _IDENTIFIER}, positive="Yes")


def _compas(info: DatasetInfo, paths: list[Path]) -> Table:
    # decile_score and priors_count stand in the file twice, with the same values.
    frame = read_table(paths[0], separator=",", duplicate_names="number").frame
    return finish(
        info,
        frame,
        dropped=_COMPAS_DROPPED,
        class_names=("no new crime", "new crime"),
    )


def _support2(info: DatasetInfo, paths: list[Path]) -> Table:
    frame = read_table(paths[0], separator=",", decimal=".", thousands=None).frame
    estimates = ("surv2m", "surv6m", "prg2m", "prg6m")
    dropped = {
        **dict.fromkeys(("d.time", "slos", "death", "sfdm2"), _LATER),
        **dict.fromkeys(estimates, "another's forecast of the outcome"),
        **dict.fromkeys(("dnr", "dnrday"), "a decision made with the outcome in view"),
        **dict.fromkeys(("charges", "totcst", "totmcst"), "costs of the whole stay"),
        "avtisst": "averaged over days that may come after",
    }
    return finish(
        info, frame, dropped=dropped, class_names=("left hospital", "died in hospital")
    )


def _mimic2_iac(info: DatasetInfo, paths: list[Path]) -> Table:
    frame = read_table(paths[0], separator=",", decimal=".", thousands=None).frame
    dropped = {
        **dict.fromkeys(("icu_exp_flg", "day_28_flg"), "another outcome"),
        **dict.fromkeys(("mort_day_censored", "censor_flg"), "another outcome"),
        **dict.fromkeys(("icu_los_day", "hospital_los_day"), _LATER),
        "service_num": "service_unit once more, as a number",
        "day_icu_intime_num": "day_icu_intime once more, as a number",
        "sepsis_flg": "the same in every row",
    }
    return finish(
        info, frame, dropped=dropped, class_names=("left hospital", "died in hospital")
    )


def _titanic(info: DatasetInfo, paths: list[Path]) -> Table:
    frame = read_table(paths[0], separator=",", decimal=".", thousands=None).frame
    dropped = {
        "boat": "only survivors were in a boat",
        "body": "only the dead have a body number",
        "name": _IDENTIFIER,
        "ticket": "close to an identifier",
    }
    return finish(info, frame, dropped=dropped, class_names=("died", "survived"))


def _higgs_lgbm(info: DatasetInfo, paths: list[Path]) -> Table:
    parts = [
        read_table(path, separator="\t", header=False, names=_HIGGS_NAMES).frame
        for path in paths
    ]
    frame = pd.concat(parts, ignore_index=True)
    return finish(
        info,
        frame,
        class_names=("background", "signal"),
        splits=official_split(
            np.arange(len(frame)) < len(parts[0]), frame[info.target].to_numpy()
        ),
    )


def _covertype(info: DatasetInfo, paths: list[Path]) -> Table:
    return covertype_table(info, read_table(paths[0]).frame)


def covertype_table(info: DatasetInfo, frame: pd.DataFrame) -> Table:
    """Make the covertype table; kinds of forest 1 to 7 get their names."""
    return finish(
        info,
        frame,
        dropped={"source": "tells which file the row came from"},
        class_names=COVER_TYPES,
    )


def _cub(info: DatasetInfo, paths: list[Path]) -> Table:
    frame = read_table(paths[0]).frame
    species = frame.groupby(info.target)["class_name"].first().sort_index()
    dropped = {
        "image_id": _IDENTIFIER,
        "image": _IDENTIFIER,
        "class_name": "the name of the target",
        "split": "the official split",
        "cbm_val": "the validation rows",
    }
    train = (frame["split"] == "train").to_numpy()
    validates = frame["cbm_val"].to_numpy(dtype=bool)
    return finish(
        info,
        frame,
        dropped=dropped,
        class_names=tuple(s.split(".", 1)[-1].replace("_", " ") for s in species),
        splits={
            "train": np.flatnonzero(train & ~validates),
            "validation": np.flatnonzero(train & validates),
            "test": np.flatnonzero(~train),
        },
    )


FILE_LOADERS: dict[str, Loader] = {
    "california": _california,
    "bike_sharing": _bike_sharing,
    "heloc": _heloc,
    "adult": _adult,
    "credit_default": _credit_default,
    "telco_churn": _telco_churn,
    "compas": _compas,
    "support2": _support2,
    "mimic2_iac": _mimic2_iac,
    "titanic": _titanic,
    "higgs_lgbm": _higgs_lgbm,
    "covertype": _covertype,
    "cub": _cub,
    "newsgroups": load_newsgroups,
}
