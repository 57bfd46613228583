"""What other thresholds would make of a recorded run: all of it judged anew for each."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from spatialstudio.domain.benchmark import RecordedRun
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.verdict import CheckerSettings, Outcome
from spatialstudio.science.decide_many import OUTCOMES, StoredRecord, decide_many, tabulate

MARGINS = (0.03, 0.05, 0.07, 0.10)
LEAST_CONFIDENCES = (0.0, 0.3, 0.5, 0.7)
"""The published grid; its detector thresholds cannot be tried on records cut at 0.5."""


@frozen
class SweepRow:
    """One pair of thresholds.

    Attributes:
        margin: Half width of the undecidable band, share of the side.
        least_confidence: Answers less sure than this count as abstentions, [0, 1].
        passes: PASS.
        fails: FAIL.
        total: All pictures, errors included.
        errors: Pictures without a record that can be judged.
    """

    margin: float
    least_confidence: float
    passes: int
    fails: int
    total: int
    errors: int = 0

    @property
    def coverage(self) -> float:
        """Share decided, [0, 1]."""
        return (self.passes + self.fails) / self.total


def sweep_thresholds(
    run: RecordedRun,
    settings: CheckerSettings,
    margins: Sequence[float] = MARGINS,
    least_confidences: Sequence[float] = LEAST_CONFIDENCES,
) -> tuple[SweepRow, ...]:
    """Judge a run by every pair of thresholds.

    Args:
        run: Of left, right, above and below.
        settings: All other thresholds.
        margins: To try.
        least_confidences: To try with each.

    Raises:
        StoreError: No picture of the run was looked at.
    """
    table = tabulate(_records(run))
    rows = []
    for margin, least in product(margins, least_confidences):
        decisions = decide_many(table, replace(settings, margin=margin))
        is_sure = decisions.confidence >= least
        passes, fails = (
            int(np.count_nonzero(is_sure & (decisions.outcome == OUTCOMES.index(outcome))))
            for outcome in (Outcome.PASS, Outcome.FAIL)
        )
        rows.append(
            SweepRow(
                margin=margin,
                least_confidence=least,
                passes=passes,
                fails=fails,
                total=len(run.samples),
                errors=sum(sample.perception is None for sample in run.samples),
            )
        )
    return tuple(rows)


def _records(run: RecordedRun) -> list[StoredRecord]:
    records = [
        StoredRecord(relation=sample.relation, perception=sample.perception, looks=sample.looks)
        for sample in run.samples
        if sample.perception is not None
    ]
    if not records:
        raise StoreError(
            "No picture of this run was looked at.", hint="Restore its file of records."
        )
    return records
