"""The scrubber with what belongs to it: play, the step's name, back to live."""

from PySide6.QtCore import QSize, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QToolButton, QWidget

from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.step_scrubber import StepScrubber

PLAY_MS = 160
NAME_WIDTH_EM = 9


class ReplayBar(QWidget):
    """Lets the user scrub and play the steps.

    Emits ``step_picked`` for each step picked by hand or by playing, ``live_asked`` when the user
    wants to follow the run again.
    """

    step_picked = Signal(int)
    live_asked = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._scrubber = StepScrubber()
        self._scrubber.step_picked.connect(self._pick)
        self._scrubber.play_asked.connect(self.toggle_play)
        self._clock = QTimer(self)
        self._clock.setInterval(PLAY_MS)
        self._clock.timeout.connect(self._advance)
        self._play = QToolButton()
        self._play.setIconSize(QSize(em(1.1), em(1.1)))
        self._play.clicked.connect(self.toggle_play)
        self._name = QLabel()
        self._name.setMinimumWidth(em(NAME_WIDTH_EM))
        self._live = QPushButton("Live")
        self._live.setProperty("kind", "quiet")
        self._live.setAccessibleName("Follow the newest step")
        self._live.setToolTip("Follow the newest step again")
        self._live.clicked.connect(self.live_asked)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(em(0.6))
        for widget in (self._play, self._scrubber, self._name, self._live):
            row.addWidget(widget, 1 if widget is self._scrubber else 0)
        theme.changed.connect(self._dress)
        self._dress()
        self.set_step_count(0)
        self.show_live(offered=False)

    @property
    def is_playing(self) -> bool:
        """Whether the steps run by themselves."""
        return self._clock.isActive()

    def set_step_count(self, count: int) -> None:
        """Set how many steps can be picked; 0 switches all off."""
        self._scrubber.set_step_count(count)
        self._play.setEnabled(count > 1)
        if not count:
            self._stop()
            self._name.clear()

    def show_step(self, step: int, name: str) -> None:
        """Show a step that someone else picked, and what to call it."""
        self._scrubber.show_step(step)
        self._name.setText(name)

    def show_live(self, *, offered: bool) -> None:
        """Offer the way back to the newest step, or not."""
        self._live.setVisible(offered)

    def toggle_play(self) -> None:
        """Play from the picked step, from the start when it is the last; or stop."""
        if self.is_playing:
            self._stop()
            return
        if self._scrubber.value() == self._scrubber.maximum():
            self._scrubber.setValue(0)
        self._clock.start()
        self._dress()

    def go_by(self, steps: int) -> None:
        """Go some steps on, or back when negative, as by hand."""
        self._scrubber.setValue(self._scrubber.value() + steps)

    def _pick(self, step: int) -> None:
        self.step_picked.emit(step)

    def _advance(self) -> None:
        self.go_by(1)
        if self._scrubber.value() == self._scrubber.maximum():
            self._stop()

    def _stop(self) -> None:
        self._clock.stop()
        self._dress()

    def _dress(self) -> None:
        name = "Pause" if self.is_playing else "Play"
        self._play.setIcon(self._theme.icon(name.lower()))
        self._play.setAccessibleName(f"{name} the steps")
        self._play.setToolTip(f"{name} (Space)")
