import streamlit as st

from spam_core import plots
from ui import compute, session, text, widgets

dataset = session.get(session.DATASET)
view = session.get(session.VIEW)
class_ = session.get(session.CLASS)
table = compute.table(dataset)

st.title("How good is it, and what drives it?")
unit = f" ({text.literal(table.target_unit)})" if table.target_unit else ""
st.markdown(
    f"{text.literal(table.description)} The model predicts "
    f"**{text.literal(table.target)}**{unit} from "
    f"{table.n_features} columns."
)

model = widgets.need_model(dataset)
report = compute.report(dataset)
metric = report["metrics"][0]
name, meaning = text.METRICS[metric]

st.subheader("How good")
st.markdown(text.quality(table.task, report, table.target_unit))
spam, network, guess = st.columns(3)
spam.metric(
    f"SPAM: {name}",
    text.score_text(model.scores[metric]),
    help=meaning,
    border=True,
    delta=f"trained in {model.seconds:.1f} s",
    delta_color="off",
    delta_arrow="off",
)
other = compute.model(dataset, "dnn")
network.metric(
    f"Neural network: {name}",
    "training…" if other is None else text.score_text(other.scores[metric]),
    help="A black box, for comparison: its predictions can't be read as a sum.",
    border=True,
    delta="not yet" if other is None else f"trained in {other.seconds:.1f} s",
    delta_color="off",
    delta_arrow="off",
)
guess.metric(
    f"Always guessing: {name}",
    text.score_text(report["baseline"]["scores"][metric]),
    help="What any model must beat.",
    border=True,
    delta=f"the {report['baseline']['name']}",
    delta_color="off",
    delta_arrow="off",
)

st.subheader("What drives it")
terms = compute.terms(model.path, dataset, view)
length = widgets.pick_length(len(terms.terms))
share = compute.share_of_largest(model.path, dataset, view, class_, length)
st.markdown(
    f"The score is a sum of {len(terms.terms):,} terms, each about one column or a few "
    f"together. The {length} largest make up {100 * share:.0f} % of their total size."
)
widgets.chart(plots.importance(terms, length, class_=class_), key="importance")

with st.expander("About the data and the test"):
    rows = report["rows"]
    learnt = rows["train"] + rows["validation"]
    st.markdown(
        f"- {table.n_rows:,} rows: {learnt:,} to learn from, {rows['test']:,} to test "
        f"on ({text.literal(table.split_note or 'random')})\n"
        f"- Source: {text.literal(table.source)}\n"
        f"- Licence: {text.literal(table.licence)}"
    )
    for column, reason in table.dropped.items():
        st.markdown(f"- Left out: {text.literal(column)}, {text.literal(reason)}")
