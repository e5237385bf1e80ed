"""What the columns of the named data sets mean, in plain words and with units.

Only where the meaning is known from the publishers' own descriptions.
"""

from __future__ import annotations

GLOSSARY: dict[str, dict[str, str]] = {
    "california": {
        "MedInc": "median income of the block group ($10,000)",
        "HouseAge": "median age of its houses (years)",
        "AveRooms": "rooms per household",
        "AveBedrms": "bedrooms per household",
        "Population": "people in the block group",
        "AveOccup": "people per household",
        "Latitude": "latitude (degrees north)",
        "Longitude": "longitude (degrees east; west is negative)",
    },
    "bike_sharing": {
        "season": "season (1 spring, 2 summer, 3 autumn, 4 winter)",
        "yr": "year (0 is 2011, 1 is 2012)",
        "mnth": "month (1 to 12)",
        "hr": "hour of the day (0 to 23)",
        "holiday": "public holiday (1) or not (0)",
        "weekday": "day of the week (0 is Sunday)",
        "workingday": "neither weekend nor holiday (1), else 0",
        "weathersit": "weather (1 clear, 2 mist, 3 light rain or snow, 4 heavy rain)",
        "temp": "temperature (1 is 41 °C)",
        "atemp": "temperature as it feels (1 is 50 °C)",
        "hum": "relative humidity (1 is 100 %)",
        "windspeed": "wind speed (1 is 67)",
    },
    "heloc": {
        "ExternalRiskEstimate": "credit score of the bureau (higher is safer)",
        "MSinceOldestTradeOpen": "months since the oldest account was opened",
        "MSinceMostRecentTradeOpen": "months since the newest account was opened",
        "AverageMInFile": "average months that accounts are on file",
        "NumSatisfactoryTrades": "accounts paid as agreed",
        "NumTrades60Ever2DerogPubRec": "accounts ever 60 days late or worse",
        "NumTrades90Ever2DerogPubRec": "accounts ever 90 days late or worse",
        "PercentTradesNeverDelq": "accounts never late (%)",
        "MSinceMostRecentDelq": "months since the latest late payment",
        "MaxDelq2PublicRecLast12M": "worst lateness in the last year (code; 7 is none)",
        "MaxDelqEver": "worst lateness ever (code; 8 is none)",
        "NumTotalTrades": "credit accounts",
        "NumTradesOpeninLast12M": "accounts opened in the last year",
        "PercentInstallTrades": "accounts paid in instalments (%)",
        "MSinceMostRecentInqexcl7days": "months since an inquiry (last week not)",
        "NumInqLast6M": "inquiries in the last six months",
        "NumInqLast6Mexcl7days": "inquiries in the last six months (last week not)",
        "NetFractionRevolvingBurden": "card balances as a share of the limits (%)",
        "NetFractionInstallBurden": "loan balances as a share of the loans (%)",
        "NumRevolvingTradesWBalance": "card accounts with a balance",
        "NumInstallTradesWBalance": "loan accounts with a balance",
        "NumBank2NatlTradesWHighUtilization": "card accounts close to their limit",
        "PercentTradesWBalance": "accounts with a balance (%)",
    },
    "adult": {
        "age": "age (years)",
        "workclass": "kind of employer",
        "fnlwgt": "people that the person stands for in the census",
        "education": "highest level of education",
        "education-num": "the same level as a number (1 to 16)",
        "marital-status": "marital status",
        "occupation": "occupation",
        "relationship": "place in the family",
        "race": "race as in the census",
        "sex": "sex as in the census",
        "capital-gain": "capital gains of the year ($)",
        "capital-loss": "capital losses of the year ($)",
        "hours-per-week": "working hours a week",
        "native-country": "country of birth",
    },
    "credit_default": {
        "LIMIT_BAL": "credit limit (NT$)",
        "SEX": "sex",
        "EDUCATION": "education",
        "MARRIAGE": "marital status",
        "AGE": "age (years)",
        **{
            f"PAY_{i}": f"payment in {month} 2005 (months late; -1 and 0 in time)"
            for i, month in zip(
                (0, 2, 3, 4, 5, 6),
                ("September", "August", "July", "June", "May", "April"),
                strict=True,
            )
        },
        **{
            f"{column}{i}": f"{what} {month} 2005 (NT$)"
            for column, what in (("BILL_AMT", "bill of"), ("PAY_AMT", "amount paid in"))
            for i, month in enumerate(
                ("September", "August", "July", "June", "May", "April"), start=1
            )
        },
    },
    "telco_churn": {
        "gender": "gender",
        "SeniorCitizen": "65 or older (1) or not (0)",
        "Partner": "has a partner",
        "Dependents": "has dependents",
        "tenure": "months as a customer",
        "Contract": "term of the contract",
        "PaperlessBilling": "bills by e-mail",
        "PaymentMethod": "way of payment",
        "MonthlyCharges": "charges a month ($)",
        "TotalCharges": "charges so far ($)",
    },
    "titanic": {
        "pclass": "class of travel (1 to 3)",
        "sex": "sex",
        "age": "age (years)",
        "sibsp": "siblings and spouses aboard",
        "parch": "parents and children aboard",
        "fare": "fare (pounds)",
        "cabin": "cabin",
        "embarked": "port (C Cherbourg, Q Queenstown, S Southampton)",
        "home.dest": "home and destination",
    },
    "gapminder": {
        "continent": "continent",
        "year": "year",
        "pop": "population (people)",
        "gdpPercap": "gross domestic product per person (inflation-adjusted $)",
    },
}

# The codes of two data sets, by what their publishers say they mean.
CREDIT_CODES: dict[str, dict[int, str]] = {
    "SEX": {1: "male", 2: "female"},
    "EDUCATION": {1: "graduate school", 2: "university", 3: "high school", 4: "others"},
    "MARRIAGE": {1: "married", 2: "single", 3: "others"},
}

COVER_TYPES = (
    "Spruce/Fir",
    "Lodgepole Pine",
    "Ponderosa Pine",
    "Cottonwood/Willow",
    "Aspen",
    "Douglas-fir",
    "Krummholz",
)
