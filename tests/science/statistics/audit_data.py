"""The prompt-only part of the release's audit, and labels of generated raters."""

import csv
import random
from functools import cache
from pathlib import Path

from spatialstudio.domain.audit import AuditCandidate, Stratum
from spatialstudio.domain.audit_figures import AuditedSample
from spatialstudio.domain.verdict import Outcome

FOLDER = Path(__file__).parents[2] / "golden" / "spatialbench_audit"


@cache
def rows_of(name):
    """Return the rows of a file of the release as dictionaries."""
    with (FOLDER / name).open(newline="", encoding="utf-8") as file:
        return tuple(csv.DictReader(file))


def published_samples():
    """Return the 66 prompt-only samples with calibrated verdicts and labels."""
    verdicts = {row["sample_id"]: row for row in rows_of("verdicts.csv")}
    return tuple(
        AuditedSample(
            id=row["sample_id"],
            checker=Outcome(verdicts[row["sample_id"]]["verdict"]),
            confidence=float(verdicts[row["sample_id"]]["conf"]),
            human=Outcome(row["human_verdict"]),
        )
        for row in rows_of("labels.csv")
    )


def published_candidates():
    """Return the 800 pictures as judged before calibration."""
    return tuple(
        AuditCandidate(
            id=row["sample_id"],
            stratum=Stratum(
                method="promptonly",
                relation=row["relation"],
                verdict=Outcome(row["verdict_before"]),
            ),
            confidence=float(row["conf_before"]),
        )
        for row in rows_of("verdicts.csv")
    )


def generated_raters(count, units, missing, seed):
    """Return labels of raters who choose the true label in 7 of 10 cases, else any."""
    chance = random.Random(seed)
    truth = [chance.choice("PFU") for _ in range(units)]
    return [
        [
            None
            if chance.random() < missing
            else (label if chance.random() < 0.7 else chance.choice("PFU"))
            for label in truth
        ]
        for _ in range(count)
    ]


def generated_samples(count, seed):
    """Return samples with any verdicts, confidences, labels and weights; some without a label."""
    chance = random.Random(seed)
    outcomes = list(Outcome)
    return tuple(
        AuditedSample(
            id=f"sample {number}",
            checker=chance.choice(outcomes),
            confidence=round(chance.random(), 2),
            human=chance.choice([*outcomes, None]),
            weight=1 + 4 * chance.random(),
        )
        for number in range(count)
    )
