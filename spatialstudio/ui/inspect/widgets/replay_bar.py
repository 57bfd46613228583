"""The scrubber and its playback controls: mode, speed, step label, back to live."""

from enum import Enum

from PySide6.QtCore import QSignalBlocker, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QSizePolicy,
    QSlider,
    QSpinBox,
    QStyle,
    QStyleOptionSlider,
    QWidget,
)

from spatialstudio.ui.theme.theme import Theme, em
from spatialstudio.ui.widgets.builders import SPACE, ThemedIcon, grow, push_button, row, tool_button
from spatialstudio.ui.widgets.fields import NumberBox
from spatialstudio.ui.widgets.texts import PlainLabel, plain_tip, tr

SLOWEST, FASTEST, USUAL = 5, 60, 10
"""Steps per second."""
FASTER_BY = 5
NAME_WIDTH_EM = 6.6
SCRUBBER_EM = 4
ICON_EM = 1.1
GAP_EM = 0.6


class PlayMode(Enum):
    """What playback does after the last step."""

    ONCE = "once"
    LOOP = "loop"
    PING_PONG = "ping_pong"


class ReplayBar(QWidget):
    """Lets the user scrub and play the steps.

    Emits ``step_picked`` for each step picked by the user or by playback, ``live_asked`` when the
    user wants to follow the run again, ``mode_picked`` with another ``PlayMode``.
    """

    step_picked = Signal(int)
    live_asked = Signal()
    mode_picked = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._mode = PlayMode.ONCE
        self._stride = 1
        self._scrubber = StepScrubber()
        self._scrubber.setMinimumWidth(em(SCRUBBER_EM))
        self._scrubber.step_picked.connect(self.step_picked)
        self._scrubber.play_asked.connect(self.toggle_play)
        self._clock = QTimer(self)
        self._clock.setTimerType(Qt.TimerType.PreciseTimer)
        self._clock.timeout.connect(self._advance)
        self._play = tool_button(do=self.toggle_play, icon_em=ICON_EM)
        names = {PlayMode.LOOP: tr("Loop"), PlayMode.PING_PONG: tr("Play back and forth")}
        self._modes = {
            mode: tool_button(name=name, tip=name, icon_em=ICON_EM) for mode, name in names.items()
        }
        for mode, button in self._modes.items():
            button.setCheckable(True)
            button.clicked.connect(lambda on, mode=mode: self._take_mode(mode, on=on))
            ThemedIcon(button, theme, mode.value)
        self._speed = self._speed_field()
        self._name = PlainLabel()
        self._name.setMinimumWidth(em(NAME_WIDTH_EM))
        self._live = push_button(
            tr("Live"),
            self.live_asked,
            kind="quiet",
            name=tr("Follow the latest step"),
            tip=tr("Follow the latest step again"),
        )
        playing = row(self._play, *self._modes.values(), self._speed, SPACE)
        scrubbing = row(grow(self._scrubber), self._name, self._live)
        for half in (playing, scrubbing):
            half.setSpacing(em(GAP_EM) // 2)
        self._halves = row(playing, grow(scrubbing), within=self, gap=GAP_EM)
        theme.changed.connect(self._dress)
        self._dress()
        self.use_speed(USUAL)
        self.set_step_count(0)
        self.show_live(offered=False)

    def minimumSizeHint(self) -> QSize:
        """Return the width of the wider half: both are stacked where there is little room."""
        return QSize(max(self._widths()), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        is_narrow = self.width() < sum(self._widths()) + self._halves.spacing()
        way = QBoxLayout.Direction
        self._halves.setDirection(way.TopToBottom if is_narrow else way.LeftToRight)

    @property
    def is_playing(self) -> bool:
        """Whether playback is running."""
        return self._clock.isActive()

    @property
    def speed(self) -> int:
        """Playback speed in steps per second."""
        return self._speed.value()

    def set_step_count(self, count: int) -> None:
        """Set the number of steps; 0 disables all controls."""
        self._scrubber.set_step_count(count)
        for widget in (self._play, self._speed, *self._modes.values()):
            widget.setEnabled(count > 1)
        if not count:
            self._stop()
            self._name.clear()

    def show_step(self, step: int, name: str) -> None:
        """Show a step picked elsewhere, and its label."""
        self._scrubber.show_step(step)
        self._name.setText(name)

    def show_live(self, *, offered: bool) -> None:
        """Show or hide the button that returns to the newest step."""
        self._live.setVisible(offered)

    def show_mode(self, mode: PlayMode) -> None:
        """Set the playback mode."""
        self._mode = mode
        self._stride = 1
        for known, button in self._modes.items():
            button.setChecked(known is mode)

    def use_speed(self, steps_a_second: int) -> None:
        """Set the playback speed, 5 to 60 steps per second."""
        with QSignalBlocker(self._speed):
            self._speed.setValue(steps_a_second)
        self._clock.setInterval(round(1000 / self.speed))

    def change_speed(self, by: int) -> None:
        """Change the playback speed by a number of steps per second."""
        self.use_speed(self.speed + by)

    def toggle_play(self) -> None:
        """Play from the picked step, from the start if it is the last; or stop."""
        if self.is_playing:
            self._stop()
            return
        self._stride = 1
        if self._is_at_end and self._mode is not PlayMode.PING_PONG:
            self._scrubber.setValue(0)
        self._clock.start()
        self._dress()

    def go_by(self, steps: int) -> None:
        """Move by a number of steps, as a user action; negative moves back."""
        self._scrubber.setValue(self._scrubber.value() + steps)

    @property
    def _is_at_end(self) -> bool:
        return self._scrubber.value() == self._scrubber.maximum()

    def _advance(self) -> None:
        if self._mode is PlayMode.PING_PONG:
            if self._is_at_end:
                self._stride = -1
            elif not self._scrubber.value():
                self._stride = 1
        elif self._is_at_end:
            self._scrubber.setValue(0)
            return
        self.go_by(self._stride)
        if self._mode is PlayMode.ONCE and self._is_at_end:
            self._stop()

    def _stop(self) -> None:
        self._clock.stop()
        self._dress()

    def _take_mode(self, mode: PlayMode, *, on: bool) -> None:
        self.show_mode(mode if on else PlayMode.ONCE)
        self.mode_picked.emit(self._mode)

    def _speed_field(self) -> NumberBox:
        field = NumberBox(
            minimum=SLOWEST,
            maximum=FASTEST,
            singleStep=FASTER_BY,
            buttonSymbols=QSpinBox.ButtonSymbols.NoButtons,
            suffix=tr(" / s"),
            accessibleName=tr("Steps per second"),
            toolTip=tr("Playback speed in steps per second"),
        )
        field.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        field.valueChanged.connect(self.use_speed)
        return field

    def _widths(self) -> tuple[int, ...]:
        """Return the minimum width of each half."""
        halves = (self._halves.itemAt(place) for place in range(self._halves.count()))
        return tuple(half.minimumSize().width() for half in halves if half is not None)

    def _dress(self) -> None:
        name, icon = (tr("Pause"), "pause") if self.is_playing else (tr("Play"), "play")
        self._play.setIcon(self._theme.icon(icon))
        self._play.setAccessibleName(tr("{name} the steps").format(name=name))
        self._play.setToolTip(plain_tip(tr("{name} (Space)").format(name=name)))


PAGE = 5
PAGES = {Qt.Key.Key_Left: -PAGE, Qt.Key.Key_Right: PAGE}


class StepScrubber(QSlider):
    """Lets the user pick one denoising step.

    Emits ``step_picked`` on user action only, ``play_asked`` on Space; ``show_step`` never
    echoes.
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
        """Set the number of steps; 0 disables the scrubber."""
        with QSignalBlocker(self):
            self.setRange(0, max(count - 1, 0))
        self.setEnabled(count > 0)

    def show_step(self, step: int) -> None:
        """Show a step picked elsewhere."""
        with QSignalBlocker(self):
            self.setValue(step)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Go to the step under the pointer, from where it can be dragged."""
        option = QStyleOptionSlider()
        self.initStyleOption(option)
        handle = self.style().subControlRect(
            QStyle.ComplexControl.CC_Slider, option, QStyle.SubControl.SC_SliderHandle, self
        )
        at = event.position().toPoint()
        if event.button() is Qt.MouseButton.LeftButton and not handle.contains(at):
            place = at.x() - (handle.center().x() - handle.left())  # as Qt's own hit test
            room, last = self.width() - handle.width(), self.maximum()
            self.setValue(QStyle.sliderValueFromPosition(self.minimum(), last, place, room))
        super().mousePressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Move one step per notch; down is later."""
        self.setValue(self.value() + (1 if event.angleDelta().y() < 0 else -1))
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Toggle playback on Space, move five steps on Shift with an arrow, else as ``QSlider``."""
        if event.key() == Qt.Key.Key_Space:
            self.play_asked.emit()
        elif event.modifiers() == Qt.KeyboardModifier.ShiftModifier and event.key() in PAGES:
            self.setValue(self.value() + PAGES[Qt.Key(event.key())])
        else:
            super().keyPressEvent(event)
