"""The script is run as a user runs it: by Python, in a separate process."""

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import spatialstudio
from spatialstudio.adapters.exports.exporter import FileExporter
from spatialstudio.adapters.storage.stores.attention_files import AttentionFolders
from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.application.gallery.exports import ExportOrder, Exports
from spatialstudio.application.inspect.layer_maps import LayerMaps, peak_of_averages
from spatialstudio.application.inspect.map_reading import (
    map_in_words,
    peak_of,
    read_relation,
    top_of,
)
from spatialstudio.application.inspect.self_attention import place_attention, self_layers
from spatialstudio.application.inspect.view_script import LayersToRead, place_script, view_script
from spatialstudio.application.paths import HOME_VARIABLE, resources_folder
from spatialstudio.application.registry import EXPORT_KINDS
from spatialstudio.application.run.choose_settings import new_request
from spatialstudio.application.session import OpenRun, after
from spatialstudio.application.storage.run_writer import store_run
from spatialstudio.domain.attention import (
    ATTENTION_FOLDER,
    AttentionFile,
    LayerChoice,
    MapScale,
    Moment,
)
from spatialstudio.domain.generation import GenerationFinished, GenerationStarted
from spatialstudio.domain.run_settings import with_values
from tests.fakes import scene_of
from tests.ui.scripted_engine import (
    STICKERS,
    ScriptedEngine,
    picture_of,
    step_of,
    studio_around,
)

WORDS = ("a", "photo", "of", "a", "dog", "to", "the", "left", "of", "a", "car")
FILE = AttentionFile(layer="mid", name="mid.npy", words=WORDS, shape=(2, 1, len(WORDS), 4, 4))
OWN = AttentionFile(layer="mid", name="self-mid.npy", words=(), shape=(2, 1, 16, 4, 4))
OWN_BEFORE = AttentionFile(
    layer="mid", name="self-mid-before.npy", words=(), shape=(1, 1, 16, 4, 4), steps_before=(1,)
)


def with_other_maps(event):
    """Return a guided step whose maps change with its updates."""
    maps = {word: weights[:, ::-1].copy() / 2 for word, weights in event.attention.maps.items()}
    after = replace(event.attention, maps=maps)
    return replace(event, step_size=1.0, attention_after=after, pos_after=event.pos)


@pytest.fixture
def own_files():
    """Files of self-attention that the run records."""
    return ()


@pytest.fixture
def stored(tmp_path, own_files):
    """A run of two steps in the store, with one layer's attention in the cache."""
    studio = studio_around(ScriptedEngine(), tmp_path)
    request = with_values(new_request(scene_of(), STICKERS, seed=1), steps=2)
    started = GenerationStarted(
        request_id=request.id,
        total_steps=2,
        token_spans=(),
        device="cpu",
        attention_files=(FILE,),
        self_attention_files=own_files,
    )
    finished = GenerationFinished(
        request_id=request.id, image=picture_of(1), seconds=1.0, peak_memory_bytes=1
    )
    events = [started, step_of(request, 0), with_other_maps(step_of(request, 1)), finished]
    path = store_run(request, events, None, studio.storage.store, tmp_path / "runs")
    studio.close()
    folder = tmp_path / "cache" / ATTENTION_FOLDER / request.id
    folder.mkdir(parents=True)
    random = np.random.default_rng(5)
    for file in (FILE, *own_files):
        np.save(folder / file.name, (random.random(file.shape) / 4).astype(np.float16))
    run = OpenRun(id=request.id, scene=request.scene, request=request, path=path)
    for event in events:
        run = after(run, event)
    return run


GUARD = """
import runpy, sys

class Refused:
    def find_spec(self, name, *_):
        if name.partition(".")[0] in {"torch", "PySide6", "diffusers", "transformers"}:
            raise ImportError(name)

sys.meta_path.insert(0, Refused())
runpy.run_path(sys.argv[1])
"""
MAP_LINE = re.compile(r"^(.+): sum ([\d.]+), full colour at ([\d.]+)$", re.MULTILINE)
POS_LINE = re.compile(r"^PoS of (.+): ([\d.]+)$", re.MULTILINE)


def run_script(script, home):
    """Run a script where neither torch nor Qt can be imported."""
    file = home / "view.py"
    file.write_text(script, encoding="utf-8")
    root = str(Path(spatialstudio.__file__).parent.parent)
    environment = {**os.environ, HOME_VARIABLE: str(home), "PYTHONPATH": root}
    return subprocess.run(
        [sys.executable, "-c", GUARD, str(file)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def shown(script, home):
    done = run_script(script, home)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("scale", list(MapScale), ids=lambda each: each.name)
@pytest.mark.parametrize("moment", list(Moment), ids=lambda each: each.name)
def test_the_script_prints_the_numbers_of_the_view(stored, tmp_path, scale, moment):
    said = shown(view_script(stored, ["m1", "m2"], 1, scale, None, moment), tmp_path)
    maps = stored.steps[1].attention_at(moment).maps
    numbers = {text: (float(mass), float(top)) for text, mass, top in MAP_LINE.findall(said)}
    for text, word in (("dog", "m1"), ("car", "m2")):
        due = maps[word].sum(dtype=float), top_of(maps[word], scale, peak_of([stored]))
        assert numbers[text] == pytest.approx(due, abs=1e-5)
        assert map_in_words(text, maps[word]) in said
    (relation,) = stored.scene.relations
    reading = read_relation(relation, stored.scene, maps)
    assert POS_LINE.findall(said) == [(stored.scene.sentence(relation), f"{reading.pos:.6f}")]
    assert all(line in said.splitlines() for line in (reading.sentence, *reading.details))
    assert "@" in said or scale is not MapScale.PER_MAP


@pytest.mark.parametrize("scale", list(MapScale), ids=lambda each: each.name)
def test_chosen_layers_are_averaged_as_in_the_window(stored, tmp_path, scale):
    choice = LayerChoice(layers=frozenset({"mid"}), head=0)
    events = []
    layer = np.load(layer_file(tmp_path))
    files = SimpleNamespace(read=lambda *_: layer)
    maps = LayerMaps(lambda: files, events.append)
    maps.average([stored], choice)
    maps.wait()
    (averaged,) = events
    layers = read_from(tmp_path, choice)
    script = view_script(stored, ["m1", "m2"], 1, scale, layers)
    said = shown(script, tmp_path)
    numbers = {text: (float(mass), float(top)) for text, mass, top in MAP_LINE.findall(said)}
    for text, word in (("dog", "m1"), ("car", "m2")):
        weights = averaged.at(1)[word]
        top = top_of(weights, scale, peak_of_averages([averaged]))
        due = weights.sum(dtype=float), top
        assert numbers[text] == pytest.approx(due, abs=1e-5)
    (relation,) = stored.scene.relations
    pos = read_relation(relation, stored.scene, averaged.at(1)).pos
    assert float(POS_LINE.findall(said)[0][1]) == pytest.approx(pos, abs=1e-6)


def layer_file(home):
    (kept,) = (home / "cache" / ATTENTION_FOLDER).rglob(FILE.name)
    return kept


def test_a_word_without_a_relation_is_shown_alone(stored, tmp_path):
    choice = LayerChoice(layers=frozenset({"mid"}), head=0)
    layers = read_from(tmp_path, choice)
    script = view_script(stored, ["word-2"], 0, MapScale.ABSOLUTE, layers)
    said = shown(script, tmp_path)
    assert [text for text, *_ in MAP_LINE.findall(said)] == ["photo"]
    assert "The map of photo peaks at" in said
    assert "Attention PoS" not in said


def test_a_run_whose_layers_are_on_another_machine_says_so(stored, tmp_path):
    layers = read_from(tmp_path, LayerChoice(layers=frozenset({"mid"})))
    script = view_script(stored, ["word-2"], 0, MapScale.ABSOLUTE, layers)
    layer_file(tmp_path).unlink()
    done = run_script(script, tmp_path)
    assert done.returncode == 1
    assert "no longer available" in done.stderr
    assert f"Searched: {cache_in(tmp_path)}" in done.stderr
    assert "Traceback" not in done.stderr


def cache_in(home):
    return home / "cache" / ATTENTION_FOLDER


def read_from(home, choice):
    return choice and LayersToRead(choice=choice, folder=cache_in(home))


def exports_at(home):
    """The exports of an installation with its own cache of recorded layers."""
    resources, cache = resources_folder(), cache_in(home)
    return Exports(
        store=RunFiles(),
        exporter=FileExporter(resources, cache),
        themes=resources / "themes",
        read_layer=AttentionFolders(cache).read,
    )


@pytest.fixture
def bring(stored, tmp_path):
    """Exports the run as a bundle, and imports it on a second installation."""

    def bring_(kind):
        notes = []
        order = ExportOrder(note=notes.append)
        target = tmp_path / "out.zip"
        (bundle,) = exports_at(tmp_path).export(
            [stored.path], EXPORT_KINDS[kind], target, None, order
        )
        second = tmp_path / "second"
        (imported,) = exports_at(second).open_bundle(bundle, second / "library")
        return second, imported, notes

    return bring_


@pytest.mark.parametrize("choice", [None, LayerChoice(layers=frozenset({"mid"}), head=0)])
def test_an_imported_bundle_gives_the_same_view_and_exports(stored, tmp_path, bring, choice):
    second, imported, notes = bring("bundle-layers")
    here, there = (
        view_script(
            replace(stored, path=path), ["m1", "m2"], 1, MapScale.SHARED, read_from(home, choice)
        )
        for home, path in ((tmp_path, stored.path), (second, imported))
    )
    assert shown(there, second) == shown(here, tmp_path)
    assert notes == []
    for kind in ("arrays", "numbers", "settings"):
        files = [
            exports_at(home).export([path], EXPORT_KINDS[kind], home)[0]
            for home, path in ((tmp_path, stored.path), (second, imported))
        ]
        assert files[0].read_bytes() == files[1].read_bytes()


def test_a_bundle_without_layers_says_so(stored, tmp_path, bring):
    second, imported, notes = bring("bundle")
    assert notes == ['Recorded layers are left out; "Bundle with layers" contains them.']
    layers = read_from(second, LayerChoice(layers=frozenset({"mid"})))
    script = view_script(replace(stored, path=imported), ["m1"], 1, MapScale.SHARED, layers)
    assert "import a bundle that contains them" in run_script(script, second).stderr


def test_the_script_names_the_folder_of_the_layers_and_reads_it(stored, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    cache_in(tmp_path).rename(elsewhere)
    layers = LayersToRead(choice=LayerChoice(layers=frozenset({"mid"})), folder=elsewhere)
    script = view_script(stored, ["m1"], 1, MapScale.SHARED, layers)
    assert f"from the folder {stored.id!r} in LAYERS.\nLAYERS = {str(elsewhere)!r}\n" in script
    assert MAP_LINE.findall(shown(script, tmp_path))


def test_an_id_of_a_run_cannot_add_lines_to_the_script(stored, tmp_path):
    layers = read_from(tmp_path, LayerChoice(layers=frozenset({"mid"})))
    hostile = replace(stored, id="a\nprint('owned')")
    script = view_script(hostile, ["m1"], 1, MapScale.SHARED, layers)
    assert not any(line.startswith("print('owned')") for line in script.splitlines())


@pytest.mark.parametrize("scale", list(MapScale), ids=lambda each: each.name)
def test_the_script_imports_only_open_run(stored, tmp_path, scale):
    is_shared = scale is MapScale.SHARED  # the peak of all maps needs NumPy
    for chosen in (None, read_from(tmp_path, LayerChoice(layers=frozenset({"mid"})))):
        script = view_script(stored, ["m2"], 0, scale, chosen)
        assert "WORDS = {'m2': 'car'}" in script
        assert stored.path.with_suffix(".strace").name in script
        imports = [line for line in script.splitlines() if "import" in line.split()]
        numpy = ["import numpy as np"] if is_shared else []
        assert imports == [*numpy, "from spatialstudio.api import open_run"]
        assert ("peak =" in script) is is_shared


def test_a_run_that_is_not_stored_has_no_script(stored):
    with pytest.raises(ValueError, match="stored"):
        view_script(replace(stored, path=None), ["m1"], 0, MapScale.PER_MAP)


@pytest.mark.parametrize("own_files", [(OWN, OWN_BEFORE)])
@pytest.mark.parametrize("moment", list(Moment), ids=lambda each: each.name)
def test_the_script_of_a_place_prints_the_shown_map(stored, tmp_path, moment):
    (file,) = self_layers(stored)
    read = AttentionFolders(tmp_path / "cache" / ATTENTION_FOLDER).read
    found = place_attention(stored, read, file, 1, (0.6, 0.3), moment)
    said = shown(place_script(stored, file, 1, found, cache_in(tmp_path)), tmp_path)
    row, column = found.peak
    peak = f"peak {found.weights.max():.6f} at row {row}, column {column}"
    assert said.splitlines()[0] == f"sum {found.weights.sum():.6f}, {peak}"
    assert len(said.splitlines()) == 5
