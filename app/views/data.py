import streamlit as st

from spam_core import plots
from ui import compute, session, text, upload, widgets

dataset = session.get(session.DATASET)
table = compute.table(dataset)

st.title("Data")
if session.take(session.ADDED) == dataset:
    session.put("data_shown", "This table")
    st.success(
        f"{text.literal(table.name)} is now your data set. It needs a model.",
        icon=":material/check:",
    )
    st.page_link("views/train.py", label="Train one", icon=":material/play_arrow:")
session.begin("data_shown", "This table")
shown = st.segmented_control(
    "Show",
    ["This table", "Bring your own"],
    required=True,
    key="data_shown",
    persist_state="session",
)

if shown == "Bring your own":
    st.markdown(
        "Upload a table, say which column to predict, and train a model on it. Table "
        "and models are yours alone and go when you close the page."
    )
    draft = upload.pick_file()
    result = None if draft is None else upload.read(draft)
    if draft is None or result is None:
        st.caption(f"The data set in use is {text.literal(table.name)}.")
    else:
        st.subheader("What to predict from what")
        upload.choose(draft, result)
    st.stop()

task = {
    "regression": "a number",
    "binary": "one of two classes",
    "multiclass": f"one of {len(table.classes)} classes",
}[table.task]
unit = f", in {text.literal(table.target_unit)}" if table.target_unit else ""
st.markdown(
    f"{text.literal(table.description)} To predict: **{text.literal(table.target)}**, "
    f"{task}{unit}."
)
rows = {part: len(positions) for part, positions in table.splits.items()}
for place, (label, value, note) in zip(
    st.columns(3),
    [
        ("Rows", table.n_rows, "all rows with a target"),
        ("Columns", table.n_features, "to predict from, the target not counted"),
        (
            "Test rows",
            rows["test"],
            f"never seen in training ({table.split_note or 'at random'}); "
            f"{rows['train'] + rows['validation']:,} are learnt from",
        ),
    ],
    strict=True,
):
    place.metric(label, f"{value:,}", help=text.literal(note), border=True)
widgets.chart(
    plots.distribution(compute.target(dataset), table.target, unit=table.target_unit),
    key="target",
)

st.subheader("Columns")
columns = compute.columns(dataset)
blank = [name for name in ("special codes", "meaning") if name in columns]
empty = [name for name in blank if not columns[name].astype(bool).any()]
st.dataframe(
    columns.drop(columns=empty),
    hide_index=True,
    alt=f"The {table.n_features} columns of {table.name}: kind, missing cells, "
    "distinct values and range",
)
for column, reason in table.dropped.items():
    st.markdown(f"- Left out: {text.literal(column)}, {text.literal(reason)}")
if table.special_values:
    codes = sorted({code for held in table.special_values.values() for code in held})
    listed = ", ".join(f"{code:g}" for code in codes)
    st.markdown(
        f"- {text.literal(listed)} stand for no value in "
        f"{len(table.special_values)} columns; each has an effect of its own."
    )

st.subheader("The first rows")
widgets.preview(table)
st.markdown(
    f"- Source: {text.literal(table.source)}\n- Licence: {text.literal(table.licence)}"
)
if compute.is_own(dataset):
    st.button(
        "Remove this table and its models",
        key="remove",
        on_click=compute.remove,
        args=(dataset,),
        icon=":material/delete:",
    )
