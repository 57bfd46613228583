"""The settings dialog: a list of pages; changes apply at once."""

from typing import ClassVar

from PySide6.QtWidgets import (
    QListWidget,
    QStackedWidget,
    QWidget,
)

from spatialstudio.ui.framework.dialog_size import TitledDialog, give_room
from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.widgets.builders import column, grow, row
from spatialstudio.ui.widgets.dock_column import DockRoom
from spatialstudio.ui.widgets.texts import tr

SIZE_EM = (46, 30)
PAGES_EM = 11


class SettingsPage(QWidget):
    """One page; stores its settings itself."""

    title: ClassVar[str] = ""


class SettingsDialog(TitledDialog):
    """Shows one page at a time.

    Args:
        pages: In order.
        parent: The window.
    """

    def __init__(self, pages: tuple[SettingsPage, ...], parent: QWidget | None = None) -> None:
        super().__init__(tr("Settings"), parent)
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
        pages_row = row(self._list, grow(self._stack), gap=1.2)
        column(pages_row, self.buttons(), within=self, edges=(1, 1, 1, 0.8))
        give_room(self, SIZE_EM)
        self._list.setCurrentRow(0)

    @property
    def page(self) -> str:
        """Title of the current page."""
        return self._pages[self._list.currentRow()].title

    def show_page(self, title: str) -> None:
        """Show the page with this title; an unknown title has no effect."""
        for place, page in enumerate(self._pages):
            if page.title == title:
                self._list.setCurrentRow(place)
