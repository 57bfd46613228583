from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from spatialstudio.ui.widgets.stage.empty_stage import EXAMPLES, EmptyStage


def test_an_example_can_be_clicked(qtbot, theme):
    stage = EmptyStage(theme)
    qtbot.addWidget(stage)
    with qtbot.waitSignal(stage.example_picked) as picked:
        qtbot.mouseClick(stage.findChildren(QPushButton)[1], Qt.MouseButton.LeftButton)
    assert picked.args == [EXAMPLES[1]]
