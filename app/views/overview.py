import streamlit as st

from spam_core import plots
from ui import compute, gate, kinds, session, text, widgets

MOST = 4  # cards in a line

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

model = gate.need_model(dataset)
chosen = gate.chosen_model(dataset)
report = compute.report(dataset)
metric = report["metrics"][0]
label, meaning = text.METRICS[metric]
others = [name for name in compute.names(dataset) if name != chosen]

st.subheader("How good")
st.markdown(text.quality(table.task, report, table.target_unit, chosen))
cards = [chosen, *others, None]
for place, name in zip(widgets.grid(len(cards), MOST), cards, strict=False):
    if name is None:
        place.metric(
            f"Always guessing: {label}",
            text.score_text(report["baseline"]["scores"][metric]),
            help="What any model must beat.",
            border=True,
            delta=f"the {report['baseline']['name']}",
            delta_color="off",
            delta_arrow="off",
        )
        continue
    found = compute.model(dataset, name)
    kind = "Its score is a sum of terms" if kinds.glass_box(name) else "A black box"
    place.metric(
        f"{kinds.heading(name)}: {label}",
        "training…" if found is None else text.score_text(found.scores[metric]),
        help=f"{meaning[0].upper()}{meaning[1:]}. {kind}.",
        border=True,
        delta="not yet" if found is None else f"trained in {found.seconds:.1f} s",
        delta_color="off",
        delta_arrow="off",
    )
st.page_link(
    "views/performance.py",
    label="Where it is right and wrong, and whether differences are chance",
    icon=":material/speed:",
)

st.subheader("What drives it")
if kinds.glass_box(chosen):
    terms = compute.terms(model.path, dataset, view)
    length = widgets.pick_length(len(terms.terms))
    share = compute.share_of_largest(model.path, dataset, view, class_, length)
    several = any(len(term) > 1 for term in terms.terms)
    about = "one column or a few together" if several else "one column"
    st.markdown(
        f"The score is a sum of {len(terms.terms):,} terms, each about {about}. The "
        f"{length} largest make up {100 * share:.0f} % of their total size."
    )
    widgets.chart(plots.importance(terms, length, class_=class_), key="importance")
else:
    gate.black_box(dataset, "terms")

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
