from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QPushButton

from spatialstudio.ui.widgets.stage.empty_stage import EXAMPLES, EmptyStage, SceneDrawing


def test_an_example_can_be_clicked(qtbot, theme):
    stage = EmptyStage(theme)
    qtbot.addWidget(stage)
    with qtbot.waitSignal(stage.example_picked) as picked:
        qtbot.mouseClick(stage.findChildren(QPushButton)[1], Qt.MouseButton.LeftButton)
    assert picked.args == [EXAMPLES[1]]


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
