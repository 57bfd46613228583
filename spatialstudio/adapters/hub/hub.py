"""Models on the hub and on this machine: the ``ModelHub`` of the studio."""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from huggingface_hub import constants

from spatialstudio.adapters.hub.catalogue import WEIGHTS, read_catalogue
from spatialstudio.adapters.hub.hub_cache import (
    RepositoryCache,
    disk_usage,
    remove_folder,
)
from spatialstudio.adapters.models.identify_file import identify_file
from spatialstudio.adapters.models.model_files import hub_caches
from spatialstudio.adapters.models.model_parts import (
    INDEX_FILE,
    is_partial,
    parts_in_use,
    read_index,
    weight_files,
)
from spatialstudio.adapters.models.model_settings import (
    MAX_SETTINGS_BYTES,
    SIGNS_OF_DAMAGE,
    read_header,
    settings_of,
)
from spatialstudio.adapters.models.program_folders import (
    checkpoint_folders,
    searched_folders,
    store_folders,
    stored_folders,
)
from spatialstudio.adapters.system_keyring import (
    UnusableKeyring,
    delete_secret,
    store_secret,
    stored_secret,
)
from spatialstudio.domain.errors import ModelNotFound
from spatialstudio.domain.hub import (
    MAIN_REVISION,
    CatalogueEntry,
    CheckedFile,
    DownloadPlan,
    HubError,
    InstalledModel,
    ModelOrigin,
    ReportProgress,
    UnfinishedDownload,
)
from spatialstudio.domain.ports import CancelToken, Surroundings, free_id
from spatialstudio.domain.safe_files import is_regular, read_regular

if TYPE_CHECKING:
    from spatialstudio.adapters.hub.hub_client import HubClient, Patience

CONFIG_FILE = "config.json"
TOKEN_VARIABLES = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
SHORT_COMMIT = 7
BYTES_IN_16_BITS = 2
DAMAGED_HEADER = "damaged header"


def build(surroundings: Surroundings) -> "HuggingFaceHub":
    """Create the hub with the cache that Hugging Face's libraries use."""
    return HuggingFaceHub(surroundings, hub_caches()[0] if hub_caches() else None)


class HuggingFaceHub:
    """A ``ModelHub`` with the Hugging Face hub and its cache.

    Args:
        surroundings: Folders of the installation.
        cache: The hub cache; None if the environment disables it.
        endpoint: Address of the hub; None for ``HF_ENDPOINT``, or the public hub.
        patience: Timeouts and delays; None for the defaults.
    """

    def __init__(
        self,
        surroundings: Surroundings,
        cache: Path | None,
        endpoint: str | None = None,
        patience: "Patience | None" = None,
    ) -> None:
        self._settings = surroundings.settings
        self._own_folders = surroundings.model_folders[1:]
        self._cache = cache or Path(constants.HF_HUB_CACHE)
        self._endpoint = endpoint
        self._patience = patience
        self.catalogue: tuple[CatalogueEntry, ...] = read_catalogue(surroundings.resources)

    @property
    def is_offline(self) -> bool:
        """Whether the environment disables access to the hub."""
        return constants.HF_HUB_OFFLINE

    def plan(self, name: str, revision: str = MAIN_REVISION) -> DownloadPlan:
        """Ask the hub what a download would fetch; see ``ModelHub``."""
        from spatialstudio.adapters.hub.plan_download import plan_download

        entry = self._entry(name)
        repository = entry.repository if entry is not None else name
        return plan_download(self._client(), self._cache, repository, revision, entry)

    def download(self, plan: DownloadPlan, report: ReportProgress, token: CancelToken) -> Path:
        """Fetch and verify the missing files; see ``ModelHub``."""
        from spatialstudio.adapters.hub.transfer import download

        return download(self._client(), self._cache, plan, report, token)

    def unfinished(self) -> tuple[UnfinishedDownload, ...]:
        """List the resumable downloads, including downloads of other programs."""
        found = []
        for cache in RepositoryCache.all_in(self._cache):
            recorded = {record.commit for record in cache.records()}
            found += [
                UnfinishedDownload(
                    repository=cache.repository,
                    revision=record.revision,
                    done_bytes=sum(
                        cache.fetched_bytes(each, record.commit)
                        for each in record.files
                        if each.name not in record.damaged
                    ),
                    total_bytes=sum(each.size_bytes for each in record.files),
                )
                for record in cache.records()
                if not cache.is_complete(record)
            ]
            found += [
                UnfinishedDownload(
                    repository=cache.repository,
                    revision=snapshot.name,
                    done_bytes=disk_usage(snapshot),
                    total_bytes=0,
                )
                for snapshot in cache.snapshots()
                if snapshot.name not in recorded and is_partial(snapshot)
            ]
        return tuple(found)

    def discard(self, repository: str) -> None:
        """Delete the fetched parts of the unfinished downloads of a repository."""
        cache = RepositoryCache(self._cache, repository)
        records = {record.commit: record for record in cache.records()}
        for commit, record in records.items():
            if not cache.is_complete(record):
                cache.remove_snapshot(commit)
        for snapshot in cache.snapshots():
            if snapshot.name not in records and is_partial(snapshot):
                cache.remove_snapshot(snapshot.name)

    def installed(self) -> tuple[InstalledModel, ...]:
        """List the complete models on this machine; files of one name have different ids."""
        found: list[InstalledModel] = []
        taken: set[str] = set()
        for model in (*self._downloaded(), *self._in_own_folders(), *self._of_other_programs()):
            name = free_id(model.folder, taken) if is_regular(model.folder) else model.id
            found.append(replace(model, id=name))
            taken.add(name)
        return tuple(found)

    def check(self, name: str) -> tuple[CheckedFile, ...]:
        """Verify sizes and hashes of a model; see ``ModelHub``."""
        model = self._model(name)
        if model.origin is not ModelOrigin.HUB_CACHE:
            return tuple(_check_header(file, model.folder) for file in _weights_in(model.folder))
        cache = RepositoryCache(self._cache, model.id.partition("@")[0])
        snapshot = cache.snapshot(model.revision)
        record = cache.record_of(model.revision) or cache.derived_record(snapshot)
        if record is None:
            raise HubError(
                f'The hashes of "{name}" are unknown: another program has downloaded it.',
                hint=f'Download it again: remove it, then "spatialstudio models get {name}".',
            )
        return cache.check(record)

    def remove(self, name: str) -> int:
        """Delete a model; see ``ModelHub``."""
        model = self._model(name)
        if not model.is_removable:
            raise HubError(
                f'The model "{name}" belongs to another program.',
                hint=f"Delete it there: {model.folder}.",
            )
        try:
            if model.origin is ModelOrigin.HUB_CACHE:
                cache = RepositoryCache(self._cache, model.id.partition("@")[0])
                return cache.remove_snapshot(model.revision)
            return remove_folder(model.folder, model.folder.parent)
        except OSError as error:
            raise HubError(
                f'The model "{name}" cannot be deleted: {(error.strerror or "").lower()}.',
                hint=f"Check the permissions of {model.folder}.",
            ) from error

    def has_token(self) -> bool:
        """Return True if a token is stored or set."""
        return self._find_token() is not None

    def store_token(self, token: str) -> None:
        """Store a token in the system keyring; an empty one deletes it."""
        try:
            if token:
                store_secret(self._address, token)
            else:
                delete_secret(self._address)
        except UnusableKeyring as error:
            raise HubError(
                "This system has no keyring to store the token.",
                hint="Put the token into the environment variable HF_TOKEN.",
            ) from error

    def use_folder(self, folder: Path) -> tuple[Path, ...]:
        """Add the checkpoint folders of another program; see ``ModelHub``."""
        try:
            found = checkpoint_folders(folder)
        except (OSError, ValueError) as error:
            raise HubError(
                f'The file "{folder.name}" cannot be read.',
                hint="Choose the extra_model_paths.yaml of ComfyUI, or a folder of models.",
            ) from error
        if not found:
            raise HubError(
                f'There are no checkpoints in "{folder}".',
                hint="Choose the main folder of ComfyUI or AUTOMATIC1111, or a folder with "
                "safetensors files.",
            )
        if self._settings is not None:
            stored = stored_folders(self._settings)
            store_folders(self._settings, tuple(dict.fromkeys((*stored, *found))))
        return found

    @property
    def _address(self) -> str:
        """The hub's address, under which the keyring holds its token."""
        from spatialstudio.adapters.hub.hub_client import hub_address

        return hub_address(self._endpoint)

    def _client(self) -> "HubClient":
        from spatialstudio.adapters.hub.hub_client import HubClient

        return HubClient(self._find_token, self._endpoint, self._patience)

    def _find_token(self) -> str | None:
        """Return the token of the environment, the keyring, or ``hf auth login``."""
        from huggingface_hub import get_token

        named = (os.environ.get(name) for name in TOKEN_VARIABLES)
        return next(filter(None, named), None) or stored_secret(self._address) or get_token()

    def _entry(self, name: str) -> CatalogueEntry | None:
        return next((each for each in self.catalogue if name in (each.id, each.repository)), None)

    def _model(self, name: str) -> InstalledModel:
        entry = self._entry(name)
        wanted = entry.repository if entry is not None else name
        installed = self.installed()
        for model in installed:
            if wanted in (model.id, str(model.folder)):
                return model
        names = ", ".join(model.id for model in installed)
        raise HubError(
            f'The model "{name}" is not installed.',
            hint=f"Installed: {names}." if names else "No model is installed.",
        )

    def _downloaded(self) -> Iterator[InstalledModel]:
        for cache in RepositoryCache.all_in(self._cache):
            main = _main_commit(cache)
            records = {record.commit: record for record in cache.records()}
            for snapshot in cache.snapshots():
                record = records.get(snapshot.name)
                is_complete = (
                    cache.is_complete(record) if record is not None else not is_partial(snapshot)
                )
                if not is_complete:
                    continue
                is_main = snapshot.name == main or len(cache.snapshots()) == 1
                suffix = "" if is_main else f"@{snapshot.name[:SHORT_COMMIT]}"
                yield InstalledModel(
                    id=cache.repository + suffix,
                    folder=snapshot,
                    size_bytes=disk_usage(snapshot),
                    origin=ModelOrigin.HUB_CACHE,
                    revision=snapshot.name,
                    architecture=_architecture(snapshot),
                    is_removable=True,
                    memory_bytes=_bytes_in_16_bits(snapshot),
                )

    def _in_own_folders(self) -> Iterator[InstalledModel]:
        for root in self._own_folders:
            for place in sorted(root.glob("*")):
                if model := _model_at(place, ModelOrigin.MODELS_FOLDER, is_removable=True):
                    yield model

    def _of_other_programs(self) -> Iterator[InstalledModel]:
        for root in searched_folders(self._settings):
            for place in sorted(root.glob("*")):
                if model := _model_at(place, ModelOrigin.OTHER_PROGRAM, is_removable=False):
                    yield model


def _model_at(place: Path, origin: ModelOrigin, *, is_removable: bool) -> InstalledModel | None:
    """Describe a model folder or a single file; None for anything else."""
    if is_regular(place) and place.suffix == WEIGHTS:
        return InstalledModel(
            id=place.stem,
            folder=place,
            size_bytes=place.stat().st_size,
            origin=origin,
            architecture=_content(place),
            is_removable=is_removable,
            memory_bytes=_bytes_in_16_bits(place),
        )
    if not any(is_regular(place / name) for name in (INDEX_FILE, CONFIG_FILE)):
        return None
    return InstalledModel(
        id=place.name,
        folder=place,
        size_bytes=disk_usage(place),
        origin=origin,
        architecture=_architecture(place),
        is_removable=is_removable,
        memory_bytes=_bytes_in_16_bits(place),
    )


def _architecture(folder: Path) -> str:
    """Return the class in a folder's configuration; empty if it cannot be read."""
    for name in (INDEX_FILE, CONFIG_FILE):
        with suppress(*SIGNS_OF_DAMAGE):
            settings = settings_of(read_regular(folder / name, MAX_SETTINGS_BYTES))
            listed = settings.get("architectures") or [""]
            return str(settings.get("_class_name") or listed[0])
    return ""


def _content(file: Path) -> str:
    """Return the content of a single file in words; empty if it cannot be read."""
    with suppress(ModelNotFound):
        return identify_file(file).title
    return ""


def _bytes_in_16_bits(place: Path) -> int:
    """Return the size in 16 bits of the weights that are loaded; 0 if a header cannot be read."""
    with suppress(*SIGNS_OF_DAMAGE):
        if is_regular(place):
            files: tuple[Path, ...] = (place,)
        elif is_regular(place / INDEX_FILE):
            files = weight_files(place, parts_in_use(read_index(place)))
        else:
            files = tuple(place.glob(f"*{WEIGHTS}"))
        shapes = (shape for file in files for shape in read_header(file).shapes.values())
        return BYTES_IN_16_BITS * sum(map(prod, shapes))
    return 0


def _main_commit(cache: RepositoryCache) -> str:
    with suppress(OSError, ValueError):
        return read_regular(cache.folder / "refs" / MAIN_REVISION, 4096).decode().strip()
    return ""


def _weights_in(place: Path) -> tuple[Path, ...]:
    return (place,) if is_regular(place) else tuple(sorted(place.rglob(f"*{WEIGHTS}")))


def _check_header(file: Path, folder: Path) -> CheckedFile:
    name = file.name if file == folder else file.relative_to(folder).as_posix()
    try:
        read_header(file)
    except SIGNS_OF_DAMAGE:
        return CheckedFile(name=name, problem=DAMAGED_HEADER)
    return CheckedFile(name=name)
