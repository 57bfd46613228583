from PySide6.QtWidgets import QWidget

from spatialstudio.ui.window.app import FirstFrame


def test_nothing_is_done_before_the_window_is_seen(qtbot):
    window, calls = QWidget(), []
    qtbot.addWidget(window)
    FirstFrame(window, lambda: calls.append(window.isVisible()))
    qtbot.wait(20)
    assert calls == []
    window.show()
    qtbot.waitUntil(lambda: calls == [True])


def test_it_is_done_once_however_often_the_window_is_painted(qtbot):
    window, calls = QWidget(), []
    qtbot.addWidget(window)
    FirstFrame(window, lambda: calls.append(1))
    window.show()
    qtbot.waitUntil(lambda: bool(calls))
    window.repaint()
    window.grab()
    qtbot.wait(20)
    assert calls == [1]
