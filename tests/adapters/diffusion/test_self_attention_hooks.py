"""Captured self-attention, compared with hooks on a pipeline of diffusers alone."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from spatialstudio.adapters.diffusion.diffusers_backend import DiffusersBackend
from spatialstudio.adapters.diffusion.pipeline_arguments import pipeline_arguments
from spatialstudio.adapters.exports.exporter import FileExporter
from spatialstudio.adapters.storage.stores.attention_files import AttentionFolders
from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.api import open_run
from spatialstudio.application.gallery.exports import ExportOrder, Exports
from spatialstudio.application.inspect.layer_table import measure_layers
from spatialstudio.application.inspect.self_attention import place_attention, self_layers
from spatialstudio.application.paths import resources_folder
from spatialstudio.application.registry import EXPORT_KINDS
from spatialstudio.application.session import OpenRun
from spatialstudio.application.storage.run_writer import store_run
from spatialstudio.domain.attention import ATTENTION_FOLDER, AttentionDetail, Moment
from spatialstudio.domain.errors import RequestError, StoreError
from spatialstudio.domain.generation import CaptureSettings, GuidanceSettings, StepEvent
from spatialstudio.domain.run_settings import with_values
from tests.adapters.diffusion.drawn_families import FAMILY_WARNINGS
from tests.adapters.diffusion.hooked_attention import drawn_alone, hook
from tests.fakes import events_of

pytestmark = FAMILY_WARNINGS

PIXELS, STEPS, SCALE = 64, 4, 5.0
OWN = CaptureSettings(preview_every=0, full_precision=True, self_attention=True)


@pytest.fixture
def asked(tiny_request):
    request = replace(tiny_request, height=PIXELS, width=PIXELS, capture=OWN)
    return replace(request, guidance_scale=SCALE)


@pytest.fixture
def hooked(tiny_model, asked):
    """Self-attention of the UNet; see ``mean_over_heads``."""
    _, found = drawn_alone(tiny_model, asked, "attn1")
    return mean_over_heads(found)


def mean_over_heads(found):
    """Return each layer's attention by step, (h * w, h * w)."""
    return {name: [shares.mean(0) for shares in steps] for name, steps in found.items()}


def captured(request, model, folder):
    """Return a run drawn by the program, and its picture."""
    started, *events, finished = events_of(DiffusersBackend(folder), request, model)
    run = OpenRun(
        id=request.id,
        scene=request.scene,
        request=request,
        steps=tuple(event for event in events if isinstance(event, StepEvent)),
        attention_files=started.attention_files,
        self_attention_files=started.self_attention_files,
    )
    return run, finished.image


def test_every_place_of_every_layer_equals_hooks_on_the_untouched_pipeline(
    asked, tiny_model, tmp_path, hooked
):
    run, _ = captured(asked, tiny_model, tmp_path)
    read = AttentionFolders(tmp_path).read
    assert_equal(run, read, hooked)
    wide = hooked[self_layers(run)[0].layer][0]
    assert not np.allclose(wide, wide.T, atol=1e-4)  # the direction of attention matters


def assert_equal(run, read, hooked):
    assert [file.layer for file in self_layers(run)] == list(hooked)
    for file in self_layers(run):
        height, width = file.shape[-2:]
        for step in range(len(run.steps)):
            for row, column in np.ndindex(height, width):
                place = ((column + 0.5) / width, (row + 0.5) / height)
                seen = place_attention(run, read, file, step, place)
                wanted = hooked[file.layer][step][row * width + column]
                assert seen.cell == (row, column)
                np.testing.assert_allclose(seen.weights.ravel(), wanted, atol=1e-5, rtol=0)


@pytest.mark.parametrize("name", ["PixArtAlphaPipeline", "PixArtSigmaPipeline"])
def test_the_transformers_of_pixart_have_it_too(samplers_model, make_request, name):
    drawn = samplers_model(name)
    request = replace(make_request(drawn.tiny.wide), capture=OWN)
    run, _ = captured(request, drawn.card, drawn.archives)
    drawn.draw(request)  # loads the model
    found = hook(drawn.own_pipeline.transformer, "attn1")
    with torch.no_grad():
        drawn.own_pipeline(**pipeline_arguments(drawn.loaded, request))
    assert_equal(run, AttentionFolders(drawn.archives).read, mean_over_heads(found))


def test_self_attention_takes_no_part_in_pos(asked, tiny_model, tmp_path):
    every_head = replace(OWN, detail=AttentionDetail.EVERYTHING)
    read = AttentionFolders(tmp_path).read
    plain = replace(asked, capture=replace(every_head, self_attention=False))
    table, with_own = (
        measure_layers(captured(each, tiny_model, tmp_path)[0], read)
        for each in (plain, replace(asked, capture=every_head))
    )
    assert with_own.layers == table.layers
    np.testing.assert_array_equal(with_own.values, table.values)
    run, _ = captured(asked, tiny_model, tmp_path)
    assert run.self_attention_files
    assert not run.attention_files
    with pytest.raises(StoreError, match="No layers"):
        measure_layers(run, read)


@pytest.fixture
def guided(asked):
    """Guides steps 0 and 2 of four."""
    guidance = GuidanceSettings(method_id="psg", strength=2000.0, every=2, last_step=3)
    return with_values(asked, guidance=guidance)


def test_guided_steps_are_read_before_and_after_their_updates(guided, tiny_model, tmp_path, hooked):
    run, _ = captured(guided, tiny_model, tmp_path)
    read, file = AttentionFolders(tmp_path).read, self_layers(run)[0]
    for step in range(STEPS):
        before, after = (
            place_attention(run, read, file, step, (0.5, 0.5), moment) for moment in Moment
        )
        is_guided = step in (0, 2)
        assert (before.moment, after.moment) == (tuple(Moment) if is_guided else (None, None))
        assert np.array_equal(before.weights, after.weights) is not is_guided
    first = place_attention(run, read, file, 0, (0.0, 0.0), Moment.BEFORE)
    np.testing.assert_allclose(first.weights.ravel(), hooked[file.layer][0][0], atol=1e-5)


def test_recording_it_changes_no_picture(guided, tiny_model, tmp_path):
    quiet = replace(guided, capture=CaptureSettings(attention_every=0, preview_every=0))
    pictures = [captured(each, tiny_model, tmp_path)[1] for each in (guided, quiet)]
    np.testing.assert_array_equal(*pictures)


def test_a_model_without_it_says_so(asked, tiny_model, tmp_path, monkeypatch):
    monkeypatch.setattr("spatialstudio.adapters.diffusion.attention_archive.MOST_PLACES", 0)
    with pytest.raises(RequestError, match="no self-attention"):
        captured(asked, tiny_model, tmp_path)


@pytest.fixture
def stored(guided, tiny_model, tmp_path):
    """A stored guided run, the exports, and the reader of its layers."""
    folder = tmp_path / "cache" / ATTENTION_FOLDER
    events = events_of(DiffusersBackend(folder), guided, tiny_model)
    path = store_run(guided, events, None, RunFiles(), tmp_path / "runs")
    resources = resources_folder()
    read = AttentionFolders(folder).read
    exports = Exports(
        store=RunFiles(),
        exporter=FileExporter(resources),
        themes=resources / "themes",
        read_layer=read,
    )
    return path, exports, read


def test_exports_name_it_and_its_axes(stored, tmp_path, hooked):
    path, exports, _ = stored
    (file,) = exports.export([path], EXPORT_KINDS["arrays"], tmp_path / "out.npz")
    arrays = np.load(file, allow_pickle=False)
    about = json.loads(str(arrays["about"]))["arrays"]
    for layer, steps in hooked.items():
        before = arrays[f"self_attention_before/{layer}"]
        side = before.shape[-1]
        wanted = steps[0].reshape(side, side, side, side)
        np.testing.assert_allclose(before[0], wanted, atol=1e-5)
        own = about[f"self_attention/{layer}"]
        assert own["axes"] == ["captured_step", "place_y", "place_x", "y", "x"]
        assert own["shape"] == [STEPS, side, side, side, side]
        assert (own["layer"], own["moment_on_guided_steps"]) == (layer, "after")
        assert about[f"self_attention_before/{layer}"]["steps"] == [0, 2]
    assert not any(name.startswith("layer") for name in arrays)


def test_a_bundle_takes_it_along(stored, tmp_path):
    path, exports, _ = stored
    kind = EXPORT_KINDS["bundle-layers"]
    (bundle,) = exports.export([path], kind, tmp_path / "out.zip")
    run = open_run(bundle)
    names = [name for name in run.arrays if name.startswith("self_attention")]
    assert len(names) == 2 * len(run.record.text_layers)
    (file,) = exports.export([path], EXPORT_KINDS["arrays"], tmp_path / "out.npz")
    for name, values in np.load(file, allow_pickle=False).items():
        if name in names:
            np.testing.assert_array_equal(run.arrays[name].read(), values)
    notes = []
    exports.export(
        [path], EXPORT_KINDS["bundle"], tmp_path / "bare.zip", order=ExportOrder(note=notes.append)
    )
    assert notes
