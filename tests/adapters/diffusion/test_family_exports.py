"""PoS recomputed from the exported files of every family, by numpy alone."""

import csv
import json

import h5py
import numpy as np
import pytest

from spatialstudio.adapters.exports.exporter import FileExporter
from spatialstudio.adapters.storage.stores.attention_files import AttentionFolders
from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.application.gallery.exports import ExportOrder, Exports
from spatialstudio.application.paths import resources_folder
from spatialstudio.application.registry import EXPORT_KINDS
from spatialstudio.application.storage.run_writer import store_run
from spatialstudio.domain.attention import AttentionDetail
from spatialstudio.domain.generation import CaptureSettings
from tests.adapters.diffusion.drawn_families import FAMILY_WARNINGS, STRONG

pytestmark = FAMILY_WARNINGS

CAPTURE = CaptureSettings(preview_every=0, detail=AttentionDetail.EVERYTHING, full_precision=True)
LAYERS = {"after": "layer", "before": "layer_before"}
GUIDED = 0
"""The step on which guidance acted."""


@pytest.fixture(scope="module")
def exported(family, make_request, tmp_path_factory):
    """Exports a guided run of the family with float32 layers; returns the file."""
    folder = tmp_path_factory.mktemp("exports")
    request = make_request(family.tiny.wide, guidance=STRONG, capture=CAPTURE)
    path = store_run(request, family.draw(request), None, RunFiles(), folder / "runs")
    resources = resources_folder()
    exports = Exports(
        store=RunFiles(),
        exporter=FileExporter(resources),
        themes=resources / "themes",
        read_layer=AttentionFolders(family.archives).read,
    )
    return lambda kind, ending: exports.export(
        [path], EXPORT_KINDS[kind], folder / f"{kind}.{ending}", order=ExportOrder(overwrite=True)
    )[0]


@pytest.mark.parametrize("moment", LAYERS)
def test_pos_follows_from_the_arrays(moment, family, exported):
    arrays = np.load(exported("arrays", "npz"), allow_pickle=False)
    assert_pos_follows(moment, family, arrays, json.loads(str(arrays["about"])))


@pytest.mark.parametrize("moment", LAYERS)
def test_pos_follows_from_the_arrays_as_hdf5(moment, family, exported):
    with h5py.File(exported("arrays", "h5")) as arrays:
        assert_pos_follows(moment, family, arrays, json.loads(arrays.attrs["about"]))


@pytest.mark.parametrize("moment", LAYERS)
def test_the_table_has_the_pos_of_each_layer(moment, exported):
    arrays = np.load(exported("arrays", "npz"), allow_pickle=False)
    about = json.loads(str(arrays["about"]))
    with exported("numbers", "csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["measure"] == "pos" and row["layer"]]
    shown = {
        row["layer"]: float(row["value"])
        for row in rows
        if (row["moment"], row["step"]) == (moment, str(GUIDED))
    }
    (relation,) = about["relations"].values()
    again = {
        name.partition("/")[2]: left_share(
            *(words_of(arrays, about, name)[end] for end in relation["ends"])
        )
        for name in arrays
        if name.startswith(f"{LAYERS[moment]}/")
    }
    assert again
    assert shown == pytest.approx(again, abs=1e-5)


def assert_pos_follows(moment, family, arrays, about):
    """Compare the exported PoS with that of the exported maps and of the guiding layers."""
    ((relation, facts),) = about["relations"].items()
    shown = arrays[f"pos_{moment}/{relation}"][GUIDED]
    maps = [arrays[f"map_{moment}/{end}"][GUIDED] for end in facts["ends"]]
    assert left_share(*maps) == pytest.approx(shown, abs=1e-5)
    names = [f"{LAYERS[moment]}/{layer.name}" for layer in family.loaded.guiding_layers]
    layers = [words_of(arrays, about, name) for name in names]
    heads = [arrays[name].shape[1] for name in names]
    means = (
        np.average([layer[end] for layer in layers], axis=0, weights=heads) for end in facts["ends"]
    )
    assert left_share(*means) == pytest.approx(shown, abs=1e-5)


def words_of(arrays, about, name):
    """Return the map of each word in an exported layer, mean over heads and tokens."""
    values = np.asarray(arrays[name][GUIDED], np.float64)
    positions = about["arrays"][name]["token_positions"]
    return {word: values[:, own].mean((0, 1)) for word, own in positions.items()}


def left_share(first, second):
    """Probability that a place of ``first`` lies left of one of ``second``; ties half."""
    one, other = (np.float64(each).sum(0) / np.float64(each).sum() for each in (first, second))
    columns = np.arange(len(one))
    weights = (columns[:, None] < columns) + 0.5 * (columns[:, None] == columns)
    return float(one @ weights @ other)
