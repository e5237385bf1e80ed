import streamlit as st

from spam_core import plots
from ui import compute, gate, kinds, session, text, widgets

dataset = session.get(session.DATASET)
view = session.get(session.VIEW)
class_ = session.get(session.CLASS)
table = compute.table(dataset)

st.title("Interactions")
st.markdown(
    "How much two columns say together, beyond what each says alone: the mean absolute "
    "contribution of every pair over the training rows. Click a cell to see the pair."
)
model = gate.need_glass_box(dataset, "interactions")
terms = compute.terms(model.path, dataset, view)
pairs = compute.ranked(model.path, dataset, view, class_, 2)
if not pairs:
    name = kinds.heading(gate.chosen_model(dataset))
    st.info(
        f"{name} has no pair terms here: it was trained to look at each column by "
        "itself. All that it knows stands under Shape functions."
    )
    st.page_link(
        "views/shapes.py", label="Shape functions", icon=":material/show_chart:"
    )
    st.stop()

largest = compute.ranked(model.path, dataset, view, class_, 1)[0]
best = compute.size(model.path, dataset, view, class_, largest)
if compute.size(model.path, dataset, view, class_, pairs[0]) < 0.01 * best:
    st.info(
        "Pairs hardly matter to this model: the largest says less than a hundredth of "
        "what the largest column says by itself."
    )
event = widgets.chart(
    plots.matrix(terms, class_=class_, clickable=True),
    key="matrix",
    on_select="rerun",
    selection_mode="points",
)
if 2 * len(pairs) < len(terms.feature_names) * (len(terms.feature_names) - 1):
    st.caption(
        f"Blank: pairs that the model has no term for. It has {len(pairs):,} pairs."
    )
first, second = widgets.pick_pair(pairs, event)
unit = table.target_unit
own = compute.size(model.path, dataset, view, class_, (first, second))
st.markdown(
    f"On average this pair adds or takes away {text.beside(own, best, unit)}. The "
    f"largest column, {text.literal(largest[0])}, by itself adds or takes away "
    f"{text.amount(best, unit)}."
)
figure = plots.surface(
    compute.surface(model.path, view, first, second),
    first,
    second,
    class_=class_,
    scale=terms.scale,
    classes=terms.classes,
    largest=best,
    bulk=tuple(compute.curve(model.path, view, name).bulk for name in (first, second)),
)
widgets.chart(figure, key="surface")
widgets.column_note(table, first)
widgets.column_note(table, second)
