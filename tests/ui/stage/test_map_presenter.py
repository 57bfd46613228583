"""A guided step is read twice; what is shown together is of one reading, and says which."""

from dataclasses import replace

import numpy as np
import pytest

from spatialstudio.application.inspect.layer_maps import LayersAveraged
from spatialstudio.application.inspect.map_reading import peak_of
from spatialstudio.application.inspect.step_numbers import (
    Measure,
    StepNumbers,
    tab_separated,
)
from spatialstudio.application.inspect.storyboard import pinned
from spatialstudio.application.inspect.view_script import view_script
from spatialstudio.application.run.choose_settings import new_request
from spatialstudio.application.session import OpenRun
from spatialstudio.domain.attention import (
    AttentionSnapshot,
    LayerChoice,
    MapScale,
    Moment,
)
from spatialstudio.domain.run_data import MOMENT_NAMES
from spatialstudio.domain.run_settings import with_values
from spatialstudio.ui.framework.map_view import MapLook
from spatialstudio.ui.stage.map_presenter import (
    MapSelection,
    maps_at,
    moment_note,
    words_to_script,
)
from tests.fakes import scene_of
from tests.ui.scripted_engine import STICKERS, step_of

AFTER = MapSelection()
BEFORE = MapSelection(look=MapLook(moment=Moment.BEFORE))
STEPS = 4
CHOICE = LayerChoice(layers=frozenset({"mid"}))


@pytest.fixture
def run():
    """A run whose maps and PoS differ before and after the updates of its first two steps."""
    request = new_request(scene_of(), STICKERS, seed=1)
    guidance = replace(request.sampling.guidance, last_step=1)
    request = with_values(request, steps=STEPS, guidance=guidance)

    def read_twice(event):
        if not event.is_guided:
            return event
        maps = {word: 2 * weights for word, weights in event.attention.maps.items()}
        after = AttentionSnapshot(maps=maps, layers=event.attention.layers)
        return replace(event, attention_after=after, pos={"r1": 0.36}, pos_after={"r1": 0.72})

    steps = tuple(read_twice(step_of(request, step)) for step in range(STEPS))
    assert [event.is_guided for event in steps] == [True, True, False, False]
    return OpenRun(
        id=request.id, scene=request.scene, request=request, steps=steps, total_steps=STEPS
    )


@pytest.fixture
def old(run):
    """The same run as a trace of version 2 holds it."""
    return replace(run, steps=tuple(replace(each, attention_after=None) for each in run.steps))


@pytest.fixture
def averaged(run):
    """What was averaged of the run's recorded layers."""
    maps = {word: np.full((STEPS, 4, 4), 9, np.float32) for word in ("m1", "m2", "word-1")}
    return averages_at(run, Moment.AFTER, maps)


def averages_at(run, moment, maps):
    averaged = LayersAveraged(request_id=run.id, choice=CHOICE, maps=maps, every=1, moment=moment)
    return {run.id: averaged}


def test_after_the_updates_is_shown_unless_before_is_wanted(run):
    event = run.steps[1]
    assert maps_at(run, 1, AFTER) == event.attention_after.maps
    assert maps_at(run, 1, BEFORE) == event.attention.maps
    assert moment_note(run, 1, AFTER) == "Recorded after the step's latent updates."
    assert moment_note(run, 1, BEFORE) == "Recorded before the step's latent updates."


def test_a_step_without_updates_is_read_once(run):
    assert maps_at(run, 3, AFTER) is maps_at(run, 3, BEFORE)
    assert "no latent updates" in moment_note(run, 3, AFTER)


def test_an_old_trace_is_shown_as_before_and_says_so(old):
    assert maps_at(old, 1, AFTER) == old.steps[1].attention.maps
    told = moment_note(old, 1, AFTER)
    assert told == (
        "Recorded before the step's latent updates. This run was recorded at this moment only."
    )
    numbers = StepNumbers().table(old)
    assert numbers.moment is Moment.BEFORE
    assert pos_in(numbers) == [0.36, 0.36]


def pos_in(table):
    place = next(n for n, each in enumerate(table.columns) if each.measure is Measure.POS)
    return [row[place] for row in table.rows[:2]]


def test_layers_captured_once_are_told_as_after_whatever_is_wanted(run, averaged):
    chosen = replace(BEFORE, averages=averaged, is_chosen=True)
    assert maps_at(run, 1, chosen)["m1"].max() == 9
    told = moment_note(run, 1, chosen)
    assert told.startswith("Recorded after the step's latent updates. Layers")


def test_layers_captured_before_the_updates_are_told_as_before(run, averaged):
    before = averages_at(run, Moment.BEFORE, averaged[run.id].maps)
    chosen = replace(AFTER, averages=before, is_chosen=True)
    assert moment_note(run, 1, chosen).startswith("Recorded before the step's latent updates.")


@pytest.mark.parametrize(("sight", "has_others"), [(AFTER, True), (BEFORE, False)])
def test_maps_of_two_readings_are_never_shown_together(run, averaged, sight, has_others):
    maps = maps_at(run, 1, replace(sight, averages=averaged))
    assert ("word-1" in maps) is has_others
    assert maps["m1"].max() < 9
    assert "word-1" in maps_at(run, 3, replace(sight, averages=averaged))


def test_both_readings_share_one_scale(run):
    assert peak_of([run]) == max(m.max() for m in run.steps[1].attention_after.maps.values())


def test_numbers_are_of_the_reading_in_their_names(run):
    numbers = StepNumbers()
    for moment, pos in ((Moment.AFTER, 0.72), (Moment.BEFORE, 0.36), (Moment.AFTER, 0.72)):
        table = numbers.table(run, moment)
        assert pos_in(table) == [pos, pos]
        assert f"PoS {moment.value}" in tab_separated(table).splitlines()[0]


def test_a_pinned_step_says_which_reading_it_shows(run):
    frame = pinned(run, 1, Moment.BEFORE)
    assert frame.caption.endswith("recorded before the step's updates")
    assert frame.pos[0][1] == 0.36
    assert pinned(run, 1).pos[0][1] == 0.72
    assert "updates" not in pinned(run, 3).caption


@pytest.mark.parametrize("moment", list(Moment), ids=lambda each: each.name)
def test_a_script_reads_what_is_in_sight(run, tmp_path, moment):
    run = replace(run, path=tmp_path / "run.png")
    words, choice = words_to_script(run, 1, MapSelection(look=MapLook(moment=moment)))
    script = view_script(run, words, 1, MapScale.PER_MAP, choice, moment)
    assert f'recorded[f"map_{MOMENT_NAMES[moment]}/{{word}}"][row]' in script
    assert moment.value in script.splitlines()[0]
