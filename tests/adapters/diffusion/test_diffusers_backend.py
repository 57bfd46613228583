import shutil
import threading
from dataclasses import replace

import numpy as np
import pytest
import torch

from spatialstudio.adapters.diffusion import load_pipeline as loading
from spatialstudio.adapters.diffusion.diffusers_backend import DiffusersBackend, model_setup
from spatialstudio.adapters.diffusion.load_pipeline import files_read
from spatialstudio.adapters.models.weight_hashes import hash_in_background, hash_of_weights
from spatialstudio.domain.attention import AttentionDetail
from spatialstudio.domain.errors import (
    BackendError,
    Cancelled,
    ModelNotFound,
    OutOfMemory,
    PromptError,
    RequestError,
)
from spatialstudio.domain.generation import (
    CaptureSettings,
    GenerationFinished,
    GenerationStarted,
    GuidanceSettings,
    PromptEncoded,
    StepEvent,
)
from spatialstudio.domain.run_settings import with_values
from spatialstudio.domain.samplers import SAMPLERS
from spatialstudio.domain.scene import IN_FRONT_OF
from tests.adapters.diffusion.tiny_pipeline import save_tiny_pipeline
from tests.fakes import CountingToken, events_of, scene_of

pytestmark = pytest.mark.filterwarnings(  # diffusers 0.42 with numpy 2
    "ignore:__array_:DeprecationWarning"
)

STRONG = GuidanceSettings(method_id="psg", strength=500.0)


@pytest.fixture
def draw(backend, tiny_model):
    def run(request, model=tiny_model):
        return events_of(backend, request, model)

    return run


@pytest.fixture(scope="module")
def runs():
    """The events of the runs of this file, by their requests."""
    return {}


@pytest.fixture
def drawn(draw, runs):
    """Return the events of a run, drawn for the first test that asks."""

    def run(request):
        if (key := repr(request)) not in runs:
            runs[key] = draw(request)
        return runs[key]

    return run


def picture_of(events):
    return events[-1].image


def test_a_run_starts_steps_and_finishes(drawn, tiny_request):
    started, encoded, *steps, finished = drawn(tiny_request)
    assert isinstance(started, GenerationStarted)
    assert encoded == PromptEncoded(request_id=tiny_request.id)
    assert [type(step) for step in steps] == [StepEvent] * started.total_steps
    assert [step.step for step in steps] == [0, 1, 2, 3]
    assert isinstance(finished, GenerationFinished)
    assert (finished.image.shape, finished.image.dtype) == ((128, 128, 3), np.uint8)
    assert finished.peak_memory_bytes > 0


def test_a_run_tells_how_its_model_computed(drawn, tiny_request, tiny_model):
    setup = drawn(tiny_request)[-1].setup
    assert setup.dtype == "float32"
    assert "AttnProcessor" in setup.attention
    assert setup.weights_sha256 == hash_of_weights(files_read(tiny_model))


def test_a_device_with_kernels_to_choose_from_tells_them(loaded):
    told = model_setup(loaded.denoiser, torch.device("cuda"), loaded.weights_hash)
    assert told.attention.endswith("math)")


def test_weights_that_have_gone_have_no_hash(loaded, tmp_path):
    gone = hash_in_background([tmp_path / "gone.safetensors"])
    assert model_setup(loaded.denoiser, loaded.device, gone).weights_sha256 == ""


def test_steps_tell_timestep_pos_and_maps_of_every_mention(drawn, tiny_request):
    _, _, first, *_, last, _ = drawn(tiny_request)
    assert first.timestep > last.timestep
    assert 0 < first.pos["r1"] < 1
    assert {weights.shape for weights in first.attention.maps.values()} == {(16, 16)}
    assert set(first.attention.maps) == {"m1", "m2"}
    assert not first.attention.maps["m1"].flags.writeable
    assert first.guidance_loss is None


@pytest.mark.parametrize("detail", AttentionDetail, ids=lambda detail: detail.value)
def test_what_a_run_takes_is_told_before_it(draw, backend, tiny_model, tiny_request, detail):
    request = with_values(tiny_request, capture=CaptureSettings(detail=detail), steps=1)
    draw(with_values(tiny_request, steps=1))  # loads the model
    told = backend.estimate(request, tiny_model)
    started, *_ = draw(request)
    assert told == started.memory


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_another_number_format_is_told_without_loading_it(
    draw, backend, tiny_model, tiny_request, dtype
):
    request = with_values(tiny_request, steps=1)
    full = draw(request)[0].memory
    halved = with_values(request, dtype=dtype)
    told = backend.estimate(halved, tiny_model)
    assert told.weights_bytes == full.weights_bytes // 2
    assert told == draw(halved)[0].memory
    assert backend.estimate(request, tiny_model) == full


def test_no_model_is_pushed_out_for_an_estimate(draw, backend, tiny_model, tiny_request, tmp_path):
    draw(with_values(tiny_request, steps=1))
    assert backend.estimate(tiny_request, replace(tiny_model, folder=tmp_path)) is None


def test_a_large_model_is_not_loaded_for_an_estimate(tiny_model, tiny_request, tmp_path):
    large = replace(tiny_model, size_bytes=2 * 1024**3)
    assert DiffusersBackend(tmp_path).estimate(tiny_request, large) is None


def test_the_same_seed_gives_the_same_picture_and_another_seed_another(draw, drawn, tiny_request):
    picture = picture_of(drawn(tiny_request))
    assert np.array_equal(picture_of(draw(tiny_request)), picture)
    assert not np.array_equal(picture_of(draw(with_values(tiny_request, seed=8))), picture)


def test_the_picture_is_that_of_the_untouched_pipeline(drawn, tiny_request, loaded):
    loaded.set_scheduler("")
    untouched = loaded.pipeline(
        prompt=tiny_request.scene.prompt.text,
        num_inference_steps=4,
        guidance_scale=4.0,
        generator=torch.Generator("cpu").manual_seed(7),
    ).images[0]
    assert np.array_equal(picture_of(drawn(tiny_request)), np.asarray(untouched))


@pytest.mark.parametrize("guidance", [GuidanceSettings(), STRONG], ids=["plain", "guided"])
@pytest.mark.parametrize(
    "capture",
    [
        CaptureSettings(attention_every=0, preview_every=0),
        CaptureSettings(attention_every=2, preview_every=1),
    ],
    ids=["off", "on"],
)
def test_recording_never_changes_the_picture(draw, drawn, tiny_request, guidance, capture):
    request = with_values(tiny_request, guidance=guidance)
    recorded = draw(replace(request, capture=capture))
    assert np.array_equal(picture_of(recorded), picture_of(drawn(request)))


def test_guidance_of_no_strength_gives_the_unguided_picture(draw, drawn, tiny_request):
    idle = with_values(tiny_request, guidance=GuidanceSettings(method_id="psg", strength=0.0))
    assert np.array_equal(picture_of(draw(idle)), picture_of(drawn(tiny_request)))


def test_guidance_changes_the_picture_and_tells_its_loss_and_length(drawn, tiny_request):
    _, _, first, *_, last, finished = drawn(with_values(tiny_request, guidance=STRONG))
    assert first.guidance_loss > 0
    assert first.step_size == 500.0
    assert last.guidance_loss is None
    assert not np.array_equal(finished.image, picture_of(drawn(tiny_request)))


def test_attention_and_previews_come_as_often_as_asked(draw, tiny_request):
    capture = CaptureSettings(attention_every=2, preview_every=3)
    _, _, *steps, _ = draw(replace(tiny_request, capture=capture))
    assert [step.attention is not None for step in steps] == [True, False, True, False]
    assert [step.preview is not None for step in steps] == [True, False, False, True]
    assert steps[0].preview.shape == (128, 128, 3)


def test_a_relation_of_depth_cannot_guide_and_changes_nothing(draw, tiny_request):
    tiny_request = with_values(tiny_request, steps=2)
    scene = scene_of("dog", "car", IN_FRONT_OF)
    request = replace(tiny_request, scene=scene)
    guided = draw(with_values(request, guidance=STRONG))
    assert guided[2].pos == {}
    assert np.array_equal(picture_of(guided), picture_of(draw(request)))


def test_one_given_side_leaves_the_other_as_the_model_has_it(draw, tiny_request):
    assert picture_of(draw(with_values(tiny_request, width=64, steps=1))).shape == (128, 64, 3)


@pytest.mark.parametrize(
    ("scheduler_id", "steps", "calls"),
    [
        ("DDIMScheduler", 4, 4),
        ("PNDMScheduler", 5, 5),
        ("HeunDiscreteScheduler", 4, 7),
        ("KDPM2DiscreteScheduler", 4, 7),
        ("KDPM2AncestralDiscreteScheduler", 4, 7),
    ],
)
def test_a_step_is_told_once_however_many_calls_the_sampler_makes_of_it(
    draw, backend, tiny_request, scheduler_id, steps, calls
):
    capture = CaptureSettings(attention_every=2, preview_every=1, detail=AttentionDetail.EVERY_WORD)
    request = with_values(tiny_request, scheduler_id=scheduler_id, capture=capture)
    draw(with_values(tiny_request, steps=1))  # loads the model
    made = []
    hook = backend._loaded.denoiser.register_forward_pre_hook(lambda *_: made.append(1))
    started, _, *told, _ = draw(request)
    hook.remove()
    assert started.total_steps == steps
    assert [event.step for event in told] == list(range(steps))
    assert [event.attention is not None for event in told] == [n % 2 == 0 for n in range(steps)]
    assert all(event.preview is not None for event in told)
    assert {file.shape[0] for file in started.attention_files} == {-(-steps // 2)}
    assert len(made) == calls


@pytest.mark.parametrize("scheduler_id", ["", "HeunDiscreteScheduler", "KDPM2DiscreteScheduler"])
def test_half_of_the_steps_is_half_of_the_run_under_any_sampler(draw, tiny_request, scheduler_id):
    request = with_values(tiny_request, scheduler_id=scheduler_id, guidance=STRONG)
    _, _, *steps, _ = draw(request)
    assert [step.guiding_passes for step in steps] == [1, 1, 0, 0]
    assert [step.step_size is not None for step in steps] == [True, True, False, False]


def test_cancelling_after_a_step_ends_the_run_before_the_next_model_call(
    backend, tiny_model, tiny_request
):
    token, calls = CountingToken(), []
    events_of(backend, with_values(tiny_request, steps=1), tiny_model)  # loads the model
    hook = backend._loaded.denoiser.register_forward_pre_hook(lambda *_: calls.append(1))

    def stop_at_first_step(event):
        if isinstance(event, StepEvent):
            token.stop_at = token.asked + 1

    with pytest.raises(Cancelled):
        backend.generate(tiny_request, tiny_model, token, stop_at_first_step)
    hook.remove()
    assert token.asked == token.stop_at
    assert len(calls) == 1


def test_after_a_cancelled_run_the_next_one_is_as_ever(
    backend, draw, drawn, tiny_model, tiny_request
):
    whole = drawn(tiny_request)
    with pytest.raises(Cancelled):
        events_of(backend, tiny_request, tiny_model, CountingToken(stop_at=3))
    assert np.array_equal(picture_of(draw(tiny_request)), picture_of(whole))


def test_an_error_of_the_event_taker_ends_the_run(backend, tiny_model, tiny_request, draw, drawn):
    def fail(event):
        raise KeyError(type(event).__name__)

    whole = drawn(tiny_request)
    with pytest.raises(KeyError, match="GenerationStarted"):
        backend.generate(tiny_request, tiny_model, CountingToken(), fail)
    assert np.array_equal(picture_of(draw(tiny_request)), picture_of(whole))


def test_a_run_is_drawn_on_the_thread_of_its_caller(backend, tiny_model, tiny_request):
    threads = set()

    def note(_event):
        threads.add(threading.get_ident())

    backend.generate(with_values(tiny_request, steps=1), tiny_model, CountingToken(), note)
    assert threads == {threading.get_ident()}


def test_the_model_is_loaded_once(draw, backend, tiny_model, tiny_request):
    request = with_values(tiny_request, steps=1)
    draw(request)
    loaded = backend._loaded
    draw(request)
    assert backend._loaded is loaded


def test_an_unknown_sampler_is_refused(draw, tiny_request):
    with pytest.raises(RequestError, match="does not support the sampler") as refusal:
        draw(with_values(tiny_request, scheduler_id="FlowMatchEulerDiscreteScheduler"))
    assert "DDIMScheduler" in refusal.value.hint


def test_a_sampler_that_needs_more_steps_is_told(draw, backend, tiny_request, monkeypatch):
    draw(with_values(tiny_request, steps=1))
    begins_slowly = loading.diffusers.PNDMScheduler(skip_prk_steps=False)
    own = replace(backend._loaded, own_scheduler=begins_slowly)
    monkeypatch.setattr(backend, "_loaded", own)
    with pytest.raises(RequestError, match="does not support 2 steps"):
        draw(with_values(tiny_request, steps=2))


TRAINED_STEPS = 20
"""Few, so that a run of as many steps as a model was trained with is short."""

REFUSES_ALL = {"DEISMultistepScheduler", "DPMSolverMultistepScheduler", "UniPCMultistepScheduler"}
"""Samplers that divide by the difference of noise levels, two of which are equal."""


@pytest.fixture
def trained_briefly(draw, backend, tiny_request, monkeypatch):
    """The tiny model as if it was trained with few steps, in the schedule of Stable Diffusion."""
    draw(tiny_request)
    own = {**backend._loaded.own_scheduler.config, "num_train_timesteps": TRAINED_STEPS}
    scheduler = loading.diffusers.DDIMScheduler.from_config(own)
    monkeypatch.setattr(backend, "_loaded", replace(backend._loaded, own_scheduler=scheduler))


@pytest.mark.parametrize("sampler", [each for each in SAMPLERS if each not in REFUSES_ALL])
@pytest.mark.parametrize("steps", [1, TRAINED_STEPS])
def test_samplers_make_one_step_and_as_many_as_the_model_was_trained_with(
    draw, trained_briefly, tiny_request, sampler, steps
):
    request = with_values(tiny_request, scheduler_id=sampler, steps=steps)
    events = draw(with_values(request, guidance=GuidanceSettings(method_id="psg", strength=1.0)))
    seen = [event for event in events if isinstance(event, StepEvent)]
    assert {event.step for event in seen} == set(range(len(seen)))
    assert len(seen) >= steps
    assert max(event.timestep for event in seen) <= TRAINED_STEPS


@pytest.mark.parametrize("sampler", sorted(REFUSES_ALL))
def test_more_steps_than_noise_levels_are_refused(draw, trained_briefly, tiny_request, sampler):
    request = with_values(tiny_request, scheduler_id=sampler)
    draw(with_values(request, steps=1))
    with pytest.raises(RequestError, match=f"does not support {TRAINED_STEPS} steps") as refusal:
        draw(with_values(request, steps=TRAINED_STEPS))
    assert "fewer steps" in refusal.value.hint


def test_a_sampler_that_lacks_its_library_is_told(draw, tiny_request, loaded, monkeypatch):
    def lacking(_config):
        raise ImportError("torchsde")

    monkeypatch.setattr(loading.diffusers.DDPMScheduler, "from_config", lacking)
    with pytest.raises(RequestError, match="library that is not installed"):
        draw(with_values(tiny_request, scheduler_id="DDPMScheduler"))


def test_an_unknown_guidance_method_is_refused(draw, tiny_request):
    with pytest.raises(RequestError, match='"magic" is not known'):
        draw(with_values(tiny_request, guidance=GuidanceSettings(method_id="magic")))


def test_a_mention_beyond_the_encoders_limit_is_refused(draw, tiny_request):
    scene = scene_of("dog" + " of the left" * 8, "car")
    with pytest.raises(PromptError, match=r'too long: .*"car"'):
        draw(replace(tiny_request, scene=scene))


def test_too_strong_guidance_is_told_when_numbers_turn_invalid(draw, tiny_request):
    broken = GuidanceSettings(method_id="psg", strength=1e38)
    with pytest.raises(BackendError, match="invalid numbers") as told:
        draw(with_values(tiny_request, guidance=broken))
    assert "strength" in told.value.hint


@pytest.fixture
def copied_model(tiny_model, tmp_path, make_card):
    folder = tmp_path / "copy"
    shutil.copytree(tiny_model.folder, folder)
    return make_card(folder)


def test_a_missing_folder_is_told(draw, tiny_request, make_card, tmp_path):
    with pytest.raises(ModelNotFound, match="moved or deleted"):
        draw(tiny_request, make_card(tmp_path / "nowhere"))


@pytest.mark.parametrize(
    "file",
    [
        "unet/diffusion_pytorch_model.safetensors",
        "text_encoder/model.safetensors",
        "unet/config.json",
        "tokenizer/tokenizer.json",
        "model_index.json",
    ],
)
def test_a_truncated_file_is_told_and_the_next_job_works(draw, tiny_request, copied_model, file):
    path = copied_model.folder / file
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(ModelNotFound, match="damaged") as refusal:
        draw(tiny_request, copied_model)
    assert refusal.value.hint
    assert isinstance(draw(with_values(tiny_request, steps=1))[-1], GenerationFinished)


@pytest.mark.parametrize("part", ["unet", "vae", "text_encoder", "tokenizer", "scheduler"])
def test_a_missing_part_is_told(draw, tiny_request, copied_model, part):
    shutil.rmtree(copied_model.folder / part)
    with pytest.raises(ModelNotFound, match="damaged"):
        draw(tiny_request, copied_model)


def test_pickled_weights_are_never_loaded(draw, tiny_request, make_card, tmp_path):
    save_tiny_pipeline(tmp_path / "pickled", uses_safetensors=False)
    with pytest.raises(ModelNotFound, match="has no safetensors"):
        draw(tiny_request, make_card(tmp_path / "pickled"))


def test_a_pipeline_of_an_unknown_kind_is_told(draw, tiny_request, copied_model):
    index = copied_model.folder / "model_index.json"
    text = index.read_text(encoding="utf-8")
    index.write_text(text.replace('"StableDiffusionPipeline"', '"SomePipeline"'), encoding="utf-8")
    with pytest.raises(BackendError, match="SomePipeline"):
        draw(tiny_request, copied_model)


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory."),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory"),
        MemoryError(),
    ],
    ids=["device", "processor", "python"],
)
def test_too_little_memory_is_told(tiny_request, tiny_model, tmp_path, monkeypatch, error):
    def exhausted(*_args, **_kwargs):
        raise error

    monkeypatch.setattr(loading.diffusers.StableDiffusionPipeline, "from_pretrained", exhausted)
    with pytest.raises(OutOfMemory, match="too little memory"):
        events_of(DiffusersBackend(tmp_path), tiny_request, tiny_model)


def test_tokens_are_located_without_weights(backend, tiny_model, tiny_request):
    spans = backend.token_spans(tiny_request.scene, tiny_model)
    assert [span.mention_id for span in spans] == ["m1", "m2"]
    assert spans[0].indices < spans[1].indices


def test_tokenizers_of_the_loaded_model_are_not_read_again(
    draw, backend, tiny_model, tiny_request, monkeypatch
):
    def refuse(*_args, **_kwargs):
        pytest.fail("The tokenizers are read again.")

    draw(with_values(tiny_request, steps=1))
    monkeypatch.setattr(loading, "read_tokenizers", refuse)
    (reading,) = backend.read_tokens(tiny_request.scene.prompt.text, tiny_model)
    assert reading.tokens
    assert backend.token_spans(tiny_request.scene, tiny_model)


def test_a_request_can_ask_for_a_number_format(draw, tiny_request):
    request = with_values(tiny_request, guidance=STRONG, steps=2)
    asked = ("bfloat16", "", "float16", "")
    told = [draw(with_values(request, dtype=dtype))[-1].setup.dtype for dtype in asked]
    assert told == ["bfloat16", "float32", "float16", "float32"]
