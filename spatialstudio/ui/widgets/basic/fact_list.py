"""Names and values, one a line: what a run was made with."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.widgets.basic.text_label import TextLabel


class FactList(QWidget):
    """Shows facts; the values can be selected and copied."""

    def __init__(self) -> None:
        super().__init__()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(em(0.8))
        self._grid.setVerticalSpacing(em(0.2))
        self._grid.setColumnStretch(1, 1)
        self._facts: tuple[tuple[str, str], ...] = ()

    def show_facts(self, facts: tuple[tuple[str, str], ...]) -> None:
        """Show these names and values, in order."""
        if facts == self._facts:
            return
        self._facts = facts
        while (item := self._grid.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()
        for row, (name, value) in enumerate(facts):
            label = QLabel(name)
            label.setProperty("tone", "muted")
            self._grid.addWidget(label, row, 0, Qt.AlignmentFlag.AlignTop)
            self._grid.addWidget(TextLabel(value), row, 1)
