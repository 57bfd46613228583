"""Reliability of recorded confidences, and the search of thresholds on audited samples."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from spatialstudio.application.audit.human_study import Picture
from spatialstudio.application.evaluate.metrics import change_settings
from spatialstudio.application.evaluate.recorded_runs import judge_sample
from spatialstudio.domain.audit_figures import AuditedSample, ObjectiveRow, ReliabilityBin
from spatialstudio.domain.benchmark import RecordedRun
from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.verdict import CheckerSettings, Outcome
from spatialstudio.science.checker.decide import decide_relation
from spatialstudio.science.statistics.calibration import (
    Fit,
    cross_calibrated,
    expected_calibration_error,
    fit_isotonic,
    fit_platt,
    folds_of,
    reliability,
)
from spatialstudio.science.statistics.threshold_search import (
    THRESHOLDS,
    Candidate,
    FoldRow,
    best_row,
    cross_validated,
    pooled_held_out,
    search_thresholds,
)

FITS: Mapping[str, Fit] = {"isotonic": fit_isotonic, "platt": fit_platt}
FIT, FOLDS = "isotonic", 5
"""Map and number of folds where none is chosen."""
Judged = Mapping[str, Sequence[tuple[Outcome, float]]]
"""Verdict and confidence under each margin, by sample id."""
Floats = npt.NDArray[np.float64]


@frozen
class CalibrationReport:
    """Reliability of the confidence, and the threshold search.

    Attributes:
        bins: Reliability diagram of the recorded confidences.
        error: Expected calibration error of the recorded confidences, [0, 1].
        calibrated_error: The same after calibration, each fold by a map of the others, [0, 1].
        rows: Figures of all thresholds.
        folds: Each fold judged by the threshold that the others choose.
        held_out: All samples, each under the threshold that the other folds choose.
        evaluated: Decided samples that people decide, too.
    """

    bins: tuple[ReliabilityBin, ...]
    error: float | None
    calibrated_error: float | None
    rows: tuple[ObjectiveRow, ...]
    folds: tuple[FoldRow, ...]
    held_out: ObjectiveRow
    evaluated: int

    @property
    def best(self) -> ObjectiveRow:
        """The row with the least J, the first of equal ones."""
        return best_row(self.rows)


@frozen
class RecordedSearch:
    """A recorded threshold search beside the checker as deployed.

    The release searched with the cut of its detectors lowered, and deployed the chosen settings
    without that cut.

    Attributes:
        chosen: What the search chose.
        deployed: The verdicts at hand, at the chosen threshold.
        gap: How much the J of ``deployed`` exceeds the J of ``chosen``.
    """

    chosen: ObjectiveRow
    deployed: ObjectiveRow
    gap: float


def calibration_report(
    samples: Sequence[AuditedSample],
    fit_id: str,
    folds: int,
    seed: int,
    candidates: Sequence[Candidate] = (),
) -> CalibrationReport:
    """Return the reliability of decided samples, and the threshold search with k-fold.

    Args:
        samples: The audited samples; unlabelled ones enter the coverage alone.
        fit_id: A key of ``FITS``.
        folds: Number of folds, at least 2.
        seed: Seed of the folds.
        candidates: The same samples under other settings, to search; none to search the
            confidence threshold alone.

    Raises:
        SettingsError: There are fewer evaluated samples than folds.
    """
    calibrated_error = map_error(samples, fit_id, folds, seed)
    confidence, right = _evaluated(samples)
    bins = reliability(confidence, right)
    candidates = candidates or [Candidate(settings={}, samples=tuple(samples))]
    search_fold = folds_of(len(samples), folds, seed)
    rows = cross_validated(candidates, search_fold)
    return CalibrationReport(
        bins=bins,
        error=expected_calibration_error(bins),
        calibrated_error=calibrated_error,
        rows=search_thresholds(candidates, THRESHOLDS),
        folds=rows,
        held_out=pooled_held_out(candidates, search_fold, rows),
        evaluated=len(confidence),
    )


def map_error(samples: Sequence[AuditedSample], fit_id: str, folds: int, seed: int) -> float | None:
    """Return the expected calibration error after a map, each fold by a map of the others.

    Args:
        samples: The audited samples; only those that checker and people decide count.
        fit_id: A key of ``FITS``.
        folds: Number of folds, at least 2.
        seed: Seed of the folds.

    Raises:
        SettingsError: There are fewer evaluated samples than folds.
    """
    confidence, right = _evaluated(samples)
    if not 1 < folds <= len(confidence):
        raise SettingsError(
            f"{len(confidence)} evaluated samples cannot be divided into {folds} folds.",
            hint="Choose fewer folds, at least 2, or label more samples.",
        )
    fold = folds_of(len(confidence), folds, seed)
    weights = np.ones_like(confidence)
    calibrated = cross_calibrated(confidence, right, weights, FITS[fit_id], fold)
    return expected_calibration_error(reliability(calibrated, right))


def _evaluated(samples: Sequence[AuditedSample]) -> tuple[Floats, Floats]:
    """Return the (N,) confidences of evaluated samples, and 1.0 where checker and people agree."""
    tested = [one for one in samples if is_evaluated(one)]
    confidence = np.array([one.confidence for one in tested])
    return confidence, np.array([float(one.checker is one.human) for one in tested])


def judged_records(runs: Sequence[RecordedRun], margins: Sequence[float]) -> Judged:
    """Evaluate the pictures of recorded runs again with each margin.

    The recorded stability is used for every margin, as the pictures are needed to measure it.

    Raises:
        SettingsError: A margin is invalid.
    """
    found = {}
    for run in runs:
        for one in run.samples:
            judged = [judge_sample(one, _with_margin(run.settings, each)) for each in margins]
            found[one.id] = [(e.outcome or Outcome.UNDECIDABLE, e.confidence) for e in judged]
    return found


def judged_pictures(pictures: Iterable[Picture], margins: Sequence[float]) -> Judged:
    """Evaluate stored pictures again with each margin; see ``Judged``.

    Raises:
        SettingsError: A margin is invalid.
    """
    found = {}
    for name, relation, (_, evaluation) in pictures:
        verdicts = [
            decide_relation(
                relation,
                evaluation.perception,
                _with_margin(evaluation.checker, margin),
                evaluation.looks,
            )
            for margin in margins
        ]
        found[name] = [(each.outcome, each.confidence) for each in verdicts]
    return found


def margin_candidates(
    samples: Sequence[AuditedSample], judged: Judged, margins: Sequence[float]
) -> tuple[Candidate, ...]:
    """Return the samples under each margin, to search.

    Raises:
        SettingsError: A sample was not evaluated.
    """
    if margins and not all(sample.id in judged for sample in samples):
        raise SettingsError(
            "The runs do not contain all samples.",
            hint="Choose the runs of all methods; in the terminal, repeat --run.",
        )
    return tuple(
        Candidate(
            settings={"margin": margin},
            samples=tuple(
                replace(one, checker=judged[one.id][place][0], confidence=judged[one.id][place][1])
                for one in samples
            ),
        )
        for place, margin in enumerate(margins)
    )


def _with_margin(settings: CheckerSettings, margin: float) -> CheckerSettings:
    return change_settings(settings, [f"margin={margin}"])


def calibrated_settings(
    base: CheckerSettings, report: CalibrationReport, threshold: float | None = None
) -> tuple[CheckerSettings, Mapping[str, object]]:
    """Return checker settings with the values that a search chose, and the evidence for them.

    Args:
        base: The settings under which the samples were judged.
        report: The search.
        threshold: A confidence threshold chosen by hand, with the other settings of ``base``; None
            for the settings and the threshold with the least J.
    """
    best = report.best
    least = best.threshold if threshold is None else threshold
    searched = best.settings if threshold is None else {}
    changes: dict[str, Any] = {**searched, "min_confidence": least}
    evidence = {
        "source": "audit calibration",
        "chosen": asdict(best),
        "held_out": asdict(report.held_out),
        "threshold": least,
        "chosen_by_hand": threshold is not None,
        "evaluated": report.evaluated,
        "calibration_error": report.error,
    }
    return replace(base, **changes), evidence


def is_evaluated(sample: AuditedSample) -> bool:
    """Return True if checker and people decide on a sample."""
    open_ = Outcome.UNDECIDABLE
    return sample.checker is not open_ and sample.human not in (None, open_)
