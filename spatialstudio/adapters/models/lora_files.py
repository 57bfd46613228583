"""LoRA files on disk, described from their headers alone.

A LoRA changes a weight matrix W of a model to W + w (alpha / r) B A, where A is (r, in), B is
(out, r) and w is the user's weight (Hu et al. 2021, arXiv:2106.09685). Two ways of naming are read:
peft's ("unet.….to_q.lora_A.weight") and kohya's ("lora_unet_…_to_q.lora_down.weight").
"""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from pathlib import Path

from spatialstudio.adapters.models.identify_file import (
    INTEGERS_ONLY,
    SD_1,
    SD_2,
    SDXL,
    WIDTHS,
    FileKind,
    identify_file,
)
from spatialstudio.adapters.models.model_settings import (
    SIGNS_OF_DAMAGE,
    read_header,
    unusable,
)
from spatialstudio.adapters.models.program_folders import stored_folders
from spatialstudio.adapters.models.weight_hashes import hash_of_weights
from spatialstudio.domain.errors import ModelNotFound
from spatialstudio.domain.ports import LoraCard, Surroundings
from spatialstudio.domain.safe_files import is_regular

FOLDERS = ("loras", "Lora", "lora", "models/loras", "models/Lora")
"""Folders of LoRAs inside a model folder: ours, ComfyUI's and AUTOMATIC1111's."""
CHECKPOINT_FOLDERS = frozenset({"checkpoints", "Stable-diffusion", "diffusion_models", "unet"})
"""Folders of other programs whose LoRA folders are next to them."""

PEFT_FILE = "adapter_model"
"""File that peft saves; the LoRA has the name of its folder."""
MOST_FILES = 10_000
DEEPEST = 4
PICKLES = (".pt", ".ckpt", ".bin", ".pth")

DOWN = re.compile(r"\.(lora_A(?:\.default)?|lora_down|lora\.down)\.weight\Z")
UP = re.compile(r"\.(lora_B(?:\.default)?|lora_up|lora\.up)\.weight\Z")
ALPHA = re.compile(r"\.alpha\Z")
OTHER_KINDS = {
    "hada_w": "a LoHa",
    "lokr_w": "a LoKr",
    "dora_scale": "a DoRA",
    "lora_magnitude_vector": "a DoRA",
    "lora_mid": "a LoCon in Tucker decomposition",
    "oft_": "an OFT",
}

SD_3, FLUX, FLUX_2 = "Stable Diffusion 3", "FLUX.1", "FLUX.2"
PIPELINES = {
    SD_1: "StableDiffusionPipeline",
    SD_2: "StableDiffusionPipeline",
    SDXL: "StableDiffusionXLPipeline",
    FLUX: "FluxPipeline",
    SD_3: "StableDiffusion3Pipeline",
    FLUX_2: "Flux2KleinPipeline",
}
"""Pipeline class of each family of LoRAs."""

BLOCK_WIDTHS = {3072: FLUX, 1536: SD_3, 2432: SD_3}
"""Family by the width of the joint blocks of a transformer."""

_TEXT = re.compile(r"attn2[._]to_[kv]\Z")
_JOINT = re.compile(r"transformer_blocks[._]\d+[._]attn[._](to_q|add_q_proj|to_k)\Z")
_SDXL_ONLY = re.compile(
    r"lora_te2_|text_encoder_2\.|.*attentions[._]\d+[._]transformer_blocks[._][1-9]"
)
_T5 = re.compile(r".*encoder[._]block[._]\d+[._]layer[._]")
_FLUX2_ONLY = re.compile(r".*(to_qkv_mlp_proj|single_stream_modulation)")
_FLUX_ONLY = re.compile(r".*(double_blocks|single_blocks|single_transformer_blocks)")


def build(surroundings: Surroundings) -> "LoraFolders":
    """Create the catalog of LoRAs in the model folders, those of other programs included."""
    return LoraFolders(surroundings.model_folders, surroundings.settings)


class LoraFolders:
    """A ``LoraCatalog`` of files on disk.

    Args:
        roots: Model folders of this program, of ComfyUI or of AUTOMATIC1111, by priority.
        settings: The user's settings folder, which names folders of other programs; None for none.
    """

    def __init__(self, roots: Sequence[Path], settings: Path | None = None) -> None:
        self._roots = tuple(roots)
        self._settings = settings

    def cards(self) -> tuple[LoraCard, ...]:
        """List the LoRAs by name; damaged files are left out, the first of a name counts."""
        found: dict[str, LoraCard] = {}
        for file in self._files():
            name = _name_of(file)
            if name not in found and file.suffix == ".safetensors":
                try:
                    found[name] = read_lora_card(file)
                except ModelNotFound:
                    continue
        return tuple(found[name] for name in sorted(found, key=str.lower))

    def card(self, name: str) -> LoraCard:
        """Return the LoRA of a name; see ``LoraCatalog``.

        Raises:
            ModelNotFound: There is no such LoRA, or its file cannot be used.
        """
        files = [file for file in self._files() if _name_of(file) == name]
        for file in files:
            if file.suffix == ".safetensors":
                return read_lora_card(file)
        if files:
            raise ModelNotFound(
                f'The LoRA "{name}" is a pickle file, which can execute code.',
                hint="Download a safetensors version.",
            )
        close = difflib.get_close_matches(name, {_name_of(file) for file in self._files()}, 1)
        instead = f' or write "{close[0]}"' if close else ""
        raise ModelNotFound(
            f'There is no LoRA "{name}".',
            hint=f'Put {name}.safetensors into the folder "loras" of a model folder{instead}.',
        )

    def file_hash(self, name: str) -> str:
        """Return the sha256 of the file of a LoRA; see ``LoraCatalog``.

        Raises:
            ModelNotFound: There is no such LoRA, or its file cannot be used.
        """
        file = self.card(name).file
        try:
            return hash_of_weights((file,))
        except OSError as error:
            raise unusable(f'LoRA "{name}"', error) from error

    def _files(self) -> Iterator[Path]:
        """Yield safetensors and pickled files in the folders of LoRAs, at most ``MOST_FILES``."""
        roots = (*self._roots, *stored_folders(self._settings))
        folders = [root / name for root in roots for name in FOLDERS]
        for root in roots:
            if root.name in CHECKPOINT_FOLDERS:
                folders += [root.parent / name for name in FOLDERS[:3]]
        seen = 0
        for folder in dict.fromkeys(folders):
            for file in _walk(folder, DEEPEST):
                seen += 1
                if seen > MOST_FILES:
                    return
                if file.suffix in {".safetensors", *PICKLES}:
                    yield file


def _walk(folder: Path, depth: int) -> Iterator[Path]:
    try:
        inside = sorted(folder.iterdir())
    except OSError:
        return
    for path in inside:
        if path.is_dir() and depth:
            yield from _walk(path, depth - 1)
        elif is_regular(path):
            yield path


def _name_of(file: Path) -> str:
    return file.parent.name if file.stem == PEFT_FILE else file.stem


def read_lora_card(file: Path) -> LoraCard:
    """Describe a LoRA from the header of its file.

    Raises:
        ModelNotFound: The file is damaged, or is no LoRA of a known form.
    """
    name = _name_of(file)
    try:
        header = read_header(file)
    except SIGNS_OF_DAMAGE as error:
        raise unusable(f'LoRA "{name}"', error) from error
    shapes = header.shapes
    modules = {key[: found.start()] for key in shapes if (found := DOWN.search(key))}
    ups = {key[: found.start()] for key in shapes if (found := UP.search(key))}
    known = (DOWN, UP, ALPHA)
    rest = [key for key in shapes if not any(each.search(key) for each in known)]
    if not modules or modules != ups or rest or not _are_pairs(shapes):
        raise _not_a_lora(name, file, shapes)
    if any(map(_T5.match, modules)):
        raise ModelNotFound(
            f'The LoRA "{name}" changes the T5 text encoder, which is not supported.',
            hint="Choose a LoRA of the denoiser or of CLIP.",
        )
    if header.dtypes & INTEGERS_ONLY:
        raise ModelNotFound(
            f'The LoRA "{name}" is quantized to integers, which is not supported.',
            hint="Download it in float16, bfloat16 or float32.",
        )
    return LoraCard(
        name=name,
        file=file,
        family=_family(shapes),
        size_bytes=header.size_bytes,
        numbers=sum(prod(shape) for shape in shapes.values()),
    )


def _are_pairs(shapes: Mapping[str, Sequence[int]]) -> bool:
    """Return True if every weight is a matrix, or the kernel of a convolution."""
    matrices = [shape for key, shape in shapes.items() if not ALPHA.search(key)]
    return all(len(shape) in {2, 4} and min(shape) > 0 for shape in matrices)


def _not_a_lora(name: str, file: Path, shapes: Mapping[str, Sequence[int]]) -> ModelNotFound:
    for sign, kind in OTHER_KINDS.items():
        if any(sign in key for key in shapes):
            return ModelNotFound(
                f'The file "{name}" is {kind}, which is not supported.', hint="Choose a LoRA."
            )
    if any(0 in shape for shape in shapes.values()):
        return ModelNotFound(
            f'The LoRA "{name}" is damaged: it has weights without values.',
            hint="Download it again.",
        )
    content = identify_file(file)
    what = content.title if content.kind is not FileKind.LORA else "a LoRA with other weights"
    return ModelNotFound(
        f'The file "{name}" is not a usable LoRA but {what}.',
        hint="Choose a LoRA, and move this file out of the folder.",
    )


def _family(shapes: Mapping[str, Sequence[int]]) -> str:
    """Return the family that a LoRA was trained for; empty if its header does not tell.

    Args:
        shapes: Shape of each tensor by name.
    """
    downs = {key[: found.start()]: shapes[key] for key in shapes if (found := DOWN.search(key))}
    for widths, module in ((WIDTHS, _TEXT), (BLOCK_WIDTHS, _JOINT)):
        for name, shape in downs.items():
            if module.search(name) and shape[1] in widths and not _FLUX2_ONLY.match(name):
                return widths[shape[1]]
    for family, sign in ((FLUX_2, _FLUX2_ONLY), (FLUX, _FLUX_ONLY), (SDXL, _SDXL_ONLY)):
        if any(sign.match(name) for name in downs):
            return family
    return ""
