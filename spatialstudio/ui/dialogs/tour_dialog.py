"""The five-minute tour, one picture after the other."""

from pathlib import Path

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QKeyEvent, QPixmap
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from spatialstudio.ui.dialogs.dialog_size import room_for
from spatialstudio.ui.texts import tr
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.tour import STATIONS
from spatialstudio.ui.widgets.basic.text_label import PlainLabel, TextLabel, Tone

PICTURE_EM = (58, 36.25)
AROUND_EM = (3, 12)
"""What edges, words and buttons take beside and under a picture."""
STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}


class TourDialog(QDialog):
    """Shows the stations; buttons and arrow keys go from one to the next.

    Args:
        resources: Where the pictures lie.
        theme: The look of the window, that the pictures follow.
        parent: The window.
    """

    def __init__(self, resources: Path, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Five-minute tour"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._resources = resources
        self._theme = theme
        self._number = 0
        self._picture = PlainLabel()
        self._picture.setFixedSize(self._room())
        self._picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._title = TextLabel("", Tone.HEADING)
        self._text = TextLabel("")
        self._text.setMinimumHeight(em(4.5))
        self._text.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._place = TextLabel("", Tone.MUTED)
        self._back = QPushButton(tr("Back"))
        self._next = QPushButton()
        self._next.setDefault(True)
        self._back.clicked.connect(lambda: self._go(-1))
        self._next.clicked.connect(lambda: self._go(1))
        self._lay_out()
        self._show()
        theme.changed.connect(self._show)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Let the arrows turn the pages."""
        step = STEPS.get(Qt.Key(event.key()))
        if step is None:
            super().keyPressEvent(event)
        elif 0 <= self._number + step < len(STATIONS):
            self._go(step)

    def _lay_out(self) -> None:
        foot = QHBoxLayout()
        foot.addWidget(self._place)
        foot.addStretch()
        foot.addWidget(self._back)
        foot.addWidget(self._next)
        column = QVBoxLayout(self)
        column.setContentsMargins(em(1.5), em(1.3), em(1.5), em(1))
        column.setSpacing(em(0.8))
        column.addWidget(self._picture)
        column.addWidget(self._title)
        column.addWidget(self._text)
        column.addLayout(foot)

    def _room(self) -> QSize:
        """Return how large pictures are, so that words and buttons stay in sight under them."""
        wanted, around = (QSize(*(em(side) for side in each)) for each in (PICTURE_EM, AROUND_EM))
        most = wanted.boundedTo(room_for(self) - around)
        return wanted.scaled(most, Qt.AspectRatioMode.KeepAspectRatio)

    def _go(self, step: int) -> None:
        if self._number + step == len(STATIONS):
            self.accept()
            return
        self._number += step
        self._show()

    def _show(self) -> None:
        station, is_last = STATIONS[self._number], self._number == len(STATIONS) - 1
        self._title.setText(tr(station.title))
        self._text.setText(tr(station.text))
        self._picture.setPixmap(self._pixmap())
        self._picture.setAccessibleName(
            tr("Picture of the window: {text}").format(text=station.title)
        )
        self._place.setText(
            tr("{number} of {count}").format(number=self._number + 1, count=len(STATIONS))
        )
        self._back.setEnabled(self._number > 0)
        self._next.setText(tr("Done") if is_last else tr("Next"))

    def _pixmap(self) -> QPixmap:
        station, ratio = STATIONS[self._number], self.devicePixelRatioF()
        pixmap = QPixmap(str(station.picture(self._resources, is_dark=self._theme.palette.is_dark)))
        if pixmap.isNull():
            return pixmap
        scaled = pixmap.scaled(
            self._picture.size() * ratio,
            Qt.AspectRatioMode.KeepAspectRatio,
            Qt.TransformationMode.SmoothTransformation,
        )
        scaled.setDevicePixelRatio(ratio)
        return scaled
