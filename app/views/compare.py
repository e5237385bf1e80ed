import streamlit as st

from spam_core import plots
from spam_core.explain import MEASURES
from ui import analysis, comparing, compute, session, text, widgets

AUTOMATIC = 20.0  # seconds that a page may take without being asked
MODELS = {"spam": "SPAM", "dnn": "Neural network"}
LINES = {"feature": "Columns", "term": "SPAM's terms"}
ORDERS = {"shared": "The same in all", "own": "Each its own"}

dataset = session.get(session.DATASET)
view = session.get(session.VIEW)
class_ = session.get(session.CLASS)
table = compute.table(dataset)

st.title("SPAM beside LIME and KernelSHAP")
st.markdown(
    "SPAM says exactly how it came to a score. LIME and KernelSHAP explain a model "
    "from outside: they change the row many times and watch what the model answers. "
    "Here is one row, explained at one length."
)
spam = widgets.need_model(dataset)

run = compute.run(dataset)
planned = () if run is None else run.models
models = [key for key in MODELS if compute.model(dataset, key) or key in planned]
session.keep_valid(session.COMPARED, models)

choose, asked, lines, arrange = st.columns([3, 5, 5, 5])
with choose:
    position = widgets.pick_row(table)
with asked:
    name = widgets.pick_one(
        "LIME and KernelSHAP explain",
        {key: MODELS[key] for key in models},
        session.COMPARED,
    )
with lines:
    unit = widgets.pick_one(
        "SPAM's lines",
        LINES,
        "compare_unit",
        help="Columns: exact Shapley values, in which a pair is shared by its two "
        "columns; KernelSHAP estimates the same. SPAM's terms: its own sum, where "
        "pairs stand by themselves.",
    )
with arrange:
    order = widgets.pick_one("Order of lines", ORDERS, "compare_order")

truth = analysis.exact(spam.path, dataset, position)
own = truth if unit == "feature" else compute.local(spam.path, dataset, view, position)
length = widgets.pick_length(len(own.terms), "Lines in each explanation")

label = None if class_ is None else table.classes[table.class_names.index(class_)]
scale = compute.terms(spam.path, dataset, "pure").scale_of(class_)
model = spam if name == "spam" else widgets.need_model(dataset, name)
network = None if name == "spam" else model.path
found = comparing.run(spam.path, network, dataset, position, label, AUTOMATIC)
shown = None if found is None else found.at(E=length, unit=unit)

title = "SPAM, exact" if unit == "feature" else f"SPAM, its {view} terms"
panels, notes = [(title, own)], [("truth known: the model's own sum",)]
subject = analysis.SPAM if name == "spam" else analysis.NETWORK
if shown is not None:
    known = "truth known" if shown.truth_known[subject] else "truth not known"
    for method in comparing.METHODS:
        whose = "SPAM" if name == "spam" else "the network"
        panels.append((f"{method} of {whose}", shown.explanations[subject, method]))
        notes.append((f"estimate, {known}",))
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

st.markdown(comparing.errors(shown, subject), help=comparing.ERROR_HELP)
st.markdown(comparing.bases(shown, own, subject, label))

st.subheader("How far can each be trusted?")
st.markdown(comparing.verdict(shown, subject))
st.dataframe(
    comparing.readable(shown),
    hide_index=True,
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
