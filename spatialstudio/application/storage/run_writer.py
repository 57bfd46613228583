"""Stage 4: collection of the engine's events per run, and storage of finished runs as records."""

import hashlib
import logging
import platform
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Protocol

from spatialstudio.application.error_reports import report_on
from spatialstudio.application.jobs.messages import (
    EngineStopped,
    JobFailed,
    PictureJudged,
)
from spatialstudio.application.session import OpenRun, RunState, RunStored, StoreFailed, after
from spatialstudio.domain.arrays import RgbImage, hash_of_picture
from spatialstudio.domain.derived_requests import best_request
from spatialstudio.domain.errors import ErrorReport, StoreError, StudioError
from spatialstudio.domain.generation import (
    GenerationCancelled,
    GenerationEvent,
    GenerationFailed,
    GenerationFinished,
    GenerationRequest,
    GenerationStarted,
    ModelRef,
    ModelSetup,
    RequestId,
    SamplingSettings,
    StepEvent,
)
from spatialstudio.domain.library import (
    Environment,
    PictureOrigin,
    RunId,
    RunRecord,
    StepSummary,
)
from spatialstudio.domain.run_ports import QueueJournal, RunStore
from spatialstudio.domain.scene import SceneGraph
from spatialstudio.domain.verdict import Evaluation

LIBRARIES = ("torch", "diffusers", "transformers", "numpy")
"""Packages whose versions may change an image."""

PACKAGE = Path(__file__).parents[2]
"""Folder of Spatial Studio's sources."""

_SLUG_LENGTH = 48
_NUMBERS = tuple(f.name for f in fields(StepSummary) if f.name not in {"attention", "preview"})


def store_run(
    request: GenerationRequest,
    events: Sequence[GenerationEvent],
    evaluation: Evaluation | None,
    store: RunStore,
    folder: Path,
    *,
    is_marked: bool = True,
) -> Path:
    """Store a finished run.

    Args:
        request: The generation request.
        events: From ``GenerationStarted`` to ``GenerationFinished``, in order.
        evaluation: None if the image was not evaluated.
        store: Run store.
        folder: Folder of the run's files.
        is_marked: Whether the image declares in XMP that a model generated it.

    Returns:
        The image file.

    Raises:
        StoreError: The folder is not writable, or the disk is full.
    """
    record = record_of(request, events, evaluation, is_marked=is_marked)
    return store.save(record, events, folder)


def record_of(
    request: GenerationRequest,
    events: Sequence[GenerationEvent],
    evaluation: Evaluation | None,
    *,
    is_marked: bool = True,
) -> RunRecord:
    """Return the record of a finished run; arguments as for ``store_run``.

    For a noise search, the record has the request that reproduces the best image, and the ranking.
    """
    (started,) = (event for event in events if isinstance(event, GenerationStarted))
    (finished,) = (event for event in events if isinstance(event, GenerationFinished))
    request = best_request(request, finished.candidates)
    created = datetime.now(UTC)
    return RunRecord(
        id=run_name(request, created),
        created=created,
        request=request,
        token_spans=started.token_spans,
        trace=tuple(
            StepSummary(**{name: getattr(event, name) for name in _NUMBERS})
            for event in events
            if isinstance(event, StepEvent)
        ),
        evaluation=evaluation,
        artifacts=(),
        environment=environment_on(started.device, finished.setup),
        seconds=finished.seconds,
        peak_memory_bytes=finished.peak_memory_bytes,
        candidates=finished.candidates,
        attention_files=started.attention_files,
        self_attention_files=started.self_attention_files,
        memory=started.memory,
        text_layers=started.text_layers,
        is_marked=is_marked,
    )


NO_STEPS = SamplingSettings(steps=0)
"""Sampling settings of an imported image."""


def store_import(run: OpenRun, store: RunStore, folder: Path) -> Path:
    """Store an evaluated imported image as a run; return its image file.

    Args:
        run: The image with its scene, evaluation and origin.
        store: Run store.
        folder: Folder of the run's files.

    Raises:
        ValueError: There is no image.
        StoreError: The folder is not writable, or the disk is full.
    """
    if run.image is None:
        raise ValueError("An import has an image.")
    request = GenerationRequest(
        id=import_id(run.image, run.scene),
        scene=run.scene,
        backend_id="",
        model=ModelRef(id=run.model_id),
        sampling=NO_STEPS,
    )
    started = GenerationStarted(request_id=request.id, total_steps=0, token_spans=(), device="")
    finished = GenerationFinished(
        request_id=request.id, image=run.image, seconds=0.0, peak_memory_bytes=0
    )
    events = started, finished
    origin = run.origin or PictureOrigin(name="")
    record = record_of(request, events, run.evaluation, is_marked=origin.is_marked)
    named = replace(record, id=_import_name(record, origin), origin=origin)
    return store.save(named, events, folder)


def import_id(image: RgbImage, scene: SceneGraph) -> RequestId:
    """Return the request id of an imported image: equal for equal pixels, prompt and relations."""
    said = [repr((each.id, each.head, each.phrase)) for each in scene.mentions]
    said += [repr((each.id, each.type.id, each.ends)) for each in scene.relations]
    parts = (hash_of_picture(image), scene.prompt.text, *said)
    content = "\n".join(parts).encode("utf-8", "surrogatepass")
    return RequestId(hashlib.sha256(content).hexdigest()[:32])


def _import_name(record: RunRecord, origin: PictureOrigin) -> RunId:
    """Return a run name from time, prompt and file: "2026-11-20_103240_a-cat-above-a-dog_photo"."""
    prompt, file = _slug(record.request.scene.prompt.text), _slug(Path(origin.name).stem)
    return RunId(f"{record.created:%Y-%m-%d_%H%M%S}_{prompt}_{file or 'picture'}")


def _slug(text: str) -> str:
    return "-".join(re.findall(r"\w+", text.lower()))[:_SLUG_LENGTH].strip("-_")


def run_name(request: GenerationRequest, created: datetime) -> RunId:
    """Return a run name from time, prompt and seed: "2026-11-20_103240_a-cat-above-a-dog_7"."""
    slug = _slug(request.scene.prompt.text) or "picture"
    return RunId(f"{created:%Y-%m-%d_%H%M%S}_{slug}_{request.sampling.seed}")


def environment_on(device: str, setup: ModelSetup | None = None) -> Environment:
    """Return versions and machine, without importing a model library.

    Args:
        device: Device of the model: "cpu", "cuda:0", ...
        setup: Setup of the model; None if unknown.
    """
    versions = {name: _version(name) for name in LIBRARIES}
    return Environment(
        app=_version("spatialstudio"),
        python=platform.python_version(),
        libraries=versions,
        device=device,
        platform=f"{platform.system()} {platform.machine()}",
        setup=setup or ModelSetup(),
        code_sha256=_hash_of_sources(),
    )


@cache
def _hash_of_sources() -> str:
    """Return a hash of the application's sources in order; empty if they are not installed."""
    digest = hashlib.sha256()
    files = sorted(PACKAGE.rglob("*.py"))
    for file in files:
        digest.update(file.relative_to(PACKAGE).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest() if files else ""


@cache
def _version(distribution: str) -> str:
    from importlib import metadata  # slow to import, and not needed before a run is stored

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "not installed"


log = logging.getLogger(__name__)


class RunSink(Protocol):
    """Stores finished runs."""

    def store(self, request: GenerationRequest, events: Sequence[GenerationEvent]) -> Path:
        """Write a run before its evaluation; return the image file.

        Raises:
            StoreError: The folder is not writable.
        """

    def judge(self, path: Path, evaluation: Evaluation) -> None:
        """Add the evaluation of its image.

        Raises:
            StoreError: The folder is not writable.
        """

    def store_evaluated(self, run: OpenRun) -> Path:
        """Store the evaluation of an open image, as a new run if it has none; return its file.

        Raises:
            StoreError: The folder is not writable.
        """

    def recover(self, request: GenerationRequest, events: Sequence[GenerationEvent]) -> Path | None:
        """Write a run to the recovery folder; None if that fails as well."""


class RunWriter:
    """Implements ``RunSink`` with a run store.

    Args:
        store: Writes runs.
        folder: Returns the current runs folder.
        recovery: Folder used when the runs folder is not writable.
        is_marked: Returns whether images declare in XMP that a model generated them.
        stored: Returns the image file of a stored request; None if there is none.
    """

    def __init__(
        self,
        store: RunStore,
        folder: Callable[[], Path],
        recovery: Path,
        is_marked: Callable[[], bool],
        stored: Callable[[RequestId], Path | None],
    ) -> None:
        self._stored = stored
        self._store = store
        self._folder = folder
        self._recovery = recovery
        self._is_marked = is_marked

    def store(self, request: GenerationRequest, events: Sequence[GenerationEvent]) -> Path:
        """Write a run before its evaluation; return the image file.

        Raises:
            StoreError: The folder is not writable.
        """
        return self._write(request, events, self._folder())

    def judge(self, path: Path, evaluation: Evaluation) -> None:
        """Add the evaluation of its image.

        Raises:
            StoreError: The folder is not writable.
        """
        self._store.judge(path, evaluation)

    def store_evaluated(self, run: OpenRun) -> Path:
        """Store the evaluation of an open image, as a new run if it has none; return its file.

        Raises:
            StoreError: The folder is not writable.
        """
        path = run.path or self._find(run)
        if path is None or run.evaluation is None:
            return store_import(run, self._store, self._folder())
        self._store.judge(path, run.evaluation)
        return path

    def _find(self, run: OpenRun) -> Path | None:
        return None if run.image is None else self._stored(import_id(run.image, run.scene))

    def recover(self, request: GenerationRequest, events: Sequence[GenerationEvent]) -> Path | None:
        """Write a run to the recovery folder; None if that fails as well."""
        try:
            return self._write(request, events, self._recovery)
        except StoreError as error:
            log.warning("A run could not be recovered: %s", error.message)
            return None

    def _write(
        self, request: GenerationRequest, events: Sequence[GenerationEvent], folder: Path
    ) -> Path:
        is_marked = self._is_marked()
        return store_run(request, events, None, self._store, folder, is_marked=is_marked)


STORING = "Saving the run"
STORING_VERDICTS = "Saving the evaluation"


@dataclass(slots=True)
class _Growing:
    request: GenerationRequest
    events: list[GenerationEvent] = field(default_factory=list)
    path: Path | None = None
    failure: ErrorReport | None = None
    is_unwanted: bool = False


class RunRecorder:
    """Collects the events of submitted requests; publishes ``RunStored`` or ``StoreFailed``.

    The image is on disk before its evaluation, in the recovery folder if the library is full;
    ``RunStored`` follows when the verdicts are stored too. ``apply_event`` is called on the
    engine's report thread only.

    Args:
        sink: Stores finished runs.
        journal: Records requests until they are done.
        publish: Receives the recorder's events.
    """

    def __init__(
        self, sink: RunSink, journal: QueueJournal, publish: Callable[[object], None]
    ) -> None:
        self._sink = sink
        self._journal = journal
        self._publish = publish
        self._growing: dict[RequestId, _Growing] = {}
        self._imports: dict[RequestId, OpenRun] = {}
        self._is_closing = False

    @property
    def is_busy(self) -> bool:
        """Whether requests are unfinished."""
        return bool(self._growing)

    def expect(self, request: GenerationRequest) -> None:
        """Record the events of a request, and note it in the journal to survive a crash."""
        self._growing[request.id] = _Growing(request)
        try:
            self._journal.note(request)
        except StudioError as error:
            log.warning("The queue could not be saved: %s", error.message)

    def expect_evaluation(self, run: OpenRun) -> None:
        """Store the evaluation of an open image when the engine reports it."""
        self._imports[run.id] = run

    def forget(self, request_id: RequestId) -> None:
        """Drop a request that is no longer wanted, also from the journal."""
        self._growing.pop(request_id, None)
        self._journal.end(request_id)

    def note_cancellation(self, request_id: RequestId) -> None:
        """Record that the user cancelled a request, so that the next start does not restore it."""
        if (run := self._growing.get(request_id)) is not None:
            run.is_unwanted = True

    def note_closing(self) -> None:
        """Treat later cancellations as caused by closing; such requests stay in the journal."""
        self._is_closing = True

    def forget_all(self) -> tuple[Path, ...]:
        """Drop every request; return the stored images without an evaluation."""
        growing = dict(self._growing)
        for request_id in growing:
            self.forget(request_id)
        return tuple(run.path for run in growing.values() if run.path is not None)

    def apply_event(self, event: object) -> None:
        """Apply an event of the engine."""
        match event:
            case GenerationStarted() | StepEvent() | GenerationFinished():
                if event.request_id in self._growing:
                    self._grow(self._growing[event.request_id], event)
            case PictureJudged(request_id=request_id) if request_id in self._imports:
                self.store_evaluated(
                    replace(self._imports.pop(request_id), evaluation=event.evaluation)
                )
            case PictureJudged(request_id=request_id, evaluation=evaluation):
                self._end(request_id, evaluation)
            case JobFailed() | GenerationFailed():
                self._imports.pop(event.request_id, None)
                self._end(event.request_id, None)
            case GenerationCancelled(request_id=request_id):
                self._imports.pop(request_id, None)
                self._end(request_id, None, is_done=self._is_done_with(request_id))
            case EngineStopped(lost=lost):
                for request_id in (*self._growing, *self._imports) if lost is None else (lost,):
                    self._imports.pop(request_id, None)
                    self._end(request_id, None, is_done=False)

    def store_evaluated(self, run: OpenRun) -> None:
        """Store the evaluation of an open image; publish ``RunStored`` or ``StoreFailed``."""
        try:
            path = self._sink.store_evaluated(run)
        except StudioError as error:
            log.warning("An evaluation could not be stored.")
            failure = report_on(error, STORING_VERDICTS)
            self._publish(StoreFailed(request_id=run.id, error=failure, is_evaluation=True))
        else:
            self._publish(RunStored(request_id=run.id, path=path))

    def _is_done_with(self, request_id: RequestId) -> bool:
        run = self._growing.get(request_id)
        return not self._is_closing or (run is not None and run.is_unwanted)

    def _grow(self, run: _Growing, event: GenerationEvent) -> None:
        if isinstance(event, GenerationStarted):
            run.events.clear()  # each image of a search starts with new events
        run.events.append(event)
        if isinstance(event, GenerationFinished):
            self._store(run)

    def _store(self, run: _Growing) -> None:
        try:
            run.path = self._sink.store(run.request, run.events)
        except StudioError as error:
            log.warning("A finished run could not be stored.")
            run.failure = report_on(error, STORING)
            run.path = self._sink.recover(run.request, run.events)

    def _end(
        self, request_id: RequestId, evaluation: Evaluation | None, *, is_done: bool = True
    ) -> None:
        run = self._growing.pop(request_id, None)
        if run is None:
            return
        self._keep_verdicts(run, evaluation)
        if run.failure is not None:
            self._publish(StoreFailed(request_id=request_id, error=run.failure, recovered=run.path))
        elif run.path is not None:
            self._publish(RunStored(request_id=request_id, path=run.path))
        is_lost = run.failure is not None and run.path is None
        if run.path is not None or (is_done and not is_lost):
            self._journal.end(request_id)

    def _keep_verdicts(self, run: _Growing, evaluation: Evaluation | None) -> None:
        if run.path is None or evaluation is None:
            return
        try:
            self._sink.judge(run.path, evaluation)
        except StudioError as error:
            log.warning("The verdicts of a stored run could not be saved.")
            failure = report_on(error, STORING)
            self._publish(StoreFailed(request_id=run.request.id, error=failure, recovered=run.path))


def run_of(record: RunRecord, events: Sequence[GenerationEvent], picture: Path) -> OpenRun:
    """Return a stored run in its final state.

    Args:
        record: Its record.
        events: Its events.
        picture: Its image file.
    """
    run = OpenRun(id=record.request.id, scene=record.request.scene, request=record.request)
    for event in events:
        run = after(run, event)
    if record.origin is not None:
        run = replace(
            run,
            request=None,
            seconds=None,
            origin=record.origin,
            recorded_model_id=record.request.model.id,
        )
    return replace(run, state=RunState.DONE, phase=None, evaluation=record.evaluation, path=picture)
