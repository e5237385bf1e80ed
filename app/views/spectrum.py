import streamlit as st

from spam_core import plots
from ui import analysis, compute, gate, kinds, sentences, session, text, widgets

METRIC_HELP = {
    "data": (
        "Data metric: a component counts by what it does to the score of rows like the "
        "training rows."
    ),
    "coefficient": (
        "Coefficient metric: a component counts by the numbers in its weights, however "
        "the columns are spread. It is the paper's."
    ),
}
HELD = 0.99  # of the energy
NEGLIGIBLE = 0.01  # beside the largest column
LOSS = 0.01  # of the metric that a smaller model may lose

dataset = session.get(session.DATASET)
class_ = session.get(session.CLASS)
table = compute.table(dataset)

st.title("Spectrum")
st.markdown(
    "What columns say together is made of components. Here they are, the largest "
    "first: the faster they fall, the fewer the model needs."
)
model = gate.need_glass_box(dataset, "components")
chosen = gate.chosen_model(dataset)
if not kinds.polynomial(chosen):
    st.info(
        f"{kinds.heading(chosen)} has no spectrum: what it knows of pairs is tables "
        "of numbers, not components of a polynomial. Interactions shows them."
    )
    st.page_link(
        "views/interactions.py", label="Interactions", icon=":material/grid_on:"
    )
    st.stop()
orders = analysis.orders(model.path)
if not orders:
    st.info(
        "This model has order 1: it looks at each column by itself, so there are no "
        "components to show."
    )
    st.stop()

left, right = st.columns(2)
with left:
    order = orders[0]
    if len(orders) > 1:
        session.keep_valid("spectrum_order", list(orders))
        order = st.segmented_control(
            "Order",
            orders,
            default=orders[0],
            required=True,
            key="spectrum_order",
            persist_state="session",
        )
    st.caption(f"Order {order}: a component joins up to {order} columns at a time.")
with right:
    metric = st.segmented_control(
        "Size of a component",
        list(METRIC_HELP),
        default="data",
        required=True,
        format_func=str.capitalize,
        key="spectrum_metric",
        persist_state="session",
    )
    st.caption(METRIC_HELP[metric])

spectrum = analysis.spectrum(model.path, order, metric)
output = 0 if class_ is None else table.class_names.index(class_)
scale = compute.terms(model.path, dataset, "pure").scale_of(class_)
n_values = spectrum.values.shape[1]
held = spectrum.rank_for(HELD, output)
most = analysis.most_components(model.path, order, metric)

report = compute.report(dataset)
name, meaning = text.METRICS[report["metrics"][0]]
score = model.scores[report["metrics"][0]]
whole = float("nan") if score is None else score
ranks, scores = analysis.cut_scores(model.path, dataset, order, metric)
enough = analysis.enough(ranks, scores, whole, report["metrics"][0], LOSS)
unit = table.target_unit

# in the data metric, whatever is shown: it has the unit of the score
size = float(analysis.spectrum(model.path, order, "data").norms[output, -1])
column = compute.ranked(model.path, dataset, "pure", class_, 1)[0]
largest = compute.size(model.path, dataset, "pure", class_, column)
if size < NEGLIGIBLE * largest:
    st.info(sentences.negligible(order, size, column[0], largest, unit))
effective, holding, cut = st.columns(3)
effective.metric(
    "Effective rank",
    f"{spectrum.effective_rank(output):.3g} of {n_values:,}",
    border=True,
    help="How many components there would be if all had the same size: exp of the "
    "entropy of the sizes' shares.",
)
holding.metric(
    f"Hold {100 * HELD:.0f} % of the energy",
    f"{held:,} of {n_values:,}",
    border=True,
    help="Energy: squared size of what this order adds to the score.",
)
cut.metric(
    f"Enough for {name} within {100 * LOSS:.0f} %",
    f"{enough:,} of {most:,}",
    border=True,
    help=f"Fewest of 1, 2, 4, … components with which the test rows' {name} is at most "
    f"{100 * LOSS:.0f} % worse than the whole model's.",
)
st.markdown(
    sentences.spectrum(
        held,
        n_values,
        enough,
        most,
        scores[ranks.index(enough)],
        whole,
        name,
        unit,
        HELD,
    )
)
widgets.chart(
    plots.spectrum(spectrum, output, scale=scale), key=f"spectrum_{order}_{metric}"
)

st.subheader("A smaller model")
st.markdown(
    "Keep the largest components and drop the others, without training again. Other "
    "orders stay as they are."
)
session.keep_between("spectrum_rank", 1, most)
rank = 1
if most > 1:
    rank = st.slider(
        "Components to keep",
        1,
        most,
        enough,
        key="spectrum_rank",
        persist_state="session",
    )
kept = analysis.cut_score(model.path, dataset, order, metric, rank)
small, full = st.columns(2)
small.metric(
    f"{name} with {rank:,}, test rows",
    text.score_text(kept),
    delta=f"{text.number(kept - whole, signed=True)} against the whole model",
    delta_color="off",
    delta_arrow="off",
    help=meaning,
    border=True,
)
full.metric(
    f"{name} of the whole model, test rows",
    text.score_text(whole),
    delta=f"{most:,} components",
    delta_color="off",
    delta_arrow="off",
    help=meaning,
    border=True,
)
widgets.chart(
    plots.truncation(
        ranks,
        scores,
        metric=f"{name}, test rows",
        whole=whole,
        chosen=(rank, kept),
        unit=unit,
        best=None if table.task == "regression" else 1.0,
    ),
    key="truncation",
)

with st.expander("For readers of the paper: the terms of Theorem 1, not a guarantee"):
    bound = analysis.bound(model.path, dataset, order, output)
    if bound is None:
        st.markdown(
            "The theorem assumes an exponential decay, which can't be fitted to these "
            "values."
        )
    else:
        st.markdown(
            "**Not a guarantee.** The terms as printed, with constants fitted to this "
            "model's values in the coefficient metric. The printed approximation term "
            "is not the law's tail: that is what stands in the last line."
        )
        st.dataframe(
            sentences.bound(bound),
            hide_index=True,
            alt="Terms of Theorem 1, and the exactly summed tail",
        )
