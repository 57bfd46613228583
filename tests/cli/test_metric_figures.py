import pytest

from spatialstudio.application.evaluate.metrics import (
    all_metrics,
    choose_metrics,
    metric_figures,
)
from spatialstudio.cli.judging import figures_in_words


def verdict(outcome="PASS", *, found=True, pse=1.0, compbench=0.9, **others):
    return {
        "outcome": outcome,
        "confidence": 0.8,
        "found": found,
        "pse": pse,
        "compbench": compbench,
        "visor": True,
        "geneval": True,
        **others,
    }


def row(*verdicts, prompt="p", objects=2, hrs=True, da_score=0.5):
    return {
        "prompt": prompt,
        "error": None,
        "relations": len(verdicts),
        "objects": objects,
        "hrs": hrs,
        "hrs_mended": hrs,
        "da_score": da_score,
        "verdicts": verdicts,
    }


MISSED = verdict("UNDECIDABLE", found=False, pse=None, compbench=0, visor=False, geneval=False)
WRONG = verdict("FAIL", pse=0.0, compbench=0, visor=False, geneval=False)
ROWS = (
    row(verdict()),
    row(WRONG, hrs=False),
    row(MISSED, prompt="q", hrs=False, da_score=None),
    {"prompt": "q", "error": "Not a picture.", "relations": 1, "objects": 2},
)


@pytest.fixture
def figures():
    return metric_figures(ROWS, all_metrics())


def test_an_error_counts_in_the_checkers_denominator(figures):
    assert figures["checker"] == {
        "relations": 4,
        "coverage": 0.5,
        "pass_rate_all": 0.25,
        "pass_rate_decided": 0.5,
        "mean_confidence": pytest.approx(0.6),
    }


def test_pse_counts_missing_objects_as_zero(figures):
    assert figures["pse"] == {"relations": 4, "mean": 0.25, "met": 0.25}


def test_the_da_score_counts_an_error_as_zero_and_states_how_many_were_answered(figures):
    assert figures["da"] == {"mean": pytest.approx(1 / 3), "answered": 0.5}


def test_visor_counts_over_pictures_and_over_prompts(figures):
    assert figures["visor"] == {
        "object_accuracy": 0.5,
        "unconditional": 0.25,
        "conditional": 0.5,
        "visor_1": 0.5,
        "visor_2": 0,
        "visor_3": 0,
        "visor_4": 0,
    }


def test_the_other_metrics_are_shares_and_means(figures):
    assert figures["compbench"] == {"mean": pytest.approx(0.225)}
    assert figures["geneval"] == {"share": 0.25}
    assert figures["hrs"] == {"score": 0.25, "by_objects": {2: 0.25}}


def test_hrs_is_the_mean_of_its_levels():
    rows = row(verdict()), row(verdict(), verdict(), objects=3, hrs=False)
    assert metric_figures(rows, all_metrics())["hrs"]["score"] == 0.5


def test_hrs_is_given_as_published_and_corrected():
    four = {**row(verdict(), verdict(), objects=4, hrs=False), "hrs_mended": True}
    figures = metric_figures([four], all_metrics())
    assert figures["hrs"] == {"score": 0, "by_objects": {4: 0}}
    assert figures["hrs_mended"] == {"score": 1, "by_objects": {4: 1}}


def test_corrected_hrs_is_reported_with_the_published_form():
    four = {**row(verdict(), objects=4, hrs=True), "hrs_published": False}
    figures = metric_figures([four], choose_metrics(["hrs:mended"]))
    assert (figures["hrs"]["score"], figures["hrs_published"]["score"]) == (1, 0)


def test_only_requested_metrics_have_figures():
    assert set(metric_figures(ROWS, choose_metrics(["visor"]))) == {"checker", "visor"}


def test_a_metric_without_known_relations_has_no_figures():
    near = verdict(visor=None, geneval=None, compbench=None)
    assert set(metric_figures([row(near, hrs=None)], all_metrics())) == {"checker", "pse", "da"}


def test_without_relations_only_the_assertions_count():
    assert set(metric_figures([row(hrs=None)], all_metrics())) == {"da"}


def test_figures_by_level_are_printed_with_their_unit():
    words = figures_in_words({"score": 0.25, "by_objects": {2: 0.631578947368421, 3: 0.5}})
    assert words == "score 0.2500, 2 objects 0.632, 3 objects 0.500"
