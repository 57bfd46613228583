"""Adds the relation extractor "triples"."""

from spatialstudio.plugin_api import API_VERSION, AdapterEntry, Plugin

PLUGIN = Plugin(
    name="Triples",
    api_version=API_VERSION,
    adapters=(AdapterEntry(kind="extractor", id="triples", make="triples_reader:build"),),
)
