"""The settings dialog: a list of pages; changes apply at once."""

from typing import ClassVar

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QListWidget,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from spatialstudio.ui.framework.dialog_size import give_room
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.widgets.dock_column import DockRoom
from spatialstudio.ui.widgets.texts import tr

SIZE_EM = (46, 30)
PAGES_EM = 11


class SettingsPage(QWidget):
    """One page; stores its settings itself."""

    title: ClassVar[str] = ""


class SettingsDialog(QDialog):
    """Shows one page at a time.

    Args:
        pages: In order.
        parent: The window.
    """

    def __init__(self, pages: tuple[SettingsPage, ...], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Settings"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._pages = pages
        self._list = QListWidget()
        self._list.setAccessibleName(tr("Pages"))
        self._list.setFixedWidth(em(PAGES_EM))
        self._list.ensurePolished()  # otherwise row heights are computed before styling
        self._stack = QStackedWidget()
        for page in pages:
            self._list.addItem(tr(page.title))
            self._stack.addWidget(DockRoom(page))
        self._list.currentRowChanged.connect(self._stack.setCurrentIndex)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        row = QHBoxLayout()
        row.setSpacing(em(1.2))
        row.addWidget(self._list)
        row.addWidget(self._stack, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(em(1), em(1), em(1), em(0.8))
        column.addLayout(row)
        column.addWidget(buttons)
        give_room(self, QSize(*(em(side) for side in SIZE_EM)))
        self._list.setCurrentRow(0)

    @property
    def page(self) -> str:
        """Title of the current page."""
        return self._pages[self._list.currentRow()].title

    def show_page(self, title: str) -> None:
        """Show the page with this title; an unknown title has no effect."""
        for row, page in enumerate(self._pages):
            if page.title == title:
                self._list.setCurrentRow(row)
