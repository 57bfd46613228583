from dataclasses import replace

import numpy as np
import pytest

from spatialstudio.application.inspect.step_numbers import (
    Measure,
    StepNumbers,
    difference,
    tab_separated,
)
from spatialstudio.application.run.choose_settings import new_request
from spatialstudio.application.session import OpenRun
from spatialstudio.domain.attention import AttentionSnapshot
from spatialstudio.domain.generation import StepEvent
from tests.fakes import scene_of
from tests.ui.scripted_engine import STICKERS

SCENE = scene_of()
DOG, CAR = (mention.id for mention in SCENE.mentions)
MAPS = {DOG: np.array([[1, 0]], np.float32), CAR: np.array([[1, 1]], np.float32)}


@pytest.fixture
def run():
    """Two steps, the second without maps."""
    request = new_request(SCENE, STICKERS, seed=7)
    first = StepEvent(
        request_id=request.id,
        step=0,
        total_steps=2,
        timestep=1.0,
        pos={"r1": 0.75},
        attention=AttentionSnapshot(maps=MAPS, layers=()),
    )
    steps = (first, replace(first, step=1, attention=None, pos={}))
    return OpenRun(id=request.id, scene=SCENE, request=request, total_steps=2, steps=steps)


def value(table, row, of, measure):
    (place,) = (
        place
        for place, column in enumerate(table.columns)
        if (column.of, column.measure) == (of, measure)
    )
    return table.rows[row][place]


@pytest.mark.parametrize(
    ("of", "measure", "number"),
    [
        ("dog", Measure.ENTROPY, 0.0),
        ("dog", Measure.CENTRE_X, 0.25),
        ("car", Measure.ENTROPY, 1.0),
        ("car", Measure.SPREAD, 0.25),
        ("dog to the left of car", Measure.OVERLAP, 0.5),
        ("dog to the left of car", Measure.POS, 0.75),
    ],
    ids=lambda each: getattr(each, "value", str(each)),
)
def test_a_step_is_described_in_numbers(run, of, measure, number):
    assert value(StepNumbers().table(run), 0, of, measure) == pytest.approx(number)


def test_values_that_were_not_captured_are_empty(run):
    assert set(StepNumbers().table(run).rows[1]) == {None}


def test_nothing_is_measured_twice(run):
    numbers = StepNumbers()
    first = numbers.table(run).rows[0]
    assert numbers.table(replace(run, seconds=1.0)).rows[0] is first


def test_a_restarted_run_is_measured_again(run):
    numbers = StepNumbers()
    numbers.table(run)
    other = replace(run.steps[0], pos={"r1": 0.25})
    assert (
        value(numbers.table(replace(run, steps=(other,))), 0, "dog to the left of car", Measure.POS)
        == 0.25
    )


def test_a_spreadsheet_gets_a_header_and_a_row_for_each_step(run):
    lines = tab_separated(StepNumbers().table(run)).splitlines()
    assert lines[0].split("\t")[:2] == ["step", "dog: entropy"]
    assert lines[1].split("\t")[0] == "1"
    assert lines[1].split("\t")[-1] == "0.75"
    assert lines[2] == "2" + "\t" * 10


def test_single_rows_can_be_selected(run):
    assert len(tab_separated(StepNumbers().table(run), [1]).splitlines()) == 2


def test_a_difference_is_the_first_run_minus_the_second(run):
    lower = replace(run.steps[0], pos={"r1": 0.5})
    second = replace(run, steps=(lower, run.steps[1]))
    table = difference(StepNumbers().table(run), StepNumbers().table(second))
    relation = SCENE.sentence(SCENE.relations[0])
    assert value(table, 0, relation, Measure.POS) == 0.25
    assert value(table, 1, relation, Measure.POS) is None


def test_a_difference_has_the_steps_of_both(run):
    short = replace(run, steps=run.steps[:1])
    table = difference(StepNumbers().table(run), StepNumbers().table(short))
    assert (table.steps, len(table.rows)) == ((0,), 1)


def test_words_that_only_one_run_has_are_left_out(run):
    other = replace(run, scene=scene_of("cat", "car"))
    table = difference(StepNumbers().table(run), StepNumbers().table(other))
    assert {column.of for column in table.columns} == {SCENE.mentions[1].phrase}
