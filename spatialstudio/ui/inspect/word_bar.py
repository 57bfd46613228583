"""The bar above the stage: the prompt's words, to select maps, and picture or grid."""

from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, QEvent, QObject
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QSizePolicy

from spatialstudio.application.session import (
    BaselineChanged,
    MentionPicked,
    RelationPicked,
    RunChanged,
    StepPicked,
)
from spatialstudio.domain.scene import MentionId
from spatialstudio.ui.framework.bridge import VisibleFrameClock
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.inspect import commands as inspect_commands
from spatialstudio.ui.stage.map_presenter import (
    map_selection,
    map_source_choices,
    maps_at,
    word_tags,
)
from spatialstudio.ui.stage.widgets.word_chips import WordChips
from spatialstudio.ui.theme.theme import LOW_WINDOW_EM, em
from spatialstudio.ui.widgets.builders import SPACE, at_top, grow, row
from spatialstudio.ui.widgets.segments import Segments
from spatialstudio.ui.widgets.texts import tr


class HeldKey(QObject):
    """Turns an action off when the shortcut key that turned it on is released.

    Turned on from a menu or the palette, it stays on until turned off there.
    """

    def __init__(self, action: QAction) -> None:
        super().__init__(action)
        self._action = action
        action.setAutoRepeat(False)
        action.toggled.connect(self._watch)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Detect the release of the key without consuming it."""
        if isinstance(event, QKeyEvent) and event.type() is QEvent.Type.KeyRelease:
            is_own = self._action.shortcut() == QKeySequence(event.key())
            if is_own and not event.isAutoRepeat() and self._action.isChecked():
                self._action.trigger()
        return super().eventFilter(watched, event)

    def _watch(self, is_on: bool) -> None:
        application = QCoreApplication.instance()
        if application is not None and is_on:
            application.installEventFilter(self)
        elif application is not None:
            application.removeEventFilter(self)


WORDS_EM = 18
"""With less room next to the choices, the words get separate lines."""


class WordBar(Panel):
    """Lets the user hover, pin, compare and solo words; synchronises pins and selection."""

    title = "Words"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._session = context.studio.session
        self._maps = context.maps
        self._prompt = ""
        self._chips = WordChips(context.theme)
        self._chips.pin_asked.connect(self.toggle)
        self._chips.compare_asked.connect(lambda key: self._do(self._maps.compare, key))
        self._chips.solo_asked.connect(lambda key: self._do(self._maps.pin, key))
        self._chips.word_hovered.connect(self._hover)
        self._views = Segments(
            tr("View"),
            {
                False: (tr("Picture"), tr("The selected words' maps on the picture")),
                True: (tr("Grid"), context.actions[inspect_commands.GRID].toolTip()),
            },
        )
        self._views.choice_picked.connect(lambda grid: self._maps.show_look(is_grid=grid))
        self._source = Segments(tr("Run"), map_source_choices())
        self._source.choice_picked.connect(lambda source: self._maps.show_look(source=source))
        self._source.hide()
        self._clock = VisibleFrameClock(self._draw, self)
        self._maps.changed.connect(self._clock.request)
        self._lay_out()
        self._bind(context)

    def handle(self, event: object) -> None:
        """Follow the run, the step, and selections made elsewhere."""
        match event:
            case RunChanged(run=run):
                if run.scene.prompt.text != self._prompt:
                    self._prompt = run.scene.prompt.text
                    self._maps.pin()
                self._clock.request()
            case StepPicked() | BaselineChanged():
                self._clock.request()
            case MentionPicked(mention_id=None):
                self._maps.pin()
            case MentionPicked(mention_id=str(mention)) if mention not in self._maps.pins:
                self._maps.pin(MentionId(mention))
            case RelationPicked(relation_id=relation_id) if self._session.run is not None:
                for relation in self._session.run.scene.relations:
                    if relation.id == relation_id:
                        self._maps.pin(*relation.ends)

    def toggle(self, key: str) -> None:
        """Pin or unpin a word."""
        self._do(self._maps.toggle, key)

    def _bind(self, context: WindowContext) -> None:
        maps, actions = self._maps, context.actions
        actions.bind_switch(inspect_commands.GRID, lambda on: maps.show_look(is_grid=on))
        actions.bind_switch(inspect_commands.ISOLINES, lambda on: maps.show_look(has_isolines=on))
        actions.bind_switch(inspect_commands.PEEK, maps.peek)
        HeldKey(actions[inspect_commands.PEEK])
        actions.bind(inspect_commands.NEXT_SCALE, maps.show_next_scale)
        actions.bind(inspect_commands.LET_GO, lambda: self._do(maps.pin))

        def show() -> None:
            actions[inspect_commands.GRID].setChecked(maps.look.is_grid)
            actions[inspect_commands.ISOLINES].setChecked(maps.look.has_isolines)

        maps.changed.connect(show)
        show()

    def _do(self, change: Callable[..., None], *keys: str) -> None:
        """Change the pins, and select the last pinned object everywhere."""
        change(*(MentionId(key) for key in keys))
        run = self._session.run
        things = {mention.id for mention in run.scene.mentions} if run else set()
        pinned = [word for word in self._maps.pins if word in things]
        if pinned or not self._maps.pins:
            self._session.pick_mention(pinned[-1] if pinned else None)

    def _hover(self, key: str) -> None:
        self._maps.hover(MentionId(key) if key else None)

    def _draw(self) -> None:
        run = self._session.run
        look = self._maps.look
        self._views.show_choice(look.is_grid)
        self._source.show_choice(look.source)
        self._source.setVisible(look.is_grid and self._session.baseline is not None)
        self._break_line()
        if run is not None:
            maps = maps_at(run, self._session.step, map_selection(self._maps, run))
            self._chips.show_words(word_tags(run, maps))
            self._chips.show_pins(self._maps.pins)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show few words where the height is small; wrap the bar where it is narrow."""
        super().resizeEvent(event)
        self._chips.show_brief(self._is_low)
        self._break_line()

    def event(self, event: QEvent) -> bool:
        """Update the layout when styling on first show makes the choices wider."""
        if event.type() is QEvent.Type.LayoutRequest:
            self._break_line()
        return super().event(event)

    @property
    def _is_low(self) -> bool:
        return self.window().height() < em(LOW_WINDOW_EM)

    def _break_line(self) -> None:
        room = self.width() - self._choices.sizeHint().width() - em()
        is_narrow = self._is_lower_in_lines(room) if self._is_low else room < em(WORDS_EM)
        way = QBoxLayout.Direction.BottomToTop if is_narrow else QBoxLayout.Direction.LeftToRight
        gap = em(0.2) if is_narrow else em(1)
        # Setting equal values would lay out the whole window.
        if (way, gap) != (self._row.direction(), self._row.spacing()):
            self._row.setDirection(way)
            self._row.setSpacing(gap)

    def _is_lower_in_lines(self, room: int) -> bool:
        """Return True if words above the choices take less height than next to them."""
        choices = self._choices.sizeHint().height()
        one_line = max(self._chips.heightForWidth(max(room, em())), choices)
        return self._chips.heightForWidth(self.width()) + choices < one_line

    def _lay_out(self) -> None:
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        self._choices = row(SPACE, at_top(self._source), at_top(self._views), gap=1)
        self._row = row(grow(self._chips), self._choices, within=self, edges=(0, 0, 0, 0.3))
