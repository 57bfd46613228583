"""A stored run, and what exports it."""

from pathlib import Path

import pytest

from spatialstudio.adapters.exports.exporter import FileExporter
from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.application.gallery.exports import ExportOrder, Exports
from spatialstudio.application.paths import resources_folder

SAMPLE = Path(__file__).parents[2] / "golden" / "run_of_schema_1"


@pytest.fixture(scope="module")
def exports():
    resources = resources_folder()
    return Exports(store=RunFiles(), exporter=FileExporter(resources), themes=resources / "themes")


@pytest.fixture
def picture(tmp_path):
    """The sample run, stored as files of today."""
    record, events = RunFiles().load(SAMPLE)
    return RunFiles().save(record, events, tmp_path / "library" / "2026" / "11")


@pytest.fixture
def export(exports, picture, tmp_path):
    """Export the sample; return the file's bytes."""

    def written(kind, ending, look=None):
        order = ExportOrder(overwrite=True)
        (path,) = exports.export([picture], kind, tmp_path / f"out.{ending}", look, order)
        return path.read_bytes()

    return written
