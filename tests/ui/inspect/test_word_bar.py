import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QApplication, QCheckBox, QToolButton

from spatialstudio.ui.framework import commands as framework_commands
from spatialstudio.ui.framework.map_view import MapSource
from spatialstudio.ui.inspect import commands as inspect_commands
from spatialstudio.ui.inspect.maps_panel import MapsPanel
from spatialstudio.ui.stage.widgets.map_grid import MapGrid
from spatialstudio.ui.stage.widgets.picture_view import PictureView
from spatialstudio.ui.stage.widgets.word_chips import WordChip, WordChips
from tests.ui.event_count import EventCount

LEFT = Qt.MouseButton.LeftButton
DOG, CAR = "m1", "m2"


@pytest.fixture
def inspected(qtbot, drawn):
    """The workspace Inspect after a guided run, its chips in sight."""
    drawn.context.actions[framework_commands.INSPECT_WORKSPACE].trigger()
    qtbot.waitUntil(lambda: chip(drawn, DOG) is not None and chip(drawn, DOG).isVisible())
    return drawn


def chip(window, key):
    chips = window.stage.words.findChildren(WordChip)
    return next((each for each in chips if each.tag.key == key), None)


def picture(window):
    return window.stage.findChildren(PictureView)[0]


def said(window):
    return picture(window).accessibleDescription()


def test_words_stand_over_the_picture_where_maps_are_inspected(qtbot, inspected):
    assert inspected.stage.words.isVisible()
    chips = inspected.stage.words.findChildren(WordChip)
    without_map = [each for each in chips if each.tag.key not in (DOG, CAR)]
    assert without_map
    assert not any(each.isEnabled() for each in without_map)
    inspected.context.actions[framework_commands.GENERATE_WORKSPACE].trigger()
    qtbot.waitUntil(lambda: not inspected.stage.words.isVisible())


def test_a_pinned_word_is_selected_everywhere(qtbot, inspected, studio):
    qtbot.mouseClick(chip(inspected, CAR), LEFT)
    assert studio.session.mention_id == CAR
    inspected.context.maps.hover(None)  # wherever the pointer of the test's machine rests
    qtbot.waitUntil(lambda: "map of car" in said(inspected) and "dog" not in said(inspected))


def test_the_keyboard_s_word_is_shown_in_passing_and_what_is_selected_elsewhere_is_pinned(
    qtbot, inspected, studio
):
    chip(inspected, DOG).setFocus()
    chip(inspected, CAR).setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(lambda: inspected.context.maps.words == (CAR,))
    assert inspected.context.maps.pins == ()
    studio.session.pick_mention(CAR)
    qtbot.waitUntil(lambda: inspected.context.maps.pins == (CAR,))
    studio.session.pick_mention(None)
    qtbot.waitUntil(lambda: inspected.context.maps.pins == ())
    studio.session.pick_relation(studio.session.run.scene.relations[0].id)
    qtbot.waitUntil(lambda: inspected.context.maps.pins == (DOG, CAR))


def test_two_words_say_how_surely_their_relation_holds_until_another_prompt(qtbot, inspected):
    qtbot.mouseClick(chip(inspected, DOG), LEFT)
    qtbot.mouseClick(chip(inspected, CAR), LEFT, Qt.KeyboardModifier.ShiftModifier)
    qtbot.waitUntil(lambda: "The curves cross at" in said(inspected))
    inspected.prompt.use_prompt("a cat above a dog")
    inspected.generation.generate()
    qtbot.waitUntil(lambda: inspected.context.maps.pins == ())


def choice(window, text):
    buttons = window.stage.words.findChildren(QToolButton)
    return next(each for each in buttons if each.text() == text)


def cell_tip(window):
    return window.stage.findChild(MapGrid).accessibleDescription()


def test_the_grid_takes_the_picture_s_place_and_shows_the_second_run_and_the_difference(
    qtbot, inspected, studio
):
    assert not choice(inspected, "Difference").isVisible()
    qtbot.keyClick(inspected, Qt.Key.Key_G)
    grid = inspected.stage.findChild(MapGrid)
    qtbot.waitUntil(grid.isVisible)
    assert not picture(inspected).isVisible()
    qtbot.waitUntil(choice(inspected, "Difference").isVisible)
    step = studio.session.step
    own, other = (
        next(each for each in run.steps if each.step == step).attention.maps[DOG]
        for run in (studio.session.run, studio.session.baseline)
    )
    qtbot.waitUntil(lambda: f"peak {own.max():.4f}" in cell_tip(inspected))
    qtbot.mouseClick(choice(inspected, "Second run"), LEFT)
    qtbot.waitUntil(lambda: f"peak {other.max():.4f}" in cell_tip(inspected))
    qtbot.keyClick(choice(inspected, "Second run"), Qt.Key.Key_Right)
    most = (own - other).max()
    qtbot.waitUntil(lambda: f"to {most:+.4f}" in cell_tip(inspected))
    studio.session.set_second_run(None)  # the grid is of the open run
    qtbot.waitUntil(lambda: f"peak {own.max():.4f}" in cell_tip(inspected))
    qtbot.waitUntil(lambda: not choice(inspected, "Difference").isVisible())
    qtbot.mouseClick(grid, LEFT, pos=grid.cell(1, 0).center().toPoint())
    assert studio.session.step == 0
    inspected.context.actions[framework_commands.GENERATE_WORKSPACE].trigger()
    qtbot.waitUntil(picture(inspected).isVisible)


def test_bare_picture_lines_and_scale_follow_their_keys(qtbot, inspected):
    qtbot.waitUntil(lambda: "map of dog" in said(inspected))
    qtbot.keyPress(inspected, Qt.Key.Key_QuoteLeft)
    qtbot.waitUntil(lambda: "map of dog" not in said(inspected))
    qtbot.keyRelease(inspected, Qt.Key.Key_QuoteLeft)
    qtbot.waitUntil(lambda: "map of dog" in said(inspected))
    inspected.context.actions[inspect_commands.PEEK].trigger()
    qtbot.keyClick(inspected, Qt.Key.Key_Shift)  # other keys do not end it
    assert inspected.context.maps.is_peeking
    inspected.context.actions[inspect_commands.PEEK].trigger()
    assert not inspected.context.maps.is_peeking
    box = inspected.panel(MapsPanel).findChild(QCheckBox)
    qtbot.keyClick(inspected, Qt.Key.Key_O)
    assert inspected.context.maps.look.has_isolines
    qtbot.waitUntil(box.isChecked)
    before = inspected.context.maps.look.scale
    qtbot.keyClick(inspected, Qt.Key.Key_O, Qt.KeyboardModifier.ShiftModifier)
    assert inspected.context.maps.look.scale is not before


def test_words_wrap_to_separate_lines_below_many_choices(qtbot, inspected):
    bar, word = inspected.stage.words, chip(inspected, DOG)
    inspected.resize(1280, 800)
    qtbot.waitUntil(lambda: bar.isVisible() and bar.width() < 1280)
    inspected.context.maps.show_look(is_grid=True)  # the line breaks at once
    choices = [each for each in bar.findChildren(QToolButton) if each.text() in CHOICES]
    qtbot.waitUntil(lambda: all(each.isVisible() for each in choices))
    qtbot.waitUntil(lambda: top(word, bar) > max(top(each, bar) for each in choices))
    inspected.resize(1900, 900)
    qtbot.waitUntil(lambda: top(word, bar) <= max(top(each, bar) for each in choices))
    inspected.resize(1280, 800)
    qtbot.waitUntil(lambda: top(word, bar) > max(top(each, bar) for each in choices))


CHOICES = [*(each.value for each in MapSource), "Picture", "Grid"]


def top(widget, bar):
    return widget.mapTo(bar, widget.rect().topLeft()).y()


def test_a_step_does_not_lay_out_the_word_bar(qtbot, inspected, studio, monkeypatch):
    qtbot.waitUntil(lambda: studio.session.step > 0)
    bar, drawn = inspected.stage.words, []
    show = WordChips.show_pins
    monkeypatch.setattr(WordChips, "show_pins", lambda *all_: drawn.append(show(*all_)))
    qtbot.waitUntil(lambda: not bar._clock._timer.isActive())
    QApplication.processEvents()
    layouts = EventCount(bar, QEvent.Type.LayoutRequest)
    drawn.clear()
    studio.session.pick_step(0)
    qtbot.waitUntil(lambda: bool(drawn))
    QApplication.processEvents()
    assert layouts.count == 0
