import pytest

from spatialstudio.application.evaluate.metrics import (
    METRICS,
    all_metrics,
    choose_metrics,
    published_faults,
)
from spatialstudio.domain.errors import RequestError, SettingsError
from spatialstudio.domain.graph_settings import EdgeGround


def test_the_checker_is_always_included():
    chosen = choose_metrics(["visor", " hrs", "visor"])
    assert [metric.id for metric in chosen.chosen] == ["checker", "visor", "hrs"]
    assert chosen.names == ("visor", "hrs")
    assert chosen.rules["hrs"] == METRICS["hrs"].rules


def test_all_names_the_published_metrics():
    own = ("checker", "pse", "da", "quality", "scene_graph", "choices")
    names = (*own, "visor", "compbench", "hrs", "geneval")
    assert all_metrics().names == names
    assert all_metrics().rules == {name: METRICS[name].rules for name in names}


def test_a_metric_can_be_corrected():
    names = "visor", "compbench", "hrs", "geneval"
    rules = choose_metrics([f"{name}:mended" for name in names]).rules
    assert rules == {"checker": None} | {name: METRICS[name].corrected for name in names}


@pytest.mark.parametrize(
    ("name", "fault"),
    [(name, fault) for name, faults in published_faults().items() for fault in faults],
)
def test_each_fault_can_be_switched_off_alone(name, fault):
    rules = choose_metrics([f"{name}:{fault}"]).rules[name]
    assert getattr(rules, fault) is False
    others = set(published_faults()[name]) - {fault}
    assert all(getattr(rules, other) for other in others)


def test_there_are_eight_published_faults():
    assert sum(map(len, published_faults().values())) == 8


def test_several_faults_can_be_switched_off():
    rules = choose_metrics(["hrs:takes_last_instance+shifts_fourth_object"]).rules
    assert rules["hrs"] == METRICS["hrs"].corrected


@pytest.mark.parametrize(
    "name", ["", "clip", "visor:clip", "checker:mended", "pse:mended", "hrs:mended+clip"]
)
def test_an_unknown_metric_is_rejected_with_a_message(name):
    with pytest.raises(SettingsError, match=r"\.$"):
        choose_metrics([name])


def test_a_name_may_have_settings():
    name = "scene_graph:near_gap=0.2+edge_ground=both+synonyms=cup/mug;sofa/couch"
    rules = choose_metrics([name]).rules["scene_graph"]
    assert (rules.near_gap, rules.edge_ground) == (0.2, EdgeGround.BOTH)
    assert rules.synonym_groups == (("cup", "mug"), ("sofa", "couch"))


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("scene_graph:gap=0.2", SettingsError),
        ("pse:near_gap=0.2", SettingsError),
        ("scene_graph:near_gap=2", RequestError),
        ("scene_graph:near_gap=nan", RequestError),
        ("scene_graph:edge_ground=none", RequestError),
    ],
)
def test_an_invalid_setting_is_rejected(name, error):
    with pytest.raises(error):
        choose_metrics([name])
