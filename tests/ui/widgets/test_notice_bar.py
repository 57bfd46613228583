import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QPushButton, QToolButton

from spatialstudio.domain.errors import ErrorReport
from spatialstudio.ui.widgets.notice_bar import NoticeBar

MISTAKE = ErrorReport(title="Reading", message="The prompt is empty.", hint="Write one.")
FAILURE = ErrorReport(title="Drawing", message="It failed.", hint="Try again.", details="Trace")


@pytest.fixture
def notice(qtbot, theme):
    bar = NoticeBar(theme)
    qtbot.addWidget(bar)
    return bar


def test_a_mistake_is_told_with_its_hint(notice):
    notice.show_error(MISTAKE)
    said = {label.text() for label in notice.findChildren(QLabel)}
    assert {"The prompt is empty.", "Write one."} <= said
    assert notice.isVisible()


def test_a_users_mistake_has_no_details(notice):
    notice.show_error(MISTAKE)
    assert not notice.findChild(QPushButton).isVisible()


def test_details_open_on_demand(qtbot, notice):
    notice.show_error(FAILURE)
    details = notice.findChild(QPlainTextEdit)
    assert not details.isVisible()
    qtbot.mouseClick(notice.findChild(QPushButton), Qt.MouseButton.LeftButton)
    assert details.isVisible()
    assert details.toPlainText() == "Trace"


def test_it_can_be_closed(qtbot, notice):
    notice.show_error(FAILURE)
    qtbot.mouseClick(notice.findChild(QToolButton), Qt.MouseButton.LeftButton)
    assert not notice.isVisible()
