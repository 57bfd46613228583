"""Adds the panel "Relations and PoS" to the workspace Inspect."""

from spatialstudio.plugin_api import API_VERSION, PanelEntry, Plugin

PLUGIN = Plugin(
    name="PoS table",
    api_version=API_VERSION,
    panels=(
        PanelEntry(
            id="pos-table",
            title="Relations and PoS",
            make="pos_table_panel:PosTablePanel",
            workspace="inspect",
            area="right",
        ),
    ),
)
