import streamlit as st

from spam_core import plots
from ui import compute, session, text, widgets

dataset = session.get(session.DATASET)
view = session.get(session.VIEW)
class_ = session.get(session.CLASS)
table = compute.table(dataset)

st.title("Explain a case")
st.markdown(
    "A prediction of this model is a sum. Here it is, line by line, for one row that "
    "the model has never seen."
)
model = widgets.need_model(dataset)
terms = compute.terms(model.path, dataset, view)
choose, show = st.columns([2, 3], vertical_alignment="bottom")
with choose:
    position = widgets.pick_row(table)
with show:
    length = widgets.pick_length(len(terms.terms))

explanation = compute.local(model.path, dataset, view, position)
label = None if class_ is None else table.classes[table.class_names.index(class_)]
frame = explanation.ledger(0, E=length, class_=label)
scale = terms.scale_of(class_)
ledger = text.Ledger.of(frame)
shares = compute.shares(model.path, dataset, position)

left, right = st.columns([3, 2])
with left:
    widgets.chart(plots.ledger(frame, scale=scale), key="ledger")
    st.markdown(ledger.sentence(scale))
    if ledger.cancels:
        st.caption(
            f"Large terms cancel in this row: the largest is "
            f"{text.number(ledger.largest, True)}, all together are "
            f"{text.number(ledger.terms, True)}. That happens where columns move "
            "together, such as latitude and longitude."
        )
    if view == "pure":
        st.caption(
            "The base is the mean score if the columns were independent of each other; "
            "it is not the average prediction."
        )
with right:
    widgets.outcome(table, position, ledger.score, shares)
    st.markdown("**The row**")
    widgets.row_values(table, position)
