"""Entry of the dashboard: the table of pages and what all of them share."""

from pathlib import Path

import streamlit as st

from ui import gate, kinds, widgets

st.set_page_config(
    page_title="SPAM",
    # an icon by name would be fetched from the network
    page_icon=str(Path(__file__).with_name("icon.svg")),
    layout="wide",
)
page = st.navigation(
    {
        "The model": [
            st.Page(
                "views/overview.py",
                title="How good, what drives it",
                icon=":material/monitoring:",
                default=True,
            ),
            st.Page(
                "views/shapes.py", title="Shape functions", icon=":material/show_chart:"
            ),
            st.Page(
                "views/interactions.py", title="Interactions", icon=":material/grid_on:"
            ),
            st.Page(
                "views/spectrum.py", title="Spectrum", icon=":material/waterfall_chart:"
            ),
        ],
        "One case": [
            st.Page(
                "views/explain.py",
                title="Explain a case",
                icon=":material/receipt_long:",
            ),
            st.Page("views/compare.py", title="Compare", icon=":material/compare:"),
        ],
        "Evidence and training": [
            st.Page(
                "views/performance.py", title="Performance", icon=":material/speed:"
            ),
            st.Page("views/data.py", title="Data", icon=":material/table:"),
            st.Page("views/train.py", title="Train", icon=":material/model_training:"),
        ],
    }
)
with st.sidebar:
    dataset = widgets.pick_dataset()
    # what comes and goes has a place of its own, so that the rest stays where it is
    with st.container():
        gate.pick_model(dataset)
    with st.container():
        widgets.pick_class(dataset)
    widgets.pick_view(kinds.polynomial(gate.chosen_model(dataset)))
    with st.container():
        gate.training_status(dataset)
page.run()
