import streamlit as st

from spam_core import plots
from ui import compute, gate, session, widgets

dataset = session.get(session.DATASET)
view = session.get(session.VIEW)
class_ = session.get(session.CLASS)
table = compute.table(dataset)

st.title("Shape functions")
st.markdown(
    "What each value of a column adds to the score by itself. Above zero it pushes the "
    "score up, below zero it pushes it down."
)
model = gate.need_glass_box(dataset, "shapes")
terms = compute.terms(model.path, dataset, view)
features = [term[0] for term in compute.ranked(model.path, dataset, view, class_, 1)]
shown = st.segmented_control(
    "Show",
    ["One column", "The six largest"],
    default="One column",
    required=True,
    key="shapes_shown",
    persist_state="session",
)
if shown == "One column":
    session.keep_valid(session.FEATURE, features)
    chosen = [
        st.selectbox(
            "Column, most important first",
            features,
            key=session.FEATURE,
            persist_state="session",
        )
    ]
else:
    chosen = features[:6]
curves = [compute.curve(model.path, view, feature) for feature in chosen]
places = st.columns(min(2, len(chosen)))
for k, (feature, curve) in enumerate(zip(chosen, curves, strict=True)):
    with places[k % len(places)]:
        figure = plots.shape(
            curve,
            feature,
            class_=class_,
            scale=terms.scale,
            classes=terms.classes,
        )
        widgets.chart(figure, key=f"shape_{k}")
        widgets.column_note(table, feature)
bands = (
    "This model has one member, so there is no band."
    if all(curve.lower is None for curve in curves)
    else "The band is the spread of the ensemble's members, not a confidence interval."
)
st.caption(
    f"{bands} Grey bars count training rows. Missing and special values stand beside "
    "the curve; a value never seen in training adds nothing."
)
