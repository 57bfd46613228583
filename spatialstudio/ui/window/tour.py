"""The pages of the five-minute tour; ``packaging/play_tour.py`` takes their screenshots."""

from pathlib import Path

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QKeyEvent, QPixmap
from PySide6.QtWidgets import QWidget

from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.framework.dialog_size import TitledDialog, room_for
from spatialstudio.ui.theme.theme import Theme, em
from spatialstudio.ui.widgets.builders import SPACE, column, push_button, row
from spatialstudio.ui.widgets.texts import (
    PlainLabel,
    TextLabel,
    Tone,
    tr,
)

PROMPT, SEED = "a cat to the left of a dog, a lamp above the dog", 4
"""Unguided, the cat comes out on the right; guided, both relations hold."""
FOLDER = Path("samples", "tour")
"""Relative to the resources; contains a folder of light and one of dark pictures."""


@frozen(kw_only=False)
class TourPage:
    """A page of the tour.

    Attributes:
        id: Name of its picture.
        title: The task, untranslated.
        text: Instructions in a few sentences, untranslated.
    """

    id: str
    title: str
    text: str

    def picture(self, resources: Path, *, is_dark: bool) -> Path:
        """Return the path of its picture."""
        return resources / FOLDER / ("dark" if is_dark else "light") / f"{self.id}.png"


STATIONS = (
    TourPage(
        "write",
        "Write",
        "Enter a prompt. Objects are underlined in their colours, and each relation appears "
        "as a chip. Click the middle of a chip to change the relation, drag its ends to "
        "other objects, or right-click it for more options.",
    ),
    TourPage(
        "watch",
        "Generate",
        "Press Ctrl+Return to generate. The preview is updated at each step. With all "
        "controls (Ctrl+Shift+A), attention maps show where the model attends to each word, "
        "and curves show the PoS of each relation. The verdict judges the finished picture. "
        "The baseline, the same seed without guidance, is generated as well; Ctrl+B turns it "
        "on or off.",
    ),
    TourPage(
        "inspect",
        "Inspect",
        "Ctrl+2 overlays the attention maps on the picture, with their marginals along the "
        "edges. PoS measures how well the two marginals are separated. The arrow keys step "
        "through the run, Space plays it.",
    ),
    TourPage(
        "judge",
        "Judge",
        "Ctrl+3 shows the detected objects, their offsets and the verdict with its "
        "confidence: PASS, FAIL, or UNDECIDABLE with a reason. Click a check to highlight "
        "its evidence. Drag the margin band or a threshold to try other settings; the stored "
        "verdict is kept.",
    ),
    TourPage(
        "keep",
        "Browse",
        "Ctrl+6 opens the gallery with every generated picture and its settings. Search by "
        "words, relations, verdicts and PoS; rate, compare and export runs. The queue and "
        "finished pictures survive a crash.",
    ),
    TourPage(
        "find",
        "Find",
        "Ctrl+K searches all commands, ? shows all shortcuts, Esc returns to the picture. "
        "Drop a picture on the window to judge it or to load its generation settings.",
    ),
)


PICTURE_EM = (58, 36.25)
AROUND_EM = (3, 12)
"""Room for margins, text and buttons next to and below a picture."""
STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}


class TourDialog(TitledDialog):
    """Shows the tour; buttons and arrow keys move between pages.

    Args:
        resources: Folder of the pictures.
        theme: Selects light or dark pictures.
        parent: The window.
    """

    def __init__(self, resources: Path, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(tr("Five-minute tour"), parent)
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
        self._back = push_button(tr("Back"), lambda: self._go(-1))
        self._next = push_button("", lambda: self._go(1))
        self._next.setDefault(True)
        column(
            *(self._picture, self._title, self._text),
            row(self._place, SPACE, self._back, self._next),
            within=self,
            gap=0.8,
            edges=(1.5, 1.3, 1.5, 1),
        )
        self._show()
        theme.changed.connect(self._show)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = STEPS.get(Qt.Key(event.key()))
        if step is None:
            super().keyPressEvent(event)
        elif 0 <= self._number + step < len(STATIONS):
            self._go(step)

    def _room(self) -> QSize:
        """Return the picture size that leaves text and buttons visible."""
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
        page, is_last = STATIONS[self._number], self._number == len(STATIONS) - 1
        self._title.setText(tr(page.title))
        self._text.setText(tr(page.text))
        self._picture.setPixmap(self._pixmap())
        self._picture.setAccessibleName(tr("Screenshot: {text}").format(text=page.title))
        self._place.setText(
            tr("{number} of {count}").format(number=self._number + 1, count=len(STATIONS))
        )
        self._back.setEnabled(self._number > 0)
        self._next.setText(tr("Done") if is_last else tr("Next"))

    def _pixmap(self) -> QPixmap:
        page, ratio = STATIONS[self._number], self.devicePixelRatioF()
        pixmap = QPixmap(str(page.picture(self._resources, is_dark=self._theme.palette.is_dark)))
        if pixmap.isNull():
            return pixmap
        scaled = pixmap.scaled(
            self._picture.size() * ratio,
            Qt.AspectRatioMode.KeepAspectRatio,
            Qt.TransformationMode.SmoothTransformation,
        )
        scaled.setDevicePixelRatio(ratio)
        return scaled
