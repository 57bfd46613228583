"""A flow layout wraps its widgets and follows their changes."""

import pytest
from PySide6.QtWidgets import QLabel

from spatialstudio.ui.widgets.builders import flow

NARROW, WIDE = 60, 2000


@pytest.fixture
def labels(qtbot):
    return [QLabel("dog"), QLabel("car")]


@pytest.fixture
def line(qtbot, labels):
    line = flow(*labels, gap=0.2)
    qtbot.addWidget(line)
    return line


def test_a_widget_that_grows_wraps(line, labels):
    height = line.heightForWidth(NARROW)
    labels[0].setText("a dog to the left")
    assert line.heightForWidth(NARROW) > height


@pytest.mark.parametrize("change", ["add", "remove", "hide"])
def test_the_height_follows_the_widgets(line, labels, change):
    def height():
        return line.heightForWidth(labels[0].sizeHint().width())

    before = height()
    match change:
        case "add":
            line.layout().addWidget(QLabel("bird"))
            assert height() > before
        case "remove":
            line.layout().removeWidget(labels[1])
            assert height() < before
        case "hide":
            labels[1].hide()
            assert height() < before
    assert line.heightForWidth(WIDE) < before
