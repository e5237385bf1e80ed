"""Entry of the dashboard: the table of pages and what all of them share."""

import streamlit as st

from ui import widgets

st.set_page_config(page_title="SPAM", page_icon=":material/functions:", layout="wide")
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
        ],
        "One case": [
            st.Page(
                "views/explain.py",
                title="Explain a case",
                icon=":material/receipt_long:",
            ),
        ],
    }
)
with st.sidebar:
    dataset = widgets.pick_dataset()
    widgets.training_status(dataset)
    widgets.pick_class(dataset)
    widgets.pick_view()
page.run()
