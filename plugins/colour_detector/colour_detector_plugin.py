"""Adds the detector "colour-areas"."""

from spatialstudio.plugin_api import API_VERSION, AdapterEntry, Plugin

PLUGIN = Plugin(
    name="Colour detector",
    api_version=API_VERSION,
    adapters=(AdapterEntry(kind="detector", id="colour-areas", make="colour_detector:build"),),
)
