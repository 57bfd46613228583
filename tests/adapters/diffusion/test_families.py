"""Every family from a folder of random weights: what holds for one holds for all."""

import re
from contextlib import contextmanager, suppress
from dataclasses import replace
from inspect import signature
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from spatialstudio.adapters.diffusion.attention_layers import TextPlace
from spatialstudio.adapters.diffusion.attention_reader import AttentionReader
from spatialstudio.adapters.diffusion.diffusers_backend import DiffusersBackend
from spatialstudio.adapters.diffusion.families import FAMILIES
from spatialstudio.adapters.diffusion.guidance_hook import Guidance, GuidanceHook
from spatialstudio.adapters.diffusion.pipeline_arguments import pipeline_arguments
from spatialstudio.adapters.diffusion.token_spans import in_denoiser, token_spans
from spatialstudio.adapters.diffusion.weighted_prompt import weighted_prompt
from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.api import guide, read, watch
from spatialstudio.application.inspect.self_attention import has_joint_attention
from spatialstudio.application.paths import HOME_VARIABLE, resources_folder
from spatialstudio.application.storage.run_writer import store_run
from spatialstudio.domain.attention import AttentionDetail, Moment
from spatialstudio.domain.errors import Cancelled, RequestError
from spatialstudio.domain.generation import CaptureSettings, GuidanceSettings
from spatialstudio.domain.prompt_syntax import drawn_scene
from spatialstudio.domain.run_settings import with_values
from spatialstudio.domain.scene import SpanWeight
from spatialstudio.science.guidance.losses import PsgLoss
from spatialstudio.science.guidance.schedule import GuidanceSchedule
from tests.adapters.diffusion.drawn_families import (
    CAPTURED,
    FAMILY_WARNINGS,
    IDLE,
    PROMPT,
    SCENE,
    SILENT,
    STEPS,
    STRONG,
    decoded_by,
    steps_of,
)
from tests.adapters.diffusion.tiny_families import TINY_FAMILIES
from tests.fakes import CountingToken, events_of, scene_of
from tests.format_reader import assert_same_arrays

pytestmark = FAMILY_WARNINGS

NO_NEGATIVE = "Flux2KleinPipeline"
"""The family without negative prompts."""


def with_negative(request, negative):
    scene = request.scene
    return replace(request, scene=replace(scene, prompt=replace(scene.prompt, negative=negative)))


def test_the_table_has_a_test_for_every_family():
    assert [tiny.pipeline_class for tiny in TINY_FAMILIES] == list(FAMILIES)


def test_the_guide_lists_every_family_and_whether_it_takes_a_negative_prompt():
    text = (resources_folder() / "guide" / "methods.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\w+Pipeline) \|.*\| (yes|no) \|$", text, re.MULTILINE)
    refused = {NO_NEGATIVE: "no"}
    assert rows == [(name, refused.get(name, "yes")) for name in FAMILIES]


@pytest.mark.parametrize("scale", [4.0, 1.0], ids=["both halves", "the prompt's half alone"])
def test_reading_and_idle_guidance_leave_the_untouched_run_to_the_bit(family, make_request, scale):
    request = make_request(family.tiny.wide, guidance_scale=scale)
    picture = family.draw_untouched(request)[0]
    sample = family.last_sample
    runs = [
        family.run(each)
        for each in (
            request,
            replace(request, capture=CAPTURED),
            with_values(request, capture=CAPTURED, guidance=IDLE),
        )
    ]
    assert all(torch.equal(run.sample, sample) for run in runs)
    assert all(np.array_equal(run.image, (picture * 255).round()) for run in runs)


def test_guidance_raises_pos_in_both_branches_of_the_scale_and_out_of_square(family, make_request):
    request = make_request(family.tiny.wide, capture=CAPTURED)
    raised = []
    for scale in (4.0, 1.0):
        asked = replace(request, guidance_scale=scale)
        free = family.run(asked).events
        guided = family.run(with_values(asked, guidance=STRONG)).events
        raised.append(guided[-2].pos["r1"] - free[-2].pos["r1"])
        assert guided[2].pos["r1"] == pytest.approx(free[2].pos["r1"], abs=1e-5)
    assert min(raised) > 1e-4


@pytest.mark.parametrize(
    "method_id",
    [
        "attend-excite",
        "infsplign",
        *(
            pytest.param(method_id, marks=pytest.mark.slow)
            for method_id in (
                "psg-presence",  # reads the maps that PSG reads
                "weighted-presence",  # those that Attend-and-Excite reads
                "boxdiff",  # as well
            )
        ),
    ],
)
def test_every_method_guides(family, make_request, method_id):
    request = make_request(family.tiny.wide, steps=1)
    free = family.run(request).image
    guidance = replace(STRONG, method_id=method_id)
    _, _, step, finished = family.draw(with_values(request, guidance=guidance))
    assert step.guidance_loss > 0
    assert not np.array_equal(finished.image, free)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_every_family_is_guided_in_every_number_format(family, make_request, dtype):
    captured = CaptureSettings(attention_every=1, preview_every=0)
    request = make_request(
        family.tiny.size, dtype=dtype, capture=captured, guidance=STRONG, steps=1
    )
    backend = DiffusersBackend(family.archives)
    _, _, step, finished = events_of(backend, request, family.card)
    assert finished.setup.dtype == dtype
    assert {weights.dtype for weights in step.attention.maps.values()} == {np.dtype("float32")}
    assert step.pos_after["r1"] > step.pos["r1"]


def test_a_negative_prompt_is_used_or_refused(family, make_request):
    request = make_request(family.tiny.size, steps=1)
    asked = with_negative(request, "tea")
    if family.tiny.pipeline_class == NO_NEGATIVE:
        with pytest.raises(RequestError, match="not support negative prompts"):
            family.draw(asked)
    else:
        assert not np.array_equal(family.draw(asked)[-1].image, family.run(request).image)


def test_maps_and_previews_have_the_shape_of_the_picture(family, make_request):
    request = make_request(family.tiny.wide, capture=CAPTURED)
    *_, step, finished = family.run(request).events
    height, width = family.tiny.wide
    assert finished.image.shape == (height, width, 3)
    for weights in step.attention.maps.values():
        assert weights.shape[0] * width == weights.shape[1] * height
        assert 0 < weights.min() < weights.max() <= 1
    preview = step.preview.shape
    assert preview[0] * width == preview[1] * height


@pytest.mark.parametrize(
    "detail", [AttentionDetail.EVERY_WORD, AttentionDetail.EVERYTHING], ids=lambda each: each.value
)
def test_an_archive_is_as_large_as_told_and_holds_the_maps_of_the_words(
    family, make_request, detail
):
    captured = CaptureSettings(attention_every=1, preview_every=0, detail=detail)
    request = make_request(family.tiny.wide, capture=captured)
    plain = family.run(replace(request, capture=SILENT)).image
    started, _, *steps, finished = family.draw(request)
    folder, loaded = family.archives / request.id, family.loaded
    kept = {file.layer: np.load(folder / file.name) for file in started.attention_files}
    assert np.array_equal(finished.image, plain)
    assert list(kept) == [layer.name for layer in loaded.text_layers]
    assert sum(file.size_bytes for file in started.attention_files) == sum(
        array.nbytes for array in kept.values()
    )
    words = started.attention_files[0].words
    places = {mention.id: word_places(words, mention.phrase) for mention in SCENE.mentions}
    read = [kept[layer.name] for layer in loaded.guiding_layers]
    for mention, own in places.items():
        maps = np.mean([array[-1].astype(np.float32).mean(0)[own].mean(0) for array in read], 0)
        np.testing.assert_allclose(maps, steps[-1].attention.maps[mention], atol=2e-3)


def rows_of(started, folder, moment):
    """The stored rows of each layer at one moment of the steps on which guidance is due."""
    return {
        file.layer: np.load(folder / file.name)
        for file in started.attention_files
        if bool(file.steps_before) is (moment is Moment.BEFORE)
    }


@pytest.mark.parametrize("moment", list(Moment), ids=lambda moment: moment.name.lower())
def test_captured_layers_are_those_of_their_moment(moment, family, make_request):
    captured = CaptureSettings(preview_every=0, detail=AttentionDetail.EVERY_WORD)
    request = make_request(family.tiny.wide, guidance=STRONG, capture=captured)
    started, _, step, *_ = family.draw(request)
    kept = rows_of(started, family.archives / request.id, moment)
    own = word_places(started.attention_files[0].words, SCENE.mentions[0].phrase)
    read = [kept[layer.name][0] for layer in family.loaded.guiding_layers]
    maps = np.mean([array.astype(np.float32).mean(0)[own].mean(0) for array in read], 0)
    off = {
        each: np.abs(step.attention_at(each).maps[SCENE.mentions[0].id] - maps).max()
        for each in Moment
    }
    other = Moment.AFTER if moment is Moment.BEFORE else Moment.BEFORE
    assert off[moment] < min(2e-3, off[other])


@pytest.mark.parametrize("moment", list(Moment), ids=lambda moment: moment.name.lower())
def test_pos_follows_from_the_recorded_maps_and_captured_layers(moment, family, make_request):
    captured = CaptureSettings(preview_every=0, detail=AttentionDetail.EVERYTHING)
    request = make_request(family.tiny.wide, guidance=STRONG, capture=captured)
    started, _, step, *_ = family.draw(request)
    relation = SCENE.relations[0]
    shown = step.pos_at(moment)[relation.id]
    maps = step.attention_at(moment).maps
    assert abs(left_share(*(maps[end] for end in relation.ends)) - shown) < 1e-5
    kept = rows_of(started, family.archives / request.id, moment)
    heads = np.concatenate([kept[layer.name][0] for layer in family.loaded.guiding_layers])
    words = started.attention_files[0].words
    places = (word_places(words, SCENE.mention(end).phrase) for end in relation.ends)
    pos = left_share(*(heads.astype(np.float64)[:, own].mean((0, 1)) for own in places))
    assert abs(pos - shown) < 1e-3


def left_share(first, second):
    """Probability that a place of ``first`` lies left of one of ``second``; ties half."""
    one, other = (
        each.sum(0, dtype=np.float64) / each.sum(dtype=np.float64) for each in (first, second)
    )
    columns = np.arange(len(one))
    weights = (columns[:, None] < columns) + 0.5 * (columns[:, None] == columns)
    return float(one @ weights @ other)


def word_places(words, phrase):
    return [place for place, word in enumerate(words) if word.strip().lower() == phrase]


def test_no_model_call_follows_a_cancelled_token(family, make_request):
    request = make_request(family.tiny.wide, guidance=STRONG, capture=CAPTURED)
    whole = family.run(request)
    with pytest.raises(Cancelled):
        family.draw(request, CountingToken(stop_at=whole.checks // 2))
    assert len(family.inputs) < whole.calls
    assert np.array_equal(family.draw(request)[-1].image, whole.image)


def test_a_size_that_the_model_cannot_draw_is_refused(family, make_request):
    height, width = family.tiny.size
    odd = make_request((height, width + family.loaded.side_multiple // 2))
    with pytest.raises(RequestError, match="multiples of"):
        family.draw(odd)


def test_words_stand_where_the_denoiser_gets_them(family, make_request):
    """The text of two prompts that differ in one word differs most in that word's places."""
    streams, told = family.loaded.streams, []
    for subject in ("dog", "tea"):
        scene = scene_of(subject, "car")
        request = make_request(family.tiny.size, scene=scene, guidance_scale=1.0)
        family.draw_untouched(request, output_type="latent")
        told.append(text_of(*family.inputs[0]))
    distance = (told[0] - told[1]).norm(dim=-1)
    (subject, _), text = request.scene.mentions, request.scene.prompt.text
    spans = in_denoiser(streams, token_spans(streams, text, [subject]))
    ends = {stream.encoder_id: stream.first + stream.limit - stream.drops for stream in streams}
    starts = {stream.encoder_id: stream.first for stream in streams}
    assert [span.indices for span in spans] == [
        (starts[name] + int(distance[starts[name] : ends[name]].argmax()),) for name in starts
    ]


def text_of(args, kwargs):
    """Take the (tokens, channels) of the prompt's row out of a call's arguments."""
    given = kwargs["encoder_hidden_states"] if "encoder_hidden_states" in kwargs else args[2]
    return given[-1].float()


def test_pictures_of_one_call_are_each_guided_by_their_own_maps(family, make_request):
    request = make_request(family.tiny.size)
    generators = [torch.Generator().manual_seed(seed) for seed in (7, 8)]
    together = draw_guided(family.loaded, request, 2, generator=generators)
    for number, seed in enumerate((7, 8)):
        alone = draw_guided(family.loaded, with_values(request, seed=seed), 1)
        np.testing.assert_allclose(together[number], alone[0], atol=2e-3)


def draw_guided(loaded, request, pictures, **more):
    loaded.set_scheduler("")
    spans = token_spans(loaded.streams, request.scene.prompt.text, request.scene.mentions)
    reader = AttentionReader(
        loaded.guiding_layers,
        in_denoiser(loaded.streams, spans),
        request.scene.relations,
        smooths_maps=False,
    )
    guidance = Guidance(loss=PsgLoss(), schedule=GuidanceSchedule(STRONG, STEPS))
    hook = GuidanceHook(reader, guidance, CountingToken(), lambda *_: None)
    calls = replace(loaded.family.calls, pictures=pictures)
    arguments = pipeline_arguments(loaded, request) | more
    with hook.attached(loaded.denoiser, loaded.pipeline.scheduler, calls):
        return loaded.pipeline(**arguments, num_images_per_prompt=pictures).images


def test_a_users_pipeline_is_guided_as_the_program_guides(family, make_request):
    request = make_request(family.tiny.wide, guidance=STRONG, capture=CAPTURED)
    theirs = family.run(request)
    *_, first, second, finished = theirs.events
    pipe, arguments = family.own_pipeline, pipeline_arguments(family.loaded, request)
    with (
        decoded_by(pipe) as ours,
        guide(pipe, PROMPT, method="psg", strength=2000, last_step=1, unit="vp") as run,
    ):
        (picture,) = pipe(**arguments).images
    assert torch.equal(ours[-1], theirs.latents)
    assert np.array_equal((picture * 255).round(), finished.image)
    for moment in Moment:
        read = [step.pos_at(moment)["r1"] for step in (first, second)]
        assert [step.pos_at(moment)["r1"] for step in run.steps] == read
    assert run.pos["r1"].tolist() == [first.pos["r1"], second.pos["r1"]]
    assert run.final_pos["dog to the left of car"] == second.pos_after["r1"]
    assert np.array_equal(run.maps["dog"][1], second.attention.maps["m1"])
    assert [step.guidance_loss for step in run.steps] == [first.guidance_loss, second.guidance_loss]


def state_of(pipeline):
    """Say what a pipeline and its modules have as attributes, and what they train."""
    denoiser = getattr(pipeline, "transformer", None) or pipeline.unet
    modules = dict(denoiser.named_modules()).items()
    attributes = {
        (name, key): id(value) for name, module in modules for key, value in vars(module).items()
    }
    processors = [vars(module.processor) for _, module in modules if hasattr(module, "processor")]
    trained = [weights.requires_grad for weights in denoiser.parameters()]
    own = sorted(vars(pipeline)), sorted(vars(pipeline.scheduler)), type(pipeline)
    return attributes, processors, trained, own, torch.nn.functional.scaled_dot_product_attention


class Ended(BaseException):
    """Like KeyboardInterrupt, which would end the tests."""


@contextmanager
def ending(pipeline, error, call):
    """Let a call of the denoiser's first convolution or projection raise an error."""
    denoiser = getattr(pipeline, "transformer", None) or pipeline.unet
    part = next(module for module in denoiser.modules() if not [*module.children()])
    calls = []

    def count(*_):
        calls.append(1)
        if len(calls) == call:
            raise error

    hook = part.register_forward_pre_hook(count)
    yield
    hook.remove()


def test_after_a_block_a_users_pipeline_is_as_it_was(family, make_request):
    pipe, request = family.own_pipeline, make_request(family.tiny.size)

    def draw():
        return pipe(**pipeline_arguments(family.loaded, request)).images

    plain, before = draw(), state_of(pipe)
    with watch(pipe, PROMPT) as run:
        assert np.array_equal(draw(), plain)
    assert len(run.steps) == STEPS
    with guide(pipe, PROMPT, strength=2000, checkpointing=True):
        assert not np.array_equal(draw(), plain)
    assert state_of(pipe) == before
    for call in (1, 3):
        with ending(pipe, Ended(), call), suppress(Ended), guide(pipe, PROMPT) as run:
            draw()
        assert len(run.steps) < STEPS
        assert state_of(pipe) == before
    assert np.array_equal(draw(), plain)


def test_joint_attention_is_recognised(family):
    layers = family.loaded.text_layers
    is_joint = any(layer.text is not TextPlace.ALONE for layer in layers)
    assert has_joint_attention(SimpleNamespace(text_layers=layers)) is is_joint


def test_the_layers_are_known_without_weights(family, make_request, tmp_path):
    size = family.tiny.size
    card = replace(family.card, native_size=family.loaded.native_side)
    told = DiffusersBackend(tmp_path).layers(card, *size)
    started = family.run(make_request(size)).events[0]
    assert told.layers == started.text_layers
    assert told.guiding == {layer.name for layer in family.loaded.guiding_layers}
    assert told.heads == max(layer.module.heads for layer in family.loaded.text_layers)


def test_weights_change_picture_and_attention_and_are_taken_off(family, make_request):
    request = make_request(family.tiny.size, guidance=IDLE, steps=1)
    plain = family.run(request).events
    before = [set(vars(each)) for each in patched_objects(family)]
    weighted = family.draw(replace(request, scene=weighted_scene(1.5)))
    assert not np.array_equal(weighted[-1].image, plain[-1].image)
    assert pos_trace(weighted) != pos_trace(plain)
    assert [set(vars(each)) for each in patched_objects(family)] == before
    assert np.array_equal(family.draw(request)[-1].image, plain[-1].image)


def test_weights_of_1_change_nothing(family, make_request):
    request = make_request(family.tiny.size, guidance=IDLE, steps=1)
    plain = family.run(request).events
    typed, _ = drawn_scene(read("a photo of a (dog:1.0) to the left of a (car:1)"))
    for scene in (typed, weighted_scene(1.0)):
        weighted = family.draw(replace(request, scene=scene))
        assert np.array_equal(weighted[-1].image, plain[-1].image)
        assert pos_trace(weighted) == pos_trace(plain)


def test_only_tokens_with_a_weight_are_changed(family):
    streams, pipeline = family.loaded.streams, family.loaded.pipeline
    mention = SCENE.mentions[1]
    prompt = replace(SCENE.prompt, weights=(SpanWeight(span=mention.span, weight=0.5),))
    arguments = {"prompt": PROMPT, "device": torch.device("cpu")}
    taken = signature(pipeline.encode_prompt).parameters.keys()
    given = {"num_images_per_prompt": 1, "do_classifier_free_guidance": False, **arguments}
    given |= {"prompt_2": None, "prompt_3": None, **family.loaded.family.own_arguments(pipeline)}
    given = {name: value for name, value in given.items() if name in taken}
    with torch.no_grad():
        plain = pipeline.encode_prompt(**given)[0]
        with weighted_prompt(family.loaded, prompt):
            weighted = pipeline.encode_prompt(**given)[0]
    plain, weighted = (each[0] for each in (plain, weighted))
    changed = (plain != weighted).any(-1).nonzero().flatten().tolist()
    spans = in_denoiser(streams, token_spans(streams, PROMPT, (mention,)))
    assert changed == sorted({index for span in spans for index in span.indices})


def weighted_scene(weight):
    weights = (SpanWeight(span=SCENE.mentions[0].span, weight=weight),)
    return replace(SCENE, prompt=replace(SCENE.prompt, weights=weights))


def patched_objects(family):
    """Return the objects whose methods are replaced while a weighted prompt is drawn."""
    modules = (layer.module for layer in family.loaded.text_layers)
    return (family.loaded.pipeline, family.loaded.denoiser, *modules)


def pos_trace(events):
    return [step.pos for step in steps_of(events)]


def test_the_reader_of_the_guide_agrees_with_open_run(family, make_request, tmp_path, monkeypatch):
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path))
    for guidance in (STRONG, GuidanceSettings(method_id="none")):
        request = make_request(family.tiny.wide, capture=CAPTURED, guidance=guidance)
        events = family.run(request).events
        path = store_run(request, events, None, RunFiles(), tmp_path / "runs")
        arrays = assert_same_arrays(path)
        assert {f"map_{moment}/m1" for moment in ("before", "after")} <= set(arrays)
        assert arrays["map_before/m1"].dtype == np.float32
