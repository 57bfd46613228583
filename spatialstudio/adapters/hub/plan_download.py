"""What a download fetches: the files of one commit that can be loaded safely."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from huggingface_hub import ModelCardData
from huggingface_hub.errors import RevisionNotFoundError
from huggingface_hub.hf_api import ModelInfo, RepoSibling

from spatialstudio.adapters.hub.catalogue import (
    WEIGHTS,
    select_diffusers,
    select_transformers,
)
from spatialstudio.adapters.hub.hub_cache import (
    COMMIT,
    DIGEST,
    RepositoryCache,
    clashing_names,
    free_bytes,
    is_safe_name,
    missing_bytes,
)
from spatialstudio.adapters.hub.hub_client import HubClient
from spatialstudio.adapters.hub.hub_errors import (
    custom_code,
    gated,
    nothing_to_load,
    pickles_only,
    token_withheld,
)
from spatialstudio.adapters.models.model_kinds import MODEL_KINDS, current_name
from spatialstudio.adapters.models.model_parts import INDEX_FILE, LIBRARIES, parts_in_use
from spatialstudio.adapters.models.model_settings import CustomCode, refuse_unsafe
from spatialstudio.domain.hub import (
    HUB_PAGES,
    MAIN_REVISION,
    CatalogueEntry,
    DownloadPlan,
    RemoteFile,
    UnsuitableRepository,
)

CONFIG_FILE = "config.json"
OTHER_LICENCE = "other"
"""The hub's word for a licence that it does not list; ``license_name`` names it."""
PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".h5", ".msgpack")
MAX_FILES = 5000


def plan_download(
    client: HubClient,
    root: Path,
    repository: str,
    revision: str,
    entry: CatalogueEntry | None = None,
) -> DownloadPlan:
    """Ask the hub what a download would fetch.

    Args:
        client: Sends the requests.
        root: The hub cache.
        repository: Id on the hub.
        revision: Branch, tag or commit.
        entry: Its entry in the catalogue, if it has one.

    Raises:
        HubError: The repository is unknown, gated, unsuitable or not reachable.
    """
    with client.explained(repository):
        client.check(repository)
        cache = RepositoryCache(root, repository)
        info = _info(client, cache, revision)
        commit = str(info.sha)
        listed = _listed(client, repository, info)
        names = _select(client, repository, commit, tuple(listed), entry)
        _check_names(repository, names)
        files = tuple(_remote_file(listed[name]) for name in names)
    licence, licence_url = licence_of(repository, info, entry)
    return DownloadPlan(
        repository=repository,
        revision=revision,
        commit=commit,
        files=files,
        missing_bytes=missing_bytes(cache, files, commit),
        free_bytes=free_bytes(cache.folder),
        licence=licence,
        licence_url=licence_url,
        is_gated=bool(info.gated),
        folder=cache.snapshot(commit),
    )


def licence_of(repository: str, info: ModelInfo, entry: CatalogueEntry | None) -> tuple[str, str]:
    """Return the licence that the repository states, and where it can be read.

    Where the repository states none, it is that of the catalogue; empty without an entry.
    """
    card = info.card_data if info.card_data is not None else ModelCardData()
    name, link = (str(card.get(key) or "") for key in ("license", "license_link"))
    page = f"{HUB_PAGES}/{repository}"
    if name == OTHER_LICENCE:
        name = str(card.get("license_name") or name)
    if entry is not None and name in ("", OTHER_LICENCE, entry.licence):
        return entry.licence, entry.licence_url
    if is_safe_name(link):
        link = f"{page}/blob/{MAIN_REVISION}/{link}"
    return name, link if link.startswith("https://") else page


def _info(client: HubClient, cache: RepositoryCache, revision: str) -> ModelInfo:
    """Ask for the files of a revision; an unfinished download keeps its commit."""
    for record in cache.records():
        if record.revision == revision and not cache.is_complete(record):
            try:
                return client.info(cache.repository, record.commit)
            except RevisionNotFoundError:  # the history was rewritten
                break
    return client.info(cache.repository, revision)


def _listed(client: HubClient, repository: str, info: ModelInfo) -> dict[str, RepoSibling]:
    """Return the files of a repository by name.

    Raises:
        ValueError: The answer is not that of a hub.
        HubError: The repository is gated, or has too many files.
    """
    siblings = tuple(info.siblings or ())
    if not COMMIT.fullmatch(str(info.sha)):
        raise ValueError(info.sha)
    if len(siblings) > MAX_FILES:
        raise UnsuitableRepository(
            f'The repository "{repository}" has more than {MAX_FILES} files.',
            hint="Choose a repository that holds one model.",
        )
    if info.gated and client.withholds_token:
        raise token_withheld(client.endpoint)
    if info.gated and not client.has_token:
        raise gated(repository, has_token=False)
    return {each.rfilename: each for each in siblings}


def _select(
    client: HubClient,
    repository: str,
    commit: str,
    names: tuple[str, ...],
    entry: CatalogueEntry | None,
) -> tuple[str, ...]:
    """Select the files to download.

    Raises:
        UnsuitableRepository: Nothing in the repository can be loaded safely.
    """
    patterns = entry.files if entry is not None else ()
    has_pickles = any(name.endswith(PICKLES) for name in names)
    if not any(name.endswith(WEIGHTS) for name in names) and has_pickles:
        raise pickles_only(repository)
    settings_file = next((name for name in (INDEX_FILE, CONFIG_FILE) if name in names), None)
    if settings_file is None:
        raise nothing_to_load(repository)
    try:
        settings = client.settings(repository, commit, settings_file)
        refuse_unsafe(settings, numbers=False)
        if settings_file == INDEX_FILE:
            _check_pipeline(repository, settings, names)
            chosen = select_diffusers(names, parts_in_use(settings), patterns)
        else:
            chosen = select_transformers(names, patterns)
    except CustomCode as error:
        raise custom_code(repository) from error
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise UnsuitableRepository(
            f'The file "{settings_file}" of the repository "{repository}" is damaged.',
            hint="Choose another repository or revision.",
        ) from error
    if not any(name.endswith(WEIGHTS) for name in chosen):
        raise pickles_only(repository) if has_pickles else nothing_to_load(repository)
    return chosen


def _check_pipeline(repository: str, index: Mapping[str, Any], names: Sequence[str]) -> None:
    """Reject pipelines that need custom code, and classes that cannot be loaded.

    Raises:
        CustomCode: A part is defined by a Python file of the repository.
        UnsuitableRepository: The class is not supported.
    """
    for part, value in index.items():
        library = str(value[0]) if isinstance(value, list) and value else ""
        if library and library not in LIBRARIES and f"{part}/{library}.py" in names:
            raise CustomCode
    pipeline_class = current_name(str(index["_class_name"]))
    if pipeline_class not in MODEL_KINDS:
        raise UnsuitableRepository(
            f'The model "{repository}" is of a kind that cannot be used: {pipeline_class}.',
            hint=f"Supported classes: {', '.join(MODEL_KINDS)}.",
        )


def _check_names(repository: str, names: Sequence[str]) -> None:
    """Reject names that leave their folder, or that are one file on some systems.

    Raises:
        UnsuitableRepository: There is such a name.
    """
    unsafe = [name for name in names if not is_safe_name(name)]
    clashing = clashing_names(names)
    if unsafe or clashing:
        kind = "leaves its folder" if unsafe else "differs from another one only by case"
        raise UnsuitableRepository(
            f'The file name "{(*unsafe, *clashing)[0]}" in the repository "{repository}" {kind}.',
            hint="Choose another repository, and report this one to the hub.",
        )


def _remote_file(sibling: RepoSibling) -> RemoteFile:
    """Convert the library's description of a file.

    Raises:
        ValueError: Size or hash is missing.
    """
    lfs = sibling.lfs
    digest = str(lfs.sha256 if lfs is not None else sibling.blob_id)
    size = lfs.size if lfs is not None else sibling.size
    if not isinstance(size, int) or size < 0 or not DIGEST.fullmatch(digest):
        raise ValueError(sibling.rfilename)
    return RemoteFile(name=sibling.rfilename, size_bytes=size, digest=digest)
