"""Saved searches, and the days on which runs were generated."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QInputDialog,
    QListWidgetItem,
)

from spatialstudio.application.error_reports import report_on
from spatialstudio.domain.errors import StudioError
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.gallery.gallery_presenter import IN_TRASH
from spatialstudio.ui.gallery.widgets.day_list import DayList
from spatialstudio.ui.widgets.builders import SPACE, column, push_button, row, space
from spatialstudio.ui.widgets.fitted_list import FittedList
from spatialstudio.ui.widgets.texts import (
    TextLabel,
    Tone,
    plain_tip,
    tr,
)

LINE = Qt.ItemDataRole.UserRole
BUILT_IN = (
    ("All runs", ""),
    ("Starred", "is:starred"),
    ("Failed", "verdict:fail"),
    ("Undecidable", "verdict:undecidable"),
    ("Rejected", "is:rejected"),
    ("Imported pictures", "is:imported"),
    ("Missing files", "is:missing"),
    ("Trash", IN_TRASH),
)
"""Built-in searches: untranslated names, and filter lines."""


class SearchesPanel(Panel):
    """Lets the user open a saved search or a day."""

    title = "Library"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._context = context
        self._view = context.gallery
        self._list = FittedList(tr("Saved searches"))
        self._list.itemClicked.connect(self._use)
        self._list.itemActivated.connect(self._use)
        self._save = push_button(
            *(tr("Save…"), self._ask_for_name),
            kind="quiet",
            tip=tr("Save the current filter under a name"),
        )
        self._drop = push_button(
            tr("Remove"), self._remove, kind="quiet", tip=tr("Remove the saved search")
        )
        self._days_title = TextLabel(tr("Timeline"), Tone.HEADING)
        self._days = DayList(context.theme)
        self._days.day_picked.connect(self._view.day_offered)
        self._view.days_changed.connect(self._show_days)
        self._view.line_changed.connect(self._follow)
        self._list.currentRowChanged.connect(self._follow_row)
        column(
            *(TextLabel(tr("Searches"), Tone.HEADING), self._list),
            row(self._save, self._drop, SPACE, gap=0.2),
            *(space(0.4), self._days_title, self._days, SPACE),
            within=self,
            gap=0.4,
            edges=(0.9, 0.3, 0.9, 0.5),
        )
        self._fill()
        self._show_days()

    def _show_days(self) -> None:
        self._days.show_days(self._view.days)
        for part in (self._days_title, self._days):
            part.setVisible(bool(self._view.days))

    def _fill(self) -> None:
        self._list.clear()
        own = self._context.studio.library.searches()
        searches = [(tr(name), line) for name, line in BUILT_IN] + sorted(own.items())
        for name, line in searches:
            item = QListWidgetItem(name)
            item.setData(LINE, line)
            item.setToolTip(plain_tip(line))
            self._list.addItem(item)
        self._follow()

    def _follow(self) -> None:
        """Mark the active search, if it is in the list."""
        lines = [self._list.item(row).data(LINE) for row in range(self._list.count())]
        line = self._view.line.strip()
        self._list.setCurrentRow(lines.index(line) if line in lines else -1)
        self._save.setEnabled(bool(line) and line not in lines)
        self._follow_row()

    def _follow_row(self) -> None:
        self._drop.setEnabled(self._list.currentRow() >= len(BUILT_IN))

    def _use(self, item: QListWidgetItem) -> None:
        self._view.line_offered.emit(item.data(LINE))

    def _ask_for_name(self) -> None:
        title, label = tr("Save this search"), tr("Name")
        name, is_given = QInputDialog.getText(self, title, label, text=self._view.line)
        if is_given and name.strip():
            self._keep(name.strip(), self._view.line.strip())

    def _remove(self) -> None:
        if (item := self._list.currentItem()) is not None:
            self._keep(item.text(), "")

    def _keep(self, name: str, line: str) -> None:
        """Save a search, or delete it if the line is empty; both can be undone."""
        before = self._context.studio.library.searches().get(name, "")
        self._context.edits.change(
            tr("save search"), before, line, lambda wanted: self._write(name, wanted)
        )

    def _write(self, name: str, line: str) -> None:
        try:
            self._context.studio.library.save_search(name, line)
        except StudioError as error:
            self.problem_met.emit(report_on(error, tr("Saving the search")))
        self._fill()
