"""The relations of a prompt as a column of chips, in order of priority."""

from collections.abc import Hashable
from functools import partial
from itertools import chain, pairwise

from PySide6.QtCore import QPoint, QRectF, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.compose.widgets.relation_chip import ChipClaim, RelationChip
from spatialstudio.ui.compose.widgets.relation_wheel import Choice
from spatialstudio.ui.compose.widgets.word_handle import ThingWord, WordHandle
from spatialstudio.ui.theme.theme import Theme, em
from spatialstudio.ui.widgets.builders import column, discard
from spatialstudio.ui.widgets.painting import draw_rounded
from spatialstudio.ui.widgets.roving_focus import ROWS_AND_PLACES, RovingFocus
from spatialstudio.ui.widgets.texts import tr

SPACING_EM = 0.4
MARK_EM = 0.16


@frozen(kw_only=False)
class ChipRow:
    """Key, content and choices of a chip."""

    key: Hashable
    claim: ChipClaim
    choices: tuple[Choice, ...]


class RelationChips(QWidget):
    """Shows relations as chips; dragging changes a chip's rank or a word's object.

    All chips share one tab stop; arrows move within a chip and between chips.

    Signals carry the relation's key first: ``type_picked`` with a type's id, ``end_picked`` with
    the index of an end and an object's key, ``swap_asked``, ``removal_asked``, ``fix_asked``,
    ``mute_picked``, ``weight_picked``, ``rank_picked`` with a rank from 0, ``picked``. A word
    dragged off the chips emits ``end_dragged`` and ``end_dropped`` with the index of its end and a
    screen position.
    """

    type_picked = Signal(object, str)
    end_picked = Signal(object, int, object)
    end_dragged = Signal(object, int, QPoint)
    end_dropped = Signal(object, int, QPoint)
    swap_asked = Signal(object)
    removal_asked = Signal(object)
    fix_asked = Signal(object)
    mute_picked = Signal(object, bool)
    weight_picked = Signal(object, float)
    rank_picked = Signal(object, int)
    picked = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._chips: dict[Hashable, RelationChip] = {}
        self._shown: tuple[tuple[ChipRow, ...], tuple[ThingWord, ...]] = ((), ())
        self._picked: Hashable = None
        self._mark: int | None = None
        self._target: WordHandle | None = None
        self._roving_focus = RovingFocus(self, ROWS_AND_PLACES)
        self.setAccessibleName(tr("Relations"))
        self._column = column(within=self, gap=SPACING_EM)
        theme.changed.connect(self.update)

    def show_rows(self, rows: tuple[ChipRow, ...], things: tuple[ThingWord, ...]) -> None:
        """Set the relations; the focus stays on its relation if it still exists."""
        if (rows, things) == self._shown:
            return
        self._shown = (rows, things)
        in_focus = [key for key, chip in self._chips.items() if chip.has_focus_inside]
        discard(self._column, *self._chips.values())
        self._target = self._mark = None
        self._chips = {row.key: self._chip(row, things) for row in rows}
        for chip in self._chips.values():
            self._column.addWidget(chip)
        self._lead_keys([*in_focus, self._picked, *self._chips])
        for key in set(in_focus).intersection(self._chips):
            self._chips[key].middle.setFocus()
        self.show_picked(self._picked)

    def show_picked(self, key: Hashable) -> None:
        """Mark the selected relation; None for none."""
        self._picked = key
        for name, chip in self._chips.items():
            chip.show_picked(name == key)

    def follow_tabs(self, before: QWidget) -> None:
        """Insert the chips after a widget in the tab order, where new chips would be last."""
        stops = chain.from_iterable(chip.stops for chip in self._chips.values())
        for one, following in pairwise((before, *stops)):
            self.setTabOrder(one, following)

    def open_wheel(self, key: Hashable) -> None:
        """Open the wheel of a relation."""
        self._chips[key].open_wheel()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._mark is None:
            return
        chips = list(self._chips.values())
        half = em(SPACING_EM) / 2
        if self._mark < len(chips):
            height = chips[self._mark].geometry().top() - half
        else:
            height = chips[-1].geometry().bottom() + half
        thick = em(MARK_EM)
        within = min(max(height, thick / 2), self.height() - thick / 2)
        mark = QRectF(0, within - thick / 2, self.width(), thick)
        with QPainter(self) as painter:
            draw_rounded(painter, mark, self._theme.colour("accent"))

    def _lead_keys(self, wanted: list[Hashable]) -> None:
        """Set up arrow navigation; Tab stops at the first existing widget of ``wanted``."""
        start = next((self._chips[key].middle for key in wanted if key in self._chips), None)
        self._roving_focus.lead(*(chip.stops for chip in self._chips.values()), start=start)

    def _chip(self, row: ChipRow, things: tuple[ThingWord, ...]) -> RelationChip:
        chip, key = RelationChip(self._theme, row.claim, row.choices, things), row.key
        for signal, with_key in (
            (chip.type_picked, self.type_picked),
            (chip.end_picked, self.end_picked),
            (chip.swap_asked, self.swap_asked),
            (chip.removal_asked, self.removal_asked),
            (chip.fix_asked, self.fix_asked),
            (chip.mute_picked, self.mute_picked),
            (chip.weight_picked, self.weight_picked),
            (chip.picked, self.picked),
        ):
            signal.connect(partial(with_key.emit, key))
        chip.end_dragged.connect(partial(self._drag_end, key))
        chip.end_dropped.connect(partial(self._drop_end, key))
        chip.move_asked.connect(partial(self._move, key))
        chip.chip_dragged.connect(self._mark_rank)
        chip.chip_dropped.connect(partial(self._drop_chip, key))
        return chip

    def _move(self, key: Hashable, ranks: int) -> None:
        place = list(self._chips).index(key) + ranks
        if 0 <= place < len(self._chips):
            self.rank_picked.emit(key, place)

    def _mark_rank(self, place: QPoint) -> None:
        self._mark = self._gap_at(place)
        self.update()

    def _drop_chip(self, key: Hashable, place: QPoint) -> None:
        self._mark = None
        self.update()
        old, gap = list(self._chips).index(key), self._gap_at(place)
        new = gap - 1 if gap > old else gap
        if new != old:
            self.rank_picked.emit(key, new)

    def _gap_at(self, place: QPoint) -> int:
        """Return the number of chips above a screen position."""
        height = self.mapFromGlobal(place).y()
        return sum(chip.geometry().center().y() < height for chip in self._chips.values())

    def _drag_end(self, key: Hashable, end: int, place: QPoint) -> None:
        self._show_target(self._word_at(place))
        self.end_dragged.emit(key, end, place)

    def _drop_end(self, key: Hashable, end: int, place: QPoint) -> None:
        target = self._word_at(place)
        self._show_target(None)
        if target is None:
            self.end_dropped.emit(key, end, place)
        else:
            self.end_picked.emit(key, end, target.word.key)

    def _word_at(self, place: QPoint) -> WordHandle | None:
        words = chain.from_iterable(chip.words for chip in self._chips.values())
        found = (word for word in words if word.rect().contains(word.mapFromGlobal(place)))
        return next(found, None)

    def _show_target(self, target: WordHandle | None) -> None:
        if target is not self._target:
            for word in filter(None, (self._target, target)):
                word.show_target(word is target)
            self._target = target
