"""The audit of a window: populations, the open session, and the analysis that follows from it."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from spatialstudio.application.audit.analysis import (
    AnalysisJob,
    AuditAnalysed,
    AuditAnalysis,
    analyse,
)
from spatialstudio.application.audit.audits import FILES_ID, SESSION_ENDING, Audits, make_audits
from spatialstudio.application.audit.calibration import (
    FOLDS,
    CalibrationReport,
    calibrated_settings,
)
from spatialstudio.application.audit.human_study import MetricScores, sample_id
from spatialstudio.application.audit.sessions import (
    AuditSessions,
    SessionPlan,
    Voting,
    plan_session,
)
from spatialstudio.application.evaluate.checker_presets import CheckerPresets
from spatialstudio.application.gallery.library import Library
from spatialstudio.application.jobs.background_jobs import LatestJob, Progress
from spatialstudio.application.registry import Registry
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.audit import AuditCandidate, AuditItem, Stratum
from spatialstudio.domain.audit_session import Answer, GoldItem, SessionState
from spatialstudio.domain.errors import SettingsError, StudioError
from spatialstudio.domain.export import ExportLook
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.library import ClaimSummary, LibraryEntry
from spatialstudio.domain.ports import ImageFiles
from spatialstudio.domain.requirements import JUDGED_KINDS
from spatialstudio.domain.safe_files import is_on_network

log = logging.getLogger(__name__)

IMAGES_ID = "pillow"
UNGUIDED = "none"


@frozen(eq=False)
class AuditChanged:
    """The open session or its votes changed. Published by ``AuditDesk`` on the GUI thread."""

    state: SessionState | None


@frozen
class AuditPicked:
    """A picture of the analysis was picked. Published by ``AuditDesk`` on the GUI thread."""

    sample_id: str


class AuditDesk:
    """The open session of the window; all calls on the GUI thread.

    Verdicts leave it in an ``AuditAnalysis`` only: once every picture has a vote, or when the rater
    ends the session early, which the journal records.

    Args:
        sessions: Stored sessions.
        audits: Reads samples and labels.
        library: The library of stored runs.
        outside: Receives the events; reads picture files.
    """

    def __init__(
        self,
        sessions: AuditSessions,
        audits: Audits,
        library: Callable[[], Library],
        outside: tuple[Callable[[object], None], ImageFiles],
    ) -> None:
        self.sessions = sessions
        self.audits = audits
        self._library = library
        self._publish, self._images = outside
        self._job = AnalysisJob(self._publish)
        self._reading = LatestJob("audit pictures", self._read_ahead)
        self._pictures: dict[Path, RgbImage | None] = {}
        self._is_analysed = True
        self.is_analysis_wanted = self.compares_all_metrics = False
        self.voting: Voting | None = None
        self.label_files: tuple[Path, ...] = ()

    def library_population(self, line: str) -> tuple[AuditItem, ...]:
        """Return the judged relations of the stored runs that match a filter.

        Raises:
            SettingsError: The filter is invalid.
        """
        library = self._library()
        library.refresh()  # the gallery may not have scanned it yet
        entries = library.entries(library.list(line))
        return tuple(
            item for entry in entries if not entry.is_missing for item in items_of_run(entry)
        )

    def file_population(self, paths: Sequence[Path]) -> tuple[AuditItem, ...]:
        """Return the pictures of run folders, or those of one sample file or session.

        Pictures of a sample file are found relative to it.

        Raises:
            StoreError: A folder or file is damaged.
            SettingsError: The sample file names a picture on a network share.
        """
        if len(paths) == 1 and paths[0].is_file():
            items = self.audits.read_sample(paths[0])
            if any(is_on_network(item.fields["image_path"]) for item in items):
                raise SettingsError(
                    "The sample names a picture on a network share.",
                    hint="Copy the pictures to this computer, beside the sample file.",
                )
            return tuple(
                replace(
                    one, fields={**one.fields, "image_path": str(paths[0].parent / one.picture)}
                )
                for one in items
            )
        return self.audits.population(paths)

    def start(
        self,
        population: Sequence[AuditItem],
        plan: SessionPlan,
        correct: Sequence[GoldItem] = (),
    ) -> None:
        """Start a session in place of the open one.

        Raises:
            SettingsError: There is no rater, picture or pair.
            StoreError: The session cannot be written.
        """
        self._use(self.sessions.start(plan_session(population, plan, correct)))

    def adjudicate(self, analysis: AuditAnalysis, rater: str) -> None:
        """Start a session on the samples on which raters differ; its answers settle them.

        Raises:
            SettingsError: There is no disagreement, or no rater.
            StoreError: The session cannot be written.
        """
        items = [analysis.items[each] for each in analysis.agreement.disagreements]
        plan = SessionPlan(rater=rater, size=None, population="disagreements of raters")
        session = plan_session(items, plan, is_adjudication=True)
        own = self.voting.session.id if self.voting else ""
        files = (*self.label_files, *(path for path, _ in self.sessions.list() if path.stem == own))
        self._use(self.sessions.start(session))
        self.label_files = tuple(dict.fromkeys(files))

    def open(self, path: Path) -> None:
        """Continue a stored session in place of the open one.

        Raises:
            StoreError: It is damaged, or open in another program.
        """
        self._use(self.sessions.open(path))

    def add_labels(self, paths: Sequence[Path]) -> None:
        """Merge files of other raters into the analysis, in any order.

        Raises:
            StoreError: A file is damaged; none is added.
        """
        self.audits.merge(paths)
        self.label_files = tuple(dict.fromkeys((*self.label_files, *paths)))
        self._changed()

    def vote(self, answer: Answer, note: str = "") -> None:
        """Store a vote; see ``Voting``."""
        if self.voting is not None:
            self.voting.vote(answer, note)
            self._changed()

    def skip(self) -> None:
        """Leave the current picture for the end."""
        if self.voting is not None:
            self.voting.skip()
            self._changed()

    def undo(self) -> bool:
        """Take back the latest vote; False without one."""
        is_undone = self.voting is not None and self.voting.undo()
        if is_undone:
            self._changed()
        return is_undone

    def reveal(self) -> None:
        """Record that the verdict on the current picture is shown before the vote."""
        if self.voting is not None:
            self.voting.reveal()
            self._changed()

    def reveal_rest(self) -> None:
        """End the session early: the journal records that the rest was revealed before a vote."""
        if self.voting is not None:
            self.voting.reveal_rest()
            self._changed()

    def picture(self, item: AuditItem) -> RgbImage | None:
        """Return the pixels of a picture, (H, W, 3) uint8; None if the file is missing or damaged.

        Only the picture itself is read, not its metadata.
        """
        path = item.picture
        return self._pictures[path] if path in self._pictures else self._read(path)

    def read_ahead(self) -> None:
        """Read the next pictures in a thread, while the rater looks at the current one."""
        if self.voting is not None:
            shown = (*self.voting.items, *self.voting.next_items)
            self._reading.ask(tuple(item.picture for item in shown))

    def _read_ahead(self, paths: tuple[Path, ...]) -> None:
        for path in [path for path in self._pictures if path not in paths]:
            del self._pictures[path]
        for path in paths:
            if path not in self._pictures and not self._reading.is_out_of_date:
                self._pictures[path] = self._read(path)

    def _read(self, path: Path) -> RgbImage | None:
        if not self._may_read(path):
            log.info("A picture on a network share is not opened.")
            return None
        try:
            return self._images.read(path)
        except StudioError as error:
            log.info("A picture of the audit cannot be read: %s", error.message)
            return None

    def _may_read(self, path: Path) -> bool:
        """Return False for a network share that is not that of the library."""
        return not is_on_network(str(path)) or path.is_relative_to(self._library().root)

    def current(self, analysis: AuditAnalysis | None) -> AuditAnalysis | None:
        """Return an analysis if it is that of the open session; None for an outdated one.

        An analysis that arrives late must not show verdicts of the next session's pictures.
        """
        voting = self.voting
        if analysis is None or voting is None or not voting.state.is_open_to_analysis:
            return None
        return analysis if analysis.session_id == voting.session.id else None

    def analyse_votes(self) -> None:
        """Start the analysis of the finished session; see ``AnalysisJob``."""
        if self.voting is not None:
            self.is_analysis_wanted = True
            self._job.start(partial(self._analysis_of, self.voting.state, self.label_files))

    def compare_all_metrics(self) -> None:
        """Analyse again, with every metric that the stored runs of the sample allow."""
        self.compares_all_metrics = True
        self.analyse_votes()

    def cancel_analysis(self) -> None:
        """Cancel the analysis; ``analyse_votes`` starts it again."""
        self._end_analysis()
        self._publish(AuditAnalysed(is_cancelled=True))

    def pick(self, sample_id: str) -> None:
        """Pick a picture of the analysis, to be shown with its verdicts."""
        self._publish(AuditPicked(sample_id=sample_id))

    def close_session(self) -> None:
        """Close the open session; its votes stay."""
        self._use(None)

    def close(self) -> None:
        """Release the session, and end the analysis."""
        if self.voting is not None:
            self.voting.close()
            self.voting = None
        self._job.close()
        self._reading.close()

    def search_margins(
        self, analysis: AuditAnalysis, margins: Sequence[float]
    ) -> CalibrationReport:
        """Search margins with thresholds on the sample of an analysis; may run in a thread.

        Raises:
            StoreError: A run folder of the sample holds no run.
            SettingsError: The runs are elsewhere, or a margin is invalid.
        """
        return self.audits.search_margins(self._local_items(analysis), analysis.samples, margins)

    def _local_items(self, analysis: AuditAnalysis) -> list[AuditItem]:
        items = [analysis.items[one.id] for one in analysis.samples]
        folders = {Path(item.fields.get("run_path", "")) for item in items}
        if not all(map(self._may_read, (*folders, *(item.picture for item in items)))):
            raise SettingsError(
                "The sample names a run on a network share.",
                hint="Copy the runs to this computer, and draw the sample from there.",
            )
        return items

    def save_preset(
        self,
        name: str,
        analysis: AuditAnalysis,
        report: CalibrationReport | None,
        threshold: float | None = None,
    ) -> Path:
        """Save the settings of the verdicts with what was searched; may run in a thread.

        Args:
            name: Name of the preset.
            analysis: The sample; its pictures were judged under one checker.
            report: The evidence; None with too few labels.
            threshold: Least confidence, [0, 1]; None for the settings with the least J.

        Raises:
            SettingsError: The name is invalid, there are too few labels, or the pictures were
                judged under different settings.
            StoreError: A run folder of the sample holds no run, or the preset cannot be written.
        """
        if report is None:
            raise SettingsError(
                "There are too few labels for a preset.",
                hint=f"Label at least {FOLDS} pictures that the checker decides.",
            )
        base = self.audits.checker_of(self._local_items(analysis))
        settings, evidence = calibrated_settings(base, report, threshold)
        session = self.voting.session.id if self.voting else ""
        return self.audits.presets.save(name, settings, {**evidence, "session": session})

    def present(self) -> AuditChanged:
        """Return the event that describes the open session."""
        return AuditChanged(state=self.voting.state if self.voting else None)

    def _use(self, voting: Voting | None) -> None:
        if self.voting is not None:
            self.voting.close()
        self.voting, self.label_files, self._is_analysed = voting, (), True
        self._changed()

    def _changed(self) -> None:
        self._publish(self.present())
        if self.voting is not None and self.voting.state.is_open_to_analysis:
            self._is_analysed = True
            self.analyse_votes()
        elif self._is_analysed:
            self._is_analysed = False
            self._end_analysis()
            self._publish(AuditAnalysed())

    def _end_analysis(self) -> None:
        """Cancel the analysis; its last ``AuditAnalysing`` may still arrive."""
        self.is_analysis_wanted = False
        self._job.cancel()

    def _analysis_of(
        self, state: SessionState, paths: Sequence[Path], progress: Progress
    ) -> AuditAnalysis:
        others = [label for path in paths for label in self.audits.labels_in(path)]
        sessions = [self.sessions.read(each) for each in _sessions(paths)]
        if not self.compares_all_metrics:
            return analyse(state, others, sessions, progress)
        return analyse(state, others, sessions, progress, self._scores_of_library)

    def _scores_of_library(self, items: Sequence[AuditItem]) -> Mapping[str, MetricScores]:
        near = [item for item in items if self._may_read(item.picture)]
        return self.audits.scores_of_library(near)


def make_desk(
    registry: Registry,
    folder: Path,
    writing: tuple[ExportLook, CheckerPresets],
    outside: tuple[Callable[[], Library], Callable[[object], None]],
) -> AuditDesk:
    """Return the audit of a window.

    Args:
        registry: Registry of adapters.
        folder: Folder of its sessions.
        writing: Colours of figures; presets of the checker.
        outside: The library of stored runs; receives the events.
    """
    library, publish = outside
    audits = make_audits(registry, *writing)
    sessions = AuditSessions(folder, registry.vote_journals(FILES_ID))
    return AuditDesk(sessions, audits, library, (publish, registry.images(IMAGES_ID)))


def _sessions(paths: Sequence[Path]) -> list[Path]:
    return [path for path in paths if path.suffix == SESSION_ENDING]


def items_of_run(entry: LibraryEntry) -> tuple[AuditItem, ...]:
    """Return the judged relations of a stored run as pictures of an audit."""
    run = entry.summary
    method = run.method_id if run.strength else UNGUIDED
    return tuple(
        AuditItem(
            candidate=AuditCandidate(
                id=sample_id(run.id, claim.relation_id),
                stratum=Stratum(
                    method=f"{run.model_id} {method}",
                    relation=claim.type_id,
                    verdict=claim.outcome,
                ),
                confidence=claim.confidence or 0.0,
            ),
            weight=1.0,
            fields={
                "image_path": str(entry.path),
                "overlay_path": "",
                "prompt": run.prompt,
                "object_a": claim.subject,
                "object_b": claim.object,
                "run_id": run.id,
                "run_path": str(entry.path.parent),
            },
            scores=_scores_of(claim),
        )
        for claim in run.claims
        if claim.outcome is not None and claim.type_id not in JUDGED_KINDS
    )


def _scores_of(claim: ClaimSummary) -> dict[str, float]:
    found = {"pse": claim.pse, "pos": claim.pos}
    return {name: value for name, value in found.items() if value is not None}
