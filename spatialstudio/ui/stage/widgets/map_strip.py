"""Attention maps at the picked step, one tile per object word, of one or two runs."""

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QImage,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractButton, QScrollArea, QSizePolicy, QWidget

from spatialstudio.domain.arrays import FloatMap
from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.theme.theme import (
    SMALL,
    Theme,
    em,
    font,
)
from spatialstudio.ui.widgets.array_images import heat_image
from spatialstudio.ui.widgets.builders import SPACE, discard, row
from spatialstudio.ui.widgets.painting import draw_rounded, draw_text, elided, painting
from spatialstudio.ui.widgets.roving_focus import ALONG, RovingFocus
from spatialstudio.ui.widgets.texts import tr

SMALLEST_MAP_EM, MAP_EM, LARGEST_MAP_EM = 2.8, 6.4, 14
LABEL_EM = 1.5
LONGEST_WORD_EM = 2.4
"""Labels up to this width are never elided."""
PAD_EM = 0.35
DOT_EM, AFTER_DOT_EM = 0.5, 0.35
DOT_INSET = 2


@frozen(eq=False, kw_only=False)
class WordMaps:
    """What one tile shows.

    Attributes:
        key: Id emitted when the tile is picked.
        phrase: The object word.
        hue: Its hue.
        first: (h, w) of the run; None when this step was not captured.
        second: (h, w) of the second run; None when this step was not captured (yet).
        second_name: Name of the second run, "Baseline", "Seed 8"; empty without one.
    """

    key: str
    phrase: str
    hue: int
    first: FloatMap | None
    second: FloatMap | None = None
    second_name: str = ""


class MapTile(QAbstractButton):
    """Shows one word's map as a heat map, with the second run's next to or under it."""

    def __init__(self, theme: Theme, word: WordMaps) -> None:
        super().__init__()
        self._theme = theme
        self._word = word
        self._images: tuple[QImage | None, ...] = ()
        self._side, self._least = em(MAP_EM), em(SMALLEST_MAP_EM)
        self._is_stacked = False
        self.setCheckable(True)
        self.setText(word.phrase)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(tr("Attention map of {word}").format(word=word.phrase))
        self.setToolTip(tr("Show this word's map on the picture"))
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Maximum)
        theme.changed.connect(self.update)
        self.show_maps(word)

    @property
    def key(self) -> str:
        """Key of the word it shows."""
        return self._word.key

    @property
    def map_count(self) -> int:
        """Number of maps it shows."""
        return max(len(self._images), 1)

    @property
    def least_side(self) -> int:
        """Minimum side of a map in pixels, set by the width of its label."""
        word = QFontMetrics(font(bold=True)).horizontalAdvance(self._word.phrase)
        lengths = [min(word, em(LONGEST_WORD_EM)) + em(DOT_EM + AFTER_DOT_EM) + DOT_INSET + 1]
        if self._word.second_name:
            lengths.append(QFontMetrics(font(SMALL)).horizontalAdvance(self._word.second_name) + 1)
        return max(em(SMALLEST_MAP_EM), *lengths)

    def use_side(self, side: int, *, least: int, is_stacked: bool) -> None:
        """Draw each map as a square, the second run's next to or under it.

        Args:
            side: Side of the square, pixels.
            least: Minimum side, pixels.
            is_stacked: Whether the second run's map is under the other.
        """
        if (side, least, is_stacked) != (self._side, self._least, self._is_stacked):
            self._side, self._least, self._is_stacked = side, least, is_stacked
            self.updateGeometry()
            self.update()

    def show_maps(self, word: WordMaps) -> None:
        """Show the word's maps at another step."""
        old_name = self._word.second_name
        self._word = word
        maps = [word.first, word.second] if word.second_name else [word.first]
        table = self._theme.heat_table()
        self._images = tuple(None if one is None else heat_image(one, table) for one in maps)
        if old_name != word.second_name:
            self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return self.size_around(self._side, is_stacked=self._is_stacked)

    def minimumSizeHint(self) -> QSize:
        return self.size_around(self._least, is_stacked=self._is_stacked)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's signature
        with painting(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            self._draw_card(painter)
            for place, image in enumerate(self._images):
                square = self._square(place)
                painter.fillRect(square, self._theme.colour("sunken"))
                if image is not None:
                    painter.drawImage(square, image)
            self._draw_word(painter)

    def size_around(self, side: int, *, is_stacked: bool) -> QSize:
        """Return the tile's size with maps of that side in that arrangement."""
        down, across = (self.map_count, 1) if is_stacked else (1, self.map_count)
        pad = em(PAD_EM)
        return QSize(across * (side + pad) + pad, down * (side + em(LABEL_EM) + pad) + pad)

    def _square(self, place: int) -> QRectF:
        """Return the rectangle of a map, below its label."""
        pad, line = em(PAD_EM), em(LABEL_EM)
        down, across = (place, 0) if self._is_stacked else (0, place)
        left = pad + across * (self._side + pad)
        return QRectF(left, pad + line + down * (self._side + line + pad), self._side, self._side)

    def _draw_card(self, painter: QPainter) -> None:
        marked = self.isChecked() or self.hasFocus()
        ink = self._theme.mention(self._word.hue) if self.isChecked() else None
        ink = ink or self._theme.colour("accent" if marked else "line")
        ground = self._theme.colour("hover" if self.underMouse() else "raised")
        box = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        draw_rounded(painter, box, ground, QPen(ink, 2 if marked else 1), em(0.35))

    def _draw_word(self, painter: QPainter) -> None:
        dot = em(DOT_EM)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.mention(self._word.hue))
        line = self._line(0)
        middle = line.center().y()
        painter.drawEllipse(QRectF(em(PAD_EM) + DOT_INSET, middle - dot / 2, dot, dot))
        line.setLeft(em(PAD_EM) + DOT_INSET + dot + em(AFTER_DOT_EM))
        _write(painter, line, self._word.phrase, font(bold=True), self._theme.colour("text"))
        if self._word.second_name:
            muted = self._theme.colour("muted")
            _write(painter, self._line(1), self._word.second_name, font(SMALL), muted)

    def _line(self, place: int) -> QRectF:
        """Return the rectangle of a map's label."""
        square = self._square(place)
        return QRectF(
            square.left(), square.top() - em(LABEL_EM) - em(0.1), self._side, em(LABEL_EM)
        )


class MapStrip(QWidget):
    """Shows a tile for each object word, side by side; one tab stop, arrows move between tiles.

    Maps grow with the available room as long as all of them fit.

    Emits ``word_picked`` with the word's key on user action only, empty when it is deselected.
    """

    word_picked = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._tiles: tuple[MapTile, ...] = ()
        self._roving_focus = RovingFocus(self, ALONG)
        self._row = row(SPACE, within=self, gap=0.5)

    def show_words(self, words: tuple[WordMaps, ...]) -> None:
        """Show the maps of these words; tiles are reused while the words stay the same."""
        if [tile.key for tile in self._tiles] != [word.key for word in words]:
            self._renew(words)
        for tile, word in zip(self._tiles, words, strict=True):
            tile.show_maps(word)
        self.share_room()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.share_room()

    def show_picked(self, key: str) -> None:
        """Mark a word picked elsewhere; empty for none."""
        for tile in self._tiles:
            tile.setChecked(tile.key == key)

    def share_room(self) -> None:
        """Draw maps as large as possible, the second run's next to or under the others."""
        if not self._tiles:
            return
        sides = {is_stacked: self._side_of_maps(is_stacked) for is_stacked in (False, True)}
        is_stacked = sides[True] > sides[False]
        least = max(tile.least_side for tile in self._tiles)
        side = max(min(sides[is_stacked], em(LARGEST_MAP_EM)), least)
        for tile in self._tiles:
            tile.use_side(side, least=least, is_stacked=is_stacked)

    @property
    def _room(self) -> QSize:
        """The viewport's size; the strip's own size, when scrolled, is that of its tiles."""
        viewport = self.parentWidget()
        area = viewport.parentWidget() if viewport is not None else None
        return area.maximumViewportSize() if isinstance(area, QScrollArea) else self.size()

    def _side_of_maps(self, is_stacked: bool) -> int:
        """Return the largest side of maps in this arrangement, in pixels."""
        bare = [tile.size_around(0, is_stacked=is_stacked) for tile in self._tiles]
        counts = [tile.map_count for tile in self._tiles]
        across, down = (len(counts), max(counts)) if is_stacked else (sum(counts), 1)
        gaps = self._row.spacing() * len(bare)
        room = self._room
        width = room.width() - sum(size.width() for size in bare) - gaps
        height = room.height() - max(size.height() for size in bare)
        return min(width // across, height // down)

    def _renew(self, words: tuple[WordMaps, ...]) -> None:
        discard(self._row, *self._tiles)
        self._tiles = tuple(MapTile(self._theme, word) for word in words)
        for place, tile in enumerate(self._tiles):
            tile.clicked.connect(self._tell)
            self._row.insertWidget(place, tile, 0, Qt.AlignmentFlag.AlignTop)
        self._roving_focus.lead(self._tiles)

    def _tell(self) -> None:
        tile = self.sender()
        if isinstance(tile, MapTile):
            key = tile.key if tile.isChecked() else ""
            self.show_picked(key)
            self.word_picked.emit(key)


class MapRoom(QScrollArea):
    """Shows a strip, scrolled where there is too little room for its smallest maps.

    Args:
        strip: Adapts its layout to the viewport's size.
    """

    def __init__(self, strip: MapStrip) -> None:
        super().__init__()
        self._strip = strip
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidget(strip)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._strip.share_room()


def _write(painter: QPainter, line: QRectF, text: str, letters: QFont, colour: QColor) -> None:
    """Draw a text in a line, elided where it is longer."""
    shown = elided(text, letters, line.width())
    draw_text(painter, line, shown, (letters, colour), Qt.AlignmentFlag.AlignVCenter)
