"""Transfer of a model into the hub cache: resumable, verified, and complete or absent.

``huggingface_hub`` starts a file from the beginning after an interruption; here the file continues
where it stopped. Files are fetched over plain HTTP; Xet, an optional protocol of the hub, is not
used.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from huggingface_hub.errors import HfHubHTTPError
from huggingface_hub.utils import (  # type: ignore[attr-defined]  # lazily exported
    WeakFileLock,
    get_session,
    hf_raise_for_status,
)

from spatialstudio.adapters.hub.hub_cache import (
    Record,
    RepositoryCache,
    digest_of,
    free_bytes,
    missing_bytes,
)
from spatialstudio.adapters.hub.hub_client import HubClient, retry_after, wait
from spatialstudio.adapters.hub.hub_errors import (
    BROKEN_OFF,
    BUSY,
    TooSlow,
    damaged,
    file_is_gone,
    no_space,
)
from spatialstudio.domain.hub import (
    DownloadPlan,
    DownloadProgress,
    RemoteFile,
    ReportProgress,
)
from spatialstudio.domain.ports import CancelToken
from spatialstudio.domain.safe_files import MEBIBYTE

SPARE_BYTES = 64 * MEBIBYTE
"""Free space that a download leaves on the disk."""

PUBLISHING = "publish"
"""Name of the lock under which snapshots appear."""

ENOUGH_BYTES = 64 * 1024
"""Bytes of an attempt that count as progress."""

REPORT_INTERVAL_S = 0.1
PARTIAL_CONTENT = 206
NOT_FOUND = 404
RANGE_NOT_SATISFIABLE = 416


def download(
    client: HubClient,
    root: Path,
    plan: DownloadPlan,
    report: ReportProgress,
    token: CancelToken,
) -> Path:
    """Fetch and verify the missing files of a plan; see ``ModelHub.download``.

    Args:
        client: Sends the requests.
        root: The hub cache.
        plan: What to fetch.
        report: Receives the progress.
        token: Checked before each piece.
    """
    cache = RepositoryCache(root, plan.repository)
    with client.explained(plan.repository):
        client.check(plan.repository)
        free, missing = free_bytes(cache.folder), missing_bytes(cache, plan.files, plan.commit)
        if missing and missing + SPARE_BYTES > free:
            raise no_space(missing + SPARE_BYTES, free)
        _prepare(cache, plan)
        progress = _Progress(plan, cache, report)
        for file in sorted(plan.files, key=lambda each: each.size_bytes):
            token.raise_if_cancelled()
            progress.begin(file)
            with _locked(cache, file.digest):
                _Transfer(client, cache, plan, file).run(progress, token)
        with _locked(cache, PUBLISHING):
            folder = cache.publish(plan)
        progress.end()
    return folder


def _prepare(cache: RepositoryCache, plan: DownloadPlan) -> None:
    """Record the plan, and remove files that failed a verification."""
    known = cache.record_of(plan.commit)
    digests = {each.name: each.digest for each in plan.files}
    for name in known.damaged if known is not None else ():
        (cache.snapshot(plan.commit) / name).unlink(missing_ok=True)
        if name in digests:
            cache.blob(digests[name]).unlink(missing_ok=True)
    cache.write_record(
        Record(
            repository=plan.repository,
            revision=plan.revision,
            commit=plan.commit,
            files=plan.files,
        )
    )
    (cache.folder / "blobs").mkdir(exist_ok=True)


@contextmanager
def _locked(cache: RepositoryCache, name: str) -> Iterator[None]:
    """Exclude other programs from a blob, with the lock that ``huggingface_hub`` uses."""
    cache.locks.mkdir(parents=True, exist_ok=True)
    with WeakFileLock(cache.locks / f"{name}.lock"):
        yield


class _Progress:
    """Counts fetched bytes and reports them at most ten times a second."""

    def __init__(self, plan: DownloadPlan, cache: RepositoryCache, report: ReportProgress) -> None:
        self._plan = plan
        self._report = report
        self._sizes = {each.name: cache.fetched_bytes(each, plan.commit) for each in plan.files}
        self._file = ""
        self._reported_at = 0.0

    def begin(self, file: RemoteFile) -> None:
        """Report the file that is fetched next."""
        self._file = file.name
        self._send()

    def show(self, size_bytes: int) -> None:
        """Take note of the bytes of the current file."""
        self._sizes[self._file] = size_bytes
        if time.monotonic() - self._reported_at >= REPORT_INTERVAL_S:
            self._send()

    def end(self) -> None:
        """Report the end."""
        self._file = ""
        self._sizes = {each.name: each.size_bytes for each in self._plan.files}
        self._send()

    def _send(self) -> None:
        self._reported_at = time.monotonic()
        self._report(
            DownloadProgress(
                repository=self._plan.repository,
                file=self._file,
                done_bytes=sum(self._sizes.values()),
                total_bytes=self._plan.total_bytes,
            )
        )


class _Transfer:
    """Fetches one file: continues its partial blob, verifies it, and renames it."""

    def __init__(
        self, client: HubClient, cache: RepositoryCache, plan: DownloadPlan, file: RemoteFile
    ) -> None:
        self._file = file
        self._cache, self._commit = cache, plan.commit
        self._blob, self._partial = cache.blob(file.digest), cache.partial(file.digest)
        self._address = client.address(plan.repository, plan.commit, file.name)
        self._headers = client.headers
        self._patience = client.patience

    def run(self, progress: _Progress, token: CancelToken) -> None:
        """Fetch the file unless it is present.

        Raises:
            HubError: Its content differs from the announced one, twice.
            HTTPError, OSError: It cannot be fetched or stored.
            Cancelled: The token was cancelled.
        """
        for _ in range(2):
            if self._cache.is_present(self._file, self._commit):
                return
            self._fetch(progress, token)
            if digest_of(self._partial, self._file) == self._file.digest:
                self._partial.replace(self._blob)
                return
            self._partial.unlink()
        raise damaged(self._file.name)

    def _fetch(self, progress: _Progress, token: CancelToken) -> None:
        """Fetch the missing bytes; attempts are repeated, as often as they make progress."""
        waits = list(self._patience.waits_s)
        while (start := self._size()) < self._file.size_bytes or not self._partial.exists():
            try:
                self._request(start, progress, token)
                if self._size() - start < ENOUGH_BYTES:
                    return  # complete, or cut without an error; the verification decides
            except BROKEN_OFF:
                if self._size() - start >= ENOUGH_BYTES:
                    waits = list(self._patience.waits_s)
                if not waits:
                    raise
                wait(waits.pop(0), token)
            except HfHubHTTPError as error:
                status = error.response.status_code
                if status == RANGE_NOT_SATISFIABLE and start:
                    self._partial.unlink()
                elif status == NOT_FOUND:
                    raise file_is_gone(self._file.name) from error
                elif status in BUSY and waits:
                    wait(max(waits.pop(0), retry_after(error)), token)
                else:
                    raise

    def _request(self, start: int, progress: _Progress, token: CancelToken) -> None:
        """Send one request, and append its bytes to the partial blob."""
        headers = {**self._headers, "Range": f"bytes={start}-"} if start else self._headers
        with get_session().stream(
            "GET", self._address, headers=headers, timeout=self._patience.answer_s
        ) as response:
            hf_raise_for_status(response)
            continues = start > 0 and response.status_code == PARTIAL_CONTENT
            described = str(response.headers.get("Content-Range", ""))
            if continues and not described.startswith(f"bytes {start}-"):
                raise ValueError(described)
            with self._partial.open("ab" if continues else "wb", buffering=0) as out:
                self._write(response.iter_bytes(), out, progress, token)

    def _write(
        self, pieces: Iterator[bytes], out: BinaryIO, progress: _Progress, token: CancelToken
    ) -> None:
        size = seen = out.tell()
        since = time.monotonic()
        for piece in pieces:
            token.raise_if_cancelled()
            out.write(piece)
            size += len(piece)
            if size - seen >= ENOUGH_BYTES:
                seen, since = size, time.monotonic()
            elif time.monotonic() - since > self._patience.slow_s:
                raise TooSlow(self._file.name)
            progress.show(min(size, self._file.size_bytes))
            if size > self._file.size_bytes:
                return  # longer than announced; the verification will fail

    def _size(self) -> int:
        try:
            return self._partial.stat().st_size
        except FileNotFoundError:
            return 0
