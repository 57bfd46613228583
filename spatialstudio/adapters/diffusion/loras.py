"""LoRAs of a run: put into a loaded pipeline with diffusers and peft, and taken off after it."""

import warnings
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import sqrt
from typing import Any

import torch
from safetensors import SafetensorError, safe_open

from spatialstudio.adapters.diffusion.invalid_numbers import InvalidNumbers, refuse_invalid
from spatialstudio.adapters.diffusion.load_pipeline import SIGNS_OF_DAMAGE, LoadedPipeline
from spatialstudio.adapters.models.identify_file import WIDTHS
from spatialstudio.adapters.models.lora_files import ALPHA, DOWN, PIPELINES, UP
from spatialstudio.adapters.models.model_settings import read_settings, settings_of
from spatialstudio.adapters.models.weight_hashes import hash_of_weights
from spatialstudio.domain.errors import BackendError, RequestError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import GenerationRequest
from spatialstudio.domain.ports import LoraCard, LoraCatalog
from spatialstudio.domain.safe_files import is_regular

SUPPORTED = ("StableDiffusionPipeline", "StableDiffusionXLPipeline", "FluxPipeline")
RAW_PEFT = "base_model.model."
KOHYA = ("lora_unet_", "lora_te", "lora_transformer_")
COMPONENTS = ("unet.", "transformer.", "text_encoder.", "text_encoder_2.")
OLDER = {f".to_{each}_lora.": f".to_{each}.lora." for each in "qkv"} | {
    ".to_out_lora.": ".to_out.0.lora."
}
OLDER_TEXT = {f".to_{each}_lora.": f".{each}_proj.lora." for each in ("q", "k", "v", "out")}
"""Former names of layers in diffusers, in denoisers and in text encoders."""

TEXT_ENCODER = "text_encoder"
DENOISER_NAMES = (".lora_A.weight", ".lora_B.weight")
TEXT_NAMES = (".lora_linear_layer.down.weight", ".lora_linear_layer.up.weight")
"""Ends of the names of A and B in denoisers and in text encoders."""

METADATA = "lora_adapter_metadata"
"""Entry in which diffusers stores the configuration of peft."""


@frozen
class ActiveLora:
    """A LoRA of a request that changes the model.

    Attributes:
        card: The LoRA.
        weight: Sum of its weights in the request, not 0.
    """

    card: LoraCard
    weight: float


def active_loras(
    request: GenerationRequest, catalog: LoraCatalog, loaded: LoadedPipeline
) -> tuple[ActiveLora, ...]:
    """Return the LoRAs of a request, each once; those of weight 0 are checked and left out.

    Raises:
        ModelNotFound: There is no such LoRA, or its file cannot be used.
        RequestError: It was trained for another family of models.
    """
    weights: defaultdict[str, float] = defaultdict(float)
    for use in request.sampling.loras:
        weights[use.name] += use.weight
    cards = {name: catalog.card(name) for name in weights}
    for card in cards.values():
        _refuse_other_family(card, loaded)
    return tuple(
        ActiveLora(card=card, weight=weights[name]) for name, card in cards.items() if weights[name]
    )


def lora_bytes(loras: Sequence[ActiveLora], item_bytes: int) -> int:
    """Return the size of LoRAs in memory at a number of bytes per weight."""
    return sum(each.card.numbers for each in loras) * item_bytes


def lora_hashes(loras: Sequence[ActiveLora]) -> Mapping[str, str] | None:
    """Return the sha256 of each LoRA's file by name; None without any."""
    return {each.card.name: hash_of_weights((each.card.file,)) for each in loras} or None


@contextmanager
def with_loras(loaded: LoadedPipeline, loras: Sequence[ActiveLora]) -> Iterator[None]:
    """Change a pipeline by LoRAs inside the block; afterwards its modules are the same as before.

    Without LoRAs, the pipeline is not touched.

    Raises:
        BackendError: A file is damaged.
        RequestError: A LoRA has layers that the model lacks, or of other sizes.
    """
    if not loras:
        yield
        return
    _ = loaded.part_sizes  # of the model alone
    pipeline = loaded.pipeline
    names = [f"lora_{number}" for number in range(len(loras))]
    try:
        for name, lora in zip(names, loras, strict=True):
            _load(loaded, name, lora.card)
        pipeline.set_adapters(names, [lora.weight for lora in loras])
        for part in loaded.modules:
            part.requires_grad_(False).eval()
        yield
    finally:
        pipeline.unload_lora_weights()


def _refuse_other_family(card: LoraCard, loaded: LoadedPipeline) -> None:
    own = family_name(loaded)
    if loaded.family.pipeline_class not in SUPPORTED:
        raise RequestError(
            f"LoRAs cannot be used with {own} models.",
            hint="Remove the LoRAs, or choose a Stable Diffusion or FLUX.1 model.",
        )
    if card.family and card.family != own:
        is_alike = PIPELINES.get(card.family) == loaded.family.pipeline_class
        if not is_alike or own in PIPELINES:
            raise _other_family(card, own)


def family_name(loaded: LoadedPipeline) -> str:
    """Return the family of a model as LoRAs name it, or a name of its pipeline class."""
    pipeline_class = loaded.family.pipeline_class
    width = getattr(loaded.denoiser.config, "cross_attention_dim", None)
    family = WIDTHS.get(width) if isinstance(width, int) else None
    if family and PIPELINES[family] == pipeline_class:
        return family
    usual = [family for family, name in PIPELINES.items() if name == pipeline_class]
    return usual[0] if len(usual) == 1 else "Stable Diffusion" if usual else pipeline_class


def _other_family(card: LoraCard, own: str) -> RequestError:
    return RequestError(
        f'The LoRA "{card.name}" was trained for {card.family}, but the model is {own}.',
        hint=f"Choose a LoRA for {own}, or a model of {card.family}.",
    )


def _load(loaded: LoadedPipeline, name: str, card: LoraCard) -> None:
    try:
        read = _read(card, loaded.family.kind.denoiser)
        for value in read.values():
            refuse_invalid(value)
        weights = _by_layer(loaded, read)
        _check_layers(loaded, card, weights)
        named = {_stored_name(key): value for key, value in weights.items()}
        with warnings.catch_warnings(action="ignore", category=UserWarning):  # of a second LoRA
            loaded.pipeline.load_lora_weights(named, adapter_name=name)
    except InvalidNumbers as error:
        raise BackendError(
            f'The LoRA "{card.name}" contains invalid numbers (NaN or infinity).',
            hint="Download it again, or choose another LoRA.",
        ) from error
    except (*SIGNS_OF_DAMAGE, SafetensorError) as error:
        if isinstance(error, torch.OutOfMemoryError):
            raise
        raise BackendError(
            f'The LoRA "{card.name}" is damaged, or of a form that diffusers cannot load.',
            hint="Choose another LoRA, or download it again.",
        ) from error


def _read(card: LoraCard, denoiser: str) -> dict[str, torch.Tensor]:
    """Read the weights in names that diffusers reads, with alpha / r multiplied into B.

    All are read in 32 bits, so that the product is not rounded to the 16 or 8 bits of a file.
    """
    with safe_open(card.file, framework="pt") as content:
        weights = {name: content.get_tensor(name) for name in content.keys()}  # noqa: SIM118
        metadata = content.metadata() or {}
    config = _peft_config(card, metadata)
    alphas = {name: float(value) for name, value in weights.items() if ALPHA.search(name)}
    scaled: dict[str, torch.Tensor] = {}
    for name, value in weights.items():
        if name in alphas:
            continue
        value = value.float() if value.is_floating_point() else value
        up = UP.search(name)
        module = name[: up.start()] if up else ""
        if up is not None:
            alpha = alphas.get(f"{module}.alpha")
            value = value * _scale(module, alpha, value.shape[1], config)
            if module.startswith(KOHYA):  # diffusers requires it for some
                scaled[f"{module}.alpha"] = torch.tensor(float(value.shape[1]))
        scaled[_known_name(name, denoiser)] = value
    return scaled


def _scale(module: str, alpha: float | None, rank: int, config: Mapping[str, Any]) -> float:
    """Return alpha / r; 1 if alpha is not stated. rsLoRA divides by the root of r."""
    if alpha is None:
        component, _, path = module.partition(".")
        own = config.get(component, config)
        pattern = own.get("alpha_pattern") or {}
        named = next((each for key, each in pattern.items() if path.endswith(key)), None)
        stated = named if named is not None else own.get("lora_alpha")
        if stated is None:
            return 1.0
        return float(stated) / (sqrt(rank) if own.get("use_rslora") else rank)
    return alpha / rank


def _peft_config(card: LoraCard, metadata: Mapping[str, str]) -> Mapping[str, Any]:
    """Return peft's configuration: of each component in the file, or of the folder."""
    config_file = card.file.with_name("adapter_config.json")
    if METADATA not in metadata:
        return read_settings(config_file) if is_regular(config_file) else {}
    config: dict[str, dict[str, Any]] = {}
    for name, value in settings_of(metadata[METADATA].encode()).items():
        component, _, entry = name.partition(".")
        config.setdefault(component, {})[entry] = value
    return config


def _known_name(name: str, denoiser: str) -> str:
    """Return a name in the form that diffusers reads."""
    name = name.removeprefix(RAW_PEFT).replace(".default.weight", ".weight")
    return name if name.startswith((*KOHYA, *COMPONENTS)) else f"{denoiser}.{name}"


def _by_layer(
    loaded: LoadedPipeline, weights: Mapping[str, torch.Tensor]
) -> dict[str, torch.Tensor]:
    """Rename weights after the model's layers, and give them the number of axes of the layer.

    Matrices of a convolution of 1 x 1 are stored in both forms, by the program that trained them.
    """
    converted = loaded.pipeline.lora_state_dict(dict(weights), **_for_conversion(loaded))
    converted = converted[0] if isinstance(converted, tuple) else converted
    renamed = {_layer_name(name): value for name, value in converted.items()}
    return {name: _shaped(loaded.pipeline, name, value) for name, value in renamed.items()}


def _shaped(pipeline: Any, name: str, value: torch.Tensor) -> torch.Tensor:
    found = DOWN.search(name) or UP.search(name)
    layer = _layer_weight(pipeline, name[: found.start()]) if found else None
    if layer is None or layer.ndim == value.ndim or value.shape[2:].numel() != 1:
        return value
    return value.reshape(*value.shape[:2], *(1,) * (layer.ndim - 2))


def _check_layers(
    loaded: LoadedPipeline, card: LoraCard, weights: Mapping[str, torch.Tensor]
) -> None:
    """Compare every layer with the model's layer of that name.

    Raises:
        RequestError: The model lacks it, or it is of another size.
    """
    wrong = [
        name
        for name, value in weights.items()
        for pattern, axis in ((DOWN, 1), (UP, 0))
        if (found := pattern.search(name))
        and not _fits(_layer_weight(loaded.pipeline, name[: found.start()]), value, axis)
    ]
    if wrong or not weights:
        own = family_name(loaded)
        if card.family and card.family != own:
            raise _other_family(card, own)
        raise RequestError(
            f'The LoRA "{card.name}" does not fit the model: {len(wrong)} of its '
            f"{len(weights)} weights are of other layers or sizes.",
            hint="Choose a LoRA that was trained for this model.",
        )


def _layer_name(name: str) -> str:
    """Return a name with the layer as the model calls it; kohya's are converted to older ones."""
    layers = OLDER_TEXT if name.startswith(TEXT_ENCODER) else OLDER
    for older, layer in layers.items():
        name = name.replace(older, layer)
    return name.replace(".processor.", ".").replace(".lora_linear_layer.", ".lora.")


def _stored_name(name: str) -> str:
    """Return the name of a layer's weight in the one form that diffusers reads for all layers.

    WORKAROUND: diffusers 0.42 recognizes text encoders in other forms by single layers, such as
    "out_proj", which a LoRA need not have.
    """
    is_text = name.startswith(TEXT_ENCODER)
    down, up = TEXT_NAMES if is_text else DENOISER_NAMES
    return UP.sub(up, DOWN.sub(down, name))


def _for_conversion(loaded: LoadedPipeline) -> dict[str, Any]:
    return {"unet_config": loaded.denoiser.config} if loaded.is_unet else {}


def _layer_weight(pipeline: Any, path: str) -> torch.Tensor | None:
    """Return the weight of a layer of the pipeline; None if there is no such layer."""
    component, _, name = path.partition(".")
    part = getattr(pipeline, component, None)
    if not isinstance(part, torch.nn.Module):
        return None
    for each in (name, name.removeprefix("text_model.")):
        try:
            layer = part.get_submodule(each)
        except AttributeError:
            continue
        weight = getattr(layer, "weight", None)
        return weight if isinstance(weight, torch.Tensor) else None
    return None


def _fits(layer: torch.Tensor | None, value: torch.Tensor, axis: int) -> bool:
    """Compare an axis of A or B, and the kernel of A, with the weight of the layer."""
    if layer is None or layer.ndim != value.ndim or layer.shape[axis] != value.shape[axis]:
        return False
    return axis == 0 or layer.shape[2:] == value.shape[2:]
