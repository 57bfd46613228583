"""Our metadata survives every picture format, whatever was typed."""

import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from spatialstudio.adapters.storage.metadata.picture_texts import picture_bytes, read_texts
from spatialstudio.adapters.storage.metadata.reader import PictureMetadata, settings_in
from spatialstudio.adapters.storage.stores.picture_record import read_picture_record, texts_of
from spatialstudio.application.storage.run_writer import environment_on
from spatialstudio.domain.errors import (
    ExportError,
    ImageError,
    StoreError,
)
from spatialstudio.domain.generation import (
    GenerationRequest,
    GuidanceSettings,
    ModelRef,
    PlaceTarget,
    SamplingSettings,
)
from spatialstudio.domain.library import RunRecord
from spatialstudio.domain.picture_settings import compare_settings
from spatialstudio.domain.run_settings import SketchedPlaces, with_places
from spatialstudio.domain.scene import Prompt, SceneGraph
from tests.fakes import scene_of
from tests.strategies import requests, times

GOLDEN = Path(__file__).parents[3] / "golden"
KINDS = ("PNG", "JPEG", "WEBP")
IMAGE = np.full((8, 12, 3), 128, np.uint8)
TEXTS = {
    "plain": "a cat to the left of a dog",
    "chinese": "一只猫在一只狗的左边 背景是富士山",
    "emoji": "a 🐈‍⬛ left of a 🐕, with 👩🏽‍🚀 and 🏳️‍🌈",
    "quotes": """a "cat", 'dog': {x} \\ <b>&amp; Steps: 3, Seed: 4""",
    "lines": "a cat\r\nNegative prompt: no\n\tSteps: 1, Sampler: x, Seed: 2\n\n",
    "long": "ein Kätzchen, " * 720,
    "long chinese": "".join(chr(0x4E00 + 7919 * i % 20000) for i in range(10_000)),
    "half a letter": "a \ud83d cat",
}


def record_of(request, created=None):
    from datetime import UTC, datetime

    return RunRecord(
        id="name",
        created=created or datetime(2026, 11, 20, tzinfo=UTC),
        request=request,
        token_spans=(),
        trace=(),
        evaluation=None,
        artifacts=(),
        environment=environment_on("cpu"),
        seconds=1.0,
        peak_memory_bytes=1,
    )


def request_of(text):
    scene = SceneGraph(
        prompt=Prompt(text=text, negative="dull, grey"),
        mentions=(),
        relations=(),
        extractor_id="hand",
    )
    return GenerationRequest(
        id="x",
        scene=scene,
        backend_id="b",
        model=ModelRef(id="stickers"),
        sampling=SamplingSettings(seed=7, steps=20),
    )


def written(request, kind, **options):
    return picture_bytes(IMAGE, kind, texts_of(record_of(request), None, (8, 12), **options))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_the_request_is_read_back_from_the_picture(kind, text):
    request = request_of(text)
    told = settings_in(written(request, kind))
    assert (told.prompt, told.negative, told.seed) == (text, "dull, grey", 7)
    assert (told.width, told.height, told.steps, told.model) == (12, 8, 20, "stickers")
    assert read_picture_record(told.record).request == request
    assert told.is_marked_as_generated


@given(request=requests, kind=st.sampled_from(KINDS), created=times)
@settings(max_examples=settings.default.max_examples // 2)
def test_any_request_is_read_back_from_the_picture(request, kind, created):
    texts = texts_of(record_of(request, created), None, (8, 12))
    told = settings_in(picture_bytes(IMAGE, kind, texts))
    assert repr(read_picture_record(told.record).request) == repr(request)


@pytest.mark.parametrize("kind", KINDS)
def test_other_programs_read_the_parameters(kind):
    texts = read_texts(written(request_of("a cat, a dog"), kind))
    text = texts.get("parameters") or texts["UserComment"]
    first, negative, last = text.split("\n")
    assert (first, negative) == ("a cat, a dog", "Negative prompt: dull, grey")
    assert last.startswith("Steps: 20, Sampler: default, CFG scale: 4, Seed: 7, Model: stickers")
    assert "Size: 12x8" in last


@pytest.mark.parametrize("kind", KINDS)
def test_a_clean_copy_has_no_metadata(kind):
    assert read_texts(picture_bytes(IMAGE, kind, None)) == {}


@pytest.mark.parametrize("kind", KINDS)
def test_the_mark_can_be_left_out(kind):
    told = settings_in(written(request_of("a cat"), kind, is_marked=False))
    assert not told.is_marked_as_generated


def test_a_prompt_too_long_for_jpeg_is_reported():
    noise = "".join(chr(0x4E00 + 7919 * i % 20000) for i in range(40_000))
    with pytest.raises(ExportError, match="too long for a JPEG"):
        written(request_of(noise), "JPEG")


def test_a_record_is_readable_json_with_a_version():
    told = json.loads(settings_in(written(request_of("a cat"), "PNG")).record)
    assert told["version"] == 2
    assert told["environment"]["device"] == "cpu"
    assert told["hashes"]["prompt"] == sha256(b"a cat").hexdigest()


def test_a_record_of_version_1_is_read():
    told = read_picture_record((GOLDEN / "picture_record_of_version_1.json").read_text())
    assert told.request.scene.prompt.text == "a cat left of a dog"
    assert told.verdicts["r1"]["outcome"] == "PASS"
    assert told.hashes == {}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 3}, "written by a newer Spatial Studio"),
        ({"version": "2"}, "is damaged"),
        ({"hashes": []}, "is damaged"),
        ({"hashes": {"prompt": "0"}}, "The prompt in the picture's metadata has been modified"),
        ({"hashes": {"request": "0"}}, "The request in the picture's metadata has been modified"),
    ],
    ids=["newer", "odd version", "odd hashes", "other prompt", "other request"],
)
def test_an_edited_record_is_reported(change, message):
    told = json.loads(settings_in(written(request_of("a cat"), "PNG")).record)
    with pytest.raises(StoreError, match=message):
        read_picture_record(json.dumps(told | change))


def test_a_picture_without_metadata_is_no_error(tmp_path):
    Image.fromarray(IMAGE).save(tmp_path / "plain.png")
    assert PictureMetadata().read(tmp_path / "plain.png") is None


def test_a_missing_file_is_reported(tmp_path):
    with pytest.raises(ImageError, match="There is no file"):
        PictureMetadata().read(tmp_path / "none.png")


def test_a_comparison_lists_each_field_and_changes_nothing():
    mine = settings_in(written(request_of("a cat"), "PNG"))
    theirs = settings_in(written(request_of("a dog"), "JPEG"))
    rows = {row.name: row for row in compare_settings(mine, theirs)}
    assert (rows["prompt"].mine, rows["prompt"].theirs) == ("a cat", "a dog")
    assert [name for name, row in rows.items() if not row.is_same] == ["prompt"]
    assert not rows["sampler"].is_stated


def test_sketched_places_name_their_objects():
    targets = (
        PlaceTarget(mention_id="m1", x=0.3, y=0.5),
        PlaceTarget(mention_id="m2", x=0.7, y=0.5, size=0.25),
    )
    guided = with_places(GuidanceSettings(), SketchedPlaces(targets=targets))
    sampling = SamplingSettings(seed=7, steps=20, guidance=guided)
    request = replace(request_of(""), scene=scene_of("dog", "car"), sampling=sampling)
    theirs = settings_in(written(request, "PNG"))
    assert "places dog at 0.3, 0.5; car at 0.7, 0.5 (size 0.25)" in theirs.guidance
