"""Picks one denoising step: a slider that keys, wheel and pointer move."""

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeyEvent, QWheelEvent
from PySide6.QtWidgets import QSlider, QWidget

from spatialstudio.ui.widgets.texts import tr

PAGE = 5
PAGES = {Qt.Key.Key_Left: -PAGE, Qt.Key.Key_Right: PAGE}


class StepScrubber(QSlider):
    """Lets the user pick one denoising step.

    Emits ``step_picked`` by the user's hand only, ``play_asked`` on Space; ``show_step`` never
    echoes. Knows no session.
    """

    step_picked = Signal(int)  # 0-based
    play_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setAccessibleName(tr("Denoising step"))
        self.setPageStep(PAGE)
        self.valueChanged.connect(self.step_picked)
        self.set_step_count(0)

    def set_step_count(self, count: int) -> None:
        """Set how many steps can be picked; 0 switches the scrubber off."""
        with QSignalBlocker(self):
            self.setRange(0, max(count - 1, 0))
        self.setEnabled(count > 0)

    def show_step(self, step: int) -> None:
        """Show a step that someone else picked."""
        with QSignalBlocker(self):
            self.setValue(step)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Go one step a notch; down is later."""
        self.setValue(self.value() + (1 if event.angleDelta().y() < 0 else -1))
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Play on Space; Shift with an arrow goes five steps; the rest is the slider's own."""
        if event.key() == Qt.Key.Key_Space:
            self.play_asked.emit()
        elif event.modifiers() == Qt.KeyboardModifier.ShiftModifier and event.key() in PAGES:
            self.setValue(self.value() + PAGES[Qt.Key(event.key())])
        else:
            super().keyPressEvent(event)
