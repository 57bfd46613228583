"""Memory estimate of a run from the shapes of its model, before it starts.

The constants are counted tensor by tensor on published and on tiny configurations: what guiding
passes save for the gradient, with frozen weights, up to the last layer that is read; and the peak
of live tensors in passes without gradients. The constants below and in the families are these
counts, in values per position and channel.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from math import lcm
from typing import Any

import torch
from diffusers import AutoencoderTiny
from diffusers.models.resnet import ResnetBlock2D

from spatialstudio.adapters.device import DTYPES, available_memory_bytes
from spatialstudio.adapters.diffusion.attention_layers import AttentionLayer, map_size
from spatialstudio.adapters.diffusion.denoiser_call import BatchOrder
from spatialstudio.adapters.diffusion.guidable_pipeline import size_of_weights
from spatialstudio.adapters.diffusion.load_pipeline import LoadedPipeline
from spatialstudio.adapters.diffusion.particles import particles_at_once
from spatialstudio.adapters.diffusion.pipeline_arguments import picture_size
from spatialstudio.adapters.diffusion.text_streams import TextStream
from spatialstudio.domain.derived_requests import with_memory_fix
from spatialstudio.domain.devices import (
    MemoryEstimate,
    MemoryFix,
    Saving,
    size_in_words,
)
from spatialstudio.domain.errors import OutOfMemory
from spatialstudio.domain.generation import UNGUIDED, GenerationRequest
from spatialstudio.domain.run_settings import with_values
from spatialstudio.domain.samplers import SCALE_OFF
from spatialstudio.science.guidance.methods import GUIDANCE_METHODS

FLOAT32_BYTES = 4
KEYS_AND_VALUES = 2
HELD_STATES = 2
HELD_BY_FEED_FORWARD = 5
MASK_BYTES = 8
"""Per token pair, independent of the number of heads."""

RELATIVE_PLACES = "relative_attention_num_buckets"
SPELLED_OUT = (RELATIVE_PLACES, "attn_logit_softcapping")
"""Configuration fields of encoders whose attention cannot be fused: T5 and Gemma."""

BUCKET_BYTES = 40
"""Per token pair, independent of the number of heads: several integer tensors."""


def encoding_bytes(loaded: LoadedPipeline, item: int) -> int:
    """Return the peak memory of a text encoder besides its weights; encoders run in turn.

    Args:
        loaded: The model.
        item: Bytes per value.
    """
    return max(_held(loaded.pipeline, stream, item) for stream in loaded.streams)


def _held(pipeline: Any, stream: TextStream, item: int) -> int:
    encoder, length = getattr(pipeline, stream.encoder_id), stream.limit
    shape = encoder.config.get_text_config()
    inner = getattr(shape, "intermediate_size", None) or shape.d_ff
    vocabulary = shape.vocab_size if encoder.get_output_embeddings() is not None else 0
    feeding = length * item * (HELD_STATES * shape.hidden_size + HELD_BY_FEED_FORWARD * inner)
    attending = length**2 * _bytes_a_pair(shape, item)
    kept = shape.num_hidden_layers * length * item * _kept_by_layer(shape, stream)
    return int(kept + max(feeding, attending, length * item * vocabulary))


def _kept_by_layer(shape: Any, stream: TextStream) -> int:
    states = shape.hidden_size if stream.keeps_layers else 0
    heads = getattr(shape, "num_key_value_heads", 0)
    return int(states + (KEYS_AND_VALUES * heads * _head_size(shape) if heads else 0))


def _head_size(shape: Any) -> int:
    head_dim = getattr(shape, "head_dim", None)
    return int(head_dim or shape.hidden_size // shape.num_attention_heads)


def _bytes_a_pair(shape: Any, item: int) -> int:
    """Return the attention memory per token pair."""
    if not any(hasattr(shape, name) for name in SPELLED_OUT):
        return MASK_BYTES
    scores = int(shape.num_attention_heads) * (2 * item + FLOAT32_BYTES)
    return scores + (BUCKET_BYTES if hasattr(shape, RELATIVE_PLACES) else MASK_BYTES)


KEPT_BY_RESNET = 11.2
KEPT_BY_TRANSFORMER = 18.6
"""For a UNet's transformer block."""

CHECKPOINTED_UNET = 0.6
HELD_BY_READING = 2
"""Copies of a layer's probabilities during reading or backpropagation."""

HELD_BY_GATED = 26
"""Live values in the gated feed-forward of a UNet block, 16 of which are its own."""

HELD_BY_RESNET = 16
"""Live values in a UNet's last resnet, if the finest level has no attention."""

HELD_BY_TINY_DECODER = 3.0
"""Per pixel and channel; the families' values are for much larger autoencoders."""

PICTURE_VALUES = 12
"""Per pixel, in float32: the finished picture and its copies during conversion to bytes."""

TILE_SIDE = 512


def estimate_memory(loaded: LoadedPipeline, request: GenerationRequest) -> MemoryEstimate:
    """Estimate the memory of a request, including its savings.

    Args:
        loaded: The model.
        request: The request to generate.
    """
    height, width = picture_size(loaded, request)
    latent_size = loaded.latent_size(height, width)
    item = _item_bytes(loaded, request)
    stored = _stored_bytes(loaded, request)
    return MemoryEstimate(
        weights_bytes=stored * item // loaded.denoiser.dtype.itemsize,
        guiding_bytes=_guiding_bytes(loaded, request, latent_size),
        denoising_bytes=_denoising_bytes(loaded, request, latent_size),
        decoding_bytes=_decoding_bytes(loaded, request, height, width),
        encoding_bytes=encoding_bytes(loaded, item),
    )


def _stored_bytes(loaded: LoadedPipeline, request: GenerationRequest) -> int:
    """Return the peak size of the weights on the device.

    Where layers are offloaded, a guiding pass still holds the denoiser's weights for its gradient.
    """
    savings = request.sampling.savings
    if Saving.OFFLOAD_LAYERS in savings:
        has_gradient = request.sampling.guidance.method_id != UNGUIDED
        is_held = has_gradient and Saving.SEARCH not in savings
        return size_of_weights(loaded.denoiser) if is_held else loaded.largest_layer
    return max(loaded.part_sizes) if Saving.OFFLOAD in savings else sum(loaded.part_sizes)


def ways_to_fit(
    loaded: LoadedPipeline, request: GenerationRequest, available_bytes: int
) -> tuple[tuple[Saving, ...], ...]:
    """List savings that would make a request fit, mildest first.

    Args:
        loaded: The model.
        request: The request that did not fit.
        available_bytes: Budget of the whole run, weights included.

    Returns:
        Each further saving that suffices alone; if there is none, the
        smallest combination that fits; empty if nothing helps on this device. Checkpointing, which
        costs time, is listed again with half of the guided steps, which saves time but no memory.
    """
    given_up = request.sampling.savings
    left = [saving for saving in usable_savings(loaded, request) if saving not in given_up]
    ways = [way for saving in left for way in _ways_with(saving, request)]

    def fits(chosen: tuple[Saving, ...]) -> bool:
        trial = _with_savings(request, (*given_up, *chosen))
        return estimate_memory(loaded, trial).peak_bytes <= available_bytes

    together = (tuple(left[: count + 1]) for count in range(1, len(left)))
    return tuple(filter(fits, ways)) or tuple(islice(filter(fits, together), 1))


def usable_savings(loaded: LoadedPipeline, request: GenerationRequest) -> tuple[Saving, ...]:
    """List the savings of memory that affect a request, mildest first."""
    is_guided = request.sampling.guidance.method_id != UNGUIDED
    has_accelerator = loaded.device.type != "cpu"
    usable = {
        Saving.CHECKPOINTING: is_guided,
        Saving.SMALLER_MAPS: is_guided,
        Saving.SEARCH: is_guided,
        Saving.TILING: hasattr(loaded.pipeline.vae, "enable_tiling"),
        Saving.OFFLOAD: has_accelerator,
        Saving.OFFLOAD_LAYERS: has_accelerator,
    }
    return tuple(saving for saving in Saving if usable.get(saving, False))


def _with_savings(request: GenerationRequest, savings: tuple[Saving, ...]) -> GenerationRequest:
    return with_values(request, savings=savings)


def _ways_with(saving: Saving, request: GenerationRequest) -> Iterator[tuple[Saving, ...]]:
    yield (saving,)
    asked = request.sampling
    guides_all = asked.guidance.every == 1 and Saving.EVERY_SECOND_STEP not in asked.savings
    if saving is Saving.CHECKPOINTING and guides_all:
        yield saving, Saving.EVERY_SECOND_STEP


def _guiding_bytes(
    loaded: LoadedPipeline, request: GenerationRequest, latent_size: tuple[int, int]
) -> int:
    if request.sampling.guidance.method_id == UNGUIDED or Saving.SEARCH in request.sampling.savings:
        return 0
    layers = _layers_read(loaded, request)
    last = max(layers, key=loaded.text_layers.index)
    text = _text_length(loaded, request)
    read = [_probabilities(layer, latent_size, text) for layer in layers]
    asked = request.sampling
    is_spared = asked.guidance.checkpointing or Saving.CHECKPOINTING in asked.savings
    kept = (
        _kept_by_unet(loaded, last, latent_size, is_spared=is_spared)
        if loaded.is_unet
        else _kept_by_transformer(loaded, last, latent_size, text, is_spared=is_spared)
    )
    attention = sum(read) + HELD_BY_READING * max(read)
    return int(kept * _item_bytes(loaded, request) + attention * FLOAT32_BYTES)


def _denoising_bytes(
    loaded: LoadedPipeline, request: GenerationRequest, latent_size: tuple[int, int]
) -> int:
    """Return the memory of an ordinary pass, which may hold both halves of a prediction."""
    is_alone = loaded.family.calls.order is BatchOrder.APART or request.guidance_scale <= SCALE_OFF
    pictures = min(request.steering.particles, particles_at_once(latent_size))
    rows, item = pictures * (1 if is_alone else 2), _item_bytes(loaded, request)
    held = rows * item * _held_values(loaded, request, latent_size)
    is_plain = request.sampling.guidance.method_id == UNGUIDED and not request.steering.is_on
    if request.capture.attention_every == 0 and is_plain:
        return int(held)
    text, layers = _text_length(loaded, request), _layers_read(loaded, request)
    read = max(_probabilities(layer, latent_size, text) for layer in layers)
    return int(held + pictures * HELD_BY_READING * read * FLOAT32_BYTES)


def _item_bytes(loaded: LoadedPipeline, request: GenerationRequest) -> int:
    return int(_dtype(loaded, request).itemsize)


def _dtype(loaded: LoadedPipeline, request: GenerationRequest) -> torch.dtype:
    """Return the requested data type, else that of the loaded model."""
    return DTYPES.get(request.sampling.dtype, loaded.denoiser.dtype)


def _layers_read(loaded: LoadedPipeline, request: GenerationRequest) -> Sequence[AttentionLayer]:
    smaller = Saving.SMALLER_MAPS in request.sampling.savings
    method_id = request.sampling.guidance.method_id
    reads_decoder = method_id in GUIDANCE_METHODS and GUIDANCE_METHODS[method_id].reads_decoder
    levels = loaded.decoder_to_read(smaller=smaller) if reads_decoder else ()
    names = request.sampling.guidance.layers
    chosen = [layer for layer in loaded.text_layers if layer.name in names]
    usual = chosen or loaded.layers_to_read(smaller=smaller)
    return [*usual, *(one for level in levels for one in level)]


def _kept_by_unet(
    loaded: LoadedPipeline, last: AttentionLayer, latent_size: tuple[int, int], *, is_spared: bool
) -> float:
    """Count the values that blocks save for the gradient, up to the last layer that is read."""
    end = _block_of(last.name)
    before = [layer for layer in loaded.text_layers if _place(_block_of(layer.name)) <= _place(end)]
    blocks = sum(
        KEPT_BY_TRANSFORMER * _channels(layer) * _positions(latent_size, layer.level)
        for layer in before
    )
    levels = len(loaded.denoiser.config.block_out_channels)
    resnets = sum(
        KEPT_BY_RESNET * module.out_channels * _positions(latent_size, _level(name, levels))
        for name, module in loaded.denoiser.named_modules()
        if isinstance(module, ResnetBlock2D) and _place(_block_of(name)) <= _place(end)
    )
    return (blocks + resnets) * (CHECKPOINTED_UNET if is_spared else 1)


def _kept_by_transformer(
    loaded: LoadedPipeline,
    last: AttentionLayer,
    latent_size: tuple[int, int],
    text: int,
    *,
    is_spared: bool,
) -> float:
    before = len(getattr(loaded.denoiser, "noise_refiner", ()))
    blocks = before + 1 + [layer.name for layer in loaded.text_layers].index(last.name)
    a_value_each = _channels(last) * (_positions(latent_size, last.level) + text)
    kept = loaded.family.kept_by_block
    return a_value_each * (blocks + kept if is_spared else blocks * kept)


def _block_of(name: str) -> str:
    """Return "down_blocks.1" of "down_blocks.1.resnets.0"."""
    first, second, *_ = name.split(".")
    return first if first == "mid_block" else f"{first}.{second}"


def _place(block: str) -> tuple[int, str]:
    return ("down_blocks", "mid_block", "up_blocks").index(block.split(".")[0]), block


def _level(name: str, levels: int) -> int:
    block = _block_of(name)
    if block == "mid_block":
        return levels - 1
    number = int(block.split(".")[1])
    return number if block.startswith("down") else levels - 1 - number


def _positions(latent_size: tuple[int, int], level: int) -> int:
    height, width = map_size(*latent_size, level)
    return height * width


def _channels(layer: AttentionLayer) -> int:
    return int(layer.module.inner_dim)  # type: ignore[arg-type]


def _probabilities(layer: AttentionLayer, latent_size: tuple[int, int], text: int) -> int:
    heads = int(layer.module.heads)  # type: ignore[arg-type]
    return heads * _positions(latent_size, layer.level) * text


def _text_length(loaded: LoadedPipeline, request: GenerationRequest) -> int:
    """Return the number of text positions that the denoiser attends to."""
    prompt = request.scene.prompt.text
    return max(stream.first + stream.length(prompt) for stream in loaded.streams)


def _held_values(
    loaded: LoadedPipeline, request: GenerationRequest, latent_size: tuple[int, int]
) -> float:
    """Count the peak of live values of one row in a pass without gradients."""
    text = 0 if loaded.is_unet else _text_length(loaded, request)
    widest = max(
        _channels(layer) * (_positions(latent_size, layer.level) + text)
        for layer in loaded.text_layers
    )
    if not loaded.is_unet:
        return loaded.family.held_by_pass * widest
    finest = int(loaded.denoiser.config.block_out_channels[0]) * _positions(latent_size, 0)
    return max(HELD_BY_GATED * widest, HELD_BY_RESNET * finest)


def _decoding_bytes(
    loaded: LoadedPipeline, request: GenerationRequest, height: int, width: int
) -> int:
    """Return the memory of decoding; SDXL upcasts a float16 autoencoder to float32."""
    vae, item = loaded.pipeline.vae, _item_bytes(loaded, request)
    if hasattr(loaded.pipeline, "upcast_vae") and vae.config.force_upcast:
        item = FLOAT32_BYTES if _dtype(loaded, request) is torch.float16 else item
    pictures = request.steering.particles
    picture = PICTURE_VALUES * FLOAT32_BYTES * height * width * pictures
    return item * _decoded_values(loaded, request, height, width) + picture


def _decoded_values(
    loaded: LoadedPipeline, request: GenerationRequest, height: int, width: int
) -> int:
    pixels = height * width
    if Saving.TILING in request.sampling.savings:
        pixels = min(pixels, TILE_SIDE**2)
    autoencoder = loaded.pipeline.vae
    weights = [part for part in autoencoder.decoder.parameters() if part.ndim > 1]
    channels = weights[-1].shape[1] if weights else 1
    is_tiny = isinstance(autoencoder, AutoencoderTiny)
    held = HELD_BY_TINY_DECODER if is_tiny else loaded.family.held_by_decoder
    return int(held * channels * pixels)


MOST_FIXES = 3
SIDE_UNIT = 64
"""Sides of smaller pictures are multiples of this, pixels."""
SMALLER_SIDES = (0.75, 0.5, 0.375, 0.25, 0.125)
"""Fractions of the requested sides."""
CLEARLY_LESS = 0.9
"""Fraction of the peak that failed, whatever is reported as free, since estimates are rough."""
MESSAGE = "The device has too little memory for this picture."
LAST_RESORT = "Choose a smaller picture or model, or close other programs."


@contextmanager
def tiled(autoencoder: Any, *, is_wanted: bool) -> Iterator[None]:
    """Enable tiling in the block if requested and supported by the autoencoder."""
    if not is_wanted or not hasattr(autoencoder, "enable_tiling"):
        yield
        return
    autoencoder.enable_tiling()
    try:
        yield
    finally:
        autoencoder.disable_tiling()


def out_of_memory(
    loaded: LoadedPipeline | None, request: GenerationRequest, device: torch.device
) -> OutOfMemory:
    """Return an error that suggests what would fit; call it after the run's memory is freed.

    Args:
        loaded: The model; None if the model itself did not fit.
        request: The request that ran out of memory.
        device: The device that ran out of memory.
    """
    free = available_memory_bytes(device)
    unsure = OutOfMemory(
        MESSAGE, hint=_hint_without_model(device), fixes=_last_fixes(request, device)
    )
    if loaded is None or free is None:
        return unsure
    failed = estimate_memory(loaded, request)
    available = free + estimate_memory(loaded, _with_savings(request, ())).weights_bytes
    for_passes = failed.peak_bytes - failed.weights_bytes
    limit = min(available, failed.weights_bytes + round(CLEARLY_LESS * for_passes))
    trials = (MemoryFix(savings=chosen) for chosen in ways_to_fit(loaded, request, limit))
    fixes = [_estimated(loaded, request, trial) for trial in trials]
    smaller = _smaller_pictures(loaded, request, limit)
    fixes = [*fixes[: MOST_FIXES - len(smaller)], *smaller]
    if not fixes:
        return unsure
    return OutOfMemory(
        MESSAGE,
        hint=f"It needs about {size_in_words(failed.peak_bytes)}, and "
        f"{size_in_words(available)} are available. {_in_words(fixes[0])}: this needs "
        f"about {size_in_words(fixes[0].peak_bytes or 0)}.",
        fixes=tuple(fixes),
    )


def _in_words(fix: MemoryFix) -> str:
    if fix.size is not None:
        height, width = fix.size
        return f"Generate {width} x {height} pixels"
    return "Save memory by " + ", ".join(f'"{saving.value}"' for saving in fix.savings)


def _smaller_pictures(
    loaded: LoadedPipeline, request: GenerationRequest, limit_bytes: int
) -> tuple[MemoryFix, ...]:
    """Return the largest picture of the same aspect ratio that fits, if any does."""
    asked, unit = picture_size(loaded, request), lcm(loaded.side_multiple, SIDE_UNIT)
    for share in SMALLER_SIDES:
        height, width = (max(unit, int(side * share) // unit * unit) for side in asked)
        if (height, width) != asked:
            fix = _estimated(loaded, request, MemoryFix(size=(height, width)))
            if (fix.peak_bytes or 0) <= limit_bytes:
                return (fix,)
    return ()


def _estimated(loaded: LoadedPipeline, request: GenerationRequest, fix: MemoryFix) -> MemoryFix:
    trial = with_memory_fix(request, fix)
    return replace(fix, peak_bytes=estimate_memory(loaded, trial).peak_bytes)


def _last_fixes(request: GenerationRequest, device: torch.device) -> tuple[MemoryFix, ...]:
    """Return generic fixes for when no estimate is possible."""
    savings = () if device.type == "cpu" else (Saving.OFFLOAD, Saving.PROCESSOR)
    fixes = tuple(MemoryFix(savings=(saving,)) for saving in savings)
    asked = request.height or 0, request.width or 0
    height, width = (side // 2 // SIDE_UNIT * SIDE_UNIT for side in asked)
    return (*fixes, MemoryFix(size=(height, width))) if height and width else fixes


def _hint_without_model(device: torch.device) -> str:
    if device.type == "cpu":
        return LAST_RESORT
    ways = f'"{Saving.OFFLOAD.value}" or "{Saving.PROCESSOR.value}"'
    return f"Save memory by {ways}. {LAST_RESORT}"
