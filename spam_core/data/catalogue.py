"""What is known about the named data sets before any of them is loaded."""

from __future__ import annotations

from dataclasses import dataclass

from spam_core.data.table import Task

_UCI = "CC BY 4.0 according to the UCI repository"
_RANDOM = "random 70/10/20"
_BY_CLASS = "random 70/10/20, by class"


@dataclass(frozen=True)
class DatasetInfo:
    """Facts about a named data set.

    Attributes
    ----------
    name, title : str
    task : {"regression", "binary", "multiclass"}
    target : str
    n_rows, n_features : int
        As loaded, after leaks and identifiers are dropped.
    description : str
        One sentence for somebody who does not know the data.
    source, licence : str
    split_note : str
    target_unit : str
    files : tuple of str
        File names to put into the folder `name`. Empty: always available.
    fetcher : str
        Name of scikit-learn's function that downloads it, if there is one.
    """

    name: str
    title: str
    task: Task
    target: str
    n_rows: int
    n_features: int
    description: str
    source: str
    licence: str
    split_note: str = _RANDOM
    target_unit: str = ""
    files: tuple[str, ...] = ()
    fetcher: str = ""

    @property
    def offline(self) -> bool:
        """Whether it comes with this library or with one that it needs."""
        return not self.files


_ENTRIES = (
    DatasetInfo(
        name="california",
        title="California housing",
        task="regression",
        target="MedHouseVal",
        target_unit="$100,000",
        n_rows=20640,
        n_features=8,
        description=(
            "Median house value of Californian neighbourhoods in the 1990 census, in "
            "units of $100,000 (values above 5 were cut to 5)."
        ),
        source="Pace and Barry (1997), StatLib; 1990 US census",
        licence="none stated",
        fetcher="fetch_california_housing",
        files=("california_housing.parquet.brotli",),
    ),
    DatasetInfo(
        name="bike_sharing",
        title="Bike sharing, hourly",
        task="regression",
        target="cnt",
        target_unit="bikes per hour",
        n_rows=17379,
        n_features=12,
        description=(
            "Bikes rented per hour in Washington, D.C. in 2011 and 2012, from the "
            "calendar and the weather."
        ),
        source="Fanaee-T and Gama (2013), Progress in Artificial Intelligence",
        licence="free with citation of the source",
        files=("hour.csv",),
    ),
    DatasetInfo(
        name="heloc",
        title="Home equity credit (HELOC)",
        task="binary",
        target="RiskPerformance",
        n_rows=10459,
        n_features=23,
        description=(
            "Whether an applicant for a home equity line of credit was 90 days late "
            "with a payment within two years (Bad) or not (Good), from the credit "
            "report."
        ),
        source="FICO Explainable Machine Learning Challenge (2018)",
        licence="FICO's terms for the challenge; not to be passed on without a check",
        split_note=_BY_CLASS,
        files=("heloc_dataset_v1.csv",),
    ),
    DatasetInfo(
        name="adult",
        title="Adult census income",
        task="binary",
        target="income",
        n_rows=48842,
        n_features=14,
        description=(
            "Whether a person in the 1994 US census earned more than $50,000 a year."
        ),
        source="Kohavi and Becker (1996), UCI repository",
        licence=_UCI,
        split_note="official 32,561 / 16,281; training rows 7:1 into train, validation",
        files=(
            "adult.data",
            "adult.test",
        ),
    ),
    DatasetInfo(
        name="credit_default",
        title="Credit card default",
        task="binary",
        target="default.payment.next.month",
        n_rows=30000,
        n_features=23,
        description=(
            "Whether a credit card holder in Taiwan failed to pay in October 2005, "
            "from the six months before (amounts in New Taiwan dollars)."
        ),
        source="Yeh and Lien (2009), UCI repository",
        licence=_UCI,
        split_note=_BY_CLASS,
        files=("UCI_Credit_Card.csv",),
    ),
    DatasetInfo(
        name="telco_churn",
        title="Telco customer churn",
        task="binary",
        target="Churn",
        n_rows=7043,
        n_features=19,
        description=(
            "Whether a customer of a telephone company left within the last month."
        ),
        source="IBM sample data",
        licence="Apache-2.0",
        split_note=_BY_CLASS,
        files=("Telco-Customer-Churn.csv",),
    ),
    DatasetInfo(
        name="compas",
        title="COMPAS recidivism",
        task="binary",
        target="two_year_recid",
        n_rows=7214,
        n_features=16,
        description=(
            "Whether a defendant in Broward County, Florida, was charged with a new "
            "crime within two years of the COMPAS screening."
        ),
        source="ProPublica (2016), compas-analysis",
        licence="none stated; personal data, not to be passed on",
        split_note=_BY_CLASS,
        files=("compas-scores-two-years.csv",),
    ),
    DatasetInfo(
        name="support2",
        title="SUPPORT2, hospital deaths",
        task="binary",
        target="hospdead",
        n_rows=9105,
        n_features=32,
        description=(
            "Whether a seriously ill patient died in hospital, from what was known on "
            "the third day."
        ),
        source="SUPPORT study, Knaus et al. (1995), Vanderbilt University",
        licence="none stated; openly available",
        split_note=_BY_CLASS,
        files=("support2.csv",),
    ),
    DatasetInfo(
        name="mimic2_iac",
        title="MIMIC-II, arterial catheters",
        task="binary",
        target="hosp_exp_flg",
        n_rows=1776,
        n_features=36,
        description=(
            "Whether a patient in intensive care with breathing support died in "
            "hospital, from the first measurements."
        ),
        source="MIMIC-II arterial catheter case study, PhysioNet",
        licence="Open Database License (ODbL) according to PhysioNet",
        split_note=_BY_CLASS,
        files=("full_cohort_data.csv",),
    ),
    DatasetInfo(
        name="titanic",
        title="Titanic passengers",
        task="binary",
        target="survived",
        n_rows=1309,
        n_features=9,
        description="Whether a passenger survived the sinking of the Titanic in 1912.",
        source="titanic3, Vanderbilt University",
        licence="none stated",
        split_note=_BY_CLASS,
        files=("titanic3.csv",),
    ),
    DatasetInfo(
        name="higgs_lgbm",
        title="Higgs boson, small sample",
        task="binary",
        target="signal",
        n_rows=7500,
        n_features=28,
        description=(
            "Whether a simulated particle collision made a Higgs boson (1) or not (0); "
            "a small sample for quick trials only."
        ),
        source="LightGBM's examples; Baldi et al. (2014)",
        licence="MIT (LightGBM)",
        split_note="official 7,000 / 500; training rows 7:1 into train, validation",
        files=(
            "binary.train",
            "binary.test",
        ),
    ),
    DatasetInfo(
        name="covertype",
        title="Forest cover type",
        task="multiclass",
        target="Cover_Type",
        n_rows=109786,
        n_features=54,
        description=(
            "Which of seven kinds of forest grows on a 30 m square in Colorado, from "
            "maps of terrain and soil (a sample of 109,786 of 581,012 squares)."
        ),
        source="Blackard and Dean (1999), UCI repository",
        licence=_UCI,
        split_note=_BY_CLASS,
        fetcher="fetch_covtype",
        files=("covertype_109786.parquet",),
    ),
    DatasetInfo(
        name="cub",
        title="Birds by their features (CUB-200-2011)",
        task="multiclass",
        target="class_id",
        n_rows=11788,
        n_features=104,
        description=(
            "Which of 200 kinds of bird a picture shows, from 104 yes/no features "
            "that people saw in it."
        ),
        source="Wah et al. (2011), Caltech-UCSD Birds-200-2011",
        licence="research use only, according to its authors",
        split_note=(
            "official 5,994 / 5,794; of the training rows, 1,198 validate as in the "
            "concept bottleneck papers"
        ),
        files=("cub_image_concepts_104.parquet",),
    ),
    DatasetInfo(
        name="newsgroups",
        title="20 newsgroups",
        task="multiclass",
        target="label",
        n_rows=18846,
        n_features=155448,
        description=(
            "Which of 20 discussion groups a message of 1993 was sent to, from the "
            "words in it (TF-IDF weights, capitals kept)."
        ),
        source="Lang (1995), 20 Newsgroups, version by date",
        licence="none stated",
        split_note="by date, 11,314 / 7,532; earlier part 7:1 into train, validation",
        fetcher="fetch_20newsgroups",
        files=("20news_bydate.parquet",),
    ),
    DatasetInfo(
        name="gapminder",
        title="Gapminder",
        task="regression",
        target="lifeExp",
        target_unit="years",
        n_rows=1704,
        n_features=4,
        description=(
            "Life expectancy at birth, in years, of 142 countries every five years "
            "from 1952 to 2007."
        ),
        source="Free data from Gapminder (www.gapminder.org), by way of plotly",
        licence="CC BY 4.0, Gapminder Foundation",
        split_note="random 70/10/20 of the countries",
    ),
    DatasetInfo(
        name="diabetes",
        title="Diabetes progression",
        task="regression",
        target="target",
        target_unit="points",
        n_rows=442,
        n_features=10,
        description=(
            "How far the disease of 442 diabetes patients had gone after one year, on "
            "a scale of about 25 to 346 points (the columns are standardised)."
        ),
        source="Efron et al. (2004), by way of scikit-learn",
        licence="none stated; shipped with scikit-learn (BSD-3-Clause)",
    ),
    DatasetInfo(
        name="breast_cancer",
        title="Breast cancer, Wisconsin",
        task="binary",
        target="diagnosis",
        n_rows=569,
        n_features=30,
        description=(
            "Whether a breast lump is malignant or benign, from measures of the cell "
            "nuclei in a picture of it."
        ),
        source="Wolberg et al. (1995), by way of scikit-learn",
        licence=_UCI,
        split_note=_BY_CLASS,
    ),
    DatasetInfo(
        name="wine",
        title="Wine cultivars",
        task="multiclass",
        target="cultivar",
        n_rows=178,
        n_features=13,
        description=(
            "Which of three grape varieties an Italian wine was made from, from its "
            "chemical analysis."
        ),
        source="Forina et al. (1991), by way of scikit-learn",
        licence=_UCI,
        split_note=_BY_CLASS,
    ),
    DatasetInfo(
        name="digits",
        title="Handwritten digits",
        task="multiclass",
        target="digit",
        n_rows=1797,
        n_features=64,
        description=(
            "Which digit was written by hand, from an 8 x 8 picture (0 white to 16 "
            "black)."
        ),
        source="Alpaydin and Kaynak (1998), by way of scikit-learn",
        licence=_UCI,
        split_note=_BY_CLASS,
    ),
)

CATALOGUE: dict[str, DatasetInfo] = {entry.name: entry for entry in _ENTRIES}
