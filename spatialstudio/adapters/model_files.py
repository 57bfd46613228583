"""Finds diffusers model folders and reads what they offer, without loading weights.

A folder counts as a model when it holds ``model_index.json`` and its weights are safetensors. A
``studio.toml`` beside it gives what that file cannot say; every key is optional:

    id = "stickers"            # else the folder's name
    title = "Stickers"         # else the id
    licence = "MIT"
    steps = 20                 # recommended settings
    guidance_scale = 4.0
    strength = 5.0
    objects = "../stickers-world/objects.toml"   # all that the model can draw
"""

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_type_hints

from spatialstudio.domain.errors import ModelNotFound
from spatialstudio.domain.ports import ModelCard, Surroundings

INDEX_FILE = "model_index.json"
ADVICE_FILE = "studio.toml"
BACKEND_ID = "diffusers"
SIGNS_OF_DAMAGE = (OSError, ValueError, KeyError, TypeError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What ``studio.toml`` says; the numbers default to those of PSG on Stable Diffusion 1.4."""

    id: str = ""
    title: str = ""
    licence: str = ""
    steps: int = 50
    guidance_scale: float = 7.5
    strength: float = 20.0
    objects: str = ""


def build(surroundings: Surroundings) -> "ModelFolders":
    """Make the shelf of the folders in which models are looked for."""
    return ModelFolders(surroundings.model_folders)


class ModelFolders:
    """A ``ModelShelf`` of folders on disk.

    Args:
        roots: Folders that hold model folders, best first.
    """

    def __init__(self, roots: Sequence[Path]) -> None:
        self._roots = tuple(roots)

    def cards(self) -> tuple[ModelCard, ...]:
        """List the models; of two with one id the first counts, damaged ones are left out."""
        cards: dict[str, ModelCard] = {}
        for folder in self._folders():
            found = _card_or_damage(folder)
            if isinstance(found, ModelCard):
                cards.setdefault(found.id, found)
        return tuple(cards.values())

    def damaged(self) -> Mapping[str, ModelNotFound]:
        """Say by folder name what is wrong with the folders that are left out."""
        found = {folder.name: _card_or_damage(folder) for folder in self._folders()}
        return {name: each for name, each in found.items() if isinstance(each, ModelNotFound)}

    def _folders(self) -> Iterator[Path]:
        for root in self._roots:
            yield from sorted(index.parent for index in root.glob(f"*/{INDEX_FILE}"))


def read_card(folder: Path) -> ModelCard:
    """Read what a model folder offers.

    Raises:
        ModelNotFound: The folder is missing or damaged, or its weights are not safetensors.
    """
    try:
        index = _read_json(folder / INDEX_FILE)
        advice = _read_advice(folder / ADVICE_FILE)
        weights = _weights_of(folder, index)
        model_id = advice.id or folder.name
        return ModelCard(
            id=model_id,
            title=advice.title or model_id,
            backend_id=BACKEND_ID,
            folder=folder,
            size_bytes=sum(file.stat().st_size for file in weights),
            licence=advice.licence,
            native_size=_native_size(folder),
            steps=advice.steps,
            guidance_scale=advice.guidance_scale,
            strength=advice.strength,
            known_objects=_read_objects(folder / advice.objects) if advice.objects else {},
        )
    except SIGNS_OF_DAMAGE as error:
        raise ModelNotFound(
            f'The model folder "{folder.name}" is damaged.',
            hint="Install or download the model again.",
        ) from error


def _card_or_damage(folder: Path) -> ModelCard | ModelNotFound:
    try:
        return read_card(folder)
    except ModelNotFound as error:
        return error


def _weights_of(folder: Path, index: Mapping[str, Any]) -> tuple[Path, ...]:
    """List the weight files; refuse parts that have weights, but none in safetensors."""
    parts = [folder / name for name in index if (folder / name).is_dir()]
    for part in parts:
        pickled = [*part.glob("*.bin"), *part.glob("*.ckpt"), *part.glob("*.pt")]
        if pickled and not any(part.glob("*.safetensors")):
            raise ModelNotFound(
                f'The model folder "{folder.name}" holds pickled weights, which can run code.',
                hint="Get the model as safetensors.",
            )
    return tuple(file for part in parts for file in sorted(part.glob("*.safetensors")))


def _native_size(folder: Path) -> int:
    """Return the side of the pictures that the model was trained on, pixels."""
    latent_side = _read_json(folder / "unet" / "config.json")["sample_size"]
    vae_levels = len(_read_json(folder / "vae" / "config.json")["block_out_channels"])
    return int(latent_side * 2 ** (vae_levels - 1))


def _read_advice(file: Path) -> Advice:
    if not file.exists():
        return Advice()
    kinds = get_type_hints(Advice)
    advice = tomllib.loads(file.read_text(encoding="utf-8"))
    return Advice(**{name: kinds[name](value) for name, value in advice.items()})


def _read_objects(file: Path) -> dict[str, str]:
    """Map every name, plural and synonym to the object that the model draws."""
    rows = tomllib.loads(file.read_text(encoding="utf-8"))["objects"]
    return {
        word: row["name"] for row in rows for word in (row["name"], row["plural"], *row["synonyms"])
    }


def _read_json(file: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return content
