import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QPushButton

from spatialstudio.application.paths import resources_folder
from spatialstudio.ui.stage.widgets.empty_stage import (
    COLUMN_EM,
    EDGE_EM,
    EXAMPLES,
    EmptyStage,
    SceneDrawing,
)
from spatialstudio.ui.theme.fonts import use_bundled_font
from spatialstudio.ui.theme.qt_palette import stylesheet
from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.widgets.texts import TextLabel


def test_an_example_can_be_clicked(qtbot, theme):
    stage = EmptyStage(theme)
    qtbot.addWidget(stage)
    with qtbot.waitSignal(stage.example_picked) as picked:
        qtbot.mouseClick(stage.findChildren(QPushButton)[1], Qt.MouseButton.LeftButton)
    assert picked.args == [EXAMPLES[1].prompt, EXAMPLES[1].seed]


def choice(stage, text):
    return next(each for each in stage.findChildren(QAbstractButton) if each.text() == text)


def test_how_much_to_show_is_asked_only_when_wanted(qtbot, theme):
    stage = EmptyStage(theme)
    qtbot.addWidget(stage)
    stage.show()
    assert not choice(stage, "All controls").isVisible()
    stage.ask_density(True)
    with qtbot.waitSignal(stage.density_picked) as picked:
        qtbot.mouseClick(choice(stage, "All controls"), Qt.MouseButton.LeftButton)
    assert picked.args == [True]


def test_examples_keep_clear_of_messages(qtbot, theme):
    stage = EmptyStage(theme)
    qtbot.addWidget(stage)
    stage.resize(600, 700)
    stage.show()
    stage.leave_room(150)
    assert stage.viewport().geometry().bottom() < 550


def test_a_low_stage_does_without_the_drawing_and_shows_all_examples(qtbot, theme):
    stage = EmptyStage(theme)
    qtbot.addWidget(stage)
    stage.resize(700, 700)
    stage.show()
    drawing = stage.findChild(SceneDrawing)
    assert drawing.isVisible()
    stage.resize(700, 300)
    assert not drawing.isVisible()
    qtbot.waitUntil(lambda: stage.verticalScrollBar().maximum() == 0)
    stage.resize(700, 700)
    assert drawing.isVisible()


@pytest.mark.parametrize("percent", [80, 150, 200])
def test_nothing_is_cut_sideways_and_no_gap_is_left_where_there_is_little_room(
    qtbot, qapp, appearance, percent
):
    use_bundled_font(qapp, resources_folder() / "fonts")
    appearance.use_text_percent(percent)
    stage = EmptyStage(appearance.theme)
    stage.setStyleSheet(stylesheet(appearance.theme))
    qtbot.addWidget(stage)
    stage.ask_density(True)
    stage.resize(em(30), em(30))
    stage.show()
    stage.resize(em(15), em(14))
    qtbot.waitUntil(lambda: stage.verticalScrollBar().maximum() > 0)
    qtbot.waitUntil(lambda: stage.horizontalScrollBar().maximum() == 0)
    own = Qt.FindChildOption.FindDirectChildrenOnly
    labels = stage.widget().findChildren(TextLabel, options=own)
    assert labels
    qtbot.waitUntil(lambda: [each for each in labels if has_other_height(each)] == [])


def test_examples_keep_clear_of_the_scroll_bar(qtbot, theme):
    stage = EmptyStage(theme)
    qtbot.addWidget(stage)
    stage.resize(em(24), em(10))
    stage.show()
    qtbot.waitUntil(lambda: stage.verticalScrollBar().maximum() > 0)
    example = stage.focusProxy()
    edge = em(EDGE_EM)
    qtbot.waitUntil(lambda: example.geometry().right() < stage.viewport().width() - edge)


def has_other_height(label):
    return label.height() != label.heightForWidth(label.width())


def test_lines_of_the_welcome_stay_short_in_a_wide_window(qtbot, theme):
    stage = EmptyStage(theme)
    qtbot.addWidget(stage)
    stage.resize(em(80), em(50))
    stage.show()
    widths = {label.width() for label in stage.findChildren(TextLabel) if label.isVisible()}
    assert max(widths) <= em(COLUMN_EM) + 1
