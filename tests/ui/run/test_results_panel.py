import shutil

import pytest
from PySide6.QtCore import Qt

from spatialstudio.domain.verdict import Outcome
from spatialstudio.ui.framework.bridge import Bridge
from spatialstudio.ui.run.results_panel import ResultsPanel
from spatialstudio.ui.run.widgets.result_strip import ROLE, ResultStrip
from tests.ui.scripted_engine import PROMPT, STEPS


class Deaf:
    """Stands for a studio that has heard every event already."""

    def apply_event(self, event):
        return (event,)


@pytest.fixture
def draw(context, studio, engine):
    """Draw pictures with the given seeds, each with its baseline."""
    studio.start()
    studio.bus.subscribe(studio.apply_event)
    studio.use_prompt(PROMPT)

    def draw_all(*seeds):
        requests = [studio.new_request(seed=seed) for seed in seeds]
        studio.queue.add(*requests, with_baseline=True)
        for job in engine.jobs:
            engine.play(job)
        engine.jobs.clear()

    return draw_all


@pytest.fixture
def strip(qtbot, context, studio):
    panel = ResultsPanel(context)
    qtbot.addWidget(panel)
    studio.bus.subscribe(panel.handle)
    bridge = Bridge(studio.bus, Deaf(), context.reading)
    panel.resize(600, 120)
    panel.show()
    yield panel.findChild(ResultStrip)
    bridge.close()


def results(strip):
    return [strip.item(place).data(ROLE) for place in range(strip.count())]


def is_open(studio, seed):
    run = studio.session.run
    return run is not None and run.request.sampling.seed == seed


def test_pairs_stand_in_the_strip_the_newest_first(qtbot, draw, strip):
    draw(1, 2)
    qtbot.waitUntil(lambda: [each.caption for each in results(strip)] == ["2", "1"])
    newest = results(strip)[0]
    assert len(newest.pictures) == 2
    assert newest.outcomes == (Outcome.PASS, Outcome.PASS)
    assert newest.words == f"seed 2, PASS, baseline PASS: {PROMPT}"


def test_a_click_brings_a_result_with_its_steps_onto_the_stage(qtbot, draw, strip, studio):
    draw(1, 2)
    qtbot.waitUntil(lambda: strip.count() == 2)
    place = strip.visualItemRect(strip.item(1)).center()
    qtbot.mouseClick(strip.viewport(), Qt.MouseButton.LeftButton, pos=place)
    qtbot.waitUntil(lambda: is_open(studio, seed=1))
    run, baseline = studio.session.run, studio.session.baseline
    assert (run.request.sampling.seed, baseline.request.sampling.seed) == (1, 1)
    assert (len(run.steps), len(baseline.steps)) == (STEPS, STEPS)
    assert run.evaluation is not None


def test_keys_go_through_the_strip_and_enter_opens(qtbot, draw, strip, studio):
    draw(1, 2)
    qtbot.waitUntil(lambda: strip.count() == 2)
    strip.setCurrentRow(0)
    qtbot.keyClick(strip, Qt.Key.Key_Right)
    qtbot.keyClick(strip, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: is_open(studio, seed=1))


def test_what_is_on_the_stage_is_marked(qtbot, draw, strip, studio):
    draw(1, 2)
    qtbot.waitUntil(lambda: strip.count() == 2)
    studio.session.open(*studio.queue.entries[0].runs)
    qtbot.waitUntil(lambda: strip.currentItem().data(ROLE).caption == "1")


def test_a_picture_whose_file_is_gone_is_told(qtbot, draw, strip, studio):
    draw(1)
    qtbot.waitUntil(lambda: strip.count() == 1)
    shutil.rmtree(studio.queue.entries[0].run.folder)
    panel = strip.window()
    with qtbot.waitSignal(panel.problem_met):
        strip.setCurrentRow(0)
        qtbot.keyClick(strip, Qt.Key.Key_Return)


def test_the_first_picture_finds_its_room(qtbot, draw, strip):
    panel = strip.window()
    before = panel.minimumSizeHint().height()
    draw(1)
    qtbot.waitUntil(lambda: bool(results(strip)) and strip.isVisible())
    assert panel.minimumSizeHint().height() == before
