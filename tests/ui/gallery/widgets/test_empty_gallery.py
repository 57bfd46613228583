"""An empty gallery says why, and offers what to do."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton

from spatialstudio.ui.gallery.widgets.empty_gallery import EmptyGallery


def test_it_says_why_and_offers_what_to_do(qtbot, theme):
    empty = EmptyGallery(theme)
    qtbot.addWidget(empty)
    empty.show_words("No pictures yet", "All are kept here.", "Generate the first picture")
    empty.show()
    assert {"No pictures yet", "All are kept here."} <= {
        label.text() for label in empty.findChildren(QLabel)
    }
    with qtbot.waitSignal(empty.action_picked):
        qtbot.mouseClick(empty.findChild(QPushButton), Qt.MouseButton.LeftButton)
