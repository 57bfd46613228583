"""A film strip of results: thumbnails with verdict, seed and baseline."""

from collections.abc import Iterable
from typing import cast

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QImage, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListView,
    QListWidget,
    QListWidgetItem,
    QStyleOptionViewItem,
)

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.verdict import Outcome
from spatialstudio.ui.run.widgets.cell_painter import (
    ROLE,
    CellPainter,
    described_item,
)
from spatialstudio.ui.theme.theme import (
    SMALL,
    Theme,
    em,
    font,
)
from spatialstudio.ui.widgets.outcome_mark import draw_outcome
from spatialstudio.ui.widgets.texts import tr

PICTURE_EM = 4.4
CAPTION_EM = 1.3
PAD_EM = 0.3
MARK_EM = 1.05
IN_LINES = Qt.AlignmentFlag.AlignHCenter | Qt.TextFlag.TextWordWrap
MOST_HEIGHT = 10_000


@frozen(eq=False)
class Result:
    """An item of the strip.

    Attributes:
        key: Id emitted when it is picked.
        pictures: The picture, and its baseline if there is one.
        outcomes: Outcome of each picture; None if not evaluated.
        caption: "seed 7".
        words: Full description for screen readers and tooltips.
    """

    key: str
    pictures: tuple[QImage, ...]
    outcomes: tuple[Outcome | None, ...]
    caption: str
    words: str


class ResultPainter(CellPainter):
    """Draws the items of a film strip.

    Attributes:
        caption_height: Height of the captions, pixels; in more than one line, they wrap.
    """

    ground = "line"
    rounding_em = 0.3

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self.caption_height = em(CAPTION_EM)

    def fit_captions(self, captions: Iterable[str]) -> None:
        """Make room for the whole of every caption, in as many lines as it needs."""
        metrics, width = QFontMetrics(font(SMALL)), em(PICTURE_EM) + 2 * em(PAD_EM)
        room = QRect(0, 0, width, MOST_HEIGHT)
        needed = (metrics.boundingRect(room, IN_LINES, each).height() for each in captions)
        self.caption_height = max((em(CAPTION_EM), *needed))

    @property
    def height(self) -> int:
        """Height of a cell, pixels."""
        return em(PICTURE_EM) + self.caption_height + 2 * em(PAD_EM)

    def sizeHint(
        self,
        option: QStyleOptionViewItem,  # noqa: ARG002 - Qt's signature
        index: QModelIndex | QPersistentModelIndex,
    ) -> QSize:
        result: Result = index.data(ROLE)
        width = len(result.pictures) * em(PICTURE_EM) + 2 * em(PAD_EM)
        return QSize(width, self.height)

    def draw(self, painter: QPainter, place: QRectF, content: object, is_chosen: bool) -> None:
        """Draw the pictures side by side, with outcome marks and captions."""
        result = cast("Result", content)
        pad, side = em(PAD_EM), em(PICTURE_EM)
        for number, picture in enumerate(result.pictures):
            square = QRectF(place.left() + pad + number * side, place.top() + pad, side, side)
            self._draw_picture(painter, square.adjusted(1, 1, -1, -1), picture)
            if (outcome := result.outcomes[number]) is not None:
                corner = QRectF(square.left(), square.top(), em(MARK_EM), em(MARK_EM))
                draw_outcome(painter, self._theme, outcome, corner)
        painter.setPen(self._theme.colour("text" if is_chosen else "muted"))
        self._draw_captions(painter, place.adjusted(pad, pad + side, -pad, -pad), result)

    def _draw_picture(self, painter: QPainter, square: QRectF, picture: QImage) -> None:
        painter.fillRect(square, self._theme.colour("sunken"))
        fitted = picture.size().scaled(square.size().toSize(), Qt.AspectRatioMode.KeepAspectRatio)
        inside = QRectF(0, 0, fitted.width(), fitted.height())
        inside.moveCenter(square.center())
        painter.drawImage(inside, picture)

    def _draw_captions(self, painter: QPainter, line: QRectF, result: Result) -> None:
        painter.setFont(font(SMALL))
        captions = (result.caption, tr("baseline"))
        has_lines = self.caption_height > em(CAPTION_EM)
        for number, caption in enumerate(captions[: len(result.pictures)]):
            left = line.left() + number * em(PICTURE_EM) - em(PAD_EM)
            room = QRectF(left, line.top(), em(PICTURE_EM) + 2 * em(PAD_EM), line.height())
            if has_lines:
                painter.drawText(room, IN_LINES, caption)
                continue
            elided = Qt.TextElideMode.ElideMiddle
            fitting = painter.fontMetrics().elidedText(caption, elided, round(room.width()))
            painter.drawText(room, Qt.AlignmentFlag.AlignCenter, fitting)


class ResultStrip(QListWidget):
    """Shows results side by side, the newest first.

    Emits ``result_picked`` with a key on a click or Enter.

    Args:
        theme: Colours.
        wraps: Whether long captions wrap; if not, they are elided.
    """

    result_picked = Signal(str)

    def __init__(self, theme: Theme, *, wraps: bool = False) -> None:
        super().__init__()
        self._wraps = wraps
        self.setAccessibleName(tr("Results of this session"))
        self.setProperty("kind", "strip")
        self._painter = ResultPainter(theme)
        self.setItemDelegate(self._painter)
        self.setFlow(QListView.Flow.LeftToRight)
        self.setWrapping(False)
        self.setSpacing(em(0.15))
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.itemClicked.connect(self._tell)
        theme.changed.connect(self.viewport().update)

    def sizeHint(self) -> QSize:
        return QSize(em(20), self._painter.height + em(0.5))

    def minimumSizeHint(self) -> QSize:
        return QSize(em(8), self.sizeHint().height())

    def show_results(self, results: tuple[Result, ...]) -> None:
        """Set the results; the picked one is preserved."""
        current = self.currentItem()
        picked = "" if current is None else current.data(ROLE).key
        self.clear()
        if self._wraps:
            self._painter.fit_captions(result.caption for result in results)
            self.updateGeometry()
        for result in results:
            self.addItem(described_item(result, result.words))
        self.show_picked(picked)

    def show_picked(self, key: str) -> None:
        """Mark the open result; none for an empty key."""
        self.setCurrentIndex(QModelIndex())
        for place in range(self.count()):
            if self.item(place).data(ROLE).key == key:
                self.setCurrentRow(place)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Pick the focused result on Enter."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.modifiers():
            if self.currentItem() is not None:
                self._tell(self.currentItem())
        else:
            super().keyPressEvent(event)

    def _tell(self, item: QListWidgetItem) -> None:
        self.result_picked.emit(item.data(ROLE).key)
