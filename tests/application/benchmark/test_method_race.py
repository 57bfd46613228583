"""The choice of the best method while drawing."""

import random

import numpy as np
import pytest

from spatialstudio.application.benchmark.method_race import MethodRace, score_reader
from spatialstudio.domain.errors import SettingsError
from spatialstudio.science.benchmark.opse import corrected
from tests.application.benchmark.conftest import PROMPTS

PLAN = """\
name = "Race"
seeds = "0-39"
metrics = ["visor"]

[[prompts]]
set = "list"
file = "prompts.txt"

[[methods]]
name = "plain"
guidance = "none"

[[methods]]
name = "psg"
guidance = "psg"

[[methods]]
name = "boxdiff"
guidance = "boxdiff"
"""
RATES = {"plain": 0.2, "psg": 0.9, "boxdiff": 0.3}
MOST = (len(PROMPTS) - 1) * 40
"""Prompts and seeds; one prompt states no relation."""


@pytest.fixture
def items(bench):
    bench.write(plan=PLAN)
    return bench.items().opened.items


def scores_of(items, seed):
    chance = random.Random(seed)
    keys = dict.fromkeys((item.key, item.method.name) for item in items)
    return {key: float(chance.random() < RATES[name]) for key, name in keys}


def run_race(items, scores, engines, seed):
    """Draw with several engines that end in random order; return the race and the drawn keys."""
    drawn = {}
    race = MethodRace(items, lambda item: drawn.get(item.key))
    chance, in_flight = random.Random(seed), []
    while not race.is_over:
        while len(in_flight) < engines and (item := race.take()) is not None:
            in_flight.append(item)
        if in_flight:
            item = in_flight.pop(chance.randrange(len(in_flight)))
            drawn[item.key] = scores[item.key]
            race.end(item)
    return race, drawn


@pytest.mark.parametrize("seed", range(5))
def test_the_best_method_is_found_with_fewer_pictures_whatever_the_engines(items, seed):
    scores = scores_of(items, seed)
    alone, drawn = run_race(items, scores, 1, seed)
    several, more = run_race(items, scores, 4, seed)

    assert alone.names[alone.race.best] == several.names[several.race.best] == "psg"
    assert alone.race.is_decided
    assert several.race.is_decided
    assert list(alone.race.pulls) == list(several.race.pulls)
    assert len(drawn) < 0.7 * len(RATES) * MOST  # a full comparison
    assert len(more) <= len(drawn) + 4 * len(RATES)


def test_a_race_compares_as_the_choice_from_stored_scores_does(items):
    scores = scores_of(items, 0)
    race, _ = run_race(items, scores, 1, 0)

    columns = {}
    for item in items:
        if item.request.scene.relations:
            columns.setdefault((item.prompt.id, item.seed), []).append(scores[item.key])
    chosen = corrected(np.array(list(columns.values())).T, np.random.default_rng(0))
    assert chosen.pulls == tuple(race.race.pulls)


def test_a_race_that_is_interrupted_goes_on_from_its_pictures(items):
    scores = scores_of(items, 1)
    whole, drawn = run_race(items, scores, 1, 1)

    known = dict(list(drawn.items())[:20])
    again = MethodRace(items, lambda item: known.get(item.key))
    taken = []
    while not again.is_over:
        if (item := again.take()) is not None:
            taken.append(item.key)
            known[item.key] = scores[item.key]
            again.end(item)

    assert taken == list(drawn)[20:]
    assert list(again.race.pulls) == list(whole.race.pulls)


def test_a_race_of_drawn_pictures_draws_only_what_it_needs(bench):
    bench.write(plan=PLAN.replace("0-39", "0-2"))
    items = bench.items()
    race = MethodRace(items.opened.items, score_reader(items, "pse"))
    bench.runner(items).run(race=race)

    assert race.is_over
    assert set(race.race.pulls) == {15}  # the fakes are alike: all scores are read
    assert len(bench.drawn()) == len(set(bench.drawn()))
    with pytest.raises(SettingsError, match="does not measure"):
        score_reader(items, "geneval")
