from itertools import permutations

import pytest

from spatialstudio.application.audit.audits import agreement_report, consensus_of, merge_labels
from spatialstudio.application.audit.calibration import calibration_report
from spatialstudio.domain.audit import HumanLabel
from spatialstudio.domain.audit_figures import AuditedSample
from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.verdict import Outcome
from tests.science.statistics.audit_data import generated_samples, published_samples

PASS, FAIL, OPEN = Outcome.PASS, Outcome.FAIL, Outcome.UNDECIDABLE


def label(sample_id, rater, verdict, timestamp="1", notes=""):
    return HumanLabel(
        sample_id=sample_id, rater=rater, verdict=verdict, timestamp=timestamp, notes=notes
    )


LABELS = [
    label("one", "Ada", PASS, "1"),
    label("one", "Ada", FAIL, "2"),
    label("one", "Bo", FAIL),
    label("two", "Ada", OPEN),
    label("two", "Ada", OPEN, "3", "again"),
]


def test_merging_does_not_depend_on_the_order():
    expected = merge_labels(LABELS)
    assert all(merge_labels(order) == expected for order in permutations(LABELS))
    assert merge_labels([*LABELS, *LABELS]) == expected


def test_a_clash_lists_the_kept_and_the_dropped_label():
    merged, (clash,) = merge_labels(LABELS)
    assert clash.kept == LABELS[1]
    assert clash.dropped == (LABELS[0],)
    assert [one.notes for one in merged if one.sample_id == "two"] == ["again"]


def test_the_consensus_is_the_label_of_most_raters():
    labels = [
        label("one", name, verdict) for name, verdict in zip("abc", (PASS, FAIL, PASS), strict=True)
    ]
    assert consensus_of(labels) == {"one": PASS}
    assert consensus_of(labels[:2]) == {}


def test_disagreements_of_raters_are_listed():
    samples = [
        AuditedSample(id=name, checker=PASS, confidence=0.5, human=None)
        for name in ("one", "two", "three")
    ]
    report = agreement_report(samples, merge_labels(LABELS)[0])
    assert report.disagreements == ()  # the later label of Ada equals that of Bo
    other = [*LABELS, label("two", "Bo", PASS)]
    assert agreement_report(samples, merge_labels(other)[0]).disagreements == ("two",)
    assert report.unlabelled == 3


def test_one_rater_has_no_agreement_with_others():
    report = agreement_report(published_samples(), [label("one", "Ada", PASS)])
    assert (report.fleiss, report.alpha, report.pairs) == (None, None, {})


def test_calibration_counts_only_samples_that_both_decide():
    samples = generated_samples(200, 3)
    report = calibration_report(samples, "isotonic", 5, 0)
    tested = [one for one in samples if one.checker is not OPEN and one.human in (PASS, FAIL)]
    assert report.evaluated == len(tested)
    assert sum(each.count for each in report.bins) == len(tested)
    assert report.calibrated_error < report.error


@pytest.mark.parametrize("folds", [0, 1, 67])
def test_an_impossible_number_of_folds_is_refused(folds):
    with pytest.raises(SettingsError, match="folds"):
        calibration_report(published_samples(), "platt", folds, 0)
