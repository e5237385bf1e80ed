import streamlit as st

from spam_core import plots
from ui import (
    compute,
    evaluating,
    evidence,
    gate,
    kinds,
    session,
    text,
    verdicts,
    widgets,
)

dataset = session.get(session.DATASET)
class_ = session.get(session.CLASS)
table = compute.table(dataset)

st.title("Performance")
model = gate.need_model(dataset)
chosen = gate.chosen_model(dataset)
trained = {
    name: found
    for name in compute.names(dataset)
    if (found := compute.model(dataset, name))
}
models = {name: found.path for name, found in trained.items()}
report = compute.report(dataset)
metrics = report["metrics"]
label, meaning = text.METRICS[metrics[0]]
unit = table.target_unit
reference = kinds.USUAL if kinds.USUAL in models else chosen
ranking = evaluating.ranking(tuple(models.items()), dataset, reference)

first, second = verdicts.best(ranking, unit)
st.markdown(f"#### {first}")
guess = report["baseline"]["scores"][metrics[0]]
st.markdown(
    f"{second} {label}: {meaning}. Always guessing the {report['baseline']['name']} "
    f"reaches {text.amount(guess, unit)}."
)
left, right = st.columns(2)
with left:
    names = [kinds.heading(name) for name in models]
    widgets.chart(
        plots.leaderboard(ranking, label, unit=unit, names=names), key="leaderboard"
    )
with right:
    evidence.reruns(dataset, unit)
st.dataframe(
    verdicts.table(
        ranking,
        {
            kinds.heading(name): found.scores | {"seconds": found.seconds}
            for name, found in trained.items()
        },
        metrics,
    ),
    hide_index=True,
    alt=f"{label} and other metrics of each model on the test rows",
)
st.caption(verdicts.drawn(ranking))
if len(models) == 1:
    st.page_link("views/train.py", label="Train a model to compare it with")

st.header(f"{kinds.heading(chosen)}: where it is right and wrong")
predictions = evaluating.predictions(model.path, dataset)
if table.task == "regression":
    evidence.regression(table, predictions)
elif table.task == "binary":
    evidence.binary(table, models, chosen, dataset)
else:
    evidence.multiclass(models, chosen, dataset, class_)
evidence.mistakes(table, predictions)
