"""The layout of the Hugging Face cache: blobs by hash, snapshots that link to them, refs.

A blob is fetched under the name ``<hash>.incomplete`` and renamed once its hash is verified. A
snapshot appears in one step when all its blobs are there. What a download consists of is recorded
in ``spatialstudio/<commit>.json`` next to the blobs, so that it can be resumed and verified.
"""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any
from uuid import uuid4

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.hub import CheckedFile, DownloadPlan, RemoteFile
from spatialstudio.domain.safe_files import (
    MEBIBYTE,
    is_inside,
    is_path_component,
    is_regular,
    open_regular,
    read_regular,
)

PREFIX = "models--"
RECORDS = "spatialstudio"
INCOMPLETE = ".incomplete"
STAGING = ".spatialstudio-"
DIGEST = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
COMMIT = re.compile(r"[0-9a-f]{40}")
SHA256_DIGITS = 64
MAX_RECORD_BYTES = 8 * MEBIBYTE
MISSING, WRONG_SIZE, WRONG_HASH = "missing", "wrong size", "wrong hash"


@frozen
class Record:
    """What a snapshot consists of.

    Attributes:
        repository: Id on the hub.
        revision: Branch, tag or commit that was asked for.
        commit: The commit that it resolved to.
        files: Its files.
        damaged: Names of files that failed a verification.
    """

    repository: str
    revision: str
    commit: str
    files: tuple[RemoteFile, ...]
    damaged: tuple[str, ...] = ()


class RepositoryCache:
    """The folder of one repository in the cache.

    Args:
        root: The cache.
        repository: Id on the hub.
    """

    def __init__(self, root: Path, repository: str) -> None:
        self.repository = repository
        self.folder = root / (PREFIX + repository.replace("/", "--"))
        self.locks = root / ".locks" / self.folder.name

    @classmethod
    def all_in(cls, root: Path) -> Iterator["RepositoryCache"]:
        """Yield the repositories of a cache, by name."""
        for folder in sorted(root.glob(f"{PREFIX}*")):
            if folder.is_dir():
                yield cls(root, folder.name.removeprefix(PREFIX).replace("--", "/"))

    def blob(self, digest: str) -> Path:
        """Return the path of a blob."""
        if not DIGEST.fullmatch(digest):
            raise ValueError(digest)
        return self.folder / "blobs" / digest

    def partial(self, digest: str) -> Path:
        """Return the path of the fetched part of a blob."""
        return self.blob(digest).with_name(digest + INCOMPLETE)

    def snapshot(self, commit: str) -> Path:
        """Return the folder of a commit."""
        if not COMMIT.fullmatch(commit):
            raise ValueError(commit)
        return self.folder / "snapshots" / commit

    def snapshots(self) -> tuple[Path, ...]:
        """List the folders of commits."""
        found = sorted((self.folder / "snapshots").glob("*"))
        return tuple(each for each in found if COMMIT.fullmatch(each.name) and each.is_dir())

    def is_present(self, file: RemoteFile, commit: str) -> bool:
        """Return True if a file is fetched; its content is not read."""
        paths = (self.blob(file.digest), self.snapshot(commit) / file.name)
        return any(_has_size(path, file.size_bytes) for path in paths)

    def fetched_bytes(self, file: RemoteFile, commit: str) -> int:
        """Return the number of bytes of a file that are on disk."""
        if self.is_present(file, commit):
            return file.size_bytes
        with suppress(OSError):
            return min(self.partial(file.digest).stat().st_size, file.size_bytes)
        return 0

    def records(self) -> tuple[Record, ...]:
        """Read the records of all downloads; damaged ones are skipped."""
        found = []
        for file in sorted((self.folder / RECORDS).glob("*.json")):
            with suppress(OSError, ValueError, LookupError, TypeError, RecursionError):
                found.append(_record_of(json.loads(read_regular(file, MAX_RECORD_BYTES))))
        return tuple(each for each in found if each.repository == self.repository)

    def record_of(self, commit: str) -> Record | None:
        """Return the record of a commit."""
        return next((each for each in self.records() if each.commit == commit), None)

    def write_record(self, record: Record) -> None:
        """Write the record of a download atomically."""
        fields = {
            "repository": record.repository,
            "revision": record.revision,
            "commit": record.commit,
            "files": [[each.name, each.size_bytes, each.digest] for each in record.files],
            "damaged": list(record.damaged),
        }
        _write_atomically(
            self.folder / RECORDS / f"{record.commit}.json", json.dumps(fields, indent=1)
        )

    def is_complete(self, record: Record) -> bool:
        """Return True if the snapshot holds every file of a record."""
        folder = self.snapshot(record.commit)
        return not record.damaged and all(
            is_regular(folder / each.name)
            and (folder / each.name).stat().st_size == each.size_bytes
            for each in record.files
        )

    def publish(self, plan: DownloadPlan) -> Path:
        """Make a snapshot of fetched blobs, in one step unless a part of it exists already.

        The caller holds the lock under which snapshots appear.

        Returns:
            Its folder.
        """
        target = self.snapshot(plan.commit)
        if target.exists():
            for file in plan.files:
                self._link_into(target, target, file)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            for left_over in self.folder.glob(f"{STAGING}*"):  # of an interrupted program
                shutil.rmtree(left_over, ignore_errors=True)
            staging = self.folder / f"{STAGING}{uuid4().hex}"
            for file in plan.files:
                self._link_into(staging, target, file)
            try:
                staging.rename(target)
            except OSError:  # another program was faster
                shutil.rmtree(staging, ignore_errors=True)
                if not target.exists():
                    raise
                return self.publish(plan)
        parts = PurePosixPath(plan.revision).parts
        if plan.revision != plan.commit and all(map(is_path_component, parts)):
            _write_atomically(self.folder.joinpath("refs", *parts), plan.commit)
        return target

    def remove_snapshot(self, commit: str) -> int:
        """Delete a snapshot with the blobs that no other one uses; return the freed bytes."""
        if not self.folder.is_dir():
            return 0
        before = disk_usage(self.folder)
        others = [each for each in self.snapshots() if each.name != commit]
        if not others:
            shutil.rmtree(self.folder)
            shutil.rmtree(self.locks, ignore_errors=True)
            return before
        shutil.rmtree(self.snapshot(commit), ignore_errors=True)
        (self.folder / RECORDS / f"{commit}.json").unlink(missing_ok=True)
        for ref in (self.folder / "refs").rglob("*"):
            if is_regular(ref) and read_regular(ref, MEBIBYTE).decode(errors="ignore") == commit:
                ref.unlink()
        self.remove_unused_blobs()
        return before - disk_usage(self.folder)

    def remove_unused_blobs(self) -> None:
        """Delete the blobs, partial ones included, that no snapshot links to."""
        used = {
            path.resolve().name
            for folder in self.snapshots()
            for path in folder.rglob("*")
            if path.is_symlink()
        }
        for blob in (self.folder / "blobs").glob("*"):
            if blob.name not in used:
                blob.unlink(missing_ok=True)

    def check(self, record: Record) -> tuple[CheckedFile, ...]:
        """Verify every file of a record, and note the damaged ones in it."""
        folder = self.snapshot(record.commit)
        checked = tuple(
            CheckedFile(name=each.name, problem=problem_of(folder / each.name, each))
            for each in record.files
        )
        damaged = tuple(each.name for each in checked if each.problem)
        self.write_record(
            Record(
                repository=record.repository,
                revision=record.revision,
                commit=record.commit,
                files=record.files,
                damaged=damaged,
            )
        )
        return checked

    def derived_record(self, snapshot: Path) -> Record | None:
        """Return the record of another program's download; None if its hashes are unknown."""
        files = []
        for path in sorted(snapshot.rglob("*")):
            if path.is_dir():
                continue
            digest = path.resolve().name
            if not path.is_symlink() or not DIGEST.fullmatch(digest):
                return None
            size = path.stat().st_size if path.exists() else 0
            name = path.relative_to(snapshot).as_posix()
            files.append(RemoteFile(name=name, size_bytes=size, digest=digest))
        return Record(
            repository=self.repository,
            revision=snapshot.name,
            commit=snapshot.name,
            files=tuple(files),
        )

    def _link_into(self, folder: Path, final: Path, file: RemoteFile) -> None:
        """Link a blob into a folder that will be renamed to ``final``; copy it without links."""
        place, blob = folder / file.name, self.blob(file.digest)
        if _has_size(place, file.size_bytes):
            return
        place.parent.mkdir(parents=True, exist_ok=True)
        draft = place.with_name(f"{STAGING}{uuid4().hex}")
        try:
            draft.symlink_to(os.path.relpath(blob, (final / file.name).parent))
        except OSError:  # Windows without developer mode
            try:
                os.link(blob, draft)
            except OSError:
                shutil.copyfile(blob, draft)
        draft.replace(place)


def problem_of(path: Path, file: RemoteFile) -> str:
    """Compare a file with the size and hash on the hub; return the problem, or an empty text."""
    try:
        if path.stat().st_size != file.size_bytes:
            return WRONG_SIZE
        return "" if digest_of(path, file) == file.digest else WRONG_HASH
    except OSError:
        return MISSING


def digest_of(path: Path, file: RemoteFile) -> str:
    """Return the hash of a file, of the same kind as the one on the hub.

    Raises:
        OSError: It cannot be read.
    """
    if len(file.digest) == SHA256_DIGITS:
        content_hash = hashlib.sha256()
    else:
        content_hash = hashlib.sha1(usedforsecurity=False)
        content_hash.update(f"blob {path.stat().st_size}\0".encode())
    with open_regular(path) as content:
        while piece := content.read(MEBIBYTE):
            content_hash.update(piece)
    return content_hash.hexdigest()


def disk_usage(folder: Path) -> int:
    """Return the bytes of all files in a folder; links count as what they lead to, once."""
    seen: dict[tuple[int, int], int] = {}
    for path in folder.rglob("*"):
        with suppress(OSError):
            status = path.stat()
            if is_regular(path):
                seen[status.st_dev, status.st_ino] = status.st_size
    return sum(seen.values())


def free_bytes(folder: Path) -> int:
    """Return the free space on the disk of a folder, which may not exist yet."""
    place = next(each for each in (folder, *folder.parents) if each.exists())
    return shutil.disk_usage(place).free


def missing_bytes(cache: RepositoryCache, files: Sequence[RemoteFile], commit: str) -> int:
    """Return the bytes still to fetch; files that failed a verification count as missing."""
    record = cache.record_of(commit)
    damaged = record.damaged if record is not None else ()
    return sum(
        each.size_bytes - (0 if each.name in damaged else cache.fetched_bytes(each, commit))
        for each in files
    )


def is_safe_name(name: str) -> bool:
    """Return True for a relative path with "/" that stays inside its folder on every system."""
    return all(map(is_path_component, name.split("/")))


def clashing_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return names that differ from another one only by case."""
    counts: dict[str, list[str]] = {}
    for name in names:
        counts.setdefault(name.casefold(), []).append(name)
    return tuple(name for group in counts.values() if len(group) > 1 for name in group)


def remove_folder(folder: Path, root: Path) -> int:
    """Delete a model folder, file or link inside a folder of models; return the freed bytes.

    A link is deleted, never what it leads to.

    Raises:
        ValueError: It does not lie directly in ``root``.
    """
    if folder.parent.resolve() != root.resolve() or not is_inside(folder.parent, root):
        raise ValueError(folder)
    if folder.is_symlink():
        folder.unlink()
        return 0
    size = disk_usage(folder) if folder.is_dir() else folder.stat().st_size
    if folder.is_dir():
        shutil.rmtree(folder)
    else:
        folder.unlink()
    return size


def _record_of(fields: Mapping[str, Any]) -> Record:
    files = tuple(
        RemoteFile(name=str(name), size_bytes=int(size), digest=str(digest))
        for name, size, digest in fields["files"]
    )
    if not COMMIT.fullmatch(fields["commit"]) or not all(
        is_safe_name(each.name) and DIGEST.fullmatch(each.digest) for each in files
    ):
        raise ValueError(fields["commit"])
    return Record(
        repository=str(fields["repository"]),
        revision=str(fields["revision"]),
        commit=str(fields["commit"]),
        files=files,
        damaged=tuple(map(str, fields["damaged"])),
    )


def _write_atomically(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{STAGING}{uuid4().hex}")
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _has_size(path: Path, size_bytes: int) -> bool:
    return is_regular(path) and path.stat().st_size == size_bytes
