import pytest
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from spatialstudio.ui.widgets.dock_column import (
    DockColumn,
    DockRoom,
    over,
)


@pytest.fixture
def part():
    part = QLabel("text")
    part.setMinimumHeight(100)
    return part


@pytest.fixture
def home(qtbot, part):
    """A column over a stretch, as in a dock."""
    home = QWidget()
    qtbot.addWidget(home)
    layout = QVBoxLayout(home)
    layout.addWidget(DockColumn(part))
    layout.addStretch(1)
    home.resize(300, 600)
    home.show()
    return home


def column_of(home):
    return home.findChild(DockColumn)


def test_a_short_column_takes_only_the_height_it_needs(qtbot, home):
    qtbot.waitUntil(lambda: 100 <= column_of(home).height() < 200)


def test_it_grows_with_its_content(qtbot, home, part):
    part.setMinimumHeight(400)
    qtbot.waitUntil(lambda: column_of(home).height() >= 400)


def test_parts_that_follow_stand_below_the_others(qtbot, home, part):
    later = QLabel("later")
    column_of(home).add(later)
    qtbot.waitUntil(lambda: later.isVisible() and later.y() > part.geometry().bottom())


def test_it_scrolls_when_there_is_too_little_room(qtbot, home, part):
    part.setMinimumHeight(2000)
    qtbot.waitUntil(lambda: column_of(home).verticalScrollBar().maximum() > 1000)


def test_wide_content_scrolls_where_its_dock_is_narrow(qtbot):
    content = QLabel("text")
    content.setMinimumSize(900, 700)
    room = DockRoom(content)
    qtbot.addWidget(room)
    room.resize(300, 200)
    room.show()
    assert room.minimumSizeHint().width() < 300
    assert room.horizontalScrollBar().maximum() > 500


def test_small_content_asks_for_no_more_than_it_needs(qtbot):
    content = QWidget()
    content.setLayout(QVBoxLayout())
    content.layout().setContentsMargins(0, 0, 0, 0)
    part = QWidget()
    part.setMinimumSize(20, 10)
    content.layout().addWidget(part)
    room = DockRoom(content)
    qtbot.addWidget(room)
    assert room.minimumSizeHint() == content.minimumSizeHint()


def test_the_footer_stays_in_place_as_the_content_grows(qtbot, part):
    foot = QLabel("foot")
    both = over(DockColumn(part), foot)
    qtbot.addWidget(both)
    both.resize(300, 600)
    both.show()
    assert foot.geometry().bottom() == 599
    before = foot.geometry()
    part.setMinimumHeight(400)
    qtbot.waitUntil(lambda: part.height() == 400)
    assert foot.geometry() == before
