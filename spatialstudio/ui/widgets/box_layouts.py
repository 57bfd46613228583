"""Rows, columns and grids of widgets, each built in one expression; sizes are in ``em``."""

from typing import NamedTuple, TypeAlias, TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QBoxLayout,
    QGridLayout,
    QHBoxLayout,
    QLayout,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from spatialstudio.ui.theme.theme import em

Edges: TypeAlias = tuple[float, float, float, float]
"""Left, top, right and bottom margin."""
NO_EDGES: Edges = (0, 0, 0, 0)
Box = TypeVar("Box", bound=QBoxLayout)


class Placed(NamedTuple):
    """A part of a row or column with its stretch factor and alignment; without a part, a space."""

    part: QWidget | QLayout | None = None
    stretch: int = 0
    align: Qt.AlignmentFlag = Qt.AlignmentFlag(0)
    space_em: float = 0


Part: TypeAlias = QWidget | QLayout | Placed
SPACE = Placed()
"""A space that takes the free room."""


def grow(part: QWidget | QLayout, stretch: int = 1) -> Placed:
    """Return a part that takes the free room of its row or column."""
    return Placed(part, stretch)


def at_top(part: QWidget) -> Placed:
    """Return a part that stays at the upper edge of its row."""
    return Placed(part, align=Qt.AlignmentFlag.AlignTop)


def at_left(part: QWidget) -> Placed:
    """Return a part that stays at the left edge of its column."""
    return Placed(part, align=Qt.AlignmentFlag.AlignLeft)


def centred(part: QWidget) -> Placed:
    """Return a part in the horizontal middle of its column."""
    return Placed(part, align=Qt.AlignmentFlag.AlignHCenter)


def space(size_em: float) -> Placed:
    """Return a space of a fixed size."""
    return Placed(space_em=size_em)


def row(
    *parts: Part,
    within: QWidget | None = None,
    gap: float | None = None,
    edges: Edges | None = NO_EDGES,
) -> QHBoxLayout:
    """Return parts side by side.

    Args:
        parts: From the left.
        within: The widget that they fill; None for a layout within another.
        gap: Between parts; None for the style's.
        edges: Margins; None for the style's.
    """
    return _filled(QHBoxLayout() if within is None else QHBoxLayout(within), parts, gap, edges)


def column(
    *parts: Part,
    within: QWidget | None = None,
    gap: float | None = None,
    edges: Edges | None = NO_EDGES,
) -> QVBoxLayout:
    """Return parts from top to bottom; arguments as for ``row``."""
    return _filled(QVBoxLayout() if within is None else QVBoxLayout(within), parts, gap, edges)


def grid(
    within: QWidget, gaps: tuple[float, float], edges: Edges = NO_EDGES, *, wide: int = 1
) -> QGridLayout:
    """Return an empty grid.

    Args:
        within: The widget that it fills.
        gaps: Between columns, and between rows.
        edges: Margins.
        wide: The column that takes the free room.
    """
    cells = QGridLayout(within)
    cells.setContentsMargins(*map(em, edges))
    cells.setHorizontalSpacing(em(gaps[0]))
    cells.setVerticalSpacing(em(gaps[1]))
    cells.setColumnStretch(wide, 1)
    return cells


def pages(*widgets: QWidget) -> QStackedWidget:
    """Return a widget that shows one of several at a time, the first one at the beginning."""
    stack = QStackedWidget()
    for widget in widgets:
        stack.addWidget(widget)
    return stack


def discard(layout: QLayout, *widgets: QWidget) -> None:
    """Remove widgets from a layout and delete them."""
    for widget in widgets:
        layout.removeWidget(widget)
        widget.hide()
        widget.deleteLater()


def clear(layout: QLayout) -> None:
    """Delete all widgets of a layout."""
    while (item := layout.takeAt(0)) is not None:
        if (widget := item.widget()) is not None:
            widget.hide()
            widget.deleteLater()


def _filled(box: Box, parts: tuple[Part, ...], gap: float | None, edges: Edges | None) -> Box:
    if edges is not None:
        box.setContentsMargins(*map(em, edges))
    if gap is not None:
        box.setSpacing(em(gap))
    for each in parts:
        part, stretch, align, space_em = each if isinstance(each, Placed) else Placed(each)
        if isinstance(part, QWidget):
            box.addWidget(part, stretch, align)
        elif part is not None:
            box.addLayout(part, stretch)
        elif space_em:
            box.addSpacing(em(space_em))
        else:
            box.addStretch(stretch)
    return box
