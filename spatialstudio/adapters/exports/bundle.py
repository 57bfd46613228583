"""Runs in one zip, which another installation opens.

bundle.json   {"format": "spatialstudio-bundle", "version": 1,
"runs": [{"name": ..., "month": "2026/11", "files": {".png": sha256, ...}}]}
runs/<name>.png, .strace, .json
"""

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

from spatialstudio.adapters.durable_files import explained_writing, write_whole
from spatialstudio.adapters.images import PNG_ALONE, decode
from spatialstudio.adapters.stores.arrival import ENDINGS, PICTURE_ENDING, TRACE_ENDING, arrive
from spatialstudio.adapters.stores.trace_file import BROKEN
from spatialstudio.domain.errors import ImageError, StoreError
from spatialstudio.domain.export import ExportedRun

FORMAT = "spatialstudio-bundle"
VERSION = 1
INDEX = "bundle.json"
LARGEST_FILE_BYTES = 500_000_000

_Files = Mapping[str, bytes]

_FOREIGN = StoreError("The file is no bundle of runs.", hint="Choose a zip made by export.")


def bundle_bytes(runs: Iterable[ExportedRun]) -> bytes:
    """Return the bytes of a bundle; the runs' files go in as they are."""
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
    """Put the runs of a bundle into a library, and return their pictures.

    A run whose picture is already there keeps its verdicts and marks; what it lacks is added, and
    its trace is made whole. All runs are checked before the first is written.

    Raises:
        StoreError: It is no bundle, damaged, or the library cannot be written.
    """
    if not path.is_file():
        raise StoreError(f'There is no file "{path}".', hint="Choose a zip made by export.")
    try:
        with ZipFile(path) as archive:
            runs = _listed(archive)
            for run in runs:
                _, stem, files = _checked_run(archive, run, root)
                _check_picture(f"{stem}{PICTURE_ENDING}", files[PICTURE_ENDING])
            return tuple(_put(*_checked_run(archive, run, root)) for run in runs)
    except BROKEN as error:
        raise StoreError(f'The bundle "{path.name}" is damaged.', hint="Copy it again.") from error


def _checked_run(archive: ZipFile, run: object, root: Path) -> tuple[Path, str, _Files]:
    """Read a run of the bundle: its folder, its name without ending, and its files."""
    if not isinstance(run, dict) or not isinstance(run.get("files"), dict):
        raise _FOREIGN
    folder, stem = root / _month(run.get("month")), str(run.get("stem", ""))
    if not stem or Path(stem).name != stem or stem.startswith(".") or "\\" in stem:
        raise _FOREIGN
    files = {
        ending: _checked(archive, f"runs/{run.get('name')}{ending}", digest)
        for ending, digest in run["files"].items()
        if ending in ENDINGS
    }
    if PICTURE_ENDING not in files:
        raise _FOREIGN
    return folder, stem, files


def _check_picture(name: str, content: bytes) -> None:
    """Refuse what is no picture, or too large to open safely."""
    try:
        decode(content, name, PNG_ALONE)
    except ImageError as error:
        raise StoreError(error.message, hint=_FOREIGN.hint) from error


def _put(folder: Path, stem: str, files: _Files) -> Path:
    picture = folder / f"{stem}{PICTURE_ENDING}"
    with explained_writing(folder):
        if not _holds(picture, files[PICTURE_ENDING]):
            folder.mkdir(parents=True, exist_ok=True)
            return arrive(folder, stem, files)
        for ending, content in files.items():
            path = picture.with_suffix(ending)
            if not path.exists() or (ending == TRACE_ENDING and not _holds(path, content)):
                write_whole(path, content)
    return picture


def _holds(path: Path, content: bytes) -> bool:
    return path.is_file() and path.read_bytes() == content


def _listed(archive: ZipFile) -> list[Any]:
    index = json.loads(archive.read(INDEX)) if INDEX in archive.namelist() else None
    if not isinstance(index, dict) or index.get("format") != FORMAT:
        raise _FOREIGN
    if index.get("version") != VERSION:
        raise StoreError(
            "The bundle was written by a newer Spatial Studio.", hint="Update to open it."
        )
    runs = index.get("runs")
    return runs if isinstance(runs, list) else []


def _checked(archive: ZipFile, name: str, digest: str) -> bytes:
    if archive.getinfo(name).file_size > LARGEST_FILE_BYTES:
        raise StoreError(f'"{name}" in the bundle is too large to open safely.')
    content = archive.read(name)
    if sha256(content).hexdigest() != digest:
        raise StoreError(f'"{name}" in the bundle is damaged.', hint="Copy the bundle again.")
    return content


def _month(text: object) -> str:
    year, _, month = str(text).partition("/")
    if not (year.isdecimal() and month.isdecimal()):
        raise _FOREIGN
    return f"{int(year):04}/{int(month):02}"
