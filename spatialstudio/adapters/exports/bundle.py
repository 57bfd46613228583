"""Runs in one zip, which another installation opens.

bundle.json   {"format": "spatialstudio-bundle", "version": 1,
"runs": [{"name": ..., "month": "2026/11", "files": {".png": sha256, ...}}]}
runs/<name>.png, .strace, .json
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

from spatialstudio.adapters.durable_files import explained_writing
from spatialstudio.adapters.stores.arrival import ENDINGS, PICTURE_ENDING, arrive
from spatialstudio.adapters.stores.trace_file import BROKEN
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.export import ExportedRun

FORMAT = "spatialstudio-bundle"
VERSION = 1
INDEX = "bundle.json"
LARGEST_FILE_BYTES = 500_000_000

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

    A run that is already there, file for file, is left as it is.

    Raises:
        StoreError: It is no bundle, damaged, or the library cannot be written.
    """
    if not path.is_file():
        raise StoreError(f'There is no file "{path}".', hint="Choose a zip made by export.")
    try:
        with ZipFile(path) as archive:
            return tuple(_runs(archive, root))
    except BROKEN as error:
        raise StoreError(f'The bundle "{path.name}" is damaged.', hint="Copy it again.") from error


def _runs(archive: ZipFile, root: Path) -> Iterator[Path]:
    for run in _listed(archive):
        files = {
            ending: _checked(archive, f"runs/{run['name']}{ending}", digest)
            for ending, digest in run["files"].items()
            if ending in ENDINGS
        }
        folder, stem = root / _month(run["month"]), str(run["stem"])
        if PICTURE_ENDING not in files or Path(stem).name != stem or stem.startswith("."):
            raise _FOREIGN
        present = folder / f"{stem}{PICTURE_ENDING}"
        if present.exists() and present.read_bytes() == files[PICTURE_ENDING]:
            yield present
            continue
        with explained_writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            yield arrive(folder, stem, files)


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
