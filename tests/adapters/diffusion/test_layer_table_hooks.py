"""The measurements of captured layers, compared with hooks on a pipeline of diffusers alone."""

from dataclasses import replace

import numpy as np
import pytest

from spatialstudio.adapters.diffusion.diffusers_backend import DiffusersBackend
from spatialstudio.adapters.storage.stores.attention_files import AttentionFolders
from spatialstudio.application.compose.prompt_words import words_of
from spatialstudio.application.inspect.captured_layers import captured_layers
from spatialstudio.application.inspect.layer_maps import average_layers
from spatialstudio.application.inspect.layer_table import measure_layers
from spatialstudio.application.inspect.step_numbers import Column, Measure
from spatialstudio.application.session import OpenRun
from spatialstudio.domain.attention import AttentionDetail, LayerChoice, Moment
from spatialstudio.domain.errors import RequestError
from spatialstudio.domain.generation import (
    CaptureSettings,
    GenerationFinished,
    GuidanceSettings,
    StepEvent,
)
from spatialstudio.domain.run_settings import with_values
from tests.adapters.diffusion.hooked_attention import drawn_alone
from tests.fakes import events_of

PIXELS, STEPS, SCALE = 64, 4, 5.0
POS = Column("dog to the left of car", Measure.POS)
OVERLAP = Column("dog to the left of car", Measure.OVERLAP)
ENTROPY, MASS = Column("dog", Measure.ENTROPY), Column("car", Measure.MASS)


@pytest.fixture
def request_of(tiny_request):
    """Makes a request that records every head."""

    def make(*, full_precision):
        capture = CaptureSettings(
            preview_every=0,
            detail=AttentionDetail.EVERYTHING,
            full_precision=full_precision,
        )
        asked = replace(tiny_request, height=PIXELS, width=PIXELS, capture=capture)
        return replace(asked, guidance_scale=SCALE)

    return make


@pytest.fixture
def table_of(tiny_model, tmp_path, request_of):
    """Draws with the program, and measures the layers that it has stored."""

    def draw(*, full_precision):
        run, _ = captured_run(request_of(full_precision=full_precision), tiny_model, tmp_path)
        return measure_layers(run, AttentionFolders(tmp_path).read)

    return draw


@pytest.fixture
def hooked(tiny_model, request_of):
    """Attention by layer and step of the pipeline alone: (heads, h, w, tokens), prompt's half."""
    request = request_of(full_precision=True)
    pipeline, layers = drawn_alone(tiny_model, request, "attn2")
    found = {name: [over_the_picture(each) for each in steps] for name, steps in layers.items()}
    text = pipeline.tokenizer(request.scene.prompt.text).input_ids
    words = pipeline.tokenizer.convert_ids_to_tokens(text)
    places = {w: [n for n, each in enumerate(words) if each.startswith(w)] for w in ("dog", "car")}
    return found, places


def over_the_picture(shares):
    side = int(shares.shape[1] ** 0.5)
    return shares.reshape(len(shares), side, side, -1)


def expected(found, places, head):
    """Return PoS, overlap, entropy of the dog and mass of the car, (layers, steps) each."""
    numbers = []
    for steps in found.values():
        for shares in steps:
            chosen = shares if head is None else shares[head : head + 1]
            dog, car = (chosen[..., places[word]].mean((0, 3)) for word in ("dog", "car"))
            one, other = dog / dog.sum(), car / car.sum()
            x, y = one.sum(0), other.sum(0)
            before = np.triu(np.ones((len(x), len(x))), 1) + np.eye(len(x)) / 2
            pos = x @ before @ y
            bits = -(one * np.log2(one)).sum()
            numbers.append((pos, np.minimum(one, other).sum(), bits, car.mean()))
    return np.moveaxis(np.array(numbers).reshape(len(found), STEPS, 4), 2, 0)


@pytest.mark.parametrize("head", [None, 0, 1])
@pytest.mark.parametrize(
    ("full_precision", "tolerance"), [(True, 1e-5), (False, 1e-3)], ids=["float32", "float16"]
)
def test_steps_by_layers_equal_hooks_on_the_untouched_pipeline(
    table_of, hooked, full_precision, tolerance, head
):
    table, (found, places) = table_of(full_precision=full_precision), hooked
    assert table.layers == tuple(found)
    assert all(places.values())
    wanted = expected(found, places, head)
    for column, values in zip((POS, OVERLAP, ENTROPY, MASS), wanted, strict=True):
        np.testing.assert_allclose(table.at(column, head), values, atol=tolerance, rtol=0)
    assert np.ptp(wanted[0]) > 10 * tolerance


def captured_run(request, model, folder):
    """Return a run drawn by the program, its picture, and its captured layers."""
    started, *events, finished = events_of(DiffusersBackend(folder), request, model)
    run = OpenRun(
        id=request.id,
        scene=request.scene,
        request=request,
        steps=tuple(event for event in events if isinstance(event, StepEvent)),
        attention_files=started.attention_files,
    )
    return run, finished.image


@pytest.fixture
def guided_request(request_of):
    """Guides steps 0 and 2 of four."""
    request = request_of(full_precision=True)
    guidance = GuidanceSettings(method_id="psg", strength=2000.0, every=2, last_step=3)
    return with_values(request, guidance=guidance)


@pytest.mark.parametrize("moment", list(Moment))
def test_layers_are_captured_before_and_after_the_updates(
    guided_request, tiny_model, tmp_path, moment
):
    run, _ = captured_run(guided_request, tiny_model, tmp_path)
    layers = captured_layers(run, AttentionFolders(tmp_path).read)
    reading = run.steps[0].attention
    means = average_layers(
        layers, LayerChoice(layers=frozenset(reading.layers)), words_of(run.scene), moment
    )
    assert [event.is_guided for event in run.steps] == [True, False, True, False]
    for event in run.steps:
        for word, maps in event.attention_at(moment).maps.items():
            np.testing.assert_allclose(means[word][event.step], maps, atol=1e-5)
    assert not np.allclose(*(run.steps[2].attention_at(each).maps["m1"] for each in Moment))


def test_the_first_step_before_its_updates_is_that_of_the_untouched_pipeline(
    guided_request, tiny_model, tmp_path, hooked
):
    run, _ = captured_run(guided_request, tiny_model, tmp_path)
    read = AttentionFolders(tmp_path).read
    before, after = (measure_layers(run, read, moment) for moment in Moment)
    wanted = expected(*hooked, None)[0][:, 0]
    np.testing.assert_allclose(before.at(POS)[:, 0], wanted, atol=1e-5)
    assert not np.allclose(after.at(POS)[:, 0], wanted, atol=1e-3)


def test_capturing_both_moments_changes_no_picture(guided_request, tiny_model, tmp_path):
    quiet = replace(guided_request, capture=CaptureSettings(attention_every=0, preview_every=0))
    pictures = [captured_run(each, tiny_model, tmp_path)[1] for each in (guided_request, quiet)]
    np.testing.assert_array_equal(*pictures)


def guided_by(layers, request):
    guidance = GuidanceSettings(method_id="psg", strength=2000.0, last_step=2, layers=layers)
    return with_values(request, guidance=guidance)


def drawn_by(tiny_model, tmp_path, request):
    *steps, finished = (
        event
        for event in events_of(DiffusersBackend(tmp_path), request, tiny_model)
        if isinstance(event, (StepEvent, GenerationFinished))
    )
    return steps, finished.image


def test_chosen_layers_are_those_that_guidance_reads(tiny_model, tmp_path, tiny_request):
    usual, picture = drawn_by(tiny_model, tmp_path, guided_by((), tiny_request))
    chosen = usual[0].attention.layers[:1]
    steps, other = drawn_by(tiny_model, tmp_path, guided_by(chosen, tiny_request))
    assert len(usual[0].attention.layers) > 1
    assert {step.attention.layers for step in steps} == {chosen}
    assert not np.array_equal(picture, other)
    all_of_them = guided_by(usual[0].attention.layers, tiny_request)
    assert np.array_equal(drawn_by(tiny_model, tmp_path, all_of_them)[1], picture)


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        (("nothing.attn2",), 'no attention layer "nothing.attn2"'),
        (
            (
                "down_blocks.0.attentions.0.transformer_blocks.0.attn2",
                "mid_block.attentions.0.transformer_blocks.0.attn2",
            ),
            "different sizes",
        ),
    ],
    ids=["unknown", "two sizes"],
)
def test_layers_that_cannot_guide_are_refused(tiny_model, tmp_path, tiny_request, layers, message):
    with pytest.raises(RequestError, match=message):
        drawn_by(tiny_model, tmp_path, guided_by(layers, tiny_request))
