import pytest

from spatialstudio.application.evaluate.metrics import (
    ALL_METRICS,
    MetricKind,
    choose_metrics,
    published_faults,
)
from spatialstudio.domain.errors import SettingsError
from spatialstudio.science.metrics.center_metrics import MENDED, PUBLISHED


def test_the_checker_is_always_among_them():
    chosen = choose_metrics(["visor", " hrs", "visor"])
    assert chosen.kinds == {MetricKind.CHECKER, MetricKind.VISOR, MetricKind.HRS}
    assert chosen.names == ("visor", "hrs")
    assert chosen.center_rules == PUBLISHED


def test_all_of_them_are_as_published():
    assert choose_metrics(ALL_METRICS.names) == ALL_METRICS


def test_a_metric_can_go_without_its_faults():
    names = [f"{name}:mended" for name in ("visor", "compbench", "hrs", "geneval")]
    assert choose_metrics(names).center_rules == MENDED


@pytest.mark.parametrize(
    ("name", "fault"),
    [(name, fault) for name, faults in published_faults().items() for fault in faults],
)
def test_each_fault_can_be_switched_off_alone(name, fault):
    rules = getattr(choose_metrics([f"{name}:{fault}"]).center_rules, name)
    assert getattr(rules, fault) is False
    others = set(published_faults()[name]) - {fault}
    assert all(getattr(rules, other) for other in others)


def test_there_are_eight_published_faults():
    assert sum(map(len, published_faults().values())) == 8


def test_several_faults_can_be_switched_off():
    rules = choose_metrics(["hrs:takes_last_instance+shifts_fourth_object"]).center_rules
    assert rules.hrs == MENDED.hrs


@pytest.mark.parametrize(
    "name", ["", "clip", "visor:clip", "checker:mended", "pse:mended", "hrs:mended+clip"]
)
def test_what_is_not_known_is_refused_in_a_sentence(name):
    with pytest.raises(SettingsError, match=r"\.$"):
        choose_metrics([name])
