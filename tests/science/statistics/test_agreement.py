"""Golden values: scikit-learn 1.9.1, statsmodels 0.15.0 and krippendorff 0.9.0, made by

cohen_kappa_score(*generated_raters(2, 120, 0, 24))
codes = [["PFU".index(label) for label in unit] for unit in zip(*generated_raters(4, 90, 0, 25))]
fleiss_kappa(aggregate_raters(codes)[0])
alpha(reliability_data=codes_with_nan, level_of_measurement="nominal")
# with generated_raters(3, 80, 0, 26) and (3, 80, 0.3, 27)

and the bounds, with units that have at least two labels, by
np.quantile([coefficient(units[row]) for row in draws], [0.025, 0.975])
# of draws = np.random.default_rng(0).integers(0, len(units), (200, len(units)))
"""

import pytest

from spatialstudio.domain.verdict import Outcome
from spatialstudio.science.statistics.agreement import (
    cohen_kappa,
    confusion,
    fleiss_kappa,
    krippendorff_alpha,
    label_codes,
    shared_units,
)
from spatialstudio.science.statistics.intervals import figure_bootstrap
from tests.science.statistics.audit_data import generated_raters, published_samples, rows_of

PASS, FAIL, OPEN = Outcome.PASS, Outcome.FAIL, Outcome.UNDECIDABLE


def test_kappa_of_two_raters_equals_scikit_learn():
    first, second = generated_raters(2, 120, 0, 24)
    assert cohen_kappa(label_codes([first, second])) == pytest.approx(0.5247029393370857, abs=1e-12)


def test_kappa_of_four_raters_equals_statsmodels():
    raters = generated_raters(4, 90, 0, 25)
    assert fleiss_kappa(label_codes(raters)) == pytest.approx(0.5075011013981958, abs=1e-12)


@pytest.mark.parametrize(
    ("missing", "seed", "expected"),
    [(0, 26, 0.5524108461700781), (0.3, 27, 0.585180356366797)],
    ids=["complete", "with missing labels"],
)
def test_alpha_equals_the_krippendorff_package(missing, seed, expected):
    raters = generated_raters(3, 80, missing, seed)
    assert krippendorff_alpha(label_codes(raters)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("coefficient", "raters", "bounds"),
    [
        (cohen_kappa, (2, 120, 0, 24), (0.3993061800004052, 0.6505647923257583)),
        (fleiss_kappa, (4, 90, 0, 25), (0.41004657339470885, 0.5982820409461375)),
        (krippendorff_alpha, (3, 80, 0.3, 27), (0.42575567913762835, 0.7202490971749207)),
    ],
    ids=["Cohen", "Fleiss", "Krippendorff"],
)
def test_intervals_equal_those_of_the_packages_on_the_same_draws(coefficient, raters, bounds):
    codes = shared_units(label_codes(generated_raters(*raters)))
    found = figure_bootstrap(
        codes.shape[1], lambda drawn: coefficient(codes[:, drawn]), resamples=200
    )
    assert (found.low, found.high) == pytest.approx(bounds, abs=1e-12)


@pytest.mark.parametrize("coefficient", [fleiss_kappa, krippendorff_alpha])
def test_equal_labels_agree_completely(coefficient):
    assert coefficient(label_codes(["PFU", "PFU"])) == 1
    assert cohen_kappa(label_codes(["PFU", "PFU"])) == 1


@pytest.mark.parametrize("coefficient", [fleiss_kappa, krippendorff_alpha])
def test_agreement_is_undefined_where_nobody_varies(coefficient):
    assert coefficient(label_codes(["PPP", "PPP"])) is None
    assert cohen_kappa(label_codes(["PPP", "PPP"])) is None


def test_agreement_is_undefined_without_shared_units():
    codes = label_codes([["P", None], [None, "P"]])
    assert cohen_kappa(codes) is None
    assert fleiss_kappa(codes) is None
    assert krippendorff_alpha(codes) is None


def test_kappa_of_a_table_worked_by_hand():
    # 20 PP, 5 PF, 10 FP, 15 FF: observed 0.7, expected 0.5 * 0.6 + 0.5 * 0.4
    first = ["P"] * 25 + ["F"] * 25
    second = ["P"] * 20 + ["F"] * 5 + ["P"] * 10 + ["F"] * 15
    assert cohen_kappa(label_codes([first, second])) == pytest.approx(0.4)


def test_raters_with_different_numbers_of_units_are_refused():
    with pytest.raises(ValueError, match="zip"):
        label_codes(["P", "PF"])
    with pytest.raises(ValueError, match="two raters"):
        fleiss_kappa(label_codes(["P"]))


def test_the_confusion_of_the_release_equals_a_count_by_hand():
    table = confusion(published_samples())
    verdicts = {row["sample_id"]: row["verdict"] for row in rows_of("verdicts.csv")}
    pairs = [(verdicts[row["sample_id"]], row["human_verdict"]) for row in rows_of("labels.csv")]
    assert {
        (checker, human): table.count(checker, human) for checker in Outcome for human in Outcome
    } == {
        (checker, human): pairs.count((checker.value, human.value))
        for checker in Outcome
        for human in Outcome
    }
    assert table.total == 66


def test_confusion_separates_decided_and_undecided_samples():
    table = confusion(published_samples())
    decided = [table.count(checker, human) for checker in (PASS, FAIL) for human in (PASS, FAIL)]
    assert table.decided_by_both == sum(decided)
    assert table.undecidable_checker == sum(table.count(OPEN, human) for human in Outcome)
    assert table.undecidable_human == sum(table.count(checker, OPEN) for checker in Outcome)
    assert table.precision == decided[0] / (decided[0] + decided[1])
    assert table.recall == decided[0] / (decided[0] + decided[2])
    assert table.accuracy == (decided[0] + decided[3]) / sum(decided)
