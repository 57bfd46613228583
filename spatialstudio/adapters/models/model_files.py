"""Catalog of diffusers models on disk, read without loading weights.

Three forms are accepted if the weights are safetensors: a folder with ``model_index.json``; such a
folder in the Hugging Face cache; and a single file ``name.safetensors``. For a single file, a
folder of the same kind provides configuration and tokenizers (and the parts that the file lacks):
``name`` next to it, else the shipped one of its family for complete checkpoints of Stable Diffusion
1.5, 2.1 and XL, else any other model in the catalog without its own list of objects.

A ``studio.toml`` in the folder gives further settings; every key is optional:

    id = "stickers"            # else the folder's name
    title = "Stickers"         # else the id
    licence = "MIT"
    steps = 20                 # recommended settings
    guidance_scale = 4.0
    strength = 5.0
    dtype = "bfloat16"         # of the weights; else what suits the device
    objects = "../stickers-world/objects.toml"   # all that the model can draw
"""

import os
import re
import tomllib
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, get_type_hints

from spatialstudio.adapters.models.identify_file import (
    EPSILON,
    SD_1,
    SD_2,
    SDXL,
    WIDTHS,
    FileContent,
    FileKind,
    identify_file,
)
from spatialstudio.adapters.models.model_choices import ModelChoices
from spatialstudio.adapters.models.model_kinds import (
    MODEL_KINDS,
    UNET,
    ModelKind,
    current_name,
)
from spatialstudio.adapters.models.model_parts import (
    INDEX_FILE,
    check_parts,
    is_partial,
    parts_in_use,
    read_index,
    weight_files,
)
from spatialstudio.adapters.models.model_settings import (
    SIGNS_OF_DAMAGE,
    read_settings,
    unusable,
)
from spatialstudio.adapters.models.program_folders import searched_folders
from spatialstudio.domain.errors import ModelNotFound
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.ports import ModelCard, Surroundings, free_id
from spatialstudio.domain.resources import resources_folder
from spatialstudio.domain.safe_files import (
    MEBIBYTE,
    is_one_of,
    is_regular,
    read_regular,
)
from spatialstudio.domain.samplers import SCALE_OFF, alternative_samplers

ADVICE_FILE = "studio.toml"
SAMPLER_FILE = Path("scheduler", "scheduler_config.json")
FLOW = "flow_prediction"
NO_SIGNAL_LEFT = "squaredcos_cap_v2"
BACKEND_ID = "diffusers"
MAX_ADVICE_BYTES = MEBIBYTE
MAX_BRANCH_BYTES = 4096

MOST_PIXELS = 2**15
"""Per side; a configuration with a larger size is damaged."""

CHECKPOINTS = "checkpoints"
SHIPPED_FOLDERS: Mapping[str, str] = {
    SD_1: "stable-diffusion-1.5",
    SD_2: "stable-diffusion-2.1",
    SDXL: "stable-diffusion-xl",
}
"""Shipped configuration and tokenizers of a family, in ``resources/checkpoints``."""

NATIVE_SIZE_OF_SD_2_BASE = 512
"""The base model of Stable Diffusion 2.1, which predicts the noise, was trained on these sides."""

DISTILLED_NAME = re.compile(r"turbo|lightning|hyper-?sd|(?<![a-z])lcm(?![a-z])", re.IGNORECASE)
STEPS_OF_DISTILLED = 8
"""Distilled checkpoints have the weights of their family; only their names state that they draw in
few steps without classifier-free guidance."""

FILE_SUFFIXES = frozenset({".safetensors", ".ckpt", ".gguf", ".pt", ".pth"})
"""Files that are listed, even if only to state why they cannot be used."""

HUB_PREFIX = "models--"
ADVISED = ("steps", "guidance_scale", "strength")


@frozen
class Advice:
    """Content of ``studio.toml``; the numbers default to those of the model's kind."""

    id: str = ""
    title: str = ""
    licence: str = ""
    steps: int
    guidance_scale: float
    strength: float
    dtype: str = ""
    objects: str = ""


def build(surroundings: Surroundings) -> "ModelFolders":
    """Create the catalog of the model folders, those of other programs included."""
    others = searched_folders(surroundings.settings)
    shipped = surroundings.resources / CHECKPOINTS
    choices = ModelChoices(surroundings.settings)
    folders = (*surroundings.model_folders, *others)
    return ModelFolders(folders, hub_caches(), shipped, choices)


def hub_caches() -> tuple[Path, ...]:
    """Return the download folders of Hugging Face's libraries, located as they do it."""
    named = os.environ.get("HF_HUB_CACHE")
    if named is not None:
        return (Path(named),) if named else ()
    home = os.environ.get("HF_HOME")
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return ((Path(home or f"{cache}/huggingface") / "hub").expanduser(),)


class ModelFolders:
    """A ``ModelCatalog`` of models on disk.

    Args:
        roots: Folders that hold model folders and single files, by priority.
        caches: Hugging Face caches; unsupported content is skipped.
        shipped: Folder of configurations that complete single files; None for the program's.
        choices: The user's opened files and prediction types; None for none.
    """

    def __init__(
        self,
        roots: Sequence[Path],
        caches: Sequence[Path] = (),
        shipped: Path | None = None,
        choices: ModelChoices | None = None,
    ) -> None:
        self._roots = tuple(roots)
        self._caches = tuple(caches)
        self._shipped = shipped or resources_folder() / CHECKPOINTS
        self._choices = choices or ModelChoices(None)

    def cards(self) -> tuple[ModelCard, ...]:
        """List the models, except damaged ones.

        Of two folders with the same id the first counts; single files of one name have two ids.
        """
        cards: dict[str, ModelCard] = {}
        places: set[Path] = set()
        for _, found in self._found():
            if not isinstance(found, ModelCard) or found.folder.resolve() in places:
                continue
            places.add(found.folder.resolve())
            card = found if found.base is None else _with_free_id(found, cards)
            cards.setdefault(card.id, card)
        predictions = self._choices.prediction_types
        return tuple(_with_prediction(card, predictions.get(card.id)) for card in cards.values())

    def read_file(self, file: Path) -> ModelCard:
        """Read the card of a single file anywhere on this machine, with the user's choices.

        Raises:
            ModelNotFound: It is damaged, of a kind that cannot draw, or cannot be completed.
        """
        for card in self.cards():
            if is_one_of(file, [card.folder]):
                return card
        card = read_file_card(file.absolute(), self._bases(), self._shipped)
        card = _with_free_id(card, {each.id for each in self.cards()})
        return _with_prediction(card, self._choices.prediction_types.get(card.id))

    def open_file(self, file: Path) -> ModelCard:
        """Read the card of a single file, and list it from now on.

        Raises:
            ModelNotFound: See ``read_file``.
            StoreError: The choice cannot be written.
        """
        card = self.read_file(file)
        if all(card.folder != each for each in self._files()):
            self._choices.add_file(card.folder)
        return card

    def choose_prediction(self, model_id: str, prediction_type: str) -> None:
        """Store the prediction type of a model, which its card has from now on.

        Raises:
            StoreError: The choice cannot be written.
        """
        self._choices.choose_prediction(model_id, prediction_type)

    def damaged(self) -> Mapping[str, ModelNotFound]:
        """Return the errors of damaged folders and files by name."""
        return {name: found for name, found in self._found() if isinstance(found, ModelNotFound)}

    def _found(self) -> tuple[tuple[str, ModelCard | ModelNotFound], ...]:
        """Read all models; each card or error comes with its folder, file or hub name."""
        folders = self._folders()
        bases = [card for _, card in folders if isinstance(card, ModelCard)]
        files: list[tuple[str, ModelCard | ModelNotFound]] = [
            (_name_of(file), _file_card_or_damage(file, bases, self._shipped))
            for file in self._files()
        ]
        return (*folders, *files)

    def _folders(self) -> list[tuple[str, ModelCard | ModelNotFound]]:
        return [(name, _card_or_damage(folder, name)) for name, folder in self._named_folders()]

    def _bases(self) -> list[ModelCard]:
        return [card for _, card in self._folders() if isinstance(card, ModelCard)]

    def _named_folders(self) -> Iterator[tuple[str, Path]]:
        for root in self._roots:
            for index in sorted(root.glob(f"*/{INDEX_FILE}")):
                folder = index.parent
                if not is_regular(folder.with_name(f"{folder.name}.safetensors")):
                    yield folder.name, folder
        yield from self._downloads()

    def _files(self) -> Iterator[Path]:
        for root in self._roots:
            yield from sorted(each for each in root.glob("*.*") if each.suffix in FILE_SUFFIXES)
        yield from self._choices.files

    def _downloads(self) -> Iterator[tuple[str, Path]]:
        for cache in self._caches:
            for folder in sorted(cache.glob(f"{HUB_PREFIX}*")):
                snapshot = _snapshot(folder)
                if snapshot is not None:
                    yield folder.name.removeprefix(HUB_PREFIX).replace("--", "/"), snapshot


def read_card(folder: Path, name: str = "") -> ModelCard:
    """Read the card of a model folder.

    Args:
        folder: Folder with ``model_index.json``.
        name: Name of the model; empty for the folder's name.

    Raises:
        ModelNotFound: The folder is missing or damaged, or its weights are not safetensors.
    """
    name = name or folder.name
    try:
        index = read_index(folder)
        pipeline_class = current_name(index["_class_name"])
        kind = _kind_of(name, pipeline_class)
        check_parts(folder)
        denoiser = read_settings(folder / kind.denoiser / "config.json")
        _refuse_painters_over(name, kind, denoiser)
        advice = _read_advice(folder / ADVICE_FILE, kind.described(index, denoiser))
        parts = parts_in_use(index)
        _refuse_pickles(name, [folder / part for part in parts])
        model_id = advice.id or name
        return ModelCard(
            id=model_id,
            title=advice.title or model_id,
            backend_id=BACKEND_ID,
            folder=folder,
            pipeline_class=pipeline_class,
            size_bytes=sum(file.stat().st_size for file in weight_files(folder, parts)),
            licence=advice.licence,
            native_size=_native_size(folder, kind, denoiser),
            steps=advice.steps,
            guidance_scale=advice.guidance_scale,
            strength=advice.strength,
            dtype=advice.dtype,
            known_objects=_read_objects(folder / advice.objects) if advice.objects else {},
            samplers=_samplers(folder / SAMPLER_FILE),
        )
    except SIGNS_OF_DAMAGE as error:
        raise unusable(f'model folder "{name}"', error) from error


def read_file_card(
    file: Path, bases: Sequence[ModelCard], shipped: Path | None = None
) -> ModelCard:
    """Read the card of a single file.

    Args:
        file: ``name.safetensors``.
        bases: Models whose configuration may be used if there is no folder ``name`` next to it.
        shipped: Folder of the shipped configurations; None for the program's.

    Raises:
        ModelNotFound: The file is damaged, has no matching configuration, or is of a kind that can
            only be loaded from folders.
    """
    folder = file.with_suffix("")
    content = identify_file(file)
    if content.problem is not None:
        raise content.problem
    if is_regular(folder / INDEX_FILE):
        base = _base_in_folder(folder)
        if not _is_of_family(base, content):
            raise _other_base(file, content)
    elif content.kind is FileKind.CHECKPOINT:
        return _checkpoint_card(file, content, shipped or resources_folder() / CHECKPOINTS)
    else:
        alike = [card for card in bases if card.pipeline_class == content.pipeline_class]
        fitting = [card for card in alike if _can_complete(card) and _is_of_family(card, content)]
        if not fitting or content.kind is FileKind.PRUNED:
            raise _without_base(file, content)
        base = replace(fitting[0], id=file.stem, title=file.stem, licence="", known_objects={})
    return replace(
        base, folder=file, base=base.folder, size_bytes=base.size_bytes + file.stat().st_size
    )


def _checkpoint_card(file: Path, content: FileContent, shipped: Path) -> ModelCard:
    """Read the card of a complete checkpoint, with the shipped configuration of its family."""
    base = read_card(shipped / SHIPPED_FOLDERS[content.family])
    prediction = content.prediction_type or _prediction_type(base.folder / SAMPLER_FILE)
    is_base_of_sd_2 = content.family == SD_2 and prediction == EPSILON
    native = NATIVE_SIZE_OF_SD_2_BASE if is_base_of_sd_2 else base.native_size
    is_distilled = DISTILLED_NAME.search(file.stem) is not None
    return replace(
        base,
        id=file.stem,
        title=file.stem,
        folder=file,
        base=base.folder,
        size_bytes=content.size_bytes,
        licence=content.licence,
        family=content.family,
        native_size=content.native_size or native,
        steps=STEPS_OF_DISTILLED if is_distilled else base.steps,
        guidance_scale=SCALE_OFF if is_distilled else base.guidance_scale,
        samplers=alternative_samplers(base.samplers[0], begins_in_noise=content.ends_in_noise),
        prediction_type=prediction,
        is_prediction_known=bool(content.prediction_type),
        ends_in_noise=content.ends_in_noise,
    )


def _with_free_id(card: ModelCard, taken: Container[str]) -> ModelCard:
    """Return the card of a single file with an id and title that no other file has."""
    name = free_id(card.folder, taken)
    return card if name == card.id else replace(card, id=name, title=name)


def _with_prediction(card: ModelCard, chosen: str | None) -> ModelCard:
    """Return a card with the user's prediction type, if the model offers the choice."""
    if not (chosen and card.prediction_type):
        return card
    return replace(card, prediction_type=chosen, is_prediction_known=True)


def _can_complete(card: ModelCard) -> bool:
    """Return True if a model's configuration fits other weights of its kind.

    The configuration of a model with its own list of objects, such as the embedded one, does not.
    """
    return card.base is None and not card.known_objects


def _is_of_family(card: ModelCard, content: FileContent) -> bool:
    """Return True unless a folder's denoiser is known to differ from that of a file.

    Stable Diffusion 1.5 and 2.1 have one pipeline class and two widths of text; FLUX.1 dev and
    schnell differ in the guidance embedding.
    """
    kind = MODEL_KINDS[card.pipeline_class]
    config = read_settings(card.folder / kind.denoiser / "config.json")
    widths = {family: width for width, family in WIDTHS.items()}
    if content.family in widths and kind.denoiser == UNET:
        return bool(config.get("cross_attention_dim") == widths[content.family])
    known = content.embeds_guidance
    return known is None or bool(config.get("guidance_embeds")) is known


def _other_base(file: Path, content: FileContent) -> ModelNotFound:
    return ModelNotFound(
        f'The folder "{file.stem}" is of another model than the file "{file.name}", which contains '
        f"{content.title}.",
        hint=f'Put the diffusers folder of the file\'s own model beside it, named "{file.stem}".',
    )


def _without_base(file: Path, content: FileContent) -> ModelNotFound:
    wanted = f"a {content.pipeline_class}" if content.pipeline_class else "its kind"
    hint = (
        f'Put a diffusers folder of {wanted} beside it, named "{file.stem}"; it may leave out the '
        "weights that the file holds."
    )
    if not content.pipeline_class:
        message = f'The architecture of the model in "{file.name}" is unknown.'
    elif content.kind in (FileKind.COMPLETE, FileKind.PRUNED):
        message = f'The file "{file.name}" contains {content.title}; its configuration is missing.'
    else:
        message = f'The file "{file.name}" contains {content.title}; the other parts are missing.'
    return ModelNotFound(message, hint=hint)


def _base_in_folder(folder: Path) -> ModelCard:
    base = read_card(folder)
    kind = MODEL_KINDS[base.pipeline_class]
    if not _can_complete(base):
        file = folder.with_name(f"{folder.name}.safetensors")
        raise _without_base(file, replace(identify_file(file), pipeline_class=base.pipeline_class))
    if kind.reads_files:
        return base
    raise ModelNotFound(
        f'The model "{folder.name}.safetensors" cannot be loaded from a single file: '
        f"{base.pipeline_class} models need a complete diffusers folder.",
        hint=f'Put weights in diffusers format into "{folder.name}/{kind.denoiser}", and '
        f'move "{folder.name}.safetensors" elsewhere.',
    )


def _card_or_damage(folder: Path, name: str) -> ModelCard | ModelNotFound:
    if name != folder.name and is_partial(folder):
        return ModelNotFound(
            f'The download of the model "{name}" is not finished.',
            hint=f'Resume it on the Models page, or with "spatialstudio models get {name}".',
        )
    try:
        revision = "" if name == folder.name else folder.name  # the hub's naming of snapshots
        return replace(read_card(folder, name), revision=revision)
    except ModelNotFound as error:
        return error


def _file_card_or_damage(
    file: Path, bases: Sequence[ModelCard], shipped: Path
) -> ModelCard | ModelNotFound:
    try:
        return read_file_card(file, bases, shipped)
    except ModelNotFound as error:
        return error


def _name_of(file: Path) -> str:
    return file.stem if file.suffix == ".safetensors" else file.name


def _kind_of(name: str, pipeline_class: str) -> ModelKind:
    if pipeline_class not in MODEL_KINDS:
        raise ModelNotFound(
            f'The model "{name}" is not supported: its class is {pipeline_class}.',
            hint=f"Supported classes: {', '.join(MODEL_KINDS)}.",
        )
    return MODEL_KINDS[pipeline_class]


def _snapshot(folder: Path) -> Path | None:
    """Return the main snapshot of a downloaded model that is supported."""
    branch = folder / "refs" / "main"
    try:
        if branch.exists():
            name = read_regular(branch, MAX_BRANCH_BYTES).decode().strip()
            snapshot = folder / "snapshots" / Path(name).name
        else:
            snapshot = max(folder.glob("snapshots/*"), key=lambda path: path.stat().st_mtime)
        is_ours = current_name(read_index(snapshot)["_class_name"]) in MODEL_KINDS
    except SIGNS_OF_DAMAGE:
        return None
    return snapshot if is_ours else None


def _refuse_pickles(name: str, parts: Iterable[Path]) -> None:
    """Reject parts with weights that are not safetensors."""
    for part in parts:
        pickled = [*part.glob("*.bin"), *part.glob("*.ckpt"), *part.glob("*.pt")]
        if pickled and not any(part.glob("*.safetensors")):
            raise ModelNotFound(
                f'The model folder "{name}" contains pickle files, which can execute code.',
                hint="Download a safetensors version of the model.",
            )


def _refuse_painters_over(name: str, kind: ModelKind, denoiser: Mapping[str, Any]) -> None:
    """Reject UNets with a picture, mask or depth input, such as inpainting models."""
    if kind.denoiser == UNET and denoiser.get("in_channels") != denoiser.get("out_channels"):
        raise ModelNotFound(
            f'The model "{name}" requires an input picture.',
            hint="Choose a text-to-image model.",
        )


def _native_size(folder: Path, kind: ModelKind, denoiser: Mapping[str, Any]) -> int:
    """Return the side of the training pictures, pixels."""
    side = kind.native_latent_side(denoiser) * (kind.latent_pixels or _latent_pixels(folder))
    if not 0 < side <= MOST_PIXELS:
        raise ValueError(side)
    return side


def _latent_pixels(folder: Path) -> int:
    autoencoder = read_settings(folder / "vae" / "config.json")
    if "temperal_downsample" in autoencoder:
        return int(2 ** len(autoencoder["temperal_downsample"]))
    of_encoder = autoencoder.get("encoder_block_out_channels")
    levels = of_encoder or autoencoder["block_out_channels"]
    return int(2 ** (len(levels) - 1))


def _prediction_type(file: Path) -> str:
    return str(read_settings(file).get("prediction_type", EPSILON))


def _samplers(file: Path) -> tuple[str, ...]:
    """Return the samplers that a model supports; flow models support only their own."""
    if not file.exists():
        return ()
    config = read_settings(file)
    own = str(config.get("_class_name", ""))
    is_flow = config.get("use_flow_sigmas") or config.get("prediction_type") == FLOW
    if own and is_flow:
        return (own,)
    ends = config.get("rescale_betas_zero_snr") or config.get("beta_schedule") == NO_SIGNAL_LEFT
    return alternative_samplers(own, begins_in_noise=bool(ends))


def _read_advice(file: Path, kind: ModelKind) -> Advice:
    usual = {name: value for name, value in asdict(kind).items() if name in ADVISED}
    if not file.exists():
        return Advice(**usual)
    kinds = get_type_hints(Advice)
    advice = tomllib.loads(_read_text(file))
    return Advice(**usual | {name: kinds[name](value) for name, value in advice.items()})


def _read_objects(file: Path) -> dict[str, str]:
    """Map every name, plural and synonym to an object that the model can draw."""
    rows = tomllib.loads(_read_text(file))["objects"]
    return {
        word: row["name"] for row in rows for word in (row["name"], row["plural"], *row["synonyms"])
    }


def _read_text(file: Path) -> str:
    return read_regular(file, MAX_ADVICE_BYTES).decode("utf-8-sig")  # Windows editors add a BOM
