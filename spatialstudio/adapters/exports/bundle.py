"""Runs in a zip archive for another installation.

bundle.json   {"format": "spatialstudio-bundle", "version": 1,
"runs": [{"name": ..., "month": "2026/11", "files": {".png": sha256, ...}}]}
runs/<name>.png, .strace, .json
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, is_zipfile

from spatialstudio.adapters.durable_files import explained_writing, write_whole
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
from spatialstudio.domain.errors import ImageError, StoreError
from spatialstudio.domain.export import ExportedRun
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import GenerationEvent
from spatialstudio.domain.library import RunRecord
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
"""Size limit of a bundle, which an export builds in memory."""
LARGEST_RATIO = 50
"""Maximum ratio of unpacked to packed size; pictures and traces are already compressed."""
MOST_RUNS = 10_000
MOST_NAMES = 10
"""Names of runs that a message lists."""

_MONTH = re.compile(r"[0-9]{4}/(0[1-9]|1[0-2])")

_Files = Mapping[str, bytes]

_FOREIGN = StoreError(
    "The file is not a bundle of runs.", hint=("Choose a .zip file that was exported as a bundle.")
)


def bundle_bytes(runs: Iterable[ExportedRun]) -> bytes:
    """Return the bytes of a bundle; the runs' files are included unchanged."""
    buffer = BytesIO()
    listed: list[Mapping[str, Any]] = []
    with ZipFile(buffer, "w") as archive:
        for number, run in enumerate(runs):
            name = f"{number:04}_{run.path.stem}"
            files = {e: p.read_bytes() for e in ENDINGS if (p := run.path.with_suffix(e)).exists()}
            for ending, content in files.items():
                method = ZIP_DEFLATED if ending == ".json" else ZIP_STORED
                archive.writestr(f"runs/{name}{ending}", content, compress_type=method)
            hashes = {ending: sha256(content).hexdigest() for ending, content in files.items()}
            month = f"{run.record.created:%Y/%m}"
            listed.append({"name": name, "stem": run.path.stem, "month": month, "files": hashes})
        index = {"format": FORMAT, "version": VERSION, "runs": listed}
        archive.writestr(INDEX, json.dumps(index, ensure_ascii=False, indent=1))
    return buffer.getvalue()


def open_bundle(path: Path, root: Path) -> tuple[Path, ...]:
    """Import the runs of a bundle into a library, and return their pictures.

    A run whose picture already exists keeps its verdicts and marks; missing files are added, and
    its trace is repaired. All runs are checked before the first is written.

    Raises:
        StoreError: It is not a bundle, damaged, or the library cannot be written.
    """
    with _archive(path) as archive:
        runs = _listed(archive)
        for run in runs:
            _check(archive, run)
        return tuple(_put(root, run, _files(archive, run)) for run in runs)


def load_bundled(path: Path, name: str = "") -> tuple[RunRecord, tuple[GenerationEvent, ...]]:
    """Load a run of a bundle without importing it; nothing remains on disk.

    Args:
        path: The bundle.
        name: Name of the run's files, without extension; empty for the newest run.

    Raises:
        StoreError: It is not a bundle, damaged, or has no such run.
    """
    with _archive(path) as archive:
        run = _named(_listed(archive), path, name)
        _check(archive, run)
        files = _files(archive, run)
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
    """

    name: str
    stem: str
    month: str
    hashes: Mapping[str, str]


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
        members=MOST_RUNS * len(ENDINGS) + 1,
        member_bytes=max(LARGEST_BYTES.values()),
        total_bytes=size * LARGEST_RATIO + LARGEST_BYTES[PICTURE_ENDING],
    )


def _check(archive: ZipFile, run: _ListedRun) -> None:
    """Check every file of a run, one at a time in memory."""
    for ending in run.hashes:
        content = _checked(archive, run, ending)
        if ending == PICTURE_ENDING:
            _check_picture(f"{run.stem}{ending}", content)


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
    return _ListedRun(name=name, stem=stem, month=_month(plain.get("month")), hashes=hashes)


def _checked(archive: ZipFile, run: _ListedRun, ending: str) -> bytes:
    name = f"runs/{run.name}{ending}"
    if archive.getinfo(name).file_size > LARGEST_BYTES[ending]:
        raise StoreError(f'"{name}" in the bundle is too large to open safely.')
    content = archive.read(name)
    if sha256(content).hexdigest() != run.hashes[ending]:
        raise StoreError(f'"{name}" in the bundle is damaged.', hint="Copy the bundle again.")
    return content


def _month(text: object) -> str:
    if not (isinstance(text, str) and _MONTH.fullmatch(text)):
        raise _FOREIGN
    return text
