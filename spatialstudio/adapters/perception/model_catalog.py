"""Catalog of perception models in the model folders and in the Hugging Face cache.

Nothing is downloaded. A folder is listed if its ``config.json`` names an architecture of a module
in ``architectures`` and its weights are safetensors.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path

from huggingface_hub import constants

from spatialstudio.adapters.models.model_parts import SAFE_NAME
from spatialstudio.adapters.models.model_settings import (
    MAX_SETTINGS_BYTES,
    SIGNS_OF_DAMAGE,
    check_folder,
    is_explained,
    read_settings,
    settings_of,
    unusable,
)
from spatialstudio.adapters.models.weight_hashes import hash_of_weights, known_hash
from spatialstudio.adapters.perception.class_names import classes_of
from spatialstudio.domain.errors import ModelNotFound
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import ModelRef
from spatialstudio.domain.hub import download_hint
from spatialstudio.domain.ports import (
    Perceiver,
    PerceptionCard,
    PerceptionRole,
    Surroundings,
)
from spatialstudio.domain.registrations import constants_in
from spatialstudio.domain.safe_files import is_regular, read_regular

CONFIG_FILE = "config.json"
WEIGHTS_INDEX = "model.safetensors.index.json"
PICKLED = ("*.bin", "*.pt", "*.pth", "*.ckpt")
MAX_REF_BYTES = 4096
MAX_REFS = 1000
MAIN = "main"
SHORT_COMMIT = 7

ARCHITECTURES = "spatialstudio.adapters.perception.architectures"


@frozen(eq=False)
class ModelFamily:
    """Registration of a module of ``architectures``, as its constant ``FAMILY``.

    The module is imported to list models: torch and transformers must be imported lazily.

    Attributes:
        role: What the models do.
        architectures: Class names in their configurations.
        build: Creates the adapter of a model folder.
        has_classes: Whether the models recognise the classes in their configuration only.
    """

    role: PerceptionRole
    architectures: tuple[str, ...]
    build: Callable[[PerceptionCard], Perceiver]
    has_classes: bool = False


@cache
def families() -> Mapping[str, ModelFamily]:
    """Return the model families by architecture, from all modules of the folder."""
    found = constants_in(ARCHITECTURES, "FAMILY", ModelFamily)
    return {name: family for family in found for name in family.architectures}


def build(surroundings: Surroundings) -> "PerceptionFolders":
    """Create the catalog of the model folders and the Hugging Face cache."""
    return PerceptionFolders(surroundings.model_folders, Path(constants.HF_HUB_CACHE))


@frozen
class Place:
    """A folder that may hold a model.

    Attributes:
        name: Its id in the catalog.
        folder: The folder.
        revision: The hub's commit; empty for a user's folder.
    """

    name: str
    folder: Path
    revision: str = ""


class PerceptionFolders:
    """A ``PerceptionCatalog`` of folders on disk.

    Args:
        roots: Folders that hold model folders, by priority.
        hub_cache: The Hugging Face cache; it may be missing.
    """

    id = "folders"

    def __init__(self, roots: Sequence[Path], hub_cache: Path) -> None:
        self._roots = tuple(roots)
        self._hub_cache = hub_cache

    def cards(self) -> tuple[PerceptionCard, ...]:
        """List the models, except damaged ones; of two with the same name the first counts."""
        cards: dict[str, PerceptionCard] = {}
        for place in self._places():
            found = _card_or_damage(place)
            if isinstance(found, PerceptionCard):
                cards.setdefault(found.ref.id, found)
        return tuple(cards.values())

    def damaged(self) -> Mapping[str, ModelNotFound]:
        """Return the errors of damaged models by name."""
        found = {place.name: _card_or_damage(place) for place in self._places()}
        return {name: each for name, each in found.items() if isinstance(each, ModelNotFound)}

    def unknown_heads(self, model_id: str, heads: Sequence[str]) -> tuple[str, ...]:
        """Return the heads outside a detector's classes; see ``PerceptionCatalog``."""
        card = self._card(model_id, PerceptionRole.DETECTOR)
        if not families()[card.architecture].has_classes:
            return ()
        classes = read_settings(card.folder / CONFIG_FILE).get("id2label") or {}
        known = classes_of(heads, dict(enumerate(map(str, classes.values()))))
        return tuple(head for head in heads if head not in known)

    def ref(self, model_id: str, role: PerceptionRole) -> ModelRef:
        """Return a model's exact reference; see ``PerceptionCatalog``."""
        card = self._card(model_id, role)
        return replace(card.ref, sha256=hash_of_weights(weight_files(card.folder)))

    def make(self, model_id: str, role: PerceptionRole) -> Perceiver:
        """Create a model's adapter; see ``PerceptionCatalog``."""
        card = self._card(model_id, role)
        return families()[card.architecture].build(card)

    def _card(self, model_id: str, role: PerceptionRole) -> PerceptionCard:
        card = next((card for card in self.cards() if card.ref.id == model_id), None)
        card = card or self._card_at(model_id)
        if card is None or card.role is not role:
            raise self._unusable_as(role, model_id, card)
        return card

    def _unusable_as(
        self, role: PerceptionRole, model_id: str, card: PerceptionCard | None
    ) -> ModelNotFound:
        """Return the error for a model that is not installed, or has another role."""
        if card is None and (hint := download_hint(model_id)):
            return ModelNotFound(f'The {role.value} "{model_id}" is not installed.', hint=hint)
        known = [card.ref.id for card in self.cards() if card.role is role]
        return ModelNotFound(
            f'There is no {role.value} "{model_id}" on this machine.'
            if card is None
            else f'The model "{model_id}" is a {card.role.value}, not a {role.value}.',
            hint=f"Installed: {', '.join(known)}."
            if known
            else 'Download one with "spatialstudio models get ID", or on the Models page.',
        )

    def _card_at(self, model_id: str) -> PerceptionCard | None:
        if damage := self.damaged().get(model_id):
            raise damage
        folder = Path(model_id)
        if not is_regular(folder / CONFIG_FILE):
            return None
        return read_card(Place(name=model_id, folder=folder))

    def _places(self) -> Iterator[Place]:
        for root in self._roots:
            for config in sorted(root.glob(f"*/{CONFIG_FILE}")):
                yield Place(name=config.parent.name, folder=config.parent)
        for repository in sorted(self._hub_cache.glob("models--*")):
            yield from _snapshots_of(repository)


def read_card(place: Place) -> PerceptionCard | None:
    """Read the card of a folder; None if it holds no perception model.

    Raises:
        ModelNotFound: The folder is damaged, or its weights are not safetensors.
    """
    try:
        config = settings_of(read_regular(place.folder / CONFIG_FILE, MAX_SETTINGS_BYTES))
        (architecture,) = config.get("architectures") or ("",)
        if architecture not in families():
            return None
        check_folder(place.folder)
        files = weight_files(place.folder)
        return PerceptionCard(
            ref=ModelRef(
                id=place.name,
                revision=place.revision,
                sha256=known_hash(files[0]) if len(files) == 1 else "",
            ),
            role=families()[architecture].role,
            architecture=architecture,
            folder=place.folder,
            size_bytes=sum(file.stat().st_size for file in files),
        )
    except SIGNS_OF_DAMAGE as error:
        if is_explained(error):
            raise unusable(f'model "{place.name}"', error) from error
        raise ModelNotFound(
            f'The model "{place.name}" is damaged or not complete.', hint="Download it again."
        ) from error


def weight_files(folder: Path) -> tuple[Path, ...]:
    """List the weight files of a model folder.

    Raises:
        ModelNotFound: The weights are pickled.
        OSError: A file is missing.
        ValueError, KeyError, TypeError: The weight index is damaged or names a file elsewhere.
    """
    index_file = folder / WEIGHTS_INDEX
    if index_file.is_file():
        names = sorted(set(read_settings(index_file)["weight_map"].values()))
        if not all(map(SAFE_NAME.fullmatch, names)):
            raise ValueError(index_file)
        return tuple(folder / name for name in names)
    files = tuple(sorted(folder.glob("*.safetensors")))
    if files:
        return files
    if any(any(folder.glob(pattern)) for pattern in PICKLED):
        raise ModelNotFound(
            f'The model folder "{folder.name}" contains pickle files, which can execute code.',
            hint="Download a safetensors version of the model.",
        )
    raise FileNotFoundError(folder)


def _card_or_damage(place: Place) -> PerceptionCard | ModelNotFound | None:
    try:
        return read_card(place)
    except ModelNotFound as error:
        return error


def _snapshots_of(repository: Path) -> Iterator[Place]:
    """Yield the snapshots of a repository in the hub's cache; "main" gets the bare name."""
    owner_and_name = "/".join(repository.name.split("--")[1:])
    names = _refs_of(repository / "refs")
    for snapshot in sorted((repository / "snapshots").glob("*")):
        ref = names.get(snapshot.name, snapshot.name[:SHORT_COMMIT])
        name = owner_and_name if ref == MAIN else f"{owner_and_name}@{ref}"
        if (snapshot / CONFIG_FILE).exists():
            yield Place(name=name, folder=snapshot, revision=snapshot.name)


def _refs_of(folder: Path) -> dict[str, str]:
    """Map commits to the names of branches and tags; unreadable ones are left out."""
    names = {}
    for file in islice(filter(is_regular, folder.rglob("*")), MAX_REFS):
        with suppress(OSError, ValueError):
            commit = read_regular(file, MAX_REF_BYTES).decode().strip()
            names[commit] = file.relative_to(folder).as_posix()
    return names
