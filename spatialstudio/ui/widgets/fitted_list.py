"""A list as high as its rows, without empty space below."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QListWidget, QSizePolicy

from spatialstudio.ui.theme.theme import em

NARROWEST_EM = 8
LEAST_ROWS = 3


class FittedList(QListWidget):
    """Requests the height of its rows; scrolls where there is less room."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.ensurePolished()  # otherwise row heights are computed before styling
        for change in (self.model().rowsInserted, self.model().rowsRemoved):
            change.connect(lambda *_: self.updateGeometry())

    def sizeHint(self) -> QSize:
        return self._around(self.count())

    def minimumSizeHint(self) -> QSize:
        return self._around(min(self.count(), LEAST_ROWS))

    def _around(self, rows: int) -> QSize:
        frame = 2 * self.frameWidth()
        height = sum(self.sizeHintForRow(row) for row in range(rows))
        return QSize(em(NARROWEST_EM), height) + QSize(frame, frame)
