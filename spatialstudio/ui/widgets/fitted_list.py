"""A list that is as high as its rows: no empty frame stands under them."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QListWidget, QSizePolicy

from spatialstudio.ui.theme.metrics import em

NARROWEST_EM = 8
LEAST_ROWS = 3


class FittedList(QListWidget):
    """Asks for the height of its rows; where there is less room, they are scrolled."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.ensurePolished()  # else the rows get their heights before their style
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
