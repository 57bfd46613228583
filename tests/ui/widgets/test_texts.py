from spatialstudio.ui.widgets.texts import TextLabel


def test_a_label_keeps_room_for_longer_texts(qtbot):
    label = TextLabel("short", lines=3)
    qtbot.addWidget(label)
    line = label.fontMetrics().lineSpacing()
    assert label.heightForWidth(40 * line) == 3 * line
    label.setText("a text of many words " * 20)
    assert label.heightForWidth(10 * line) > 3 * line
