"""Identify a file of weights by its header: kind, family and prediction type.

Only the first bytes and the header of a safetensors file are read, never weights. Names of weights
are those of the original training code (CompVis, Stability AI, Black Forest Labs), of diffusers,
peft and kohya; metadata keys those of the Stability AI model specification and of kohya's scripts.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import TypeAlias

from spatialstudio.adapters.models.model_kinds import DENOISER_PREFIX
from spatialstudio.adapters.models.model_settings import (
    HEADER_LENGTH_BYTES,
    MAX_HEADER_BYTES,
    SIGNS_OF_DAMAGE,
    WeightsHeader,
    read_header,
    unusable,
)
from spatialstudio.domain.errors import ModelNotFound
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import PREDICTION_TYPES
from spatialstudio.domain.safe_files import open_regular

EPSILON, V_PREDICTION = PREDICTION_TYPES
SD_1, SD_2, SDXL = "Stable Diffusion 1.5", "Stable Diffusion 2.1", "Stable Diffusion XL"

FIRST_BYTES = 64


class FileKind(Enum):
    """The kinds of files of weights; the value names the kind with its article."""

    CHECKPOINT = "a checkpoint"
    COMPLETE = "a complete checkpoint"
    DENOISER = "a denoiser"
    PRUNED = "a checkpoint with fewer layers"
    REFINER = "the refiner of SDXL"
    INPAINTING = "an inpainting model"
    EDITING = "a model that edits pictures by instruction"
    DEPTH = "a depth-conditioned model"
    VARIATIONS = "a model for variations of pictures"
    UPSCALING = "an upscaling diffusion model"
    UNSUPPORTED = "a model of another family"
    QUANTIZED = "quantized weights"
    GGUF = "weights in GGUF"
    LORA = "a LoRA"
    EMBEDDING = "a textual inversion embedding"
    CONTROLNET = "a ControlNet"
    ADAPTER = "an image adapter"
    MOTION = "a motion module"
    AUTOENCODER = "an autoencoder"
    TEXT_ENCODER = "a text encoder"
    IMAGE_ENCODER = "an image encoder"
    UPSCALER = "an upscaler"
    HYPERNETWORK = "a hypernetwork"
    AVERAGED = "only the averaged (EMA) weights of a checkpoint"
    PICKLE = "a pickle"
    FOREIGN = "no weights"
    DAMAGED = "damaged"
    UNKNOWN = "unknown weights"


ANOTHER = "Choose a text-to-image checkpoint."
HINTS: Mapping[FileKind, str] = {
    FileKind.REFINER: "Choose the base model of SDXL; the refiner only improves its pictures.",
    FileKind.INPAINTING: ANOTHER,
    FileKind.EDITING: ANOTHER,
    FileKind.DEPTH: ANOTHER,
    FileKind.VARIATIONS: ANOTHER,
    FileKind.UPSCALING: ANOTHER,
    FileKind.UNSUPPORTED: "Choose a checkpoint of a supported family, such as SDXL.",
    FileKind.QUANTIZED: "Download the version in float16 or bfloat16.",
    FileKind.GGUF: "Download the version in safetensors, in float16 or bfloat16.",
    FileKind.LORA: 'Put it into the folder "loras" of a model folder, and choose a checkpoint.',
    FileKind.EMBEDDING: "Choose a checkpoint; embeddings cannot be used.",
    FileKind.CONTROLNET: "Choose a checkpoint; ControlNets cannot be used.",
    FileKind.ADAPTER: "Choose a checkpoint; image adapters cannot be used.",
    FileKind.MOTION: "Choose a checkpoint; motion modules cannot be used.",
    FileKind.AUTOENCODER: "Choose a checkpoint; it includes its autoencoder.",
    FileKind.TEXT_ENCODER: "Choose a checkpoint; it includes its text encoders.",
    FileKind.IMAGE_ENCODER: "Choose a checkpoint, and move this file out of the folder.",
    FileKind.UPSCALER: "Choose a checkpoint, and move this file out of the folder.",
    FileKind.HYPERNETWORK: "Choose a checkpoint; hypernetworks cannot be used.",
    FileKind.AVERAGED: "Download the version for generating pictures.",
}
"""What to do with a file that no picture can be drawn with, by its kind."""

OTHER_TASK, UNREADABLE = ", not a text-to-image model", ", which cannot be loaded"
ENDS: Mapping[FileKind, str] = {
    **dict.fromkeys((FileKind.REFINER, FileKind.INPAINTING, FileKind.EDITING), OTHER_TASK),
    **dict.fromkeys((FileKind.DEPTH, FileKind.VARIATIONS, FileKind.UPSCALING), OTHER_TASK),
    **dict.fromkeys((FileKind.QUANTIZED, FileKind.GGUF), UNREADABLE),
    FileKind.UNSUPPORTED: ", a family that is not supported",
}
"""Ends of the sentence that names the content, by its kind."""


DRAWING = frozenset({FileKind.CHECKPOINT, FileKind.COMPLETE, FileKind.DENOISER, FileKind.PRUNED})
"""Kinds that pictures are drawn with, if the missing parts are found.

``COMPLETE`` files hold the weights of all parts, and need configuration and tokenizers.
"""


@frozen
class FileContent:
    """What a file of weights holds.

    Attributes:
        kind: Its kind.
        family: "Stable Diffusion XL"; empty if unknown.
        size_bytes: Size of the file.
        pipeline_class: diffusers pipeline of its family; empty if unknown or not supported.
        prediction_type: ``EPSILON`` or ``V_PREDICTION`` if the file states it; else empty.
        ends_in_noise: Whether it was trained with a noise schedule that ends in pure noise.
        native_size: Side of the training pictures if the file states it, pixels; else 0.
        licence: Licence that the file states; else empty.
        embeds_guidance: Whether a denoiser of FLUX.1 reads the guidance scale, as that of dev does
            and that of schnell does not; None for other families.
        problem: Why no picture can be drawn with it; None for the kinds of ``DRAWING``, and for
            unknown weights, which a folder of the same name may complete.
    """

    kind: FileKind
    family: str = ""
    size_bytes: int = 0
    pipeline_class: str = ""
    prediction_type: str = ""
    ends_in_noise: bool = False
    native_size: int = 0
    licence: str = ""
    embeds_guidance: bool | None = None
    problem: ModelNotFound | None = None

    @property
    def title(self) -> str:
        """The content in words: "a LoRA for Stable Diffusion XL"."""
        if not self.family or self.kind is FileKind.REFINER:
            return self.kind.value
        match self.kind:
            case FileKind.DENOISER:
                return f"only the denoiser of {self.family}"
            case FileKind.UNSUPPORTED:
                return f"weights of {self.family}"
            case FileKind.CHECKPOINT | FileKind.COMPLETE | FileKind.PRUNED | FileKind.QUANTIZED:
                return f"{self.kind.value} of {self.family}"
        return f"{self.kind.value} for {self.family}"


def identify_file(file: Path) -> FileContent:
    """Identify a file of weights; a damaged file is a kind of content, not an error.

    Raises:
        ModelNotFound: The file is missing, may not be read, or is not a regular file.
    """
    what = f'model file "{file.name}"'
    try:
        with open_regular(file) as content:
            start = content.read(FIRST_BYTES)
        size = file.stat().st_size
    except OSError as error:
        raise _missing(file, error) from error
    length = int.from_bytes(start[:HEADER_LENGTH_BYTES], "little")
    is_header = length <= MAX_HEADER_BYTES and start[HEADER_LENGTH_BYTES:][:1] == b"{"
    if not is_header and (found := _foreign(file, start)):
        return _refused(file, found, size)
    try:
        header = read_header(file)
    except OSError as error:
        raise _missing(file, error) from error
    except SIGNS_OF_DAMAGE as error:
        problem = unusable(what, error)
        return FileContent(kind=FileKind.DAMAGED, size_bytes=size, problem=problem)
    return _identified(file, header)


def _missing(file: Path, error: OSError) -> ModelNotFound:
    if isinstance(error, FileNotFoundError):
        return ModelNotFound(
            f'There is no file "{file.name}".', hint="Restore it, or choose another model."
        )
    return unusable(f'model file "{file.name}"', error)


# --- files that are no safetensors -----------------------------------------------------------

PICKLES = frozenset({".ckpt", ".pt", ".pth", ".bin", ".pkl"})
STARTS: tuple[tuple[bytes, FileKind, str], ...] = (
    (rb"GGUF", FileKind.GGUF, ""),
    (rb"PK\x03\x04|\x80[\x02-\x05]", FileKind.PICKLE, ""),
    (rb"(?i)\s*<(!doctype|html|\?xml)", FileKind.FOREIGN, "a web page"),
    (rb"version https://git-lfs", FileKind.FOREIGN, "a Git LFS pointer"),
    (rb"\x89PNG|\xff\xd8\xff|RIFF....WEBP|GIF8", FileKind.FOREIGN, "a picture"),
    (rb"(7z\xbc\xaf|Rar!|\x1f\x8b)", FileKind.FOREIGN, "an archive"),
    (rb"\s*[{\[]", FileKind.FOREIGN, "a text file in JSON"),
)
"""First bytes of other formats under the name of a weight file, with the content in words."""


def _foreign(file: Path, start: bytes) -> tuple[FileKind, str] | None:
    if not start:
        return FileKind.FOREIGN, "empty"
    for pattern, kind, words in STARTS:
        if re.match(pattern, start):
            return kind, words
    return (FileKind.PICKLE, "") if file.suffix.lower() in PICKLES else None


def _refused(file: Path, found: tuple[FileKind, str], size: int) -> FileContent:
    kind, words = found
    again = "Download it again; a complete file is at least some megabytes large."
    if kind is FileKind.PICKLE:
        problem = ModelNotFound(
            (
                f'The file "{file.name}" is a pickle file, which can execute code and is never '
                "loaded."
            ),
            hint="Download the model as safetensors.",
        )
    elif kind is FileKind.GGUF:
        problem = _problem(file, FileContent(kind=kind))
    elif words == "empty":
        problem = ModelNotFound(f'The file "{file.name}" is empty.', hint=again)
    else:
        problem = ModelNotFound(f'The file "{file.name}" is {words}, not a model.', hint=again)
    return FileContent(kind=kind, size_bytes=size, problem=problem)


# --- safetensors, by names and shapes --------------------------------------------------------

Kinds: TypeAlias = tuple[tuple[FileKind, str], ...]

PARTS: Kinds = (
    (FileKind.CONTROLNET, r"lora_controlnet$"),
    (FileKind.ADAPTER, r"image_proj\.|.*ip_adapter[._]|redux_up\."),
    (
        FileKind.LORA,
        r".*(lora[_.]|\.hada_w\d|\.lokr_w\d|\.oft_blocks|\.dora_scale)",
    ),
    (FileKind.EMBEDDING, r"emb_params$|string_to_param\.|(clip_l|clip_g|t5xxl)$"),
    (
        FileKind.CONTROLNET,
        r"control_model\.|controlnet_|control_add_|input_hint_block\.|lllite_",
    ),
    (FileKind.ADAPTER, r"adapter\.body\.|body\.\d+\.(resnets|block\d)"),
    (FileKind.MOTION, r".*motion_modules\."),
)
"""Additions to a model, by the names of their weights; these names may contain a denoiser's."""

OTHER_PARTS: Kinds = (
    (FileKind.AVERAGED, r"model_ema\."),
    (FileKind.TEXT_ENCODER, r"embeddings\.token_embedding\."),
    (FileKind.HYPERNETWORK, r"\d{3,4}\.\d\.linear\."),
    (
        FileKind.AUTOENCODER,
        r"(first_stage_model\.|vae\.)?(en|de)coder\.(conv_in|layers|stages)\.",
    ),
    (
        FileKind.IMAGE_ENCODER,
        r"vision_model\.|visual\.",
    ),
    (
        FileKind.TEXT_ENCODER,
        r"(text_encoders\.\w+\.)?(transformer\.)?(text_model\.|encoder\.block\.|resblocks\."
        r"|model\.embed_tokens\.)|cond_stage_model\.|conditioner\.embedders\.",
    ),
    (
        FileKind.UPSCALER,
        r"(params(_ema)?\.)?(model\.\d+\.(sub\.|weight$)|body\.\d+\.(rdb|weight)|conv_first\."
        r"|upsampler\.|layers\.\d+\.residual_group\.|before_RG\.)",
    ),
)
"""Parts of models, if a file holds no denoiser."""

FLUX_1 = "FluxPipeline"
FAMILIES: tuple[tuple[str, str, str], ...] = (
    ("Chroma", "", r"distilled_guidance_layer\."),
    ("HunyuanVideo", "", r"txt_in\.individual_token_refiner\."),
    ("FLUX.2", "Flux2KleinPipeline", r"double_stream_modulation_img\."),
    ("FLUX.1", FLUX_1, r"double_blocks\.0\.img_mod\."),
    ("FLUX.1", FLUX_1, r"single_transformer_blocks\.0\."),
    ("Stable Diffusion 3", "StableDiffusion3Pipeline", r"joint_blocks\."),
    ("AuraFlow", "", r"double_layers\.0\.attn\."),
    ("Hunyuan-DiT", "", r"mlp_t5\.|text_embedding_padding"),
    ("Qwen-Image", "QwenImagePipeline", r"transformer_blocks\.0\.img_mlp\."),
    ("Z-Image", "ZImagePipeline", r"layers\.0\.adaLN_modulation\.0\."),
    ("Lumina 2", "Lumina2Pipeline", r"cap_embedder\.|layers\.0\.adaLN_modulation\.1\."),
    ("Sana", "SanaPipeline", r"attention_y_norm\.|caption_norm\."),
    ("PixArt", "PixArtSigmaPipeline", r"t_block\.|adaln_single\."),
    ("Wan", "", r"head\.modulation"),
    ("LTX-Video", "", r"patchify_proj\."),
    ("Cosmos", "", r"net\.(x_embedder|blocks)\."),
    ("HiDream", "", r"double_stream_blocks\."),
    ("Mochi", "", r"blocks\.0\.attn\.qkv_x\."),
    ("Stable Cascade", "", r"clip_txt_mapper\.|down_blocks\.1\.0\.channelwise\."),
)
"""Families by names of weights without ``DENOISER_PREFIX``, with their pipelines, if supported."""

OTHER_WEIGHTS = (re.compile(r"(vae|first_stage_model)\."), re.compile(r"text_encoders\.t5xxl\."))
"""Weights of autoencoder and T5 in complete files of FLUX.1 and Stable Diffusion 3."""

INPUTS_OF_FLUX = ("img_in.weight", "x_embedder.weight")
GUIDANCE_OF_FLUX = re.compile(r"guidance_in\.|time_text_embed\.guidance_embedder\.")
BY_WIDTH_OF_FLUX: Mapping[int, FileKind] = {128: FileKind.DEPTH, 384: FileKind.INPAINTING}
"""FLUX.1 Depth, Canny and Fill, by the width of the input; FLUX.1 itself has 64."""

QUANTIZED = re.compile(
    r".*(\.absmax|\.quant_map|\.quant_state\.|\.qweight|\.qzeros|\.scale_weight|\.weight_scale"
    r"|\.comfy_quant|\.SCB)$|scaled_fp8$"
)
INTEGERS_ONLY = frozenset({"I8", "U8"})
"""Number formats of weights that need a scale to be read."""

TEXT_WIDTHS = frozenset({768, 1024, 1280, 2048, 4096})
VECTORS, MOST_EMBEDDINGS, MOST_VECTORS = 2, 2, 256
"""An embedding file holds one or two matrices of few vectors."""


def _identified(file: Path, header: WeightsHeader) -> FileContent:
    names = tuple(header.shapes)
    kind = _first(PARTS, names) or _embedding(header)
    if kind is not None:
        found = FileContent(kind=kind, family=_trained_for(header))
    elif any(name in header.shapes for name in INPUTS):
        found = _stable_diffusion(header)
    elif not names or any(map(LATER_WEIGHT.match, names)):
        return _without_weights(file, header)
    else:
        found = _other_family(header.shapes) or FileContent(
            kind=_first(OTHER_PARTS, names) or FileKind.UNKNOWN
        )
    is_quantized = any(map(QUANTIZED.match, names)) or bool(header.dtypes & INTEGERS_ONLY)
    if found.kind in DRAWING and is_quantized:
        found = replace(found, kind=FileKind.QUANTIZED)
    found = replace(found, size_bytes=header.size_bytes, licence=_licence(header.metadata))
    if found.kind in DRAWING or found.kind is FileKind.UNKNOWN:
        return found
    return replace(found, problem=_problem(file, found))


def _without_weights(file: Path, header: WeightsHeader) -> FileContent:
    """Describe a file without any weights, or without the first weights of its UNet."""
    lack = "weights are missing from it" if header.shapes else "it has no weights"
    problem = ModelNotFound(
        f'The file "{file.name}" is damaged: {lack}.', hint="Download it again from its maker."
    )
    return FileContent(kind=FileKind.DAMAGED, size_bytes=header.size_bytes, problem=problem)


def _problem(file: Path, content: FileContent) -> ModelNotFound:
    end = ENDS.get(content.kind, ", not a complete model")
    return ModelNotFound(
        f'The file "{file.name}" contains {content.title}{end}.', hint=HINTS[content.kind]
    )


def _first(kinds: Kinds, names: Sequence[str]) -> FileKind | None:
    found = (kind for kind, sign in kinds if any(map(re.compile(sign).match, names)))
    return next(found, None)


def _embedding(header: WeightsHeader) -> FileKind | None:
    """Recognize one or two tensors of vectors for words, under any name."""
    shapes = header.shapes.values()
    is_small = 0 < len(shapes) <= MOST_EMBEDDINGS and all(
        len(shape) == VECTORS and shape[-1] in TEXT_WIDTHS and shape[0] <= MOST_VECTORS
        for shape in shapes
    )
    return FileKind.EMBEDDING if is_small else None


def _other_family(shapes: Mapping[str, tuple[int, ...]]) -> FileContent | None:
    bare = {name.removeprefix(DENOISER_PREFIX): shape for name, shape in shapes.items()}
    for family, pipeline_class, sign in FAMILIES:
        if any(map(re.compile(sign).match, bare)):
            is_whole = all(any(map(sign.match, shapes)) for sign in OTHER_WEIGHTS)
            usual = FileKind.COMPLETE if is_whole else FileKind.DENOISER
            usual = usual if pipeline_class else FileKind.UNSUPPORTED
            width = next((bare[name][-1] for name in INPUTS_OF_FLUX if bare.get(name)), 0)
            has_guidance = any(map(GUIDANCE_OF_FLUX.match, bare))
            is_flux = pipeline_class == FLUX_1
            return FileContent(
                kind=BY_WIDTH_OF_FLUX.get(width, usual) if is_flux else usual,
                family=family,
                pipeline_class=pipeline_class,
                embeds_guidance=has_guidance if is_flux else None,
            )
    return None


# --- Stable Diffusion ------------------------------------------------------------------------

INPUT = f"{DENOISER_PREFIX}input_blocks.0.0.weight"
BARE_INPUT = INPUT.removeprefix(DENOISER_PREFIX)
INPUTS = (INPUT, BARE_INPUT, "conv_in.weight")
"""First weights of a UNet: in a checkpoint, alone as for ComfyUI, and in the names of diffusers."""

LATER_WEIGHT = re.compile(rf"({re.escape(DENOISER_PREFIX)})?(input|output)_blocks\.\d+\.\d\.")
"""Other weights of a UNet in the names of Stability AI."""

ATTENDS = re.compile(r".*attn2[._]to_k[._].*(weight|lora_down|lora_A)")
WIDTHS: Mapping[int, str] = {768: SD_1, 1024: SD_2, 2048: SDXL}
"""Width of the text that a UNet attends to."""

REFINER_WIDTH = 1280
BY_CHANNELS: Mapping[int, FileKind] = {
    5: FileKind.DEPTH,
    7: FileKind.UPSCALING,
    8: FileKind.EDITING,
    9: FileKind.INPAINTING,
}
"""Models with further inputs besides the latents, by the number of channels."""

SD, XL = "StableDiffusionPipeline", "StableDiffusionXLPipeline"
SECOND_ENCODER = re.compile(r"conditioner\.embedders\.1\.|add_embedding\.")
DECODER = "first_stage_model.decoder.conv_in.weight"
CLIP = "transformer.text_model.embeddings.token_embedding.weight"
OLDER_CLIP = "cond_stage_model.transformer."
NEWER_CLIP = f"{OLDER_CLIP}text_model."
"""Prefixes of CLIP's weights in old and in usual files of Stable Diffusion 1."""

OPEN_CLIP = "model.token_embedding.weight"
ENCODERS: Mapping[str, tuple[str, ...]] = {
    SD_1: (f"cond_stage_model.{CLIP}",),
    SD_2: (f"cond_stage_model.{OPEN_CLIP}",),
    SDXL: (f"conditioner.embedders.0.{CLIP}", f"conditioner.embedders.1.{OPEN_CLIP}"),
}
"""Weights of the text encoders of a complete checkpoint."""

DEEPEST: Mapping[str, str] = {
    SD_1: f"{DENOISER_PREFIX}output_blocks.11.0.in_layers.0.weight",
    SD_2: f"{DENOISER_PREFIX}output_blocks.11.0.in_layers.0.weight",
    SDXL: f"{DENOISER_PREFIX}middle_block.1.transformer_blocks.9.norm1.weight",
}
"""Weights that pruned models of a family lack, such as SSD-1B."""

PICTURE_ENCODER = "embedder.model.visual."
UNSUPPORTED_UNETS: Mapping[str, re.Pattern[str]] = {
    "Playground 2.5": re.compile(r"edm_mean$"),
    "Stable Video Diffusion": re.compile(r".*\.time_stack\."),
    "Kandinsky 2": re.compile(r"add_embedding\.(text|image)_norm\.|.*\.add_k_proj\."),
    "GLIGEN": re.compile(r".*position_net\."),
    "a latent consistency model (LCM)": re.compile(r".*(time_embed|time_embedding)\.cond_proj\."),
}
"""Families of UNets that the pipelines of Stable Diffusion load but draw wrongly."""


def _stable_diffusion(header: WeightsHeader) -> FileContent:
    shapes = header.shapes
    _, channels, *_ = next(shapes[name] for name in INPUTS if name in shapes)
    width = _text_width(header)
    family = WIDTHS.get(width, "")
    if width == REFINER_WIDTH:
        return FileContent(kind=FileKind.REFINER)
    for other, sign in UNSUPPORTED_UNETS.items():
        if any(map(sign.match, shapes)):
            return FileContent(kind=FileKind.UNSUPPORTED, family=other)
    if channels in BY_CHANNELS:
        return FileContent(kind=BY_CHANNELS[channels], family=family)
    if any(name.startswith(PICTURE_ENCODER) for name in shapes):
        return FileContent(kind=FileKind.VARIATIONS, family=family)
    encoders = ENCODERS.get(family, ())
    is_complete = DECODER in shapes and bool(encoders) and all(_has(shapes, e) for e in encoders)
    is_pruned = INPUT in shapes and DEEPEST.get(family, INPUT) not in shapes
    whole = FileKind.PRUNED if is_pruned else FileKind.CHECKPOINT
    return FileContent(
        kind=whole if is_complete else FileKind.DENOISER,
        family=family or "Stable Diffusion",
        pipeline_class=XL if any(map(SECOND_ENCODER.match, shapes)) or family == SDXL else SD,
        prediction_type=_prediction_type(header),
        ends_in_noise=ENDS_IN_NOISE in shapes or header.metadata.get(ZERO_SNR) == "True",
        native_size=_native_size(header.metadata),
    )


def _has(shapes: Mapping[str, tuple[int, ...]], name: str) -> bool:
    return name in shapes or name.replace(NEWER_CLIP, OLDER_CLIP) in shapes


def _text_width(header: WeightsHeader) -> int:
    found = (shape for name, shape in header.shapes.items() if ATTENDS.match(name))
    return next((shape[-1] for shape in found if shape), 0)


def _trained_for(header: WeightsHeader) -> str:
    """Return the family that an addition to a model was trained for; empty if unknown."""
    if family := WIDTHS.get(_text_width(header), ""):
        return family
    names = " ".join(header.shapes)
    by_name = {"double_blocks": "FLUX.1", "joint_blocks": "Stable Diffusion 3", "lora_te2_": SDXL}
    return next((family for sign, family in by_name.items() if sign in names), "")


# --- metadata --------------------------------------------------------------------------------

PREDICTION_KEYS = ("modelspec.prediction_type", "ss_prediction_type", "prediction_type")
PREDICTIONS: Mapping[str, str] = {
    "v": V_PREDICTION,
    "v_prediction": V_PREDICTION,
    "vpred": V_PREDICTION,
    "v-prediction": V_PREDICTION,
    "epsilon": EPSILON,
    "eps": EPSILON,
}
V_PARAMETERIZATION, ZERO_SNR = "ss_v_parameterization", "ss_zero_terminal_snr"
ARCHITECTURE, RESOLUTION, LICENCE = (
    "modelspec.architecture",
    "modelspec.resolution",
    "modelspec.license",
)
ARCHITECTURES: Mapping[str, str] = {
    "stable-diffusion-v1": EPSILON,
    "stable-diffusion-v2-512": EPSILON,
    "stable-diffusion-v2-768-v": V_PREDICTION,
}
V_PRED, ENDS_IN_NOISE = "v_pred", "ztsnr"
"""Names of empty weights with which trainers mark SDXL models of v prediction and zero SNR."""

SIZE = re.compile(r"(\d{3,4})(?:x(\d{3,4}))?$")
MOST_LICENCE = 100
"""Characters of a licence that are shown."""


def _prediction_type(header: WeightsHeader) -> str:
    """Return the prediction type that a file states; empty if it states none."""
    if V_PRED in header.shapes:
        return V_PREDICTION
    metadata = header.metadata
    stated = (PREDICTIONS.get(metadata.get(key, "").lower(), "") for key in PREDICTION_KEYS)
    if found := next(filter(None, stated), ""):
        return found
    if V_PARAMETERIZATION in metadata:
        return V_PREDICTION if metadata[V_PARAMETERIZATION] == "True" else EPSILON
    return ARCHITECTURES.get(metadata.get(ARCHITECTURE, "").partition("/")[0], "")


def _native_size(metadata: Mapping[str, str]) -> int:
    stated = SIZE.match(metadata.get(RESOLUTION, ""))
    side = int(stated[1]) if stated else 0
    return side if side % 64 == 0 and stated and stated[2] in {None, stated[1]} else 0


def _licence(metadata: Mapping[str, str]) -> str:
    return metadata.get(LICENCE, "")[:MOST_LICENCE]
