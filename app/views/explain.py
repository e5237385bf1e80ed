import streamlit as st

from spam_core import plots
from ui import compute, evaluating, gate, kinds, session, text, widgets

dataset = session.get(session.DATASET)
view = session.get(session.VIEW)
class_ = session.get(session.CLASS)
table = compute.table(dataset)

st.title("Explain a case")
model = gate.need_model(dataset)
is_sum = kinds.glass_box(gate.chosen_model(dataset))
st.markdown(
    "A prediction of this model is a sum. Here it is, line by line, for one row that "
    "the model has never seen."
    if is_sum
    else "What the model predicts for one row that it has never seen."
)
choose, show = st.columns([2, 3], vertical_alignment="bottom")
with choose:
    position = widgets.pick_row(table)
shares = compute.shares(model.path, dataset, position)
score = evaluating.prediction(model.path, dataset, position)
if is_sum:
    terms = compute.terms(model.path, dataset, view)
    with show:
        length = widgets.pick_length(len(terms.terms))

left, right = st.columns([3, 2])
with right:
    widgets.outcome(table, position, score, shares)
    st.markdown("**The row**")
    widgets.row_values(table, position)
with left:
    if not is_sum:
        gate.black_box(dataset, "terms")
        st.stop()
    explanation = compute.local(model.path, dataset, view, position)
    label = None if class_ is None else table.classes[table.class_names.index(class_)]
    frame = explanation.ledger(0, E=length, class_=label)
    scale = terms.scale_of(class_)
    ledger = text.Ledger.of(frame)
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
