from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import diffusers
import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from transformers import CLIPTextConfig

from spatialstudio.adapters.diffusion import load_pipeline, memory_estimate
from spatialstudio.adapters.diffusion.attention_layers import map_size
from spatialstudio.adapters.diffusion.attention_tap import MeanAttention, tapped
from spatialstudio.adapters.diffusion.families import FAMILIES
from spatialstudio.adapters.diffusion.load_pipeline import LoadedPipeline
from spatialstudio.adapters.diffusion.memory_estimate import (
    estimate_memory,
    usable_savings,
    ways_to_fit,
)
from spatialstudio.domain.derived_requests import with_memory_fix
from spatialstudio.domain.devices import MemoryEstimate, Saving
from spatialstudio.domain.generation import GuidanceSettings, StepEvent
from spatialstudio.domain.run_settings import with_values
from spatialstudio.domain.steering import Steering
from tests.adapters.diffusion.held_tensors import held_bytes
from tests.fakes import events_of

GUIDED = GuidanceSettings(method_id="psg", strength=1.0)
TEXT = 77
PUBLISHED_AUTOENCODER = {
    "down_block_types": ("DownEncoderBlock2D",) * 4,
    "up_block_types": ("UpDecoderBlock2D",) * 4,
    "block_out_channels": (128, 256, 512, 512),
    "layers_per_block": 2,
}


@pytest.fixture
def guided(tiny_request):
    return with_values(tiny_request, guidance=GUIDED)


@pytest.fixture
def one_step(guided):
    return with_values(guided, steps=1)


def spare(request, *savings):
    return with_values(request, savings=savings)


def test_the_peak_is_the_weights_and_the_hungriest_phase():
    estimate = MemoryEstimate(
        weights_bytes=10, guiding_bytes=5, denoising_bytes=7, decoding_bytes=1, disk_bytes=99
    )
    assert estimate.peak_bytes == 17


def test_weights_are_counted_to_the_byte(loaded, tiny_request):
    files = loaded.folder.rglob("*.safetensors")
    stored = sum(file.stat().st_size for file in files)
    assert estimate_memory(loaded, tiny_request).weights_bytes == pytest.approx(stored, rel=0.1)


@pytest.mark.parametrize(
    ("saving", "phase"),
    [
        (Saving.CHECKPOINTING, "guiding_bytes"),
        (Saving.SMALLER_MAPS, "guiding_bytes"),
        (Saving.SEARCH, "guiding_bytes"),
        (Saving.OFFLOAD, "weights_bytes"),
        (Saving.OFFLOAD_LAYERS, "weights_bytes"),
        (Saving.TILING, "decoding_bytes"),
    ],
    ids=lambda each: getattr(each, "value", each),
)
def test_every_saving_lowers_its_phase(loaded, guided, saving, phase):
    large = replace(guided, width=2048, height=2048)
    before = getattr(estimate_memory(loaded, large), phase)
    assert getattr(estimate_memory(loaded, spare(large, saving)), phase) < before


def test_a_loss_that_reads_the_finer_decoder_keeps_more(loaded, guided):
    further = with_values(guided, guidance=replace(GUIDED, method_id="infsplign"))
    assert (
        estimate_memory(loaded, further).guiding_bytes
        > estimate_memory(loaded, guided).guiding_bytes
    )


def test_particles_that_share_a_call_take_memory_together(loaded, tiny_request):
    plain = estimate_memory(loaded, tiny_request)
    steered = replace(tiny_request, steering=Steering(particles=3))
    three = estimate_memory(loaded, steered)
    assert three.denoising_bytes == 3 * plain.denoising_bytes
    assert three.decoding_bytes > plain.decoding_bytes
    large = replace(steered, height=1024, width=1024)
    alone = replace(large, steering=Steering())
    assert (
        estimate_memory(loaded, large).denoising_bytes
        == estimate_memory(loaded, alone).denoising_bytes
    )


def test_no_guidance_keeps_nothing_for_a_gradient(loaded, tiny_request):
    assert estimate_memory(loaded, tiny_request).guiding_bytes == 0


def test_the_mildest_saving_that_fits_is_offered(loaded, guided):
    large = replace(guided, width=1024, height=1024)
    savings = usable_savings(loaded, large)
    peaks = {saving: estimate_memory(loaded, spare(large, saving)).peak_bytes for saving in savings}
    assert savings[0] is Saving.CHECKPOINTING
    assert ways_to_fit(loaded, large, peaks[savings[0]])[0] == (savings[0],)


def test_every_saving_that_fits_alone_is_listed(loaded, guided):
    large = replace(guided, width=1024, height=1024)
    savings = usable_savings(loaded, large)
    plenty = estimate_memory(loaded, large).peak_bytes
    alone = [way for way in ways_to_fit(loaded, large, plenty) if len(way) == 1]
    assert alone == [(saving,) for saving in savings]
    assert ways_to_fit(loaded, large, 1) == ()


def test_the_time_that_checkpointing_takes_may_be_given_back(loaded, guided):
    large = replace(guided, width=1024, height=1024)
    enough = estimate_memory(loaded, spare(large, Saving.CHECKPOINTING)).peak_bytes
    first, second, *_ = ways_to_fit(loaded, large, enough)
    assert first == (Saving.CHECKPOINTING,)
    assert second == (Saving.CHECKPOINTING, Saving.EVERY_SECOND_STEP)


@pytest.mark.parametrize(
    ("every", "savings"),
    [(2, ()), (1, (Saving.EVERY_SECOND_STEP,)), (1, (Saving.CHECKPOINTING,))],
    ids=["guides seldom already", "was chosen already", "takes no time"],
)
def test_half_of_the_guided_steps_is_offered_only_where_it_gives_back(
    loaded, guided, every, savings
):
    seldom = replace(GUIDED, every=every)
    large = with_values(guided, width=1024, height=1024, guidance=seldom, savings=savings)
    plenty = 2 * estimate_memory(loaded, large).peak_bytes
    offered = ways_to_fit(loaded, large, plenty)
    assert offered
    assert not any(Saving.EVERY_SECOND_STEP in way for way in offered)


def test_savings_that_fit_only_together_are_offered_together(loaded, guided):
    large = replace(guided, width=1024, height=1024)
    savings = usable_savings(loaded, large)
    least = estimate_memory(loaded, spare(large, *savings)).peak_bytes
    (chosen,) = ways_to_fit(loaded, large, least)
    assert estimate_memory(loaded, spare(large, *chosen)).peak_bytes == least


@pytest.fixture(scope="module")
def shapes_only():
    return FakeTensorMode()


@pytest.fixture(scope="module")
def large_unet(shapes_only):
    """The UNet of Stable Diffusion 1.x, as shapes without values."""
    with shapes_only:
        unet = diffusers.UNet2DConditionModel(sample_size=64, cross_attention_dim=768)
        return unet.requires_grad_(False)


@pytest.fixture
def large(large_unet):
    autoencoder = diffusers.AutoencoderKL(norm_num_groups=1, block_out_channels=(1, 1, 1, 1))
    encoder = SimpleNamespace(config=CLIPTextConfig(), get_output_embeddings=lambda: None)
    pipeline = SimpleNamespace(
        unet=large_unet,
        text_encoder=encoder,
        vae=autoencoder,
        vae_scale_factor=8,
        components={"tokenizer": SimpleNamespace(model_max_length=TEXT)},
    )
    family = FAMILIES["StableDiffusionPipeline"]
    return LoadedPipeline(pipeline, family, None, torch.device("cpu"), None, None)


def test_the_estimate_is_near_what_a_guiding_pass_keeps(large, shapes_only, guided):
    estimate = estimate_memory(large, replace(guided, width=512, height=512))
    with shapes_only:
        kept = kept_bytes(large)
    assert estimate.guiding_bytes == pytest.approx(kept, rel=0.15)


@pytest.mark.parametrize("side", [256, 512, 1024])
def test_the_estimate_is_near_what_a_denoising_pass_holds(large, shapes_only, tiny_request, side):
    told = estimate_memory(large, replace(tiny_request, width=side, height=side)).denoising_bytes
    with shapes_only:
        sample, text = torch.empty(2, 4, side // 8, side // 8), torch.empty(2, TEXT, 768)
        taken = held_bytes(large.denoiser, sample, torch.empty(1), text)
    assert 0.9 < told / taken < 1.2


@pytest.mark.parametrize("side", [64, 96, 256])
def test_the_estimate_is_near_what_a_tiny_model_holds(loaded, tiny_request, side):
    told = estimate_memory(loaded, replace(tiny_request, width=side, height=side)).denoising_bytes
    latents = torch.zeros(2, 4, *loaded.latent_size(side, side))
    text = torch.zeros(2, loaded.streams[0].limit, loaded.denoiser.config.cross_attention_dim)
    taken = held_bytes(loaded.denoiser, latents, torch.zeros(1), text)
    assert 0.67 < told / taken < 1.5


@pytest.mark.parametrize("autoencoder", [diffusers.AutoencoderKL, diffusers.AutoencoderTiny])
def test_the_estimate_is_near_what_decoding_holds(large, shapes_only, tiny_request, autoencoder):
    sizes = {diffusers.AutoencoderKL: PUBLISHED_AUTOENCODER}.get(autoencoder, {})
    with shapes_only:
        large.pipeline.vae = autoencoder(**sizes).requires_grad_(False).eval()
        latents = torch.empty(1, large.pipeline.vae.config.latent_channels, 64, 64)
        picture = 12 * 4 * 512 * 512
        taken = held_bytes(large.pipeline.vae.decoder, latents) + picture
    told = estimate_memory(large, replace(tiny_request, width=512, height=512)).decoding_bytes
    assert 0.8 < told / taken < 1.3


def kept_bytes(loaded):
    """Count the tensors that a guiding pass saves for its gradient."""
    weights = {each.untyped_storage()._cdata for each in loaded.denoiser.parameters()}
    kept, sizes = [], {}

    def keep(tensor):
        storage = tensor.untyped_storage()
        kept.append(tensor)
        sizes[storage._cdata] = 0 if storage._cdata in weights else storage.nbytes()
        return tensor

    layers = loaded.guiding_layers
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda each: each):
        sample = torch.empty(1, 4, 64, 64, requires_grad=True)
        mean = MeanAttention((5, 9))
        with tapped(layers, mean.take, stops_early=True):
            loaded.denoiser(sample, torch.empty(1), torch.empty(1, TEXT, 768))
        assert mean.mean().shape[-1] == 16 * 16 == map_size(64, 64, 2)[0] ** 2
    return sum(sizes.values())


@pytest.mark.parametrize(
    ("free_bytes", "hint"),
    [(10**12, ": this needs about"), (0, "smaller picture"), (None, "smaller")],
    ids=["much is free", "nothing is free", "nobody knows"],
)
def test_when_memory_runs_out_what_fits_is_offered_and_the_next_picture_is_drawn(
    backend, tiny_model, one_step, monkeypatch, free_bytes, hint
):
    monkeypatch.setattr(memory_estimate, "available_memory_bytes", lambda _: free_bytes)
    before = events_of(backend, one_step, tiny_model)
    failing = backend._loaded.denoiser.conv_in.register_forward_pre_hook(run_out)
    with pytest.raises(memory_estimate.OutOfMemory) as told:
        events_of(backend, one_step, tiny_model)
    failing.remove()
    assert hint in told.value.hint
    after = events_of(backend, one_step, tiny_model)
    assert (after[-1].image == before[-1].image).all()


LARGE = {"width": 1024, "height": 1024}
CPU = torch.device("cpu")


def fixes_for(loaded, request, monkeypatch, free_bytes):
    monkeypatch.setattr(memory_estimate, "available_memory_bytes", lambda _: free_bytes)
    return memory_estimate.out_of_memory(loaded, request, CPU).fixes


def test_what_is_offered_takes_clearly_less_than_what_failed(loaded, guided, monkeypatch):
    large = replace(guided, **LARGE)
    fixes = fixes_for(loaded, large, monkeypatch, 10**12)
    failed = estimate_memory(loaded, large).peak_bytes
    assert fixes
    assert all(fix.peak_bytes < 0.95 * failed for fix in fixes)
    assert all(
        estimate_memory(loaded, with_memory_fix(large, x)).peak_bytes == x.peak_bytes for x in fixes
    )


def test_where_no_saving_helps_the_largest_picture_that_fits_is_offered(
    loaded, guided, monkeypatch
):
    half = replace(guided, width=512, height=512)
    free = estimate_memory(loaded, half).peak_bytes - estimate_memory(loaded, half).weights_bytes
    (*_, last) = fixes_for(loaded, replace(guided, **LARGE), monkeypatch, free)
    assert last.size == (512, 512)


def test_where_nothing_is_sure_to_fit_half_the_picture_is_offered(loaded, guided, monkeypatch):
    fixes = fixes_for(loaded, replace(guided, width=1024, height=768), monkeypatch, 0)
    assert [fix.size for fix in fixes] == [(384, 512)]


def run_out(*_, **__):
    raise torch.OutOfMemoryError("CUDA out of memory.")


def of_denoiser(monkeypatch, pipeline, *, with_gradient):
    forward = pipeline.unet.forward

    def denoise(*args, **kwargs):
        return run_out() if torch.is_grad_enabled() is with_gradient else forward(*args, **kwargs)

    monkeypatch.setattr(pipeline.unet, "forward", denoise)


PHASES = {
    "loading": lambda patch, _: patch.setattr(load_pipeline, "read_pipeline", run_out),
    "encoding": lambda patch, drawing: patch.setattr(drawing.text_encoder, "forward", run_out),
    "guiding": partial(of_denoiser, with_gradient=True),
    "the gradient": lambda patch, _: patch.setattr(torch.autograd, "grad", run_out),
    "denoising": partial(of_denoiser, with_gradient=False),
    "decoding": lambda patch, drawing: patch.setattr(drawing.vae, "decode", run_out),
}


@pytest.mark.parametrize("runs_out", PHASES.values(), ids=PHASES)
def test_in_whatever_phase_memory_runs_out_the_next_picture_is_drawn(
    backend, tiny_model, one_step, monkeypatch, runs_out
):
    before = events_of(backend, one_step, tiny_model)
    pipeline = backend._loaded.pipeline
    if runs_out is PHASES["loading"]:
        backend._loaded = None
    with monkeypatch.context() as patch:
        runs_out(patch, pipeline)
        with pytest.raises(memory_estimate.OutOfMemory):
            events_of(backend, one_step, tiny_model)
    after = events_of(backend, one_step, tiny_model)
    assert (after[-1].image == before[-1].image).all()


def test_a_run_tells_its_memory_before_the_first_step(backend, tiny_model, guided):
    started = events_of(backend, guided, tiny_model)[0]
    assert started.memory.peak_bytes > started.memory.weights_bytes > 0


@pytest.mark.parametrize("saving", [Saving.SMALLER_MAPS, Saving.TILING, Saving.PROCESSOR])
def test_savings_of_the_backend_still_draw(backend, tiny_model, one_step, saving):
    *_, finished = events_of(backend, spare(one_step, saving), tiny_model)
    assert finished.image.shape == (128, 128, 3)


def test_smaller_maps_are_smaller(backend, tiny_model, guided):
    events = events_of(backend, spare(guided, Saving.SMALLER_MAPS), tiny_model)
    step = next(event for event in events if isinstance(event, StepEvent))
    assert {weights.shape for weights in step.attention.maps.values()} == {(8, 8)}
