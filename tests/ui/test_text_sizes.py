"""The window at all sizes of its text: it fits the screen, and nothing is cut off."""

import pytest
from PySide6.QtCore import QCoreApplication, QTranslator
from PySide6.QtWidgets import QAbstractButton, QDialog, QDockWidget, QLabel

from spatialstudio.application.paths import resources_folder
from spatialstudio.science.guidance.methods import GUIDANCE_METHODS
from spatialstudio.ui.compose import commands as compose_commands
from spatialstudio.ui.compose.commands import SKETCH
from spatialstudio.ui.compose.widgets.layout_sketch import LayoutSketch
from spatialstudio.ui.evaluate.widgets.verdict_card import VerdictCard
from spatialstudio.ui.framework import commands as framework_commands
from spatialstudio.ui.gallery import commands as gallery_commands
from spatialstudio.ui.run import commands as run_commands
from spatialstudio.ui.run.widgets.run_form import RunForm
from spatialstudio.ui.stage.widgets.picture_view import PictureView
from spatialstudio.ui.stage.widgets.word_chips import WordChip
from spatialstudio.ui.theme.fonts import use_bundled_font
from spatialstudio.ui.theme.qt_palette import stylesheet
from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.widgets.dock_column import DockRoom
from spatialstudio.ui.window.settings_dialog import SettingsDialog
from spatialstudio.ui.window.workspaces import WORKSPACES


def shown(window, kind):
    return [widget for widget in window.findChildren(kind) if widget.isVisible()]


def test_no_text_is_cut_off(qtbot, drawn):
    for size in ((1920, 1080), (1100, 640)):
        drawn.resize(*size)
        qtbot.waitUntil(lambda: len(shown(drawn, VerdictCard)) == 2)
        qtbot.waitUntil(lambda: cut_off(drawn) == [])  # one layout asks for the next


def cut_off(window):
    """Return the texts that have less room than they need."""
    return [
        label.text()
        for label in shown(window, QLabel)
        if label.text() and label.height() < height_needed(label)
    ]


def height_needed(label):
    return label.heightForWidth(label.width()) if label.wordWrap() else label.sizeHint().height()


def assert_fits(window):
    """Compare the smallest size of each workspace with a small screen."""
    for workspace in WORKSPACES:
        window.use_workspace(workspace)
        least = window.minimumSizeHint()
        assert (least.width() <= 1280, least.height() <= 800) == (True, True), workspace.id


def test_the_smallest_text_fits_a_small_screen(qtbot, window, appearance):
    enlarge(qtbot, window, appearance, 80)
    window.resize(1280, 800)
    assert_fits(window)


def test_the_largest_text_fits_a_small_screen_and_leaves_room_for_picture_and_words(
    qtbot, qapp, drawn, appearance
):
    enlarge_small(qtbot, qapp, drawn, appearance, 200)
    show_words(qtbot, drawn)
    picture = drawn.stage.findChild(PictureView)
    qtbot.waitUntil(lambda: picture.height() > drawn.stage.height() / 2)
    assert_fits(drawn)
    drawn.use_workspace(WORKSPACES[0])
    drawn.context.stage.show_sketch(True)
    least = drawn.minimumSizeHint()
    assert (least.width() <= 1280, least.height() <= 800) == (True, True)
    sketch = drawn.findChild(LayoutSketch)
    buttons = shown(drawn.stage.sketch, QAbstractButton)
    assert buttons
    qtbot.waitUntil(lambda: all(is_next_to(each, sketch) and is_whole(each) for each in buttons))


def test_the_sketch_stays_as_it_is_when_the_text_has_another_size(qtbot, drawn, appearance):
    drawn.context.stage.show_sketch(True)
    session = drawn.context.studio.session
    places = {mention.id: (0.2, 0.2 * n) for n, mention in enumerate(session.scene.mentions, 1)}
    drawn.stage.sketch.use_places(places)
    kept, before = drawn.stage.sketch.places, drawn.stage
    appearance.use_text_percent(120)
    qtbot.waitUntil(lambda: drawn.stage is not before and drawn.updatesEnabled())
    assert drawn.stage.sketch.isVisible()
    assert drawn.stage.sketch.places == kept
    assert drawn.context.actions[SKETCH].isChecked()


DIALOGS = (
    framework_commands.SETTINGS,
    framework_commands.SHORTCUTS,
    framework_commands.PALETTE,
    framework_commands.TOUR,
    framework_commands.MESSAGES,
    compose_commands.LAYOUTS,
    run_commands.SWEEP,
    gallery_commands.EXPORT,
)


def test_no_dialog_or_page_of_the_settings_is_too_large_with_the_largest_text(
    qtbot, qapp, drawn, appearance
):
    enlarge_small(qtbot, qapp, drawn, appearance, 200)
    for command in DIALOGS:
        drawn.context.actions[command].trigger()
        qtbot.waitUntil(lambda: len(shown(drawn, QDialog)) == 1)
        (dialog,) = shown(drawn, QDialog)
        assert (dialog.width() <= 1280, dialog.height() <= 800) == (True, True), command.id
        qtbot.waitUntil(lambda: not any(map(too_wide, dialog_rooms(drawn))))
        dialog.close()
        qtbot.waitUntil(lambda: shown(drawn, QDialog) == [])
    for title in ("Appearance", "Pictures", "Shortcuts", "Language model", "Plugins"):
        drawn.show_settings(title)
        qtbot.waitUntil(lambda: len(dialog_rooms(drawn)) == 1)
        qtbot.waitUntil(lambda: not any(map(too_wide, dialog_rooms(drawn))))
        shown(drawn, SettingsDialog)[0].close()
        qtbot.waitUntil(lambda: shown(drawn, QDialog) == [])


def dialog_rooms(window):
    return [room for dialog in shown(window, QDialog) for room in shown(dialog, DockRoom)]


def is_next_to(one, other):
    return not on_screen(one).intersects(on_screen(other))


def on_screen(widget):
    return widget.rect().translated(widget.mapToGlobal(widget.rect().topLeft()))


def test_larger_text_fits_a_small_screen_and_needs_no_scrolling_sideways(
    qtbot, qapp, drawn, appearance
):
    qtbot.waitUntil(lambda: len(shown(drawn, VerdictCard)) == 2)
    seen = []
    drawn.settled.connect(lambda: seen.append(drawn.updatesEnabled()))
    enlarge_small(qtbot, qapp, drawn, appearance, 150)
    qtbot.waitUntil(drawn.updatesEnabled)
    assert seen == [False]  # the window is not seen before its parts have their places
    qtbot.waitUntil(lambda: bool(shown(drawn, VerdictCard)))
    verdict = drawn.findChild(QDockWidget, "verdict")
    assert {dock.objectName() for dock in drawn.tabifiedDockWidgets(verdict)} == {"queue", "graph"}
    assert not verdict.visibleRegion().isEmpty()  # docks stand as before
    assert_fits(drawn)
    for workspace in WORKSPACES:
        drawn.use_workspace(workspace)
        rooms = [room for room in shown(drawn, DockRoom) if not room.visibleRegion().isEmpty()]
        assert rooms, workspace.id
        qtbot.waitUntil(lambda rooms=rooms: not any(map(too_wide, rooms)))
    show_words(qtbot, drawn)
    qtbot.waitUntil(lambda: len({chip.y() for chip in shown(drawn, WordChip)}) == 1)


def enlarge(qtbot, window, appearance, percent):
    """Choose another size of text, and let the window be built anew."""
    with qtbot.waitSignal(window.settled):
        appearance.use_text_percent(percent)
    QCoreApplication.processEvents()  # docks are sized once they have been laid out


def enlarge_small(qtbot, qapp, window, appearance, percent):
    """Do so in the program's own font, in a window of 1280 x 800."""
    use_bundled_font(qapp, resources_folder() / "fonts")
    enlarge(qtbot, window, appearance, percent)
    window.resize(1280, 800)


def show_words(qtbot, window):
    """Go on to Inspect, until its words stand there whole."""
    window.context.window_signals.workspace_asked.emit("inspect")
    qtbot.waitUntil(lambda: len([each for each in shown(window, WordChip) if is_whole(each)]) == 2)


def too_wide(room):
    return room.horizontalScrollBar().maximum()


def is_whole(widget):
    return widget.visibleRegion().boundingRect() == widget.rect()


class Longer(QTranslator):
    """Says everything in half as many letters again, in words that can be broken."""

    def translate(self, context, text, disambiguation="", n=-1):
        return f"{text} {'more ' * (len(text) // 10)}".strip()

    def isEmpty(self):  # noqa: N802 - Qt's name
        return False


@pytest.fixture
def longer(qapp):
    translator = Longer()
    qapp.installTranslator(translator)
    yield
    qapp.removeTranslator(translator)


def test_the_form_of_a_run_gives_way_to_longer_words(qapp, longer, appearance):
    use_bundled_font(qapp, resources_folder() / "fonts")
    form = RunForm(appearance.theme)
    form.setStyleSheet(stylesheet(appearance.theme))
    form.guidance.show_methods(tuple(GUIDANCE_METHODS))
    form.show_all(True)
    assert form.minimumSizeHint().width() <= em(17)
    form.deleteLater()
