"""The analysis of votes: agreement, calibration and the human study, in a thread."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial

from spatialstudio.application.audit.audits import (
    AgreementReport,
    agreement_report,
    consensus_of,
    merge_labels,
    samples_of,
)
from spatialstudio.application.audit.calibration import (
    FIT,
    FITS,
    FOLDS,
    CalibrationReport,
    calibration_report,
    map_error,
)
from spatialstudio.application.audit.human_study import (
    MetricReport,
    MetricScores,
    answers_from,
    compare_metric,
    scores_of_items,
)
from spatialstudio.application.error_reports import report_on
from spatialstudio.application.jobs.background_jobs import CancellableJob, Progress
from spatialstudio.application.jobs.cancellation import CancelFlag
from spatialstudio.domain.audit import AuditItem, HumanLabel, LabelClash
from spatialstudio.domain.audit_figures import AuditedSample
from spatialstudio.domain.audit_session import RaterQuality, SessionState, consistency_of
from spatialstudio.domain.errors import ErrorReport, SettingsError, StudioError
from spatialstudio.domain.frozen import frozen

TITLE = "Analysing the votes"


@frozen(eq=False)
class AuditAnalysis:
    """What the votes on a session's sample say about checker, metrics and raters.

    Attributes:
        session_id: The session.
        items: The pictures by sample id.
        samples: The sample with verdicts and consensus.
        labels: Merged labels of all raters.
        clashes: Labels of one rater that differ between files.
        agreement: Confusion and agreement.
        calibration: Reliability and the threshold search; None with too few evaluated samples.
        map_errors: Calibration error after each map of ``FITS``, fitted on other folds.
        study: Agreement of metrics with people.
        consistency: Rater and consistency of each session; see ``consistency_of``.
    """

    session_id: str
    items: Mapping[str, AuditItem]
    samples: tuple[AuditedSample, ...]
    labels: tuple[HumanLabel, ...]
    clashes: tuple[LabelClash, ...]
    agreement: AgreementReport
    calibration: CalibrationReport | None
    map_errors: Mapping[str, float | None]
    study: tuple[MetricReport, ...]
    consistency: tuple[tuple[str, RaterQuality], ...]


@frozen(eq=False)
class AuditAnalysed:
    """The analysis of the open session is ready, or hidden. May cross threads.

    Attributes:
        analysis: None while verdicts are hidden, without a session, or if it did not end.
        problem: Why it failed.
        is_cancelled: Whether the user cancelled it.
    """

    analysis: AuditAnalysis | None = None
    problem: ErrorReport | None = None
    is_cancelled: bool = False


@frozen
class AuditAnalysing:
    """The analysis of the open session runs. May cross threads.

    Attributes:
        done: Parts that are done.
        total: All parts.
    """

    done: int
    total: int


class AnalysisJob(CancellableJob):
    """Analyses votes in a thread; a newer request cancels the running one.

    Args:
        publish: Receives ``AuditAnalysing``, then ``AuditAnalysed``.
    """

    def __init__(self, publish: Callable[[object], None]) -> None:
        self._publish = publish

    def start(self, work: Callable[[Progress], AuditAnalysis]) -> None:
        """Start an analysis and return at once."""
        self._start(partial(self._do, work))

    def _do(self, work: Callable[[Progress], AuditAnalysis], flag: CancelFlag) -> None:
        def report(done: int, total: int) -> None:
            flag.raise_if_cancelled()
            self._publish(AuditAnalysing(done=done, total=total))

        try:
            found = AuditAnalysed(analysis=work(report))
        except StudioError as error:
            found = AuditAnalysed(problem=report_on(error, TITLE))
        flag.raise_if_cancelled()
        self._publish(found)


def analyse(
    state: SessionState,
    others: Sequence[HumanLabel],
    sessions: Sequence[SessionState] = (),
    progress: Progress = lambda _done, _total: None,
    compute: Callable[[Sequence[AuditItem]], Mapping[str, MetricScores]] = lambda _items: {},
) -> AuditAnalysis:
    """Return the analysis of a session with the labels of other raters.

    Args:
        state: The session; its sample and recorded verdicts count.
        others: Labels of other raters.
        sessions: Sessions of other raters, for scores, preferences and consistency.
        progress: Receives the parts done and in total; may raise ``Cancelled``.
        compute: Returns the scores of further metrics on a sample.
    """
    progress(0, 1)
    labels, clashes = merge_labels([*state.labels, *others])
    every = sorted((state, *sessions), key=lambda each: each.session.is_adjudication)
    known = {item.candidate.id: item for each in reversed(every) for item in each.session.sample}
    sample = tuple(known.values())
    samples = samples_of(sample, labels)
    people = answers_from(
        consensus_of(labels),
        [each.scores for each in every if each.scores],
        [pair for each in every for pair in each.preferences],
    )
    metrics = {**compute(sample), **scores_of_items(sample)}
    study = []
    for done, (name, scores) in enumerate(metrics.items()):
        progress(done, len(metrics) + 1)
        with suppress(SettingsError):  # too few of its pictures have answers
            study.append(compare_metric(name, scores, people))
    progress(len(metrics), len(metrics) + 1)
    calibration = _calibration(samples)
    maps = FITS if calibration else ()
    return AuditAnalysis(
        session_id=state.session.id,
        items={item.candidate.id: item for item in (*sample, *state.session.items)},
        samples=samples,
        labels=labels,
        clashes=clashes,
        agreement=agreement_report(samples, labels),
        calibration=calibration,
        map_errors={name: map_error(samples, name, FOLDS, 0) for name in maps},
        study=tuple(study),
        consistency=consistency_of(every),
    )


def _calibration(samples: Sequence[AuditedSample]) -> CalibrationReport | None:
    try:
        return calibration_report(samples, FIT, FOLDS, 0)
    except SettingsError:
        return None
