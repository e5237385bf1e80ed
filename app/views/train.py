import streamlit as st

from ui import compute, findings, kinds, searching, session, text, training, widgets

dataset = session.get(session.DATASET)
table = compute.table(dataset)

st.title("Train")
st.markdown(
    f"Train a model on **{text.literal(compute.choices()[dataset])}** to predict "
    f"**{text.literal(table.target)}**. Another data set: in the sidebar, or bring "
    "your own on the page Data. What you train is yours alone; the other visitors keep "
    "the model they have."
)
how = widgets.pick_one(
    "How to train",
    {"once": "Train once", "search": "Search for settings"},
    "train_how",
    help="Once: with settings that you choose. Search: try many, and see which predict "
    "best.",
)
if how == "once":
    models = training.settings()
    under_way = compute.under_way()
    if st.button(
        "Start training",
        type="primary",
        disabled=under_way is not None or not models,
        key="start",
        icon=":material/play_arrow:",
    ):
        compute.train(dataset, models)
        st.rerun()
    if under_way is not None:
        st.subheader("Under way")
        training.of_table(under_way.dataset, dataset)
        training.follow(under_way)
    elif (last := compute.last_training(dataset)) is not None:
        training.outcome(dataset, last)
else:
    wanted = searching.plan(dataset)
    searching.start_button(dataset, wanted)
    search = searching.under_way()
    if search is not None:
        st.subheader(f"Under way: {text.literal(kinds.prose(search.run.model))}")
        training.of_table(search.dataset, dataset)
        searching.follow(search)
    elif (found := searching.found(dataset, wanted)) is not None:
        findings.outcome(found)
