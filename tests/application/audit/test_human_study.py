"""Metrics against people: hand-made cases, and figures of scipy and scikit-learn by definition."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from spatialstudio.application.audit.human_study import (
    answers_from,
    compare_metric,
    sample_id,
    scores_of_items,
    scores_of_library,
)
from spatialstudio.domain.audit_session import Preference
from spatialstudio.domain.errors import SettingsError, StoreError
from spatialstudio.domain.verdict import Outcome
from tests.audit_population import item_of
from tests.ui.judged_runs import CAR, DOG, judged_run

PASS, FAIL, OPEN = Outcome.PASS, Outcome.FAIL, Outcome.UNDECIDABLE


def test_a_metric_that_orders_as_people_do_is_perfect():
    people = answers_from({"a": PASS, "b": PASS, "c": FAIL, "d": OPEN})
    report = compare_metric("m", {"a": 0.9, "b": 0.8, "c": 0.1, "d": 0.5}, people)
    assert report.auc.value == 1
    assert report.pairwise.value == 1
    assert report.best.threshold == 0.8
    assert report.n == 4


def test_ratings_of_several_raters_are_averaged():
    people = answers_from({}, [{"a": 80.0, "b": 10.0}, {"a": 60.0}])
    assert people.scores == {"a": 70.0, "b": 10.0}


def test_equal_preferences_count_for_nothing_and_ties_for_half():
    preferences = [
        ("a", "b", Preference.FIRST),
        ("a", "c", Preference.FIRST),
        ("b", "c", Preference.EQUAL),
    ]
    people = answers_from({}, [], preferences)
    report = compare_metric("m", {"a": 2.0, "b": 1.0, "c": 2.0}, people)
    assert report.preference == pytest.approx(0.75)
    assert report.best is None


def test_without_common_pictures_there_is_nothing_to_compare():
    with pytest.raises(SettingsError, match="fewer than two"):
        compare_metric("m", {"a": 1.0}, answers_from({"b": PASS}))


def test_the_intervals_hold_the_figures():
    rng = np.random.default_rng(5)
    human = {f"{n}": rng.choice([PASS, FAIL]) for n in range(60)}
    scores = {key: float(v is PASS) + rng.normal() for key, v in human.items()}
    report = compare_metric("m", scores, answers_from(human))
    for figure in (report.kendall, report.spearman, report.pearson, report.pairwise, report.auc):
        assert figure.low < figure.value < figure.high


def test_a_sample_carries_the_checker_and_stored_scores():
    items = [
        item_of(0, PASS, 0.9, scores={"pse": 0.8}),
        item_of(1, FAIL, 0.4),
        item_of(2, OPEN, 0.1),
    ]
    scores = scores_of_items(items)
    assert list(scores["checker"].values()) == [0.9, -0.4, 0.0]
    assert scores["pse"] == {"sample 0000": 0.8}


class OneRun:
    """A store of one judged run, at "judged.png"."""

    def load(self, path):
        if path.name != "judged.png":
            raise StoreError("There is no such run.")
        run = judged_run(DOG, CAR)
        return SimpleNamespace(id="run", request=run, evaluation=run.evaluation), None


def stored_item(name, picture):
    item = item_of(0)
    fields = {**item.fields, "image_path": picture}
    return replace(item, candidate=replace(item.candidate, id=name), fields=fields)


def test_every_metric_of_relations_is_computed_on_runs_of_the_library():
    (relation,) = judged_run(DOG, CAR).scene.relations
    name = sample_id("run", relation.id)
    items = [
        stored_item(name, "judged.png"),
        stored_item("run of another relation", "judged.png"),
        stored_item("another", "missing.png"),
    ]
    scores = scores_of_library(items, OneRun())
    assert scores["visor"] == {name: 1.0}
    assert {"compbench", "hrs", "geneval", "scene_graph", "choices"} < scores.keys()
    assert all(own.keys() <= {name} for own in scores.values())
    assert scores["choices"] == {name: 1.0}  # its question is answered from the stored boxes
