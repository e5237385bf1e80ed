import streamlit as st

from ui import compute, session, text, training

dataset = session.get(session.DATASET)
table = compute.table(dataset)

st.title("Train")
st.markdown(
    f"Train a model on **{text.literal(compute.choices()[dataset])}** to predict "
    f"**{text.literal(table.target)}**. Another data set: in the sidebar, or bring "
    "your own on the page Data. What you train is yours alone; the other visitors keep "
    "the model they have."
)
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
    if under_way.dataset != dataset:
        other = compute.choices().get(under_way.dataset, "another table")
        st.caption(f"Of {text.literal(other)}")
    training.follow(under_way)
else:
    last = compute.last_training(dataset)
    if last is not None:
        training.outcome(dataset, last)
