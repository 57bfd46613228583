"""Carries events to the GUI thread: the only way from the studio's threads into the window."""

from collections.abc import Callable

from PySide6.QtCore import QElapsedTimer, QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QWidget

from spatialstudio.application.events import EventBus
from spatialstudio.application.studio import Studio
from spatialstudio.ui.framework.file_reading import FileReading
from spatialstudio.ui.framework.panel_api import Panel

FRAME_MS = 33
"""Redrawing faster than 30 times a second shows nothing more and costs the engine time."""
TURN_MS = 1
"""What takes longer in one turn of the event loop is drawn in the next: keys come in between."""
HAND_FRAME_MS = 12
"""What the user scrubs through is redrawn faster: every step of 60 a second is seen."""


class Bridge(QObject):
    """Receives every event of the bus on the GUI thread, in order.

    The studio's session and queue hear an event first, then the reader of files, then each panel.

    Args:
        bus: Carries the events.
        studio: Hears them first.
        reading: Hears them next.
    """

    _arrived = Signal(object)

    def __init__(self, bus: EventBus, studio: Studio, reading: FileReading) -> None:
        super().__init__()
        self._studio = studio
        self._reading = reading
        self._panels: tuple[Panel, ...] = ()
        self._arrived.connect(self._deliver, Qt.ConnectionType.QueuedConnection)
        self._unsubscribe = bus.subscribe(self._carry)

    def serve(self, panel: Panel) -> None:
        """Hand events to this panel as well, first those that say how things stand."""
        for event in self._studio.present():
            panel.handle(event)
        self._panels = (*self._panels, panel)

    def close(self) -> None:
        """Hear no more."""
        self._unsubscribe()
        self._panels = ()

    def _carry(self, event: object) -> None:
        self._arrived.emit(event)

    def _deliver(self, event: object) -> None:
        self._studio.follow(event)
        self._reading.handle(event)
        for panel in self._panels:
            panel.handle(event)


class Turn:
    """A turn of Qt's event loop with the next, in which Qt paints what was drawn in the first.

    What is drawn or painted keeps the user's hand waiting.
    """

    def __init__(self) -> None:
        self._since_drawn = QElapsedTimer()

    @property
    def has_time(self) -> bool:
        """Whether more may be drawn before Qt looks for events again."""
        return not self._since_drawn.isValid() or self._since_drawn.elapsed() < TURN_MS

    def begin(self) -> None:
        """Count the time from the first drawing on."""
        if not self._since_drawn.isValid():
            self._since_drawn.start()
            QTimer.singleShot(0, self._paint)

    def _paint(self) -> None:
        QTimer.singleShot(0, self._end)

    def _end(self) -> None:
        self._since_drawn.invalidate()


class FrameClock(QObject):
    """Redraws on request, at most 30 times a second; what came last is drawn.

    When many clocks are due at once, they draw in several turns of the event loop; what the user's
    hand asks for is drawn at once.

    Args:
        draw: Draws the present state.
        parent: Whose state is drawn; the clock ends with it.
    """

    _turn = Turn()

    def __init__(self, draw: Callable[[], None], parent: QObject) -> None:
        super().__init__(parent)
        self._draw = draw
        self._since_drawn = QElapsedTimer()
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._draw_in_turn)

    def request(self, *, by_hand: bool = False) -> None:
        """Ask for a redraw: at once when the last one is long past, else at the next frame.

        Args:
            by_hand: Whether the user waits for it; then frames come closer to each other.
        """
        frame = HAND_FRAME_MS if by_hand else FRAME_MS
        passed = self._since_drawn.elapsed() if self._since_drawn.isValid() else frame
        if passed >= frame and (by_hand or self._turn.has_time):
            self._draw_now()
        elif passed >= frame:
            self._timer.start(0)
        elif not self._timer.isActive() or self._timer.remainingTime() > frame - passed:
            self._timer.start(frame - passed)

    def _draw_in_turn(self) -> None:
        if self._turn.has_time:
            self._draw_now()
        else:
            self._timer.start(0)

    def _draw_now(self) -> None:
        self._timer.stop()
        self._turn.begin()
        self._since_drawn.start()
        self._draw()


class VisibleFrameClock(FrameClock):
    """Redraws a panel only while it is shown; what it missed is drawn when it is shown again.

    Args:
        draw: Draws the present state.
        panel: What is drawn.
    """

    def __init__(self, draw: Callable[[], None], panel: QWidget) -> None:
        super().__init__(draw, panel)
        self._panel = panel
        self._is_behind = False
        panel.installEventFilter(self)

    def request(self, *, by_hand: bool = False) -> None:
        """Ask for a redraw: as soon as others are, but not before the panel is shown."""
        if self._panel.isVisible():
            super().request(by_hand=by_hand)
        else:
            self._is_behind = True

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: ARG002 - Qt's signature
        """Catch up when the panel comes into sight."""
        if self._is_behind and event.type() is QEvent.Type.Show:
            self._is_behind = False
            super().request(by_hand=True)
        return False
