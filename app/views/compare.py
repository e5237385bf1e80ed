import streamlit as st

from spam_core import plots
from spam_core.explain import MEASURES
from ui import analysis, comparing, compute, gate, kinds, session, text, widgets

AUTOMATIC = 20.0  # seconds that a page may take without being asked
ORDERS = {"shared": "The same in all", "own": "Each its own"}

dataset = session.get(session.DATASET)
view = session.get(session.VIEW)
class_ = session.get(session.CLASS)
table = compute.table(dataset)

st.title("Compare with LIME and KernelSHAP")
st.markdown(
    "A glass box such as SPAM says exactly how it came to a score. LIME and KernelSHAP "
    "explain a model from outside: they change the row many times and watch what the "
    "model answers. Here is one row, explained at one length."
)
model = gate.need_model(dataset)
chosen = gate.chosen_model(dataset)
subject, is_sum = kinds.prose(chosen), kinds.glass_box(chosen)
# beside a black box stands a glass box, if there is one
glass = chosen if is_sum else gate.first_glass_box(dataset)
glass_model = None if glass is None else compute.model(dataset, glass)
glass_name = None if glass is None else kinds.prose(glass)
st.caption(
    f"LIME and KernelSHAP explain {text.literal(subject)}; another one: under Model in "
    "the sidebar."
    + (
        f" {kinds.heading(glass)} stands beside it as the glass box."
        if glass and not is_sum
        else ""
    )
)

choose, lines, arrange = st.columns([3, 6, 6])
with choose:
    position = widgets.pick_row(table)
unit = "feature"
with lines:
    if glass is not None:
        unit = widgets.pick_one(
            f"{kinds.heading(glass)}'s lines",
            {"feature": "Columns", "term": "Its own terms"},
            "compare_unit",
            help="Columns: exact Shapley values, in which a pair is shared by its two "
            "columns; KernelSHAP estimates the same. Its own terms: its own sum, "
            "where pairs stand by themselves.",
        )
with arrange:
    order = widgets.pick_one("Order of lines", ORDERS, "compare_order")

label = None if class_ is None else table.classes[table.class_names.index(class_)]
own, panels, notes = None, [], []
if glass_model is not None:
    own = (
        analysis.exact(glass_model.path, dataset, position)
        if unit == "feature"
        else compute.local(glass_model.path, dataset, view, position)
    )
    end = "exact" if unit == "feature" else f"its {view} terms"
    panels.append((f"{kinds.heading(glass)}, {end}", own))
    notes.append(("truth known: the model's own sum",))
n_lines = table.n_features if own is None else len(own.terms)
length = widgets.pick_length(n_lines, "Lines in each explanation")

models = {subject: model.path}
if glass_model is not None and not is_sum:
    models = {glass_name: glass_model.path} | models
found = comparing.run(tuple(models.items()), dataset, position, label, AUTOMATIC)
shown = None if found is None else found.at(E=length, unit=unit)
if shown is not None:
    known = "truth known" if shown.truth_known[subject] else "truth not known"
    for method in comparing.METHODS:
        panels.append((f"{method} of {subject}", shown.explanations[subject, method]))
        notes.append((f"estimate, {known}",))
if not panels:
    st.stop()
scale = compute.scale(dataset, panels[0][1].scale)
scale = scale if class_ is None else f"{scale} of {class_}"
widgets.chart(
    plots.comparison(
        panels,
        length,
        unit=unit,
        class_=label,
        scale=scale,
        order=order,
        notes=notes,
        title=f"Test row {session.get(session.ROW, 1):,}: contributions to {scale}",
    ),
    key="comparison",
)
if unit == "term":
    st.caption(
        "LIME and KernelSHAP have no lines for pairs: what two columns say together "
        "ends up in the lines of both."
    )
if shown is None:
    st.stop()

st.markdown(comparing.errors(shown, subject, is_sum), help=comparing.ERROR_HELP)
st.markdown(comparing.bases(shown, own, glass_name, subject, label))

st.subheader("How far can each be trusted?")
st.markdown(comparing.verdict(shown, glass_name, subject))
st.dataframe(
    comparing.readable(shown),
    hide_index=True,
    placeholder=widgets.NOTHING,
    column_config={
        MEASURES[measure].label: st.column_config.NumberColumn(
            format=comparing.FORMATS.get(measure, "%.2f"),
            help=text.literal(
                f"{MEASURES[measure].meaning} ({MEASURES[measure].source})"
            ),
        )
        for measure in comparing.SHOWN
    },
    alt=comparing.alt(shown),
)
left, right = st.columns(2)
with left:
    widgets.chart(plots.agreement(shown.agreement), key="agreement")
    widgets.chart(plots.faithfulness(shown.faithfulness), key="faithfulness")
with right:
    widgets.chart(plots.fidelity(shown.fidelity, length), key="fidelity")
    if shown.truth_known[subject]:
        frame = analysis.budget(model.path, dataset, position, label)
        widgets.chart(plots.budget(frame), key="budget")
