"""Delivers events to the GUI thread; the only path from worker threads into the window."""

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from traceback import walk_tb
from types import FrameType, TracebackType

from PySide6.QtCore import QElapsedTimer, QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QWidget

from spatialstudio.application.error_reports import report_on
from spatialstudio.application.events import EventBus
from spatialstudio.application.studio import Studio
from spatialstudio.domain.errors import ErrorReport, PluginError, cause_of
from spatialstudio.ui.framework.file_reading import FileReading
from spatialstudio.ui.framework.panel_api import Panel
from spatialstudio.ui.framework.window_settings import Density
from spatialstudio.ui.widgets.texts import tr

log = logging.getLogger(__name__)

FRAME_MS = 33
"""Redrawing faster than 30 times a second is not visible and slows the engine."""
TURN_MS = 1
"""Drawing beyond this budget waits for the next turn of the event loop, after input."""
HAND_FRAME_MS = 8
"""Shorter interval while scrubbing: half of a step at 60 steps a second, so that each is shown."""


class Bridge(QObject):
    """Receives every event of the bus on the GUI thread, in order.

    The studio's session and queue receive an event first, then the file reader and each panel; the
    session's changes reach the panels in the same turn. An exception in a panel affects this panel
    only; ``panel_failed`` is emitted with an ``ErrorReport`` for the panel's first one. A plugin's
    panel receives no more events afterwards, and ``panel_disabled`` is emitted with the panel and
    the report; this includes exceptions in the panel's own slots and Qt event handlers, which
    PySide reports to ``sys.excepthook``.

    Args:
        bus: Source of the events.
        studio: Receives events first.
        reading: Receives events next.
    """

    panel_failed = Signal(object)
    panel_disabled = Signal(object, object)
    _arrived = Signal(object)

    def __init__(self, bus: EventBus, studio: Studio, reading: FileReading) -> None:
        super().__init__()
        self._studio = studio
        self._reading = reading
        self._panels: tuple[Panel, ...] = ()
        self._plugins: dict[Panel, tuple[str, str]] = {}
        self._failed: set[Panel] = set()
        self._arrived.connect(self._deliver, Qt.ConnectionType.QueuedConnection)
        self._unsubscribe = bus.subscribe(self._arrived.emit)
        self._excepthook = self._report_slot
        self._outer_excepthook = sys.excepthook

    def name_plugin(self, panel: Panel, title: str, plugin: str) -> None:
        """Name the dock and the plugin in the report on a failure of a plugin's panel."""
        if not self._plugins:
            self._outer_excepthook = sys.excepthook
            sys.excepthook = self._excepthook
        self._plugins[panel] = (title, plugin)

    def serve(self, panel: Panel) -> None:
        """Subscribe a panel to events, starting with events that describe the current state."""
        for event in self._studio.present():
            with self._failure_shown(panel):
                panel.handle(event)
        if panel not in self._failed or panel not in self._plugins:
            self._panels = (*self._panels, panel)

    def use_density(self, density: Density, *panels: Panel) -> None:
        """Adapt panels to the density; all subscribed ones if none are given."""
        for panel in panels or self._panels:
            with self._failure_shown(panel):
                panel.use_density(density)

    def close(self) -> None:
        """Unsubscribe from the bus."""
        self._unsubscribe()
        if sys.excepthook == self._excepthook:
            sys.excepthook = self._outer_excepthook
        self._panels = ()
        self._plugins, self._failed = {}, set()

    def _deliver(self, event: object) -> None:
        for each in self._studio.apply_event(event):
            self._reading.handle(each)
            for panel in self._panels:
                with self._failure_shown(panel):
                    panel.handle(each)

    @contextmanager
    def _failure_shown(self, panel: Panel) -> Iterator[None]:
        """Suppress an exception of a panel; its first one is reported."""
        try:
            yield
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # plugin code may even call sys.exit()
            if panel in self._failed:
                return
            level = logging.INFO if panel in self._plugins else logging.ERROR
            log.log(level, "A panel failed.", exc_info=True)
            self._fail(panel, error)

    def _report_slot(
        self, kind: type[BaseException], error: BaseException, traceback: TracebackType | None
    ) -> None:
        panel = self._plugin_panel_in(traceback)
        if panel is None or not isinstance(error, Exception):
            self._outer_excepthook(kind, error, traceback)
        elif panel not in self._failed:
            log.info("A plugin's panel failed.", exc_info=error)
            self._fail(panel, error)

    def _fail(self, panel: Panel, error: BaseException) -> None:
        self._failed.add(panel)
        report = self._report_on(error, panel)
        self.panel_failed.emit(report)
        if panel in self._plugins:
            self._panels = tuple(each for each in self._panels if each is not panel)
            self.panel_disabled.emit(panel, report)

    def _plugin_panel_in(self, traceback: TracebackType | None) -> Panel | None:
        """Return the plugin panel whose code is in a traceback; None for other code."""
        frames = [frame for frame, _ in walk_tb(traceback)]
        for is_code_of in (_is_method_of, _is_in_class_of, _is_in_module_of):
            for panel in self._plugins:
                if any(is_code_of(panel, frame) for frame in frames):
                    return panel
        return None

    def _report_on(self, error: BaseException, panel: Panel) -> ErrorReport:
        report = report_on(error, tr("A panel of the window"))
        if panel not in self._plugins:
            return report
        title, plugin = self._plugins[panel]
        words = tr('The panel "{title}" of the plugin "{plugin}" failed: {cause}.')
        in_words = PluginError(
            words.format(title=title, plugin=plugin, cause=cause_of(error)),
            hint=tr("Update the plugin, or turn plugins off in the settings."),
        )
        return replace(report_on(in_words, report.title), details=report.details)


def _is_method_of(panel: Panel, frame: FrameType) -> bool:
    """Return True if a frame runs a method of a panel or of one of its widgets."""
    owner = frame.f_locals.get("self")
    return isinstance(owner, QWidget) and (owner is panel or panel.isAncestorOf(owner))


def _is_in_class_of(panel: Panel, frame: FrameType) -> bool:
    """Return True if a frame's code is defined in the class of a panel, such as a lambda."""
    prefix = f"{type(panel).__qualname__}."
    return _is_in_module_of(panel, frame) and frame.f_code.co_qualname.startswith(prefix)


def _is_in_module_of(panel: Panel, frame: FrameType) -> bool:
    return bool(frame.f_globals.get("__name__") == type(panel).__module__)


class Turn:
    """Time budget for drawing, shared by two turns of the event loop (draw, then paint).

    Drawing and painting delay user input.
    """

    def __init__(self) -> None:
        self._since_drawn = QElapsedTimer()

    @property
    def has_time(self) -> bool:
        """Whether the budget allows more drawing before Qt processes events."""
        return not self._since_drawn.isValid() or self._since_drawn.elapsed() < TURN_MS

    def begin(self) -> None:
        """Start the time budget with the first drawing."""
        if not self._since_drawn.isValid():
            self._since_drawn.start()
            QTimer.singleShot(0, self._paint)

    def _paint(self) -> None:
        QTimer.singleShot(0, self._end)

    def _end(self) -> None:
        self._since_drawn.invalidate()


class FrameClock(QObject):
    """Redraws on request, at most 30 times a second, always with the latest state.

    When many clocks are due at once, they draw in several turns of the event loop; redraws caused
    by user input are immediate.

    Args:
        draw: Draws the present state.
        parent: Owner; the clock is deleted with it.
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
        """Request a redraw: immediately if the last one is old enough, else at the next frame.

        Args:
            by_hand: Whether user input caused the request; shortens the frame interval.
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
    """Redraws a panel only while it is visible; a missed redraw happens when it is shown.

    Args:
        draw: Draws the present state.
        panel: The panel to watch.
    """

    def __init__(self, draw: Callable[[], None], panel: QWidget) -> None:
        super().__init__(draw, panel)
        self._panel = panel
        self._is_behind = False
        panel.installEventFilter(self)

    def request(self, *, by_hand: bool = False) -> None:
        """Request a redraw as in ``FrameClock``, deferred until the panel is visible."""
        if self._panel.isVisible():
            super().request(by_hand=by_hand)
        else:
            self._is_behind = True

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: ARG002 - Qt's signature
        """Perform a missed redraw when the panel becomes visible."""
        if self._is_behind and event.type() is QEvent.Type.Show:
            self._is_behind = False
            super().request(by_hand=True)
        return False
