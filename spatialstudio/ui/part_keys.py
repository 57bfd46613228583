"""Leads the keyboard from part to part of the window: the middle, then dock after dock."""

from collections.abc import Sequence

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QDockWidget, QMainWindow, QWidget


def go_to_part(window: QMainWindow, by: int) -> None:
    """Give the keyboard to the first control of the next part in sight.

    Args:
        window: Whose parts.
        by: 1 for the next part, -1 for the one before.
    """
    parts = [part for part in _parts_of(window) if _first_stop(part) is not None]
    now = QApplication.focusWidget()
    own = [n for n, part in enumerate(parts) if now and (now is part or part.isAncestorOf(now))]
    start = own[0] if own else (-1 if by > 0 else 0)
    if parts and (stop := _first_stop(parts[(start + by) % len(parts)])) is not None:
        stop.setFocus(Qt.FocusReason.TabFocusReason)


def _parts_of(window: QMainWindow) -> Sequence[QWidget]:
    """List what is in sight: the middle, then what the docks hold, at the sides and below."""
    docks = [
        each for each in window.findChildren(QDockWidget) if not each.visibleRegion().isEmpty()
    ]
    docks.sort(key=lambda dock: (_side_of(window, dock), dock.y(), dock.x()))
    return [part for part in (window.centralWidget(), *(dock.widget() for dock in docks)) if part]


def _side_of(window: QMainWindow, dock: QDockWidget) -> int:
    sides = (Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea)
    area = window.dockWidgetArea(dock)
    return sides.index(area) if area in sides else len(sides)


def _first_stop(part: QWidget) -> QWidget | None:
    """Return the uppermost widget of a part at which Tab stops; None where there is none."""
    if _is_stop(part):
        return part
    stops = [widget for widget in part.findChildren(QWidget) if _is_stop(widget)]
    return min(stops, key=lambda widget: _place(part, widget), default=None)


def _place(part: QWidget, widget: QWidget) -> tuple[int, int]:
    corner = widget.mapTo(part, QPoint(0, 0))
    return corner.y(), corner.x()


def _is_stop(widget: QWidget) -> bool:
    takes_keys = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)
    return takes_keys and widget.isVisible() and widget.isEnabled()
