"""Every export is read again with plain NumPy and compared with the curves of the run."""

import csv
import io
import json
import os
import subprocess
import sys
import tracemalloc
from dataclasses import replace
from pathlib import Path
from zipfile import ZipFile

import h5py
import numpy as np
import pytest
from pyarrow import parquet

import spatialstudio
from spatialstudio.adapters.exports import data_files
from spatialstudio.adapters.exports.data_files import write_npz
from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.application.gallery.exports import ExportOrder
from spatialstudio.application.inspect.run_data import run_data
from spatialstudio.application.registry import EXPORT_KINDS
from spatialstudio.domain.attention import AttentionFile, AttentionSnapshot
from spatialstudio.domain.errors import Cancelled, ExportError, StoreError
from spatialstudio.domain.generation import StepEvent

MOMENTS = ("before", "after")
LAYER = AttentionFile(
    layer="mid", name="mid.npy", words=("a", "dog", "left", "a", "car"), shape=(9, 2, 5, 4, 6)
)


def pos_left(subject, other):
    """PoS of "left of" in plain NumPy: the subject's columns before the other's, ties half."""
    one, two = (weights.sum(0, dtype=np.float64) for weights in (subject, other))
    one, two = one / one.sum(), two / two.sum()
    later = two[::-1].cumsum()[::-1]
    return float(one @ (later - two) + one @ two / 2)


@pytest.fixture
def layer():
    return np.random.default_rng(3).random(LAYER.shape).astype(np.float16)


@pytest.fixture
def twice(picture, exports, tmp_path, layer):
    """The sample run, with PoS of its maps, and a recorded layer, both at both moments."""
    record, events = RunFiles().load(picture)
    (relation,) = record.request.scene.relations
    ends = relation.ends

    def with_both(event):
        if not isinstance(event, StepEvent) or event.attention is None:
            return event
        maps = {name: 1 - weights for name, weights in event.attention.maps.items()}
        after = AttentionSnapshot(maps=maps, layers=event.attention.layers)
        read = {relation.id: pos_left(*(event.attention.maps[end] for end in ends))}
        other = {relation.id: pos_left(*(maps[end] for end in ends))}
        if not event.is_guided:
            return replace(event, pos=read)
        return replace(event, attention_after=after, pos=read, pos_after=other)

    events = tuple(map(with_both, events))
    steps = [event for event in events if isinstance(event, StepEvent)]
    trace = tuple(
        replace(summary, pos=event.pos, pos_after=event.pos_after)
        for summary, event in zip(record.trace, steps, strict=True)
    )
    file = replace(LAYER, shape=(len(steps), *LAYER.shape[1:]))
    guided = tuple(event.step for event in steps if event.is_guided)
    before = replace(
        file, name="before.npy", shape=(len(guided), *LAYER.shape[1:]), steps_before=guided
    )
    record = replace(record, trace=trace, attention_files=(file, before))
    path = RunFiles().save(record, events, tmp_path / "twice")

    def read_layer(_request_id, file):
        return (layer[::-1] if file.steps_before else layer)[: file.shape[0]]

    return path, replace(exports, read_layer=read_layer)


def written(twice, tmp_path, kind, ending):
    path, exports = twice
    (file,) = exports.export([path], EXPORT_KINDS[kind], tmp_path / f"out.{ending}")
    return file


def read_arrays(file):
    if file.suffix == ".npz":
        return np.load(file, allow_pickle=False)
    found = {}
    with h5py.File(file) as archive:
        archive.visititems(
            lambda name, each: (
                found.update({name: each[()]}) if isinstance(each, h5py.Dataset) else None
            )
        )
        found["about"] = archive.attrs["about"]
    return found


@pytest.mark.parametrize("ending", ["npz", "h5"])
@pytest.mark.parametrize("moment", MOMENTS)
def test_pos_of_exported_maps_is_the_exported_curve(twice, tmp_path, ending, moment):
    arrays = read_arrays(written(twice, tmp_path, "arrays", ending))
    about = json.loads(str(arrays["about"]))
    (relation,) = about["relations"]
    ends = about["relations"][relation]["ends"]
    places = np.isin(arrays["steps"], arrays["captured_steps"])
    shown = np.asarray(arrays[f"pos_{moment}/{relation}"])[places]
    maps = [arrays[f"map_{moment}/{end}"] for end in ends]
    again = [pos_left(*pair) for pair in zip(*maps, strict=True)]
    assert again == pytest.approx(shown, abs=1e-5)
    assert about["arrays"][f"map_{moment}/{ends[0]}"]["moment"] == moment
    assert about["arrays"][f"map_{moment}/{ends[0]}"]["axes"] == ["captured_step", "y", "x"]


@pytest.mark.parametrize("ending", ["npz", "h5"])
def test_captured_layers_are_exported_with_their_tokens(twice, tmp_path, ending, layer):
    arrays = read_arrays(written(twice, tmp_path, "arrays", ending))
    about = json.loads(str(arrays["about"]))["arrays"]["layer/mid"]
    exported = np.asarray(arrays["layer/mid"])
    assert np.array_equal(exported, layer[: len(exported)])
    assert about["tokens"] == list(LAYER.words)
    assert about["axes"] == ["captured_step", "head", "token", "y", "x"]
    before = json.loads(str(arrays["about"]))["arrays"]["layer_before/mid"]
    assert before["steps"] == np.asarray(arrays["guided_steps"]).tolist()
    assert before["moment_on_guided_steps"] == "before"
    assert before["axes"] == ["due_step", "head", "token", "y", "x"]
    exported = np.asarray(arrays["layer_before/mid"])
    assert np.array_equal(exported, layer[::-1][: len(exported)])


def test_the_table_holds_the_curves_of_maps_and_layers(twice, tmp_path, layer):
    text = written(twice, tmp_path, "numbers", "csv").read_text(encoding="utf-8")
    rows = [row for row in csv.DictReader(io.StringIO(text)) if row["measure"] == "pos"]
    path, exports = twice
    run = exports.read(path)
    (relation,) = run.record.request.scene.relations
    curves = {
        name: [float(row["value"]) for row in rows if row["moment"] == name and not row["layer"]]
        for name in MOMENTS
    }
    assert curves["before"] == pytest.approx([event.pos[relation.id] for event in run.steps])
    guided = next(event for event in run.steps if event.is_guided)
    assert curves["after"][guided.step] == pytest.approx(guided.pos_after[relation.id])
    (about,) = (each.details for each in run.data.arrays if each.name == "layer/mid")
    places = about["token_positions"]
    maps = [
        layer[:, :, places[end]].astype(np.float32).mean((1, 2)) for end in map(str, relation.ends)
    ]
    guided_steps = [event.step for event in run.steps if event.is_guided]
    read = {
        "after": lambda weights: weights[guided.step],
        "before": lambda weights: weights[::-1][guided_steps.index(guided.step)],
    }
    own = [row for row in rows if row["layer"] == "mid" and row["step"] == str(guided.step)]
    assert [row["moment"] for row in own] == ["after", "before"]
    for row in own:
        again = pos_left(*map(read[row["moment"]], maps))
        assert float(row["value"]) == pytest.approx(again, abs=1e-3)


def test_parquet_holds_the_rows_of_the_csv(twice, tmp_path):
    table = parquet.read_table(written(twice, tmp_path, "numbers", "parquet"))
    text = written(twice, tmp_path, "numbers", "csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert table.column_names == list(rows[0])
    assert table["value"].to_pylist() == pytest.approx([float(row["value"]) for row in rows])


def test_settings_agree_with_their_schema(twice, tmp_path):
    plain = json.loads(written(twice, tmp_path, "settings", "json").read_bytes())
    schema = plain.pop("schema")
    assert set(schema["required"]) == set(plain)
    assert plain["request"]["seed"] == twice[1].read(twice[0]).record.request.sampling.seed
    assert_valid(plain, schema, schema["$defs"])


def assert_valid(value, schema, definitions):
    """Check the keywords that the schema uses."""
    if "$ref" in schema:
        schema = definitions[schema["$ref"].removeprefix("#/$defs/")]
    if "anyOf" in schema:
        assert any(is_valid(value, each, definitions) for each in schema["anyOf"]), value
    assert "enum" not in schema or value in schema["enum"], value
    kinds = {"string": str, "object": dict, "array": list, "boolean": bool, "integer": int}
    kind = kinds.get(schema.get("type"), object)
    assert isinstance(value, kind), (value, schema)
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        rest = schema.get("additionalProperties", {})
        assert set(schema.get("required", ())) <= set(value)
        assert rest is not False or set(value) <= set(properties)
        for name, inner in value.items():
            assert_valid(inner, properties.get(name, rest), definitions)
    if isinstance(value, list):
        for inner in value:
            assert_valid(inner, schema.get("items", {}), definitions)


def is_valid(value, schema, definitions):
    try:
        if schema.get("type") == "null":
            return value is None
        assert_valid(value, schema, definitions)
    except AssertionError:
        return False
    return True


def test_the_archive_explains_itself(twice, tmp_path):
    with ZipFile(written(twice, tmp_path, "data", "zip")) as archive:
        names = archive.namelist()
        readme = archive.read("README.md").decode()
        (arrays,) = (name for name in names if name.endswith("arrays.npz"))
        inside = np.load(io.BytesIO(archive.read(arrays)), allow_pickle=False)
    assert {"README.md", "numbers.csv", "settings.schema.json"} <= set(names)
    assert arrays in readme
    assert "about" in inside.files


def test_layers_that_are_gone_are_reported(picture, twice, tmp_path):
    path, exports = twice

    def gone(*_):
        raise StoreError("The layers are gone.", hint="Generate again.")

    notes = []
    exports = replace(exports, read_layer=gone)
    target, order = tmp_path / "out.npz", ExportOrder(note=notes.append)
    exports.export([path], EXPORT_KINDS["arrays"], target, None, order)
    assert "The layers are gone." in notes[0]
    assert "layer/mid" not in np.load(target).files


def test_a_cancelled_export_leaves_no_file(twice, tmp_path):
    path, exports = twice
    asked = []

    def cancel(done, total):
        asked.append(done)
        if len(asked) > 2:
            raise Cancelled

    order = ExportOrder(progress=cancel)
    with pytest.raises(Cancelled):
        exports.export([path], EXPORT_KINDS["arrays"], tmp_path / "out" / "a.npz", None, order)
    assert not list(tmp_path.rglob("a.npz"))
    assert not list(tmp_path.rglob("*.part"))


@pytest.mark.parametrize(("kind", "ending"), [("arrays", "h5"), ("numbers", "parquet")])
def test_a_missing_library_is_named(twice, tmp_path, monkeypatch, kind, ending):
    monkeypatch.setattr(data_files, "find_spec", lambda _: None)
    with pytest.raises(ExportError, match="is not installed") as caught:
        written(twice, tmp_path, kind, ending)
    assert "spatialstudio[data]" in caught.value.hint


def test_layers_are_written_step_by_step(twice, tmp_path):
    path, exports = twice
    run = exports.read(path)
    shape = (len(run.steps), 8, 16, 64, 64)
    record = replace(run.record, attention_files=(replace(LAYER, words=("a",) * 16, shape=shape),))
    step = np.zeros(shape[1:], np.float16)
    stored = np.broadcast_to(step, shape)
    data = run_data(record, run.steps, None, lambda _: stored)
    tracemalloc.start()
    with (tmp_path / "large.npz").open("wb") as file:
        write_npz(data, file)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6 * step.nbytes


SCRIPT = """
import sys
from spatialstudio.api import open_run
run = open_run(sys.argv[1])
assert {row.moment for row in run.numbers} >= {"before", "after"}
print(run.arrays["map_before/m1"].read().shape, *run.arrays["map_before/m1"].axes)
assert not {"torch", "PySide6", "diffusers"} & set(sys.modules)
"""


def test_open_run_reads_arrays_and_numbers_without_torch_or_qt(picture, tmp_path):
    root = str(Path(spatialstudio.__file__).parent.parent)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(picture)],
        env={**os.environ, "SPATIAL_STUDIO_HOME": str(tmp_path), "PYTHONPATH": root},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "captured_step y x" in done.stdout
