from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QCheckBox, QMenu, QPushButton

from spatialstudio.application.compose.layouts import LAYOUTS
from spatialstudio.application.jobs.messages import PictureJudged
from spatialstudio.domain.generation import GenerationFinished, GuidanceSettings
from spatialstudio.domain.run_settings import with_values
from spatialstudio.domain.scene import BY_HAND
from spatialstudio.domain.verdict import Box, Detection, Perception
from spatialstudio.ui.compose.commands import (
    ADD_THING,
    FREE_PLACES,
    HOLD_PLACE,
    HOLD_PLACES,
    REMOVE_THING,
    SKETCH,
    SWAP,
)
from spatialstudio.ui.compose.prompt_presenter import found_marks
from spatialstudio.ui.compose.sketch_panel import SketchPanel
from spatialstudio.ui.compose.widgets.layout_sketch import LayoutSketch
from spatialstudio.ui.compose.widgets.thing_field import ThingField
from spatialstudio.ui.run.commands import TAKE_SETTINGS
from spatialstudio.ui.stage.widgets.empty_stage import EmptyStage
from spatialstudio.ui.widgets.fields import Slider
from spatialstudio.ui.widgets.texts import TextLabel
from tests.fakes import scene_of
from tests.ui.by_name import named
from tests.ui.scripted_engine import PROMPT, evaluation_of, picture_of


@pytest.fixture
def sketch(qtbot, window, studio):
    """The sketch of a prompt, on the stage."""
    window.prompt.use_prompt(PROMPT)
    qtbot.waitUntil(lambda: studio.session.scene is not None)
    window.context.actions[SKETCH].trigger()
    sketch = window.stage.findChild(LayoutSketch)
    qtbot.waitUntil(lambda: sketch.isVisible() and "left" in sketch.accessibleDescription())
    return sketch


def push(qtbot, sketch, key, share_x):
    start = sketch.place_of(key).toPoint()
    by = QPoint(round(share_x * sketch.frame().width()), 0)
    qtbot.mousePress(sketch, Qt.MouseButton.LeftButton, pos=start)
    qtbot.mouseMove(sketch, start + by)
    qtbot.mouseRelease(sketch, Qt.MouseButton.LeftButton, pos=start + by)


def said(studio):
    return studio.session.scene.prompt.text


def test_a_push_across_turns_relation_and_prompt_until_it_is_undone(qtbot, sketch, studio, window):
    before = sketch.place_of("m1")
    push(qtbot, sketch, "m1", 0.7)
    qtbot.waitUntil(lambda: said(studio) == "a photo of a dog to the right of a car")
    assert studio.session.scene.relations[0].source == BY_HAND
    window.context.edits.undo()
    assert said(studio) == PROMPT
    qtbot.waitUntil(lambda: sketch.place_of("m1") == before)


def test_a_layout_taken_over_forgets_where_things_were_pushed(qtbot, sketch, studio, window):
    before = sketch.place_of("m1")
    for prompt in (PROMPT, "a dog to the left of a car, and a cat"):
        push(qtbot, sketch, "m1", 0.1)
        qtbot.waitUntil(lambda: sketch.place_of("m1") != before)
        assert said(studio) == PROMPT  # which says the same
        window.context.window_signals.prompt_offered.emit(prompt)
        qtbot.waitUntil(
            lambda prompt=prompt: said(studio) == prompt and sketch.place_of("m1") == before
        )


def test_while_a_thing_is_held_the_sketch_tells_what_it_would_say(qtbot, sketch, studio):
    start = sketch.place_of("m1").toPoint()
    qtbot.mousePress(sketch, Qt.MouseButton.LeftButton, pos=start)
    qtbot.mouseMove(sketch, start + QPoint(round(0.7 * sketch.frame().width()), 0))
    assert "right" in sketch.accessibleDescription()
    assert said(studio) == PROMPT
    qtbot.mouseRelease(sketch, Qt.MouseButton.LeftButton, pos=start)


def test_a_relation_changed_elsewhere_moves_the_things(qtbot, sketch, window):
    before = sketch.place_of("m1")
    window.prompt.use_prompt("a photo of a dog to the right of a car")
    qtbot.waitUntil(lambda: sketch.place_of("m1").x() > sketch.place_of("m2").x())
    assert sketch.place_of("m1") != before


def test_a_click_on_a_thing_picks_it_and_a_double_click_adds_none(qtbot, sketch, studio):
    first, second = (sketch.place_of(key).toPoint() for key in ("m1", "m2"))
    qtbot.mouseClick(sketch, Qt.MouseButton.LeftButton, pos=second)
    assert studio.session.mention_id == "m2"
    qtbot.mouseDClick(sketch, Qt.MouseButton.LeftButton, pos=first)
    assert not sketch.findChild(ThingField).isVisible()


def test_the_sketch_makes_room_for_a_picture(qtbot, sketch, window):
    window.generation.generate()
    qtbot.waitUntil(lambda: not sketch.isVisible())
    assert not window.context.actions[SKETCH].isChecked()


def test_the_empty_stage_offers_the_sketch_and_returns(qtbot, window):
    empty = window.stage.findChild(EmptyStage)
    offer = next(each for each in empty.findChildren(QPushButton) if "Sketch" in each.text())
    qtbot.mouseClick(offer, Qt.MouseButton.LeftButton)
    assert window.stage.findChild(LayoutSketch).isVisible()
    assert not empty.isVisible()
    window.context.actions[SKETCH].trigger()
    assert empty.isVisible()


def test_keys_move_an_object_of_a_prompt_that_comes_later(qtbot, window, studio):
    window.context.actions[SKETCH].trigger()
    sketch = window.stage.findChild(LayoutSketch)
    qtbot.waitUntil(sketch.hasFocus)
    studio.use_prompt(PROMPT)
    qtbot.waitUntil(lambda: sketch._picked_blob() is not None)
    assert studio.session.mention_id == "m1"
    qtbot.keyClick(sketch, Qt.Key.Key_Left)
    assert set(held(studio)) == {"m1"}


def test_keys_that_follow_fast_move_the_next_object(qtbot, sketch, studio):
    sketch.setFocus()
    for key in (Qt.Key.Key_Left, Qt.Key.Key_Tab, Qt.Key.Key_Up):
        qtbot.keyClick(sketch, key)
    assert set(held(studio)) == {"m1", "m2"}


def test_an_empty_sketch_says_how_to_begin(qtbot, window):
    window.context.actions[SKETCH].trigger()
    sketch = window.stage.findChild(LayoutSketch)
    assert sketch.accessibleDescription().startswith("Mention two objects")
    window.prompt.use_prompt(PROMPT)
    qtbot.waitUntil(lambda: "Mention two objects" not in sketch.accessibleDescription())


def add(qtbot, sketch, name):
    field = sketch.findChild(ThingField)
    qtbot.waitUntil(field.hasFocus)
    qtbot.keyClicks(field, name)
    qtbot.keyClick(field, Qt.Key.Key_Return)
    return field


def test_a_double_click_adds_a_thing_there(qtbot, sketch, studio, window):
    place = sketch.point_of(QPointF(0.2, 0.9))
    qtbot.mouseDClick(sketch, Qt.MouseButton.LeftButton, pos=place.toPoint())
    field = add(qtbot, sketch, "cat")
    qtbot.waitUntil(lambda: said(studio).endswith("a cat below the dog"))
    qtbot.waitUntil(lambda: "cat" in sketch.accessibleDescription())
    assert not field.isVisible()
    assert (sketch.place_of("m3") - place).manhattanLength() < 3
    assert studio.session.mention_id == "m3"
    window.context.edits.undo()
    assert said(studio) == PROMPT
    window.context.edits.redo()
    assert len(studio.session.scene.mentions) == 3


def test_a_key_adds_a_thing_where_there_is_room_and_arrows_push_it(qtbot, sketch, studio, window):
    qtbot.keyClick(
        window,
        Qt.Key.Key_T,
        Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier,
    )
    add(qtbot, sketch, "cat")
    qtbot.waitUntil(lambda: "cat" in sketch.accessibleDescription())
    before = sketch.place_of("m3")
    qtbot.waitUntil(sketch.hasFocus)
    qtbot.keyClick(sketch, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    qtbot.waitUntil(lambda: sketch.place_of("m3").y() > before.y())


def remove_by_key(qtbot, sketch):
    qtbot.waitUntil(sketch.hasFocus)
    qtbot.keyClick(sketch, Qt.Key.Key_Delete)


def remove_by_button(qtbot, sketch):
    button = named(sketch.window(), QPushButton, "Remove the object from the sketch")
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def remove_by_menu(_qtbot, sketch):
    place = sketch.place_of("m1").toPoint()
    *_, action = menu_at(sketch, place).actions()
    assert action.text() == "Remove dog"
    action.trigger()


def menu_at(sketch, place):
    reason = QContextMenuEvent.Reason.Mouse
    QApplication.sendEvent(sketch, QContextMenuEvent(reason, place, sketch.mapToGlobal(place)))
    menu = next(each for each in sketch.findChildren(QMenu) if each.isVisible())
    menu.close()
    return menu


def test_the_selected_object_is_removed_and_restored(qtbot, sketch, studio, window):
    before = sketch.place_of("m1")
    for remove in (remove_by_key, remove_by_button, remove_by_menu):
        studio.session.pick_mention("m1")
        qtbot.waitUntil(window.context.actions[REMOVE_THING].isEnabled)
        sketch.setFocus()
        remove(qtbot, sketch)
        qtbot.waitUntil(lambda: said(studio) == "a photo of a car")
        qtbot.waitUntil(lambda: "dog" not in sketch.accessibleDescription())
        assert studio.session.mention_id == "m2"
        window.context.edits.undo()
        assert said(studio) == PROMPT
        qtbot.waitUntil(lambda: "left" in sketch.accessibleDescription())
        assert sketch.place_of("m1") == before


def test_with_the_last_thing_goes_the_prompt(qtbot, sketch, studio, window):
    studio.session.pick_mention("m1")
    for _ in range(2):
        qtbot.waitUntil(window.context.actions[REMOVE_THING].isEnabled)
        qtbot.keyClick(sketch, Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: sketch.accessibleDescription().startswith("Mention two objects"))
    assert studio.session.scene is None
    assert not window.context.actions[REMOVE_THING].isEnabled()
    window.context.edits.undo()
    qtbot.waitUntil(lambda: said(studio) == "a photo of a car")


def test_nothing_can_be_removed_while_the_sketch_is_closed(qtbot, sketch, studio, window):
    studio.session.pick_mention("m1")
    removing = window.context.actions[REMOVE_THING]
    qtbot.waitUntil(removing.isEnabled)
    window.context.actions[SKETCH].trigger()
    assert not sketch.isVisible()
    assert not removing.isEnabled()


def test_the_menu_adds_a_thing_where_there_is_none(qtbot, sketch):
    place = sketch.point_of(QPointF(0.5, 0.9)).toPoint()
    (action,) = menu_at(sketch, place).actions()
    action.trigger()
    add(qtbot, sketch, "cat")
    qtbot.waitUntil(lambda: "cat" in sketch.accessibleDescription())
    assert (sketch.place_of("m3") - place).manhattanLength() < 3


def test_what_names_no_single_thing_is_told_and_can_be_mended(qtbot, sketch, studio, window):
    told = []
    window.context.toasts.toast_raised.connect(told.append)
    for name in ("a dog and a car", "qwertz"):
        told.clear()
        window.context.actions[ADD_THING].trigger()
        field = add(qtbot, sketch, name)
        assert len(told) == 1
        assert said(studio) == PROMPT
        assert field.text() == name
        qtbot.keyClick(field, Qt.Key.Key_Escape)
        assert not field.isVisible()
        assert sketch.hasFocus()


def test_the_first_thing_is_added_to_an_empty_sketch(qtbot, window, studio):
    window.context.actions[ADD_THING].trigger()
    sketch = window.stage.findChild(LayoutSketch)
    add(qtbot, sketch, "cat")
    qtbot.waitUntil(lambda: studio.session.scene is not None)
    assert said(studio) == "a cat"
    assert sketch.hasFocus()
    window.context.actions[ADD_THING].trigger()
    add(qtbot, sketch, "dog")
    qtbot.waitUntil(lambda: len(studio.session.scene.relations) == 1)
    window.context.edits.undo()
    window.context.edits.undo()
    assert studio.session.scene is None


def test_a_thing_keeps_its_colour_where_the_prompt_changes_its_order(qtbot, sketch, studio, window):
    window.prompt.use_prompt("a cat above a dog to the left of a car")
    qtbot.waitUntil(lambda: "cat" in sketch.accessibleDescription())
    hues = {
        mention.head: studio.session.scene.hues[mention.id]
        for mention in studio.session.scene.mentions
    }
    assert hues == {"dog": 0, "car": 1, "cat": 2}


def held(studio):
    return {each.mention_id: each for each in studio.session.places.targets}


def test_only_what_is_dragged_is_held_until_it_is_undone(qtbot, sketch, studio, window):
    assert "The place is held" not in sketch.accessibleDescription()
    push(qtbot, sketch, "m1", 0.1)
    (target,) = held(studio).values()
    assert target.mention_id == "m1"
    assert (sketch.point_of(QPointF(*target.place)) - sketch.place_of("m1")).manhattanLength() < 1
    assert sketch.accessibleDescription().count("The place is held, at any size.") == 1
    (request,) = studio.requests(window.generation.settings)
    assert request.sampling.guidance.targets == (target,)
    window.context.edits.undo()
    assert held(studio) == {}


def test_a_relation_that_contradicts_held_places_frees_them_and_undo_holds_them_again(
    qtbot, sketch, studio, window
):
    window.context.actions[HOLD_PLACES].trigger()
    before = held(studio)
    assert set(before) == {"m1", "m2"}
    studio.session.pick_relation(studio.session.scene.relations[0].id)
    window.context.actions[SWAP].trigger()
    assert held(studio) == {}
    window.context.edits.undo()
    assert held(studio) == before
    where = sketch.place_of("m1").x() < sketch.place_of("m2").x()
    qtbot.waitUntil(lambda: where)


@pytest.mark.parametrize("way", ["key", "menu", "button"])
def test_a_place_is_held_and_freed(qtbot, sketch, studio, window, way):
    studio.session.pick_mention("m1")
    qtbot.waitUntil(window.context.actions[HOLD_PLACE].isEnabled)
    sketch.setFocus()
    for is_held in (True, False):
        if way == "key":
            qtbot.keyClick(sketch, Qt.Key.Key_H)
        elif way == "menu":
            menu_at(sketch, sketch.place_of("m1").toPoint()).actions()[0].trigger()
        else:
            button = named(sketch.window(), QPushButton, "Hold or free the object's place")
            assert button.text() == ("Hold place" if is_held else "Free place")
            qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
        assert ("m1" in held(studio)) is is_held
        qtbot.waitUntil(
            lambda count=int(is_held): (
                sketch.accessibleDescription().count("The place is held") == count
            )
        )


def test_keys_size_an_object_and_the_size_stays_while_it_moves(qtbot, sketch, studio, window):
    studio.session.pick_mention("m1")
    qtbot.waitUntil(window.context.actions[HOLD_PLACE].isEnabled)
    sketch.setFocus()
    for _ in range(3):
        qtbot.keyClick(sketch, Qt.Key.Key_Plus)
    assert held(studio)["m1"].size == pytest.approx(0.3)
    push(qtbot, sketch, "m1", 0.1)
    assert held(studio)["m1"].size == pytest.approx(0.3)
    assert "with a size of 30 %" in sketch.accessibleDescription()
    qtbot.keyClick(sketch, Qt.Key.Key_0)
    assert held(studio)["m1"].size is None
    for _ in range(3):  # any size, the move, and all steps of the size, which merge
        window.context.edits.undo()
    assert held(studio) == {}


def test_the_weight_goes_from_the_relations_to_the_sketch(qtbot, sketch, studio, window):
    slider = named(sketch.window(), Slider, "Weight of the places")
    assert not slider.isEnabled()
    window.context.actions[HOLD_PLACES].trigger()
    qtbot.waitUntil(slider.isEnabled)
    slider.setValue(30)
    (request,) = studio.requests(window.generation.settings)
    assert request.sampling.guidance.target_weight == 0.3
    window.context.actions[FREE_PLACES].trigger()
    (request,) = studio.requests(window.generation.settings)
    assert request.sampling.guidance.targets == ()
    assert request.sampling.guidance.target_weight == 1


def test_the_sketch_says_that_its_places_are_not_used_without_guidance(qtbot, sketch, window):
    def says_off():
        labels = window.stage.findChildren(TextLabel)
        return any("Guidance is off" in each.text() and each.isVisible() for each in labels)

    window.context.actions[HOLD_PLACES].trigger()
    assert not says_off()
    idle = with_values(window.generation.settings, guidance=GuidanceSettings())
    window.context.window_signals.settings_changed.emit(idle)
    qtbot.waitUntil(says_off)


def test_settings_of_a_run_bring_its_places_back(qtbot, sketch, studio, window):
    window.context.actions[HOLD_PLACES].trigger()
    before = held(studio)
    window.generation.generate()
    qtbot.waitUntil(lambda: studio.session.run is not None)
    qtbot.waitUntil(window.context.actions[FREE_PLACES].isEnabled)
    window.context.actions[FREE_PLACES].trigger()
    assert held(studio) == {}
    window.context.actions[TAKE_SETTINGS].trigger()
    assert held(studio) == before
    window.context.edits.undo()
    assert held(studio) == {}


@pytest.mark.parametrize("is_held", [False, True])
def test_a_template_shows_and_may_hold_its_places(qtbot, sketch, studio, window, is_held):
    push(qtbot, sketch, "m1", 0.1)
    layout = next(each for each in LAYOUTS if each.name == "Row of three")
    signals = window.context.window_signals
    signals.prompt_offered.emit(layout.prompt(("dog", "car")))
    signals.spots_offered.emit(layout.spots, is_held)
    qtbot.waitUntil(lambda: "clock" in sketch.accessibleDescription())
    names = {mention.phrase: mention.id for mention in studio.session.scene.mentions}
    for name, spot in zip(("dog", "car", "clock"), layout.spots, strict=True):
        place = sketch.point_of(QPointF(spot.x, spot.y))
        assert (sketch.place_of(names[name]) - place).manhattanLength() < 3
    assert len(held(studio)) == (3 if is_held else 0)


def test_places_are_there_again_after_a_restart(qtbot, sketch, studio, window):
    push(qtbot, sketch, "m1", 0.1)
    assert studio.storage.drafts.newest.places == studio.session.places


def judged_at(run, left, top, right, bottom):
    """Return an evaluation of a run with one box for its first object."""
    box = Box(left=left, top=top, right=right, bottom=bottom)
    found = Detection(mention_id="m1", label="dog", score=0.9, box=box, detector_id="by hand")
    perception = Perception(
        image_sha256="", height=100, width=100, detections=(found,), masks=(), detector_id="by hand"
    )
    passed = evaluation_of(run.scene, picture_of(0))
    return PictureJudged(request_id=run.id, evaluation=replace(passed, perception=perception))


def test_the_sketch_and_the_picture_show_where_an_object_ended_up(qtbot, sketch, studio, window):
    push(qtbot, sketch, "m1", 0.1)
    x, y = held(studio)["m1"].place
    window.generation.generate()
    qtbot.waitUntil(lambda: studio.session.run is not None)
    left, top = 100 * x + 10, 100 * y - 10
    studio.bus.publish(judged_at(studio.session.run, left, top, left + 20, top + 20))
    qtbot.waitUntil(lambda: "In the picture: dog:" in sketch.accessibleDescription())
    assert "20 % of the side from its place (20 % right)." in sketch.accessibleDescription()
    assert "20 % of the side" in window.sketch.overlay.words()
    (mark,) = found_marks(studio.session.run)
    assert mark.distance == "20 %"
    assert mark.outline.boundingRect().width() == pytest.approx(0.2)


def test_a_drag_draws_a_quick_picture_behind_the_objects(qtbot, sketch, studio, window, engine):
    box = named(sketch.window(), QCheckBox, "Live preview")
    qtbot.waitUntil(box.isChecked)  # as the embedded model is quick
    before = sketch.grab().toImage()
    push(qtbot, sketch, "m1", 0.1)
    qtbot.waitUntil(lambda: bool(engine.jobs))
    (job, *_) = engine.jobs
    assert not job.judge
    red = np.full((8, 8, 3), (255, 0, 0), np.uint8)
    studio.bus.publish(
        GenerationFinished(request_id=job.job_id, image=red, seconds=1.0, peak_memory_bytes=0)
    )
    corner = sketch.point_of(QPointF(0.1, 0.95)).toPoint()
    qtbot.waitUntil(lambda: sketch.grab().toImage().pixelColor(corner) != before.pixelColor(corner))
    assert studio.session.run is None
    assert studio.storage.drafts.newest.places == studio.session.places
    box.click()
    assert sketch.grab().toImage().pixelColor(corner) == before.pixelColor(corner)


def test_a_choice_of_live_previews_is_there_after_a_restart(qtbot, sketch, context):
    box = named(sketch.window(), QCheckBox, "Live preview")
    qtbot.waitUntil(box.isChecked)
    box.click()
    later = SketchPanel(context)
    qtbot.addWidget(later)
    assert not named(later, QCheckBox, "Live preview").isChecked()


def test_generate_stops_the_preview(qtbot, sketch, studio, window, engine):
    push(qtbot, sketch, "m1", 0.1)
    qtbot.waitUntil(lambda: bool(engine.jobs))
    quick = engine.jobs[-1].job_id
    window.generation.generate()
    qtbot.waitUntil(lambda: quick in engine.cancelled)


def test_settings_may_change_before_the_sketch_knows_the_scene(window, studio):
    studio.use_scene(scene_of())
    window.context.window_signals.settings_changed.emit(window.generation.settings)
    window.context.actions[SKETCH].trigger()
    window.sketch._hold_all()
    assert set(held(studio)) == {"m1", "m2"}
