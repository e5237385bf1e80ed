import streamlit as st

from spam_core import plots
from spam_core.explain import relative_difference
from ui import analysis, compute, sentences, session, text, widgets

AUTOMATIC = 10.0  # seconds that a page may take without being asked
METHODS = {"lime": "LIME", "kernel_shap": "KernelSHAP"}
MODELS = {"spam": "SPAM", "dnn": "the neural network"}
LINES = {"feature": "Columns", "term": "SPAM's terms"}
ORDERS = {"shared": "The same in all", "own": "Each its own"}
SEED = 0

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
session.keep_valid("compare_model", models)

choose, asked, lines, arrange = st.columns([3, 5, 5, 5])
with choose:
    position = widgets.pick_row(table)
with asked:
    name = st.segmented_control(
        "LIME and KernelSHAP explain",
        models,
        default="spam",
        required=True,
        format_func=lambda name: "SPAM" if name == "spam" else "Neural network",
        key="compare_model",
        persist_state="session",
    )
with lines:
    unit = st.segmented_control(
        "SPAM's lines",
        list(LINES),
        default="feature",
        required=True,
        format_func=LINES.__getitem__,
        key="compare_unit",
        persist_state="session",
        help="Columns: exact Shapley values, in which a pair is shared by its two "
        "columns; KernelSHAP estimates the same. SPAM's terms: its own sum, where "
        "pairs stand by themselves.",
    )
with arrange:
    order = st.segmented_control(
        "Order of lines",
        list(ORDERS),
        default="shared",
        required=True,
        format_func=ORDERS.__getitem__,
        key="compare_order",
        persist_state="session",
    )

truth = analysis.exact(spam.path, dataset, position)
own = truth if unit == "feature" else compute.local(spam.path, dataset, view, position)
most = min(30, max(2, len(own.terms)))
length = st.slider(
    "Lines in each explanation",
    1,
    most,
    min(7, most),
    key=f"compare_length_{dataset}_{most}",  # another table has another range
    persist_state="session",
    help="The rest is added up in one more line, so nothing is lost.",
)

model = spam if name == "spam" else widgets.need_model(dataset, name)
label = None if class_ is None else table.classes[table.class_names.index(class_)]
scale = compute.terms(spam.path, dataset, "pure").scale_of(class_)

found = {}
this = [model.path, position]
try:
    costs = {key: analysis.cost(model.path, dataset, key) for key in METHODS}
    seconds = sum(cost.seconds for cost in costs.values())
    evaluations = {METHODS[key]: cost.n_evaluations for key, cost in costs.items()}
    if seconds <= AUTOMATIC or session.get("compare_asked") == this:
        with st.spinner(
            sentences.waiting(MODELS[name], seconds, evaluations), show_time=True
        ):
            found = {
                key: analysis.posthoc(model.path, dataset, position, key, SEED)
                for key in METHODS
            }
    else:
        st.info(sentences.cost(MODELS[name], seconds, evaluations))
        if st.button("Run LIME and KernelSHAP", type="primary"):
            session.put("compare_asked", this)
            st.rerun()
except (ImportError, TypeError, ValueError) as error:  # what the methods refuse
    st.error(text.literal(error), title="LIME and KernelSHAP could not be run")

known = "truth known" if name == "spam" else "truth not known"
panels = [("SPAM, exact", own)]
notes = [("truth known: the model's own sum",)]
for key, explanation in found.items():
    panels.append((f"{METHODS[key]} of {MODELS[name]}", explanation))
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

if found:
    off = {
        METHODS[key]: relative_difference(explanation, truth, class_=label)
        for key, explanation in found.items()
    }
    asked_rows = {METHODS[key]: found[key].n_evaluations for key in found}
    lime, shap = found["lime"], found["kernel_shap"]
    if name == "spam":
        st.markdown(
            sentences.error(off, asked_rows, truth.n_evaluations),
            help=sentences.ERROR_HELP,
        )
    else:
        between = relative_difference(lime, shap, class_=label)
        st.markdown(sentences.unknown(between))
    starts = [
        float(e.ledger(0, E=1, class_=label)["contribution"].iloc[-2])
        for e in (own, shap, lime)
    ]
    rows = len(analysis.background(dataset))
    st.markdown(sentences.bases(*starts, rows, own.view, name == "spam"))
if unit == "term":
    st.caption(
        "LIME and KernelSHAP have no lines for pairs: what two columns say together "
        "ends up in the lines of both."
    )
