"""How much memory a run needs, told from the shape of its model before it starts.

Everything was counted on the published configurations and on tiny ones, tensor by tensor: what
guiding passes save for the gradient, weights frozen, up to the last layer that is read; and what
lives at the same time in passes without gradients. The shares below and those of the families are
these counts, in values a position and channel.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

import torch
from diffusers import AutoencoderTiny
from diffusers.models.resnet import ResnetBlock2D

from spatialstudio.adapters.backends.attention_layers import AttentionLayer, map_size
from spatialstudio.adapters.backends.denoiser_call import BatchOrder
from spatialstudio.adapters.backends.encoder_memory import encoding_bytes
from spatialstudio.adapters.backends.load_pipeline import LoadedPipeline
from spatialstudio.adapters.backends.pipeline_arguments import picture_size
from spatialstudio.adapters.device import DTYPES
from spatialstudio.domain.generation import UNGUIDED, GenerationRequest
from spatialstudio.domain.memory import MemoryEstimate, Saving
from spatialstudio.domain.samplers import SCALE_OFF
from spatialstudio.science.guidance_methods import METHODS

KEPT_BY_RESNET = 11.2
KEPT_BY_TRANSFORMER = 18.6
"""Of a UNet's transformer block."""

CHECKPOINTED_UNET = 0.6
HELD_BY_READING = 2
"""Of a layer's probabilities, while they are read, or passed back."""

HELD_BY_GATED = 26
"""Live at the same time where a UNet's block runs its gated feed-forward: 16 are its own."""

HELD_BY_RESNET = 16
"""The same in a UNet's last resnet, where the finest level has no attention."""

HELD_BY_TINY_DECODER = 3.0
"""A pixel and channel; those of families are much larger autoencoders'."""

PICTURE_VALUES = 12
"""A pixel, in full precision: the finished picture and its copies on the way to bytes."""

TILE_SIDE = 512
FLOAT32_BYTES = 4


def estimate_memory(loaded: LoadedPipeline, request: GenerationRequest) -> MemoryEstimate:
    """Estimate what a request takes, its savings counted in.

    Args:
        loaded: The model.
        request: As it would be drawn.
    """
    height, width = picture_size(loaded, request)
    latent_size = loaded.latent_size(height, width)
    sizes = loaded.part_sizes
    waits = Saving.OFFLOAD in request.savings
    item = _item_bytes(loaded, request)
    stored = max(sizes) if waits else sum(sizes)
    return MemoryEstimate(
        weights_bytes=stored * item // loaded.denoiser.dtype.itemsize,
        guiding_bytes=_guiding_bytes(loaded, request, latent_size),
        denoising_bytes=_denoising_bytes(loaded, request, latent_size),
        decoding_bytes=_decoding_bytes(loaded, request, height, width),
        encoding_bytes=encoding_bytes(loaded, item),
    )


def ways_to_fit(
    loaded: LoadedPipeline, request: GenerationRequest, available_bytes: int
) -> tuple[tuple[Saving, ...], ...]:
    """List savings that would make a request fit, mildest first.

    Args:
        loaded: The model.
        request: That did not fit.
        available_bytes: For all of the run, weights included.

    Returns:
        Beside those of the request, each that fits alone; where there is none, the fewest that fit
        together; empty when nothing helps on this device. Checkpointing, which takes time, is
        listed again with half of the guided steps, which gives it back and spares no memory.
    """
    left = [saving for saving in usable_savings(loaded, request) if saving not in request.savings]
    ways = [way for saving in left for way in _ways_with(saving, request)]

    def fits(chosen: tuple[Saving, ...]) -> bool:
        trial = replace(request, savings=(*request.savings, *chosen))
        return estimate_memory(loaded, trial).peak_bytes <= available_bytes

    together = (tuple(left[: count + 1]) for count in range(1, len(left)))
    return tuple(filter(fits, ways)) or tuple(islice(filter(fits, together), 1))


def usable_savings(loaded: LoadedPipeline, request: GenerationRequest) -> tuple[Saving, ...]:
    """List the savings of memory that mean anything for a request, mildest first."""
    is_guided = request.guidance.method_id != UNGUIDED
    has_accelerator = loaded.device.type != "cpu"
    usable = {
        Saving.CHECKPOINTING: is_guided,
        Saving.SMALLER_MAPS: is_guided,
        Saving.SEARCH: is_guided,
        Saving.TILING: hasattr(loaded.pipeline.vae, "enable_tiling"),
        Saving.OFFLOAD: has_accelerator,
    }
    return tuple(saving for saving in Saving if usable.get(saving, False))


def _ways_with(saving: Saving, request: GenerationRequest) -> Iterator[tuple[Saving, ...]]:
    yield (saving,)
    guides_all = request.guidance.every == 1 and Saving.EVERY_SECOND_STEP not in request.savings
    if saving is Saving.CHECKPOINTING and guides_all:
        yield saving, Saving.EVERY_SECOND_STEP


def _guiding_bytes(
    loaded: LoadedPipeline, request: GenerationRequest, latent_size: tuple[int, int]
) -> int:
    if request.guidance.method_id == UNGUIDED or Saving.SEARCH in request.savings:
        return 0
    layers = _layers_read(loaded, request)
    last = max(layers, key=loaded.text_layers.index)
    text = _text_length(loaded, request)
    read = [_probabilities(layer, latent_size, text) for layer in layers]
    is_spared = request.guidance.checkpointing or Saving.CHECKPOINTING in request.savings
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
    """Count what an ordinary pass holds; both halves of a prediction may be made in one."""
    is_alone = loaded.family.calls.order is BatchOrder.APART or request.guidance_scale <= SCALE_OFF
    rows, item = 1 if is_alone else 2, _item_bytes(loaded, request)
    held = rows * item * _held_values(loaded, request, latent_size)
    if request.capture.attention_every == 0 and request.guidance.method_id == UNGUIDED:
        return int(held)
    text, layers = _text_length(loaded, request), _layers_read(loaded, request)
    read = max(_probabilities(layer, latent_size, text) for layer in layers)
    return int(held + HELD_BY_READING * read * FLOAT32_BYTES)


def _item_bytes(loaded: LoadedPipeline, request: GenerationRequest) -> int:
    return int(_dtype(loaded, request).itemsize)


def _dtype(loaded: LoadedPipeline, request: GenerationRequest) -> torch.dtype:
    """Return the number format that is asked for, else that of the model as it is loaded."""
    return DTYPES.get(request.dtype, loaded.denoiser.dtype)


def _layers_read(loaded: LoadedPipeline, request: GenerationRequest) -> Sequence[AttentionLayer]:
    smaller = Saving.SMALLER_MAPS in request.savings
    method = METHODS.get(request.guidance.method_id)
    reads_decoder = method is not None and method.reads_decoder
    levels = loaded.decoder_to_read(smaller=smaller) if reads_decoder else ()
    return [*loaded.layers_to_read(smaller=smaller), *(one for level in levels for one in level)]


def _kept_by_unet(
    loaded: LoadedPipeline, last: AttentionLayer, latent_size: tuple[int, int], *, is_spared: bool
) -> float:
    """Count the values that blocks keep up to the last layer that is read."""
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
    """Return to how many positions of text the denoiser attends."""
    prompt = request.scene.prompt.text
    return max(stream.first + stream.length(prompt) for stream in loaded.streams)


def _held_values(
    loaded: LoadedPipeline, request: GenerationRequest, latent_size: tuple[int, int]
) -> float:
    """Count the most values that live at the same time in a row's pass without gradients."""
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
    """Count what the autoencoder holds; that of SDXL gives float16 up for full precision."""
    vae, item = loaded.pipeline.vae, _item_bytes(loaded, request)
    if hasattr(loaded.pipeline, "upcast_vae") and vae.config.force_upcast:
        item = FLOAT32_BYTES if _dtype(loaded, request) is torch.float16 else item
    picture = PICTURE_VALUES * FLOAT32_BYTES * height * width
    return item * _decoded_values(loaded, request, height, width) + picture


def _decoded_values(
    loaded: LoadedPipeline, request: GenerationRequest, height: int, width: int
) -> int:
    pixels = height * width
    if Saving.TILING in request.savings:
        pixels = min(pixels, TILE_SIDE**2)
    autoencoder = loaded.pipeline.vae
    weights = [part for part in autoencoder.decoder.parameters() if part.ndim > 1]
    channels = weights[-1].shape[1] if weights else 1
    is_tiny = isinstance(autoencoder, AutoencoderTiny)
    held = HELD_BY_TINY_DECODER if is_tiny else loaded.family.held_by_decoder
    return int(held * channels * pixels)
