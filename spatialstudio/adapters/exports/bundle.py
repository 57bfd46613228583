"""Runs in a zip archive for another installation.

bundle.json   {"format": "spatialstudio-bundle", "version": 1,
"runs": [{"name": ..., "month": "2026/11", "files": {".png": sha256, ...},
"layers": {"<file>.npy": sha256, ...}}]}
runs/<name>.png, .strace, .json
layers/<name>/<file>.npy   by choice: recorded layers, stored without compression
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from struct import Struct
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo, is_zipfile

import numpy as np

from spatialstudio.adapters.attention_cache import (
    LONGEST_HEADER_BYTES,
    holds_layer,
    make_room,
    written_run,
)
from spatialstudio.adapters.durable_files import explained_writing, write_whole
from spatialstudio.adapters.exports.data_files import npy_parts
from spatialstudio.adapters.images import PNG_ALONE, decode
from spatialstudio.adapters.storage.stores.atomic_write import (
    ENDINGS,
    PICTURE_ENDING,
    SIDECAR_ENDING,
    TRACE_ENDING,
    write_run_files,
)
from spatialstudio.adapters.storage.stores.json_codec import parse_json
from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.adapters.storage.stores.trace import LARGEST_FILE_BYTES
from spatialstudio.adapters.zip_archive import (
    BROKEN,
    ArchiveLimits,
    ArchiveTooLarge,
    open_archive,
)
from spatialstudio.domain.attention import AttentionFile, LayerValues, removed_in_words
from spatialstudio.domain.errors import ImageError, StoreError
from spatialstudio.domain.export import ExportedRun, LoadedRun
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import GenerationEvent
from spatialstudio.domain.library import RunRecord
from spatialstudio.domain.run_data import layer_array_name
from spatialstudio.domain.safe_files import (
    MEBIBYTE,
    FileTooLarge,
    NotARegularFile,
    is_inside,
    is_path_component,
    is_regular,
    open_regular,
    read_regular,
)

FORMAT = "spatialstudio-bundle"
VERSION = 1
INDEX = "bundle.json"
LARGEST_BYTES: Mapping[str, int] = {
    PICTURE_ENDING: 64 * MEBIBYTE,
    TRACE_ENDING: LARGEST_FILE_BYTES,
    SIDECAR_ENDING: 32 * MEBIBYTE,
}
"""Size limits of a run's files."""
LARGEST_BUNDLE_BYTES = 8 * 1024 * MEBIBYTE
"""Size limit of a bundle, and of each of its recorded layers."""
LARGEST_RATIO = 50
"""Maximum ratio of unpacked to packed size; pictures and traces are already compressed."""
MOST_RUNS = 10_000
MOST_LAYERS = 100_000
"""Maximum number of recorded layers of all runs."""
MOST_NAMES = 10
"""Names of runs that a message lists."""

LOCAL_HEADER_BYTES = 30
LOCAL_LENGTHS, LOCAL_LENGTHS_AT = Struct("<HH"), 26
"""Lengths of name and extra field in the local header of a zip member, and their offset."""

_MONTH = re.compile(r"[0-9]{4}/(0[1-9]|1[0-2])")

_Files = Mapping[str, bytes]

_COPY = "Copy the bundle again."
_WITHOUT_LAYERS = StoreError(
    "The bundle does not contain this run's recorded layers.",
    hint='Export it again as "Bundle with layers".',
)
_FOREIGN = StoreError(
    "The file is not a bundle of runs.", hint=("Choose a .zip file that was exported as a bundle.")
)


def write_bundle(runs: Iterable[ExportedRun], file: BinaryIO, *, with_layers: bool = False) -> None:
    """Write a bundle; the runs' files are included unchanged.

    Args:
        runs: The runs, read with their arrays if ``with_layers``.
        file: Open for writing.
        with_layers: Whether to include their recorded layers.
    """
    listed: list[Mapping[str, Any]] = []
    with ZipFile(file, "w") as archive:
        for number, run in enumerate(runs):
            name = f"{number:04}_{run.path.stem}"
            files = {e: p.read_bytes() for e in ENDINGS if (p := run.path.with_suffix(e)).exists()}
            for ending, content in files.items():
                method = ZIP_DEFLATED if ending == ".json" else ZIP_STORED
                archive.writestr(f"runs/{name}{ending}", content, compress_type=method)
            hashes = {ending: sha256(content).hexdigest() for ending, content in files.items()}
            month = f"{run.record.created:%Y/%m}"
            entry = {"name": name, "stem": run.path.stem, "month": month, "files": hashes}
            if with_layers:
                entry["layers"] = _write_layers(archive, name, run)
            listed.append(entry)
        index = {"format": FORMAT, "version": VERSION, "runs": listed}
        archive.writestr(INDEX, json.dumps(index, ensure_ascii=False, indent=1))


def _write_layers(archive: ZipFile, name: str, run: ExportedRun) -> Mapping[str, str]:
    """Write the recorded layers of a run that can be read; return their hashes by file name."""
    arrays = {each.name: each for each in (run.data.arrays if run.data else ())}
    hashes = {}
    for file in run.record.layer_files:
        is_self = file in run.record.self_attention_files
        array = arrays.get(layer_array_name(file, is_self=is_self))
        if array is None:
            continue
        digest = sha256()
        with archive.open(ZipInfo(_layer_member(name, file.name)), "w", force_zip64=True) as member:
            for part in npy_parts(file.shape, np.dtype(file.dtype), array.blocks()):
                digest.update(part)
                member.write(part)
        hashes[file.name] = digest.hexdigest()
    return hashes


def _layer_member(run: str, file: str) -> str:
    return f"layers/{run}/{file}"


def open_bundle(
    path: Path,
    root: Path,
    layers: Path | None = None,
    note: Callable[[str], object] = lambda _sentence: None,
) -> tuple[Path, ...]:
    """Import the runs of a bundle into a library, and return their pictures.

    A run whose picture already exists keeps its verdicts and marks; missing files are added, and
    its trace is repaired. All runs are checked before the first is written.

    Args:
        path: The bundle.
        root: The library.
        layers: Cache of recorded layers; None to leave them out.
        note: Receives sentences on recorded layers that were left out or made room.

    Raises:
        StoreError: It is not a bundle, damaged, or the library cannot be written.
    """
    with _archive(path) as archive:
        runs = _listed(archive)
        for run in runs:
            _check(archive, run)
        if layers is not None:
            for run in runs:
                _put_layers(archive, run, layers, note)
        return tuple(_put(root, run, _files(archive, run)) for run in runs)


def load_bundled(path: Path, name: str = "") -> LoadedRun:
    """Load a run of a bundle without importing it; nothing remains on disk.

    Its recorded layers stay in the bundle and are mapped into memory when they are opened.

    Args:
        path: The bundle.
        name: Name of the run's files, without extension; empty for the newest run.

    Raises:
        StoreError: It is not a bundle, damaged, or has no such run.
    """
    with _archive(path) as archive:
        run = _named(_listed(archive), path, name)
        _check(archive, run)
        record, events = _load(run, _files(archive, run))
    return LoadedRun(record=record, events=events, read_layer=partial(_read_layer, path, run))


def _read_layer(path: Path, run: "_ListedRun", file: AttentionFile) -> LayerValues:
    """Map a recorded layer of a bundle into memory; its hash was checked with the run.

    Raises:
        StoreError: The bundle does not contain it, or has changed since.
    """
    if file.name not in run.layers:
        raise _WITHOUT_LAYERS
    with _archive(path) as archive, _opened(path) as source:
        info = archive.NameToInfo.get(_layer_member(run.name, file.name))
        if info is None or info.compress_type != ZIP_STORED:
            raise _FOREIGN
        start = _content_offset(source, info)
        source.seek(start)
        if not holds_layer(source.read(LONGEST_HEADER_BYTES), info.file_size, file):
            raise StoreError(f'The layer "{file.name}" in the bundle is damaged.', hint=_COPY)
        begin = start + info.file_size - file.size_bytes
        values = np.memmap(source, np.dtype(file.dtype), "r", begin, file.shape)
        return np.asarray(values)


def _content_offset(source: BinaryIO, info: ZipInfo) -> int:
    """Return where the content of a stored member begins: after its local header."""
    source.seek(info.header_offset)
    name_bytes, extra_bytes = LOCAL_LENGTHS.unpack_from(
        source.read(LOCAL_HEADER_BYTES), LOCAL_LENGTHS_AT
    )
    return int(info.header_offset + LOCAL_HEADER_BYTES + name_bytes + extra_bytes)


def _load(run: "_ListedRun", files: _Files) -> tuple[RunRecord, tuple[GenerationEvent, ...]]:
    with TemporaryDirectory(prefix="spatialstudio-") as folder:
        for ending, content in files.items():
            (Path(folder) / f"{run.stem}{ending}").write_bytes(content)
        return RunFiles().load(Path(folder) / f"{run.stem}{TRACE_ENDING}")


def _named(runs: Sequence["_ListedRun"], path: Path, name: str) -> "_ListedRun":
    """Return the run of a name, or the newest, whose name is the last, as in a folder."""
    found = [run for run in runs if TRACE_ENDING in run.hashes and name in {"", run.stem}]
    if found:
        return max(found, key=lambda run: run.stem)
    wanted = f'run "{name}"' if name else "complete run"
    names = [run.stem for run in runs[:MOST_NAMES]]
    more = f" and {len(runs) - MOST_NAMES} more" if len(runs) > MOST_NAMES else ""
    raise StoreError(
        f'The bundle "{path.name}" contains no {wanted}.',
        hint=f"Its runs: {', '.join(names)}{more}." if runs else "Export the runs again.",
    )


def _files(archive: ZipFile, run: "_ListedRun") -> _Files:
    return {ending: _checked(archive, run, ending) for ending in run.hashes}


@contextmanager
def _archive(path: Path) -> Iterator[ZipFile]:
    """Open the archive of a bundle.

    Raises:
        StoreError: It is not an archive, damaged, or too large.
    """
    try:
        with _opened(path) as file, open_archive(file, _limits(path)) as archive:
            yield archive
    except ArchiveTooLarge as error:
        raise _too_large(path) from error
    except (*BROKEN, RecursionError) as error:
        raise StoreError(f'The bundle "{path.name}" is damaged.', hint="Copy it again.") from error


@frozen
class _ListedRun:
    """A run in the index of a bundle.

    Attributes:
        name: Name of its members.
        stem: Stem of its file names.
        month: Folder of the library, "2026/11".
        hashes: SHA-256 of its members, by extension.
        layers: SHA-256 of its recorded layers, by file name.
    """

    name: str
    stem: str
    month: str
    hashes: Mapping[str, str]
    layers: Mapping[str, str]


def _opened(path: Path) -> BinaryIO:
    """Open the file of a bundle.

    Raises:
        StoreError: It is missing, not a regular file, too large, or not a zip file.
    """
    try:
        file = open_regular(path, LARGEST_BUNDLE_BYTES)
    except FileTooLarge as error:
        raise _too_large(path) from error
    except NotARegularFile as error:
        what = "a folder, not a bundle" if path.is_dir() else "not a regular file"
        raise StoreError(f'"{path}" is {what}.', hint=_FOREIGN.hint) from error
    except FileNotFoundError as error:
        raise StoreError(f'There is no file "{path}".', hint=_FOREIGN.hint) from error
    except (OSError, ValueError) as error:
        raise StoreError(
            f'The bundle "{path}" cannot be read.', hint="Check the path and its permissions."
        ) from error
    if is_zipfile(file):
        return file
    file.close()
    raise StoreError(
        f'"{path.name}" is not a .zip file or is truncated.',
        hint="Choose a .zip file that was exported as a bundle, or copy the file again.",
    )


def _too_large(path: Path) -> StoreError:
    return StoreError(f'The bundle "{path.name}" is too large to open safely.', hint=_FOREIGN.hint)


def _limits(path: Path) -> ArchiveLimits:
    size = path.stat().st_size
    return ArchiveLimits(
        members=MOST_RUNS * len(ENDINGS) + MOST_LAYERS + 1,
        member_bytes=LARGEST_BUNDLE_BYTES,
        total_bytes=size * LARGEST_RATIO + LARGEST_BYTES[PICTURE_ENDING],
    )


def _check(archive: ZipFile, run: _ListedRun) -> None:
    """Check every file of a run, one at a time in memory."""
    for ending in run.hashes:
        content = _checked(archive, run, ending)
        if ending == PICTURE_ENDING:
            _check_picture(f"{run.stem}{ending}", content)
    if run.layers:
        _check_layers(archive, run)


def _check_layers(archive: ZipFile, run: _ListedRun) -> None:
    """Check that the layers are those of the run's record, with their sizes and hashes."""
    record, _ = _load(run, _files(archive, run))
    known = {file.name: file for file in record.layer_files}
    for name, digest in run.layers.items():
        info = archive.getinfo(_layer_member(run.name, name))
        is_named = name in known and all(map(is_path_component, (name, record.request.id)))
        if not is_named or info.compress_type != ZIP_STORED:
            raise _FOREIGN
        with archive.open(info) as member:
            start = member.read(LONGEST_HEADER_BYTES)
            hashed = sha256(start)
            while block := member.read(MEBIBYTE):
                hashed.update(block)
        if not holds_layer(start, info.file_size, known[name]) or hashed.hexdigest() != digest:
            raise StoreError(f'The layer "{name}" in the bundle is damaged.', hint=_COPY)


def _put_layers(
    archive: ZipFile, run: _ListedRun, cache: Path, note: Callable[[str], object]
) -> None:
    """Write the recorded layers of a run, unless the cache has some of it already."""
    if not run.layers:
        return
    request_id = _load(run, _files(archive, run))[0].request.id
    if (cache / request_id).exists():
        return
    members = {name: _layer_member(run.name, name) for name in run.layers}
    needed = sum(archive.getinfo(member).file_size for member in members.values())
    if removed := make_room(cache, needed):
        note(removed_in_words(removed))
    with explained_writing(cache), written_run(cache, request_id) as write:
        for name, member in members.items():
            with archive.open(member) as source:
                write(name, source)


def _check_picture(name: str, content: bytes) -> None:
    """Reject content that is not a picture, or too large to open safely."""
    try:
        decode(content, name, PNG_ALONE)
    except ImageError as error:
        raise StoreError(error.message, hint=_FOREIGN.hint) from error


def _put(root: Path, run: _ListedRun, files: _Files) -> Path:
    folder = root / run.month
    if not is_inside(folder, root):
        raise _FOREIGN
    picture = folder / f"{run.stem}{PICTURE_ENDING}"
    with explained_writing(folder):
        if not _holds(picture, files[PICTURE_ENDING]):
            folder.mkdir(parents=True, exist_ok=True)
            return write_run_files(folder, run.stem, files)
        for ending, content in files.items():
            path = picture.with_suffix(ending)
            if not path.exists() or (ending == TRACE_ENDING and not _holds(path, content)):
                write_whole(path, content)
    return picture


def _holds(path: Path, content: bytes) -> bool:
    is_same_size = is_regular(path) and path.stat().st_size == len(content)
    return is_same_size and read_regular(path, len(content)) == content


def _listed(archive: ZipFile) -> tuple[_ListedRun, ...]:
    """Read the index.

    Raises:
        StoreError: It is not the index of a bundle, or has names that no run of a library can have.
    """
    names = frozenset(archive.namelist())
    index = parse_json(archive.read(INDEX), INDEX) if INDEX in names else None
    if not isinstance(index, dict) or index.get("format") != FORMAT:
        raise _FOREIGN
    if index.get("version") != VERSION:
        raise StoreError(
            "The bundle was written by a newer Spatial Studio.",
            hint="Update Spatial Studio to open it.",
        )
    listed = index.get("runs")
    runs = tuple(map(_listed_run, listed if isinstance(listed, list) else ()))
    if len({run.name for run in runs}) < len(runs):
        raise _FOREIGN
    return runs


def _listed_run(plain: object) -> _ListedRun:
    if not isinstance(plain, dict) or not isinstance(plain.get("files"), dict):
        raise _FOREIGN
    name, stem = plain.get("name"), plain.get("stem")
    hashes = {e: d for e, d in plain["files"].items() if e in ENDINGS and isinstance(d, str)}
    if not isinstance(name, str) or not isinstance(stem, str) or PICTURE_ENDING not in hashes:
        raise _FOREIGN
    if not is_path_component(f"{stem}{TRACE_ENDING}") or not stem or stem.startswith("."):
        raise _FOREIGN
    layers = plain.get("layers", {})
    if not isinstance(layers, dict) or not all(isinstance(each, str) for each in layers.values()):
        raise _FOREIGN
    month = _month(plain.get("month"))
    return _ListedRun(name=name, stem=stem, month=month, hashes=hashes, layers=layers)


def _checked(archive: ZipFile, run: _ListedRun, ending: str) -> bytes:
    name = f"runs/{run.name}{ending}"
    if archive.getinfo(name).file_size > LARGEST_BYTES[ending]:
        raise StoreError(f'"{name}" in the bundle is too large to open safely.')
    content = archive.read(name)
    if sha256(content).hexdigest() != run.hashes[ending]:
        raise StoreError(f'"{name}" in the bundle is damaged.', hint=_COPY)
    return content


def _month(text: object) -> str:
    if not (isinstance(text, str) and _MONTH.fullmatch(text)):
        raise _FOREIGN
    return text
